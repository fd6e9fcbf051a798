"""Two switches changed together: which pairs there are, which seem to interact, and what they find."""

from itertools import combinations

import numpy as np
import pytest

from overtone.optimizers import SpectralDescent, Trial
from overtone.optimizers.forward import Samples
from overtone.optimizers.pairs import EVIDENT, SINGLES, evident, interacting, together
from overtone.optimizers.proposals import Neighborhood
from overtone.optimizers.spectral_descent import WILD
from overtone.optimizers.surrogate import Surrogate, fit
from overtone.space import Space, boolean
from overtone.spectral.monomials import FloatArray
from tests.optimizers.driving import booleans, drive, lowest, mixed, signs, spaces


def fitted(near: Neighborhood, values: FloatArray, points: FloatArray) -> Surrogate:
    """A fit of some values, from 0 to 1."""
    columns = near.columns(points)
    return fit(Samples(columns, near.groups, (values - values.min()) / np.ptp(values), np.ones(len(values))))


def drawn(space: Space, n: int, seed: int = 0) -> FloatArray:
    rng = np.random.default_rng(seed)
    return np.array([space.draw(rng) for _ in range(n)])


def linear(n: int, seed: int = 0) -> tuple[Neighborhood, Surrogate, FloatArray]:
    """Switch i is the better on the greater i is, and all are off at a point."""
    space = booleans(n)
    near, points = Neighborhood(space), drawn(space, 3 * n, seed)
    return near, fitted(near, -points @ np.arange(float(n)), points), np.full(n, -1.0)


def test_every_pair_of_few_switches() -> None:
    near, surrogate, best = linear(8)
    found = together(near, surrogate, best)
    changed = {tuple(np.flatnonzero(point != best).tolist()) for point in found}
    assert changed == set(combinations(range(8), 2))
    assert len(found) == 28


def test_of_many_switches_those_that_the_fit_likes() -> None:
    near, surrogate, best = linear(SINGLES + 10)
    found = together(near, surrogate, best) != best
    assert len(found) == SINGLES * (SINGLES - 1) // 2
    assert (found.sum(axis=1) == 2).all()
    assert found[:, -5:].any(axis=0).all()  # the best to turn on
    assert found.any(axis=0).sum() == SINGLES


@pytest.mark.parametrize("name", sorted(spaces().keys() - {"one left"}))
def test_only_switches_are_changed(name: str) -> None:
    space = spaces()[name]
    near = Neighborhood(space)
    points = drawn(space, 30)
    values = np.random.default_rng(1).standard_normal(30)
    surrogate, best = fitted(near, values, points), points[0]
    owners = [unit.parameter for unit in space.units]
    switches = {i for i, unit in enumerate(space.units) if unit.kind == "bit" and owners.count(unit.parameter) == 1}
    for found in (together(near, surrogate, best), interacting(near, surrogate, best, 3)):
        assert found.shape[1] == len(best)
        assert ((found != best).sum(axis=1) == 2).all()
        assert set(np.flatnonzero((found != best).any(axis=0)).tolist()) <= switches


def test_a_space_without_switches_has_no_pairs() -> None:
    near = Neighborhood(mixed())
    alone = Neighborhood(Space({"only": boolean()}))
    assert len(near.switches[0]) == 1  # the flag
    points = drawn(alone.space, 2)
    points[0], points[1] = -1.0, 1.0
    surrogate = fitted(alone, np.array([0.0, 1.0]), points)
    assert together(alone, surrogate, points[0]).shape == (0, 1)
    assert interacting(alone, surrogate, points[0], 2).shape == (0, 1)


@pytest.mark.parametrize("seed", range(5))
def test_what_interacts_is_seen_before_it_is_named(seed: int) -> None:
    space = booleans(20)
    near, points = Neighborhood(space), drawn(space, 40, seed)
    noise = np.random.default_rng([seed, 1]).standard_normal(40)
    surrogate = fitted(near, 0.7 * points[:, 3] * points[:, 7] + noise, points)
    found = evident(surrogate, near.switches[0], 60).tolist()
    assert (3, 7) in surrogate.monomials or [3, 7] in found[:3]
    assert len(found) < 30


def test_where_nothing_interacts_few_pairs_seem_to() -> None:
    near, surrogate, best = linear(20)
    by_chance = 190 * 0.0455  # two-sided, t > 2
    assert EVIDENT == 2.0
    assert len(interacting(near, surrogate, best, 10)) < 3 * by_chance


def stand_ins(trial: Trial) -> float:
    """Six needs, each met by either of two switches, the second a little better; what is on has a price. Least at 6."""
    on = signs(trial.config) > 0
    first, second, idle = on[:6], on[6:12], on[12:]
    needs = np.where(second, 0.0, np.where(first, 0.2, 20.0))
    return float(needs.sum() + first.sum() + second.sum() + 0.5 * idle.sum())


def test_switches_that_stand_in_for_one_another_are_swapped() -> None:
    found = [lowest(drive(SpectralDescent(booleans(20), seed, n_evaluations=300), stand_ins)) for seed in range(8)]
    assert (np.array(found) - 6).sum() / 0.2 < 10  # swaps left of 48: 21 if only one switch is changed at a time


def test_the_last_trials_are_close_to_the_best() -> None:
    optimizer = SpectralDescent(booleans(40), 0, n_evaluations=160)
    told = [
        trial for kind, trial, _ in drive(optimizer, lambda trial: float(signs(trial.config).sum())) if kind == "ask"
    ]
    late = np.array([trial.point for trial in told[int(WILD * 160) + optimizer.batch :]])
    assert (late > 0).sum(axis=1).max() < 10  # a uniform point has 20 on, and the best none
