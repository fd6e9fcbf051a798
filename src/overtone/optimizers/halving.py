"""Successive halving (Jamieson, Talwalkar 2016) and Hyperband (Li et al. 2017), as in their papers."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from overtone.errors import InputError
from overtone.optimizers.relay import Relay
from overtone.optimizers.sampling import Sampler
from overtone.optimizers.trial import Book, Optimizer, Trial, Value, check_whole
from overtone.space import Point, Space

BRACKETS = 1_000_000  # where their random numbers start, far from those of Harmonica's stages


@dataclass(frozen=True)
class Rung:
    """How many configurations are evaluated at which budget."""

    n: int
    budget: float


def halving_schedule(n: int, budget: float, eta: int, max_budget: float) -> list[Rung]:
    """n configurations at `budget`, the best n/eta of them at eta times that, and so on up to `max_budget`."""
    rungs: list[Rung] = []
    while n >= 1 and budget <= max_budget * (1 + 1e-9):
        rungs.append(Rung(n, budget))
        n, budget = n // eta, budget * eta
    return rungs


def hyperband_schedule(max_budget: float, eta: int) -> list[list[Rung]]:
    """Algorithm 1 of the Hyperband paper: for s = s_max, ..., 0: n = ceil((s_max+1)/(s+1) eta^s), r = R eta^-s."""
    s_max = math.floor(math.log(max_budget, eta) + 1e-9)
    brackets = []
    for s in range(s_max, -1, -1):
        n = math.ceil((s_max + 1) / (s + 1) * eta**s - 1e-9)
        brackets.append([Rung(n // eta**i, max_budget / eta ** (s - i)) for i in range(s + 1)])
    return brackets


class SuccessiveHalving:
    """Many configurations at a small budget; of each rung, the best 1/eta go on with eta times the budget.

    schedule: other rungs than those that follow from the numbers. bracket: each has its own random numbers.
    """

    def __init__(
        self,
        space: Space,
        seed: int = 0,
        *,
        n_configurations: int = 27,
        min_budget: float = 1.0,
        max_budget: float = 27.0,
        eta: int = 3,
        schedule: list[Rung] | None = None,
        bracket: int = 0,
    ) -> None:
        _check_budgets(min_budget, max_budget, eta)
        check_whole("n_configurations", n_configurations)
        self.schedule = schedule or halving_schedule(n_configurations, min_budget, eta, max_budget)
        self.full_budget = self.schedule[-1].budget
        self._sampler = Sampler(space, seed, BRACKETS + bracket)
        self._book = Book()
        self._rung = 0
        self._waiting: list[Point] | None = None  # of this rung, still to be asked; None: draw new ones
        self._asked: list[Trial] = []  # of this rung
        self._exhausted = False

    def ask(self, n: int = 1) -> list[Trial]:
        """Up to n trials of the current rung; none while results of it are out."""
        return list(islice(iter(self._next, None), check_whole("n", n)))

    def _next(self) -> Trial | None:
        point = self._point()
        if point is None:
            return None
        budget = self.schedule[self._rung].budget
        self._asked.append(self._book.out(self._sampler.space.decode(point), point, budget, f"budget {budget:g}"))
        return self._asked[-1]

    def _point(self) -> Point | None:
        """The next one of this rung; where the space turns out to be exhausted, the rung may end here."""
        if self._waiting is None and len(self._asked) < self.schedule[0].n and not self._exhausted:
            drawn = self._sampler.next()
            if drawn is not None:
                return drawn[0]
            self._exhausted = True
            self._promote()
        return self._waiting.pop(0) if self._waiting else None

    def tell(self, trial: Trial, value: Value) -> None:
        """Note a value; the last one of a rung promotes its best."""
        self._book.back(trial, value)
        self._promote()

    def _promote(self) -> None:
        """Once a rung is told: its best go on, ties to the lower number, failures never."""
        if self._book.open or not self._is_asked_out() or self._rung + 1 == len(self.schedule):
            return
        self._rung += 1
        told = [(value, t) for t in self._asked if (value := self._book.values[t.number]) is not None]
        kept = sorted(told, key=lambda pair: (pair[0], pair[1].number))[: self.schedule[self._rung].n]
        self._waiting = [t.point for _, t in kept]
        self._asked = []

    def _is_asked_out(self) -> bool:
        if self._waiting is None:
            return self._exhausted or len(self._asked) == self.schedule[0].n
        return not self._waiting

    @property
    def done(self) -> bool:
        """The last rung is told, or nothing is left to promote."""
        last = self._rung + 1 == len(self.schedule)
        return not self._book.open and self._is_asked_out() and (last or not self._asked)


class Hyperband(Relay):
    """Brackets of successive halving, from many configurations at a small budget to few at the full one."""

    def __init__(self, space: Space, seed: int = 0, *, max_budget: float = 27.0, eta: int = 3) -> None:
        _check_budgets(1.0, max_budget, eta)
        self.schedule = hyperband_schedule(max_budget, eta)
        self.full_budget = max_budget
        super().__init__(self._brackets(space, seed))

    def _brackets(self, space: Space, seed: int) -> Iterator[Optimizer]:
        for number, rungs in enumerate(self.schedule):
            yield SuccessiveHalving(space, seed, schedule=rungs, bracket=number)


def schedule_table(brackets: list[list[Rung]]) -> str:
    """A schedule as text: a line a bracket, 'n at budget' for each rung."""
    return "\n".join(
        f"bracket {number}: " + ", then ".join(f"{rung.n} at {rung.budget:g}" for rung in rungs)
        for number, rungs in enumerate(brackets)
    )


def _check_budgets(min_budget: float, max_budget: float, eta: int) -> None:
    check_whole("eta", eta, 2)
    if not (0 < min_budget <= max_budget and math.isfinite(max_budget)):
        raise InputError(f"`0 < min_budget <= max_budget` must hold, but got {min_budget=}, {max_budget=}")
