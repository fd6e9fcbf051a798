from collections.abc import Sequence
from functools import cache
from itertools import combinations
from math import comb, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

from overtone.spectral.columns import Columns
from overtone.spectral.correlation import Dictionary
from overtone.spectral.families import combine, contrasts, legendre
from overtone.spectral.monomials import FloatArray, Monomial
from overtone.spectral.selection import Model, refit, select
from tests.strategies import all_monomials, evaluate, group_structures, planted, sample

Problem = tuple[Dictionary, FloatArray]  # all monomials over some columns, and values


@cache
def monomials_of(groups: tuple[int, ...], degree: int) -> list[Monomial]:
    return [s for s in all_monomials(np.array(groups), degree) if s]


def every_monomial(dictionary: Dictionary) -> list[Monomial]:
    return monomials_of(tuple(dictionary.columns.groups.tolist()), dictionary.degree)


def least_squares(dictionary: Dictionary, y: FloatArray, monomials: Sequence[Monomial]) -> tuple[FloatArray, float]:
    """Coefficients and RSS, with the constant as one more column instead of centred ones."""
    A = np.stack([dictionary.columns.values[:, list(s)].prod(axis=1) for s in ((), *monomials)], axis=1)
    w = np.linalg.lstsq(A, y, rcond=None)[0]
    return w[1:], float(((y - A @ w) ** 2).sum())


def cost(dictionary: Dictionary, y: FloatArray, monomials: Sequence[Monomial]) -> float:
    """The description length, written down once more from the module's docstring."""
    T, k = len(y), len(monomials)
    rss = max(least_squares(dictionary, y, monomials)[1], 1e-12 * T * float(y.var()))
    names = 0.0
    for degree in range(1, dictionary.degree + 1):
        N = sum(len(s) == degree for s in every_monomial(dictionary))
        names += log(comb(N, sum(len(s) == degree for s in monomials)))
    return (T - 1 - k) / 2 * log(rss / ((T - 1 - k) * float(y.var()))) + names + k / 2 * log(T)


def eliminate(dictionary: Dictionary, y: FloatArray, monomials: Sequence[Monomial]) -> set[Monomial]:
    """Backward elimination, one least-squares fit a candidate."""
    kept = list(monomials)
    while kept:
        others = [[s for s in kept if s != gone] for gone in kept]
        best = min(others, key=lambda model: cost(dictionary, y, model))
        if cost(dictionary, y, best) >= cost(dictionary, y, kept):
            break
        kept = best
    return set(kept)


def parity_problem(
    seed: int, T: int, n: int, degree: int, terms: Sequence[tuple[Monomial, float]] = (), noise: float = 1.0
) -> Problem:
    rng = np.random.default_rng(seed)
    points = rng.choice([-1.0, 1.0], (T, n))
    y = 10 + noise * rng.standard_normal(T)
    for s, a in terms:
        y += a * points[:, list(s)].prod(axis=1)
    return Dictionary(Columns.parity(points), degree), y


@st.composite
def problems(draw: st.DrawFn, min_samples: int = 8) -> Problem:
    """Columns of any kind and group structure, with values that a few monomials explain in part."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    groups = draw(st.one_of(st.integers(2, 7).map(lambda n: np.arange(n, dtype=np.intp)), group_structures()))
    T, n = draw(st.integers(min_samples, 40)), len(groups)
    values = rng.standard_normal((T, n)) if draw(st.booleans()) else rng.choice([-1.0, 1.0], (T, n))
    columns = Columns(values, groups)
    dictionary = Dictionary(columns, draw(st.integers(1, min(3, columns.n_groups))))
    monomials = every_monomial(dictionary)
    y = draw(st.sampled_from((0.1, 1.0))) * rng.standard_normal(T) - 3
    for i in rng.integers(0, len(monomials), 3):
        y += values[:, list(monomials[i])].prod(axis=1)
    return dictionary, y


@st.composite
def models(draw: st.DrawFn) -> tuple[Dictionary, FloatArray, list[Monomial]]:
    """A problem and some of its monomials, few enough to be fitted and not pruned by force."""
    dictionary, y = draw(problems(min_samples=12))
    monomials = every_monomial(dictionary)
    largest = min(len(monomials), (len(y) - 2) // 3)
    return dictionary, y, draw(st.lists(st.sampled_from(monomials), unique=True, max_size=largest))


def is_independent(dictionary: Dictionary, monomials: Sequence[Monomial]) -> bool:
    A = np.stack([dictionary.columns.values[:, list(s)].prod(axis=1) for s in ((), *monomials)], axis=1)
    return bool(np.linalg.cond(A) < 1e3)


# ---- what a model is worth ----


@given(model=models())
def test_a_model_is_refitted_and_judged(model: tuple[Dictionary, FloatArray, list[Monomial]]) -> None:
    dictionary, y, monomials = model
    found = refit(dictionary, y, monomials)
    w, rss = least_squares(dictionary, y, monomials)
    assert set(found.monomials) == set(monomials)
    assert len(found.monomials) == len(found.coefficients) == len(found.evidence) == len(monomials)
    assert found.cost == pytest.approx(cost(dictionary, y, monomials), rel=1e-9, abs=1e-9)
    assert float(found.residual @ found.residual) == pytest.approx(rss, rel=1e-9, abs=1e-12)
    assert float(found.residual.sum()) == pytest.approx(0.0, abs=1e-9)
    if is_independent(dictionary, monomials):
        expected = dict(zip(monomials, w.tolist(), strict=True))
        assert found.coefficients == pytest.approx([expected[s] for s in found.monomials], abs=1e-9)


@given(model=models())
def test_evidence_is_what_leaving_out_costs(model: tuple[Dictionary, FloatArray, list[Monomial]]) -> None:
    dictionary, y, monomials = model
    if not is_independent(dictionary, monomials):
        return
    found = refit(dictionary, y, monomials)
    for s, evidence in zip(found.monomials, found.evidence, strict=True):
        without = cost(dictionary, y, [other for other in monomials if other != s])
        assert evidence == pytest.approx(without - cost(dictionary, y, monomials), abs=1e-5)


def test_the_evidence_of_an_exact_fit() -> None:
    dictionary, y = parity_problem(0, 40, 6, 2, [((0,), 1.0), ((1, 2), 3.0)], noise=0.0)
    found = refit(dictionary, y, [(0,), (1, 2)])
    for s, evidence in zip(found.monomials, found.evidence, strict=True):
        without = cost(dictionary, y, [other for other in found.monomials if other != s])
        assert evidence == pytest.approx(without - cost(dictionary, y, found.monomials), rel=1e-6)
        assert evidence > 100


def test_the_empty_model() -> None:
    dictionary, y = parity_problem(1, 20, 5, 2)
    found = refit(dictionary, y, [])
    assert (found.monomials, len(found.coefficients), len(found.evidence)) == ((), 0, 0)
    assert np.array_equal(found.residual, y - y.mean())
    assert found.cost == pytest.approx(19 / 2 * log(20 / 19))


def test_repeated_monomials_are_one() -> None:
    dictionary, y = parity_problem(2, 20, 5, 2)
    assert refit(dictionary, y, [(0,), (1, 2), (0,)]).monomials == ((0,), (1, 2))


def test_repeated_columns_have_no_evidence() -> None:
    """Either of two equal columns can go: all that is saved is its price."""
    rng = np.random.default_rng(3)
    points = rng.choice([-1.0, 1.0], (30, 3))
    points[:, 1] = points[:, 0]
    dictionary = Dictionary(Columns.parity(points), 1)
    y = points[:, 0] + 0.1 * rng.standard_normal(30)
    found = refit(dictionary, y, [(0,), (1,)])
    assert np.isfinite(found.evidence).all()
    assert (found.evidence < 0).all()
    assert sum(found.coefficients) == pytest.approx(refit(dictionary, y, [(0,)]).coefficients[0])
    assert len(refit(dictionary, y, [(0,), (1,)], prune=True).monomials) == 1


# ---- pruning ----


@settings(max_examples=60)
@given(model=models())
def test_pruning_is_backward_elimination(model: tuple[Dictionary, FloatArray, list[Monomial]]) -> None:
    dictionary, y, monomials = model
    if not is_independent(dictionary, monomials):
        return
    found = refit(dictionary, y, monomials, prune=True)
    assert set(found.monomials) == eliminate(dictionary, y, monomials)
    assert found.cost <= refit(dictionary, y, monomials).cost + 1e-9
    assert (found.evidence > -1e-6).all()


@given(problem=problems(min_samples=6), seed=st.integers(0, 2**32 - 1))
def test_pruning_leaves_no_more_than_the_samples_bear(problem: Problem, seed: int) -> None:
    dictionary, y = problem
    monomials = every_monomial(dictionary)
    order = np.random.default_rng(seed).permutation(len(monomials))
    found = refit(dictionary, y, [monomials[i] for i in order], prune=True)  # all of them: often far too many
    assert len(found.monomials) <= max(1, (len(y) - 2) // 3)
    assert set(found.monomials) <= set(monomials)


# ---- the search ----


@settings(max_examples=40)
@given(problem=problems())
def test_what_is_selected_is_within_bounds_and_honestly_judged(problem: Problem) -> None:
    dictionary, y = problem
    found = select(dictionary, y)
    assert len(set(found.monomials)) == len(found.monomials) <= max(1, (len(y) - 2) // 3)
    assert set(found.monomials) <= set(every_monomial(dictionary))
    assert found.cost == pytest.approx(cost(dictionary, y, found.monomials), rel=1e-9, abs=1e-9)
    assert found.cost <= cost(dictionary, y, ()) + 1e-9


@settings(max_examples=30)
@given(problem=problems())
def test_no_single_step_makes_it_better(problem: Problem) -> None:
    """Neither one monomial more, of all there are, nor one less."""
    dictionary, y = problem
    found = select(dictionary, y)
    if float(found.residual @ found.residual) <= 1e-12 * float(y.var()) * len(y):
        return  # exact: the search ends
    steps = [[s for s in found.monomials if s != gone] for gone in found.monomials]
    if len(found.monomials) < (len(y) - 2) // 3:
        steps += [[*found.monomials, s] for s in every_monomial(dictionary) if s not in found.monomials]
    assert all(cost(dictionary, y, step) >= found.cost - 1e-6 for step in steps)


@settings(max_examples=40)
@given(problem=problems(min_samples=6), sparsity=st.integers(1, 8))
def test_a_given_sparsity_is_the_most(problem: Problem, sparsity: int) -> None:
    dictionary, y = problem
    found = select(dictionary, y, sparsity=sparsity)
    assert 1 <= len(set(found.monomials)) == len(found.monomials) <= min(sparsity, len(y) - 2)
    assert found.cost == pytest.approx(cost(dictionary, y, found.monomials), rel=1e-9, abs=1e-9)


POOL = "fill() takes from the pool only, and the pool may run out long before the dictionary does"


@pytest.mark.parametrize(("T", "n", "degree", "sparsity"), [(60, 8, 3, 7), (60, 10, 2, 5), (30, 12, 2, 8)])
def test_a_given_sparsity_is_the_size(T: int, n: int, degree: int, sparsity: int) -> None:
    for seed in range(5):
        dictionary, y = parity_problem(seed, T, n, degree, [((0,), 1.0), ((1, 2), 1.0)], noise=0.5)
        assert len(select(dictionary, y, sparsity=sparsity).monomials) == sparsity


def test_a_given_sparsity_is_the_size_even_if_most_monomials_are_weaker_than_noise() -> None:
    for seed in range(20):
        dictionary, y = parity_problem(seed, 50, 5, 1, [((0,), 1.0)], noise=0.1)
        assert len(select(dictionary, y, sparsity=5).monomials) == 5


def test_a_given_sparsity_is_the_size_even_if_it_is_large() -> None:
    dictionary, y = parity_problem(13, 200, 25, 2)
    assert len(select(dictionary, y, sparsity=195).monomials) == 195


def test_no_subset_is_much_better() -> None:
    """The best of all models of at most 4 of the 10 monomials, by brute force: found in nearly all of 15 problems."""
    found_best = 0
    for seed in range(15):
        dictionary, y = parity_problem(seed, 14, 4, 2, [((0,), 1.0), ((1, 2), -1.0)], noise=0.5)
        monomials = every_monomial(dictionary)
        best = min(cost(dictionary, y, s) for k in range(5) for s in combinations(monomials, k))
        ours = select(dictionary, y).cost
        assert ours >= best - 1e-9
        found_best += ours <= best + 1e-9
    assert found_best >= 13


PLANTED: list[tuple[Monomial, float]] = [((3,), 2.0), ((0, 5), -1.0), ((1, 2, 7), 1.5), ((4, 9), 0.8)]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("noise", [0.0, 0.5])
def test_planted_models_are_found(seed: int, noise: float) -> None:
    dictionary, y = parity_problem(seed, 120, 15, 3, PLANTED, noise)
    found = select(dictionary, y)
    assert set(found.monomials) == {s for s, _ in PLANTED}
    assert found.coefficients == pytest.approx([dict(PLANTED)[s] for s in found.monomials], abs=noise + 1e-9)
    assert (found.evidence > 5).all()
    assert set(select(dictionary, y, sparsity=4).monomials) == {s for s, _ in PLANTED}
    two = select(dictionary, y, sparsity=2)
    assert set(two.monomials) == {(3,), (1, 2, 7)}  # the largest


@pytest.mark.parametrize("seed", [0, 2, 11])
def test_at_the_edge_of_what_can_be_found(seed: int) -> None:
    """8 of 1,350 monomials, 45 samples. Seed 2 needs the greedy proposal; 0 and 11 the Lasso's, and its improvement."""
    terms = planted(seed, 20, 8)
    points, y = sample(seed, 45, 20, terms, 0.1)
    assert set(select(Dictionary(Columns.parity(points), 3), y).monomials) == set(terms)


def test_an_exact_fit_is_not_filled_up() -> None:
    dictionary, y = parity_problem(0, 120, 15, 3, PLANTED, 0.0)
    assert set(select(dictionary, y, sparsity=9).monomials) == {s for s, _ in PLANTED}


def test_planted_models_of_other_families() -> None:
    rng = np.random.default_rng(5)
    families = [contrasts(3), legendre(2), contrasts(4), legendre(3)]
    columns = combine(families, np.stack([family.sample(rng, 150) for family in families], axis=1))
    terms: dict[Monomial, float] = {(0,): 1.0, (1, 3): 2.0, (2, 5, 9): -1.0}  # of groups 0; 0 and 1; 1, 2 and 3
    y = evaluate(columns, terms) + 0.2 * rng.standard_normal(150)
    found = select(Dictionary(columns, 3), y)
    assert dict(zip(found.monomials, found.coefficients, strict=True)) == pytest.approx(terms, abs=0.1)


def test_noise_selects_nothing() -> None:
    sizes = [len(select(*parity_problem(seed, 80, 15, 3)).monomials) for seed in range(20)]
    assert sum(size == 0 for size in sizes) >= 17
    assert max(sizes) <= 3


def test_a_start_is_never_made_worse() -> None:
    for seed in range(5):
        dictionary, y = parity_problem(seed, 60, 20, 3, PLANTED, noise=1.0)
        truth = [s for s, _ in PLANTED]
        junk: list[Monomial] = [(0,), (0, 1), (0, 1, 2), (0,)]
        found = select(dictionary, y, [truth, junk, []])
        pruned = refit(dictionary, y, truth, prune=True)
        assert found.cost <= min(pruned.cost, refit(dictionary, y, []).cost) + 1e-9


def test_a_start_may_be_larger_than_allowed() -> None:
    dictionary, y = parity_problem(6, 20, 6, 2)
    found = select(dictionary, y, [every_monomial(dictionary)])
    assert len(found.monomials) <= 6
    assert len(select(dictionary, y, [every_monomial(dictionary)], sparsity=3).monomials) == 3


def as_bytes(model: Model) -> tuple[object, ...]:
    parts = (model.coefficients, model.evidence, model.residual)
    return model.monomials, model.cost, *(part.tobytes() for part in parts)


def test_twice_the_same_whatever_the_threads() -> None:
    dictionary, y = parity_problem(7, 200, 20, 3, PLANTED, noise=2.0)
    reference = as_bytes(select(dictionary, y))
    assert reference[0]
    for threads in (1, 2, 4):
        with threadpool_limits(threads, user_api="blas"):
            assert as_bytes(select(dictionary, y)) == reference
            assert as_bytes(select(Dictionary(dictionary.columns, 3, n_threads=threads, block=999), y)) == reference


@pytest.mark.parametrize("exponent", [-20, 30])
def test_the_unit_of_the_values_does_not_matter(exponent: int) -> None:
    dictionary, y = parity_problem(8, 80, 12, 3, PLANTED, noise=1.0)
    y = y - y.mean()
    one, other = select(dictionary, y), select(dictionary, 2.0**exponent * y)
    assert other.monomials == one.monomials
    assert other.coefficients == pytest.approx(2.0**exponent * one.coefficients, rel=1e-9)
    assert other.cost == pytest.approx(one.cost)


# ---- the edges ----


@pytest.mark.parametrize("sparsity", [None, 1, 2, 50])
@pytest.mark.parametrize("T", [3, 4, 5, 6, 7])
@pytest.mark.parametrize("n", [2, 3, 6])
def test_a_few_samples(n: int, T: int, sparsity: int | None) -> None:
    for seed in range(5):
        rng = np.random.default_rng(seed)
        points = rng.choice([-1.0, 1.0], (T, n))
        for column in range(n):
            points[column % T, column] *= -1 if np.ptp(points[:, column]) == 0 else 1  # no column is constant
        dictionary, y = Dictionary(Columns.parity(points), min(n, 3)), rng.standard_normal(T)
        found = select(dictionary, y, sparsity=sparsity)
        assert len(found.monomials) <= T - 2
        assert np.isfinite([found.cost, *found.evidence, *found.coefficients]).all()


FREE = "misfit() divides by T-1-k, which is 0 if all samples are used up, and by the total, which may be 0"


@pytest.mark.parametrize("n", [1, 2, 5])
def test_two_samples(n: int) -> None:
    points = np.array([[1.0] * n, [-1.0] * n])
    assert select(Dictionary(Columns.parity(points), 1), np.array([1.0, 2.0])).monomials == ()


def test_constant_values() -> None:
    dictionary, y = parity_problem(10, 12, 4, 2, noise=0.0)
    found = select(dictionary, y)
    assert (found.monomials, found.residual.tolist()) == ((), [0.0] * 12)
    assert np.isfinite(found.cost)


@pytest.mark.parametrize("k", [5, 6, 9])
def test_a_model_of_as_many_monomials_as_samples(k: int) -> None:
    dictionary, y = parity_problem(11, 6, 5, 2)
    assert np.isfinite(refit(dictionary, y, every_monomial(dictionary)[:k]).coefficients).all()


GREEDY = "greedy() divides by the norm of a column that lies in the span of those it has, or is constant: 0 / 0"


def test_a_constant_column() -> None:
    _, y = parity_problem(12, 40, 1, 1)
    assert select(Dictionary(Columns.parity(np.ones((40, 1))), 1), y).monomials == ()


@pytest.mark.parametrize("seed", range(10))
def test_repeated_columns(seed: int) -> None:
    rng = np.random.default_rng(seed)
    points = rng.choice([-1.0, 1.0], (40, 3))[:, [0, 0, 0, 1, 1, 2]]
    y = 2 * points[:, 0] + points[:, 3] * points[:, 5] + 0.3 * rng.standard_normal(40)
    found = select(Dictionary(Columns.parity(points), 2), y)
    assert len(found.monomials) == 2
    assert float(found.residual.std()) < 0.5
