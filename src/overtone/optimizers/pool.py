"""The points that a round chooses from, and what is known of their values, together."""

import math

import numpy as np
from scipy.special import ndtr

from overtone.space import Point
from overtone.spectral.monomials import FloatArray

CERTAIN = 1e-12  # a variance that is none
NUDGE = 1e-6  # weight of the mean where no improvement is expected anywhere


class Pool:
    """Points with the mean and covariance of their values."""

    def __init__(self, points: list[Point], mean: FloatArray, covariance: FloatArray, noise: float) -> None:
        self._points, self._mean, self._covariance, self._noise = points, mean, covariance, noise
        self._variance = np.diag(covariance).copy()
        self._known = np.zeros((0, len(points)))  # W: the covariance given what was picked is covariance - W'W
        self._open = np.ones(len(points), dtype=bool)

    @classmethod
    def empty(cls) -> "Pool":
        """No points."""
        return cls([], np.zeros(0), np.zeros((0, 0)), 0.0)

    @property
    def n_open(self) -> int:
        """Points that were not picked yet."""
        return int(self._open.sum())

    def pick(self, n: int, lowest: float) -> list[Point]:
        """n points, each of the greatest expected improvement if those before it have the values that are expected."""
        picked = []
        for _ in range(min(n, self.n_open)):
            gain = _expected_gain(lowest - self._mean, np.sqrt(np.maximum(self._variance, 0.0)))
            i = int(np.where(self._open, gain - NUDGE * self._mean, -np.inf).argmax())
            self._open[i] = False
            self._expect(i)
            picked.append(self._points[i])
        return picked

    def _expect(self, i: int) -> None:
        """W gets s / sqrt(s_i + noise), s the row of i; a value that is as expected leaves the mean."""
        if self._variance[i] > CERTAIN:
            row = self._covariance[i] - self._known[:, i] @ self._known
            known = row / math.sqrt(self._variance[i] + self._noise)
            self._known = np.vstack([self._known, known])
            self._variance -= known * known


def _expected_gain(gain: FloatArray, deviation: FloatArray) -> FloatArray:
    """E max(0, z) for z of this mean and deviation: mean Phi(mean / deviation) + deviation phi(mean / deviation)."""
    z = gain / np.maximum(deviation, CERTAIN)
    density = np.exp(-0.5 * np.minimum(z * z, 1e3)) / math.sqrt(2 * math.pi)
    return np.asarray(gain * ndtr(z) + deviation * density)
