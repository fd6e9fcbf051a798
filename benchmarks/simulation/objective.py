"""What is tuned in the simulation: planted sparse polynomials over 60 switches, with a little noise."""

from functools import cached_property

import numpy as np

from benchmarks.planted import planted
from overtone.optimizers.trial import Trial
from overtone.space import Space, boolean
from overtone.spectral.minimizers import minimizers
from overtone.spectral.monomials import products
from overtone.spectral.polynomial import Polynomial

N, NOISE = 60, 0.1
NEAR = 0.1  # of the way from the mean of all values, which is 0, to the least


class Objective:
    """`sparsity` monomials of degree 1 to 3; noise as a share of the values' standard deviation.

    A smaller budget is noisier, as less data or fewer repetitions are.
    """

    def __init__(self, sparsity: int, seed: int) -> None:
        self.space = Space({f"x{i}": boolean() for i in range(N)})
        self._seed = seed
        self._terms = planted(N, 1, sparsity, 0.0, seed).truth
        self._weights = np.array(list(self._terms.values()))
        self._noise = NOISE * float(np.sqrt((self._weights**2).sum()))

    @cached_property
    def least(self) -> float:
        """The minimum: exact."""
        return minimizers(Polynomial(self._terms, N)).values[0]

    @property
    def answer(self) -> float:
        """A value that counts as found."""
        return (1 - NEAR) * self.least

    def measure(self, trial: Trial, full: float | None = None) -> tuple[float, float]:
        """The true value, and one with noise, which is the trial's own."""
        true = float(products(np.array([trial.point]), list(self._terms))[0] @ self._weights)
        share = 1.0 if full is None or trial.budget is None else trial.budget / full
        draw = np.random.default_rng([self._seed, trial.number, 3]).standard_normal()
        return true, true + self._noise / np.sqrt(share) * float(draw)
