"""Decision trees: the trees themselves, their noise, the summary; and the experiment end to end."""

from math import inf
from pathlib import Path

import numpy as np
import pytest

from experiments import trees
from experiments.frame import Options, load
from experiments.trees.cells import learn
from experiments.trees.labels import DECOY, NONE, RANDOM, corrupted, gamma
from experiments.trees.learners import LEARNERS, OURS
from experiments.trees.summary import errors, exponent, exponents, needed, reaching
from experiments.trees.tree import Tree, random_tree
from overtone.spectral.polynomial import Polynomial

rng = np.random.default_rng(0)
POINTS = rng.choice([-1.0, 1.0], size=(500, 20))
TREE = random_tree(16, rng, frozenset(range(20)))


def test_a_random_tree_has_its_size_and_both_labels() -> None:
    assert set(TREE(POINTS)) == {-1.0, 1.0}
    assert _leaves(TREE) == 16


def _leaves(tree: Tree) -> int:
    return 1 if tree.low is None or tree.high is None else _leaves(tree.low) + _leaves(tree.high)


def test_the_expansion_is_the_tree() -> None:
    terms = TREE.fourier()
    np.testing.assert_allclose(Polynomial(terms, 20)(POINTS), TREE(POINTS), atol=1e-12)
    assert sum(a**2 for a in terms.values()) == pytest.approx(1)  # Parseval: f^2 = 1


def test_noise_flips_the_share_that_it_says() -> None:
    y = TREE(POINTS)
    for kind in (RANDOM, DECOY):
        v = corrupted(kind, 0.1, POINTS, y, np.random.default_rng(1)) - y
        assert v @ v / len(y) == pytest.approx(gamma(0.1))
    np.testing.assert_array_equal(corrupted(NONE, 0.0, POINTS, y, np.random.default_rng(1)), y)


def test_a_decoy_looks_true() -> None:
    from overtone.spectral.low_degree import low_degree

    y = corrupted(DECOY, 0.15, POINTS, TREE(POINTS), np.random.default_rng(1))
    found = dict(low_degree(POINTS, y, 2, threshold=0.0).polynomial)
    clean = dict(low_degree(POINTS, TREE(POINTS), 2, threshold=0.0).polynomial)
    grown = {S: found[S] - clean.get(S, 0.0) for S in found}
    assert max(grown.values()) == pytest.approx(0.3, abs=0.01)


def test_a_small_tree_is_learned_exactly() -> None:
    assert learn(4, NONE, 0.0, 100, OURS, 0)["squared"] < 0.01


def test_samples_needed() -> None:
    assert reaching([(100, 0.5), (200, 0.1)], 0.3) == pytest.approx(np.sqrt(100 * 200))
    assert reaching([(100, 0.1), (200, 0.4), (400, 0.0)], 0.2) == pytest.approx(200 * 2**0.5)
    assert reaching([(100, 0.1)], 0.2) == 100
    assert reaching([(100, 0.3)], 0.2) == inf
    assert exponent([2.0, 4.0, 8.0], [10.0, 40.0, None]) == pytest.approx(2)
    assert exponent([2.0, 4.0], [10.0, None]) is None


def test_a_line_of_power_two_is_found() -> None:
    case = {"kind": NONE, "share": 0.0, "seed": 0, "wrong": 0.0}
    rows = [
        {"leaves": s, "T": T, "learner": learner, "squared": s**2 / T, **case}
        for s in (4, 8) for T in (16, 64, 256, 1024, 4096) for learner in LEARNERS
    ]  # fmt: skip
    found = exponents(needed(rows))
    assert all(row["p"] == pytest.approx(2, abs=0.25) for row in found if row["in"] == "s")
    assert len(errors([*rows, *rows])) == len(rows)


@pytest.mark.heavy
def test_end_to_end(tmp_path: Path) -> None:
    trees.run(Options("tiny", None, tmp_path, 1))
    for name in ("errors", "noise", "samples"):
        assert (tmp_path / f"trees-{name}.png").stat().st_size > 10_000
    assert load(tmp_path, "trees")["errors"]
    assert all(block for block in trees.blocks(tmp_path).values())
    assert trees.claims(tmp_path)[0].verdict == "holds"  # the structural facts
