"""Is there signal of low degree left that no single monomial shows? A test for many small effects.

For mean-zero r and the kernel K(x, x') = sum_S chi_S(x) chi_S(x') over the monomials of degree <= k, the mean of
r_i r_j K(x_i, x_j) over pairs i != j is an unbiased estimate of sum_S alpha_S^2, the variance that hangs on those
monomials, found without finding any of them. Shuffling r tells how large it gets by chance.
"""

from dataclasses import dataclass

import numpy as np

from overtone.spectral.columns import Columns
from overtone.spectral.monomials import FloatArray

SHUFFLES = 200
MOST = 2000  # samples that are looked at
CLEAR = 2.5  # standard deviations above chance


@dataclass(frozen=True)
class Leftover:
    """The variance that hangs on columns alone and in pairs: estimate, spread by chance, and if it is surely there."""

    variance: float
    spread: float
    is_clear: bool


def leftover_signal(columns: Columns, residual: FloatArray) -> Leftover:
    """What single columns (degree 1), or columns and pairs (degree <= 2), still explain of a residual."""
    rng = np.random.default_rng(0)
    if columns.n_samples > MOST:  # the kernels are T x T
        some = np.sort(rng.choice(columns.n_samples, MOST, replace=False))
        columns, residual = columns.rows(some), residual[some]
    T = columns.n_samples
    shuffled = np.stack([residual, *(rng.permutation(residual) for _ in range(SHUFFLES))], axis=1)  # (T, 1 + shuffles)
    clear = False
    for K in _kernels(columns):
        np.fill_diagonal(K, 0.0)  # pairs i != j only
        estimates = np.einsum("ts,ts->s", shuffled, K @ shuffled) / (T * (T - 1))
        variance, spread = float(estimates[0]), float(estimates[1:].std())
        clear = clear or variance > CLEAR * spread > 0
    return Leftover(max(0.0, variance), spread, clear)


def _kernels(columns: Columns) -> tuple[FloatArray, FloatArray]:
    """K for degree 1, sum_g k_g, and for degree <= 2, that and sum_{g<h} k_g k_h; k_g = Phi_g Phi_g'.  # (T, T) each"""
    first = columns.values @ columns.values.T
    # sum_g k_g^2 = W W', where W holds the products of every two columns of one group
    one, other = np.nonzero(columns.groups[:, None] == columns.groups)
    W = columns.values[:, one] * columns.values[:, other]
    return first, first + (first**2 - W @ W.T) / 2
