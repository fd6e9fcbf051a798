"""Thompson sampling: a fit as it might be, with other effects of changes wherever it is in doubt.

The change that another level of a parameter brings at an incumbent is Gaussian, given the samples, and so are all of
these changes together. A draw of them, less its mean, is added to the fit as if changes added up, and descended. A
change that is surely good is in every draw, one that may be good in some: no round hangs on one change that turns out
to be bad, and what a change does shows, since some trials of a round have it and others have not.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpstrf

from overtone.optimizers.proposals import Neighborhood
from overtone.optimizers.surrogate import Surrogate
from overtone.spectral.monomials import FloatArray

SHRUNK = 0.7  # draws: many changes that are in doubt, and all taken, lead far away
MOST = 300  # changes of an incumbent that are drawn; of more, those that the fit thinks best of


def doubts(
    near: Neighborhood,
    surrogate: Surrogate,
    incumbent: FloatArray,
    changes: tuple[FloatArray, NDArray[np.bool_]],
    n: int,
    rng: np.random.Generator,
) -> FloatArray:
    """What each of `Neighborhood.changes` costs beyond the fit, in n draws; at an incumbent.  # (units,) -> (n, M)"""
    codes, owns = changes
    changed = np.where(owns, codes, incumbent)
    others = np.flatnonzero((changed != incumbent).any(axis=1))
    columns = near.columns(np.concatenate([incumbent[None], changed[others]]))
    if len(others) > MOST:
        best = np.argsort(surrogate(columns[1:]), kind="stable")[:MOST]
        columns, others = columns[np.append(0, 1 + best)], others[best]
    found = np.zeros((n, len(codes)))
    found[:, others] = SHRUNK * _drawn(surrogate.covariance(columns), n, rng)
    return found


def _drawn(covariance: FloatArray, n: int, rng: np.random.Generator) -> FloatArray:
    """Draws of the difference of all others to the first, less its mean.  # (1+M, 1+M) -> (n, M)"""
    K = covariance[1:, 1:] - covariance[1:, :1] - covariance[:1, 1:] + covariance[0, 0]
    factor, pivots, rank, _ = dpstrf(K, lower=1)  # K is singular wherever nothing is in doubt
    drawn = np.empty((n, len(K)))
    drawn[:, pivots - 1] = rng.standard_normal((n, rank)) @ np.tril(factor)[:, :rank].T
    return drawn
