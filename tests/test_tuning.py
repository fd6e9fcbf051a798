"""`minimize` as a user calls it."""

import json
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import overtone as ot
from overtone.errors import InputError, RunFailed
from overtone.optimizers.trial import Base
from overtone.running.journal import read_history
from overtone.running.ledger import MemoryLedger, read_ledger
from overtone.tuning import Recipe, described

SPACE = ot.Space(
    {**{f"x{i}": ot.boolean() for i in range(12)}, "lr": ot.real(1e-3, 1.0, levels=8, log=True), "u": ot.real(0, 1)}
)
run = partial(ot.minimize, progress=False)


def score(config: dict[str, Any]) -> float:
    """Lowest at x3 off and x5 = x7."""
    return float(3.0 * config["x3"] - 2.0 * (config["x5"] == config["x7"]) + 0.1 * config["lr"])


def test_it_finds_the_best_and_says_what_matters() -> None:
    result = run(score, SPACE, n_workers=1, n_evaluations=300)
    assert result.best.value == pytest.approx(-2.0, abs=0.01)
    assert result.best.config["x3"] is False
    assert result.best.config["x5"] == result.best.config["x7"]
    assert str(result.stages[0]).startswith("0.5") and "x5*x7" in str(result.stages[0])
    assert len(result.trials) == 300
    assert result.stopped == "evaluations used up"
    assert "x3" in result.report()


def test_the_same_answer_for_any_number_of_workers() -> None:
    few, many = (run(score, SPACE, n_workers=n, n_evaluations=120, seed=3) for n in (1, 3))
    assert [r.trial for r in few.trials] == [r.trial for r in many.trials]
    assert [r.outcome.value for r in few.trials] == [r.outcome.value for r in many.trials]
    assert few.stages == many.stages
    assert few.best == many.best


def test_closures_work_in_processes() -> None:
    offset = 5.0
    result = run(lambda config: score(config) + offset, SPACE, n_workers=2, n_evaluations=10)
    assert result.best.value >= 3.0


def test_a_ledger_goes_on_where_it_stopped(tmp_path: Path) -> None:
    calls = []

    def counted(config: dict[str, Any]) -> float:
        calls.append(config)
        return score(config)

    ledger = tmp_path / "tune.db"
    run(counted, SPACE, n_workers=1, n_evaluations=100, ledger=ledger)
    longer = run(counted, SPACE, n_workers=1, n_evaluations=150, ledger=str(ledger))
    assert len(calls) == len(longer.trials) == 150
    again = run(counted, SPACE, n_workers=1, n_evaluations=150, ledger=ledger)
    assert len(calls) == 150
    assert again.history.records == longer.history.records


def test_more_evaluations_go_on_with_the_recipe_of_the_start() -> None:
    ledger = MemoryLedger()
    first = run(score, SPACE, n_workers=1, n_evaluations=100, ledger=ledger)
    assert first.history.settings["recipe"] == {"n_evaluations": 100}
    second = run(score, SPACE, n_workers=1, n_evaluations=400, ledger=ledger)
    assert second.stages == first.stages
    assert second.trials[:100] == first.trials


def test_a_run_of_before_spectral_descent_goes_on_as_it_began() -> None:
    ledger = MemoryLedger()
    old = Recipe.automatic(SPACE, 100)
    run(score, SPACE, n_workers=1, n_evaluations=90, ledger=ledger, optimizer=old.optimizer())
    start, *events = ledger.read()
    begun = MemoryLedger()
    begun.append({**start, "settings": {**start["settings"], "recipe": asdict(old)}}, *events)
    longer = run(score, SPACE, n_workers=1, n_evaluations=100, ledger=begun)
    assert len(longer.trials) == 100
    assert {record.trial.stage for record in longer.trials} == {"stage 1", "local search"}


def test_more_workers_than_a_round_is_said(caplog: pytest.LogCaptureFixture) -> None:
    run(score, SPACE, n_workers=2, n_evaluations=200, executor=ThreadPoolExecutor(2))
    assert not caplog.messages
    run(score, SPACE, n_workers=3, n_evaluations=40, executor=ThreadPoolExecutor(3))
    assert [message.partition(":")[0] for message in caplog.messages] == [
        "3 workers, but Automatic asks for 2 trials at a time"
    ]


def test_with_noise_the_best_is_judged_by_more_than_one_value(tmp_path: Path) -> None:
    def noisy(config: dict[str, Any]) -> float:
        return score(config) + 3 * float(np.random.default_rng(next(numbers)).standard_normal())

    numbers = count(1000)
    result = run(noisy, SPACE, n_workers=1, n_evaluations=150, ledger=tmp_path / "noisy.db")
    assert result.history.judged == result.best.number
    assert result.best.value > min(r.outcome.value for r in result.trials if r.outcome.value is not None)
    read = read_history(read_ledger(tmp_path / "noisy.db"))
    assert read.best == result.history.best
    longer = run(noisy, SPACE, n_workers=1, n_evaluations=151, ledger=tmp_path / "noisy.db")
    assert longer.history.judged is not None


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"seed": 1}, "seed: was 0, is 1"),
        ({"optimizer": ot.RandomSearch}, "optimizer: was"),
        ({"goal": "maximize"}, 'goal: was "minimize", is "maximize"'),
    ],
)
def test_other_settings_are_refused_with_the_difference(change: dict[str, Any], words: str) -> None:
    ledger = MemoryLedger()
    run(score, SPACE, n_workers=1, n_evaluations=5, ledger=ledger)
    with pytest.raises(InputError, match=words):
        run(score, SPACE, **{"n_workers": 1, "n_evaluations": 5, "ledger": ledger, **change})


def test_the_default_is_evaluated_first_and_compared_with() -> None:
    default = {**{f"x{i}": True for i in range(12)}, "lr": 1.0, "u": 0.5}
    result = run(score, SPACE, n_workers=1, n_evaluations=20, default=default)
    assert (result.trials[0].trial.config, result.trials[0].trial.stage) == (default, "default")
    assert result.history.default == default
    assert len(result.trials) == 20


@pytest.mark.parametrize(
    "optimizer",
    [
        partial(ot.Hyperband, max_budget=9.0),
        partial(ot.SuccessiveHalving, n_configurations=9, max_budget=9.0),
        partial(ot.Harmonica, n_samples=20, n_stages=1, budget=1.0, base=partial(ot.Hyperband, max_budget=9.0)),
        partial(ot.RandomSearch, n_evaluations=5, budget=9.0),
    ],
)
def test_the_default_is_judged_at_the_full_budget(optimizer: Base) -> None:
    default = {**{f"x{i}": True for i in range(12)}, "lr": 1.0, "u": 0.5}
    result = run(
        lambda config, budget: score(config) + 1 / budget, SPACE, n_workers=1, optimizer=optimizer, default=default
    )
    assert result.trials[0].trial.budget == 9.0
    assert result.best.value < (result.trials[0].outcome.value or 0.0)


def test_no_budget_is_the_full_one() -> None:
    """Stages without a budget, then Hyperband: its low rungs never count, its full one does, also for the target."""
    optimizer = partial(ot.Harmonica, n_samples=20, n_stages=1, base=partial(ot.Hyperband, max_budget=9.0))

    def value(config: dict[str, Any], budget: float | None) -> float:
        return score(config) + (0.0 if budget is None else -10.0 if budget == 9.0 else -100.0)

    result = run(value, SPACE, n_workers=1, optimizer=optimizer)
    assert -20 < result.best.value < -5
    stopped = run(value, SPACE, n_workers=1, optimizer=optimizer, target=-5.0)
    assert stopped.stopped == "target reached"
    assert stopped.trials[-1].trial.budget == 9.0


def test_maximize() -> None:
    result = run(score, SPACE, n_workers=1, n_evaluations=150, goal="maximize")
    assert result.best.value == pytest.approx(3.1)


def test_any_executor_of_the_standard_library() -> None:
    with ThreadPoolExecutor(3) as executor:
        threads = run(score, SPACE, n_evaluations=40, executor=executor, n_workers=3)
    alone = run(score, SPACE, n_workers=1, n_evaluations=40)
    assert [r.trial for r in threads.trials] == [r.trial for r in alone.trials]


def test_limits_are_for_our_own_workers() -> None:
    with ThreadPoolExecutor(1) as executor, pytest.raises(InputError, match="leave out one or the other"):
        run(score, SPACE, executor=executor, timeout=1.0)


def test_any_optimizer_with_its_budget() -> None:
    def trained(config: dict[str, Any], budget: float) -> float:
        return score(config) + 1 / budget

    result = run(trained, SPACE, n_workers=1, optimizer=partial(ot.Hyperband, max_budget=9.0))
    assert result.stopped == "done"
    assert {record.trial.budget for record in result.trials} == {1.0, 3.0, 9.0}
    full = [r.outcome.value for r in result.trials if r.trial.budget == 9.0]
    assert result.best.value == min(v for v in full if v is not None)


def test_a_crash_is_a_failed_trial() -> None:
    def fragile(config: dict[str, Any]) -> float:
        if config["x3"]:
            os._exit(3)
        return score(config)

    result = run(fragile, SPACE, n_workers=2, n_evaluations=12, retries=0)
    failed = [r for r in result.trials if r.outcome.value is None]
    assert failed and all(r.trial.config["x3"] for r in failed)
    assert all(not r.trial.config["x3"] for r in result.trials if r.outcome.value is not None)


def test_a_run_that_only_fails_stops_with_the_reason() -> None:
    def broken(config: dict[str, Any]) -> float:
        return float(config["no such column"])

    with pytest.raises(RunFailed, match="no such column"):
        run(broken, SPACE, n_workers=1)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"objective": 3}, "the objective must be a function"),
        ({"space": {"a": [1, 2]}}, "must be a Space"),
        ({"optimizer": ot.RandomSearch(SPACE)}, "write RandomSearch, or partial"),
        ({"executor": 4}, "must be an Executor"),
        ({"goal": "min"}, "'minimize' or 'maximize'"),
        ({"n_evaluations": 0}, "`n_evaluations` must be a whole number"),
        ({"timeout": -1}, "`timeout` must be"),
        ({"progress": "yes"}, "`progress` must be"),
        ({"ledger": 3}, "`ledger` must be a path or a Ledger"),
    ],
)
def test_what_cannot_be_is_refused(change: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        run(**{"objective": score, "space": SPACE, "n_workers": 1, "n_evaluations": 5, **change})


def test_a_target_ends_it() -> None:
    assert run(score, SPACE, n_workers=1, target=0.5).stopped == "target reached"


def test_the_report_is_a_page(tmp_path: Path) -> None:
    result = run(score, SPACE, n_workers=1, n_evaluations=60)
    with pytest.raises(InputError, match="must go to a folder that is there"):
        result.report(tmp_path / "missing" / "out.html")
    text = result.report(tmp_path / "out.html")
    page = (tmp_path / "out.html").read_text()
    assert "x3" in text and "<html" in page and "x3" in page
    assert json.loads(json.dumps(result.tables()))
    assert result.figures()


def test_what_is_in_the_ledger_is_plain(tmp_path: Path) -> None:
    run(score, SPACE, n_workers=1, n_evaluations=5, ledger=tmp_path / "a.db")
    kinds = [event["kind"] for event in read_ledger(tmp_path / "a.db")]
    assert kinds[0] == "start" and kinds[-1] == "end"
    assert kinds.count("ask") == kinds.count("tell") == 5


def test_the_automatic_recipe() -> None:
    T = ot.Harmonica(SPACE).n_samples
    assert Recipe.automatic(SPACE, None) == Recipe(T, 3)
    assert Recipe.automatic(SPACE, None).n_evaluations == 4 * T
    assert Recipe.automatic(SPACE, 40) == Recipe(30, 1)
    assert Recipe.automatic(SPACE, 4000) == Recipe(1000, 3)
    assert Recipe.automatic(SPACE, 1) == Recipe(1, 1)


def test_functions_are_described_without_addresses() -> None:
    assert described(partial(ot.Harmonica, n_samples=5, base=partial(ot.Hyperband, eta=2))) == (
        "Harmonica(n_samples=5, base=Hyperband(eta=2))"
    )
    assert described(score) == "score"
    assert " at 0x" not in described(lambda _: 0.0)
