"""Monomials: sorted tuples of column numbers, and the products of columns they stand for."""

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Monomial = tuple[int, ...]
FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]


def parity(points: FloatArray, monomial: Monomial) -> FloatArray:
    """chi_S(x) = product of the columns in S, for every row of `points`; 1 for the empty monomial.  # (T,)"""
    points = np.asarray(points, dtype=np.float64)
    return np.asarray(points[:, list(monomial)].prod(axis=1))


def products(values: FloatArray, monomials: Sequence[Monomial]) -> FloatArray:
    """The design matrix of a few monomials, one column each.  # (T, k)"""
    used = sorted({column for monomial in monomials for column in monomial})
    place = {column: i for i, column in enumerate(used)}
    return products_of_rows(with_ones(values[:, used]), [tuple(place[c] for c in monomial) for monomial in monomials])


def with_ones(values: FloatArray) -> FloatArray:
    """The columns as rows, and a last row of ones that stands for what is not there.  # (T, m) -> (m + 1, T)"""
    return np.vstack([values.T, np.ones(len(values))])


def products_of_rows(rows: FloatArray, monomials: Sequence[Monomial]) -> FloatArray:
    """`products`, from what `with_ones` gives.  # (T, k)"""
    longest = max(map(len, monomials), default=0)
    if longest == 0:
        return np.ones((rows.shape[1], len(monomials)))
    padded = np.array([(*monomial, *[-1] * (longest - len(monomial))) for monomial in monomials])  # (k, longest)
    columns = rows.take(padded[:, 0], axis=0)
    for position in range(1, longest):
        columns *= rows.take(padded[:, position], axis=0)
    return np.asarray(columns.T)


def count_monomials(groups: IntArray, degree: int) -> list[int]:
    """How many monomials there are of degree 0, 1, ..., `degree`, at most one column of a group in each.

    These are the elementary symmetric polynomials of the group sizes; C(n, k) if every group has one column.
    """
    return list(_elementary(tuple(Counter(groups.tolist()).values()), degree))


@lru_cache(maxsize=64)
def _elementary(sizes: tuple[int, ...], degree: int) -> list[int]:
    counts = [1] + [0] * degree
    for size in sizes:
        for k in range(degree, 0, -1):
            counts[k] += counts[k - 1] * size
    return counts
