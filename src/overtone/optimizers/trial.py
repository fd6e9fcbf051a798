"""`Trial`, and the protocol that all optimizers speak: ask, tell, done."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from overtone.errors import InputError
from overtone.space import Config, Point, Space

Value = float | None
LARGEST = 1e50  # a value beyond is a failure: its fourth power may be no number


@dataclass(frozen=True)
class Trial:
    """One evaluation to be made: what to set, and how much to spend on it.

    It carries its own point, because several points can stand for one configuration.
    """

    number: int
    config: Config
    point: Point = field(repr=False)
    budget: float | None = None  # fidelity; None: whatever the objective does by itself
    stage: str = ""  # which part of the optimizer asked for it

    def __hash__(self) -> int:
        return hash((self.number, self.point, self.budget))


class Optimizer(Protocol):
    """A seeded machine with no clock and no I/O; `ask(n)` is n times `ask(1)`."""

    def ask(self, n: int = 1) -> list[Trial]:
        """Up to n trials to evaluate; an empty list: tell me something first, or it is done."""

    def tell(self, trial: Trial, value: Value) -> None:
        """The value of a trial, lower is better; None, NaN, infinite or no number at all: it failed."""

    @property
    def done(self) -> bool:
        """All trials are asked for and told."""


Base = Callable[[Space, int], Optimizer]  # (space, seed) -> an optimizer of what is left


def full_budget(optimizer: Optimizer) -> float | None:
    """The budget at which an optimizer's answer is judged; None: its trials have none."""
    budget: float | None = getattr(optimizer, "full_budget", getattr(optimizer, "budget", None))
    return budget


def finite(value: Any) -> Value:
    """A number as it is; whatever is none, or not finite, or beyond what the engine can square, is a failure."""
    if type(value) is float:  # nearly always
        return value if abs(value) <= LARGEST else None
    try:
        plain = value.item() if hasattr(value, "item") else value  # numpy's and others' numbers
        number = math.nan if isinstance(plain, str | bytes) else float(plain)
    except (ArithmeticError, RuntimeError, TypeError, ValueError):
        return None
    return number if abs(number) <= LARGEST else None


def check_whole(name: str, number: int, least: int = 1) -> int:
    """A whole number that is large enough."""
    if type(number) is int and number >= least:  # nearly always
        return number
    if isinstance(number, bool) or not isinstance(number, int | np.integer) or number < least:
        raise InputError(f"`{name}` must be a whole number >= {least}, but got {number!r}")
    return int(number)


class Book:
    """Which trials are out and which came back: what every optimizer keeps."""

    def __init__(self) -> None:
        self.trials: list[Trial] = []  # by number
        self.open: set[int] = set()
        self.values: dict[int, Value] = {}

    def out(self, config: Config, point: Point, budget: float | None, stage: str) -> Trial:
        """Hand out a trial, under the next number."""
        trial = Trial(len(self.trials), config, point, budget, stage)
        self.trials.append(trial)
        self.open.add(trial.number)
        return trial

    def back(self, trial: Trial, value: Any) -> Value:
        """Note a result; each trial comes back once."""
        number = trial.number if isinstance(trial, Trial) else -1
        if number not in self.open or (self.trials[number] is not trial and self.trials[number] != trial):
            known = "was told already" if number in self.values else "was never asked for"
            raise InputError(f"a trial must be told once, after it was asked for, but {trial!r} {known}")
        self.open.remove(number)
        self.values[number] = finite(value)
        return self.values[number]

    def results(self) -> list[tuple[Trial, Value]]:
        """The trials that came back with their values, by number."""
        return [(trial, self.values[trial.number]) for trial in self.trials if trial.number in self.values]
