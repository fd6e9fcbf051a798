"""`HarmonicaSampler`: the stages of Harmonica in an ordinary Optuna study, then any sampler of Optuna on what is left.

It keeps no state. What it does next is a function of the study's trials: each carries a tag that says which stage it
is a sample of, and random numbers come from (seed, stage, trial number). So any number of processes agree.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any
from zlib import crc32

import numpy as np
from optuna import Study
from optuna.distributions import BaseDistribution
from optuna.samplers import BaseSampler, TPESampler
from optuna.search_space import IntersectionSearchSpace
from optuna.study import StudyDirection
from optuna.trial import FrozenTrial, TrialState

from overtone.adapters.optuna.dimensions import Dimensions, dimension
from overtone.errors import InputError
from overtone.optimizers.harmonica import automatic_samples
from overtone.optimizers.sampling import Sampler
from overtone.optimizers.stage import Settings, Stage, learn
from overtone.optimizers.trial import Trial, Value, check_whole, finite
from overtone.running.record import History, Outcome, Record
from overtone.space import Config, Point, Space
from overtone.space.restrictions import Code, fixed_units

TAG = "overtone:stage"  # system attribute of a trial
BASE, GIVEN = "base", "given"  # tags of trials that are no sample of a stage
INDEPENDENT = 1000  # in place of a stage's number, for random numbers
Made = Callable[..., BaseSampler]  # (seed=...) -> a sampler


@dataclass(frozen=True)
class _Program:
    """Where a study stands."""

    stages: tuple[Stage, ...]
    space: Space  # what they leave
    tag: str  # of the next trial


@dataclass
class _Memo:
    """What was computed from the trials of one study: never more than they say, so it can be thrown away."""

    study: tuple[object, int]  # storage and number
    dimensions: Dimensions
    points: dict[int, Point | None] = field(default_factory=dict)  # by trial number, once it has finished
    learned: dict[tuple[str, tuple[int, ...]], _Program] = field(default_factory=dict)  # by tag and samples


class HarmonicaSampler(BaseSampler):  # type: ignore[misc]
    """Harmonica for Optuna's studies with one objective.

    space: a `Space` (see `suggest`), or a dict of Optuna's distributions; automatic: what all completed trials have in
        common. Other parameters are drawn uniformly during the stages, and by `base` after them.
    n_stages to n_minimizers: as of `Harmonica`. seed: of the random numbers; processes may share one.
    base: what makes the sampler for the time after the stages, called with `seed=...`, as `TPESampler`.
    """

    def __init__(
        self,
        space: Space | Mapping[str, BaseDistribution] | None = None,
        *,
        seed: int = 0,
        n_stages: int = 3,
        n_samples: int | None = None,
        sparsity: int | None = None,
        degree: int | None = None,
        l1_penalty: float | None = None,
        n_minimizers: int | None = None,
        base: Made = TPESampler,
    ) -> None:
        if isinstance(base, BaseSampler) or not callable(base):
            raise InputError(
                f"`base` must be what makes a sampler, called with `seed`, but got {base!r}: write TPESampler, "
                "or partial(TPESampler, n_startup_trials=0)"
            )
        self._given = None if space is None else Dimensions.of(space)
        self._seed, self._base = check_whole("seed", seed, 0), base
        self._n_stages = check_whole("n_stages", n_stages, 0)
        self._n_samples = None if n_samples is None else check_whole("n_samples", n_samples)
        self._settings = Settings(sparsity, degree, l1_penalty, n_minimizers)
        self._memo: _Memo | None = None
        self._common: tuple[tuple[object, int], IntersectionSearchSpace] | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Without what can be computed again."""
        return {**self.__dict__, "_memo": None, "_common": None}

    # ---- what Optuna calls ----

    def infer_relative_search_space(self, study: Study, trial: FrozenTrial) -> dict[str, BaseDistribution]:  # noqa: ARG002
        """The space that was given, or what the completed trials agree on."""
        if self._given is not None:
            return self._given.distributions
        if self._common is None or self._common[0] != _identity(study):
            self._common = _identity(study), IntersectionSearchSpace()
        common = self._common[1].calculate(study)
        return {name: kind for name, kind in common.items() if not kind.single()}

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """A sample of the current stage, or what the base proposes within what the stages left."""
        self._raise_error_if_multi_objective(study)
        fixed = trial.system_attrs.get("fixed_params", {})  # enqueued
        if not search_space:
            _tag(study, trial, GIVEN if fixed else _stage_tag(()) if self._n_stages else BASE)
            return {}
        memo = self._remembered(study, search_space)
        program = self._program(memo, study)
        is_given = not search_space.keys().isdisjoint([*fixed, *trial.params])
        _tag(study, trial, GIVEN if is_given else program.tag)
        config = self._proposed(study, trial, memo.dimensions, program) if program.tag == BASE else None
        return memo.dimensions.params(config or self._drawn(program, trial.number))

    def sample_independent(
        self, study: Study, trial: FrozenTrial, param_name: str, param_distribution: BaseDistribution
    ) -> Any:
        """A uniform value during the stages; after them, what the base says."""
        self._raise_error_if_multi_objective(study)
        rng = np.random.default_rng([self._seed, INDEPENDENT, trial.number, crc32(param_name.encode())])
        if trial.system_attrs.get(TAG) == BASE:
            return self._base(seed=_seed(rng)).sample_independent(study, trial, param_name, param_distribution)
        drawn = dimension(param_distribution)
        return drawn.value(drawn.draw(rng))

    # ---- what came of it ----

    def stages(self, study: Study) -> list[Stage]:
        """What the stages found so far; with `maximize`, of the values with the other sign."""
        search_space = self.infer_relative_search_space(study, None)
        return list(self._program(self._remembered(study, search_space), study).stages) if search_space else []

    def history(self, study: Study) -> History:
        """The study as a run of ours, for `overtone.report` and `show`."""
        search_space = self.infer_relative_search_space(study, None)
        if not search_space:
            raise InputError("a study must have parameters that all its trials share, but it has none so far")
        memo = self._remembered(study, search_space)
        trials = [trial for trial in study.get_trials(deepcopy=False) if trial.state.is_finished()]
        return History(
            memo.dimensions.space,
            tuple(
                _record(trial, point, memo.dimensions.space) for trial in trials if (point := self._point(memo, trial))
            ),
            self._program(memo, study).stages,
            "maximize" if study.direction == StudyDirection.MAXIMIZE else "minimize",
            settings={"seed": self._seed, "study": study.study_name},
        )

    # ---- the stages ----

    def _remembered(self, study: Study, search_space: Mapping[str, BaseDistribution]) -> _Memo:
        memo = self._memo
        if memo is None or memo.study != _identity(study) or memo.dimensions.distributions != search_space:
            given = self._given
            known = given if given is not None and given.distributions == search_space else Dimensions.of(search_space)
            memo = self._memo = _Memo(_identity(study), known)
        return memo

    def _program(self, memo: _Memo, study: Study) -> _Program:
        """for stage i = 1 to q: the samples that came back, PSR, minimizers, f <- f_i."""
        trials = study.get_trials(deepcopy=False)
        program = _Program((), memo.dimensions.space, _stage_tag(()) if self._n_stages else BASE)
        while program.tag != BASE and (samples := self._samples(memo, trials, program.tag)) is not None:
            known = program.tag, tuple(trial.number for trial in samples)
            if known not in memo.learned:
                sign = -1.0 if study.direction == StudyDirection.MAXIMIZE else 1.0
                told = [(Trial(t.number, {}, self._point(memo, t) or ()), _value(t, sign)) for t in samples]
                memo.learned[known] = self._after(program, told)
            program = memo.learned[known]
        return program

    def _after(self, program: _Program, told: Sequence[tuple[Trial, Value]]) -> _Program:
        """One stage further."""
        stage = learn(program.space, told, program.stages, self._settings, len(program.stages) + 1)
        stages = (*program.stages, stage)
        more = stage.restricts and len(stages) < self._n_stages
        return _Program(stages, stage.apply(program.space), _stage_tag(stages) if more else BASE)

    def _samples(self, memo: _Memo, trials: Sequence[FrozenTrial], tag: str) -> list[FrozenTrial] | None:
        """The first T of a stage that came back, so that later ones change nothing; None if there are fewer.

        A trial that was tried again, because its worker had died, does not count: the other attempt does.
        """
        n = self._n_samples or automatic_samples(memo.dimensions.space)
        again = {number for trial in trials for number in trial.system_attrs.get("retry_history", ())}
        mine = [t for t in trials if t.state.is_finished() and t.system_attrs.get(TAG) == tag and t.number not in again]
        mine = [trial for trial in mine if self._point(memo, trial) is not None]
        first = sorted(mine, key=lambda trial: (trial.datetime_complete, trial.number))[:n]
        return first if len(first) == n else None

    def _point(self, memo: _Memo, trial: FrozenTrial) -> Point | None:
        if trial.number not in memo.points:
            rng = np.random.default_rng([self._seed, INDEPENDENT, trial.number])
            memo.points[trial.number] = memo.dimensions.point(trial.params, trial.distributions, rng)
        return memo.points[trial.number]

    # ---- samples ----

    def _drawn(self, program: _Program, number: int) -> Config:
        """A pure function of the seed, the stage and the trial's number, so that no two processes draw the same."""
        sampler = Sampler(program.space, self._seed, len(program.stages) + 1)
        sampler.index = number
        drawn = sampler.next()
        assert drawn is not None  # noqa: S101 - nothing was seen before, and a space is never empty
        return drawn[1]

    def _proposed(self, study: Study, trial: FrozenTrial, dimensions: Dimensions, program: _Program) -> Config | None:
        """What the base proposes, moved to the nearest of what the stages left; None if that is forbidden."""
        rng = np.random.default_rng([self._seed, 0, trial.number])
        space, base = program.space, self._base(seed=_seed(rng))
        free = _free(space, dimensions.distributions)
        params = base.sample_relative(study, trial, free) if free else {}
        for name in [name for name in free if name not in params]:  # in their order: each draws from one stream
            params[name] = base.sample_independent(study, trial, name, free[name])
        codes = list(space.encode({**space.decode(space.draw(rng)), **dimensions.levels(params)}))
        for mixture in space.mixtures:
            nearest = max(mixture, key=lambda each: sum(_moved(codes[u], code) == codes[u] for u, code in each.items()))
            for unit, code in nearest.items():
                codes[unit] = _moved(codes[unit], code)
        config = space.decode(tuple(codes))
        return config if space.allows(config) else None


def _free(space: Space, kinds: Mapping[str, BaseDistribution]) -> dict[str, BaseDistribution]:
    """Without the parameters that the stages fixed wholly."""
    fixed = fixed_units([mixture for mixture in space.mixtures if len(mixture) == 1])
    open_ = {unit.parameter for number, unit in enumerate(space.units) if number not in fixed}
    return {name: kind for name, kind in kinds.items() if name in open_}


def _moved(code: float, wanted: Code) -> float:
    """The nearest code that a restriction allows."""
    return min(max(code, wanted[0]), wanted[1]) if isinstance(wanted, tuple) else wanted


def _stage_tag(stages: Sequence[Stage]) -> str:
    """The number of the stage that comes after these, and what they fixed: samples of other spaces do not count."""
    if not stages:
        return "1"
    found = [
        [stage.names, [sorted(restriction.items()) for restriction, _ in stage.minimizers], stage.crashes]
        for stage in stages
    ]
    text = json.dumps(json.loads(json.dumps(found), parse_float=lambda number: f"{float(number):.9g}"))
    return f"{len(stages) + 1} {sha256(text.encode()).hexdigest()[:12]}"


def _tag(study: Study, trial: FrozenTrial, tag: str) -> None:
    study._storage.set_trial_system_attr(trial._trial_id, TAG, tag)


def _identity(study: Study) -> tuple[object, int]:
    return study._storage, study._study_id


def _seed(rng: np.random.Generator) -> int:
    return int(rng.integers(2**31))


def _value(trial: FrozenTrial, sign: float) -> Value:
    """Lower is better; a pruned trial has the last value it reported, if any."""
    has_value = trial.state in (TrialState.COMPLETE, TrialState.PRUNED) and trial.values
    value = finite(trial.value) if has_value else None
    return None if value is None else sign * value


def _record(trial: FrozenTrial, point: Point, space: Space) -> Record:
    tag = trial.system_attrs.get(TAG, "")
    stage = f"stage {tag.split()[0]}" if tag[:1].isdigit() else tag or "other"
    seconds = trial.duration.total_seconds() if trial.duration else 0.0
    value = _value(trial, 1.0)
    reason = "" if value is not None else f"Optuna calls it {trial.state.name}"
    return Record(Trial(trial.number, space.decode(point), point, None, stage), Outcome(value, reason, "", seconds))
