from functools import cache
from math import inf, nan
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import Lasso
from threadpoolctl import threadpool_info, threadpool_limits

from overtone.errors import InputError
from overtone.spectral import recovery as recovery_module
from overtone.spectral.columns import Columns
from overtone.spectral.correlation import Dictionary
from overtone.spectral.families import Family, combine, contrasts, legendre, parity
from overtone.spectral.lasso import honest_factors, largest_penalty, solve_lasso
from overtone.spectral.leftover import Leftover, leftover_signal
from overtone.spectral.monomials import FloatArray, Monomial
from overtone.spectral.polynomial import Polynomial
from overtone.spectral.recovery import Recovery, _folds, recover
from tests.strategies import Terms, all_monomials, evaluate, planted, sample


def found(recovery: Recovery) -> set[Monomial]:
    return {s for s, _ in recovery.polynomial}


# ---- Theorem 1: sparse functions of low degree are recovered ----


@pytest.mark.parametrize(("n", "seed"), [(30, 0), (30, 1), (30, 2), (60, 0), (60, 1)])
def test_noiseless_functions_are_recovered_exactly(n: int, seed: int) -> None:
    terms = planted(seed, n, 6 + 2 * seed)
    recovery = recover(*sample(seed, 300, n, terms))
    assert found(recovery) == set(terms)
    assert dict(recovery.polynomial.terms) == pytest.approx({(): 3.0, **terms}, abs=1e-8)
    assert recovery.verdict == "ok"
    assert recovery.r2 == pytest.approx(1.0, abs=1e-9)
    assert recovery.noise == pytest.approx(0.0, abs=1e-8)
    assert recovery.degree == max(map(len, terms)) == recovery.polynomial.degree
    assert recovery.sparsity == len(terms)
    assert all(feature.stability == 1.0 for feature in recovery.features)


@cache
def noisy() -> tuple[dict[Monomial, float], FloatArray, FloatArray, Recovery]:
    terms: dict[Monomial, float] = {(2,): 2.0, (0, 5): -1.0, (1, 3, 7): 1.5}
    points, y = sample(0, 120, 12, terms, 0.2)
    return terms, points, y, recover(points, y)


def test_noisy_functions_are_recovered_to_the_noise() -> None:
    terms, _, _, recovery = noisy()
    sigma = 0.2 * np.sqrt(2.0**2 + 1.0**2 + 1.5**2)
    assert found(recovery) == set(terms)
    for s, a in terms.items():
        assert recovery.polynomial.terms[s] == pytest.approx(a, abs=5 * sigma / np.sqrt(120))
    assert recovery.verdict == "ok"
    assert recovery.degree == 3
    assert recovery.noise == pytest.approx(sigma, rel=0.25)
    assert recovery.r2 == pytest.approx(1 / 1.04, abs=0.04)


def test_what_a_recovery_says_fits_together() -> None:
    terms, points, y, recovery = noisy()
    assert [(feature.monomial, feature.coefficient) for feature in recovery.features] == list(recovery.polynomial)
    assert all(feature.stability in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0) for feature in recovery.features)
    assert all(feature.evidence > 5 for feature in recovery.features)
    assert recovery.sparsity == len(recovery.polynomial) == len(terms)
    assert set(recovery.held_out) >= {1, 2, 3}
    assert recovery.r2 == recovery.held_out[recovery.degree] == max(recovery.held_out.values())
    r = y - recovery.polynomial(points)
    assert recovery.noise == pytest.approx(np.sqrt(r @ r / (120 - 1 - 3)))


def test_the_polynomial_is_the_least_squares_fit_of_its_monomials() -> None:
    _, points, y, recovery = noisy()
    names = [(), *found(recovery)]
    A = np.stack([points[:, list(s)].prod(axis=1) for s in names], axis=1)
    w = np.linalg.lstsq(A, y, rcond=None)[0]
    assert dict(recovery.polynomial.terms) == pytest.approx(dict(zip(names, w.tolist(), strict=True)), abs=1e-9)


def test_the_lasso_comes_with_its_certificate() -> None:
    terms, points, y, recovery = noisy()
    lasso = recovery.lasso
    assert lasso.converged
    assert lasso.gap <= 1e-6
    assert lasso.l1_penalty == recovery.l1_penalty > 0
    assert {s for s, _ in lasso.polynomial} >= set(terms)  # shrunk, but there
    factors = honest_factors(Dictionary(Columns.parity(points), recovery.degree))
    alone = solve_lasso(points, y, recovery.degree, recovery.l1_penalty, factors=factors)
    assert lasso.objective == pytest.approx(alone.objective, rel=1e-5)


def test_it_reads_well() -> None:
    terms: Terms = {(2,): 2.0, (0, 5): -1.0}
    recovery = recover(*sample(1, 60, 6, terms), degree=2)
    assert str(recovery) == ("3 + 2*x2 - 1*x0*x5\nok: 2 monomials predict 100% of the variance of samples not seen")
    assert recovery.reason == "2 monomials predict 100% of the variance of samples not seen"


# ---- degrees ----


@pytest.mark.parametrize("seed", range(2))
def test_a_function_of_degree_3_alone(seed: int) -> None:
    """Like XOR: no column, and no pair of columns, tells anything."""
    recovery = recover(*sample(seed, 100, 12, {(1, 4, 9): 1.0}, 0.3))
    assert found(recovery) == {(1, 4, 9)}
    assert (recovery.degree, recovery.verdict) == (3, "ok")


def test_linear_functions_keep_degree_1() -> None:
    terms: Terms = dict.fromkeys([(0,), (1,), (2,), (3,)], 1.0)
    linear = [recover(*sample(seed, 60, 8, terms, 0.3)) for seed in range(4)]
    assert sum(recovery.degree == 1 for recovery in linear) >= 3
    assert sum(found(recovery) == set(terms) for recovery in linear) >= 3


def test_the_ladder_goes_on_to_degree_4() -> None:
    terms: Terms = {(0, 1, 2, 3): 1.5, (4, 5, 6): 1.5, (7,): 1.0}
    recovery = recover(*sample(0, 200, 12, terms, 0.1))
    assert found(recovery) == set(terms)
    assert recovery.degree == 4
    assert set(recovery.held_out) >= {1, 2, 3, 4}


@pytest.mark.parametrize("terms", [{(0, 1, 2, 3): 2.0}, {(0, 1, 2, 3): 2.0, (4,): 1.0}])
def test_the_ladder_goes_on_to_degree_4_past_rungs_that_bring_nothing(terms: Terms) -> None:
    recovery = recover(*sample(0, 150, 12, terms, 0.05))
    assert found(recovery) == set(terms)


@pytest.mark.parametrize("given", [{"sparsity": 1}, {"l1_penalty": 1.9}])
def test_what_is_left_out_on_purpose_is_no_reason_to_climb(given: dict[str, Any]) -> None:
    points, y = sample(0, 60, 5, {(0,): 2.0, (1, 2): 1.5}, 0.1)
    recovery = recover(points, y, **given)
    assert found(recovery) == {(0,)}
    assert set(recovery.held_out) == {1, 2, 3}


def test_no_rung_is_tried_that_takes_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    points, y = sample(0, 100, 8, {(0,): 1.0, (1, 2, 3, 4): 1.0}, 0.1)
    monkeypatch.setattr(recovery_module, "CHEAP", 2 * 100 * 69)  # 70 monomials of degree 4
    assert set(recover(points, y).held_out) == {1, 2, 3}
    monkeypatch.setattr(recovery_module, "AFFORDABLE", 2 * 100 * 28)  # 28 of degree 2, 56 of degree 3
    assert set(recover(points, y).held_out) == {1, 2}
    monkeypatch.setattr(recovery_module, "AFFORDABLE", 0)
    assert set(recover(points, y).held_out) == {1}


@pytest.mark.parametrize(("n", "T"), [(2, 30), (3, 40)])
def test_no_degree_is_above_the_number_of_columns(n: int, T: int) -> None:
    terms: Terms = {tuple(range(n)): 1.0, (0,): 0.5}
    recovery = recover(*sample(0, T, n, terms, 0.1))
    assert found(recovery) == set(terms)
    assert recovery.degree == n == max(recovery.held_out)


def test_a_degree_that_is_too_low_finds_what_it_can() -> None:
    terms: Terms = {(2,): 2.0, (0, 5): 1.5, (1, 3, 7): 0.3}
    recovery = recover(*sample(0, 150, 10, terms, 0.1), degree=2)
    assert found(recovery) == {(2,), (0, 5)}
    assert recovery.degree == 2
    assert set(recovery.held_out) == {2}


# ---- units, threads, repetition ----


@pytest.mark.parametrize(("c", "b"), [(1000.0, -7.0), (-0.01, 0.0), (1.0, 50.0)])
def test_values_may_be_shifted_and_scaled(c: float, b: float) -> None:
    _, points, y, one = noisy()
    other = recover(points, c * y + b)
    assert [feature.monomial for feature in other.features] == [feature.monomial for feature in one.features]
    assert (other.verdict, other.degree, other.reason) == (one.verdict, one.degree, one.reason)
    assert other.r2 == pytest.approx(one.r2, abs=1e-9)
    assert other.held_out == pytest.approx(one.held_out, abs=1e-9)
    assert other.noise == pytest.approx(abs(c) * one.noise, rel=1e-9)
    assert other.l1_penalty == pytest.approx(abs(c) * one.l1_penalty, rel=1e-9)
    assert other.polynomial.constant == pytest.approx(c * one.polynomial.constant + b, rel=1e-9)
    for mine, theirs in zip(other.features, one.features, strict=True):
        assert mine.coefficient == pytest.approx(c * theirs.coefficient, rel=1e-9)
        assert mine.stability == theirs.stability
        assert mine.evidence == pytest.approx(theirs.evidence, rel=1e-6)


def test_values_in_a_huge_unit() -> None:
    terms, points, y, _ = noisy()
    assert found(recover(points, 2.0**140 * y, degree=3)) == set(terms)


def test_blas_threads_do_not_show() -> None:
    terms = planted(3, 25, 6)
    points, y = sample(3, 220, 25, terms, 0.3)
    recoveries = []
    for threads in (1, 2, 4):
        with threadpool_limits(threads, user_api="blas"):
            recoveries.append(recover(points, y, degree=3))
    assert found(recoveries[0]) >= {s for s, a in terms.items() if abs(a) > 1}
    assert recoveries[1:] == recoveries[:1] * 2  # to the last bit


def test_blas_is_on_one_thread_to_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the verdict is found, whose last bits would else depend on the threads."""
    seen: set[int] = set()

    def spy(columns: Columns, residual: FloatArray) -> Leftover:
        seen.update(library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas")
        return leftover_signal(columns, residual)

    monkeypatch.setattr(recovery_module, "leftover_signal", spy)
    with threadpool_limits(2, user_api="blas"):
        recover(*sample(0, 30, 4, {(0,): 1.0}, 0.1), degree=1)
    assert seen == {1}


def test_twice_the_same() -> None:
    _, points, y, recovery = noisy()
    assert recover(points.tolist(), y.tolist()) == recovery


def test_inputs_are_left_as_they_are() -> None:
    points, y = sample(0, 40, 5, {(1,): 1.0}, 0.5)
    before = points.copy(), y.copy()
    recover(points, y)
    assert np.array_equal(points, before[0])
    assert np.array_equal(y, before[1])


# ---- verdicts ----


def test_noise_is_no_signal() -> None:
    recoveries = [recover(*sample(seed, 50, 6, {}, 1.0), degree=2 if seed % 4 else None) for seed in range(20)]
    silent = [recovery for recovery in recoveries if recovery.verdict == "no signal"]
    assert len(silent) >= 16
    assert sum(recovery.verdict == "ok" for recovery in recoveries) <= 1
    assert sum(recovery.sparsity for recovery in recoveries) <= 5
    for recovery in recoveries:
        assert all(feature.stability >= 0.4 or feature.evidence >= 3 for feature in recovery.features)
    for recovery in silent:
        assert len(recovery.polynomial) == 0
        assert recovery.reason.startswith("no monomial stands out from the noise")


@pytest.mark.parametrize("value", [0.0, 0.1, -7.0])
def test_constant_values(value: float) -> None:
    points, _ = sample(0, 20, 4, {})
    recovery = recover(points, np.full(20, value))
    assert recovery.polynomial == Polynomial({(): value}, 4)
    assert (recovery.verdict, recovery.features, recovery.noise) == ("no signal", (), 0.0)
    assert recovery.reason == f"all 20 values are {value:g}"
    assert recovery.lasso.converged
    assert str(recovery) == f"{value:g}\nno signal: all 20 values are {value:g}"


def test_dense_functions_are_not_sparse_at_this_sample_size() -> None:
    for seed in range(3):
        recovery = recover(*sample(seed, 80, 50, dict.fromkeys([(i,) for i in range(50)], 1.0)))
        assert recovery.verdict == "not sparse at this sample size"
        assert recovery.reason.endswith("take more samples")


def test_below_the_cliff_nothing_wrong_is_called_ok() -> None:
    """20 features, 60 columns, 10 % noise: 100 samples are too few."""
    for seed in range(10):
        terms = planted(seed, 60, 20)
        recovery = recover(*sample(seed, 100, 60, terms, 0.1))
        hits = len(found(recovery) & set(terms))
        assert recovery.verdict != "ok" or hits >= 16
        assert len(found(recovery)) - hits <= 3


@pytest.mark.parametrize("seed", range(2))
def test_above_the_cliff_all_is_found(seed: int) -> None:
    terms = planted(seed, 60, 20)
    recovery = recover(*sample(seed, 300, 60, terms, 0.1))
    assert recovery.verdict == "ok"
    assert found(recovery) == set(terms)
    assert recovery.r2 > 0.95


@pytest.mark.parametrize("seed", [2, 5])
def test_what_all_samples_show_clearly_counts_even_if_parts_of_them_do_not(seed: int) -> None:
    """8 features, 50 samples: few enough for fits on 40 of them to fail."""
    terms = planted(seed, 20, 8)
    recovery = recover(*sample(seed, 50, 20, terms, 0.1), degree=3)
    assert found(recovery) == set(terms)
    assert any(feature.stability < 0.5 for feature in recovery.features)
    assert all(feature.evidence > 10 for feature in recovery.features)


def test_hardly_any_feature_is_false() -> None:
    false, missed = 0, 0
    for seed in range(12):
        terms = planted(seed, 12, 3, 2)
        recovery = recover(*sample(seed, 60, 12, terms, 0.5), degree=2)
        false += len(found(recovery) - set(terms))
        missed += len(set(terms) - found(recovery))
    assert false <= 4  # of 36
    assert missed <= 6


# ---- given degree, sparsity, penalty: the paper's PSR ----


def psr(columns: Columns, y: FloatArray, degree: int, sparsity: int, penalty: float) -> Polynomial:
    """Step 3 by scikit-learn on the whole matrix, step 4, and a least-squares refit."""
    monomials = [s for s in all_monomials(columns.groups, degree) if s]
    A = np.stack([columns.values[:, list(s)].prod(axis=1) for s in monomials], axis=1)
    w = Lasso(alpha=penalty, tol=1e-9, max_iter=100_000).fit(A, y).coef_
    kept = [i for i in np.argsort(-np.abs(w), kind="stable")[:sparsity].tolist() if w[i] != 0]
    B = np.column_stack([np.ones(len(y)), A[:, kept]])
    refitted = np.linalg.lstsq(B, y, rcond=None)[0].tolist()
    return Polynomial(dict(zip([(), *(monomials[i] for i in kept)], refitted, strict=True)), columns.n)


@pytest.mark.parametrize(("degree", "sparsity", "share"), [(2, 4, 0.3), (3, 6, 0.2), (2, 3, 0.9), (1, 2, 0.05)])
def test_the_paper_to_the_letter(degree: int, sparsity: int, share: float) -> None:
    points, y = sample(0, 60, 8, planted(0, 8, 4), 0.5)
    columns = Columns.parity(points)
    penalty = share * largest_penalty(points, y, degree)
    recovery = recover(points, y, degree=degree, sparsity=sparsity, l1_penalty=penalty)
    expected = psr(columns, y, degree, sparsity, penalty)
    assert dict(recovery.polynomial.terms) == pytest.approx(dict(expected.terms), abs=1e-8)
    top = solve_lasso(points, y, degree, penalty).polynomial.top(sparsity)
    assert found(recovery) == {s for s, _ in top}
    assert (recovery.l1_penalty, recovery.degree) == (penalty, degree)
    assert recovery.lasso.objective == pytest.approx(solve_lasso(points, y, degree, penalty).objective, rel=1e-6)

    fold = _folds(60)  # the held-out share of the variance, once more by hand
    error = 0.0
    for f in range(5):
        training = psr(columns.rows(np.flatnonzero(fold != f)), y[fold != f], degree, sparsity, penalty)
        error += float(((y[fold == f] - training(points[fold == f])) ** 2).sum())
    assert recovery.r2 == pytest.approx(1 - error / 60 / y.var(), abs=1e-6)


@pytest.mark.parametrize(("sparsity", "degree"), [(1, 2), (3, 2), (7, 2), (3, None)])
def test_a_given_sparsity_is_the_number_of_monomials(sparsity: int, degree: int | None) -> None:
    terms, points, y, _ = noisy()
    recovery = recover(points, y, degree=degree, sparsity=sparsity)
    assert recovery.sparsity == len(recovery.features) == sparsity
    if degree is None:
        strongest = sorted(terms, key=lambda s: -abs(terms[s]))[:sparsity]
        assert found(recovery) >= set(strongest)


def test_a_given_penalty_bounds_the_monomials_by_the_lasso() -> None:
    terms, points, y, _ = noisy()
    penalty = 0.2
    recovery = recover(points, y, degree=3, l1_penalty=penalty)
    assert set(terms) <= found(recovery) <= {s for s, _ in solve_lasso(points, y, 3, penalty).polynomial}
    assert recovery.l1_penalty == penalty
    nothing = recover(points, y, degree=3, l1_penalty=1.01 * largest_penalty(points, y, 3))
    assert len(nothing.polynomial) == 0


def test_a_small_penalty_and_a_large_sparsity() -> None:
    points, y = sample(0, 20, 6, {(0,): 1.0}, 0.5)
    recovery = recover(points, y, degree=2, sparsity=50, l1_penalty=1e-3)
    assert 10 < recovery.sparsity <= 18
    assert np.isfinite(recovery.r2)


# ---- other families ----


@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_contrasts_and_polynomials(noise: float) -> None:
    """A product takes one column of each parameter; the answer names columns."""
    rng = np.random.default_rng(4)
    families: list[Family] = [contrasts(3), legendre(3), parity(), contrasts(4), legendre(2), contrasts(5)]
    columns = combine(families, np.stack([family.sample(rng, 250) for family in families], axis=1))
    terms: Terms = {(1,): 1.0, (3, 5): -2.0, (0, 8, 13): 1.5, (9,): 0.7}  # groups 0; 1 and 2; 0, 3 and 5; 4
    y = -1 + evaluate(columns, terms) + noise * rng.standard_normal(250)
    recovery = recover(columns, y)
    assert found(recovery) == set(terms)
    assert dict(recovery.polynomial.terms) == pytest.approx({(): -1.0, **terms}, abs=1e-8 + 0.5 * noise)
    assert recovery.verdict == "ok"


# ---- the edges ----


@pytest.mark.parametrize(("n", "T"), [(3, 6), (4, 7), (6, 8), (4, 12)])
def test_a_few_samples(n: int, T: int) -> None:
    for seed in range(3):
        points, y = sample(seed, T, n, {}, 1.0)
        recovery = recover(points, y)
        assert np.isfinite([recovery.r2, recovery.noise, *recovery.polynomial.terms.values()]).all()
        assert recovery.degree <= n


FREE = "misfit() divides by T-1-k, which is 0 if all samples are used up, and by the total, which may be 0"
GREEDY = "greedy() divides by the norm of a column that is constant, or in the span of those it has: 0 / 0"


@pytest.mark.parametrize("T", [2, 3, 4, 5])
@pytest.mark.parametrize("n", [1, 2, 4])
def test_two_to_five_samples(n: int, T: int) -> None:
    for seed in range(2):
        recovery = recover(*sample(seed, T, n, {}, 1.0))
        assert recovery.degree <= n
        assert np.isfinite([recovery.r2, recovery.noise]).all()


@pytest.mark.parametrize("T", [8, 20])
def test_a_constant_column(T: int) -> None:
    assert len(recover(np.ones((T, 1)), np.arange(T) % 3).polynomial) == 0


def test_values_that_differ_in_one_fold_only() -> None:
    """Without that fold the values are constant."""
    points, y = sample(0, 30, 4, {})
    y[0] += 1.0
    assert recover(points, y).verdict == "no signal"


def test_one_column() -> None:
    points, y = sample(0, 40, 1, {(0,): 1.0}, 0.5)
    recovery = recover(points, y)
    assert found(recovery) == {(0,)}
    assert recovery.degree == 1
    assert set(recovery.held_out) == {1}


def test_repeated_columns() -> None:
    points, y = sample(0, 60, 4, {(0,): 2.0, (1, 2): 1.0}, 0.1)
    recovery = recover(np.hstack([points, points[:, :2]]), y)  # x4 = x0, x5 = x1
    assert recovery.sparsity == 2
    assert recovery.verdict == "ok"
    assert recovery.r2 > 0.95


# ---- errors ----


POINTS, VALUES = sample(0, 12, 3, {(0,): 1.0}, 0.5)


@pytest.mark.parametrize("sparsity", [0, -1, 1.5, 2.0, True, "3", nan])
def test_a_sparsity_that_cannot_be(sparsity: Any) -> None:
    expected = "^`sparsity` must be a whole number >= 1, or None for automatic, but got "
    with pytest.raises(InputError, match=expected):
        recover(POINTS, VALUES, sparsity=sparsity)


@pytest.mark.parametrize(
    ("degree", "expected"),
    [
        (0, r"`1 <= degree <= 3` must hold .*, but got degree=0$"),
        (4, r"`1 <= degree <= 3` must hold .*, but got degree=4$"),
        (1.5, r"`degree` must be a whole number, but got 1\.5$"),
        (True, r"`degree` must be a whole number, but got True$"),
    ],
)
def test_a_degree_that_cannot_be(degree: Any, expected: str) -> None:
    with pytest.raises(InputError, match=expected):
        recover(POINTS, VALUES, degree=degree)


@pytest.mark.parametrize("penalty", [nan, inf, -1.0, 0, "0.1"])
def test_a_penalty_that_cannot_be(penalty: Any) -> None:
    with pytest.raises(InputError, match=r"^`l1_penalty > 0` must hold and be finite, but got "):
        recover(POINTS, VALUES, degree=2, l1_penalty=penalty)


@pytest.mark.parametrize(
    "given", [{"degree": 0}, {"degree": 4}, {"degree": True}, {"l1_penalty": -1.0}, {"sparsity": 0}]
)
def test_settings_are_checked_even_if_the_values_are_constant(given: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=next(iter(given))):
        recover(POINTS, np.ones(12), **given)


@pytest.mark.parametrize(
    ("points", "values", "expected"),
    [
        (POINTS, VALUES[:9], "one value a point, but there are 12 points and values of shape"),
        (POINTS[0], VALUES, r"points must be a \(T, n\) matrix"),
        (POINTS[:1], VALUES[:1], "at least 2 samples are needed, but 1 came"),
        (POINTS[:0], VALUES[:0], "T, m >= 1"),
        ((POINTS + 1) / 2, VALUES, "points must be -1 or .1, .* map 0/1 data by"),
        (POINTS, np.where(np.arange(12) == 7, nan, VALUES), "every value must be finite, but value 7 is nan"),
        (POINTS, np.where(np.arange(12) == 7, inf, VALUES), "every value must be finite, but value 7 is inf"),
        (POINTS, 1e200 * VALUES, "values must be below 1e100"),
        (POINTS, 1e-200 * VALUES, "differ by 1e-100 or more"),
    ],
)
def test_samples_that_cannot_be_used(points: Any, values: Any, expected: str) -> None:
    with pytest.raises(InputError, match=expected):
        recover(points, values)
