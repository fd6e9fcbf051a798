"""Theorem 1 and Lemma 1: what is planted, what counts as recovered, the summary; and the experiment end to end."""

from pathlib import Path

import numpy as np
import pytest

from experiments import theorems
from experiments.frame import Options
from experiments.theorems.cells import AUTOMATIC, LASSO, METHODS, covered, noisy, phase
from experiments.theorems.planting import GAUSSIAN, KINDS, SMALL, sample
from experiments.theorems.summary import constants, enough, growth, means, medians, n_monomials
from overtone.spectral.monomials import products


def test_what_is_planted_is_as_noisy_as_it_says() -> None:
    for kind in KINDS:
        drawn = sample(kind, 0.1, 200, 0)
        f = products(drawn.points, list(drawn.truth)) @ np.array(list(drawn.truth.values()))
        v = drawn.values - f
        assert v @ v / len(v) == pytest.approx(0.0 if kind == SMALL else 0.1, abs=1e-12)
        assert drawn.error(drawn.truth) == 0
    small = sample(SMALL, 0.1, 200, 0).truth
    assert sum(a**2 for S, a in small.items() if len(S) == 4) == pytest.approx(0.1 / 4)
    assert drawn.error({}) == pytest.approx(1)  # the variance of f


def test_enough_samples_recover_and_too_few_do_not() -> None:
    for method in METHODS:
        assert phase(20, 2, 3, 100, method, 0) == {"exact": True, "minimum": True}
        assert not phase(20, 2, 8, 12, method, 0)["exact"]


def test_an_error_is_below_the_noise() -> None:
    assert noisy(GAUSSIAN, 0.01, 200, 0)["error"] < 0.01


def test_random_search_meets_a_small_function_soon() -> None:
    assert 1 <= covered(2, 0)["draws"] < 100


def test_where_recovery_begins() -> None:
    cells = [
        {"n": 60, "degree": 2, "s": s, "T": T, "method": AUTOMATIC, "seed": seed, "exact": 10 * s <= T}
        for s in (2, 4, 8) for T in (20, 40) for seed in range(3)
    ]  # fmt: skip
    table = enough(means(cells, ("n", "degree", "s", "T", "method"), ("exact",)))
    assert [row["T"] for row in table] == [20, 40, None]
    assert growth(table, AUTOMATIC) == pytest.approx(1)
    assert growth(table, LASSO) is None
    assert constants(table)[AUTOMATIC] == pytest.approx([10 / np.log(n_monomials(60, 2))] * 2)
    assert n_monomials(60, 3) == 60 + 1770 + 34_220


def test_medians() -> None:
    rows = [{"s": 1, "draws": draws} for draws in (1, 2, 9)]
    assert medians(rows, ("s",), "draws") == [{"s": 1, "seeds": 3, "draws": 2.0, "low": 1.5, "high": 5.5}]


@pytest.mark.heavy
def test_end_to_end(tmp_path: Path) -> None:
    theorems.run(Options("tiny", None, tmp_path, 1))
    for name in ("phase", "noise"):
        assert (tmp_path / f"theorems-{name}.png").stat().st_size > 10_000
    assert all(block for block in theorems.blocks(tmp_path).values())
    assert len(theorems.claims(tmp_path)) == 6
