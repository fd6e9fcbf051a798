"""`Polynomial`: a sparse sum of monomials, g(x) = sum_S alpha_S chi_S(x)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import isfinite, prod
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from overtone.errors import InputError
from overtone.spectral.columns import Columns, as_numbers
from overtone.spectral.monomials import FloatArray, Monomial, products


@dataclass(frozen=True)
class Polynomial:
    """`terms` maps sorted tuples of column numbers to coefficients, `()` the constant; `n` counts the columns."""

    terms: Mapping[Monomial, float]
    n: int
    _sorted: tuple[Monomial, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        terms = {self._checked(monomial): float(a) for monomial, a in self.terms.items()}
        bad = next((monomial for monomial, a in terms.items() if not isfinite(a)), None)
        if bad is not None:
            raise InputError(f"coefficients must be finite, but that of {bad} is {terms[bad]}")
        terms = {monomial: a for monomial, a in terms.items() if a != 0}
        object.__setattr__(self, "terms", MappingProxyType(terms))
        # largest coefficient first; ties by degree, then by column numbers, so that the order is always the same
        order = sorted((m for m in terms if m), key=lambda m: (-abs(terms[m]), len(m), m))
        object.__setattr__(self, "_sorted", tuple(order))

    def _checked(self, monomial: Sequence[int]) -> Monomial:
        whole = isinstance(monomial, Sequence) and all(isinstance(column, int | np.integer) for column in monomial)
        key = tuple(map(int, monomial)) if whole else (-1,)
        if (key and (key[0] < 0 or key[-1] >= self.n)) or any(a >= b for a, b in pairwise(key)):
            raise InputError(
                f"a monomial must be a rising tuple of column numbers from 0 to {self.n - 1}, but got {monomial!r}"
            )
        return key

    def __iter__(self) -> Iterator[tuple[Monomial, float]]:
        """The monomials without the constant and their coefficients, largest first."""
        return ((monomial, self.terms[monomial]) for monomial in self._sorted)

    def __len__(self) -> int:
        """The sparsity: how many monomials there are, the constant not counted."""
        return len(self._sorted)

    def __hash__(self) -> int:
        return hash((frozenset(self.terms.items()), self.n))

    def __reduce__(self) -> tuple[type["Polynomial"], tuple[dict[Monomial, float], int]]:
        return Polynomial, (dict(self.terms), self.n)

    def __call__(self, points: ArrayLike | Columns) -> FloatArray:
        """Same as `evaluate`."""
        return self.evaluate(points)

    def evaluate(self, points: ArrayLike | Columns) -> FloatArray:
        """g at every row of `points` (T, n): any values, so relaxations work too.  # (T,)"""
        values = points.values if isinstance(points, Columns) else as_numbers(points, "points")
        if values.ndim != 2 or values.shape[1] != self.n:
            raise InputError(f"points must be a (T, {self.n}) matrix, but the shape is {values.shape}")
        coefficients = np.array([a for _, a in self])
        return np.asarray(products(values, self._sorted) @ coefficients + self.constant)

    @property
    def constant(self) -> float:
        """The coefficient of the empty monomial."""
        return self.terms.get((), 0.0)

    @property
    def degree(self) -> int:
        """The number of columns in the largest monomial."""
        return max(map(len, self._sorted), default=0)

    @property
    def support(self) -> tuple[int, ...]:
        """J, the columns that the polynomial touches."""
        return tuple(sorted({column for monomial in self._sorted for column in monomial}))

    def top(self, sparsity: int) -> "Polynomial":
        """The `sparsity` largest monomials, and the constant."""
        if sparsity < 0:
            raise InputError(f"`sparsity >= 0` must hold, but got sparsity={sparsity}")
        kept = {monomial: self.terms[monomial] for monomial in self._sorted[:sparsity]}
        return Polynomial({(): self.constant, **kept}, self.n)

    def restrict(self, assignment: Mapping[int, float]) -> "Polynomial":
        """g with some columns fixed: the paper's restriction (J, z), over the same column numbers."""
        unknown = [column for column in assignment if not 0 <= column < self.n]
        if unknown:
            raise InputError(f"columns run from 0 to {self.n - 1}, but the assignment names {unknown}")
        terms: dict[Monomial, float] = {}
        for monomial, a in self.terms.items():
            rest = tuple(column for column in monomial if column not in assignment)
            fixed = [assignment[column] for column in monomial if column in assignment]
            terms[rest] = terms.get(rest, 0.0) + a * float(prod(fixed))
        return Polynomial(terms, self.n)

    @property
    def variance(self) -> float:
        """Parseval: Var g = sum of the squared coefficients, under the measure of the orthonormal family."""
        return float(sum(a * a for _, a in self))

    def shares(self) -> dict[Monomial, float]:
        """The share of the variance that each monomial explains, largest first."""
        largest = max((abs(a) for _, a in self), default=0.0)  # divided out: squares of extreme numbers leave the range
        squares = {monomial: (a / largest) ** 2 for monomial, a in self}
        total = sum(squares.values())
        return {monomial: square / total for monomial, square in squares.items()}

    def importance(self, groups: Sequence[int] | None = None) -> list["Importance"]:
        """First-order and total Sobol index of each group (or column) in the support, most important first."""
        number = range(self.n) if groups is None else self._one_a_column("groups", groups)
        shares: dict[tuple[int, ...], float] = {}
        for monomial, share in self.shares().items():
            members = tuple(sorted({number[column] for column in monomial}))
            shares[members] = shares.get(members, 0.0) + share
        touched = {group for members in shares for group in members}
        table = [Importance.of(group, shares) for group in touched]
        return sorted(table, key=lambda row: (-row.total, row.group))

    def to_text(self, names: Sequence[str] | None = None, digits: int = 3) -> str:
        """Readable, largest first: '60.2 + 8.05*batch_norm - 2.55*activation*batch_norm'."""
        label = [f"x{column}" for column in range(self.n)] if names is None else self._one_a_column("names", names)
        largest = max((abs(a) for _, a in self), default=0.0)
        shown = abs(self.constant) > 1e-12 * largest  # less is rounding
        parts = [f"{self.constant:.{digits}g}"] if shown or not self._sorted else []
        for monomial, a in self:
            sign = ("- " if a < 0 else "+ ") if parts else ("-" if a < 0 else "")
            parts.append(f"{sign}{abs(a):.{digits}g}*" + "*".join(label[column] for column in monomial))
        return " ".join(parts)

    def _one_a_column(self, what: str, given: Sequence[Any]) -> Sequence[Any]:
        if len(given) != self.n:
            raise InputError(f"there must be one entry a column ({self.n}) in `{what}`, but got {len(given)}")
        return given

    def __str__(self) -> str:
        return self.to_text()


@dataclass(frozen=True)
class Importance:
    """How much of the variance hangs on one group: alone (`first`), and with its interactions (`total`)."""

    group: int
    first: float
    total: float
    interactions: Mapping[tuple[int, ...], float]  # with which groups, and how much: largest first

    @classmethod
    def of(cls, group: int, shares: Mapping[tuple[int, ...], float]) -> "Importance":
        """The indices of one group, from the shares of all sets of groups."""
        mine = {members: share for members, share in shares.items() if group in members}
        together = sorted((m for m in mine if len(m) > 1), key=lambda m: (-mine[m], m))
        return cls(group, mine.get((group,), 0.0), sum(mine.values()), {m: mine[m] for m in together})
