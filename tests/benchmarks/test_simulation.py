"""The simulation against what can be said on paper, and the real optimizers in it."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import measure
from benchmarks.simulation import contestants, costs, quality, report, study
from benchmarks.simulation.contestants import CONTESTANTS, REMEDIES, Asha, Tpe
from benchmarks.simulation.events import Job, simulate
from benchmarks.simulation.limits import barrier_workers, coordinator_workers, expected_maximum, trial_seconds
from benchmarks.simulation.model import FREE, Costs, Drawn, Trials
from benchmarks.simulation.objective import Objective
from benchmarks.simulation.traces import Follower, Trace, record
from overtone.optimizers import Optimizer, SpectralDescent
from overtone.optimizers.trial import Trial

COSTS = Costs(ask=0.1, tell=0.2, dispatch=0.3, append=1.0, event=0.05, flight=0.01)


def independent(n: int, needs: int = 0) -> Trace:
    """n trials, all of which wait for the first `needs`."""
    waits = np.array([0] * needs + [needs] * (n - needs))
    return Trace(np.zeros(n), np.ones(n, dtype=bool), waits, np.ones(n), np.zeros(0))


# ---- the loop ----


def test_equal_trials_on_free_workers_take_what_they_must() -> None:
    drawn = Trials("equal").drawn(12, 0)
    for n_workers, rounds in ((1, 12), (4, 3), (5, 3), (12, 1), (100, 1)):
        run = simulate(Follower(independent(12)), drawn, n_workers, FREE, mean=60.0)
        assert run.seconds == pytest.approx(60 * rounds)
        assert run.use(n_workers) == pytest.approx(12 / (rounds * n_workers))
        assert sorted(run.ends) == list(range(12))


def test_a_barrier_waits_for_the_longest() -> None:
    drawn = Trials("lognormal").drawn(20, 3)
    first, second = drawn.seconds[:10, 0], drawn.seconds[10:, 0]
    run = simulate(Follower(independent(20, needs=10)), drawn, 50, FREE, mean=1.0)
    assert run.seconds == pytest.approx(first.max() + second.max())
    assert simulate(Follower(independent(20)), drawn, 50, FREE, mean=1.0).seconds == pytest.approx(
        max(first.max(), second.max())
    )


def test_the_coordinator_does_one_thing_at_a_time() -> None:
    run = simulate(Follower(independent(2)), Trials("equal").drawn(2, 0), 1, COSTS, mean=10.0)
    one = COSTS.ask + COSTS.dispatch + COSTS.tell + 2 * COSTS.written(1) + COSTS.flight
    assert run.working == pytest.approx(2 * one)
    assert run.seconds == pytest.approx(20 + run.working - 2 * COSTS.flight)  # it looks while the worker works


def test_a_fit_delays_what_it_proposes() -> None:
    drawn = Trials("equal").drawn(4, 0)
    run = simulate(Follower(independent(4, needs=2), fit_seconds=7.0), drawn, 2, FREE, mean=10.0)
    assert run.seconds == pytest.approx(27)
    assert simulate(Follower(independent(4, needs=2), 7.0, n_fits=0), drawn, 2, FREE, mean=10.0).seconds == 20


def test_a_crash_is_tried_again_and_a_hang_is_not() -> None:
    seconds = np.array([[1.0, 2.0], [4.0, 1.0], [1.0, 1.0]])
    crashes = np.array([[True, False], [False, False], [True, True]])
    hangs = np.array([[False, False], [True, False], [False, False]])
    drawn = Drawn(seconds, crashes, hangs)
    assert [drawn.failed(k) for k in range(3)] == [False, True, True]
    run = simulate(Follower(independent(3)), drawn, 3, FREE, mean=1.0)
    assert run.ends == {0: 3.0, 1: 4.0, 2: 2.0}
    assert run.busy == 1 + 2 + 4 + 1 + 1


# ---- durations ----


@pytest.mark.parametrize("name", ["equal", "lognormal", "Pareto"])
def test_durations_have_mean_one_and_are_the_same_again(name: str) -> None:
    drawn = Trials(name).drawn(400_000, 1)
    assert drawn.seconds.mean() == pytest.approx(1, rel=0.05)
    assert not drawn.crashes.any()
    assert not drawn.hangs.any()
    assert np.array_equal(Trials(name).drawn(10, 1).seconds, Trials(name).drawn(10, 1).seconds)


def test_failures_come_as_often_as_said() -> None:
    drawn = Trials("lognormal", crashes=0.05, hangs=0.01, limit=10.0).drawn(200_000, 0)
    assert drawn.crashes.mean() == pytest.approx(0.05, rel=0.05)
    assert drawn.hangs.mean() == pytest.approx(0.01 + 0.0025, rel=0.1)  # P(log x > 10) = 0.0025 are too long
    assert (drawn.seconds[drawn.hangs] == 10).all()
    assert drawn.seconds.max() == 10


@pytest.mark.parametrize("name", ["lognormal", "Pareto"])
def test_the_expected_maximum_is_that_of_draws(name: str) -> None:
    drawn = Trials(name).drawn(200_000, 5).seconds[:, 0].reshape(-1, 20).max(axis=1)
    assert expected_maximum(name, 20) == pytest.approx(drawn.mean(), rel=0.1)
    assert expected_maximum(name, 1) == pytest.approx(1, rel=1e-3)
    assert barrier_workers(name, 20) == 20 / expected_maximum(name, 20)


def test_limits_on_paper_are_those_of_the_simulation() -> None:
    """At half of the workers that a coordinator can feed, they work; at four times as many, it works all the time."""
    small = Costs(ask=0.01, tell=0.01, dispatch=0.01, append=0.0, event=0.005, flight=0.0)
    most = coordinator_workers(small, 1.0)
    assert most == pytest.approx(25)
    assert trial_seconds(small) == pytest.approx(0.04)
    drawn = Trials("lognormal").drawn(2000, 0)
    half, over = (simulate(Follower(independent(2000)), drawn, n, small, 1.0) for n in (12, 100))
    assert half.use(12) > 0.85
    assert over.working / over.seconds > 0.85
    assert over.use(100) < 0.3


# ---- real optimizers ----


class InAnyOrder:
    """The real optimizer as a plan of the simulation, driven live."""

    def __init__(self, optimizer: Optimizer, objective: Objective, drawn: Drawn, n: int) -> None:
        self.optimizer, self.objective, self.drawn, self.left = optimizer, objective, drawn, n
        self.trials: list[Trial] = []

    def ask(self, n: int) -> list[Job]:
        came = self.optimizer.ask(min(n, self.left)) if self.left else []
        self.left -= len(came)
        self.trials += came
        return [Job(trial.number) for trial in came]

    def tell(self, job: Job) -> None:
        trial = self.trials[job.number]
        failed = self.drawn.failed(job.number)
        self.optimizer.tell(trial, None if failed else self.objective.measure(trial)[1])


@pytest.mark.parametrize("name", ["automatic", "hill climbing", "rounds of 0.25, lag 0.75", "rounds of 1, lag 2"])
def test_a_trace_is_what_the_optimizer_does_with_any_number_of_workers(name: str) -> None:
    n, objective = 90, Objective(8, 1)
    drawn = Trials("lognormal", crashes=0.1, hangs=0.02, limit=8.0).drawn(n, 2)
    make = CONTESTANTS[name].make
    trace = record(make(objective.space, 4, n), objective.measure, drawn, n)
    for n_workers in (1, 7, 40):
        alive = InAnyOrder(make(objective.space, 4, n), objective, drawn, n)
        expected = simulate(alive, drawn, n_workers, FREE)
        followed = simulate(Follower(trace), drawn, n_workers, FREE)
        assert followed.ends == expected.ends
        assert np.array_equal(trace.values, [objective.measure(trial)[0] for trial in alive.trials])


def test_a_lag_lets_that_many_be_out() -> None:
    n, objective, drawn = 60, Objective(8, 1), Trials().drawn(60, 0)
    trace = record(SpectralDescent(objective.space, 4, n_evaluations=n, batch=4, lag=6), objective.measure, drawn, n)
    assert trace.needs.tolist() == [0] * 12 + [max(0, 12 + 4 * (k // 4) - 6) for k in range(48)]


def test_the_answer_is_the_exact_minimum() -> None:
    objective = Objective(20, 1)
    values = [objective.measure(Trial(k, {}, tuple(point)))[0] for k, point in enumerate(_points(2000))]
    assert objective.least < min(values)
    assert objective.least < objective.answer < 0


def _points(n: int) -> Any:
    return np.random.default_rng(0).choice([-1.0, 1.0], (n, 60)).tolist()


def test_asha_spends_what_it_may_and_promotes_the_best() -> None:
    objective, drawn = Objective(8, 1), Trials().drawn(400, 0)
    plan = Asha(objective, drawn, 40, 0)
    simulate(plan, drawn, 10, FREE)
    work = np.array(plan.work)
    assert 40 <= work.sum() < 41 + 1e-9
    assert (work == 1).sum() > 5
    assert np.mean(np.array(plan.values)[work == 1]) < np.mean(np.array(plan.values)[work < 0.2])


# ---- end to end, tiny ----


@pytest.mark.heavy
def test_tpe_is_driven() -> None:
    objective, drawn = Objective(8, 1), Trials("lognormal", crashes=0.5).drawn(20, 0)
    plan = Tpe(objective, drawn, 20, 0)
    assert len(simulate(plan, drawn, 3, FREE).ends) == len(plan.values) == 20


@pytest.mark.heavy
def test_simulation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(study, "costs", lambda: COSTS)
    monkeypatch.setattr(study, "fit_seconds", lambda *_: 0.5)
    monkeypatch.setitem(study.SPARSITY, 60, 6)
    monkeypatch.setattr(measure, "RESULTS", tmp_path)
    case = study.Case(60, ("random search", "successive halving", "ASHA"), ("lognormal", "lognormal, failures"), 2)
    rows = study.summarized(list(study.outcomes(case)))
    assert {row["seeds"] for row in rows} == {2}
    assert all(0 < row["use"] <= 1 and 0 < row["coordinator"] <= 1 for row in rows)
    halving = report.chosen(rows, what="successive halving", scenario="lognormal", workers=1)
    assert 55 < halving[0]["seconds"][1] < 120  # 60 full evaluations
    assert "random search" in report.by_workers(rows, ["random search"])
    report.draw(rows, tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 10_000
    quality.main(1, ("rounds of 1, lag 1",))
    assert "| rounds of 1, lag 1 |" in capsys.readouterr().out


def test_what_half_of_the_runs_do_not_reach_has_no_median() -> None:
    assert study.quartiles([1.0, 2.0, math.inf, math.inf, math.inf]) == [2.0, None, None]


@pytest.mark.heavy
def test_costs_are_measured() -> None:
    assert costs.asked_and_told(8, 50)["ask_ms"] > 0
    assert costs.waited(20)["cpu_ms"] >= 0
    assert costs.learned(10, 60)["cpu_s"] > 0
    assert {row["ledger"] for row in costs.ledger_rows()} >= {"SQLite"}


def test_remedies_are_in_rounds_of_the_usual_size() -> None:
    assert contestants.round_size(500) == 25
    made = REMEDIES["rounds of 0.25, lag 0.75"].make(Objective(8, 1).space, 0, 500)
    assert isinstance(made, SpectralDescent)
    assert (made.batch, made.lag) == (6, 19)
