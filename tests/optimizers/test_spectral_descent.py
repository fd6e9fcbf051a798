"""Spectral descent: what it finds, what it repeats, and what it falls back to."""

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from overtone.errors import InputError
from overtone.optimizers import LocalSearch, RandomSearch, Trial
from overtone.optimizers.bending import BENDS, bent
from overtone.optimizers.binary_walk import BinaryWalk
from overtone.optimizers.draws import SHRUNK, doubts
from overtone.optimizers.findings import FEWEST, FLAT, _ceiling
from overtone.optimizers.forward import Samples
from overtone.optimizers.pool import Pool
from overtone.optimizers.proposals import Neighborhood, Walk
from overtone.optimizers.sampling import key
from overtone.optimizers.spectral_descent import N_REPEATS, SpectralDescent
from overtone.optimizers.surrogate import Surrogate, fit
from overtone.space import Point, Space, boolean, choice, ordinal, real
from overtone.spectral.monomials import FloatArray
from tests.optimizers.driving import asked, booleans, drive, lowest, mixed, score, signs, told


def planted(trial: Trial) -> float:
    """Least at -9.5: x0 = -1, x1 x2 = -1, x3 x4 x5 = 1, x6 = 1, x7 x8 = 1."""
    x = signs(trial.config)
    return float(3 * x[0] + 2.5 * x[1] * x[2] - 2 * x[3] * x[4] * x[5] - x[6] - x[7] * x[8])


def linear(trial: Trial) -> float:
    x = signs(trial.config)
    return float(x @ np.sin(np.arange(1, len(x) + 1)))


# the fit


def samples(x: FloatArray, y: FloatArray, noise: float = 0.0) -> Samples:
    """As a fit wants them: values from 0 to 1."""
    spread = float(np.ptp(y))
    return Samples(x, np.arange(x.shape[1]), (y - y.min()) / spread, np.ones(len(y)), (noise / spread) ** 2)


def sparse(T: int) -> Samples:
    """Values from -4.5 to 4.5."""
    x = np.random.default_rng(3).choice([-1.0, 1.0], (T, 30))
    return samples(x, 2 * x[:, 1] - x[:, 2] * x[:, 7] + 1.5 * x[:, 0] * x[:, 4] * x[:, 9])


def test_a_sparse_polynomial_is_found() -> None:
    found = fit(sparse(150))
    terms = dict(zip(found.monomials, (9 * found.coefficients).tolist(), strict=True))
    assert {m: a for m, a in terms.items() if m} == pytest.approx({(1,): 2.0, (2, 7): -1.0, (0, 4, 9): 1.5}, abs=0.01)
    assert found.r2 > 0.999
    assert found.bend == 0
    elsewhere = sparse(500)
    assert found(elsewhere.columns) == pytest.approx(elsewhere.values, abs=0.05)
    assert found.covariance(elsewhere.columns).max() < 1e-3  # nothing is in doubt


def test_noise_is_not_named() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.choice([-1.0, 1.0], (100, 30)), rng.standard_normal(100)
    found = fit(samples(x, y, noise=1.0))
    assert found.monomials == ((),)  # the constant
    assert found.r2 < 0.1
    assert found.noise > 0.1 * fit(samples(x, y)).deviation ** 2 > 0
    assert fit(samples(x, y)).noise == 0  # what is rough is only noise if repetitions say so


def smooth_fit() -> tuple[Surrogate, FloatArray, np.random.Generator]:
    """A dense function, with the points that it was fitted to."""
    rng = np.random.default_rng(1)
    x = rng.choice([-1.0, 1.0], (60, 20))
    return fit(samples(x, np.tanh(x @ rng.standard_normal(20) / 3))), x, rng


def test_there_is_doubt_where_there_are_no_samples() -> None:
    found, x, rng = smooth_fit()
    elsewhere = rng.choice([-1.0, 1.0], (60, 20))
    assert np.diag(found.covariance(x)).max() < np.diag(found.covariance(elsewhere)).min()


def test_many_weak_effects_are_not_named_but_known() -> None:
    """A linear function of 40 bits: none of them stands out, yet samples left out are predicted."""
    rng = np.random.default_rng(2)
    x, a = rng.choice([-1.0, 1.0], (120, 40)), rng.standard_normal(40)
    found = fit(samples(x, x @ a))
    assert found.r2 > 0.98


def test_values_that_crowd_at_the_best_are_bent() -> None:
    """The logarithm of the values is linear: a bend finds that."""
    rng = np.random.default_rng(4)
    x = rng.choice([-1.0, 1.0], (150, 20))
    found = fit(samples(x, np.exp(x @ rng.uniform(0.2, 0.4, 20))))
    assert found.bend == max(BENDS)
    assert found.r2 > 0.8


def test_noise_is_taken_out_of_values() -> None:
    """With the noise known, what is judged is nearer to the truth than the values; without noise, it is the values."""
    rng = np.random.default_rng(5)
    x = rng.choice([-1.0, 1.0], (200, 20))
    y = x @ rng.standard_normal(20)
    noisy = samples(x, y + 2 * rng.standard_normal(200), noise=2.0)
    found = fit(noisy)
    truth = (y - (y + 0).mean()) / np.sqrt(y.var())
    errors = [np.corrcoef(truth, values)[0, 1] for values in (noisy.values, found.judged)]
    assert 1 - errors[1] < 0.5 * (1 - errors[0])
    assert found.doubt.max() < found.noise
    quiet = fit(samples(x, y))
    assert quiet.judged == pytest.approx(bent(samples(x, y).values, quiet.bend))
    assert quiet.doubt.max() == 0


# the pool


def test_a_contender_is_repeated_where_that_pays() -> None:
    """Two that may be best, of which little is known, and one that was not tried and is not promising."""
    points: list[Point] = [(0.0,), (1.0,), (2.0,)]
    pool = Pool(points, np.array([0.0, 0.1, 3.0]), np.diag([1.0, 1.0, 0.1]), 1.0, n_known=2)
    assert set(pool.pick(1, 0.0) + pool.pick(1, 0.0)) == {(0.0,), (1.0,)}
    settled = Pool(points, np.array([0.0, 5.0, 3.0]), np.diag([0.1, 0.1, 1.0]), 1.0, n_known=2)
    assert settled.pick(1, 0.0) == [(2.0,)]


def test_a_batch_is_spread_out() -> None:
    """The second of two that go together is no longer worth it once the first is picked."""
    covariance = np.array([[1.0, 0.999, 0.0], [0.999, 1.0, 0.0], [0.0, 0.0, 0.9]])
    pool = Pool([(0.0,), (1.0,), (2.0,)], np.zeros(3), covariance, 0.0)
    assert pool.pick(1, 0.0) + pool.pick(1, 0.0) == [(0.0,), (2.0,)]
    assert len(pool.pick(5, 0.0)) == 1


# neighbors


def test_around_a_point_are_the_neighbors_of_the_space() -> None:
    space = Space({"flag": boolean(), "color": choice(["red", "green", "blue"]), "depth": ordinal([1, 2, 4, 8])})
    near, point = Neighborhood(space), space.draw(np.random.default_rng(0))
    around = [tuple(row.tolist()) for row in near.around(np.array(point))]
    assert len(around) == 1 + 2 + 3
    assert set(around) == set(space.neighbors(point))


def test_levels_side_by_side_are_close_in_every_coding() -> None:
    numbers = [1, 2, 4, 8, 16, 32, 64, 128]
    space = Space({"bits": ordinal(numbers), "contrasts": ordinal(numbers, coding="contrasts"), "flag": boolean()})
    near = Neighborhood(space)
    points = [space.encode({"bits": each, "contrasts": each, "flag": True}) for each in numbers]
    columns = near.columns(np.array(points))
    assert near.groups.tolist() == [0, 0, 0, 1, 1, 1, 2]
    np.testing.assert_allclose(columns[:, :3], columns[:, 3:6])
    squares = ((columns[:, None, :3] - columns[:, :3]) ** 2).sum(axis=2)
    assert squares[3, 4] < squares[2, 4] < squares[1, 4]
    assert squares[3, 4] < 2  # in bits, all three of them differ: 12


def fitted(space: Space) -> tuple[Neighborhood, Surrogate, FloatArray]:
    """A fit to a random function with two named pairs, and some points."""
    near, rng = Neighborhood(space), np.random.default_rng(0)
    points = np.array([space.draw(rng) for _ in range(90)])
    V = near.columns(points)
    y = np.tanh(V @ rng.standard_normal(V.shape[1]) / 3) + 2 * V[:, 0] * V[:, -1]
    return near, fit(replace(samples(V, y), groups=near.groups)), points


switches = Space({f"x{i}": boolean() for i in range(9)}, forbid=[{"x0": True, "x8": True}])
WALKS = pytest.mark.parametrize(
    ("kind", "space"),
    [(Walk, booleans(9)), (Walk, mixed()), (BinaryWalk, booleans(9)), (BinaryWalk, switches)],
    ids=["booleans", "mixed", "binary", "binary, some forbidden"],
)


@WALKS
def test_a_walk_knows_the_fit_at_its_points(kind: type[Walk] | type[BinaryWalk], space: Space) -> None:
    near, surrogate, points = fitted(space)
    walk = kind(near, surrogate, points[:7])
    before = walk.values.copy()
    walk.descend(first=2)
    assert (walk.points[:2] == points[:2]).all()
    assert (walk.values <= before).all()
    assert (walk.values < before).any()
    assert walk.values == pytest.approx(surrogate(near.of_points(walk.points)))
    assert all(near.contains(tuple(point)) for point in walk.points.tolist())


@WALKS
def test_a_descent_ends_where_no_neighbor_is_better(kind: type[Walk] | type[BinaryWalk], space: Space) -> None:
    near, surrogate, points = fitted(space)
    walk = kind(near, surrogate, points[:5])
    walk.descend()
    for end, value in zip(walk.points, walk.values, strict=True):
        inside = [each for each in near.around(end) if near.contains(tuple(each.tolist()))]
        assert (
            surrogate(near.of_points(np.array(inside))).min() >= value - 0.01
        )  # continuous ones have finer steps there


@pytest.mark.parametrize("kind", [Walk, BinaryWalk])
def test_the_best_neighbors(kind: type[Walk] | type[BinaryWalk]) -> None:
    near, surrogate, points = fitted(booleans(9))
    found = kind(near, surrogate, points[:3]).neighbors(4, np.array([0, 1]))
    every = np.concatenate([near.around(point) for point in points[:2]])
    assert surrogate(found) == pytest.approx(np.sort(surrogate(every))[:4])


@WALKS
def test_doubts_are_costs_of_changes(kind: type[Walk] | type[BinaryWalk], space: Space) -> None:
    """Where every change costs much more than the fit may gain, nobody moves; where one gains as much, all take it."""
    near, surrogate, points = fitted(space)
    starts = np.repeat(points[:1], 3, axis=0)
    codes, owns = near.changes(starts)
    changed = np.where(owns, codes, starts[0])
    here = (changed == starts[0]).all(axis=1)  # no changes
    costs = np.where(here, 0.0, 1e3) * np.ones((3, 1))
    walk = kind(near, surrogate, starts, costs)
    walk.descend()
    assert (walk.points == starts).all()
    wanted = next(i for i in np.flatnonzero(~here).tolist() if near.contains(tuple(changed[i].tolist())))
    costs[1, wanted] = -1e3
    walk = kind(near, surrogate, starts, costs)
    walk.descend()
    assert (walk.points[[0, 2]] == starts[[0, 2]]).all()
    assert (walk.points[1] == changed[wanted]).all()


@pytest.mark.parametrize("space", [booleans(9), mixed()], ids=["booleans", "mixed"])
def test_draws_vary_as_the_fit_doubts(space: Space) -> None:
    """Many draws have the covariance of the differences to the incumbent, shrunk; and no mean."""
    near, surrogate, points = fitted(space)
    incumbent, n = points[:1] * 1.0, 4000
    codes, owns = near.changes(incumbent)
    found = doubts(near, surrogate, incumbent[0], (codes, owns), n, np.random.default_rng(0))
    changed = np.where(owns, codes, incumbent[0])
    K = surrogate.covariance(near.columns(np.concatenate([incumbent, changed])))
    K = SHRUNK**2 * (K[1:, 1:] - K[1:, :1] - K[:1, 1:] + K[0, 0])
    room = 6 * K.diagonal().max() / np.sqrt(n)
    assert found.T @ found / n == pytest.approx(K, abs=room)
    assert found.mean(axis=0) == pytest.approx(0, abs=6 * np.sqrt(K.diagonal().max() / n))
    assert (found[:, (changed == incumbent[0]).all(axis=1)] == 0).all()  # what it has is not in doubt
    assert K.diagonal().max() > 0


def test_of_very_many_changes_the_best_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    near, surrogate, points = fitted(booleans(9))
    monkeypatch.setattr("overtone.optimizers.draws.MOST", 4)
    found = doubts(near, surrogate, points[1] * 1.0, near.changes(points[:2]), 2, np.random.default_rng(0))
    flips = found.reshape(2, 9, 2).sum(axis=2)
    best = np.argsort(surrogate(near.around(points[1] * 1.0)))[:4]
    assert set(np.flatnonzero(flips[0])) == set(np.flatnonzero(flips[1])) == set(best.tolist())
    assert (flips[0] != flips[1]).any()


def test_what_levels_cost_holds_wherever_a_descent_starts() -> None:
    """Costs of levels, not of flips: both walks see the same changes at points that are not the incumbent."""
    near, surrogate, points = fitted(booleans(9))
    costs = np.random.default_rng(0).standard_normal((5, 18))
    walk, binary = (kind(near, surrogate, points[:5], costs) for kind in (Walk, BinaryWalk))
    assert isinstance(walk, Walk) and isinstance(binary, BinaryWalk)
    here = (points[:5] > 0).astype(int)
    others = np.column_stack([walk.changes(p)[np.arange(5), 1 - here[:, p]] for p in range(9)])
    plain = BinaryWalk(near, surrogate, points[:5])
    assert binary.changes() == pytest.approx(others)
    levels = costs.reshape(5, 9, 2)
    gained = np.take_along_axis(levels, 1 - here[:, :, None], 2) - np.take_along_axis(levels, here[:, :, None], 2)
    assert binary.changes() - plain.changes() == pytest.approx(gained[:, :, 0])


def test_of_many_steep_bits_several_are_flipped_in_a_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("overtone.optimizers.binary_walk.LONGEST", 12)
    space = booleans(64)
    near, rng = Neighborhood(space), np.random.default_rng(0)
    points = np.array([space.draw(rng) for _ in range(200)])
    surrogate = fit(replace(samples(points, points @ np.linspace(1, 2, 64)), groups=near.groups))
    walk = BinaryWalk(near, surrogate, np.ones((2, 64)))
    walk.descend()
    assert (walk.points < 0).sum(axis=1).min() > 12
    assert walk.values == pytest.approx(surrogate(walk.points))


def test_where_nothing_is_in_doubt_all_draws_are_the_fit() -> None:
    near, surrogate, points = fitted(booleans(9))
    sure = replace(surrogate, deviation=0.0)
    assert (doubts(near, sure, points[0] * 1.0, near.changes(points[:1]), 3, np.random.default_rng(0)) == 0).all()


def test_a_fit_may_keep_what_was_chosen_before() -> None:
    before = replace(fit(sparse(60)), bend=5.0)
    kept, anew = (fit(sparse(110), before, anew=anew) for anew in (False, True))
    assert (kept.bend, kept.shape, kept.monomials) == (before.bend, before.shape, before.monomials)
    assert len(kept.weights) == 110
    assert anew.bend == 0


# the search


def test_planted_features_are_minimized() -> None:
    assert lowest(drive(SpectralDescent(booleans(30), n_evaluations=150), planted, workers=20)) == -9.5


@pytest.mark.parametrize("batch", [1, None, 50])
def test_better_than_its_parts_on_a_linear_function(batch: int | None) -> None:
    space = booleans(25)
    best = lowest(drive(SpectralDescent(space, n_evaluations=100, batch=batch), linear))
    assert best < lowest(drive(RandomSearch(space, n_evaluations=100), linear))
    assert best <= lowest(drive(LocalSearch(space, n_evaluations=100), linear))


def test_rounds_come_from_the_budget() -> None:
    optimizer = SpectralDescent(booleans(20), n_evaluations=100)
    sizes = []
    while not optimizer.done:
        trials = optimizer.ask(1000)
        sizes.append(len(trials))
        for trial in trials:
            optimizer.tell(trial, linear(trial))
    assert sizes == [20] + [5] * 16


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


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("spread", [0.0, 1.0], ids=["one penalty", "many penalties"])
def test_penalties_do_not_hide_what_is_good(spread: float, seed: int) -> None:
    """44 % of the configurations have values of 1e9 and more; the others are no harder than without."""

    def penalized(trial: Trial) -> float:
        c, x = trial.config, signs(trial.config)
        bad = (c["x0"] and c["x1"]) or (c["x2"] and c["x3"])
        return 1e9 * (1 + spread * abs(linear(trial))) if bad else float(x[4:] @ np.sin(np.arange(5, len(x) + 1)))

    best = lowest(drive(SpectralDescent(booleans(25), seed, n_evaluations=150), penalized))
    assert best == pytest.approx(-np.abs(np.sin(np.arange(5, 26))).sum(), abs=0.1)


@given(st.lists(st.floats(-1e3, 1e3), min_size=FEWEST, max_size=60))
def test_values_are_clipped_above_the_best_and_not_beyond_the_worst(values: list[float]) -> None:
    assume(np.ptp(values) > FLAT)
    ceiling = _ceiling(np.array(values))
    assert min(values) < ceiling <= max(values)


def test_a_tenth_of_a_usual_sample_is_clipped_and_all_penalties_however_many() -> None:
    sample = np.random.default_rng(0).standard_normal(400)
    assert _ceiling(sample) == np.quantile(sample, 0.9)
    for share in (0.05, 0.3, 0.6):
        spoiled = np.where(np.random.default_rng(1).random(400) < share, 1e12, sample)
        assert _ceiling(spoiled) < 100


# noise


def test_nothing_is_repeated_where_a_fit_sees_no_noise() -> None:
    events = drive(SpectralDescent(booleans(25), n_evaluations=100), linear)
    assert len({key(trial.config) for trial in asked(events)}) == 100


def test_one_repetition_where_there_might_be_noise_but_is_none() -> None:
    rng = np.random.default_rng(0)
    ragged: dict[object, float] = {}
    events = drive(
        SpectralDescent(booleans(12), n_evaluations=60),
        lambda t: ragged.setdefault(key(t.config), float(rng.standard_normal())),
        workers=3,
    )
    times = Counter(key(trial.config) for trial in asked(events))
    assert sorted(times.values())[-2:] == [1, 2]


@pytest.mark.parametrize("lag", [0, 15])
@pytest.mark.parametrize("seed", range(3))
def test_in_a_small_space_nothing_comes_twice_but_that(seed: int, lag: int) -> None:
    """Uniform, stirred and promising trials of a round may meet in the same configuration."""
    rng = np.random.default_rng(seed)
    a, pairs = rng.normal(size=8), rng.normal(size=(8, 8))
    events = drive(
        SpectralDescent(booleans(8), seed, n_evaluations=200, lag=lag),
        lambda t: float(signs(t.config) @ (a + pairs @ signs(t.config))),
        workers=20,
    )
    times = Counter(key(trial.config) for trial in asked(events))
    assert sum(times.values()) - len(times) <= 1


def test_contenders_are_repeated_if_there_is_noise() -> None:
    rng = np.random.default_rng(0)
    optimizer = SpectralDescent(booleans(12), n_evaluations=120)
    events = drive(optimizer, lambda t: linear(t) + rng.standard_normal())
    times = Counter(key(trial.config) for trial in asked(events))
    assert sum(times.values()) - len(times) >= N_REPEATS
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


# what is known before


def known(space: Space, n: int) -> list[tuple[Point, float]]:
    return [(trial.point, linear(trial)) for trial in RandomSearch(space, 5, n_evaluations=n).ask(n)]


def test_what_is_known_before_stands_for_uniform_samples() -> None:
    space = booleans(25)
    seen = known(space, 40)
    optimizer = SpectralDescent(space, n_evaluations=60, seen=seen)
    assert optimizer.n_uniform == 0
    events = drive(optimizer, linear)
    assert len(asked(events)) == 60
    again = {trial.point for trial in asked(events)} & {point for point, _ in seen}
    assert again <= {min(seen, key=lambda each: each[1])[0]}  # the best, to see whether there is noise
    assert lowest(events) < lowest(drive(SpectralDescent(space, n_evaluations=60), linear)) + 1e-9


def test_what_is_known_of_the_whole_space_helps_in_a_part_of_it() -> None:
    whole = booleans(25)
    part = whole.restrict([{0: 1.0, 1: -1.0}])
    optimizer = SpectralDescent(part, n_evaluations=40, seen=known(whole, 60))
    events = drive(optimizer, linear)
    assert all(trial.point[:2] == (1.0, -1.0) for trial in asked(events))
    a = np.sin(np.arange(1, 26))
    assert lowest(events) == pytest.approx(a[0] - a[1] - np.abs(a[2:]).sum())
    assert optimizer.best is not None
    assert optimizer.best[1] == lowest(events)


def test_failures_may_be_known_before() -> None:
    space = booleans(5)
    seen: list[tuple[Point, float | None]] = [(point, None) for point, _ in known(space, 10)]
    assert len(asked(drive(SpectralDescent(space, n_evaluations=20, seen=seen), linear))) == 20


def test_points_of_another_space_are_refused() -> None:
    with pytest.raises(InputError, match="5 codes"):
        SpectralDescent(booleans(5), seen=[((1.0, -1.0), 0.0)])


@pytest.mark.parametrize("seen", [[1, 2], [((1.0,) * 5, 1.0, 2.0)], 7])
def test_what_was_seen_must_be_pairs(seen: Any) -> None:
    with pytest.raises(InputError, match="`seen` must be pairs of a point and its value, but"):
        SpectralDescent(booleans(5), seen=seen)


# a lag


def needed(optimizer: SpectralDescent) -> list[int]:
    """For every trial, how many had to be told before it was asked for, in the order of their numbers."""
    found: list[int] = []
    out: list[Trial] = []
    for n_told in range(optimizer.n_evaluations):
        came = optimizer.ask(1000)
        found += [n_told] * len(came)
        out += came
        optimizer.tell(out[n_told], planted(out[n_told]))
    return found


def test_a_round_waits_for_all_but_the_lag() -> None:
    rounds = [4 * (k // 4) for k in range(48)]
    assert needed(SpectralDescent(booleans(20), n_evaluations=60, batch=4)) == [0] * 12 + [12 + k for k in rounds]
    lagged = SpectralDescent(booleans(20), n_evaluations=60, batch=4, lag=6)
    assert needed(lagged) == [0] * 12 + [6 + k for k in rounds]


def test_with_a_lag_the_minimum_is_found_too() -> None:
    events = drive(SpectralDescent(booleans(30), n_evaluations=200, lag=14), planted, workers=20)
    assert lowest(events) == -9.5


def test_what_is_out_is_no_failure() -> None:
    """A round knows what came before the lag; of the others, that they are no longer to be chosen."""
    optimizer = SpectralDescent(booleans(20), n_evaluations=60, batch=4, lag=6)
    for trial in optimizer.ask(12)[:6]:
        optimizer.tell(trial, planted(trial))
    more = optimizer.ask(4)
    samples, pending = optimizer._samples(), {row.point for row in optimizer._findings.pending()}
    assert samples is not None
    assert len(samples.values) == 6
    assert len(more) == 4
    assert len(pending) >= 9  # of ten, one may be a repetition
    assert not pending & {tuple(row) for row in samples.columns.tolist()}


def test_in_the_end_everything_is_known() -> None:
    optimizer = SpectralDescent(booleans(20), n_evaluations=60, batch=4, lag=30)
    values = [value for _, trial, value in drive(optimizer, planted, workers=60) if value is not None]
    assert optimizer.best is not None
    assert optimizer.best[1] == min(values)


def test_a_lag_must_be_a_number_of_trials() -> None:
    with pytest.raises(InputError, match="`lag` must be a whole number >= 0, but got -1"):
        SpectralDescent(booleans(5), lag=-1)


def test_a_point_near_what_is_out_promises_less() -> None:
    points: list[Point] = [(0.0,), (1.0,), (2.0,)]
    covariance = np.array([[1.0, 0.0, 0.9], [0.0, 0.9, 0.0], [0.9, 0.0, 1.0]])
    mean = np.zeros(3)
    assert Pool(points, mean, covariance, 0.0).pick(1, 0.0) == [(0.0,)]
    pool = Pool(points, mean, covariance, 0.0, n_out=1)
    assert pool.n_open == 2
    assert pool.pick(2, 0.0) == [(1.0,), (0.0,)]
