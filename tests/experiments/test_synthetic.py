"""Synthetic functions: one run of each kind, the summary; and the experiment end to end."""

from pathlib import Path

import numpy as np
import pytest

from benchmarks.hierarchy import DEGREE, N_FEATURES, paper_function
from experiments import synthetic
from experiments.frame import Options, load
from experiments.synthetic.stages import EXAMPLE, KINDS, MANY, dummies, sparse, staged
from experiments.synthetic.summary import cases, growth, lines
from experiments.synthetic.times import HARMONICA, timed


def test_h_is_that_of_section_5_4() -> None:
    h = paper_function(60, 0)
    assert [len(vectors) for vectors in h.stages] == [1, 32, 32**2]
    for i, vectors in enumerate(h.stages):
        weights = np.array([vector.weights for vector in vectors])
        assert weights.shape[1] == N_FEATURES == 5
        assert ((weights >= 10 + 10.0**-i) & (weights <= 10 + 10.0 ** (2 - i))).all()
        assert all(1 <= len(S) <= DEGREE for vector in vectors for S in vector.monomials)
    point = tuple(np.random.default_rng(0).choice([-1.0, 1.0], 60).tolist())
    first, second, third = h.path(point)
    c1, c2 = (sum(2**k for k, term in enumerate(vector.terms(point)) if term > 0) for vector in (first, second))
    assert second is h.stages[1][c1]
    assert third is h.stages[2][32 * c1 + c2]
    assert h(point) == pytest.approx(sum(vector.terms(point).sum() for vector in (first, second, third)))


def test_without_noise_the_authors_example_is_exact() -> None:
    row = staged(EXAMPLE, 20, MANY, 0.0, 0)
    assert row["stages"] == 3
    assert row["error"] < 1e-6


def test_the_sparse_example_and_dummies() -> None:
    assert sparse(0) == {"exact": True, "reached": True}
    found = dummies(KINDS[1], 0)
    assert found["fixed"] > 0
    assert found["dummies"] == 0


def test_a_line_is_fitted() -> None:
    case = {"function": "f", "n": 9, "settings": "s", "stages": 3, "best": 1.0, "random": 0.9}
    rows = [{**case, "noise": A, "error": 0.1 * A + 1, "seed": seed} for A in (0.0, 1.0, 2.0) for seed in range(2)]
    (line,) = lines(cases(rows))
    assert (line["slope"], line["intercept"], line["r2"]) == pytest.approx((0.1, 1.0, 1.0))
    assert lines(cases(rows[:2])) == []  # one level of noise is no line


def test_times_are_extrapolated_by_their_power() -> None:
    row = {"cpu": 2.5, "n_done": 50, "readings": {str(k): k**2 / 1000 for k in range(10, 51, 10)}}
    (found,) = growth([row])
    assert found["power"] == pytest.approx(2)
    assert found["all"] == pytest.approx(250)
    assert growth([{**row, "readings": {}}])[0]["all"] is None


def test_our_time_is_read() -> None:
    row = timed(HARMONICA, 12, 120, None)
    assert row["n_done"] == 120
    assert list(row["readings"]) == [str(k) for k in range(10, 121, 10)]


@pytest.mark.heavy
def test_end_to_end(tmp_path: Path) -> None:
    synthetic.run(Options("tiny", None, tmp_path, 1))
    for name in ("time", "noise"):
        assert (tmp_path / f"synthetic-{name}.png").stat().st_size > 10_000
    assert load(tmp_path, "synthetic")["times"]
    assert all(block for block in synthetic.blocks(tmp_path).values())
    assert len(synthetic.claims(tmp_path)) == 8
