import math

import numpy as np

from overtone.optimizers import LocalSearch, Trial
from overtone.space import Space, real
from tests.optimizers.driving import asked, booleans, drive, inside, lowest, mixed, score, signs, told

WEIGHTS = np.arange(1.0, 11.0) * (-1.0) ** np.arange(10)


def linear(trial: Trial) -> float:
    return float(WEIGHTS @ signs(trial.config))


def test_it_descends_a_linear_function() -> None:
    """Best improvement flips one wrong bit a round: at most 10 rounds of at most 10 neighbors."""
    for seed in range(5):
        events = drive(LocalSearch(booleans(10), seed, n_evaluations=101), linear, workers=4)
        assert lowest(events) == -55.0


def test_every_round_improves_by_the_best_change() -> None:
    optimizer = LocalSearch(booleans(10), n_evaluations=1000)
    (start,) = optimizer.ask(100)
    wrong = int((signs(start.config) * WEIGHTS > 0).sum())
    optimizer.tell(start, linear(start))
    for _ in range(wrong):
        batch = optimizer.ask(100)
        for trial in batch:
            optimizer.tell(trial, linear(trial))
    best = min(linear(trial) for trial in batch)
    assert best == -55.0


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
