import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overtone.spectral.columns import Columns
from overtone.spectral.correlation import Dictionary
from overtone.spectral.monomials import FloatArray, Monomial
from overtone.spectral.stepwise import BoolArray, Found, stepwise
from tests.spectral.test_selection import Problem, cost, every_monomial, parity_problem, problems
from tests.strategies import planted, sample


def on_all(
    dictionary: Dictionary, y: FloatArray, start: tuple[Monomial, ...] = (), *, from_above: bool = False
) -> Found:
    return stepwise(dictionary, y, np.ones((1, len(y)), dtype=np.bool_), [start], from_above=from_above)[0]


def part(dictionary: Dictionary, seen: BoolArray) -> Dictionary:
    return Dictionary(dictionary.columns.rows(np.flatnonzero(seen)), dictionary.degree)


def some_sets(rng: np.random.Generator, n: int, T: int) -> BoolArray:
    """Each without a quarter of the samples; the last one with all."""
    return np.array([rng.permutation(T) >= T // 4 for _ in range(n)] + [np.ones(T, dtype=np.bool_)])


# ---- what is found ----


@settings(max_examples=40)
@given(problem=problems(min_samples=12), seed=st.integers(0, 99), from_above=st.booleans())
def test_models_are_within_bounds_and_honestly_judged(problem: Problem, seed: int, from_above: bool) -> None:
    dictionary, y = problem
    sets = some_sets(np.random.default_rng(seed), 2, len(y))
    for seen, found in zip(sets, stepwise(dictionary, y, sets, [()] * 3, from_above=from_above), strict=True):
        T = int(seen.sum())
        assert len(set(found.monomials)) == len(found.monomials) <= max(1, (T - 2) // 3)
        assert set(found.monomials) <= set(every_monomial(dictionary))
        assert 0 <= found.left <= 1 + 1e-9
        if found.left > 1e-11:  # else it ends where rounding begins
            assert found.cost == pytest.approx(
                cost(part(dictionary, seen), y[seen], found.monomials), rel=1e-6, abs=1e-6
            )


@settings(max_examples=30)
@given(problem=problems(min_samples=10), from_above=st.booleans())
def test_no_single_step_makes_it_better(problem: Problem, from_above: bool) -> None:
    """Neither one monomial more, of all there are, nor one less, nor another one for it, of those in the pool."""
    dictionary, y = problem
    found = on_all(dictionary, y, from_above=from_above)
    if found.left <= 1e-11:
        return  # exact: the search ends
    steps = [[s for s in found.monomials if s != gone] for gone in found.monomials]
    if len(found.monomials) < (len(y) - 2) // 3:
        steps += [[*found.monomials, s] for s in every_monomial(dictionary) if s not in found.monomials]
    assert all(cost(dictionary, y, step) >= found.cost - 1e-5 for step in steps)


@settings(max_examples=20)
@given(problem=problems(min_samples=16))
def test_no_exchange_makes_it_better_where_the_pool_holds_all(problem: Problem) -> None:
    dictionary, y = problem
    found = on_all(dictionary, y)
    monomials = every_monomial(dictionary)
    if found.left <= 1e-11 or len(monomials) > 20:
        return
    steps = [[*(s for s in found.monomials if s != gone), new] for gone in found.monomials for new in monomials]
    better = [step for step in steps if len(set(step)) == len(step)]
    assert all(cost(dictionary, y, step) >= found.cost - 1e-5 for step in better)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("noise", [0.0, 0.5])
def test_planted_models_are_found_in_every_set(seed: int, noise: float) -> None:
    terms: list[tuple[Monomial, float]] = [((3,), 2.0), ((0, 5), -1.0), ((1, 2, 7), 1.5), ((4, 9), 0.8)]
    dictionary, y = parity_problem(seed, 160, 15, 3, terms, noise)
    sets = some_sets(np.random.default_rng(seed), 5, len(y))
    found = stepwise(dictionary, y, sets, [()] * 6)
    wanted = {s for s, _ in terms}
    assert all(wanted <= set(each.monomials) for each in found)
    assert sum(len(each.monomials) - len(wanted) for each in found) <= (3 if noise else 0)  # by chance


def test_from_above_finds_what_steps_from_below_miss() -> None:
    """20 monomials of 60 columns, 150 samples: no single one stands out."""
    better = 0
    for seed in range(4):
        terms = planted(seed, 60, 20)
        points, y = sample(seed, 150, 60, terms, 0.0)
        dictionary = Dictionary(Columns.parity(points), 3)
        below, above = on_all(dictionary, y), on_all(dictionary, y, from_above=True)
        better += len(set(above.monomials) & set(terms)) > len(set(below.monomials) & set(terms)) + 10
    assert better >= 3


# ---- the sets are strangers to each other ----


@pytest.mark.parametrize("from_above", [False, True])
def test_a_set_alone_and_among_others(from_above: bool) -> None:
    dictionary, y = parity_problem(3, 90, 12, 3, [((0,), 1.0), ((1, 2), 0.7), ((3, 4, 5), 0.6)], noise=0.7)
    sets = some_sets(np.random.default_rng(0), 5, len(y))
    together = stepwise(dictionary, y, sets, [()] * 6, from_above=from_above)
    for seen, found in zip(sets, together, strict=True):
        alone = stepwise(dictionary, y, seen[None], [()], from_above=from_above)[0]
        assert set(alone.monomials) == set(found.monomials)
        assert alone.cost == pytest.approx(found.cost)


def test_what_is_held_out_does_not_show() -> None:
    dictionary, y = parity_problem(4, 80, 12, 3, [((0,), 1.0), ((1, 2), 0.7)], noise=1.0)
    sets = some_sets(np.random.default_rng(1), 3, len(y))
    before = stepwise(dictionary, y, sets, [()] * 4)
    for which in range(3):
        other = np.where(sets[which], y, 100 * np.random.default_rng(2).standard_normal(len(y)))
        assert stepwise(dictionary, other, sets, [()] * 4)[which].monomials == before[which].monomials


# ---- starts ----


def test_a_start_is_never_made_worse() -> None:
    for seed in range(10):
        dictionary, y = parity_problem(seed, 40, 10, 2, [((0, 1), 1.0)], noise=0.5)
        start = ((0, 1), (2,), (3, 4))
        assert on_all(dictionary, y, start).cost <= cost(dictionary, y, start) + 1e-9


def test_starts_may_differ_in_length_and_be_too_long() -> None:
    dictionary, y = parity_problem(0, 20, 8, 2, [((0, 1), 1.0)], noise=0.1)
    sets = some_sets(np.random.default_rng(0), 2, 20)
    starts: list[list[Monomial]] = [every_monomial(dictionary), [], [(0, 1)]]
    assert all((0, 1) in found.monomials for found in stepwise(dictionary, y, sets, starts))


# ---- edges ----


@pytest.mark.parametrize("from_above", [False, True])
@pytest.mark.parametrize("T", range(2, 9))
def test_a_few_samples(T: int, from_above: bool) -> None:
    for seed in range(5):
        dictionary, y = parity_problem(seed, T, 5, 2)
        assert len(on_all(dictionary, y, from_above=from_above).monomials) <= max(1, (T - 2) // 3)


@pytest.mark.parametrize("from_above", [False, True])
def test_values_that_are_constant_in_one_set(from_above: bool) -> None:
    dictionary, _ = parity_problem(0, 20, 5, 2)
    y = np.where(np.arange(20) == 7, 1.0, 0.0)
    sets = np.array([np.arange(20) != 7, np.ones(20, dtype=np.bool_)])
    assert stepwise(dictionary, y, sets, [()] * 2, from_above=from_above)[0].monomials == ()


@pytest.mark.parametrize("from_above", [False, True])
def test_repeated_and_constant_columns(from_above: bool) -> None:
    rng = np.random.default_rng(0)
    points = rng.choice([-1.0, 1.0], (60, 5))
    points = np.hstack([points, points[:, :2], np.ones((60, 1))])
    y = points[:, 0] + 0.5 * points[:, 1] * points[:, 2] + 0.1 * rng.standard_normal(60)
    found = on_all(Dictionary(Columns.parity(points), 2), y, from_above=from_above)
    assert len(found.monomials) == 2
    assert found.left < 0.05


@pytest.mark.parametrize("exponent", [-40, 0, 40])
def test_the_unit_of_the_values_does_not_matter(exponent: int) -> None:
    dictionary, y = parity_problem(1, 60, 8, 2, [((0, 1), 1.0), ((2,), 0.5)], noise=0.3)
    found = on_all(dictionary, y * 10.0**exponent)
    assert set(found.monomials) == {(0, 1), (2,)}
