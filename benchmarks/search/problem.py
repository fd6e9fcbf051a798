"""`Problem`: what is searched, how it is measured, and how an answer is judged."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from overtone.space import Config, Space, boolean
from overtone.spectral.monomials import FloatArray

Value = float | None  # lower is better; None: it failed
Measure = Callable[[Config, float | None, int], Value]  # (configuration, budget, number of the draw of its noise)


@dataclass(frozen=True)
class Problem:
    """One function to minimize. The same configuration, budget and draw always give the same value."""

    name: str
    space: Space
    true: Callable[[Config], Value]  # without noise, at the full budget: what an answer is judged by
    n_evaluations: int  # B: what an optimizer may spend
    is_real: bool
    noise: float = 0.0  # standard deviation of Gaussian noise on top of `true`
    measure: Measure | None = None  # if there is other noise, or if there are budgets
    full_budget: float | None = None
    optimum: float | None = None  # if it is known
    is_tossed: bool = (
        False  # which level is called "on" is chance: a method that starts from "all on" has a coin for each
    )
    is_slow: bool = False  # above a millisecond: kept on disk
    stamp: str = ""  # versions of what computes it: other versions, other values

    @property
    def n(self) -> int:
        """How many independent codes a point has."""
        return len(self.space.units)

    @property
    def is_noisy(self) -> bool:
        return bool(self.noise) or self.measure is not None

    def value(self, config: Config, budget: float | None, draw: int) -> Value:
        """What an optimizer sees of a configuration."""
        if self.measure is not None:
            return self.measure(config, budget, draw)
        value = self.true(config)
        if value is None or not self.noise:
            return value
        rng = np.random.default_rng([draw, int(key(config)[:8], 16)])
        return value + self.noise * float(rng.standard_normal())


def key(config: Config) -> str:
    """A short name of a configuration, the same in every process."""
    text = json.dumps(sorted(config.items()))
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def switches(n: int) -> Space:
    """n on/off parameters."""
    return Space({f"x{i:03}": boolean() for i in range(n)})


def signs(config: Config) -> FloatArray:
    """-1 where a parameter is off, +1 where it is on.  # (n,)"""
    return np.where(bits(config), 1.0, -1.0)


def bits(config: Config) -> np.ndarray:
    """Which parameters are on.  # (n,)"""
    return np.fromiter(config.values(), dtype=bool, count=len(config))
