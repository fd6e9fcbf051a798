"""What a model is worth: its description length in nats (lower is better), the negative log evidence.

    cost(M) = (T-1-k)/2 log(RSS / ((T-1-k) tau^2)) + sum_d log C(N_d, k_d) + k/2 log T

T samples, k monomials, RSS of the least-squares refit, tau^2 the variance of the values, N_d monomials of degree d of
which k_d are chosen. The second term is the honest price of choosing among N_d candidates: low degrees are cheap, high
degrees dear. The factor T-1-k (not T) makes the best of N noise monomials gain just log N, however many were fitted
before.
"""

from functools import lru_cache

import numpy as np
from scipy.special import gammaln

from overtone.spectral.monomials import FloatArray, IntArray

EXACT = 1e-12  # a residual sum of squares this small, relative to the values', is zero


@lru_cache(maxsize=64)
def prices(counts: tuple[int, ...], T: int) -> FloatArray:
    """log C(N_d, k) + k/2 log T for every degree d = 1, 2, ... and k: nats to name k such monomials.  # (D, T + 1)"""
    N = np.array(counts[1:], dtype=np.float64)[:, None]
    k = np.arange(T + 1.0)
    names = gammaln(N + 1) - gammaln(k + 1) - gammaln(np.maximum(N - k, 0) + 1)
    table = np.asarray(names + k / 2 * np.log(T))
    table.flags.writeable = False  # it is shared
    return table


def misfit(T: FloatArray | float, k: IntArray | int, share: FloatArray | float) -> FloatArray:
    """(T-1-k)/2 log(RSS / ((T-1-k) tau^2)), from RSS as a share of the values' own sum of squares, T tau^2.

    At most as good as an exact fit can be told from rounding.
    """
    free = np.maximum(1, T - 1 - k)
    return np.asarray(free / 2 * np.log(np.maximum(share, EXACT) * T / free))
