"""The columns whose products are the features: checked once here, then trusted everywhere below."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from overtone.errors import InputError
from overtone.spectral.monomials import FloatArray, IntArray, Monomial, products_of_rows, with_ones


def as_numbers(values: ArrayLike, what: str) -> FloatArray:
    """An array of floats, or an error that says what is not a number."""
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{what} must be an array of numbers, but {error}") from None


@dataclass(frozen=True, eq=False)
class Columns:
    """A (T, m) matrix of a bounded orthonormal family at T points; a product takes at most one column of a group.

    `groups` numbers the group of each column and never decreases: columns of one group stand side by side.
    """

    values: FloatArray  # (T, m)
    groups: IntArray  # (m,)

    def __post_init__(self) -> None:
        values = as_numbers(self.values, "columns")
        if values.ndim != 2 or 0 in values.shape:
            raise InputError(f"columns must be a (T, m) matrix with T, m >= 1, but the shape is {values.shape}")
        if not np.isfinite(values).all():
            row, column = np.argwhere(~np.isfinite(values))[0]
            raise InputError(
                f"every entry must be finite, but row {row}, column {column} is {values[row, column]}: "
                "leave out or repair such rows"
            )
        groups = np.asarray(self.groups)
        whole = np.issubdtype(groups.dtype, np.integer)
        if not whole or groups.shape != (values.shape[1],) or (np.diff(groups) < 0).any():
            raise InputError(
                f"`groups` must hold one whole number a column ({values.shape[1]}) and never decrease, "
                f"but got {groups!r}: sort the columns by group"
            )
        groups = groups.astype(np.intp)
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "groups", groups)

    @classmethod
    def parity(cls, points: ArrayLike) -> Self:
        """Points of {-1, 1}^n as they are: the parity case, every column its own group."""
        points = as_numbers(points, "points")
        if points.ndim != 2:
            raise InputError(f"points must be a (T, n) matrix, but the shape is {points.shape}")
        if not (np.abs(points) == 1).all():
            row, column = np.argwhere(np.abs(points) != 1)[0]
            raise InputError(
                f"points must be -1 or +1, but row {row}, column {column} is {points[row, column]}: "
                "map 0/1 data by 2*x - 1, or give other families as Columns(values, groups)"
            )
        return cls(points, np.arange(points.shape[1]))

    @property
    def n_samples(self) -> int:
        """T."""
        return int(self.values.shape[0])

    @property
    def n(self) -> int:
        """How many columns there are."""
        return int(self.values.shape[1])

    @property
    def n_groups(self) -> int:
        """How many groups there are: the largest degree a monomial can have."""
        return len(np.unique(self.groups))

    @cached_property
    def with_ones(self) -> FloatArray:
        """The columns as rows, and a last row of ones.  # (m + 1, T)"""
        return with_ones(self.values)

    def products(self, monomials: Sequence[Monomial]) -> FloatArray:
        """The design matrix of a few monomials, one column each.  # (T, k)"""
        return products_of_rows(self.with_ones, monomials)

    def rows(self, which: IntArray) -> Self:
        """The same columns at some of the points."""
        return type(self)(self.values[which], self.groups)


def as_columns(points: ArrayLike | Columns) -> Columns:
    """Plain arrays are points of {-1, 1}^n; other families come as `Columns`."""
    return points if isinstance(points, Columns) else Columns.parity(points)


def as_samples(points: ArrayLike | Columns, values: ArrayLike) -> tuple[Columns, FloatArray]:
    """Points and their values, checked against each other."""
    columns = as_columns(points)
    y = as_numbers(values, "values")
    if y.shape != (columns.n_samples,):
        raise InputError(
            f"there must be one value a point, but there are {columns.n_samples} points and values of shape {y.shape}"
        )
    if len(y) < 2:
        raise InputError(f"at least 2 samples are needed, but {len(y)} came: evaluate more points")
    if not np.isfinite(y).all():
        row = int(np.flatnonzero(~np.isfinite(y))[0])
        raise InputError(f"every value must be finite, but value {row} is {y[row]}: leave out failed evaluations")
    largest, spread = float(np.abs(y).max()), float(np.ptp(y))
    if largest > 1e100 or 0 < spread < 1e-100:
        raise InputError(
            "values must be below 1e100 and differ by 1e-100 or more, for their squares to be numbers, but "
            f"the largest is {largest:g} and they spread over {spread:g}: choose another unit"
        )
    return columns, y


def check_degree(columns: Columns, degree: int) -> int:
    """1 <= degree <= number of groups: no monomial is larger."""
    if isinstance(degree, bool) or not isinstance(degree, int | np.integer):
        raise InputError(f"`degree` must be a whole number, but got {degree!r}")
    if not 1 <= degree <= columns.n_groups:
        raise InputError(
            f"`1 <= degree <= {columns.n_groups}` must hold (a monomial takes at most one column of each of the "
            f"{columns.n_groups} groups), but got degree={degree}"
        )
    return int(degree)


def centred(values: FloatArray) -> FloatArray:
    """Less their mean; equal values give exactly 0, whatever the rounding of the mean."""
    return values - values.mean() if np.ptp(values) else np.zeros_like(values)
