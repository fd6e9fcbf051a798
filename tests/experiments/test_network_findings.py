"""What the samples of stages say, on samples of a known function of the 60 options."""

from typing import Any

import numpy as np
import pytest

from experiments.network.findings import Problem, degrees, important, problems, stable_ranges
from experiments.network.laboratory import as_bits, as_points
from experiments.network.options import space
from overtone import Stage
from overtone.optimizers.stage import Settings, learn
from overtone.optimizers.trial import Trial

T, PENALTY = 300, 0.5


def errors(points: np.ndarray, rng: np.random.Generator) -> Any:
    """Batch norm, activation, the middle learning rates, ADAM, first activation; and noise."""
    x = {number: points[:, number - 1] for number in range(1, 61)}
    return 60 + 8 * x[24] + 5 * x[19] + 4 * x[4] * x[5] - 3 * x[3] + 2 * x[15] + rng.normal(0, 1, len(points))


@pytest.fixture(scope="module")
def sampled() -> tuple[dict[str, object], Stage]:
    rng = np.random.default_rng(0)
    points = [space().draw(rng) for _ in range(T)]
    values = errors(np.array(points), rng).tolist()
    trials = [
        (Trial(number, space().decode(point), point), value)
        for number, (point, value) in enumerate(zip(points, values, strict=True))
    ]
    stage = learn(space(), trials, (), Settings(5, 3, PENALTY, 4))
    return {"bits": list(map(as_bits, points)), "errors": values}, stage


@pytest.fixture(scope="module")
def problem(sampled: tuple[dict[str, object], Stage]) -> Problem:
    return problems([sampled[0]], [sampled[1]])[0]


def test_bits_and_points_are_inverse() -> None:
    assert as_bits((-1.0, 1.0, 1.0)) == "011"
    np.testing.assert_array_equal(as_points(["011"]), [[-1, 1, 1]])


def test_important_features_have_the_papers_names(sampled: tuple[dict[str, object], Stage]) -> None:
    rows = important([sampled[1]])
    assert [row["names"] for row in rows] == [
        ["24. Batch norm"],
        ["19. Activation"],
        ["04. Initial learning rate", "05. Initial learning rate (Detail 1)"],
        ["03. Optimization method"],
        ["15. Resblock first activation"],
    ]
    assert rows[0]["weight"] == pytest.approx(8, abs=0.3)
    assert rows[3]["weight"] < 0
    assert not any(row["irrelevant"] for row in rows)


def test_the_top_five_of_a_clear_signal_are_stable(problem: Problem) -> None:
    found = stable_ranges(problem, PENALTY)
    low, high = found["penalties"]
    assert low <= 0.2 and 1.5 <= high <= 3
    assert found["n_samples"] <= 150
    assert found["n_features"] == 5


def test_the_second_stage_sees_what_the_first_leaves(sampled: tuple[dict[str, object], Stage]) -> None:
    rows, stage = sampled
    first, second = problems([rows, rows], [stage, stage])
    assert first.y.std() > 10
    assert second.y.std() == pytest.approx(1, abs=0.15)


def test_no_degree_above_two_is_needed(problem: Problem) -> None:
    found = degrees(problem, PENALTY)
    assert found["largest"] == 2
    assert found["automatic"] <= 3
    assert found["n_selected"] == 5
    assert found["verdict"] == "ok"
    assert found["features"][0][0] == "24. Batch norm"
