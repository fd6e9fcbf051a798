"""Changes of switches that leave named monomials as they are: what is weaker shows only there.

Where x_i x_j is named, to change x_i alone costs what the pair is worth, and so does x_j; nobody tries both, although
the pair stays, and everything else that x_i and x_j do would show. Harmonica samples what is left of a space once
features are fixed, and in it x_i and x_j change together: so do these.
"""

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from overtone.optimizers.pairs import flipped
from overtone.optimizers.proposals import Neighborhood
from overtone.optimizers.surrogate import Surrogate
from overtone.spectral.gf2 import bit_matrix, echelon
from overtone.spectral.monomials import FloatArray, Monomial


def mirrored(near: Neighborhood, surrogate: Surrogate, best: FloatArray) -> FloatArray:
    """The best with two switches of a named monomial changed, as the fit likes them.  # (n,) -> (N, n)"""
    unit_of = _unit_of(near)
    switches = [[unit_of[column] for column in each if column in unit_of] for each in surrogate.monomials]
    pairs = sorted({pair for each in switches for pair in combinations(each, 2)})
    found = flipped(best, np.array(pairs, dtype=int).reshape(-1, 2))
    return found[np.argsort(surrogate(near.columns(found)), kind="stable")] if pairs else found


def keeping(
    near: Neighborhood, monomials: Sequence[Monomial], points: FloatArray, rng: np.random.Generator
) -> FloatArray:
    """Points with switches of named monomials changed at random, an even number in each of them.  # (N, n)

    The sets of such switches are the null space over GF(2) of the matrix of which monomial has which switch.
    """
    unit_of, n = _unit_of(near), points.shape[1]
    has: dict[int, int] = {}  # of each unit, the monomials
    for k, monomial in enumerate(monomials):
        for unit in (unit_of[column] for column in monomial if column in unit_of):
            has[unit] = has.get(unit, 0) | 1 << k
    rows = echelon(which << n | 1 << unit for unit, which in sorted(has.items()))
    null = [row for row in rows if not row >> n]
    if not null:
        return points
    taken = rng.integers(2, size=(len(points), len(null)))
    flips = taken @ bit_matrix(null, n).astype(int) % 2  # (N, n)
    return np.asarray(points * (1 - 2 * flips))


def _unit_of(near: Neighborhood) -> dict[int, int]:
    """Of the column of each switch, its unit."""
    columns, units = near.switches
    return dict(zip(columns.tolist(), units.tolist(), strict=True))
