"""Harmonica on the paper's own kinds of functions, and the promises that only it makes."""

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
from tests.optimizers.driving import asked, booleans, drive, lowest, mixed, score, signs, told

quick = partial(RandomSearch, n_evaluations=20)


def polynomial_of(terms: dict[tuple[int, ...], float]) -> Any:
    return lambda trial: sum(a * float(signs(trial.config)[list(s)].prod()) for s, a in terms.items())


TERMS = {(3,): 5.0, (10, 41): -4.0, (7, 20, 55): 3.0, (33,): -2.0, (12, 50): 1.5}


class Hierarchy:
    """h(x) of section 5.4 of the paper: 1, 32 and 32^2 sparse vectors; each picks the one of the next stage."""

    def __init__(self, n: int, seed: int) -> None:
        rng = np.random.default_rng([n, seed])
        self.vectors = [
            [(rng.uniform(10 + 10.0**-i, 10 + 10.0 ** (2 - i), 5), _features(n, rng)) for _ in range(32**i)]
            for i in range(3)
        ]

    def __call__(self, trial: Trial) -> float:
        x, total, j = signs(trial.config), 0.0, 0
        for vectors in self.vectors:
            weights, features = vectors[j]
            values = np.array([x[list(feature)].prod() for feature in features])
            total += float(weights @ values)
            j = 32 * j + int((values > 0) @ (2 ** np.arange(5)))
        return total

    @property
    def first(self) -> set[tuple[int, ...]]:
        """The features that all of h depends on."""
        return set(self.vectors[0][0][1])


def _features(n: int, rng: np.random.Generator) -> list[tuple[int, ...]]:
    found: list[tuple[int, ...]] = []
    while len(found) < 5:
        feature = tuple(sorted(rng.choice(n, int(rng.integers(1, 4)), replace=False).tolist()))
        found += [feature] if feature not in found else []
    return found


# ---- the paper's functions ----


def test_a_sparse_function_of_60_variables() -> None:
    """The authors' first kind of example: 100 samples find the minimum, -15.5."""
    optimizer = Harmonica(booleans(60), n_samples=100, n_stages=1, base=quick)
    events = drive(optimizer, polynomial_of(TERMS), workers=10)
    assert {m for m, _ in optimizer.stages[0].polynomial} == set(TERMS)
    assert optimizer.best is not None
    assert optimizer.best[1] == pytest.approx(-sum(map(abs, TERMS.values())))
    assert [value for _, value in told(events)[100:]] == pytest.approx([optimizer.best[1]] * 20)  # all that is left


def gain(n: int, seed: int, n_evaluations: int) -> float:
    """By how much Harmonica as in the paper (100 samples, 5 features, degree 3, 3 stages) beats random search."""
    h = Hierarchy(n, seed)
    base = partial(RandomSearch, n_evaluations=n_evaluations)
    optimizer = Harmonica(booleans(n), seed, n_samples=100, sparsity=5, degree=3, base=base)
    events = drive(optimizer, h, workers=10)
    found = {m for m, _ in optimizer.stages[0].polynomial}
    assert len(h.first & found) >= 3  # of 5: a weight of 11 beside one of 110 may not be seen yet
    means = [np.mean([value for trial, value in told(events) if trial.stage == f"stage {i}"]) for i in (1, 2)]
    assert means[1] < means[0] - 100  # the paper's "average test error drops"
    same = RandomSearch(booleans(n), seed, n_evaluations=len(asked(events)))
    return lowest(drive(same, h)) - lowest(events)


@pytest.mark.parametrize("n", [30, 60])
def test_the_hierarchical_function_of_the_paper(n: int) -> None:
    """On average, not every time: seed 0 of n = 30 loses by 1.8, where the second stage is "not sparse"."""
    assert np.mean([gain(n, seed, 20) for seed in range(3)]) > 10


@pytest.mark.heavy
@pytest.mark.parametrize("n", [30, 60])
def test_the_hierarchical_function_over_seeds(n: int) -> None:
    """Measured: mean gain 41 (n = 30, 10 of 10 better) and 43 (n = 60, 9 of 10 better, one the same)."""
    gains = [gain(n, seed, 100) for seed in range(10)]
    assert np.mean(gains) > 30
    assert sum(each <= 0 for each in gains) <= 1


def dummies_chosen(seed: int) -> int:
    """How many of 21 dummies among 60 variables the stages touch; 39 real ones, 6 features, noise of 10 %."""
    rng = np.random.default_rng(seed)
    real = rng.permutation(60)[:39]
    terms = {tuple(sorted(rng.choice(real, 1 + i % 3, replace=False).tolist())): 2.0 + i for i in range(6)}
    exact = polynomial_of(terms)
    optimizer = Harmonica(booleans(60), seed, base=partial(RandomSearch, n_evaluations=1))
    drive(optimizer, lambda trial: exact(trial) + float(rng.normal()), workers=10)
    assert optimizer.stages[0].restricts
    touched = {unit for stage in optimizer.stages for restriction, _ in stage.minimizers for unit in restriction}
    return len(touched - set(real.tolist()))


def test_dummies_are_never_chosen() -> None:
    assert [dummies_chosen(seed) for seed in range(2)] == [0] * 2


@pytest.mark.heavy
def test_dummies_are_never_chosen_over_seeds() -> None:
    assert [dummies_chosen(seed) for seed in range(2, 22)] == [0] * 20


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
