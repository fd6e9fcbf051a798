"""`Summary`: all that a report says, as plain values; text, page, tables and plots only show it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from overtone.optimizers.trial import finite
from overtone.report import words
from overtone.report.failures import Crash, FailureGroup, crashes_of, failures_of
from overtone.report.importance import Importance, Pair, importance_of, pairs_of
from overtone.report.stages import Fixed, Spread, StageSummary, samples_of, sign_of, spread, stages_of, values_of
from overtone.running.record import Goal, History, Record
from overtone.space.parameters import level_key


@dataclass(frozen=True)
class Overview:
    """The run in a few numbers."""

    goal: Goal
    n_parameters: int
    n_trials: int
    n_failed: int
    n_retried: int
    seconds: float  # of all trials, one after another
    stopped: str  # "": it is still going
    best: float | None
    best_trial: int | None
    best_stage: str
    best_budget: float | None
    has_default: bool
    default: float | None  # None: there is none, or its trial is not back, or it failed
    improvement: float | None  # on the default, in the direction of the goal; None if there is nothing to compare

    @property
    def otherwise(self) -> str:
        """What decided the parameters of the best configuration that no stage did."""
        is_drawn = not self.best_stage or self.best_stage.startswith(("stage", "random search", "bracket"))
        return "chance" if is_drawn else self.best_stage


@dataclass(frozen=True)
class Setting:
    """A parameter of the best configuration."""

    parameter: str
    value: Any = None
    is_active: bool = True  # there
    default: Any = None
    is_in_default: bool = False
    differs: bool = True  # from the default, if there is one
    decided: Fixed | None = None  # by which stage; None: it was drawn, and nothing says that it matters


@dataclass(frozen=True)
class Part:
    """The values of one part of the run: a stage, or what came after the stages."""

    name: str
    n: int
    n_failed: int
    spread: Spread | None
    ends: tuple[float, float]  # the 5 % and 95 % quantiles


@dataclass(frozen=True)
class Step:
    """A trial at the full budget, and the best value up to it."""

    trial: int
    value: float
    best: float


@dataclass(frozen=True)
class Summary:
    """All that a report says."""

    overview: Overview
    config: Mapping[str, Any] | None  # the best one
    settings: tuple[Setting, ...]  # of the best configuration
    stages: tuple[StageSummary, ...]
    importance: tuple[Importance, ...]
    pairs: tuple[Pair, ...]
    parts: tuple[Part, ...]
    steps: tuple[Step, ...]
    failures: tuple[FailureGroup, ...]
    crashes: tuple[Crash, ...]
    asked_for: tuple[tuple[str, str], ...]  # the settings of the run
    space: tuple[tuple[str, str], ...]  # the parameters in words

    @property
    def headline(self) -> tuple[Importance, ...]:
        """What matters in the first stage that found something: there nothing was fixed yet."""
        first = min((row.stage for row in self.importance), default=0)
        return tuple(row for row in self.importance if row.stage == first)


def summarize(history: History) -> Summary:
    """Pure: the same history, the same summary."""
    stages = stages_of(history)
    best = history.best
    return Summary(
        overview=_overview(history),
        config=None if best is None else dict(best.trial.config),
        settings=() if best is None else _settings(history, best, stages),
        stages=stages,
        importance=importance_of(history),
        pairs=pairs_of(history),
        parts=_parts(history),
        steps=_steps(history),
        failures=failures_of(history),
        crashes=crashes_of(history),
        asked_for=tuple(_flat(history.settings)),
        space=tuple((name, _levels(history, name)) for name in history.space.parameters),
    )


def _overview(history: History) -> Overview:
    best = history.best
    default = next((r for r in history.records if r.trial.stage == "default"), None)
    return Overview(
        goal=history.goal,
        n_parameters=len(history.space.parameters),
        n_trials=len(history.records),
        n_failed=sum(r.outcome.value is None for r in history.records),
        n_retried=sum(r.outcome.attempts > 1 for r in history.records),
        seconds=sum(r.outcome.seconds for r in history.records),
        stopped=history.stopped,
        best=None if best is None else best.outcome.value,
        best_trial=None if best is None else best.trial.number,
        best_stage="" if best is None else best.trial.stage,
        best_budget=None if best is None else best.trial.budget,
        has_default=history.default is not None,
        default=None if default is None else default.outcome.value,
        improvement=_improvement(best, default, sign_of(history)),
    )


def _improvement(best: Record | None, default: Record | None, sign: float) -> float | None:
    """Values of different budgets are not compared."""
    if best is None or default is None or best.trial.budget != default.trial.budget:
        return None
    if best.outcome.value is None or default.outcome.value is None:
        return None
    return sign * (default.outcome.value - best.outcome.value)


def _settings(history: History, best: Record, stages: Sequence[StageSummary]) -> tuple[Setting, ...]:
    decided = {fixed.parameter: fixed for stage in stages for fixed in stage.fixed}
    mine, theirs = best.trial.config, history.default or {}
    return tuple(
        Setting(
            parameter=name,
            value=mine.get(name),
            is_active=name in mine,
            default=theirs.get(name),
            is_in_default=name in theirs,
            differs=history.default is None or _key(mine, name) != _key(theirs, name),
            decided=decided.get(name),
        )
        for name in history.space.parameters
    )


def _key(config: Mapping[str, Any], name: str) -> object:
    return level_key(config[name]) if name in config else None


def _parts(history: History) -> tuple[Part, ...]:
    """In the order in which they began; the default's trial is no sample of anything."""
    return tuple(_part(name, records) for name, records in samples_of(history).items() if name != "default")


def _part(name: str, records: Sequence[Record]) -> Part:
    values = values_of(records)
    low, high = np.quantile(values, [0.05, 0.95]).tolist() if values else (0.0, 0.0)
    return Part(name or "search", len(records), len(records) - len(values), spread(values), (low, high))


def _steps(history: History) -> tuple[Step, ...]:
    """At the largest budget only: values at smaller ones are not comparable."""
    best = history.best
    steps: list[Step] = []
    better = max if history.goal == "maximize" else min
    for record in history.records:
        value = finite(record.outcome.value)
        if best is not None and value is not None and record.trial.budget == best.trial.budget:
            steps.append(Step(record.trial.number, value, better(value, steps[-1].best) if steps else value))
    return tuple(steps)


def _flat(settings: Mapping[str, Any], before: str = "") -> list[tuple[str, str]]:
    """Nested settings with dotted names."""
    rows: list[tuple[str, str]] = []
    for name, setting in settings.items():
        if isinstance(setting, Mapping) and setting:
            rows += _flat(setting, f"{before}{name}.")
        else:
            rows.append((f"{before}{name}", words.value(setting)))
    return rows


def _levels(history: History, name: str) -> str:
    parameter = history.space.parameters[name]
    if parameter.is_continuous:
        scale = ", log scale" if parameter.log else ""
        return f"from {words.number(parameter.low)} to {words.number(parameter.high)}{scale}"
    return words.listing(map(words.value, parameter.levels), 8)
