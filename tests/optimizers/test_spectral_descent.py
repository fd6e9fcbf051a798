"""Spectral descent: what it finds, what it repeats, and what it falls back to."""

from collections import Counter

import numpy as np
import pytest

from overtone.optimizers import LocalSearch, RandomSearch, Trial
from overtone.optimizers.proposals import Neighborhood
from overtone.optimizers.sampling import key
from overtone.optimizers.spectral_descent import SpectralDescent
from overtone.optimizers.surrogate import Samples, fit
from overtone.space import Space, boolean, choice, real
from tests.optimizers.driving import asked, booleans, drive, lowest, mixed, score, signs, told


def planted(trial: Trial) -> float:
    """Least at -9.5: x0 = -1, x1 x2 = -1, x3 x4 x5 = 1, x6 = 1, x7 x8 = 1."""
    x = signs(trial.config)
    return float(3 * x[0] + 2.5 * x[1] * x[2] - 2 * x[3] * x[4] * x[5] - x[6] - x[7] * x[8])


def linear(trial: Trial) -> float:
    x = signs(trial.config)
    return float(x @ np.sin(np.arange(1, len(x) + 1)))


# the fit


def samples_of(n: int, T: int, noise: float = 0.0) -> tuple[Samples, np.random.Generator]:
    rng = np.random.default_rng(3)
    x = rng.choice([-1.0, 1.0], (T, n))
    y = 2 * x[:, 1] - x[:, 2] * x[:, 7] + 1.5 * x[:, 0] * x[:, 4] * x[:, 9] + noise * rng.standard_normal(T)
    return Samples(x, np.arange(n), y, np.ones(T)), rng


def test_a_sparse_polynomial_is_found_to_the_letter() -> None:
    samples, rng = samples_of(30, 150)
    found = fit(samples)
    terms = {m: a for m, a in zip(found.monomials, found.coefficients.tolist(), strict=True) if abs(a) > 1e-9}
    assert terms == pytest.approx({(1,): 2.0, (2, 7): -1.0, (0, 4, 9): 1.5})  # what greed took besides is 0 now
    assert found.r2 == 1
    assert (found.draws(samples.columns, 3, rng) == found(samples.columns)).all()  # nothing is in doubt


def test_noise_is_not_named() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.choice([-1.0, 1.0], (100, 30)), rng.standard_normal(100)
    found = fit(Samples(x, np.arange(30), y, np.ones(100)))
    assert len(found.monomials) <= 2
    assert found.r2 < 0.2


def test_draws_agree_where_there_are_samples_and_differ_elsewhere() -> None:
    rng = np.random.default_rng(1)
    x = rng.choice([-1.0, 1.0], (60, 20))
    found = fit(Samples(x, np.arange(20), np.tanh(x @ rng.standard_normal(20) / 3), np.ones(60)))
    elsewhere = rng.choice([-1.0, 1.0], (60, 20))
    assert found.draws(x, 50, rng).std(axis=0).max() < found.draws(elsewhere, 50, rng).std(axis=0).min()


# neighbors


def test_around_a_point_are_the_neighbors_of_the_space() -> None:
    space = mixed()
    near, point = Neighborhood(space), space.draw(np.random.default_rng(0))
    around = {tuple(row.tolist()) for row in near.around(np.array([point]))[0]} - {point}
    inside = {each for each in around if near.contains(each)}
    assert inside == set(space.neighbors(point, (-0.5, -0.1, -0.02, 0.02, 0.1, 0.5)))


def test_a_descent_ends_where_no_neighbor_is_better_and_nothing_is_forbidden() -> None:
    space = mixed()
    near, rng = Neighborhood(space), np.random.default_rng(0)
    a = rng.standard_normal(len(near.groups))
    starts = np.array([space.draw(rng) for _ in range(5)])
    for end in near.descend(lambda columns: columns @ a, starts):
        point = tuple(end.tolist())
        values = [near.columns(np.array([each])) @ a for each in space.neighbors(point)]
        assert near.contains(point)
        assert min(values)[0] >= (near.columns(end[None]) @ a)[0] - 1e-9


# the search


def test_planted_features_are_minimized() -> None:
    assert lowest(drive(SpectralDescent(booleans(30), n_evaluations=150), planted, workers=20)) == -9.5


@pytest.mark.parametrize("batch", [1, None, 50])
def test_better_than_its_parts_on_a_linear_function(batch: int | None) -> None:
    space = booleans(25)
    best = lowest(drive(SpectralDescent(space, n_evaluations=100, batch=batch), linear))
    assert best < lowest(drive(RandomSearch(space, n_evaluations=100), linear))
    assert best < lowest(drive(LocalSearch(space, n_evaluations=100), linear))


def test_rounds_come_from_the_budget() -> None:
    optimizer = SpectralDescent(booleans(20), n_evaluations=100)
    sizes = []
    while not optimizer.done:
        trials = optimizer.ask(1000)
        sizes.append(len(trials))
        for trial in trials:
            optimizer.tell(trial, linear(trial))
    assert sizes == [20] + [7] * 11 + [3]


def test_continuous_parameters() -> None:
    space = Space({"u": real(-1, 1), "v": real(0, 1), "kind": choice(["a", "b", "c"]), "on": boolean()})

    def bowl(trial: Trial) -> float:
        c = trial.config
        return float((c["u"] - 0.3) ** 2 + (c["v"] - 0.7) ** 2 + (c["kind"] != "b") + (not c["on"]))  # type: ignore[operator]

    assert lowest(drive(SpectralDescent(space, n_evaluations=80), bowl)) < 0.01


def test_what_fails_is_avoided() -> None:
    """Every configuration with x0 = x1 = True fails, which is where the function is least."""
    events = drive(
        SpectralDescent(booleans(15), n_evaluations=120),
        lambda t: None if t.config["x0"] and t.config["x1"] else -linear(t) - 5 * signs(t.config)[:2].sum(),
    )
    late = [value is None for _, value in told(events)[60:]]
    assert np.mean(late) < 0.25


# noise


def test_one_repetition_if_there_is_no_noise() -> None:
    events = drive(SpectralDescent(booleans(12), n_evaluations=60), workers=3)
    times = Counter(key(trial.config) for trial in asked(events))
    assert sorted(times.values())[-2:] == [1, 2]


def test_contenders_are_repeated_if_there_is_noise() -> None:
    rng = np.random.default_rng(0)
    optimizer = SpectralDescent(booleans(12), n_evaluations=120)
    events = drive(optimizer, lambda t: linear(t) + rng.standard_normal())
    times = Counter(key(trial.config) for trial in asked(events))
    assert sum(times.values()) - len(times) > 10
    assert optimizer.best is not None
    trial, mean = optimizer.best
    same = [value for other, value in told(events) if other.config == trial.config]
    assert mean == pytest.approx(np.mean(same))


def test_the_best_without_noise_is_the_lowest() -> None:
    optimizer = SpectralDescent(mixed(), n_evaluations=40)
    assert optimizer.best is None
    events = drive(optimizer)
    assert optimizer.best is not None
    assert optimizer.best[1] == lowest(events) == score(optimizer.best[0])
