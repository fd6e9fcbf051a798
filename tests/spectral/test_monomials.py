from math import comb

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from overtone.spectral.monomials import FloatArray, IntArray, Monomial, count_monomials, parity, products
from tests.strategies import all_monomials, cube, group_structures, matrices, monomials

N = 5
DESIGNS = st.tuples(matrices(N), st.lists(monomials(N), max_size=7))


def by_loops(values: FloatArray, monomial: Monomial) -> list[float]:
    result = []
    for row in values.tolist():
        product = 1.0
        for column in monomial:
            product *= row[column]
        result.append(product)
    return result


@given(DESIGNS)
def test_products_parity_and_explicit_loops_agree(design: tuple[FloatArray, list[Monomial]]) -> None:
    """Exactly: the entries are multiples of 1/8, so that no product is rounded."""
    values, chosen = design
    expected = [by_loops(values, monomial) for monomial in chosen]
    assert products(values, chosen).T.tolist() == expected
    assert [parity(values, monomial).tolist() for monomial in chosen] == expected


@given(DESIGNS)
def test_products_leave_their_input_alone(design: tuple[FloatArray, list[Monomial]]) -> None:
    values, chosen = design
    before = values.copy()
    products(values, chosen)[:] = 7.0
    np.testing.assert_array_equal(values, before)


def test_the_shape_is_right_at_the_edges() -> None:
    values = np.full((3, 2), 2.0)
    assert products(values, []).shape == (3, 0)
    assert products(values, [()]).tolist() == [[1.0]] * 3
    assert products(values, [(0, 1), (0, 1)]).tolist() == [[4.0, 4.0]] * 3  # repeated monomials keep their places
    assert products(np.ones((0, 2)), [(0,)]).shape == (0, 1)
    assert parity(values, ()).tolist() == [1.0] * 3


def test_parity_takes_plain_lists_of_whole_numbers() -> None:
    result = parity([[1, -1], [-1, -1]], (0, 1))  # type: ignore[arg-type]
    assert result.tolist() == [-1.0, 1.0]
    assert result.dtype == np.float64


def test_parities_are_orthonormal_on_the_cube() -> None:
    """The paper's random orthonormal family: E[chi_S chi_S'] = 1 if S = S', else 0."""
    design = products(cube(4), all_monomials(np.arange(4), 4))
    np.testing.assert_array_equal(design.T @ design / 16, np.eye(16))


@given(group_structures(max_groups=5), st.integers(0, 6))
def test_counts_agree_with_enumeration(groups: IntArray, degree: int) -> None:
    sizes = [len(monomial) for monomial in all_monomials(groups, degree)]
    assert count_monomials(groups, degree) == [sizes.count(size) for size in range(degree + 1)]


@given(st.integers(1, 80), st.integers(0, 5))
def test_single_columns_count_as_binomials(n: int, degree: int) -> None:
    assert count_monomials(np.arange(n), degree) == [comb(n, k) for k in range(degree + 1)]


def test_counts_do_not_overflow() -> None:
    assert count_monomials(np.arange(10_000), 8)[8] == comb(10_000, 8) > 2**63
