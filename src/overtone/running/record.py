"""What happened: the outcome of a trial, and the history of a run."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from overtone.optimizers.stage import Stage
from overtone.optimizers.trial import Trial, Value
from overtone.space import Config, Space

Goal = Literal["minimize", "maximize"]


@dataclass(frozen=True)
class Outcome:
    """What came of a trial: its value, or why it has none."""

    value: Value  # the objective's own number; None: it failed
    reason: str = ""  # why it failed, in one line
    detail: str = ""  # the traceback, or the end of the output
    seconds: float = 0.0  # wall-clock time of the last attempt
    attempts: int = 1  # how often it was started


def budget_of(trial: Trial, full: float | None) -> float:
    """What a trial was given; one without a budget has the full one."""
    budget = full if trial.budget is None else trial.budget
    return math.inf if budget is None else float(budget)


@dataclass(frozen=True)
class Record:
    """A trial that came back."""

    trial: Trial
    outcome: Outcome


@dataclass(frozen=True)
class History:
    """A run as far as it got: what a report is made of."""

    space: Space
    records: tuple[Record, ...]  # by trial number
    stages: tuple[Stage, ...] = ()  # of values whose lower is better: those of "maximize" have the other sign
    goal: Goal = "minimize"
    default: Config | None = None  # what the user has today, if given; its trial has the stage "default"
    settings: Mapping[str, Any] = field(default_factory=dict)  # seed, optimizer, objective, ...: what was asked for
    stopped: str = ""  # why the run ended; "" while it is going
    judged: int | None = None  # the best trial, if the optimizer found that single values are not to be trusted

    @property
    def best(self) -> Record | None:
        """The best value at the largest budget, the first of equals; or what the optimizer judged to be the best."""
        for record in self.records:
            if record.trial.number == self.judged and record.outcome.value is not None:
                return record
        told = [record for record in self.records if record.outcome.value is not None]
        full = max(map(self._budget, told), default=0.0)
        return min((record for record in told if self._budget(record) == full), key=self._rank, default=None)

    def _budget(self, record: Record) -> float:
        return budget_of(record.trial, self.settings.get("full_budget"))

    def _rank(self, record: Record) -> tuple[float, int]:
        value = record.outcome.value
        assert value is not None  # noqa: S101
        return (value if self.goal == "minimize" else -value), record.trial.number
