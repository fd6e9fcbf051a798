"""Branches of a space: the levels of a choice that other parameters depend on, as which model a pipeline ends with.

What is best in a branch shows only when the parameters that are its own are at their best, too. The branch that is
ahead after a few samples gets nearly all trials from then on, and when nothing better comes of it any more, the others
were hardly tried. Then some trials are in other branches: each is descended in from its own best configuration.
"""

from typing import NamedTuple

import numpy as np

from overtone.optimizers.draws import doubts
from overtone.optimizers.findings import Row, points_of
from overtone.optimizers.proposals import Neighborhood, Walk
from overtone.optimizers.surrogate import Surrogate
from overtone.spectral.monomials import FloatArray

DRAWS = 3  # descents for every trial that is wanted: some end where others do
STAY = 1e3  # what it costs to leave a branch: more than any fit promises, whose values are about 0 to 1


class Branch(NamedTuple):
    """One level of a parameter that others depend on."""

    parameter: int
    place: int  # of its best configuration in the ranking
    tried: int  # configurations


def elsewhere(
    near: Neighborhood, surrogate: Surrogate, ranking: list[Row], n: int, rng: np.random.Generator
) -> FloatArray:
    """Where draws of the fit lead to in n other branches than those of the best configuration.  # (DRAWS n, units)"""
    points = points_of(ranking)
    chosen = choose(branches(near, points), n) * DRAWS
    if not chosen:
        return points[:0]
    starts = points[[branch.place for branch in chosen]]
    distinct, which = np.unique(starts, axis=0, return_inverse=True)
    codes, owns = near.changes(distinct)
    costs = np.empty((len(starts), len(codes)))
    for i, start in enumerate(distinct):
        mine = np.flatnonzero(which.ravel() == i)
        costs[mine] = doubts(near, surrogate, start, (codes, owns), len(mine), rng)
    for cost, start, branch in zip(costs, starts, chosen, strict=True):
        its = near.places[branch.parameter]
        cost[owns[:, its[0]] & (codes[:, its] != start[its]).any(axis=1)] = STAY
    walk = Walk(near, surrogate, starts, costs)
    walk.descend()
    return walk.points


def branches(near: Neighborhood, points: FloatArray) -> list[Branch]:
    """All that were tried, but for those that the first point is in; the points best first.  # (N, units)"""
    found = []
    for parameter in near.parents:
        numbers = near.candidates(parameter, points)[2]
        for number in np.unique(numbers[numbers != numbers[0]]).tolist():
            its = np.flatnonzero(numbers == number)
            found.append(Branch(parameter, int(its[0]), len(its)))
    return found


def choose(found: list[Branch], n: int) -> list[Branch]:
    """n of them, some again and again: so that there are half as many of the second best as of the best, and so on."""
    ranks = 1 + np.argsort(np.argsort([branch.place for branch in found]))
    tried = np.array([branch.tried for branch in found])
    chosen = []
    for _ in range(n if found else 0):
        i = int((tried * ranks).argmin())
        tried[i] += 1
        chosen.append(found[i])
    return chosen
