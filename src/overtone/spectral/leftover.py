"""Is there signal of low degree left that no single monomial shows? A test for many small effects.

For mean-zero r and the kernel K(x, x') = sum_S chi_S(x) chi_S(x') over the monomials of degree <= k, the mean of
r_i r_j K(x_i, x_j) over pairs i != j is an unbiased estimate of sum_S alpha_S^2, the variance that hangs on those
monomials, found without finding any of them. How large it gets by chance is its spread over all orders of r.
"""

from dataclasses import dataclass

import numpy as np

from overtone.spectral.columns import Columns
from overtone.spectral.monomials import FloatArray

MOST = 2000  # samples that are looked at
ROUNDING = 1e-12  # a variance that is no more of the mean square is none
CLEAR = 2.5  # standard deviations above chance


@dataclass(frozen=True)
class Leftover:
    """The variance that hangs on columns alone and in pairs: estimate, spread by chance, and if it is surely there."""

    variance: float
    spread: float
    is_clear: bool


def leftover_signal(columns: Columns, residual: FloatArray) -> Leftover:
    """What single columns (degree 1), or columns and pairs (degree <= 2), still explain of a residual."""
    if columns.n_samples > MOST:  # the kernels are T x T
        some = np.sort(np.random.default_rng(0).choice(columns.n_samples, MOST, replace=False))
        columns, residual = columns.rows(some), residual[some]
    T = columns.n_samples
    unit = float(np.ldexp(1.0, int(np.frexp(np.abs(residual).max())[1])))  # its fourth power may be no number
    r = residual / unit
    clear = False
    for K in _kernels(columns):
        np.fill_diagonal(K, 0.0)  # pairs i != j only
        variance, spread = float(r @ K @ r) / (T * (T - 1)), _spread(K, r) / (T * (T - 1))
        clear = clear or variance > CLEAR * spread > 0
    return Leftover(max(0.0, variance) * unit**2, spread * unit**2, clear)


def _spread(K: FloatArray, r: FloatArray) -> float:
    """The standard deviation of r'Kr over all orders of r, where K has a zero diagonal: Mantel's formula.

    In the mean square, two ordered pairs of samples (i, j), (k, l) are the same pair, or share one sample, or none.
    """
    T = len(r)
    same, one, none = _sums(K.sum(axis=1), (K**2).sum())
    own_same, own_one, own_none = _sums(r * (r.sum() - r), (r @ r) ** 2 - (r**4).sum())  # the same for r_i r_j
    pairs, threes, fours = T * (T - 1), max(1, T - 2), max(1, (T - 2) * (T - 3))
    square = (2 * same * own_same + 4 * one * own_one / threes + none * own_none / fours) / pairs
    mean = float(K.sum()) * float(r.sum() ** 2 - r @ r) / pairs
    variance = square - mean**2
    return float(np.sqrt(variance)) if variance > ROUNDING * square else 0.0


def _sums(rows: FloatArray, squares: float) -> tuple[float, float, float]:
    """Of M_ij M_kl over such pairs, each once, from the sums of the rows of M and of its squares."""
    of_rows, everything = float(rows @ rows), float(rows.sum())
    return float(squares), of_rows - float(squares), everything**2 - 4 * of_rows + 2 * float(squares)


def _kernels(columns: Columns) -> tuple[FloatArray, FloatArray]:
    """K for degree 1, sum_g k_g, and for degree <= 2, that and sum_{g<h} k_g k_h; k_g = Phi_g Phi_g'.  # (T, T) each"""
    first = columns.values @ columns.values.T
    # sum_g k_g^2 = W W', where W holds the products of every two columns of one group
    one, other = np.nonzero(columns.groups[:, None] == columns.groups)
    W = columns.values[:, one] * columns.values[:, other]
    return first, first + (first**2 - W @ W.T) / 2
