"""`Player`: what takes part in the contest, behind one small face, and what a proposal and a contestant are."""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from benchmarks.search.problem import Problem, Value
from overtone.optimizers import Optimizer, Trial
from overtone.space import Config

Mode = Literal["one at a time", "100 in flight"]
MODES: dict[Mode, int] = {"one at a time": 1, "100 in flight": 100}  # trials in flight, at most


@dataclass(frozen=True)
class Move:
    """A configuration to be evaluated; `handle` is the player's own."""

    config: Config
    budget: float | None = None
    handle: Any = field(default=None, compare=False)


Result = tuple[Move, Value]


class Player(Protocol):
    """It is asked for a round, and told all of it."""

    def ask(self, n: int) -> list[Move]:
        """At most n moves; none: it has nothing more to try."""

    def tell(self, results: Sequence[Result]) -> None:
        """The results of the round."""

    def best(self) -> Config | None:
        """The answer it would give now; None: the best value that it was told."""


@dataclass(frozen=True)
class Contestant:
    """A name, how to make a player, and where it does not take part."""

    name: str
    make: Callable[[Problem, int, int], Player]  # (problem, seed, W)
    about: str  # its settings, in words
    factor: int = 1  # of the problem's evaluations that it may spend
    any_mode: bool = False  # it does the same in every mode, so that it is run once
    most: int | None = None  # evaluations after which it stops, because it is too slow for more
    modes: tuple[Mode, ...] = tuple(MODES)
    skips: Callable[[Problem], str] = lambda _: ""  # why not this problem; nothing: it takes part
    package: str = "overtone"  # whose version is noted


class Asked:
    """An optimizer of Overtone."""

    def __init__(self, optimizer: Optimizer) -> None:
        self.optimizer = optimizer

    def ask(self, n: int) -> list[Move]:
        return [Move(trial.config, trial.budget, trial) for trial in self.optimizer.ask(n)]

    def tell(self, results: Sequence[Result]) -> None:
        for move, value in results:
            self.optimizer.tell(move.handle, value)

    def best(self) -> Config | None:
        """As `minimize` answers: what the optimizer itself judges best, if single values are not to be trusted."""
        judged: Trial | None = getattr(self.optimizer, "judged", None)
        return None if judged is None else judged.config


Script = Generator[list[Config], list[Value], None]  # yields a round, gets its values


class Scripted:
    """A method that is written down as a generator."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self._waiting = next(script, [])
        self._values: list[Value] = []
        self._asked = 0

    def ask(self, n: int) -> list[Move]:
        asked = self._waiting[self._asked : self._asked + n]
        self._asked += len(asked)
        return [Move(config) for config in asked]

    def tell(self, results: Sequence[Result]) -> None:
        self._values += [value for _, value in results]
        if len(self._values) == len(self._waiting):
            try:
                self._waiting = self._script.send(self._values)
            except StopIteration:
                self._waiting = []
            self._values, self._asked = [], 0

    def best(self) -> Config | None:
        return None
