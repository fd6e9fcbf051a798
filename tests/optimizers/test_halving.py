from typing import Any

import pytest

from overtone.errors import InputError
from overtone.optimizers import Hyperband, SuccessiveHalving
from overtone.optimizers.halving import Rung, halving_schedule, hyperband_schedule, schedule_table
from tests.optimizers.driving import asked, booleans, drive, told


def plain(rungs: list[Rung]) -> list[tuple[int, float]]:
    return [(rung.n, rung.budget) for rung in rungs]


# ---- schedules ----


def test_hyperband_schedule_of_the_paper() -> None:
    """R = 81, eta = 3, so s_max = 4, B = 5 R: n = ceil(5 * 3^s / (s + 1)) is 81, 33.75 -> 34, 15, 7.5 -> 8 and 5.

    n_i = floor(n eta^-i), r_i = R eta^(i - s). (27, 9, 6 for 34, 15, 8: 5 / (s + 1) was rounded down.)
    """
    assert list(map(plain, hyperband_schedule(81, 3))) == [
        [(81, 1), (27, 3), (9, 9), (3, 27), (1, 81)],
        [(34, 3), (11, 9), (3, 27), (1, 81)],
        [(15, 9), (5, 27), (1, 81)],
        [(8, 27), (2, 81)],
        [(5, 81)],
    ]


@pytest.mark.parametrize("eta", [2, 3, 4, 10])
def test_exact_powers_are_not_lost_to_rounding(eta: int) -> None:
    for s_max in range(6):
        brackets = hyperband_schedule(float(eta**s_max), eta)
        assert len(brackets) == s_max + 1
        assert plain(brackets[0])[0] == (eta**s_max, 1)
        assert plain(brackets[-1]) == [(s_max + 1, eta**s_max)]


def test_budgets_that_are_no_power() -> None:
    brackets = hyperband_schedule(100, 3)
    assert len(brackets) == 5
    assert [rungs[-1].budget for rungs in brackets] == [100] * 5
    assert brackets[0][0].budget == pytest.approx(100 / 81)


def test_halving_schedule() -> None:
    assert plain(halving_schedule(27, 1, 3, 27)) == [(27, 1), (9, 3), (3, 9), (1, 27)]
    assert plain(halving_schedule(10, 2, 2, 9)) == [(10, 2), (5, 4), (2, 8)]
    assert plain(halving_schedule(5, 1, 3, 1000)) == [(5, 1), (1, 3)]


def test_schedule_table() -> None:
    assert schedule_table(hyperband_schedule(9, 3)) == (
        "bracket 0: 9 at 1, then 3 at 3, then 1 at 9\nbracket 1: 5 at 3, then 1 at 9\nbracket 2: 3 at 9"
    )


# ---- runs ----


def test_hyperband_runs_its_schedule() -> None:
    optimizer = Hyperband(booleans(20), max_budget=9)
    trials = asked(drive(optimizer, workers=4, shuffle=0))
    assert [trial.budget for trial in trials] == [1] * 9 + [3] * 3 + [9] + [3] * 5 + [9] + [9] * 3
    starts = [trial.point for i, trial in enumerate(trials) if i < 9 or 13 <= i < 18 or i >= 19]
    assert len(set(starts)) == len(starts)  # brackets have their own random numbers


def test_the_best_are_promoted_and_ties_go_to_the_lower_number() -> None:
    optimizer = SuccessiveHalving(booleans(20), n_configurations=6, max_budget=2, eta=2)
    values = [5.0, 1.0, 3.0, 1.0, 3.0, 9.0]
    trials = asked(drive(optimizer, lambda trial: values[trial.number % 6], workers=6, shuffle=3))
    assert [trial.point for trial in trials[6:]] == [trials[number].point for number in (1, 3, 2)]
    assert [trial.stage for trial in trials] == ["budget 1"] * 6 + ["budget 2"] * 3


def test_failures_are_never_promoted() -> None:
    optimizer = SuccessiveHalving(booleans(20), n_configurations=9, max_budget=9)
    values = [None, float("-inf"), float("nan"), "0", 4.0, None, 2.0, None, None]
    events = drive(optimizer, lambda trial: values[trial.number] if trial.budget == 1 else 1.0)
    trials = asked(events)
    assert [trial.budget for trial in trials] == [1] * 9 + [3] * 2 + [9]  # two successes where three have room
    assert [trial.point for trial in trials[9:11]] == [trials[6].point, trials[4].point]
    assert optimizer.done


def test_a_rung_of_failures_ends_a_bracket_only() -> None:
    optimizer = Hyperband(booleans(20), max_budget=9)
    events = drive(optimizer, lambda trial: None if trial.budget == 1 else 1.0)
    assert [trial.budget for trial, _ in told(events)] == [1] * 9 + [3] * 5 + [9] + [9] * 3


def test_a_rung_waits_for_all_of_the_rung_before() -> None:
    optimizer = SuccessiveHalving(booleans(20), n_configurations=4, max_budget=2, eta=2)
    out = optimizer.ask(10)
    assert len(out) == 4
    for trial in out[:3]:
        optimizer.tell(trial, 0.0)
        assert optimizer.ask(1) == []
    optimizer.tell(out[3], 0.0)
    assert [trial.budget for trial in optimizer.ask(10)] == [2, 2]


def test_a_small_space_fills_only_a_part_of_the_first_rung() -> None:
    optimizer = SuccessiveHalving(booleans(2), n_configurations=9, max_budget=9)
    assert [trial.budget for trial in asked(drive(optimizer, workers=3))] == [1] * 4 + [3] * 3 + [9]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"eta": 1}, "`eta`"),
        ({"eta": 2.5}, "`eta`"),
        ({"max_budget": 0.5}, "min_budget <= max_budget"),
        ({"max_budget": float("inf")}, "min_budget <= max_budget"),
    ],
)
def test_bad_settings(arguments: dict[str, Any], problem: str) -> None:
    for optimizer in (Hyperband, SuccessiveHalving):
        with pytest.raises(InputError, match=problem):
            optimizer(booleans(3), **arguments)
    with pytest.raises(InputError, match="`n_configurations`"):
        SuccessiveHalving(booleans(3), n_configurations=0)
