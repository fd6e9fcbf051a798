"""Changes of two switches together, for when no change of one is better any more.

One option often stands in for another: to drop the one costs much, to add the other gains nothing, and only the swap is
better. A fit that has not seen the swap expects the sum of both: it ranks pairs well, but is too sure that all are bad.
And where two switches interact, the sum says nothing: such pairs are tried whatever the fit thinks of them.
"""

from itertools import combinations

import numpy as np

from overtone.optimizers.proposals import Neighborhood
from overtone.optimizers.surrogate import Surrogate
from overtone.spectral.monomials import FloatArray, IntArray

SINGLES = 32  # switches, those whose change the fit thinks best of, of which any two make a pair
EVIDENT = 2.0  # t-value from which on two switches may interact
LOOKED_AT = 30  # pairs for every one that is wanted
TINY = 1e-12


def together(near: Neighborhood, surrogate: Surrogate, best: FloatArray) -> FloatArray:
    """The best with two switches changed; some are not in the space.  # (n,) -> (N, n)"""
    units = near.switches[1]
    singles = flipped(best, units[:, None])
    order = np.argsort(surrogate(near.columns(singles)), kind="stable") if len(units) else units
    return flipped(best, np.array(list(combinations(units[order[:SINGLES]], 2)), dtype=int).reshape(-1, 2))


def flipped(point: FloatArray, units: IntArray) -> FloatArray:
    """A point with some units flipped.  # (n,), (N, k) -> (N, n)"""
    found = np.repeat(point[None], len(units), axis=0)
    found[np.arange(len(units))[:, None], units] *= -1
    return found


def interacting(near: Neighborhood, surrogate: Surrogate, best: FloatArray, n: int) -> FloatArray:
    """The best with two switches changed, those that interact most clearly first.  # (n,) -> (N, n)"""
    columns, units = near.switches
    return flipped(best, units[evident(surrogate, columns, LOOKED_AT * n)])


def evident(surrogate: Surrogate, columns: IntArray, most: int) -> IntArray:
    """Pairs of some columns whose product stands out of what the fit knows, clearest first.  # (k,) -> (N, 2)

    By t = |psi' C^-1 y| / sigma sqrt(psi' C^-1 psi), of those of greatest |psi' C^-1 y|.
    """
    V = surrogate.samples[:, columns] / surrogate.scale  # (T, k)
    scores = np.abs((V * surrogate.weights[:, None]).T @ V)  # (k, k)
    i, j = np.triu_indices(len(columns), 1)
    some = np.argsort(-scores[i, j], kind="stable")[:most]
    i, j = i[some], j[some]
    solved = surrogate.whitened(V[:, i] * V[:, j])
    t = scores[i, j] / (surrogate.deviation * np.sqrt((solved * solved).sum(axis=0)) + TINY)
    clearest = np.argsort(-t, kind="stable")[: int((t > EVIDENT).sum())]
    return np.column_stack([i, j])[clearest]
