"""Tables against cases worked out by hand."""

from dataclasses import replace

import pandas as pd
import pytest

from overtone import report
from overtone.report.failures import crashes_of, failures_of
from overtone.report.importance import importance_of, pairs_of
from overtone.report.stages import Spread, sureness
from overtone.report.summary import summarize
from overtone.report.verdict import verdict
from overtone.running.record import Goal, History, Record
from overtone.space import Config, Space, boolean, choice, ordinal, real
from tests.report.histories import large, record, stage, tuned

SPACE = Space({"a": boolean(), "lr": ordinal([1, 2, 3, 4]), "c": choice(["x", "y", "z"]), "u": real(0, 1)})
# columns: a, lr.1, lr.2, c~1, c~2, u, P2(u), P3(u)
TERMS = {(): 7.0, (0,): -6.0, (1, 2): 4.0, (0, 3): 2.0, (0, 1, 5): 2.0, (4,): 2.0}  # squares: 36, 16, 4, 4, 4: 64


def history(*records: Record, goal: Goal = "minimize", **more: object) -> History:
    return replace(History(SPACE, tuple(records), goal=goal), **more)  # type: ignore[arg-type]


def test_the_run_in_numbers() -> None:
    default = record(-1, 8.0, "default", seconds=1.0)
    run = history(
        default, record(0, 2.0, seconds=2.0, attempts=3), record(1, None), record(2, 3.0), default={"a": False}
    )
    overview = summarize(run).overview
    assert (overview.n_trials, overview.n_failed, overview.n_retried, overview.seconds) == (4, 1, 1, 3.0)
    assert (overview.best, overview.best_trial, overview.best_stage) == (2.0, 0, "stage 1")
    assert (overview.default, overview.improvement) == (8.0, 6.0)


def test_improvement_has_the_direction_of_the_goal() -> None:
    records = record(0, 2.0, "default"), record(1, 5.0)
    assert summarize(history(*records, goal="maximize", default={})).overview.improvement == 3.0
    assert summarize(history(*records, goal="minimize", default={})).overview.improvement == 0.0


def test_values_at_different_budgets_are_not_compared() -> None:
    run = history(record(0, 2.0, "default"), record(1, 1.0, budget=9.0), record(2, 0.5, budget=3.0), default={})
    assert summarize(run).overview.best == 2.0  # no budget: all of it
    cheap = history(record(0, 2.0, "default", budget=3.0), record(1, 1.0, budget=9.0), default={})
    assert summarize(cheap).overview.improvement is None
    assert [step.trial for step in summarize(cheap).steps] == [1]


@pytest.mark.parametrize(("goal", "best"), [("minimize", [5, 3, 3, 2]), ("maximize", [5, 5, 6, 6])])
def test_best_so_far(goal: Goal, best: list[float]) -> None:
    values = [5.0, 3.0, None, 6.0, 2.0]
    steps = summarize(history(*(record(i, value) for i, value in enumerate(values)), goal=goal)).steps
    assert [step.trial for step in steps] == [0, 1, 3, 4]
    assert [step.best for step in steps] == best


def test_difference_to_the_default() -> None:
    config: Config = {"a": True, "lr": 2, "c": "x"}
    run = history(record(0, 1.0, config=config), default={"a": True, "lr": 2.0, "c": "y", "u": 0.5})
    rows = {row.parameter: row for row in summarize(run).settings}
    assert [name for name, row in rows.items() if row.differs] == ["c", "u"]  # 2 and 2.0 are the same level
    assert not rows["u"].is_active
    assert rows["u"].is_in_default
    assert all(row.differs for row in summarize(replace(run, default=None)).settings)


def test_features_have_the_sign_of_the_goal() -> None:
    one = stage(SPACE, TERMS, stability=(1.0, 0.9, 0.8, 0.7, 0.6))
    low = summarize(history(stages=(one,))).stages[0]
    high = summarize(history(stages=(one,), goal="maximize")).stages[0]
    assert [f.name for f in low.features] == ["a", "lr.1 * lr.2", "c~2", "a * c~1", "a * lr.1 * u"]
    assert [f.weight for f in low.features] == [-6, 4, 2, 2, 2]
    assert [f.weight for f in high.features] == [6, -4, -2, -2, -2]
    assert [64 * f.share for f in low.features] == pytest.approx([36, 16, 4, 4, 4])
    assert [f.stability for f in low.features] == [1.0, 0.9, 0.8, 0.7, 0.6]
    assert low.before == Spread(8, 5.0, (1, 2, 4, 8, 16))
    assert high.before == Spread(8, -5.0, (-16, -8, -4, -2, -1))


def test_after_a_stage_come_the_samples_of_the_next_or_what_followed() -> None:
    stages = stage(SPACE, TERMS), stage(SPACE, TERMS, 2)
    records = [record(0, 9.0, "default"), record(1, 4.0), record(2, 3.0, "stage 2"), record(3, 5.0, "stage 2")]
    first, second = summarize(history(*records, stages=stages)).stages
    assert (first.after_name, first.after) == ("stage 2", Spread(2, 4.0, (3, 3.5, 4, 4.5, 5)))
    assert (second.after_name, second.after) == ("", None)
    followed = summarize(history(*records, record(4, 1.0, "local search"), stages=stages)).stages[1]
    assert (followed.after_name, followed.after) == ("local search", Spread(1, 1.0, (1,) * 5))


def test_what_followed_at_another_budget_is_no_comparison() -> None:
    records = [
        record(0, 4.0, budget=1.0),
        record(1, 3.0, "budget 9", budget=9.0),
        record(2, 2.0, "budget 1", budget=1.0),
    ]
    (only,) = summarize(history(*records, stages=(stage(SPACE, TERMS),))).stages
    assert only.after_name == "budget 1"


def test_a_stage_learned_elsewhere_has_no_values_to_compare() -> None:
    (only,) = summarize(history(record(0, 1.0, "random search"), stages=(stage(SPACE, TERMS),))).stages
    assert only.is_given
    assert only.after is None


def test_what_was_fixed_is_said_by_the_stage_that_did_it() -> None:
    space = Space({"a": boolean(), "a b": boolean(), "c": choice(["x", "y", "z"]), "u": real(0, 1)})
    first = stage(space, {(0,): 1.0}, fixed=("a = True", "u from 0 to 0.125"))
    second = stage(space, {(1,): 1.0}, 2, fixed=("a = True", "a b = False", "c in ['x', 'y']", "u from 0 to 0.125"))
    run = History(space, (record(0, 1.0, config={"a": True, "a b": False, "c": "x", "u": 0.1}),), (first, second))
    fixed = [(f.stage, f.parameter, f.kind, f.left) for s in summarize(run).stages for f in s.fixed]
    assert fixed == [
        (1, "a", "fixed", "= True"),
        (1, "u", "narrowed", "from 0 to 0.125"),
        (2, "a b", "fixed", "= False"),
        (2, "c", "narrowed", "in ['x', 'y']"),
    ]
    decided = {row.parameter: row.decided and row.decided.stage for row in summarize(run).settings}
    assert decided == {"a": 1, "a b": 2, "c": 2, "u": 1}


def test_importance_is_that_of_parameters_not_of_columns() -> None:
    rows = importance_of(history(stages=(stage(SPACE, TERMS),)))
    assert [row.parameter for row in rows] == ["a", "lr", "c", "u"]
    # both bits of lr are its own: their product is no interaction
    assert [64 * row.first for row in rows] == pytest.approx([36, 16, 4, 0])
    assert [64 * row.total for row in rows] == pytest.approx([44, 20, 8, 4])


def test_pairs_count_where_they_matter_most() -> None:
    weak = stage(SPACE, {(0,): 3.0, (0, 3): 1.0}, 2)  # a and c: 1/10, more than 4/64 in stage 1
    pairs = pairs_of(history(stages=(stage(SPACE, TERMS), weak)))
    together = [pair for pair in pairs if pair.is_pair]
    assert [(p.one, p.other, p.stage) for p in together] == [
        ("a", "c", 2),
        ("a", "lr", 1),
        ("a", "u", 1),
        ("lr", "u", 1),
    ]
    assert [64 * p.share for p in together] == pytest.approx([6.4, 4, 4, 4])
    assert (pairs[0].one, pairs[0].other, pairs[0].stage) == ("a", "a", 2)
    assert not pairs[0].is_pair


def test_a_stage_that_fixed_nothing_does_not_count_beside_one_that_did() -> None:
    strong, fixing = stage(SPACE, TERMS), replace(stage(SPACE, TERMS), number=2, minimizers=(({0: 1.0}, 0.0),))
    assert {pair.stage for pair in pairs_of(history(stages=(strong, fixing)))} == {2}
    assert {pair.stage for pair in pairs_of(history(stages=(strong,)))} == {1}


def test_failures_are_one_group_but_for_their_numbers() -> None:
    reasons = [
        "ValueError: x=1.5e-3",
        "killed by signal 9",
        "ValueError: x=27",
        "killed by signal 9",
        "ValueError: x=0",
    ]
    records = [record(i, None, reason=reason, detail=f"detail {i}") for i, reason in enumerate(reasons)]
    groups = failures_of(history(*records, record(5, 1.0), record(6, None)))
    assert [(g.reason, g.n, g.example, g.detail) for g in groups] == [
        ("ValueError: x=1.5e-3", 3, 0, "detail 0"),
        ("killed by signal 9", 2, 1, "detail 1"),
        ("no reason given", 1, 6, ""),
    ]


def test_combinations_that_crash_come_with_their_counts() -> None:
    one = stage(SPACE, TERMS, crashes=({"a": True, "lr": [1, 2]},))
    configs = [{"a": True, "lr": 1}, {"a": True, "lr": 2}, {"a": True, "lr": 3}, {"a": False, "lr": 1}]
    records = [record(i, None if i == 0 else 1.0, config=config) for i, config in enumerate(configs)]  # type: ignore[arg-type]
    (crash,) = crashes_of(history(*records, stages=(one,)))
    assert (crash.combination, crash.n, crash.n_failed) == ("a = True and lr in [1, 2]", 2, 1)


def test_how_sure_a_stage_is() -> None:
    assert sureness(stage(SPACE, TERMS)) == "high"
    assert sureness(stage(SPACE, TERMS, r2=0.6)) == "medium"
    assert sureness(stage(SPACE, TERMS, r2=-0.2)) == "low"
    assert sureness(stage(SPACE, TERMS, stability=(0.6,) * 5)) == "medium"
    assert sureness(stage(SPACE, TERMS, stability=(1.0, 1.0, 0.0, 0.0, 0.0))) == "high"  # weighed by share: 52 of 64
    assert sureness(stage(SPACE, TERMS, gap=0.5)) == "low"
    assert sureness(stage(SPACE, TERMS, verdict="not sparse at this sample size")) == "low"
    assert sureness(stage(SPACE, {(): 1.0}, verdict="no signal")) == "nothing found"


def test_warnings_are_passed_on() -> None:
    run = history(stages=(stage(SPACE, TERMS), stage(SPACE, TERMS, 2, warning="a and c stand for one another")))
    assert "There are warnings: stage 2." in dict(verdict(summarize(run)))["How sure"]
    assert "warning: a and c stand for one another" in report.text(run)
    assert "a and c stand for one another" in report.page(run, refresh=1.0)
    assert report.tables(run)["stages"][1]["warning"]


def test_the_verdict_says_what_was_gained() -> None:
    def result(run: History) -> str:
        return dict(verdict(summarize(run)))["Result"]

    assert result(history()) == "Nothing has come back yet."
    assert result(history(record(0, None))) == "All 1 trial failed, so there is no best configuration."
    default = record(0, 8.0, "default")
    better = history(default, record(1, 6.0), default={})
    assert result(better) == "The best value is 6 (trial 1), 25% lower than the default's 8."
    assert result(replace(better, goal="maximize")) == "Nothing better than the default's 8 was found."
    assert "higher" in result(history(default, record(1, 9.0), default={}, goal="maximize"))
    assert "no value of the default" in result(history(record(0, None, "default"), record(1, 6.0), default={}))
    assert "10 lower" in result(history(record(0, 0.0, "default"), record(1, -10.0), default={}))


def test_the_planted_network_is_explained() -> None:
    for goal, sign in (("minimize", -1), ("maximize", 1)):
        summary = summarize(tuned(goal))
        first = summary.stages[0]
        assert first.features[0].name == "batch_norm"
        assert sign * first.features[0].weight > 7
        assert summary.headline[0].parameter == "batch_norm"
        assert first.before
        assert first.after
        assert sign * first.after.mean > sign * first.before.mean
        assert [crash.combination for crash in summary.crashes] == ["optnet = True and share_gradInput = True"]


def test_tables_are_ready_for_data_frames() -> None:
    tables = report.tables(tuned())
    names = "summary best trials stages features fixed importance interactions parts failures crashes"
    assert list(tables) == names.split()
    frames = {name: pd.DataFrame(rows) for name, rows in tables.items()}
    assert len(frames["trials"]) == len(tuned().records)
    assert frames["trials"]["config.batch_norm"].notna().all()
    assert frames["trials"]["best_so_far"].dropna().is_monotonic_decreasing
    plain = (str, int, float, bool, type(None))
    assert all(isinstance(value, plain) for rows in tables.values() for row in rows for value in row.values())


def test_empty_histories_have_empty_tables() -> None:
    tables = report.tables(history())
    assert {name: len(rows) for name, rows in tables.items() if rows} == {"summary": 1}
    assert report.tables(large(3, 5, 0))["stages"] == []
