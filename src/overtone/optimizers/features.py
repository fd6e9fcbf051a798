"""Points of a space as columns of orthonormal families, and minimizers of polynomials over them as restrictions."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from itertools import islice, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from overtone.errors import InputError
from overtone.space import Point, Restriction, Space, Unit, Value
from overtone.space.clauses import holds
from overtone.spectral.columns import Columns
from overtone.spectral.families import Family, combine, contrasts, legendre, parity
from overtone.spectral.minimizers import minimizers
from overtone.spectral.monomials import FloatArray, Monomial
from overtone.spectral.polynomial import Polynomial

Mask = NDArray[np.bool_]
Points = Sequence[Point] | FloatArray  # (T, n)
Clause = dict[int, float]  # codes of units that are forbidden together
ORDER = 3  # of the Legendre polynomials of a continuous parameter
CELLS = 8  # a minimizer leaves one of so many intervals of a continuous parameter
SETTINGS = 64  # of earlier stages that a minimizer may complete
TIED = 0.9  # a mean of a column, or correlation of two, from which on features are taken for one another


class Features:
    """The columns of a space: one for a bit, k-1 for a choice of k levels, three for a range; a unit is a group."""

    def __init__(self, space: Space) -> None:
        self.space = space
        self.families = [_family(unit.kind, unit.size) for unit in space.units]
        self.groups = np.repeat(np.arange(len(self.families)), [family.size for family in self.families])
        places: dict[str, list[int]] = {}
        for number, unit in enumerate(space.units):
            places.setdefault(unit.parameter, []).append(number)
        self.names = [
            name for number, unit in enumerate(space.units) for name in _names(number, unit, places[unit.parameter])
        ]

    def values(self, points: Points) -> FloatArray:
        """(T, m)"""
        values = np.asarray(points)
        return values if self._only_bits else combine(self.families, values).values

    @cached_property
    def _only_bits(self) -> bool:
        """A point is its own row of columns."""
        return all(unit.kind == "bit" for unit in self.space.units)

    def usable(self, points: Points) -> Mask:
        """Which columns a stage may look at: those of units that vary in the points.  # (m,)

        Of what an earlier stage narrowed only bits are left: on a part of its levels or range, a family is none.
        """
        varies: Mask = np.ptp(points, axis=0) > 0
        narrowed = [unit for unit in self._narrowed() if self.space.units[unit].kind != "bit"]
        varies[narrowed] = False
        return varies[self.groups]

    def _narrowed(self) -> list[int]:
        """The units that earlier stages fixed or narrowed."""
        return sorted({unit for mixture in self.space.mixtures for each in mixture for unit in each})

    def tied(self, points: Points) -> list[str]:
        """Where `forbid` leaves a column that hardly varies in the points, or two that go together, in words."""
        named = {name for clause in self.space.forbid for name in clause}
        if not named:
            return []
        free = np.array([unit.parameter in named for unit in self.space.units])
        free[self._narrowed()] = False
        where = np.flatnonzero(free[self.groups])
        V = np.column_stack([np.ones(len(points)), self.values(points)[:, where]])
        V /= np.maximum(np.linalg.norm(V, axis=0), 1e-9)
        moments = np.abs(V.T @ V)  # (1+m, 1+m), the constant first; without clauses, near the identity
        flat = set(where[moments[0, 1:] >= TIED].tolist())
        words = [f"{self.names[i]} hardly varies" for i in sorted(flat)]
        for i, j in where[np.argwhere(np.triu(moments[1:, 1:], 1) >= TIED)].tolist():
            if flat.isdisjoint((i, j)) and self.groups[i] != self.groups[j]:
                words.append(f"{self.names[i]} and {self.names[j]} go together")
        return words

    def columns(self, points: Points, which: Mask) -> Columns:
        """The chosen columns, as the engine reads them."""
        return Columns(self.values(points)[:, which], self.groups[which])

    def widen(self, polynomial: Polynomial, which: Mask) -> Polynomial:
        """A polynomial over chosen columns as one over all."""
        place = np.flatnonzero(which)
        terms: dict[Monomial, float] = {
            tuple(int(place[column]) for column in monomial): a for monomial, a in polynomial.terms.items()
        }
        return Polynomial(terms, len(self.groups))

    def minimizers(
        self, polynomial: Polynomial, t: int, earlier: Sequence[Polynomial] = ()
    ) -> list[tuple[Restriction, float]]:
        """The best t settings of the units that the polynomial touches, with their values; forbidden ones left out.

        If it touches what earlier stages fixed, or a forbidden combination links them, it completes one of their
        settings, and the values are those of all polynomials.
        """
        tables = [_levels(unit.kind, unit.size) for unit in self.space.units]
        clauses = self._merged(self._forbidden())
        everything = _sum([polynomial, *earlier])
        found: list[tuple[Restriction, float]] = []
        for fixed in self._settings({int(self.groups[column]) for column in polynomial.support}, clauses):
            left = everything.restrict(self._at(fixed)) if fixed else polynomial
            open_clauses = [clause for each in clauses if (clause := _unmet(each, fixed)) is not None]
            if {} in open_clauses:
                continue
            numbered = [{u: self.space.units[u].codes.index(code) for u, code in each.items()} for each in open_clauses]
            for assignment, value in _best(left, t, tables, numbered):
                codes = {unit: _code(self.space.units[unit], level) for unit, level in assignment.items()}
                found.append(({**fixed, **codes}, value))
        return sorted(found, key=lambda pair: pair[1])[:t]

    def _settings(self, touched: set[int], clauses: Sequence[Clause]) -> list[Restriction]:
        """What earlier stages may have fixed; {} if that does not matter for the units that are touched now."""
        linked = touched.union(*(clause for clause in clauses if not touched.isdisjoint(clause)))
        if linked.isdisjoint(self._narrowed()):
            return [{}]
        joined: Iterator[Restriction] = (
            {u: code for each in chosen for u, code in each.items()} for chosen in product(*self.space.mixtures)
        )
        distinct = {tuple(sorted(each.items())): each for each in islice(joined, 100 * SETTINGS)}
        return list(distinct.values())[:SETTINGS]

    def _at(self, fixed: Restriction) -> dict[int, float]:
        """The values of the columns where some units are fixed; in the middle of an interval."""
        at: dict[int, float] = {}
        for unit, code in fixed.items():
            first = int(np.searchsorted(self.groups, unit))
            if self.space.units[unit].kind == "bit" and not isinstance(code, tuple):
                at[first] = code
            else:
                at.update(enumerate(self.families[unit].columns([float(np.mean(code))])[0].tolist(), start=first))
        return at

    def _forbidden(self) -> Iterator[Clause]:
        """The forbidden combinations as codes of units."""
        for clause in self.space.forbid:
            levels = self._levels_of(clause)
            for values in product(*levels.values()):
                point = self.space.encode(dict(zip(levels, values, strict=True)))
                yield {i: point[i] for i, unit in enumerate(self.space.units) if unit.parameter in levels}

    def _levels_of(self, clause: Mapping[str, Any]) -> dict[str, list[Value]]:
        """What a clause names, and what must hold for that to be active."""
        levels: dict[str, list[Value]] = {}
        waiting = [clause]
        for each in waiting:  # grows
            for name, wanted in each.items():
                known = levels.get(name, self.space.parameters[name].levels)
                levels[name] = [level for level in known if holds({name: wanted}, {name: level})]
                waiting.append(self.space.parameters[name].when)
        return levels

    def _merged(self, clauses: Iterable[Clause]) -> list[Clause]:
        """Clauses that differ in one unit, and take all of its codes, as one clause without that unit."""
        known = {frozenset(clause.items()) for clause in clauses}
        fresh = list(known)
        for clause in fresh:  # grows
            for unit, code in clause:
                rest = clause - {(unit, code)}
                if rest not in known and all(rest | {(unit, c)} in known for c in self.space.units[unit].codes):
                    known.add(rest)
                    fresh.append(rest)
        return [dict(clause) for clause in known if not any(other < clause for other in known)]


def _best(
    polynomial: Polynomial, t: int, tables: Sequence[FloatArray], forbidden: Sequence[Mapping[int, float]]
) -> Iterable[tuple[dict[int, int], float]]:
    """Its minimizers; none if all are forbidden, or too many to be listed."""
    try:
        return minimizers(polynomial, t, levels=tables, forbidden=forbidden)
    except InputError:
        return []


def _sum(polynomials: Sequence[Polynomial]) -> Polynomial:
    terms: dict[Monomial, float] = {}
    for polynomial in polynomials:
        for monomial, a in polynomial.terms.items():
            terms[monomial] = terms.get(monomial, 0.0) + a
    return Polynomial(terms, polynomials[0].n)


def _unmet(clause: Clause, fixed: Restriction) -> Clause | None:
    """What of a clause is still open where some units are fixed; None if it cannot hold any more."""
    if any(fixed.get(unit, code) != code for unit, code in clause.items()):
        return None
    return {unit: code for unit, code in clause.items() if unit not in fixed}


@cache
def _family(kind: str, size: int) -> Family:
    if kind == "range":
        return legendre(ORDER)
    return parity() if kind == "bit" else contrasts(size)


@cache
def _levels(kind: str, size: int) -> FloatArray:
    """The table of a unit's columns at its levels, or at the middle of each cell of a range."""
    family = _family(kind, size)
    table = family.columns(_middles()) if kind == "range" else family.levels
    table.flags.writeable = False  # it is shared
    return table


def _middles() -> FloatArray:
    return (2 * np.arange(CELLS) + 1) / CELLS - 1


def _code(unit: Unit, level: int) -> float | tuple[float, float]:
    if unit.kind != "range":
        return unit.codes[level]
    return 2 * level / CELLS - 1, 2 * (level + 1) / CELLS - 1


def _names(number: int, unit: Unit, mine: list[int]) -> list[str]:
    """'lr' for a switch, 'lr.1', 'lr.2' for bits, coarse to fine, 'color~1' for contrasts, 'P2(x)' for ranges."""
    name = unit.parameter
    if unit.kind == "range":
        return [name, *(f"P{order}({name})" for order in range(2, ORDER + 1))]
    if unit.kind == "levels":
        return [f"{name}~{contrast}" for contrast in range(1, unit.size)]
    return [name] if len(mine) == 1 else [f"{name}.{mine.index(number) + 1}"]
