from collections.abc import Callable
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given

from overtone.spectral import leftover
from overtone.spectral.columns import Columns
from overtone.spectral.families import combine, contrasts, legendre
from overtone.spectral.leftover import _kernels, leftover_signal
from overtone.spectral.monomials import FloatArray
from tests.strategies import Terms, all_monomials, evaluate, grouped_columns

Signal = Callable[[np.random.Generator, Columns], FloatArray]


def parity_points(rng: np.random.Generator, T: int, n: int) -> Columns:
    return Columns.parity(rng.choice([-1.0, 1.0], (T, n)))


# ---- the estimate ----


@given(columns=grouped_columns())
def test_kernels_are_sums_over_monomials(columns: Columns) -> None:
    """All entries are eighths: the sums are exact."""
    for degree, K in zip((1, 2), _kernels(columns), strict=True):
        monomials = [s for s in all_monomials(columns.groups, degree) if s]
        A = np.stack([columns.values[:, list(s)].prod(axis=1) for s in monomials], axis=1)
        assert np.array_equal(K, A @ A.T)


@given(columns=grouped_columns())
def test_the_variance_is_a_mean_over_pairs_of_samples(columns: Columns) -> None:
    T = columns.n_samples
    if T < 2:
        return
    r = np.cos(np.arange(T) * 2.0)
    monomials = [s for s in all_monomials(columns.groups, 2) if s]
    expected = 0.0
    for i, j in combinations(range(T), 2):
        k = sum(columns.values[i, list(s)].prod() * columns.values[j, list(s)].prod() for s in monomials)
        expected += 2 * r[i] * r[j] * k / (T * (T - 1))
    scale = max(1.0, float(np.abs(columns.values).max()) ** 4 * len(monomials))
    assert leftover_signal(columns, r).variance == pytest.approx(max(0.0, expected), abs=1e-12 * scale)


MIXED: Terms = dict.fromkeys([(0,), (1,), (2,), (3,), (0, 1), (1, 2), (2, 3), (3, 4), (4, 5)], 0.5) | {(0, 7): -1.0}


@pytest.mark.parametrize("noise", [0.0, 1.0])
def test_the_variance_is_unbiased(noise: float) -> None:
    """sum of alpha^2 = 4/4 + 5/4 + 1 over single columns and pairs; what is of degree 3 and noise does not count."""
    estimates = []
    for seed in range(150):
        rng = np.random.default_rng(seed)
        columns = parity_points(rng, 100, 8)
        y = evaluate(columns, {**MIXED, (1, 3, 5): 1.0}) + noise * rng.standard_normal(100)
        estimates.append(leftover_signal(columns, y).variance)
    error = np.std(estimates) / np.sqrt(len(estimates))
    assert min(estimates) > 0  # the cut at 0 never worked
    assert error < 0.1
    assert np.mean(estimates) == pytest.approx(3.25, abs=4 * error)


def test_groups_are_unbiased_too() -> None:
    families = [contrasts(3), legendre(2), contrasts(4)]  # columns 0 1 | 2 3 | 4 5 6
    terms: Terms = {(0,): 1.0, (3,): -1.0, (1, 2): 1.0, (3, 6): 0.5}
    estimates = []
    for seed in range(150):
        rng = np.random.default_rng(seed)
        columns = combine(families, np.stack([family.sample(rng, 100) for family in families], axis=1))
        estimates.append(leftover_signal(columns, evaluate(columns, terms)).variance)
    error = np.std(estimates) / np.sqrt(len(estimates))
    assert error < 0.1
    assert np.mean(estimates) == pytest.approx(3.25, abs=4 * error)


def test_products_within_a_group_do_not_count() -> None:
    """The same signal, x0 x1: seen if the columns are two parameters, not if they are one."""
    clear = {1: 0, 2: 0}
    for seed in range(20):
        rng = np.random.default_rng(seed)
        values = rng.choice([-1.0, 1.0], (100, 3))
        y = values[:, 0] * values[:, 1]
        for n_groups, groups in ((2, np.array([0, 1, 2])), (1, np.array([0, 0, 1]))):
            clear[n_groups] += leftover_signal(Columns(values, groups), y - y.mean()).is_clear
    assert clear[2] == 20
    assert clear[1] <= 4


def test_the_spread_is_that_of_shuffled_values() -> None:
    """By a thousand shuffles of our own, and by the spread of the estimate over samples of pure noise."""
    rng = np.random.default_rng(0)
    columns, r = parity_points(rng, 50, 6), rng.standard_normal(50)
    r -= r.mean()
    K = _kernels(columns)[1]
    np.fill_diagonal(K, 0.0)
    shuffled = [rng.permutation(r) for _ in range(1000)]
    ours = float(np.std([one @ K @ one for one in shuffled])) / (50 * 49)
    assert leftover_signal(columns, r).spread == pytest.approx(ours, rel=0.25)


# ---- the decision ----


@pytest.mark.parametrize(("T", "n"), [(50, 10), (100, 60)])
def test_noise_is_hardly_ever_clear(T: int, n: int) -> None:
    clear = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        columns, r = parity_points(rng, T, n), rng.standard_normal(T)
        clear += leftover_signal(columns, r - r.mean()).is_clear
    assert clear <= 9


def dense_linear(rng: np.random.Generator, columns: Columns) -> FloatArray:
    return np.asarray(columns.values @ rng.choice([-1.0, 1.0], columns.n))


def dense_pairs(rng: np.random.Generator, columns: Columns) -> FloatArray:
    return evaluate(columns, {s: float(rng.choice([-1.0, 1.0])) for s in combinations(range(columns.n), 2)})


@pytest.mark.parametrize(
    ("signal", "T", "n"), [(dense_linear, 100, 60), (dense_linear, 60, 10), (dense_pairs, 120, 10)]
)
def test_many_small_effects_are_clear(signal: Signal, T: int, n: int) -> None:
    """No single one of them stands out, all together do."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        columns = parity_points(rng, T, n)
        y = signal(rng, columns)
        y += 0.3 * y.std() * rng.standard_normal(T)
        assert leftover_signal(columns, y - y.mean()).is_clear


def test_a_dense_function_of_contrasts_is_clear() -> None:
    families = [contrasts(4)] * 12
    for seed in range(10):
        rng = np.random.default_rng(seed)
        columns = combine(families, np.stack([family.sample(rng, 100) for family in families], axis=1))
        y = dense_linear(rng, columns)
        assert leftover_signal(columns, y - y.mean()).is_clear


def test_what_has_a_higher_degree_is_not_seen() -> None:
    clear = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        columns = parity_points(rng, 80, 10)
        y = evaluate(columns, {(0, 1, 2): 1.0, (3, 4, 5): 1.0, (6, 7, 8): 1.0})
        clear += leftover_signal(columns, y - y.mean()).is_clear
    assert clear <= 6


def test_nothing_left_is_nothing_clear() -> None:
    columns = parity_points(np.random.default_rng(1), 20, 4)
    found = leftover_signal(columns, np.zeros(20))
    assert (found.variance, found.spread, found.is_clear) == (0.0, 0.0, False)


def test_a_negative_estimate_is_0() -> None:
    columns = Columns.parity([[1.0], [1.0], [-1.0], [-1.0]])
    found = leftover_signal(columns, np.array([1.0, -1.0, 1.0, -1.0]))  # orthogonal to the only column
    assert found.variance == 0.0
    assert found.spread > 0
    assert not found.is_clear


@pytest.mark.parametrize("T", [2, 3, 4])
def test_a_few_samples(T: int) -> None:
    rng = np.random.default_rng(T)
    found = leftover_signal(parity_points(rng, T, 3), rng.standard_normal(T))
    assert np.isfinite([found.variance, found.spread]).all()


def test_very_many_samples_are_thinned_out(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    columns = parity_points(rng, 900, 10)
    y = dense_linear(rng, columns)
    everything = leftover_signal(columns, y)
    monkeypatch.setattr(leftover, "MOST", 600)
    some = leftover_signal(columns, y)
    assert some != everything
    assert some.is_clear
    assert some.variance == pytest.approx(10.0, abs=4.0)  # of 10 coefficients of size 1


# ---- units, repetition ----


@pytest.mark.parametrize("exponent", [-30, 40])
def test_the_unit_of_the_values_does_not_matter(exponent: int) -> None:
    rng = np.random.default_rng(2)
    columns = parity_points(rng, 60, 10)
    y = dense_linear(rng, columns)
    one, other = leftover_signal(columns, y), leftover_signal(columns, 2.0**exponent * y)
    assert (other.variance, other.spread) == (4.0**exponent * one.variance, 4.0**exponent * one.spread)
    assert other.is_clear
    assert one.is_clear


def test_twice_the_same_and_nothing_is_written_to() -> None:
    rng = np.random.default_rng(3)
    columns, r = parity_points(rng, 60, 10), rng.standard_normal(60)
    values, residual = columns.values.copy(), r.copy()
    assert leftover_signal(columns, r) == leftover_signal(columns, r)
    assert np.array_equal(columns.values, values)
    assert np.array_equal(r, residual)
