import math
from collections.abc import Callable

import numpy as np

from overtone.optimizers import LocalSearch, Trial
from overtone.space import Space, boolean, choice, real
from tests.optimizers.driving import asked, booleans, drive, inside, lowest, mixed, score, signs, told

WEIGHTS = np.arange(1.0, 11.0) * (-1.0) ** np.arange(10)


def linear(trial: Trial) -> float:
    return float(WEIGHTS @ signs(trial.config))


def run_batch(optimizer: LocalSearch, objective: Callable[[Trial], float | None]) -> list[Trial]:
    batch = optimizer.ask(10_000)
    for trial in batch:
        optimizer.tell(trial, objective(trial))
    return batch


def test_a_linear_function_takes_three_batches() -> None:
    """A start, its neighbors, and what was better together: all wrong bits are among it."""
    for seed in range(5):
        optimizer = LocalSearch(booleans(10), seed, n_evaluations=1000)
        (start,) = run_batch(optimizer, linear)
        wrong = int((signs(start.config) * WEIGHTS > 0).sum())
        assert len(run_batch(optimizer, linear)) == 10
        joined = run_batch(optimizer, linear)
        assert min(map(linear, joined)) == -55.0
        assert [changes(start, trial) for trial in joined] == sorted(
            {n for n in (2, 3, 4, 6, 8) if n < wrong} | {wrong}
        )


def test_it_descends_a_linear_function_whatever_the_workers() -> None:
    for seed in range(5):
        events = drive(LocalSearch(booleans(10), seed, n_evaluations=40), linear, workers=4)
        assert lowest(events) == -55.0


def test_changes_that_spoil_one_another_are_not_kept() -> None:
    """Of two switches each is better on, but both are as bad as none: one of them stays off."""

    def either(trial: Trial) -> float:
        return 100.0 * (trial.config["x0"] == trial.config["x1"]) - float(signs(trial.config).sum())

    for seed in range(5):
        assert lowest(drive(LocalSearch(booleans(10), seed, n_evaluations=120), either)) == -8.0


def changes(start: Trial, trial: Trial) -> int:
    return sum(start.config[name] != value for name, value in trial.config.items())


def test_forbidden_combinations_are_not_joined() -> None:
    """Of six switches that are better on, two may not be on together."""
    space = Space({f"x{i}": boolean() for i in range(6)}, forbid=[{"x0": True, "x1": True}])
    for seed in range(5):
        trials = asked(
            drive(LocalSearch(space, seed, n_evaluations=40), lambda trial: -float(signs(trial.config).sum()))
        )
        assert all(space.allows(trial.config) for trial in trials)
        assert max(float(signs(trial.config).sum()) for trial in trials) == 4.0


def test_a_parameter_is_changed_once() -> None:
    """Three of four levels are better than the first: the best of them is joined with the switches, not all."""
    space = Space({"mode": choice(["a", "b", "c", "d"]), **{f"x{i}": boolean() for i in range(4)}})

    def cost(trial: Trial) -> float:
        return {"a": 9.0, "b": 3.0, "c": 1.0, "d": 2.0}[str(trial.config["mode"])] - sum(
            bool(trial.config[f"x{i}"]) for i in range(4)
        )

    for seed in range(5):
        assert lowest(drive(LocalSearch(space, seed, n_evaluations=25), cost)) == -3.0


def test_neighbors_are_one_batch_and_differ_in_one_parameter() -> None:
    optimizer = LocalSearch(mixed(), 1)
    (start,) = optimizer.ask(100)
    assert optimizer.ask(100) == []
    optimizer.tell(start, score(start))
    batch = optimizer.ask(100)
    assert len(batch) > 10
    active = {"flag", "drop"}  # switching one switches the other on or off
    for trial in batch:
        names = {name for name in trial.config | start.config if trial.config.get(name) != start.config.get(name)}
        assert len(names) == 1 or names <= active


def test_it_starts_afresh_at_a_local_minimum() -> None:
    """All off and all on are minima of (sum of signs)^2 less a little; only starts near the better one find it."""

    def two_valleys(trial: Trial) -> float:
        total = float(signs(trial.config).sum())
        return -(total**2) - total

    best = {lowest(drive(LocalSearch(booleans(12), seed, n_evaluations=600), two_valleys)) for seed in range(5)}
    assert best == {-156.0}


def test_a_failed_start_is_followed_by_another() -> None:
    events = drive(
        LocalSearch(booleans(10), n_evaluations=200), lambda trial: None if trial.number < 3 else linear(trial)
    )
    assert min(value for _, value in told(events) if value is not None) == -55.0


def test_failed_neighbors_are_passed_by() -> None:
    """Crashes where the first two agree: a descent that goes around."""
    events = drive(
        LocalSearch(booleans(10), n_evaluations=300),
        lambda trial: None if trial.config["x0"] and trial.config["x1"] else linear(trial),
    )
    assert min(value for _, value in told(events) if value is not None) == -55.0


def test_continuous_parameters_are_moved() -> None:
    space = Space({"u": real(-1, 1), "v": real(1, 100, log=True)})

    def bowl(trial: Trial) -> float:
        u, v = (float(str(trial.config[name])) for name in ("u", "v"))
        return (u - 0.3) ** 2 + math.log10(v / 10) ** 2

    assert lowest(drive(LocalSearch(space, n_evaluations=200), bowl)) < 0.01


def test_restricted_spaces_are_not_left() -> None:
    several = booleans(6).restrict([{0: 1.0, 1: -1.0}, {0: -1.0, 1: 1.0}]).restrict([{2: 1.0}])
    narrowed = mixed().restrict([{0: -1.0, 6: (0.0, 0.25)}])
    for space in (several, narrowed):
        trials = asked(drive(LocalSearch(space, n_evaluations=80), score))
        assert len(trials) > 10
        assert all(inside(space, trial.point) for trial in trials)
