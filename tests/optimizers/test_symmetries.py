"""Changes that leave named monomials as they are: which they are, and what they find."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overtone.optimizers import SpectralDescent, Trial
from overtone.optimizers.forward import Samples
from overtone.optimizers.proposals import Neighborhood
from overtone.optimizers.surrogate import Surrogate, fit
from overtone.optimizers.symmetries import keeping, mirrored
from overtone.space import Space, boolean, choice, ordinal
from overtone.spectral.monomials import FloatArray, Monomial, products
from tests.optimizers.driving import booleans, drive, lowest, signs


def named(space: Space, monomials: tuple[Monomial, ...]) -> tuple[Neighborhood, Surrogate, FloatArray]:
    """A fit that names these, and its points."""
    near, rng = Neighborhood(space), np.random.default_rng(0)
    points = np.array([space.draw(rng) for _ in range(60)])
    V = near.columns(points)
    surrogate = fit(Samples(V, near.groups, rng.random(60), np.ones(60)))
    return near, replace(surrogate, monomials=monomials, coefficients=np.ones(len(monomials))), points


def test_two_switches_of_a_monomial() -> None:
    near, surrogate, points = named(booleans(9), ((), (0,), (1, 2), (3, 4, 5)))
    found = mirrored(near, surrogate, points[0])
    changed = [tuple(np.flatnonzero(each).tolist()) for each in found != points[0]]
    assert sorted(changed) == [(1, 2), (3, 4), (3, 5), (4, 5)]
    assert (products(found, surrogate.monomials) == products(points[:1], surrogate.monomials)).all()
    assert (np.diff(surrogate(found)) >= 0).all()


def test_without_pairs_there_are_none() -> None:
    near, surrogate, points = named(booleans(5), ((), (0,)))
    assert mirrored(near, surrogate, points[0]).shape == (0, 5)
    assert keeping(near, surrogate.monomials, points, np.random.default_rng(0)) is points


def test_only_switches_are_changed() -> None:
    space = Space({"a": boolean(), "color": choice(["red", "green", "blue"]), "b": boolean(), "n": ordinal([1, 2, 4])})
    near = Neighborhood(space)
    everything = (tuple(range(len(near.groups))),)
    near, surrogate, points = named(space, everything)
    others = np.setdiff1d(np.arange(len(space.units)), near.switches[1])
    kept = keeping(near, everything, points, np.random.default_rng(0))
    for found in (mirrored(near, surrogate, points[0]), kept[:1]):
        assert len(found)
        assert (found[:, others] == points[0, others]).all()
    assert (kept != points).any()


@given(st.lists(st.sets(st.integers(0, 11), min_size=1, max_size=3), max_size=8), st.integers(0, 99))
def test_every_named_monomial_stays(found: list[set[int]], seed: int) -> None:
    monomials = [tuple(sorted(each)) for each in found]
    near, rng = Neighborhood(booleans(12)), np.random.default_rng(seed)
    points = np.array([near.space.draw(rng) for _ in range(20)])
    changed = keeping(near, monomials, points, rng)
    assert (products(changed, monomials) == products(points, monomials)).all()
    assert (np.abs(changed) == 1).all()
    free = sorted(set(range(12)) - {unit for each in found for unit in each})
    assert (changed[:, free] == points[:, free]).all()


def test_all_that_keeps_them_comes_equally_often() -> None:
    """Of x0 x1 and x1 x2 all three switches change together, or none."""
    near = Neighborhood(booleans(3))
    points = np.ones((2000, 3))
    changed = keeping(near, [(0, 1), (1, 2)], points, np.random.default_rng(0))
    assert {tuple(row) for row in changed.tolist()} == {(1.0, 1.0, 1.0), (-1.0, -1.0, -1.0)}
    assert (changed[:, 0] < 0).mean() == pytest.approx(0.5, abs=0.06)


def hidden(trial: Trial) -> float:
    """Five strong pairs, each with either sign of its switches; only which sign matters a little, and in a triple."""
    x = signs(trial.config)
    pairs = sum(x[2 * i] * x[2 * i + 1] for i in range(5))
    weak = sum(x[2 * i] for i in range(5)) + x[10] * x[11] * x[12]
    return float(10 * pairs + weak)


def test_what_strong_pairs_hide_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def found(seed: int) -> float:
        return lowest(drive(SpectralDescent(booleans(30), seed, n_evaluations=200), hidden))

    with_symmetries = np.mean([found(seed) for seed in range(6)])
    monkeypatch.setattr("overtone.optimizers.spectral_descent.MIRRORED", 10**9)
    monkeypatch.setattr("overtone.optimizers.spectral_descent.keeping", lambda *given: given[2])
    assert with_symmetries < np.mean([found(seed) for seed in range(6)])
