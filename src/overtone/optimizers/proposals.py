"""Points near points: all that differ in one parameter, and descents of a fit along such changes."""

from collections.abc import Sequence
from itertools import groupby, product

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag

from overtone.optimizers.features import ORDER, Features
from overtone.optimizers.surrogate import Surrogate, covariance
from overtone.space import Point, Space
from overtone.space.codes import numbers_of
from overtone.space.restrictions import leave
from overtone.spectral.families import ordered
from overtone.spectral.monomials import FloatArray, IntArray

GRID = np.linspace(-1, 1, 21)  # where a continuous unit is looked at,
STEPS = np.array([0.0, -0.05, -0.01, 0.01, 0.05])  # and these steps from where it is
SWEEPS = 3  # of a descent, at most


class Neighborhood:
    """The parameters of a space as arrays: their units, their codes, their columns."""

    def __init__(self, space: Space) -> None:
        self.space = space
        self.places = _places(space)
        self._parameters = list(space.parameters.values())
        features = Features(space)
        self._families = [  # ordered levels have polynomials of their number, as a range has: neighbors are close
            ordered(len(parameter.levels), ORDER) if parameter.is_ordered else features.families[place[0]]
            for parameter, place in zip(self._parameters, self.places, strict=True)
        ]
        sizes = [family.size for family in self._families]
        self.groups = np.repeat(np.arange(len(sizes)), sizes)  # of each column, the parameter (m,)
        self.owned = [np.flatnonzero(self.groups == p) for p in range(len(sizes))]  # columns of a parameter
        self._codes = [_codes(space, place) for place in self.places]
        self._tables = [None if codes is None else self._functions(codes, p) for p, codes in enumerate(self._codes)]
        self._all: tuple[FloatArray, NDArray[np.bool_]] | None = None
        self.is_free = not space.forbid and not space.mixtures
        bits = [p for p, place in enumerate(self.places) if len(place) == 1 and space.units[place[0]].kind == "bit"]
        self.switches = (  # the column and the unit of each parameter of two levels
            np.array([self.owned[p][0] for p in bits], dtype=int),
            np.array([self.places[p][0] for p in bits], dtype=int),
        )
        self.is_binary = len(bits) == len(self.places)
        self._has_inactive = any(parameter.when for parameter in space.parameters.values())
        self.parents = _parents(space)

    def columns(self, points: FloatArray) -> FloatArray:
        """One row a configuration, whatever the codes of what is not active in it.  # (N, n) -> (N, m)"""
        return self.of_points(self.space.settled(points) if self._has_inactive else points)

    def of_points(self, points: FloatArray) -> FloatArray:
        """The columns of points as they are.  # (N, n) -> (N, m)"""
        if self.is_binary:
            return points
        return np.concatenate([self._functions(points[:, place], p) for p, place in enumerate(self.places)], axis=1)

    def names(self, points: Sequence[Point]) -> list[object]:
        """What two points of one configuration have in common."""
        if not self._has_inactive or not points:
            return list(points)
        return list(map(tuple, self.space.settled(np.array(points)).tolist()))

    def _functions(self, codes: FloatArray, parameter: int) -> FloatArray:
        """The columns of a parameter.  # (L, k) -> (L, m_p)"""
        known = self._parameters[parameter]
        return self._families[parameter].functions(numbers_of(known, codes) if known.is_ordered else codes[:, 0])

    def is_continuous(self, parameter: int) -> bool:
        """It has no levels."""
        return self._codes[parameter] is None

    def candidates(self, parameter: int, points: FloatArray) -> tuple[FloatArray, FloatArray, IntArray]:
        """What a parameter may be, its columns there, and which of it each point has.  # (L, k), (L, m_p), (S,)"""
        own = points[:, self.places[parameter]]  # (S, k)
        codes, table = self._codes[parameter], self._tables[parameter]
        if codes is None or table is None:
            codes = np.unique(np.clip(np.concatenate([GRID, (own + STEPS).ravel()]), -1.0, 1.0))[:, None]
            table = self._functions(codes, parameter)
        return codes, table, np.abs(codes - own[:, None]).sum(axis=2).argmin(axis=1)

    def changes(self, points: FloatArray) -> tuple[FloatArray, NDArray[np.bool_]]:
        """All candidates of all parameters, each in a row of codes, and where in it they are.  # (M, n), (M, n)"""
        if self._all is not None:
            return self._all
        blocks = [self.candidates(p, points)[0] for p in range(len(self.places))]
        owners = np.repeat(np.arange(len(blocks)), [len(block) for block in blocks])
        of_unit = np.repeat(np.arange(len(blocks)), [len(place) for place in self.places])
        codes = block_diag(*blocks)
        found = codes, owners[:, None] == of_unit
        if all(block is not None for block in self._codes):  # they do not depend on the points
            self._all = found
        return found

    def around(self, point: FloatArray) -> FloatArray:
        """All that differ from a point in one parameter; some are not in the space.  # (n,) -> (N, n)"""
        found = []
        for parameter, place in enumerate(self.places):
            codes, _, (number,) = self.candidates(parameter, point[None])
            changed = np.repeat(point[None], len(codes), axis=0)
            changed[:, place] = codes
            found.append(np.delete(changed, number, axis=0))
        return np.concatenate(found)

    def crossed(
        self, points: FloatArray, others: FloatArray, share: float | FloatArray, rng: np.random.Generator
    ) -> FloatArray:
        """Each point with a parameter of another at a chance of `share`, if that is in the space.  # (S, n)"""
        taken = rng.random((len(points), len(self.places))) < share
        of_unit = np.repeat(np.arange(len(self.places)), [len(place) for place in self.places])
        mixed = np.where(taken[:, of_unit], others, points)
        inside = np.array([self.contains(tuple(row)) for row in mixed.tolist()])
        return np.where(inside[:, None], mixed, points)

    def contains(self, point: Point) -> bool:
        """It is in the space, and nothing of it is forbidden."""
        if self.is_free:
            return True
        space = self.space
        return leave(space.mixtures, point) and (not space.forbid or space.allows(space.decode(point)))


class Walk:
    """Points under a fit that change one parameter at a time; only what a change touches is computed.

    A change of parameter p multiplies the covariance with sample t by F_p[new, t] / F_p[old, t], where
    F_p[l, t] = exp(-|v_l - v_t|^2) over the columns of p alone.
    doubts: what every change of `Neighborhood.changes` costs each point beyond the fit.  # (S, M)
    """

    def __init__(
        self, near: Neighborhood, surrogate: Surrogate, points: FloatArray, doubts: FloatArray | None = None
    ) -> None:
        self._near, self._surrogate = near, surrogate
        self.points = points.copy()  # (S, n)
        columns = near.of_points(points)
        self.values = surrogate(columns)  # (S,)
        self._V = np.column_stack([columns, np.ones(len(points))])  # (S, m+1); the last stands for no column
        self._parts = covariance(columns * surrogate.scale, surrogate.samples) * surrogate.weights  # (S, T)
        parameters = range(len(near.places))
        self._options = [near.candidates(p, points) for p in parameters]
        self._numbers = [numbers for _, _, numbers in self._options]  # each (S,)
        self._factors = [self._factor(p) for p in parameters]  # each (L, T)
        self._terms = [self._touching(p) for p in parameters]
        sizes = [len(codes) for codes, _, _ in self._options]
        self._doubts = None if doubts is None else np.split(doubts, np.cumsum(sizes)[:-1], axis=1)  # each (S, L)

    def _factor(self, p: int) -> FloatArray:
        fitted = self._surrogate
        return covariance(self._options[p][1] * fitted.scale, fitted.samples[:, self._near.owned[p]])

    def _touching(self, p: int) -> tuple[FloatArray, IntArray] | None:
        """The monomials with this parameter: coefficient times its own columns (L, K), and the others (K, 2)."""
        own = {int(column): i for i, column in enumerate(self._near.owned[p])}
        both = zip(self._surrogate.monomials, self._surrogate.coefficients.tolist(), strict=True)
        touching = [(monomial, a) for monomial, a in both if not own.keys().isdisjoint(monomial)]
        if not touching:
            return None
        table, none = self._options[p][1], self._V.shape[1] - 1
        parts = [a * table[:, [own[c] for c in monomial if c in own]].prod(axis=1) for monomial, a in touching]
        others = [([c for c in monomial if c not in own] + [none, none])[:2] for monomial, _ in touching]
        return np.column_stack(parts), np.array(others)

    def changes(self, p: int) -> FloatArray:
        """What the fit gains or loses for every candidate of a parameter.  # (S, L)"""
        F, numbers = self._factors[p], self._numbers[p]
        values: FloatArray = (self._parts / F[numbers]) @ F.T
        terms = self._terms[p]
        if terms is not None:
            values += self._V[:, terms[1]].prod(axis=2) @ terms[0].T
        if self._doubts is not None:
            values += self._doubts[p]
        return values - values[np.arange(len(numbers)), numbers][:, None]

    def descend(self, first: int = 0) -> None:
        """Every parameter to where the fit is least, steepest first; the points before the first one stay."""
        moves = np.arange(len(self.points)) >= first
        parameters = range(len(self._options))
        steepest = np.argsort([self.changes(p).min(axis=1).sum() for p in parameters], kind="stable")
        for _ in range(SWEEPS):
            if not sum(self._step(p, moves) for p in steepest.tolist()):
                break

    def _step(self, p: int, moves: NDArray[np.bool_]) -> bool:
        """Each point that may takes the best candidate of a parameter; False if all stay."""
        changes, old = self.changes(p), self._numbers[p]
        best = changes.argmin(axis=1)
        each = np.arange(len(best))
        wanted = moves & (changes[each, best] < -1e-9 * (1 + np.abs(self.values)))
        best = np.where(wanted, best, old)
        for s in [] if self._near.is_free else np.flatnonzero(wanted).tolist():
            best[s] = self._allowed(s, p, changes[s])
        if (best == old).all():
            return False
        self.values = self.values + changes[each, best]
        self._parts *= self._factors[p][best] / self._factors[p][old]
        self.points[:, self._near.places[p]] = self._options[p][0][best]
        self._V[:, self._near.owned[p]] = self._options[p][1][best]
        self._numbers[p] = best
        return True

    def _allowed(self, s: int, p: int, changes: FloatArray) -> int:
        """The best candidate for a point that is in the space: at worst, to stay."""
        point = self.points[s].copy()
        for number in np.argsort(changes, kind="stable").tolist():
            point[self._near.places[p]] = self._options[p][0][number]
            if changes[number] >= 0 or self._near.contains(tuple(point.tolist())):
                break
        return int(number) if changes[number] < 0 else int(self._numbers[p][s])

    def neighbors(self, n: int, of: IntArray) -> FloatArray:
        """The best n of all that differ from one of some points in one parameter.  # (<= n, units)"""
        values = np.concatenate([self._beside(p)[of] for p in range(len(self._options))], axis=1)  # (s, M)
        which = [(p, number) for p, option in enumerate(self._options) for number in range(len(option[0]))]
        best = np.argsort(values, axis=None, kind="stable")[:n]
        found = self.points[of[best // len(which)]]
        for row, (p, number) in zip(found, (which[i] for i in best % len(which)), strict=True):
            row[self._near.places[p]] = self._options[p][0][number]
        inside: FloatArray = found[np.isfinite(values.ravel()[best])]
        return inside

    def _beside(self, p: int) -> FloatArray:
        """The values of a parameter's candidates; of a continuous one only the best, or it swamps all.  # (S, L)"""
        values = self.values[:, None] + self.changes(p)
        values[np.arange(len(values)), self._numbers[p]] = np.inf
        if self._near.is_continuous(p):
            values[values > values.min(axis=1)[:, None]] = np.inf
        return values


def _places(space: Space) -> list[list[int]]:
    """The units of each parameter."""
    numbered = groupby(range(len(space.units)), key=lambda unit: space.units[unit].parameter)
    return [list(place) for _, place in numbered]


def _parents(space: Space) -> list[int]:
    """The parameters of three levels and more, always active, that others depend on."""
    asked = {name for parameter in space.parameters.values() for name in parameter.when}
    numbered = enumerate(space.parameters.items())
    return [p for p, (name, known) in numbered if name in asked and not known.when and len(known.levels) > 2]


def _codes(space: Space, place: Sequence[int]) -> FloatArray | None:
    """What the units of a parameter can be; None: it is continuous.  # (L, k)"""
    if space.units[place[0]].kind == "range":
        return None
    return np.array(list(product(*(space.units[unit].codes for unit in place))))
