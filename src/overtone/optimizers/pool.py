"""The points that a round chooses from, and what is known of their values, together."""

import math
from collections.abc import Callable

import numpy as np
from scipy.special import ndtr

from overtone.space import Point
from overtone.spectral.monomials import FloatArray

CERTAIN = 1e-12  # a variance that is none
NUDGE = 1e-6  # weight of the mean where no improvement is expected anywhere


class Pool:
    """Points with the mean and covariance of their values.

    noise: variance of what an evaluation adds to a value.
    n_known: the first of them have values already; with noise, more of these may tell which is best.
    n_out: the last of them are out, and count as picked.
    """

    def __init__(
        self,
        points: list[Point],
        mean: FloatArray,
        covariance: FloatArray,
        noise: float,
        *,
        n_known: int = 0,
        n_out: int = 0,
    ) -> None:
        self._n_known = n_known
        self._points, self._mean, self._covariance, self._noise = points, mean, covariance, noise
        self._variance = np.diag(covariance).copy()
        self._known = np.zeros((0, len(points)))  # W: the covariance given what was picked is covariance - W'W
        self._open = np.ones(len(points), dtype=bool)
        for i in range(len(points) - n_out, len(points)):
            self._take(i)

    @classmethod
    def empty(cls) -> "Pool":
        """No points."""
        return cls([], np.zeros(0), np.zeros((0, 0)), 0.0)

    @property
    def n_open(self) -> int:
        """Points without a value that were not picked yet."""
        return int(self._open[self._n_known :].sum())

    def close(self, taken: set[object], names: Callable[[list[Point]], list[object]]) -> None:
        """What has one of these names, and no value yet, is not to be picked any more."""
        if taken:
            for i, name in enumerate(names(self._points)):
                self._open[i] &= i < self._n_known or name not in taken

    def pick(self, n: int, lowest: float) -> list[Point]:
        """n points, each of the greatest expected improvement if those before it have the values that are expected."""
        picked = []
        below = lowest - self._mean
        below[: self._n_known] = _behind(self._mean[: self._n_known])
        nudge = -NUDGE * self._mean
        nudge[: self._n_known] = nudge.min(initial=0.0)
        for _ in range(min(n, self.n_open)):
            variance = np.maximum(self._variance, 0.0)
            gain = _expected_gain(below, variance / np.sqrt(variance + self._noise + CERTAIN**2))
            i = int(np.where(self._open, gain + nudge, -np.inf).argmax())
            self._take(i)
            picked.append(self._points[i])
        return picked

    def _take(self, i: int) -> None:
        """W gets s / sqrt(s_i + noise), s the row of i; a value that is as expected leaves the mean."""
        self._open[i] = i < self._n_known
        if self._variance[i] > CERTAIN:
            row = self._covariance[i] - self._known[:, i] @ self._known
            known = row / math.sqrt(self._variance[i] + self._noise)
            self._known = np.vstack([self._known, known])
            self._variance -= known * known


def _expected_gain(gain: FloatArray, deviation: FloatArray) -> FloatArray:
    """E max(0, z) for z of this mean and deviation: mean Phi(mean / deviation) + deviation phi(mean / deviation).

    Of what the mean will be when the value is known: with noise that varies by less than the value itself.
    """
    z = gain / np.maximum(deviation, CERTAIN)
    density = np.exp(-0.5 * np.minimum(z * z, 1e3)) / math.sqrt(2 * math.pi)
    return np.asarray(gain * ndtr(z) + deviation * density)


def _behind(means: FloatArray) -> FloatArray:
    """How far each is from being another one than now, the best or not the best, as a loss.  # (k,)"""
    if len(means) < 2:
        return np.zeros(len(means))
    first, second = np.sort(means)[:2]
    return np.asarray(np.where(means > first, first - means, first - second))
