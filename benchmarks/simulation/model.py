"""What is simulated: how long trials take, how they fail, and what the coordinator's work costs."""

import math
from dataclasses import dataclass

import numpy as np

from overtone.spectral.monomials import FloatArray

ATTEMPTS = 2  # a trial whose worker dies is tried once more, as `minimize` does


@dataclass(frozen=True)
class Costs:
    """Seconds of the coordinator, which does one thing at a time."""

    ask: float  # a trial
    tell: float
    dispatch: float  # to hand a trial to the cluster and to take its result
    append: float  # a transaction of the ledger: the disk
    event: float  # one event of a transaction
    flight: float  # to look at one trial that is out, each time that something is waited for

    def written(self, n: int) -> float:
        """n events at once."""
        return self.append + n * self.event if n else 0.0


FREE = Costs(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Trials:
    """How trials go: their durations, relative to a mean of 1, and how many fail.

    tail: "equal", "lognormal" (sigma 1) or "Pareto" (shape 1.5: its variance is infinite).
    crashes: share of attempts whose worker dies, after a uniform share of their time. hangs: share that never ends.
    limit: after which an attempt is ended, and the trial has failed; in means.
    """

    tail: str = "lognormal"
    crashes: float = 0.0
    hangs: float = 0.0
    limit: float = math.inf

    def drawn(self, n: int, seed: int) -> "Drawn":
        """For n trials: the same for any number of workers."""
        rng = np.random.default_rng([seed, 77])
        shape = n, ATTEMPTS
        seconds = tail(self.tail, rng, shape)
        fate, share = rng.random(shape), rng.random(shape)
        hangs = (fate < self.hangs) | (seconds > self.limit)
        crashes = ~hangs & (fate < self.hangs + self.crashes)
        seconds = np.where(hangs, self.limit, np.where(crashes, share * seconds, seconds))
        return Drawn(seconds, crashes, hangs)


def tail(name: str, rng: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
    """Durations of mean 1."""
    if name == "lognormal":
        return np.exp(rng.standard_normal(shape) - 0.5)
    if name == "Pareto":
        a = 1.5
        return (1 + rng.pareto(a, shape)) * (a - 1) / a
    return np.ones(shape)


@dataclass(frozen=True)
class Drawn:
    """What the attempts of each trial come to.  # each (n, ATTEMPTS)"""

    seconds: FloatArray
    crashes: np.ndarray
    hangs: np.ndarray

    def failed(self, number: int) -> bool:
        """The trial has no value: its last attempt crashed, too, or one took too long."""
        for attempt in range(ATTEMPTS):
            if self.hangs[number, attempt]:
                return True
            if not self.crashes[number, attempt]:
                return False
        return True
