"""The promises that only Harmonica makes; what the paper shows is in test_paper."""

import json
from functools import cache, partial
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from overtone.errors import InputError
from overtone.optimizers import Harmonica, Hyperband, LocalSearch, Optimizer, RandomSearch, Stage, Trial
from overtone.optimizers.harmonica import automatic_samples
from overtone.space import Config, Space, boolean
from tests.optimizers.driving import asked, booleans, drive, mixed, score, signs, told

quick = partial(RandomSearch, n_evaluations=20)


def polynomial_of(terms: dict[tuple[int, ...], float]) -> Any:
    return lambda trial: sum(a * float(signs(trial.config)[list(s)].prod()) for s, a in terms.items())


# ---- settings ----


def test_automatic_settings() -> None:
    assert automatic_samples(booleans(3)) == 50
    assert automatic_samples(booleans(60)) == 164
    optimizer = Harmonica(booleans(60))
    assert (optimizer.n_stages, optimizer.n_samples) == (3, 164)


def test_no_stages_is_the_base_alone() -> None:
    events = drive(Harmonica(mixed(), 3, n_stages=0, base=quick))
    assert asked(events) == asked(drive(quick(mixed(), 3)))


@pytest.mark.parametrize(
    "bad",
    [
        {"n_stages": -1},
        {"n_stages": 1.5},
        {"n_samples": 0},
        {"sparsity": 0},
        {"degree": 0},
        {"n_minimizers": 0},
        {"l1_penalty": -1.0},
        {"seed": -1},
    ],
)
def test_bad_settings_are_refused_before_any_trial(bad: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=next(iter(bad))):
        Harmonica(booleans(5), **bad)


def test_budgets_of_stages_and_base() -> None:
    optimizer = Harmonica(booleans(20), n_stages=1, n_samples=40, budget=2.0, base=partial(Hyperband, max_budget=3.0))
    trials = asked(drive(optimizer, lambda trial: float(signs(trial.config)[:3] @ [3.0, 2.0, 1.0])))
    assert [trial.budget for trial in trials] == [2.0] * 40 + [1.0] * 3 + [3.0] + [3.0] * 2
    assert {trial.stage for trial in trials[:40]} == {"stage 1"}
    free = [trial.point[3:] for trial in trials[40:43]]
    assert not {trial.point[3:] for trial in trials[:40]} & set(free)  # other random numbers than the stages


def test_values_compare_only_within_the_largest_budget() -> None:
    """A low value at a low budget is no record; without a budget a trial is a full one."""
    base = partial(Hyperband, max_budget=9.0)
    optimizer = Harmonica(booleans(20), n_stages=1, n_samples=40, budget=3.0, base=base)
    events = drive(optimizer, lambda trial: float(signs(trial.config)[:3].sum()) + 10 * (trial.budget or 0))
    full = [(value, trial.number) for trial, value in told(events) if trial.budget == 9.0]
    assert optimizer.best is not None
    assert (optimizer.best[1], optimizer.best[0].number) == min(full)
    assert optimizer.best[1] > min(value for _, value in told(events))

    optimizer = Harmonica(booleans(20), n_stages=1, n_samples=40, base=base)
    drive(optimizer, lambda trial: 1.0 if trial.budget is None else 0.5 if trial.budget == 9.0 else -1.0)
    assert optimizer.best is not None
    assert (optimizer.best[0].budget, optimizer.best[1]) == (9.0, 0.5)


# ---- stages ----


def test_it_stops_when_a_stage_finds_nothing() -> None:
    rng = np.random.default_rng(0)
    optimizer = Harmonica(booleans(12), n_stages=5, n_samples=60, base=quick)
    events = drive(optimizer, lambda trial: 5.0 * bool(trial.config["x1"]) + float(rng.normal()))
    assert [stage.restricts for stage in optimizer.stages] == [True, False]
    assert len(asked(events)) == 60 + 60 + 20
    assert optimizer.restricted.describe() == ["x1 = False"]
    assert all(not trial.config["x1"] for trial in asked(events)[60:])


def test_crashes_are_avoided_from_then_on() -> None:
    def objective(trial: Trial) -> float | None:
        return None if trial.config["x0"] and trial.config["x1"] else float(signs(trial.config)[:4] @ [-3, -2, 1, 1])

    optimizer = Harmonica(booleans(20), n_samples=100, base=quick)
    events = drive(optimizer, objective, workers=5)
    assert optimizer.stages[0].crashes == ({"x0": True, "x1": True},)
    assert all(value is not None for trial, value in told(events) if trial.number >= 100)
    assert optimizer.best is not None
    assert optimizer.best[1] == -3.0


def test_the_best_is_never_lost() -> None:
    """One trial of the first stage is better than whatever the model leads to."""
    optimizer = Harmonica(booleans(15), n_stages=2, n_samples=60, base=quick)
    drive(optimizer, lambda trial: -50.0 if trial.number == 33 else float(signs(trial.config)[0]))
    assert optimizer.best is not None
    assert (optimizer.best[0].number, optimizer.best[1]) == (33, -50.0)


@cache
def small() -> list[Stage]:
    """Stages learned on a cheap objective, as they come back from a file."""
    optimizer = Harmonica(booleans(30), n_stages=2, n_samples=80, base=quick)
    drive(optimizer, polynomial_of({(0,): 2.0, (4, 9): 1.0}))
    return [Stage.from_dict(json.loads(json.dumps(stage.to_dict()))) for stage in optimizer.stages]


def test_stages_are_applied_to_another_objective() -> None:
    """The big one has another scale; parameters of the same names, and a clause of its own."""
    big = Space({f"x{i}": boolean() for i in range(30)}, [{"x20": True, "x21": True}])
    optimizer = Harmonica(big, n_stages=0, stages=small(), base=quick)
    trials = asked(drive(optimizer, polynomial_of({(0,): 2000.0, (4, 9): 1500.0, (11,): 1.0})))
    assert len(trials) == 20
    for trial in trials:
        assert not trial.config["x0"]
        assert trial.config["x4"] != trial.config["x9"]
        assert big.allows(trial.config)


def test_more_stages_may_follow_those_that_were_given() -> None:
    optimizer = Harmonica(booleans(30), n_stages=1, n_samples=80, stages=small(), base=quick)
    trials = asked(drive(optimizer, polynomial_of({(0,): 0.02, (4, 9): 0.02, (11,): 0.01})))
    assert [stage.number for stage in optimizer.stages] == [1, 2, 3]
    assert {trial.stage for trial in trials} == {"stage 3", "random search"}
    assert [m for m, _ in optimizer.stages[-1].polynomial] == [(11,)]
    assert not any(trial.config["x0"] or trial.config["x11"] for trial in trials[80:])


def test_stages_of_other_parameters_are_refused() -> None:
    with pytest.raises(InputError, match="same parameters"):
        Harmonica(booleans(29), stages=small())


def test_any_history_dependent_optimizer_may_be_a_base() -> None:
    """One that keeps to the protocol only, and is told what it asked for."""

    class Counting:
        def __init__(self, space: Space, seed: int) -> None:
            self.inner: Optimizer = LocalSearch(space, seed, n_evaluations=15)
            self.history: list[tuple[Config, float | None]] = []

        def ask(self, n: int = 1) -> list[Trial]:
            return self.inner.ask(n)

        def tell(self, trial: Trial, value: float | None) -> None:
            self.history.append((trial.config, value))
            self.inner.tell(trial, value)

        @property
        def done(self) -> bool:
            return self.inner.done

    made: list[Counting] = []

    def base(space: Space, seed: int) -> Counting:
        made.append(Counting(space, seed))
        return made[-1]

    events = drive(Harmonica(booleans(10), n_stages=1, n_samples=30, degree=2, base=base))
    assert [(trial.config, value) for trial, value in told(events)[30:]] == made[0].history


def test_threads_change_nothing() -> None:
    stages = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            optimizer = Harmonica(mixed(), n_stages=2, n_samples=60, base=quick)
            drive(optimizer, score)
            stages.append(optimizer.stages)
    assert stages[0] == stages[1]
