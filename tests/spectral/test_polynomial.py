import pickle
from collections.abc import Sequence
from copy import deepcopy
from itertools import combinations
from math import inf, nan

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from overtone.errors import InputError
from overtone.spectral.columns import Columns
from overtone.spectral.families import combine, contrasts, parity
from overtone.spectral.monomials import FloatArray, Monomial
from overtone.spectral.polynomial import Importance, Polynomial
from tests.strategies import EIGHTHS, cube, matrices, polynomials

G = Polynomial({(): 60.2, (3,): 8.05, (1, 3): -2.55, (0,): 0.5}, n=4)
ZERO = Polynomial({}, n=3)


# ---- what a polynomial is ----


def test_the_terms_are_kept_without_zeros_and_largest_first() -> None:
    g = Polynomial({(0,): 1, (): 0, (1,): 0.0, (0, 2): -1.0, (2,): -1.0, (1, 2): 3.0}, n=3)
    assert dict(g.terms) == {(0,): 1.0, (0, 2): -1.0, (2,): -1.0, (1, 2): 3.0}
    assert list(g) == [((1, 2), 3.0), ((0,), 1.0), ((2,), -1.0), ((0, 2), -1.0)]  # ties: by degree, then columns
    assert (len(g), g.degree, g.support, g.constant) == (4, 2, (0, 1, 2), 0.0)


def test_the_constant_is_apart() -> None:
    assert (len(G), G.degree, G.support, G.constant) == (3, 2, (0, 1, 3), 60.2)
    assert () not in dict(G)


def test_the_zero_polynomial() -> None:
    assert (len(ZERO), ZERO.degree, ZERO.support, ZERO.constant, ZERO.variance) == (0, 0, (), 0.0, 0.0)
    assert list(ZERO) == []
    assert ZERO.shares() == {}
    assert ZERO.importance() == []
    assert ZERO.evaluate(np.ones((2, 3))).tolist() == [0.0, 0.0]


def test_any_sequence_of_whole_numbers_is_a_monomial() -> None:
    assert Polynomial({(np.int64(0), np.int64(2)): np.float64(1.5)}, n=3) == Polynomial({(0, 2): 1.5}, n=3)  # type: ignore[dict-item]


@pytest.mark.parametrize("monomial", [(1, 0), (0, 0), (-1,), (3,), (0, 3), (-1, 2)])
def test_a_monomial_is_a_rising_tuple_of_column_numbers(monomial: Monomial) -> None:
    with pytest.raises(InputError) as caught:
        Polynomial({monomial: 1.0}, n=3)
    expected = f"a monomial must be a rising tuple of column numbers from 0 to 2, but got {monomial!r}"
    assert str(caught.value) == expected


@pytest.mark.parametrize("bad", [nan, inf, -inf])
def test_coefficients_are_finite(bad: float) -> None:
    with pytest.raises(InputError, match=rf"^coefficients must be finite, but that of \(0, 1\) is {bad}$"):
        Polynomial({(0,): 1.0, (0, 1): bad}, n=3)


@pytest.mark.parametrize("monomial", [0, ("a",), (0.5,), "ab", None])
def test_something_else_is_no_monomial(monomial: object) -> None:
    with pytest.raises(InputError, match="a monomial must be a rising tuple of column numbers from 0 to 2"):
        Polynomial({monomial: 1.0}, n=3)  # type: ignore[dict-item]


def test_terms_cannot_be_changed() -> None:
    terms: dict[Monomial, float] = {(0,): 1.0}
    g = Polynomial(terms, n=2)
    terms[(1,)] = 5.0
    assert dict(g.terms) == {(0,): 1.0}
    with pytest.raises(TypeError):
        g.terms[(0,)] = 2.0  # type: ignore[index]
    with pytest.raises(AttributeError):
        g.n = 3  # type: ignore[misc]


@given(polynomials())
def test_copies_are_equal_and_hash_alike(g: Polynomial) -> None:
    backwards = Polynomial(dict(reversed(list(g.terms.items()))), g.n)
    pickled = pickle.loads(pickle.dumps(g))  # noqa: S301 - our own bytes
    for copy in (backwards, pickled, deepcopy(g)):
        assert copy == g
        assert hash(copy) == hash(g)
        assert list(copy) == list(g)


def test_polynomials_differ_by_terms_and_by_n() -> None:
    others = [Polynomial(G.terms, 5), G.top(2), Polynomial({**G.terms, (0,): 0.25}, 4), dict(G.terms), None]
    assert [other for other in others if other == G] == []
    assert len({G, ZERO, Polynomial(dict(G.terms), 4)}) == 2


# ---- evaluate ----


@given(st.data())
def test_evaluate_is_the_explicit_sum(data: st.DataObject) -> None:
    g = data.draw(polynomials())
    x = data.draw(matrices(g.n))
    expected = [sum(a * float(np.prod(row[list(monomial)])) for monomial, a in g.terms.items()) for row in x]
    # columns up to 8, at most 6 of them in a monomial: 8 * 8^6 * 8 terms = 2^24 bounds what is added up
    np.testing.assert_allclose(g.evaluate(x), expected, rtol=1e-12, atol=2**24 * 1e-15)
    np.testing.assert_array_equal(g(x), g.evaluate(x))


def test_evaluate_takes_columns_of_any_family() -> None:
    x = combine([parity(), contrasts(3)], [[1, 0], [-1, 2]])
    g = Polynomial({(): 1.0, (0, 2): 2.0}, n=3)
    np.testing.assert_allclose(g(x), 1 + 2 * x.values[:, 0] * x.values[:, 2])


@pytest.mark.parametrize("shape", [(4,), (2, 3), (2, 5), (1, 2, 4)])
def test_evaluate_needs_n_columns(shape: tuple[int, ...]) -> None:
    with pytest.raises(InputError) as caught:
        G.evaluate(np.ones(shape))
    assert str(caught.value) == f"points must be a (T, 4) matrix, but the shape is {shape}"
    if len(shape) == 2:
        with pytest.raises(InputError, match="must be a"):
            G.evaluate(Columns.parity(np.ones(shape)))


# ---- top, restrict ----


@given(polynomials(), st.integers(0, 10))
def test_top_keeps_the_largest_and_the_constant(g: Polynomial, sparsity: int) -> None:
    top = g.top(sparsity)
    assert len(top) == min(sparsity, len(g))
    assert (top.constant, top.n) == (g.constant, g.n)
    assert top.terms.items() <= g.terms.items()
    left = [abs(a) for monomial, a in g if monomial not in top.terms]
    assert max(left, default=0.0) <= min((abs(a) for _, a in top), default=inf)


def test_top_of_ties_is_always_the_same() -> None:
    g = Polynomial({(1, 2): 1.0, (2,): -1.0, (0,): 1.0}, n=3)
    assert g.top(2) == Polynomial({(0,): 1.0, (2,): -1.0}, n=3)


def test_a_negative_sparsity_is_refused() -> None:
    with pytest.raises(InputError, match=r"sparsity.*-1"):
        G.top(-1)


@given(st.data())
def test_restrict_commutes_with_evaluate(data: st.DataObject) -> None:
    g = data.draw(polynomials())
    x = data.draw(matrices(g.n))
    assignment = data.draw(st.dictionaries(st.integers(0, g.n - 1), EIGHTHS))
    fixed = x.copy()
    for column, value in assignment.items():
        fixed[:, column] = value
    rest = g.restrict(assignment)
    np.testing.assert_allclose(rest.evaluate(x), g.evaluate(fixed), rtol=1e-12, atol=2**24 * 1e-15)
    assert not set(rest.support) & set(assignment)
    assert rest.n == g.n


def test_restrict_adds_up_and_drops_what_cancels() -> None:
    g = Polynomial({(): 1.0, (0,): 2.0, (0, 1): 3.0, (1,): -3.0, (1, 2): 5.0}, n=3)
    assert g.restrict({0: 1}) == Polynomial({(): 3.0, (1, 2): 5.0}, n=3)
    assert g.restrict({0: -1.0, 1: 1.0, 2: 1.0}) == Polynomial({(): -2.0}, n=3)
    assert g.restrict({0: -1.0, 1: -1.0, 2: 1.0}) == Polynomial({}, n=3)
    assert g.restrict({}) == g


def test_restrict_names_unknown_columns() -> None:
    with pytest.raises(InputError, match=r"^columns run from 0 to 3, but the assignment names \[4, -1\]$"):
        G.restrict({4: 1.0, 0: 1.0, -1: 1.0})


# ---- variance and Sobol indices, against the definitions on the cube ----


@given(polynomials(max_n=8, max_terms=20))
def test_parseval_on_the_full_cube(g: Polynomial) -> None:
    y = g.evaluate(cube(g.n))
    assert y.mean() == g.constant  # exactly: all are multiples of 1/8
    assert (y**2).mean() - y.mean() ** 2 == g.variance


@given(polynomials(max_n=8, max_terms=20))
def test_shares_are_of_the_variance_and_sum_to_one(g: Polynomial) -> None:
    assume(len(g))
    shares = g.shares()
    assert list(shares) == [monomial for monomial, _ in g]
    assert sum(shares.values()) == pytest.approx(1.0)
    assert shares == pytest.approx({monomial: a**2 / g.variance for monomial, a in g})


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_shares_do_not_depend_on_the_scale(scale: float) -> None:
    assert Polynomial({(0,): 2 * scale, (1,): scale}, n=2).shares() == pytest.approx({(0,): 0.8, (1,): 0.2})


def conditional_means(y: FloatArray, x: FloatArray) -> FloatArray:
    """E[y | x], for every row of x, all rows equally likely.  # (N,)"""
    _, row, counts = np.unique(x, axis=0, return_inverse=True, return_counts=True)
    row = row.ravel()
    return np.asarray((np.bincount(row, y) / counts)[row])


def sobol(y: FloatArray, x: FloatArray, groups: Sequence[int]) -> dict[int, tuple[float, float]]:
    """Var E[y | x_g] / Var y, and E Var[y | all but x_g] / Var y = 1 - Var E[y | all but x_g] / Var y, by group."""
    number = np.array(groups)
    table = {}
    for group in sorted(set(groups)):
        alone, others = conditional_means(y, x[:, number == group]), conditional_means(y, x[:, number != group])
        table[group] = (float(alone.var() / y.var()), float(1 - others.var() / y.var()))
    return table


def check_against(table: list[Importance], expected: dict[int, tuple[float, float]]) -> None:
    found = {row.group: (row.first, row.total) for row in table}
    for group, indices in expected.items():
        assert found.get(group, (0.0, 0.0)) == pytest.approx(indices, abs=1e-12)
    assert found.keys() <= expected.keys()
    assert [row.total for row in table] == sorted((row.total for row in table), reverse=True)


@given(polynomials(min_n=2, max_terms=12))
def test_importance_is_sobol_by_brute_force(g: Polynomial) -> None:
    assume(len(g))
    x = cube(g.n)
    check_against(g.importance(), sobol(g.evaluate(x), x, range(g.n)))
    assert tuple(sorted(row.group for row in g.importance())) == g.support


@given(polynomials(min_n=2, max_terms=12))
def test_interactions_are_the_shares_of_the_larger_monomials(g: Polynomial) -> None:
    assume(len(g))
    shares = g.shares()
    for row in g.importance():
        expected = {m: share for m, share in shares.items() if row.group in m and len(m) > 1}
        assert row.interactions == pytest.approx(expected)
        assert row.total == pytest.approx(row.first + sum(expected.values()))
        assert list(row.interactions.values()) == sorted(row.interactions.values(), reverse=True)


def test_importance_of_families_is_that_of_their_parameters() -> None:
    """Three parameters with 2, 3 and 4 levels: the columns of each are one group."""
    families = [parity(), contrasts(3), contrasts(4)]
    grid = np.array([(a, b, c) for a in (-1, 1) for b in range(3) for c in range(4)], dtype=float)
    columns = combine(families, grid)
    g = Polynomial(
        {(): 9.0, (0,): 1.0, (1,): 2.0, (2,): 1.0, (0, 2): 1.5, (1, 3): 1.0, (2, 5): 0.5, (0, 1, 4): 1.0}, n=6
    )
    table = g.importance(columns.groups.tolist())
    check_against(table, sobol(g(columns), grid, range(3)))
    assert {row.group: list(row.interactions) for row in table} == {
        0: [(0, 1), (0, 1, 2)],
        1: [(0, 1), (1, 2), (0, 1, 2)],
        2: [(1, 2), (0, 1, 2)],
    }


def test_importance_ties_go_by_number() -> None:
    g = Polynomial({(8,): 1.0, (1,): -1.0, (3,): 1.0}, n=9)  # a set of {8, 1, 3} would put the 8 first
    assert [row.group for row in g.importance()] == [1, 3, 8]


@pytest.mark.parametrize("groups", [[0, 0, 1, 1], [0, 1, 0, 1], [1, 1, 0, 0], [3, 2, 1, 0]])
def test_importance_of_any_grouping_of_columns(groups: list[int]) -> None:
    """A product inside a group belongs to it alone, and the order of the numbers does not matter."""
    x = cube(4)
    every_pair: dict[Monomial, float] = {pair: 1.0 + sum(pair) for pair in combinations(range(4), 2)}
    g = Polynomial({(0,): 1.0, (0, 1, 2): 2.0, **every_pair}, n=4)
    table = g.importance(groups)
    check_against(table, sobol(g(x), x, groups))
    sets = {members for row in table for members in row.interactions}
    assert sets <= {s for size in range(2, 5) for s in combinations(sorted(set(groups)), size)}


# ---- text ----


def test_text_is_readable_and_largest_first() -> None:
    assert str(G) == "60.2 + 8.05*x3 - 2.55*x1*x3 + 0.5*x0"
    names = ["depth", "activation", "lr", "batch_norm"]
    assert G.to_text(names) == "60.2 + 8.05*batch_norm - 2.55*activation*batch_norm + 0.5*depth"


@pytest.mark.parametrize(
    ("terms", "text"),
    [
        ({}, "0"),
        ({(): 0.0, (0,): 0.0}, "0"),
        ({(): 60.25}, "60.2"),
        ({(): -60.0}, "-60"),
        ({(0,): 1.0}, "1*x0"),
        ({(0,): -1.0, (0, 1): 0.5}, "-1*x0 + 0.5*x0*x1"),
        ({(): -1.0, (0,): -2.0}, "-1 - 2*x0"),
        ({(0, 1, 2): 1234.0, (1,): -0.000123456}, "1.23e+03*x0*x1*x2 - 0.000123*x1"),
    ],
)
def test_text_of_signs_constants_and_zero(terms: dict[Monomial, float], text: str) -> None:
    assert str(Polynomial(terms, n=3)) == text


def test_text_with_more_or_fewer_digits() -> None:
    g = Polynomial({(): 1 / 3, (0,): -2 / 3}, n=1)
    assert g.to_text(digits=5) == "0.33333 - 0.66667*x0"
    assert g.to_text(["rate"], digits=1) == "0.3 - 0.7*rate"


@pytest.mark.parametrize("count", [1, 3, 5])
def test_there_is_one_name_and_one_group_a_column(count: int) -> None:
    with pytest.raises(InputError, match=rf"4.*{count}"):
        G.to_text(["a"] * count)
    with pytest.raises(InputError, match=rf"4.*{count}"):
        G.importance([0] * count)
