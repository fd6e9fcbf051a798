"""What the paper and its authors' public code show: their functions, settings and claims, at a few fixed seeds.

`python -m experiments synthetic` measures the same over many seeds.
"""

from functools import partial
from typing import Any

import numpy as np
import pytest

from benchmarks.hierarchy import SPARSE, Hierarchy, paper_function
from experiments.synthetic.stages import EXAMPLE, FEW, MANY, SETTINGS, H, drive, dummies, sparse, staged
from overtone.optimizers import Harmonica, RandomSearch
from tests.optimizers.driving import booleans

PAPER = SETTINGS[FEW]  # 100 samples, 5 features, degree 3, the penalty of the authors' code
few = partial(RandomSearch, n_evaluations=20)


# ---- the authors' two examples ----


@pytest.mark.parametrize("seed", range(3))
def test_the_authors_sparse_function_of_60_variables(seed: int) -> None:
    """With their settings, from 100 samples."""
    assert sparse(seed) == {"exact": True, "reached": True}


def test_the_sparse_function_with_automatic_settings() -> None:
    """All that is left after one stage is the minimum, -50."""
    optimizer = Harmonica(booleans(60), n_samples=100, n_stages=1, base=few)
    points = drive(optimizer, lambda point: float(SPARSE(np.array([point]))[0]))
    np.testing.assert_allclose(SPARSE(np.array(points[100:])), -50.0)


def test_the_authors_three_stage_function() -> None:
    found = staged(EXAMPLE, 60, FEW, 2.0, 1)
    assert found["stages"] == 3
    assert found["error"] < 2.0  # the noise, uniform in [-2, 2]
    assert found["best"] > found["random"]


# ---- h(x) of section 5.4 ----


def test_the_error_is_proportional_to_the_noise() -> None:
    """The paper's figure; with 300 samples, as in its main experiment."""
    small, large = (float(staged(H, 60, MANY, noise, 0)["error"]) for noise in (1.0, 4.0))
    assert small < 0.5
    assert large == pytest.approx(4 * small, rel=0.2)


def test_100_samples_go_through_all_three_stages() -> None:
    """As in the paper; a weight of 11 beside one of 110 may not be seen, but what is found is better than random."""
    found = staged(H, 60, FEW, 2.0, 1)
    assert found["stages"] == 3
    assert found["best"] > found["random"]


def stages_of(h: Hierarchy, **settings: Any) -> list[tuple[str, bool]]:
    optimizer = Harmonica(booleans(60), n_samples=100, degree=3, base=few, **settings)
    drive(optimizer, h)
    return [(stage.verdict, stage.restricts) for stage in optimizer.stages]


def test_the_verdict_stops_only_what_is_automatic() -> None:
    """With s and lambda given, the verdict is recorded, and the paper's algorithm goes on."""
    doubt = "not sparse at this sample size"
    assert stages_of(paper_function(60, 0), sparsity=5, l1_penalty=3.0) == [("ok", True), (doubt, True), (doubt, True)]
    assert stages_of(paper_function(60, 0), sparsity=5) == [("ok", True), (doubt, False)]


def test_the_papers_stages_end_where_the_lasso_keeps_nothing() -> None:
    """The paper's fourth stage: "there are no features with nonzero weights"."""
    rng = np.random.default_rng(0)
    optimizer = Harmonica(booleans(60), base=few, **PAPER)
    drive(optimizer, lambda point: 10 * point[3] + float(rng.normal()))
    assert [stage.restricts for stage in optimizer.stages] == [True, False]


# ---- dummies ----


def test_dummies_are_not_chosen() -> None:
    """The rate over seeds is in docs/paper.md."""
    assert dummies("planted, 6 features", 0)["dummies"] == 0
