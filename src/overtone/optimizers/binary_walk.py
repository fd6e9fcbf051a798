"""Descents of a fit over bits: what a walk does, faster."""

import numpy as np
from numpy.typing import NDArray

from overtone.optimizers.proposals import SWEEPS, Neighborhood
from overtone.optimizers.surrogate import Surrogate, covariance
from overtone.spectral.monomials import FloatArray, IntArray, products


class BinaryWalk:
    """A `Walk` where every parameter is a bit, in closed form.

    A flip of bit p multiplies the covariance with sample v by cosh c - x_p v_p sinh c, c = 4 scale^2, and a named
    monomial with p by -1, so that all flips together are one product of matrices.
    """

    def __init__(
        self, near: Neighborhood, surrogate: Surrogate, points: FloatArray, doubts: FloatArray | None = None
    ) -> None:
        self._near = near
        self.points = points.copy()  # (S, n)
        self.values = surrogate(points)  # (S,)
        c = 4 * surrogate.scale**2
        self._parts = covariance(points * surrogate.scale, surrogate.samples) * surrogate.weights  # (S, T)
        self._more = np.cosh(c) - 1
        self._signs = np.sinh(c) * np.sign(surrogate.samples).T.copy()  # (n, T)
        self._terms = products(points, surrogate.monomials) * surrogate.coefficients  # (S, K)
        self._has = np.zeros((len(surrogate.monomials), points.shape[1]))  # (K, n)
        for k, monomial in enumerate(surrogate.monomials):
            self._has[k, list(monomial)] = 1.0
        if doubts is not None:  # of every flip, as a linear term; of two levels one is no change, and 0
            flips = doubts.reshape(*points.shape, 2).sum(axis=2)  # (S, n)
            self._terms = np.column_stack([self._terms, -flips / 2])
            self._has = np.concatenate([self._has, np.eye(points.shape[1])])
        bits, terms = self._has.T.nonzero()
        self._of_bit = np.split(terms, np.searchsorted(bits, np.arange(1, points.shape[1])))  # terms with each bit

    def changes(self) -> FloatArray:
        """What the fit gains or loses by every flip.  # (S, n)"""
        smooth = self._more * self._parts.sum(axis=1)[:, None] - self.points * (self._parts @ self._signs.T)
        return np.asarray(smooth - 2 * self._terms @ self._has)

    def descend(self, first: int = 0) -> None:
        """Bits are flipped while the fit falls, steepest first; the points before the first one stay."""
        moves = np.arange(len(self.points)) >= first
        for _ in range(2 * SWEEPS):  # they skip bits that no point wanted to flip before
            changes = self.changes()
            wanted = np.flatnonzero((self._falls(changes) & moves[:, None]).any(axis=0))
            if not len(wanted):
                break
            steepest = np.argsort(np.minimum(changes[:, wanted], 0.0).sum(axis=0), kind="stable")
            for p in wanted[steepest].tolist():
                self._step(p, moves)

    def _falls(self, changes: FloatArray) -> NDArray[np.bool_]:
        least = -1e-9 * (1 + np.abs(self.values))
        return np.asarray(changes < (least if changes.ndim == 1 else least[:, None]))

    def _step(self, p: int, moves: NDArray[np.bool_]) -> None:
        """Each point that may flips a bit, if the fit falls."""
        x = self.points[:, p].copy()
        named = self._of_bit[p]
        changes = self._more * self._parts.sum(axis=1) - x * (self._parts @ self._signs[p])
        if len(named):
            changes -= 2 * self._terms[:, named].sum(axis=1)
        who = (self._falls(changes) & moves).nonzero()[0]
        who = who if self._near.is_free else np.array([s for s in who.tolist() if self._may(s, p)], dtype=int)
        if not len(who):
            return
        self.points[who, p] = -x[who]
        self.values[who] += changes[who]
        self._parts[who] *= 1 + self._more - x[who, None] * self._signs[p]
        if len(named):
            self._terms[who[:, None], named] *= -1

    def _may(self, s: int, p: int) -> bool:
        point = self.points[s].copy()
        point[p] *= -1
        return self._near.contains(tuple(point.tolist()))

    def neighbors(self, n: int, of: IntArray) -> FloatArray:
        """The best n of all that differ from one of some points in one bit.  # (<= n, units)"""
        values = self.values[of, None] + self.changes()[of]
        who, bits = np.unravel_index(np.argsort(values, axis=None, kind="stable")[:n], values.shape)
        found: FloatArray = self.points[of[who]]
        found[np.arange(len(found)), bits] *= -1
        return found
