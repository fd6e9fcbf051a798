"""Branches: which there are, which are chosen, and what trials in them find."""

import numpy as np
import pytest

from overtone.optimizers import SpectralDescent, Trial
from overtone.optimizers.branches import DRAWS, Branch, branches, choose, elsewhere
from overtone.optimizers.findings import Row
from overtone.optimizers.forward import Samples
from overtone.optimizers.proposals import Neighborhood
from overtone.optimizers.surrogate import fit
from overtone.space import Space, boolean, choice, ordinal, real
from overtone.spectral.monomials import FloatArray
from tests.optimizers.driving import booleans, drive, lowest

MODELS = ["tree", "linear", "kernel", "network"]


def pipeline() -> Space:
    """A model, what each of them has of its own, and what they share."""
    own = {f"{model}_{i}": ordinal([1, 2, 3, 4], when={"model": model}) for model in MODELS for i in range(3)}
    shared = {f"step_{i}": boolean() for i in range(6)}
    return Space({"model": choice(MODELS), **shared, **own, "rate": real(0.0, 1.0, when={"model": "kernel"})})


def ranked(space: Space, n: int) -> tuple[Neighborhood, list[Row], FloatArray]:
    """Random rows, in the order of their values."""
    rng = np.random.default_rng(0)
    points = [space.draw(rng) for _ in range(n)]
    values = np.sort(rng.random(n))
    rows = [Row(point, None) for point in points]
    for row, value in zip(rows, values.tolist(), strict=True):
        row.add(value)
    return Neighborhood(space), rows, values


def test_parents_are_choices_that_others_depend_on() -> None:
    space = Space(
        {
            "alone": choice(["a", "b", "c"]),
            "model": choice(MODELS),
            "flag": boolean(),
            "if_flag": boolean(when={"flag": True}),
            "kernel": choice(["x", "y", "z"], when={"model": "kernel"}),  # not always there
            "degree": ordinal([1, 2], when={"kernel": "x"}),
        }
    )
    assert Neighborhood(space).parents == [1]
    assert Neighborhood(booleans(5)).parents == []


def test_branches_are_those_that_the_best_is_not_in() -> None:
    near, rows, _ = ranked(pipeline(), 40)
    points = np.array([row.point for row in rows])
    models = [str(near.space.decode(row.point)["model"]) for row in rows]
    found = branches(near, points)
    others = set(models) - {models[0]}
    assert {models[branch.place] for branch in found} == others
    for branch in found:
        model = models[branch.place]
        assert branch == Branch(0, models.index(model), models.count(model))


def test_good_and_little_tried_branches_come_first() -> None:
    good, middling, bad = Branch(0, 5, 10), Branch(0, 7, 4), Branch(0, 30, 4)
    assert choose([bad, middling, good], 1) == [middling]
    many = choose([bad, middling, good], 42)
    tried = [branch.tried + many.count(branch) for branch in (good, middling, bad)]
    assert tried == pytest.approx([60 * 6 / 11, 60 * 3 / 11, 60 * 2 / 11], abs=1)
    assert choose([], 3) == []


def test_a_descent_stays_in_its_branch() -> None:
    near, rows, values = ranked(pipeline(), 60)
    V = near.columns(np.array([row.point for row in rows]))
    surrogate = fit(Samples(V, near.groups, values, np.ones(len(values))))
    found = elsewhere(near, surrogate, rows, 4, np.random.default_rng(0))
    models = [near.space.decode(tuple(point))["model"] for point in found.tolist()]
    assert len(found) == 4 * DRAWS
    assert near.space.decode(rows[0].point)["model"] not in models
    chosen = choose(branches(near, np.array([row.point for row in rows])), 4) * DRAWS
    assert models == [near.space.decode(rows[branch.place].point)["model"] for branch in chosen]
    starts = np.array([rows[branch.place].point for branch in chosen])
    assert (found != starts).any()


def test_a_space_of_one_branch_has_no_others() -> None:
    near, rows, values = ranked(pipeline(), 60)
    same = [row for row in rows if near.space.decode(row.point)["model"] == "tree"]
    V = near.columns(np.array([row.point for row in rows]))
    surrogate = fit(Samples(V, near.groups, values, np.ones(len(values))))
    assert len(elsewhere(near, surrogate, same, 4, np.random.default_rng(0))) == 0


def late_bloomer(trial: Trial) -> float:
    """The linear model is good anyhow, and the kernel is better, but only with all of its own right."""
    config = trial.config
    shared = sum(bool(config[f"step_{i}"]) for i in range(6)) / 6
    own = [float(str(config[f"{config['model']}_{i}"])) for i in range(3)]
    if config["model"] == "linear":
        return 3 - shared - sum(own) / 12
    if config["model"] == "kernel":
        return 6 - shared - 1.5 * sum(each == 4 for each in own)
    return 7 - shared


def test_a_branch_that_is_good_only_at_its_best_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def found(seed: int) -> float:
        return lowest(drive(SpectralDescent(pipeline(), seed, n_evaluations=120), late_bloomer))

    with_branches = np.mean([found(seed) for seed in range(8)])
    monkeypatch.setattr("overtone.optimizers.spectral_descent.ELSEWHERE", (0.0, 0.0))
    assert with_branches <= np.mean([found(seed) for seed in range(8)]) - 0.1
