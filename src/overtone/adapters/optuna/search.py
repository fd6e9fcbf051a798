"""`OptunaSearch`: any sampler of Optuna as an optimizer of ours, alone or as the base of Harmonica."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np
import optuna
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.samplers import BaseSampler, TPESampler
from optuna.trial import TrialState

from overtone.adapters.optuna.dimensions import Dimension, dimension, is_rising
from overtone.errors import InputError
from overtone.optimizers.sampling import Sampler, key
from overtone.optimizers.trial import Book, Trial, Value, check_whole
from overtone.space import Config, Parameter, Point, Space
from overtone.space.codes import codes_of

ASKS = 10  # proposals in a row that are forbidden or known, after which it is drawn
DRAWS = 1000  # then so many uniform ones; after them a small space is listed


class OptunaSearch:
    """`n_evaluations` trials that a sampler of Optuna proposes, in rounds of `batch`; none twice.

    sampler: what makes it, called with `seed=...`: `TPESampler`, `GPSampler`, `partial(CmaEsSampler, sigma0=0.5)`.
    batch: trials of a round, proposed together; the answer does not depend on the number of workers.
        With 1 it goes one trial at a time, as Optuna itself does.
    Failures are told as such; Optuna's samplers leave them out of their models.
    """

    def __init__(
        self,
        space: Space,
        seed: int = 0,
        *,
        sampler: Callable[..., BaseSampler] = TPESampler,
        n_evaluations: int = 100,
        batch: int = 1,
        budget: float | None = None,
    ) -> None:
        if isinstance(sampler, BaseSampler) or not callable(sampler):
            raise InputError(f"`sampler` must be what makes a sampler, as TPESampler, but got {sampler!r}")
        self.space, self.budget = space, budget
        self.n_evaluations, self.batch = check_whole("n_evaluations", n_evaluations), check_whole("batch", batch)
        self._uniform = Sampler(space, seed)
        self._rng = np.random.default_rng([seed, 2])
        self._knobs = Knobs(space)
        with _quiet():
            self._study = optuna.create_study(sampler=sampler(seed=seed))
        self._book = Book()
        self._queue: list[tuple[Point, Config, int | None]] = []  # of this round, with their numbers in the study
        self._known: dict[int, int | None] = {}  # ours -> the study's, of the round that is out
        self._exhausted = False

    def ask(self, n: int = 1) -> list[Trial]:
        """Up to n trials of this round; none while results of the round are out."""
        return list(islice(iter(self._next, None), check_whole("n", n)))

    def _next(self) -> Trial | None:
        if not self._queue and not self._book.open and self._more():
            self._digest()
            self._queue = list(islice(iter(self._propose, None), min(self.batch, self._left())))
        if not self._queue:
            return None
        point, config, known = self._queue.pop(0)
        trial = self._book.out(config, point, self.budget, "optuna")
        self._known[trial.number] = known
        return trial

    def tell(self, trial: Trial, value: Value) -> None:
        """Note a value; the sampler hears of it with the others of the round."""
        self._book.back(trial, value)

    def _digest(self) -> None:
        """Tell the study of the last round, by number."""
        for number, known in sorted(self._known.items()):
            value = self._book.values[number]
            if known is not None:
                self._study.tell(known, value, TrialState.FAIL if value is None else TrialState.COMPLETE)
        self._known = {}

    def _propose(self) -> tuple[Point, Config, int | None] | None:
        """What the sampler wants, if it is allowed and new; else a uniform one; None: there is none."""
        for _ in range(ASKS):
            trial = self._study.ask(self._knobs.distributions)
            found = self._new(trial.params)
            if found is not None:
                return *found, trial.number
            self._study.tell(trial, state=TrialState.FAIL)
        for _ in range(DRAWS):
            params = self._knobs.draw(self._rng)
            found = self._new(params)
            if found is not None:
                self._study.enqueue_trial(params)
                return *found, self._study.ask(self._knobs.distributions).number
        last = self._uniform.next()
        self._exhausted = last is None
        return None if last is None else (*last, None)

    def _new(self, params: Mapping[str, Any]) -> tuple[Point, Config] | None:
        point = self._knobs.point(params)
        config = self.space.decode(point)
        if key(config) in self._uniform.seen or not self.space.allows(config):
            return None
        self._uniform.seen.add(key(config))
        return point, config

    def _left(self) -> int:
        return self.n_evaluations - len(self._book.trials)

    def _more(self) -> bool:
        return not self._exhausted and self._left() > 0

    @property
    def done(self) -> bool:
        """The evaluations are used up, or the space is."""
        return not self._queue and not self._book.open and not self._more()


class Knobs:
    """What a sampler turns: a knob a parameter; where stages fixed some of its bits, a knob each bit that is left.

    Where a stage left several minimizers, one more knob takes its pick. So every setting of the knobs is a point of the
    restricted space, and every point has one.
    """

    def __init__(self, space: Space) -> None:
        self._space = space
        self.distributions: dict[str, BaseDistribution] = {}
        self._turn: dict[str, Callable[[Any], Mapping[int, float]]] = {}  # knob -> what its value does to units
        touched = {unit for mixture in space.mixtures for each in mixture for unit in each}
        fixed = space.fixed_units()
        places: dict[str, list[int]] = {}
        for number, unit in enumerate(space.units):
            places.setdefault(unit.parameter, []).append(number)
        for name, parameter in space.parameters.items():
            if parameter.is_continuous or touched.isdisjoint(places[name]):
                if not fixed.issuperset(places[name]):
                    self._add(name, _whole(parameter), _turner(name, parameter, places[name]))
            else:
                for number in sorted(set(places[name]) - fixed):
                    codes = space.units[number].codes
                    self._add(f"{name}: unit {number}", _one_of(len(codes)), _unit_turner(number, codes))
        for number, mixture in enumerate(space.mixtures):
            if len(mixture) > 1:
                self.distributions[_pick(number)] = _one_of(len(mixture))

    def _add(self, name: str, kind: BaseDistribution, turn: Callable[[Any], Mapping[int, float]]) -> None:
        self.distributions[name], self._turn[name] = kind, turn

    def draw(self, rng: np.random.Generator) -> dict[str, Any]:
        """Uniform."""
        return {name: kind.value(kind.draw(rng)) for name, kind in self._dimensions.items()}

    @cached_property
    def _dimensions(self) -> dict[str, Dimension]:
        return {name: dimension(kind) for name, kind in self.distributions.items()}

    def point(self, params: Mapping[str, Any]) -> Point:
        """Where a setting of the knobs leads; as when a point is drawn, later stages are put on top."""
        codes = [0.0 if unit.kind == "range" else unit.codes[0] for unit in self._space.units]
        for name, turn in self._turn.items():
            for unit, code in turn(params[name]).items():
                codes[unit] = code
        for number, mixture in enumerate(self._space.mixtures):
            for unit, wanted in mixture[params.get(_pick(number), 0)].items():
                codes[unit] = _within(codes[unit], *wanted) if isinstance(wanted, tuple) else wanted
        return tuple(codes)


def _pick(number: int) -> str:
    return f"minimizer of stage {number + 1}"


def _within(u: float, low: float, high: float) -> float:
    return low + (u + 1) / 2 * (high - low)


def _turner(name: str, parameter: Parameter, place: list[int]) -> Callable[[Any], Mapping[int, float]]:
    if parameter.is_continuous:
        return lambda u: {place[0]: u}
    return lambda number: dict(zip(place, codes_of(name, parameter, parameter.levels[number]), strict=True))


def _unit_turner(unit: int, codes: tuple[float, ...]) -> Callable[[Any], Mapping[int, float]]:
    return lambda number: {unit: codes[number]}


def _whole(parameter: Parameter) -> BaseDistribution:
    """A continuous parameter by u; levels by their number, ordered if they are two or rising numbers."""
    if parameter.is_continuous:
        return FloatDistribution(-1.0, 1.0)
    n = len(parameter.levels)
    return IntDistribution(0, n - 1) if n == 2 or is_rising(parameter.levels) else _one_of(n)


def _one_of(n: int) -> BaseDistribution:
    """Two are ordered, whatever they are: so a sampler for numbers, as CMA-ES, takes them, too."""
    return IntDistribution(0, 1) if n == 2 else CategoricalDistribution(range(n))


@contextmanager
def _quiet() -> Iterator[None]:
    """Without the line about a new study."""
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        yield
    finally:
        optuna.logging.set_verbosity(before)
