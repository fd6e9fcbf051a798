"""Monomials: sorted tuples of column numbers, and the products of columns they stand for."""

from collections.abc import Sequence

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
    columns = np.ones((len(monomials), len(values)))
    rows = values.T  # (m, T)
    longest = max((len(monomial) for monomial in monomials), default=0)
    for position in range(longest):
        which = [row for row, monomial in enumerate(monomials) if len(monomial) > position]
        columns[which] *= rows[[monomials[row][position] for row in which]]
    return columns.T


def count_monomials(groups: IntArray, degree: int) -> list[int]:
    """How many monomials there are of degree 0, 1, ..., `degree`, at most one column of a group in each.

    These are the elementary symmetric polynomials of the group sizes; C(n, k) if every group has one column.
    """
    counts = [1] + [0] * degree
    for size in np.unique(groups, return_counts=True)[1].tolist():
        for k in range(degree, 0, -1):
            counts[k] += counts[k - 1] * size
    return counts
