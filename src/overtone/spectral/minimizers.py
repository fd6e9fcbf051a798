"""Exact minimizers: the best t assignments of the columns that a sparse polynomial touches.

Every group of columns is a choice between levels, whose number is written in bits; the polynomial is then a sum of
tables over parities of bits (see `factors`). Parts that share no bit are solved alone, then their lists are summed up.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import accumulate
from math import prod
from operator import xor

import numpy as np
from numpy.typing import ArrayLike

from overtone.errors import InputError
from overtone.spectral.factors import Clause, Factor, Found, lowest
from overtone.spectral.gf2 import bits_of, rewrite, union
from overtone.spectral.monomials import FloatArray
from overtone.spectral.polynomial import Polynomial

EFFORT = 60_000_000  # some 10 to 20 seconds
MAX_TABLE_BITS = 20  # of a set of groups that are not all of two levels c and -c
FEW_BITS = 6  # of a part, all assignments of which are listed
SIGNS = np.array([[-1.0], [1.0]])  # the two levels of a column in the parity case


@dataclass(frozen=True)
class Minimizers:
    """Assignments, best first, and their certificate.

    `proven`: no allowed assignment that is left out is better than one in the list. `bound`: no allowed assignment
    has a smaller value; it is `values[0]` if proven.
    """

    assignments: tuple[dict[int, int], ...]
    values: tuple[float, ...]
    proven: bool
    bound: float

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self) -> Iterator[tuple[dict[int, int], float]]:
        """Pairs of an assignment and its value."""
        return iter(zip(self.assignments, self.values, strict=True))


def minimizers(
    polynomial: Polynomial,
    t: int = 1,
    *,
    levels: Sequence[ArrayLike] | None = None,
    forbidden: Sequence[Mapping[int, float]] = (),
    effort: int = EFFORT,
) -> Minimizers:
    """The best t assignments {column: -1 or +1} of `polynomial.support`; fewer if there are not so many.

    levels: for other families, a (k, q) table for each group of columns, in column order: the values of its q columns
        at each of its k levels. Assignments are then {group: level number}, over the groups of the support.
    forbidden: partial assignments that no answer may contain. One that names a column (or group) outside of the
        support forbids nothing: that column is free and can dodge it.
    effort: how many nodes the search may visit; it limits the tables, too. It is no time, so the answer is the same
        everywhere. If it runs out, the best found so far come with `proven=False`.
    """
    t, effort = _whole("t", t), _whole("effort", effort)
    space = _Space.of(polynomial.n, levels)
    clauses = [space.clause(number, clause) for number, clause in enumerate(forbidden)]
    model = _Model.of(polynomial, space, clauses)
    found = model.solve(t, effort)
    if not len(found.values):
        where, remedy = ("there is", "") if found.proven else (f"{effort=} found", ", or raise `effort`")
        raise InputError(
            f"some assignment must contain none of the {len(clauses)} forbidden ones, but {where} no such assignment: "
            f"forbid less{remedy}"
        )
    return _answer(polynomial, space, model, found)


def _whole(name: str, number: int) -> int:
    if isinstance(number, bool) or not isinstance(number, int | np.integer) or number < 1:
        raise InputError(f"`{name}` must be a whole number >= 1, but got {number!r}")
    return int(number)


def _answer(polynomial: Polynomial, space: "_Space", model: "_Model", found: Found) -> Minimizers:
    """Bits as labels, with the values of the polynomial itself; ties in the order of the level numbers."""
    levels = {group: found.bits[:, bits] @ (1 << np.arange(len(bits))) for group, bits in model.place.items()}
    points = np.zeros((len(found.values), polynomial.n))
    for column in polynomial.support:
        group, at_levels = space.columns[column]
        points[:, column] = at_levels[levels[group]]
    rows = zip(polynomial(points).tolist(), *(level.tolist() for level in levels.values()), strict=True)
    values, *labels = zip(*sorted(rows), strict=True)  # by value, then by level numbers
    assignments = tuple(
        {group: space.label(level) for group, level in zip(levels, row, strict=True)}
        for row in zip(*labels, strict=True)
    )
    return Minimizers(
        assignments or ({},), values, found.proven, values[0] if found.proven else min(found.bound, values[0])
    )


@dataclass(frozen=True, eq=False)
class _Space:
    """The levels of each group of columns."""

    tables: list[FloatArray]  # (k_g, q_g) each
    columns: list[tuple[int, FloatArray]]  # the group of each column, and its values at the group's levels (k_g,)
    parity: bool

    @classmethod
    def of(cls, n: int, levels: Sequence[ArrayLike] | None) -> "_Space":
        """Checked."""
        tables = [SIGNS] * n if levels is None else [np.asarray(table, dtype=np.float64) for table in levels]
        different = {id(table): (group, table) for group, table in enumerate(tables)}  # few, of many groups
        for group, table in different.values():
            if table.ndim != 2 or 0 in table.shape or not np.isfinite(table).all():
                raise InputError(
                    "`levels` must hold a (k, q) table of finite numbers for each group, with k, q >= 1, "
                    f"but that of group {group} has shape {table.shape} and the entries {table.tolist()}"
                )
        columns = [(group, column) for group, table in enumerate(tables) for column in table.T]
        if len(columns) != n:
            raise InputError(
                f"the tables in `levels` must together have as many columns as the polynomial, which is {n}, but have "
                f"{len(columns)}: give one table for each group, also for those that the polynomial does not touch"
            )
        return cls(tables, columns, levels is None)

    def clause(self, number: int, clause: Mapping[int, float]) -> dict[int, int]:
        """{group: level number}, checked."""
        what = "columns" if self.parity else "groups"
        if not isinstance(clause, Mapping) or not clause:
            raise InputError(
                f"`forbidden` must be a sequence of mappings from {what} to values, none of them empty, "
                f"but number {number} is {clause!r}"
            )
        unknown = [key for key in clause if key not in range(len(self.tables))]
        if unknown:
            raise InputError(
                f"{what} run from 0 to {len(self.tables) - 1}, but clause {number} of `forbidden` names {unknown}"
            )
        return {int(group): self._level(number, int(group), value) for group, value in clause.items()}

    def _level(self, number: int, group: int, value: float) -> int:
        legal: Sequence[int] = (-1, 1) if self.parity else range(len(self.tables[group]))
        if value not in legal:
            what = "column" if self.parity else "group"
            raise InputError(
                f"{what} {group} has the values {list(legal)}, but clause {number} of `forbidden` has {value!r}"
            )
        return legal.index(int(value))

    def label(self, level: int) -> int:
        """How an assignment names a level."""
        return 2 * level - 1 if self.parity else level


@dataclass(frozen=True, eq=False)
class _Model:
    """The polynomial as a constant and a sum of factors over bits."""

    place: dict[int, range]  # the bits of each group in the support, the lowest one of the level number first
    constant: float
    factors: list[Factor]
    clauses: list[Clause]

    @classmethod
    def of(cls, polynomial: Polynomial, space: _Space, forbidden: Iterable[Mapping[int, int]]) -> "_Model":
        """The clauses are those of `forbidden` that bind, and the level numbers that do not exist."""
        groups = sorted({space.columns[column][0] for column in polynomial.support})
        sizes = {group: len(space.tables[group]) for group in groups}
        ends = [0, *accumulate((size - 1).bit_length() for size in sizes.values())]
        place = {group: range(*ends[i : i + 2]) for i, group in enumerate(groups)}
        free = {group for group, table in enumerate(space.tables) if group not in place and len(table) > 1}
        clauses = [clause for clause in forbidden if free.isdisjoint(clause)]
        clauses += [{group: level} for group in groups for level in range(sizes[group], 1 << len(place[group]))]
        factors = _factors(polynomial, space, place)
        constant = polynomial.constant + sum(float(factor.table[0]) for factor in factors if not factor.forms)
        literals = sorted({_literals(clause, place) for clause in clauses})
        return cls(place, constant, [factor for factor in factors if factor.forms], literals)

    def solve(self, t: int, effort: int) -> Found:
        """Over all bits: part by part, small ones first, none with less than a 16th of the effort."""
        found = Found(np.zeros((1, 0), dtype=np.uint8), np.array([self.constant]), self.constant, True, 0)
        if () in self.clauses:
            return Found(found.bits[:0], found.values[:0], np.inf, True, 0)
        order: list[int] = []
        for part in self._parts():
            left = max(effort - found.spent, effort // 16, 1)
            small = len(part.bits) <= FEW_BITS and not part.clauses
            best = _listed(part, t) if small else lowest(len(part.bits), part.factors, part.clauses, t, left)
            if not len(best.values):
                return best
            found = _sum(found, best, t)
            order += part.bits
        return replace(found, bits=found.bits[:, np.argsort(order)])

    def _parts(self) -> list["_Part"]:
        """Parts that share no bit, small ones first."""
        scopes = [factor.forms for factor in self.factors] + [[form for form, _ in clause] for clause in self.clauses]
        root = _roots(sum(map(len, self.place.values())), (bits_of(union(scope)) for scope in scopes))
        parts = {bit: _Part([], [], []) for bit in sorted(set(root))}
        units = [0] * len(root)
        for bit, first in enumerate(root):
            units[bit] = 1 << len(parts[first].bits)
            parts[first].bits.append(bit)
        for factor in self.factors:
            part = parts[root[factor.forms[0].bit_length() - 1]]
            part.factors.append(Factor(tuple(rewrite(form, units) for form in factor.forms), factor.table))
        for clause in self.clauses:
            part = parts[root[clause[0][0].bit_length() - 1]]
            part.clauses.append(tuple((rewrite(form, units), value) for form, value in clause))
        return sorted(parts.values(), key=lambda part: len(part.bits))


@dataclass(frozen=True, eq=False)
class _Part:
    """Factors and clauses over 0, 1, ..., which are `bits` of the model."""

    bits: list[int]
    factors: list[Factor]
    clauses: list[Clause]


def _listed(part: _Part, t: int) -> Found:
    """The best of all assignments of a few bits."""
    n = len(part.bits)
    bits = np.arange(1 << n)[:, None] >> np.arange(n) & 1
    values = np.zeros(len(bits))
    for factor in part.factors:
        cells = np.zeros(len(bits), dtype=np.intp)
        for form in factor.forms:
            cells = 2 * cells + bits[:, bits_of(form)].sum(axis=1) % 2
        values += factor.table[cells]
    best = np.argsort(values, kind="stable")[:t]
    return Found(bits[best].astype(np.uint8), values[best], float(values[best[0]]), True, len(bits))


def _roots(n: int, scopes: Iterable[Sequence[int]]) -> list[int]:
    """The same number for all bits that scopes connect."""
    parent = list(range(n))

    def root(bit: int) -> int:
        while parent[bit] != bit:
            parent[bit] = bit = parent[parent[bit]]
        return bit

    for scope in scopes:
        for bit in scope[1:]:
            parent[root(bit)] = root(scope[0])
    return [root(bit) for bit in range(n)]


def _sum(first: Found, second: Found, t: int) -> Found:
    """The t best sums of two lists: entries i and j (from 1) can be among them only if i * j <= t."""
    counts = np.minimum(len(second.values), t // np.arange(1, len(first.values) + 1))
    i = np.repeat(np.arange(len(counts)), counts)
    j = np.arange(len(i)) - np.repeat(np.cumsum(counts) - counts, counts)
    values = first.values[i] + second.values[j]
    best = np.argsort(values, kind="stable")[:t]
    bits = np.hstack([first.bits[i[best]], second.bits[j[best]]])
    proven, spent = first.proven and second.proven, first.spent + second.spent
    return Found(bits, values[best], first.bound + second.bound, proven, spent)


def _literals(clause: Mapping[int, int], place: Mapping[int, range]) -> Clause:
    """Level numbers as bits; a group without bits has only one level, which always holds."""
    bits = [(bit, level >> i & 1) for group, level in clause.items() for i, bit in enumerate(place.get(group, ()))]
    return tuple((1 << bit, value) for bit, value in sorted(bits))


def _factors(polynomial: Polynomial, space: _Space, place: Mapping[int, range]) -> list[Factor]:
    """One for each set of groups; if all columns are c and -c at two levels, one for each parity of them."""
    tables: dict[tuple[int, ...], FloatArray] = {}
    for monomial, a in polynomial:
        chosen = [space.columns[column] for column in monomial]
        forms: tuple[int, ...]
        if all(len(values) == 2 and values[0] == -values[1] for _, values in chosen):
            form = reduce(xor, (1 << place[group][0] for group, _ in chosen))
            even = a * prod(float(values[0]) for _, values in chosen)
            forms, table = (form,) if form else (), np.array([even, -even] if form else [even])
        else:
            forms, table = _dense(chosen, place)
            table *= a
        tables[forms] = tables.get(forms, 0.0) + table
    return [Factor(forms, table) for forms, table in tables.items()]


def _dense(chosen: Sequence[tuple[int, FloatArray]], place: Mapping[int, range]) -> tuple[tuple[int, ...], FloatArray]:
    """A product of columns, each given by its group and its values at the levels, as a table over the groups' bits."""
    factors: dict[int, FloatArray] = {}
    for group, values in chosen:
        factors[group] = factors.get(group, 1.0) * values
    bits = sum(len(place[group]) for group in factors)
    if bits > MAX_TABLE_BITS:
        raise InputError(
            f"the groups of a monomial may have 2^{MAX_TABLE_BITS} joint level numbers, but groups {sorted(factors)} "
            f"have 2^{bits}: leave out monomials of so many groups"
        )
    table = np.ones(1)
    for group, values in factors.items():
        table = np.outer(table, np.pad(values, (0, (1 << len(place[group])) - len(values)))).ravel()
    return tuple(1 << bit for group in factors for bit in reversed(place[group])), table
