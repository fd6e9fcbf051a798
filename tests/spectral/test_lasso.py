import warnings
from collections.abc import Sequence
from math import inf, log, nan, sqrt
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import Lasso
from threadpoolctl import threadpool_limits

from overtone.errors import InputError, NotConvergedWarning
from overtone.spectral.columns import Columns
from overtone.spectral.correlation import Candidates, Dictionary
from overtone.spectral.families import combine, contrasts, legendre
from overtone.spectral.lasso import (
    LassoFit,
    honest_factors,
    largest_penalty,
    noise_penalty,
    solve_lasso,
    solve_lasso_path,
)
from overtone.spectral.monomials import FloatArray, Monomial
from overtone.spectral.polynomial import Polynomial
from tests.strategies import all_monomials, group_structures


def every_monomial(columns: Columns, degree: int) -> list[Monomial]:
    return [s for s in all_monomials(columns.groups, degree) if s]


def objective(
    columns: Columns, y: FloatArray, g: Polynomial, penalty: float, factors: Sequence[float] | None = None
) -> float:
    """P(b, w), as the module's docstring states it."""
    r = y - sum((a * columns.values[:, list(s)].prod(axis=1) for s, a in g.terms.items()), np.zeros(len(y)))
    weights = [1.0] * g.n if factors is None else factors
    return float(r @ r / (2 * len(y)) + penalty * sum(weights[len(s) - 1] * abs(a) for s, a in g))


def optimum(
    columns: Columns, y: FloatArray, degree: int, penalty: float, factors: Sequence[float] | None = None
) -> Polynomial:
    """scikit-learn's Lasso on the matrix itself; factors by scaling its columns."""
    monomials = every_monomial(columns, degree)
    f = np.array([1.0 if factors is None else factors[len(s) - 1] for s in monomials])
    A = np.stack([columns.values[:, list(s)].prod(axis=1) for s in monomials], axis=1) / f
    model = Lasso(alpha=penalty, tol=1e-13, max_iter=300_000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a tolerance so small that rounding may get in the way
        model.fit(A, y)
    w = dict(zip(monomials, (model.coef_ / f).tolist(), strict=True))
    return Polynomial({(): float(model.intercept_), **w}, columns.n)


def is_optimal(
    columns: Columns, y: FloatArray, degree: int, fit: LassoFit, factors: Sequence[float] | None = None
) -> bool:
    """Subgradients at 0: |A_S' r| / T <= p_S for all S, and = sign(w_S) p_S where w_S is not 0."""
    monomials = every_monomial(columns, degree)
    r = y - fit.polynomial(columns)
    scale = float(np.abs(y - y.mean()).max())
    for s in monomials:
        p = fit.l1_penalty * (1.0 if factors is None else factors[len(s) - 1])
        c = float(columns.values[:, list(s)].prod(axis=1) @ r / len(y))
        a = fit.polynomial.terms.get(s, 0.0)
        off = abs(c) - p if a == 0 else abs(c - np.sign(a) * p)
        if off > 1e-7 * scale:
            return False
    return abs(float(r.mean())) <= 1e-10 * (scale + abs(float(y.mean())))


def coefficients(one: Polynomial, other: Polynomial) -> tuple[FloatArray, FloatArray]:
    """Those of both, side by side."""
    union = sorted(set(one.terms) | set(other.terms))
    return tuple(np.array([g.terms.get(s, 0.0) for s in union]) for g in (one, other))  # type: ignore[return-value]


class Problem(NamedTuple):
    columns: Columns
    y: FloatArray
    degree: int
    penalty: float
    factors: list[float]


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    """Any columns (parity, repeated, real), groups, factors and penalties, down to a thousandth of the largest."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    single = st.integers(1, 8).map(lambda n: np.arange(n, dtype=np.intp))
    groups = draw(st.one_of(single, group_structures()))
    T, n = draw(st.integers(2, 40)), len(groups)
    values = rng.standard_normal((T, n)) if draw(st.booleans()) else rng.choice([-1.0, 1.0], (T, n))
    if draw(st.booleans()):
        values = values[:, rng.integers(0, n, n)]
    y = rng.standard_normal(T) if draw(st.booleans()) else rng.integers(-2, 3, T).astype(np.float64)
    y[0] += 7.0  # never constant
    columns = Columns(values, groups)
    degree = draw(st.integers(1, min(3, columns.n_groups)))
    factors = draw(st.lists(st.sampled_from((0.3, 0.5, 1.0, 2.0)), min_size=degree, max_size=degree))
    share = draw(st.sampled_from((0.9, 0.5, 0.2, 0.05, 0.01, 0.001)))
    penalty = share * largest_penalty(columns, y, degree, factors)
    return Problem(columns, y, degree, max(penalty, 1e-6), factors)


def real_problem(seed: int, T: int = 30, n: int = 6) -> tuple[Columns, FloatArray]:
    """Real columns in general position: the solution is unique."""
    rng = np.random.default_rng(seed)
    columns = Columns(rng.standard_normal((T, n)), np.arange(n))
    y = columns.values[:, 0] - 2 * columns.values[:, 1] * columns.values[:, 2] + rng.standard_normal(T)
    return columns, y


# ---- the solution is scikit-learn's, on a matrix that is never built ----


@settings(max_examples=150)
@given(problem=problems())
def test_the_optimum(problem: Problem) -> None:
    columns, y, degree, penalty, factors = problem
    fit = solve_lasso(columns, y, degree, penalty, factors=factors, tolerance=1e-9)
    null = float(y.var()) / 2
    best = objective(columns, y, optimum(columns, y, degree, penalty, factors), penalty, factors)
    ours = objective(columns, y, fit.polynomial, penalty, factors)
    assert ours == pytest.approx(fit.objective, abs=1e-12 * null)
    assert ours == pytest.approx(best, abs=1e-9 * null)
    assert fit.converged
    assert fit.l1_penalty == penalty
    assert 0 <= fit.gap <= 1e-9
    assert is_optimal(columns, y, degree, fit, factors)


@pytest.mark.parametrize("share", [0.9, 0.5, 0.1, 0.01])
@pytest.mark.parametrize(("n", "degree", "T"), [(3, 2, 20), (6, 3, 30), (10, 3, 25), (10, 1, 40)])
def test_parity_in_many_dimensions(n: int, degree: int, T: int, share: float) -> None:
    rng = np.random.default_rng(n)
    points, y = rng.choice([-1.0, 1.0], (T, n)), rng.standard_normal(T) + 3.0
    columns = Columns.parity(points)
    penalty = share * largest_penalty(points, y, degree)
    fit = solve_lasso(points, y, degree, penalty)  # the default tolerance
    best = objective(columns, y, optimum(columns, y, degree, penalty), penalty)
    assert fit.objective == pytest.approx(best, rel=1e-9)
    assert fit.converged


@pytest.mark.parametrize("share", [0.7, 0.2, 0.03])
@pytest.mark.parametrize("factors", [None, [0.5, 1.0, 1.5]])
def test_the_coefficients_where_they_are_unique(share: float, factors: list[float] | None) -> None:
    columns, y = real_problem(1)
    penalty = share * largest_penalty(columns, y, 3, factors)
    fit = solve_lasso(columns, y, 3, penalty, factors=factors, tolerance=1e-10)
    best = optimum(columns, y, 3, penalty, factors)
    ours, theirs = coefficients(fit.polynomial, best)
    assert ours == pytest.approx(theirs, abs=1e-7)
    assert {s for s, a in fit.polynomial if abs(a) > 1e-6} == {s for s, a in best if abs(a) > 1e-6}


def test_other_families() -> None:
    rng = np.random.default_rng(2)
    families = [contrasts(3), legendre(3), contrasts(4)]
    columns = combine(families, np.stack([family.sample(rng, 60) for family in families], axis=1))
    y = columns.values[:, 2] * columns.values[:, 5] + 0.1 * rng.standard_normal(60)
    fit = solve_lasso(columns, y, 2, 0.05, tolerance=1e-9)
    best = optimum(columns, y, 2, 0.05)
    ours, theirs = coefficients(fit.polynomial, best)
    assert ours == pytest.approx(theirs, abs=1e-7)
    assert next(iter(fit.polynomial))[0] == (2, 5)


def test_a_problem_of_many_scans() -> None:
    """30,000 monomials, 60 samples, a penalty deep in the noise: the working set must grow in rounds."""
    rng = np.random.default_rng(3)
    points, y = rng.choice([-1.0, 1.0], (60, 57)), rng.standard_normal(60)
    fit = solve_lasso(points, y, 3, 0.05 * largest_penalty(points, y, 3))
    assert fit.converged
    assert fit.n_scans > 2
    # a certificate that trusts nothing of the solver: the dual value of the residual, over the whole matrix
    rows = np.array([(i, j, k) for i in range(57) for j in range(i + 1, 57) for k in range(j + 1, 57)])
    r = y - fit.polynomial(points)
    low = [float(np.abs(products @ r).max()) for products in (points.T, points.T[rows].prod(axis=1))]
    pairs = np.abs((points * r[:, None]).T @ points)
    np.fill_diagonal(pairs, 0.0)
    largest = max(*low, float(pairs.max())) / len(y)
    assert largest <= fit.l1_penalty * (1 + 1e-3)
    theta = r * min(1.0, fit.l1_penalty / largest)
    centred = y - y.mean()
    dual = (2 * centred @ theta - theta @ theta) / (2 * len(y))
    assert -1e-12 <= fit.objective - dual <= 1.1e-6 * y.var() / 2


# ---- the certificate ----


@settings(max_examples=60)
@given(problem=problems(), max_scans=st.integers(1, 3), tolerance=st.sampled_from((1e-9, 1e-4, 1e-2, 0.3)))
def test_the_gap_bounds_the_distance_to_the_optimum(problem: Problem, max_scans: int, tolerance: float) -> None:
    columns, y, degree, penalty, factors = problem
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConvergedWarning)
        fit = solve_lasso(columns, y, degree, penalty, factors=factors, tolerance=tolerance, max_scans=max_scans)
    null = float(y.var()) / 2
    best = objective(columns, y, optimum(columns, y, degree, penalty, factors), penalty, factors)
    assert fit.gap >= 0
    assert fit.objective - best <= (fit.gap + 1e-9) * null
    assert fit.converged == (fit.gap <= tolerance)
    if not fit.converged:
        assert fit.n_scans >= max_scans


def hard_problem() -> tuple[FloatArray, FloatArray, float]:
    rng = np.random.default_rng(4)
    points, y = rng.choice([-1.0, 1.0], (50, 20)), rng.standard_normal(50)
    return points, y, 0.05 * largest_penalty(points, y, 3)


def test_one_scan_of_a_hard_problem_is_not_enough_and_says_so() -> None:
    points, y, penalty = hard_problem()
    expected = r"^the Lasso stopped after 1 scans at a gap of .*, not 1e-06: raise `l1_penalty` or `max_scans`$"
    with pytest.warns(NotConvergedWarning, match=expected) as caught:
        fit = solve_lasso(points, y, 3, penalty, max_scans=1)
    assert caught[0].filename == __file__  # the caller's line
    assert not fit.converged
    assert fit.n_scans == 1
    assert fit.gap > 1e-6
    assert solve_lasso(points, y, 3, penalty).converged


def test_a_good_start_saves_scans() -> None:
    points, y, penalty = hard_problem()
    cold = solve_lasso(points, y, 3, penalty)
    warm = solve_lasso(points, y, 3, penalty, start=[s for s, _ in cold.polynomial])
    assert warm.n_scans == 1 < cold.n_scans
    assert warm.objective == pytest.approx(cold.objective, rel=2e-6)
    bad = solve_lasso(points, y, 3, penalty, start=[(), (0,), (0,), (0, 1)])  # useless, repeated: no harm
    assert bad.objective == pytest.approx(cold.objective, rel=2e-6)


def count_scans(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    scans: list[int] = []
    original = Dictionary.strongest

    def spy(self: Dictionary, *given: Any, **named: Any) -> Candidates:
        scans.append(1)
        return original(self, *given, **named)

    monkeypatch.setattr(Dictionary, "strongest", spy)
    return scans


@pytest.mark.parametrize("share", [2.0, 1.0, 0.5, 0.05])
def test_scans_are_counted(share: float, monkeypatch: pytest.MonkeyPatch) -> None:
    points, y, penalty = hard_problem()
    scans = count_scans(monkeypatch)
    fit = solve_lasso(points, y, 3, share * 20 * penalty)
    assert fit.n_scans == len(scans) >= 1


# ---- from nothing to everything ----


@given(problem=problems(), above=st.sampled_from((1.0, 1.001, 1e6)))
def test_nothing_is_selected_from_the_largest_penalty_on(problem: Problem, above: float) -> None:
    columns, y, degree, _, factors = problem
    top = largest_penalty(columns, y, degree, factors)
    centred = y - y.mean()
    expected = max(
        abs(float(columns.values[:, list(s)].prod(axis=1) @ centred)) / len(y) / factors[len(s) - 1]
        for s in every_monomial(columns, degree)
    )
    assert top == pytest.approx(expected, rel=1e-9, abs=1e-12)
    fit = solve_lasso(columns, y, degree, max(above * top, 1e-6), factors=factors)
    assert len(fit.polynomial) == 0
    assert fit.polynomial.constant == pytest.approx(y.mean())
    assert fit.gap == pytest.approx(0.0, abs=1e-12)
    assert fit.objective == pytest.approx(y.var() / 2)


@given(problem=problems())
def test_something_is_selected_just_below_it(problem: Problem) -> None:
    columns, y, degree, _, factors = problem
    top = largest_penalty(columns, y, degree, factors)
    if top > 1e-6:
        assert len(solve_lasso(columns, y, degree, 0.999 * top, factors=factors, tolerance=1e-9).polynomial) >= 1


def test_the_largest_penalty_of_constant_values() -> None:
    assert largest_penalty([[1, 1], [-1, 1], [1, -1]], [2.0, 2.0, 2.0], 2) == 0.0


# ---- units ----


@given(problem=problems(), exponent=st.integers(-30, 30))
def test_a_change_of_unit_by_a_power_of_two_is_exact(problem: Problem, exponent: int) -> None:
    columns, y, degree, penalty, factors = problem
    c = 2.0**exponent
    one = solve_lasso(columns, y, degree, penalty, factors=factors)
    other = solve_lasso(columns, c * y, degree, c * penalty, factors=factors)
    assert other.polynomial.terms == {s: c * a for s, a in one.polynomial.terms.items()}
    assert (other.gap, other.n_scans, other.converged) == (one.gap, one.n_scans, one.converged)
    assert other.objective == c * c * one.objective


@pytest.mark.parametrize("share", [0.5, 0.05])
@pytest.mark.parametrize(("c", "b"), [(1000.0, 0.0), (-1.0, 5.0), (1e-4, -3.0), (0.37, 1e3)])
def test_values_may_be_shifted_and_scaled(share: float, c: float, b: float) -> None:
    columns, y = real_problem(5)
    penalty = share * largest_penalty(columns, y, 3)
    one = solve_lasso(columns, y, 3, penalty)
    other = solve_lasso(columns, c * y + b, 3, abs(c) * penalty)
    assert {s for s, _ in one.polynomial} == {s for s, _ in other.polynomial}
    for s, a in one.polynomial:
        assert other.polynomial.terms[s] == pytest.approx(c * a, rel=1e-6, abs=1e-9 * abs(c))
    assert other.polynomial.constant == pytest.approx(c * one.polynomial.constant + b, rel=1e-6, abs=1e-9 * abs(c))
    assert other.gap == pytest.approx(one.gap, abs=1e-9)


def test_values_in_a_tiny_unit() -> None:
    columns, y = real_problem(5)
    penalty = 0.2 * largest_penalty(columns, y, 2)
    one = solve_lasso(columns, y, 2, penalty)
    other = solve_lasso(columns, 2.0**-170 * y, 2, 2.0**-170 * penalty)
    assert len(one.polynomial) > 0
    assert {s for s, _ in other.polynomial} == {s for s, _ in one.polynomial}


def test_the_intercept_makes_the_residual_mean_zero() -> None:
    rng = np.random.default_rng(6)
    columns = Columns(rng.standard_normal((30, 4)) + 2.0, np.arange(4))  # columns of mean 2
    y = 5 + columns.values[:, 0] + 0.1 * rng.standard_normal(30)
    fit = solve_lasso(columns, y, 2, 0.01)
    assert float((y - fit.polynomial(columns)).mean()) == pytest.approx(0.0, abs=1e-12)
    best = optimum(columns, y, 2, 0.01)
    assert fit.polynomial.constant == pytest.approx(best.constant, abs=1e-3)
    assert abs(fit.polynomial.constant - y.mean()) > 0.5  # not just the mean of the values


# ---- paths, automatic penalties ----


@pytest.mark.parametrize("factors", [None, [0.5, 1.0, 2.0]])
def test_a_path_is_separate_solutions(factors: list[float] | None) -> None:
    columns, y = real_problem(7)
    penalties = [share * largest_penalty(columns, y, 3, factors) for share in (1.1, 0.6, 0.3, 0.1, 0.02, 0.2)]
    path = solve_lasso_path(columns, y, 3, penalties, factors=factors, tolerance=1e-10)
    assert [fit.l1_penalty for fit in path] == penalties
    for fit in path:
        alone = solve_lasso(columns, y, 3, fit.l1_penalty, factors=factors, tolerance=1e-10)
        assert fit.objective == pytest.approx(alone.objective, rel=1e-9)
        ours, theirs = coefficients(fit.polynomial, alone.polynomial)
        assert ours == pytest.approx(theirs, abs=1e-6)
        assert fit.converged
    assert len(path[0].polynomial) == 0
    assert solve_lasso_path(columns, y, 3, []) == []


def test_scans_of_a_path_are_counted_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    points, y, penalty = hard_problem()
    scans = count_scans(monkeypatch)
    path = solve_lasso_path(points, y, 3, [10 * penalty, 3 * penalty, penalty])
    assert sum(fit.n_scans for fit in path) == len(scans)
    with pytest.warns(NotConvergedWarning):
        assert not solve_lasso_path(points, y, 3, [penalty], max_scans=1)[0].converged


def test_the_automatic_penalty_is_the_noise_level() -> None:
    columns, y = real_problem(8)
    dictionary = Dictionary(columns, 2)
    expected = float(y.std()) * sqrt(2 * log(6 + 15) / 30)
    assert noise_penalty(dictionary, y) == pytest.approx(expected)
    assert solve_lasso(columns, y, 2) == solve_lasso(columns, y, 2, noise_penalty(dictionary, y))


def test_the_noise_level_silences_noise() -> None:
    """Nothing above it in nearly all of 40 samples of noise, something above half of it in all."""
    silent = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        points, y = rng.choice([-1.0, 1.0], (100, 15)), rng.standard_normal(100)
        penalty = noise_penalty(Dictionary(Columns.parity(points), 3), y)
        top = largest_penalty(points, y, 3)
        silent += top < 1.1 * penalty
        assert top > 0.5 * penalty
    assert silent >= 34


def test_honest_factors() -> None:
    rng = np.random.default_rng(9)
    columns = Columns(rng.standard_normal((5, 7)), np.array([0, 0, 1, 2, 3, 3, 4]))
    counts = [sum(len(s) == k for s in all_monomials(columns.groups, 3)) for k in (1, 2, 3)]
    expected = [sqrt(log(count) / log(sum(counts))) for count in counts]
    assert honest_factors(Dictionary(columns, 3)) == pytest.approx(expected)
    assert honest_factors(Dictionary(Columns.parity([[1.0], [-1.0]]), 1)) == [1.0]  # log 1 = 0 does no harm


def test_the_degree_is_3_if_not_given() -> None:
    points, y, penalty = hard_problem()
    assert solve_lasso(points, y, l1_penalty=4 * penalty) == solve_lasso(points, y, 3, 4 * penalty)


# ---- the edges ----


@pytest.mark.parametrize("value", [0.0, 2.5, 0.1])
@pytest.mark.parametrize("penalty", [None, 0.1])
def test_constant_values(value: float, penalty: float | None) -> None:
    points = np.random.default_rng(0).choice([-1, 1], (7, 4))
    fit = solve_lasso(points, np.full(7, value), 2, penalty)
    assert fit.polynomial == Polynomial({(): value}, 4)
    assert (fit.gap, fit.objective, fit.n_scans, fit.converged) == (0.0, 0.0, 0, True)


def test_two_samples() -> None:
    fit = solve_lasso([[1, -1], [-1, -1]], [3.0, 1.0], 2, 0.25, tolerance=1e-12)
    # x0 and x0*x1 are one column but for the sign, x1 is constant: total weight 1 - 0.25
    assert sum(abs(a) for _, a in fit.polynomial) == pytest.approx(0.75)
    assert fit.polynomial([[1, -1], [-1, -1]]) == pytest.approx([2.75, 1.25])
    assert (1,) not in fit.polynomial.terms
    assert fit.objective == pytest.approx(0.25**2 / 2 + 0.25 * 0.75)


@pytest.mark.parametrize("share", [0.5, 0.01])
def test_repeated_columns_change_nothing(share: float) -> None:
    rng = np.random.default_rng(10)
    points, y = rng.choice([-1.0, 1.0], (40, 5)), rng.standard_normal(40)
    twice = np.hstack([points, points[:, :2], -points[:, :1], np.ones((40, 1))])
    penalty = share * largest_penalty(points, y, 1)
    one, other = solve_lasso(points, y, 1, penalty), solve_lasso(twice, y, 1, penalty)
    assert other.objective == pytest.approx(one.objective, rel=1e-9)
    assert other.polynomial(twice) == pytest.approx(one.polynomial(points), abs=1e-6)
    assert other.converged


def test_a_column_that_is_a_product_of_others() -> None:
    rng = np.random.default_rng(11)
    points = rng.choice([-1.0, 1.0], (40, 4))
    points = np.hstack([points, points[:, :1] * points[:, 1:2]])  # x4 = x0 x1
    y = 3 * points[:, 4] + 0.1 * rng.standard_normal(40)
    fit = solve_lasso(points, y, 2, 0.1, tolerance=1e-9)
    best = objective(Columns.parity(points), y, optimum(Columns.parity(points), y, 2, 0.1), 0.1)
    assert fit.objective == pytest.approx(best, rel=1e-9)
    assert {s for s, a in fit.polynomial if abs(a) > 1e-3} <= {(4,), (0, 1)}


def test_a_tiny_penalty_is_nearly_least_squares() -> None:
    columns, y = real_problem(12)
    fit = solve_lasso(columns, y, 1, 1e-9)
    A = np.hstack([np.ones((30, 1)), columns.values])
    w = np.linalg.lstsq(A, y, rcond=None)[0]
    assert fit.polynomial(columns) == pytest.approx(A @ w, abs=1e-6)
    assert fit.converged


@pytest.mark.parametrize("degree", [2, 3])
def test_blas_threads_do_not_show(degree: int) -> None:
    rng = np.random.default_rng(13)
    points, y = rng.choice([-1.0, 1.0], (300, 30)), rng.standard_normal(300)
    penalty = 0.3 * largest_penalty(points, y, degree)
    fits = []
    for threads in (1, 2, 4):
        with threadpool_limits(threads, user_api="blas"):
            fits.append(solve_lasso(points, y, degree, penalty))
    assert len(fits[0].polynomial) > 20
    assert fits[1:] == fits[:1] * 2  # to the last bit


# ---- errors ----


POINTS = np.random.default_rng(0).choice([-1.0, 1.0], (10, 3))
VALUES = np.random.default_rng(1).standard_normal(10)


@pytest.mark.parametrize("penalty", [nan, inf, -inf, -0.1, 0, "0.1"])
def test_a_penalty_is_finite_and_positive(penalty: Any) -> None:
    expected = rf"^`l1_penalty > 0` must hold and be finite, but got {penalty!r}: "
    with pytest.raises(InputError, match=expected):
        solve_lasso(POINTS, VALUES, 2, penalty)
    with pytest.raises(InputError, match=expected):
        solve_lasso_path(POINTS, VALUES, 2, [0.1, penalty])


@pytest.mark.parametrize(
    "factors", [[], [1.0], [1.0, 1.0, 1.0], [1.0, 0.0], [1.0, -1.0], [nan, 1.0], [1.0, inf], [[1.0, 1.0]]]
)
def test_factors_are_positive_and_one_a_degree(factors: Any) -> None:
    expected = r"^`factors` must be 2 positive numbers, one a degree, but got "
    with pytest.raises(InputError, match=expected):
        solve_lasso(POINTS, VALUES, 2, 0.1, factors=factors)
    with pytest.raises(InputError, match=expected):
        solve_lasso_path(POINTS, VALUES, 2, [0.1], factors=factors)


@pytest.mark.parametrize("factors", [[1.0], [1.0, 0.0], [1.0, -1.0], [1.0, nan]])
def test_factors_of_the_largest_penalty_are_checked_too(factors: list[float]) -> None:
    with pytest.raises(InputError, match=r"^`factors` must be 2 positive numbers"):
        largest_penalty(POINTS, VALUES, 2, factors)


@pytest.mark.parametrize(
    ("degree", "expected"),
    [
        (0, r"`1 <= degree <= 3` must hold .*, but got degree=0$"),
        (4, r"`1 <= degree <= 3` must hold .*, but got degree=4$"),
        (-1, r"`1 <= degree <= 3` must hold .*, but got degree=-1$"),
        (1.5, r"`degree` must be a whole number, but got 1\.5$"),
        (2.0, r"`degree` must be a whole number, but got 2\.0$"),
        (True, r"`degree` must be a whole number, but got True$"),
        ("2", r"`degree` must be a whole number, but got '2'$"),
    ],
)
def test_a_degree_that_cannot_be(degree: Any, expected: str) -> None:
    with pytest.raises(InputError, match=expected):
        solve_lasso(POINTS, VALUES, degree, 0.1)
    with pytest.raises(InputError, match=expected):
        solve_lasso_path(POINTS, VALUES, degree, [0.1])
    with pytest.raises(InputError, match=expected):
        largest_penalty(POINTS, VALUES, degree)


def broken(array: FloatArray, place: Any, value: float) -> FloatArray:
    copy = array.copy()
    copy[place] = value
    return copy


@pytest.mark.parametrize(
    ("points", "values", "expected"),
    [
        (POINTS, VALUES[:9], "one value a point, but there are 10 points and values of shape"),
        (POINTS, VALUES[:, None], "one value a point"),
        (POINTS[0], VALUES, r"points must be a \(T, n\) matrix"),
        (POINTS[:, :0], VALUES, "T, m >= 1"),
        (POINTS[:1], VALUES[:1], "at least 2 samples are needed, but 1 came"),
        (broken(POINTS, (4, 1), 0.0), VALUES, "points must be -1 or .1, but row 4, column 1 is 0.0"),
        (broken(POINTS, (4, 1), nan), VALUES, "points must be -1 or .1, but row 4, column 1 is nan"),
        (POINTS, broken(VALUES, 7, nan), "every value must be finite, but value 7 is nan"),
        (POINTS, broken(VALUES, 7, inf), "every value must be finite, but value 7 is inf"),
        (POINTS, ["a"] * 10, "values must be an array of numbers"),
    ],
)
def test_samples_that_cannot_be_used(points: Any, values: Any, expected: str) -> None:
    for call in (
        lambda: solve_lasso(points, values, 2, 0.1),
        lambda: solve_lasso_path(points, values, 2, [0.1]),
        lambda: largest_penalty(points, values, 2),
    ):
        with pytest.raises(InputError, match=expected):
            call()


def test_the_degree_is_bounded_by_the_groups() -> None:
    columns = Columns(POINTS, np.array([0, 0, 1]))
    assert solve_lasso(columns, VALUES, 2, 0.01).converged
    with pytest.raises(InputError, match="at most one column of each of the 2 groups"):
        solve_lasso(columns, VALUES, 3, 0.01)


@pytest.mark.parametrize("monomial", [(0, 1, 2), (7,), (1, 0)])
def test_a_start_outside_of_the_dictionary(monomial: tuple[int, ...]) -> None:
    with pytest.raises(InputError, match="monomial"):
        solve_lasso(POINTS, VALUES, 2, 0.1, start=[monomial])


def test_factors_are_numbers() -> None:
    with pytest.raises(InputError, match="`factors` must be an array of numbers"):
        solve_lasso(POINTS, VALUES, 2, 0.1, factors=["a", "b"])  # type: ignore[list-item]
