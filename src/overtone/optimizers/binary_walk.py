"""Descents of a fit over bits: what a walk does, faster."""

import numpy as np

from overtone.optimizers.proposals import Neighborhood
from overtone.optimizers.surrogate import Surrogate, covariance
from overtone.spectral.monomials import FloatArray, IntArray, products

LONGEST = 100  # steps of a descent
SHARE = 8  # one of so many bits along which the fit falls is flipped in a step


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
        if doubts is not None:  # of -1 and of 1, as a linear term
            flips = points * (doubts[:, ::2] - doubts[:, 1::2])  # (S, n)
            self._terms = np.column_stack([self._terms, -flips / 2])
            self._has = np.concatenate([self._has, np.eye(points.shape[1])])

    def changes(self) -> FloatArray:
        """What the fit gains or loses by every flip.  # (S, n)"""
        smooth = self._more * self._parts.sum(axis=1)[:, None] - self.points * (self._parts @ self._signs.T)
        return np.asarray(smooth - 2 * self._terms @ self._has)

    def descend(self, first: int = 0) -> None:
        """Each point flips its steepest bits while the fit falls; the points before the first one stay."""
        moves = (np.arange(len(self.points)) >= first)[:, None]
        least, others = -1e-9 * (1 + np.abs(self.values))[:, None], self.values - self._sums()
        for _ in range(LONGEST):
            changes = self.changes()
            flips = self._steepest(changes, ((changes < least) & moves).sum(axis=1))
            if not flips:
                break
            for who, bits in flips:
                self._flip(who, bits)
        self.values = self._sums() + others

    def _sums(self) -> FloatArray:
        """The values, but for what no flip changes."""
        return np.asarray(self._parts.sum(axis=1) + self._terms.sum(axis=1))

    def _steepest(self, changes: FloatArray, falling: IntArray) -> list[tuple[IntArray, IntArray]]:
        """Points with a bit of each: its steepest, then, of many that fall, the next.  # (S, n), (S,)"""
        if not self._near.is_free:
            bits = np.array([self._inside(s, changes[s], n) for s, n in enumerate(falling.tolist())])
            return [(who, bits[who])] if len(who := (bits >= 0).nonzero()[0]) else []
        counts = -(-falling // SHARE)
        if (most := int(counts.max())) < 2:
            return [(who, changes[who].argmin(axis=1))] if len(who := counts.nonzero()[0]) else []
        order = np.argsort(changes, axis=1, kind="stable")
        return [(who, order[who, k]) for k in range(most) for who in ((counts > k).nonzero()[0],)]

    def _inside(self, s: int, changes: FloatArray, n: int) -> int:
        """Of the n steepest bits of a point, the first that leads to where nothing is forbidden; -1: none.  # (n,)"""
        for p in np.argsort(changes, kind="stable")[:n].tolist():
            point = self.points[s].copy()
            point[p] *= -1
            if self._near.contains(tuple(point.tolist())):
                return int(p)
        return -1

    def _flip(self, who: IntArray, bits: IntArray) -> None:
        """One bit of each of some points.  # (s,), (s,)"""
        x = self.points[who, bits]
        self.points[who, bits] = -x
        self._parts[who] *= 1 + self._more - x[:, None] * self._signs[bits]
        self._terms[who] *= 1 - 2 * self._has[:, bits].T

    def neighbors(self, n: int, of: IntArray) -> FloatArray:
        """The best n of all that differ from one of some points in one bit.  # (<= n, units)"""
        values = self.values[of, None] + self.changes()[of]
        who, bits = np.unravel_index(np.argsort(values, axis=None, kind="stable")[:n], values.shape)
        found: FloatArray = self.points[of[who]]
        found[np.arange(len(found)), bits] *= -1
        return found
