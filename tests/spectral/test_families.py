import math
import pickle
from collections.abc import Callable
from functools import partial
from itertools import product

import numpy as np
import pytest

from overtone.errors import InputError
from overtone.spectral.families import Family, combine, contrasts, hermite, legendre, ordered, parity
from overtone.spectral.monomials import FloatArray, products
from tests.strategies import all_monomials

LEVELS = range(2, 10)
FINITE = [parity(), *map(contrasts, LEVELS)]
CONTINUOUS = [legendre(1), legendre(6), hermite(1), hermite(6)]
ORDERED = [ordered(2, 3), ordered(3, 3), ordered(8, 3), ordered(8, 7), ordered(16, 15)]
ALL = [*FINITE, *ORDERED, *CONTINUOUS]


def label(family: Family) -> str:
    return f"{family.name}-{family.size}"


def rule(family: Family) -> tuple[FloatArray, FloatArray]:
    """Points and weights that integrate the family's measure exactly, for polynomials of order < 80.  # (N,), (N,)"""
    if family.points:
        return np.array(family.points), np.full(len(family.points), 1 / len(family.points))
    gauss = np.polynomial.legendre.leggauss if family.name == "legendre" else np.polynomial.hermite_e.hermegauss
    x, weights = gauss(40)
    return x, weights / weights.sum()  # a probability measure


def gram(columns: FloatArray, weights: FloatArray) -> FloatArray:
    """E[psi_i psi_j], the constant function first.  # (1 + q, 1 + q)"""
    functions = np.column_stack([np.ones(len(columns)), columns])
    return functions.T @ (weights[:, np.newaxis] * functions)


# ---- orthonormal ----


@pytest.mark.parametrize("family", ALL, ids=label)
def test_orthonormal_and_of_mean_zero_exactly(family: Family) -> None:
    x, weights = rule(family)
    np.testing.assert_allclose(gram(family.columns(x), weights), np.eye(1 + family.size), atol=1e-10)


@pytest.mark.parametrize("family", [*FINITE, ordered(8, 3), legendre(4), hermite(3)], ids=label)
def test_orthonormal_under_its_own_sample(family: Family) -> None:
    T = 40_000
    columns = family.columns(family.sample(np.random.default_rng(1), T))
    # the entry (3, 3) of Hermite has the largest spread: Var psi_3^2 = 92, so a standard error of 0.048
    np.testing.assert_allclose(gram(columns, np.full(T, 1 / T)), np.eye(1 + family.size), atol=0.25)


MIXED = [parity(), contrasts(3), contrasts(4), legendre(2)]


def test_products_across_families_are_orthonormal() -> None:
    """On the product grid, every pair of monomials: the product measure of the paper."""
    rules = [rule(family) for family in MIXED]
    grid = np.array(list(product(*(x for x, _ in rules))))
    weights = np.array([math.prod(w) for w in product(*(w.tolist() for _, w in rules))])
    columns = combine(MIXED, grid)
    chosen = all_monomials(columns.groups, degree=4)
    assert len(chosen) == (1 + 1) * (1 + 2) * (1 + 3) * (1 + 2)
    design = products(columns.values, chosen)
    np.testing.assert_allclose(design.T @ (weights[:, np.newaxis] * design), np.eye(len(chosen)), atol=1e-10)


def test_two_columns_of_one_family_have_no_orthonormal_product() -> None:
    """Why the columns of a family are one group: c_1 c_2 of three levels lies in the span of c_1 and c_2."""
    table = contrasts(3).levels
    assert np.abs((table[:, 0] * table[:, 1]) @ table / 3).max() > 0.5


# ---- the functions themselves ----


def test_two_levels_are_parity_exactly() -> None:
    assert contrasts(2).columns([0, 1, 1]).tolist() == [[-1.0], [1.0], [1.0]]
    assert contrasts(2).levels.tolist() == parity().levels.tolist() == [[-1.0], [1.0]]


@pytest.mark.parametrize("k", LEVELS)
def test_contrasts_have_no_phantom_levels_and_span_every_function_of_the_level(k: int) -> None:
    table = contrasts(k).levels
    assert table.shape == (k, k - 1)
    assert np.linalg.matrix_rank(np.column_stack([np.ones(k), table])) == k
    np.testing.assert_array_equal(contrasts(k).columns(np.arange(k)), table)


@pytest.mark.parametrize("k", LEVELS)
def test_no_level_is_special(k: int) -> None:
    """sum_i psi_i(l) psi_i(m) = k delta_lm - 1, the same for every level: the choice is unordered."""
    table = contrasts(k).levels
    np.testing.assert_allclose(table @ table.T, k * np.eye(k) - 1, atol=1e-12)


def test_contrasts_of_four_levels() -> None:
    """The phase makes them parities, exactly: two bits and their product, in the paper's own encoding."""
    assert contrasts(4).levels.tolist() == [[1, 1, -1], [-1, 1, 1], [-1, -1, -1], [1, -1, 1]]
    assert contrasts(4).bound == 1


def test_ordered_levels_by_their_formulas() -> None:
    i = np.arange(5)
    expected = np.column_stack([(i - 2) / math.sqrt(2), ((i - 2) ** 2 - 2) / math.sqrt(14 / 5)])
    np.testing.assert_allclose(ordered(5, 2).levels, expected, atol=1e-12)
    assert ordered(2, 3).levels.tolist() == [[-1.0], [1.0]]


@pytest.mark.parametrize("k", [3, 4, 7, 16, 100])
def test_the_first_order_rises_with_the_level_and_the_second_has_one_valley(k: int) -> None:
    first, second = ordered(k, 2).levels.T
    assert (np.diff(first) > 0).all()
    assert (np.diff(np.sign(np.diff(second))) >= 0).all()


@pytest.mark.parametrize("k", LEVELS)
def test_all_orders_span_every_function_of_the_level(k: int) -> None:
    table = ordered(k, k).levels
    assert table.shape == (k, k - 1)
    assert np.linalg.matrix_rank(np.column_stack([np.ones(k), table])) == k
    assert np.abs(table).max() == ordered(k, k).bound


def test_legendre_by_its_formulas() -> None:
    x = np.linspace(-1, 1, 9)
    p2, p3 = (3 * x**2 - 1) / 2, (5 * x**3 - 3 * x) / 2
    expected = np.column_stack([math.sqrt(3) * x, math.sqrt(5) * p2, math.sqrt(7) * p3])
    np.testing.assert_allclose(legendre(3).columns(x), expected, atol=1e-12)


def test_hermite_by_its_formulas() -> None:
    x = np.linspace(-3, 3, 9)
    expected = np.column_stack([x, (x**2 - 1) / math.sqrt(2), (x**3 - 3 * x) / math.sqrt(6)])
    np.testing.assert_allclose(hermite(3).columns(x), expected, atol=1e-12)


@pytest.mark.parametrize("family", [legendre(300), hermite(300)], ids=label)
def test_high_orders_do_not_overflow(family: Family) -> None:
    """300! is larger than any float."""
    x = family.sample(np.random.default_rng(2), 50)
    assert np.isfinite(family.columns(x)).all()


def test_lower_orders_are_the_first_columns() -> None:
    x = np.linspace(-1, 1, 5)
    for polynomials in (legendre, hermite):
        np.testing.assert_array_equal(polynomials(5).columns(x)[:, :2], polynomials(2).columns(x))


# ---- bounds ----


@pytest.mark.parametrize("family", FINITE, ids=label)
def test_the_bound_of_levels_is_attained_and_small(family: Family) -> None:
    assert np.abs(family.levels).max() == family.bound
    assert family.bound <= math.sqrt(2)
    assert family.size > 1 or family.bound == 1


@pytest.mark.parametrize("degree", [1, 2, 5, 20])
def test_the_bound_of_legendre_is_attained_at_the_ends_and_nowhere_exceeded(degree: int) -> None:
    family = legendre(degree)
    assert family.bound == math.sqrt(2 * degree + 1)
    assert np.abs(family.columns([1.0, -1.0])[:, -1]) == pytest.approx([family.bound] * 2)
    assert np.abs(family.columns(np.linspace(-1, 1, 1001))).max() <= family.bound * (1 + 1e-12)


def test_hermite_has_no_bound() -> None:
    assert hermite(2).bound == math.inf
    assert hermite(2).columns([1e6])[0, 1] > 1e11


# ---- samples ----


@pytest.mark.parametrize("family", ALL, ids=label)
def test_samples_are_points_of_the_family_and_follow_the_seed(family: Family) -> None:
    first, again, other = (family.sample(np.random.default_rng(seed), 500) for seed in (3, 3, 4))
    assert family.columns(first).shape == (500, family.size)
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()
    if family.points:
        assert set(first.tolist()) == set(family.points)


# ---- values ----


@pytest.mark.parametrize("family", ALL, ids=label)
def test_a_family_survives_pickling(family: Family) -> None:
    copy = pickle.loads(pickle.dumps(family))  # noqa: S301 - our own bytes
    assert copy == family
    assert hash(copy) == hash(family)
    x = family.sample(np.random.default_rng(5), 20)
    np.testing.assert_array_equal(copy.columns(x), family.columns(x))


def test_families_are_equal_by_what_they_are() -> None:
    assert contrasts(4) == contrasts(np.int64(4))  # type: ignore[arg-type]
    assert len({contrasts(4), contrasts(3), legendre(3), hermite(3), parity(), contrasts(2), legendre(3)}) == 6


def test_a_family_is_frozen_and_short_to_print() -> None:
    with pytest.raises(AttributeError):
        parity().size = 2  # type: ignore[misc]
    assert repr(hermite(2)) == "Family(name='hermite', size=2, bound=inf)"


# ---- combine ----


def test_combine_puts_the_columns_side_by_side_one_group_a_family() -> None:
    x = np.array([[1.0, 2, 0.5, -0.3], [-1.0, 0, 1.5, 1.0], [1.0, 1, -2.0, 0.0]])
    families = [parity(), contrasts(3), hermite(2), legendre(1)]
    columns = combine(families, x)
    assert columns.groups.tolist() == [0, 1, 1, 2, 2, 3]
    expected = [family.columns(x[:, parameter]) for parameter, family in enumerate(families)]
    np.testing.assert_array_equal(columns.values, np.hstack(expected))


def test_combine_of_parities_is_the_cube_as_it_is() -> None:
    columns = combine([parity(), parity()], [[1, -1], [-1, -1]])
    assert columns.values.tolist() == [[1, -1], [-1, -1]]
    assert columns.groups.tolist() == [0, 1]


@pytest.mark.parametrize("family", [parity(), contrasts(2), legendre(1), hermite(1)], ids=label)
def test_columns_are_no_view_of_the_input(family: Family) -> None:
    x = np.ones(3)
    family.columns(x)[:] = 7.0
    assert x.tolist() == [1.0] * 3


def test_an_error_in_combine_names_the_parameter() -> None:
    with pytest.raises(InputError, match=r"^parameter 1, contrasts: x must be .* from 0 to 2, but row 1 is 3\.0: "):
        combine([parity(), contrasts(3)], [[1, 0], [1, 3]])


@pytest.mark.parametrize("points", [[1, 1], [[1, 1, 1]], [[1]]])
def test_combine_needs_a_column_for_each_family(points: list[object]) -> None:
    with pytest.raises(InputError, match=r"must be a \(T, 2\) matrix, a column for each family, but the shape is "):
        combine([parity(), parity()], points)  # type: ignore[arg-type]


def test_combine_needs_a_family_and_a_point() -> None:
    with pytest.raises(InputError, match="at least one family"):
        combine([], np.ones((3, 0)))
    with pytest.raises(InputError, match=r"T, m >= 1, but the shape is \(0, 1\)"):
        combine([parity()], np.ones((0, 1)))


# ---- errors ----

NAN, INF = math.nan, math.inf


@pytest.mark.parametrize(
    ("family", "x", "must", "advice"),
    [
        *((contrasts(3), x, "a whole number from 0 to 2", "number the levels from 0") for x in (-1, 3, 0.5, NAN, INF)),
        *((ordered(3, 2), x, "a whole number from 0 to 2", "give `ordered` their count") for x in (-1, 3, 0.5, NAN)),
        *((legendre(2), x, "a number in [-1, 1]", "(2*x - a - b) / (b - a)") for x in (1.001, -2, NAN, -INF)),
        *((hermite(2), x, "a finite number", "leave out or repair") for x in (NAN, INF, -INF)),
        *((parity(), x, "-1 or +1", "2*x - 1") for x in (0, 2, 0.5, NAN)),
    ],
)
def test_an_impossible_x_is_named_with_what_must_hold_and_what_to_do(
    family: Family, x: float, must: str, advice: str
) -> None:
    with pytest.raises(InputError) as caught:
        family.columns([1, x])
    text = str(caught.value)
    assert text.startswith(f"{family.name}: x must be {must}, but row 1 is {float(x)}: ")
    assert advice in text


@pytest.mark.parametrize("x", [0.0, [[0.0, 1.0]]])
def test_x_is_one_parameter(x: float | list[list[float]]) -> None:
    with pytest.raises(InputError, match=r"must have the shape \(T,\), but it is "):
        contrasts(2).columns(x)


@pytest.mark.parametrize("x", [["relu", "tanh"], [0, None, {}], [[0], [0, 1]]])
def test_x_is_made_of_numbers(x: list[object]) -> None:
    with pytest.raises(InputError, match=r"must be an array of numbers, but "):
        contrasts(2).columns(x)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("build", "name", "smallest"),
    [
        (contrasts, "k", 2),
        (partial(ordered, degree=1), "k", 2),
        (partial(ordered, 5), "degree", 1),
        (legendre, "degree", 1),
        (hermite, "degree", 1),
    ],
)
def test_sizes_are_whole_and_large_enough(build: Callable[[int], Family], name: str, smallest: int) -> None:
    for size in (smallest - 1, -5):
        with pytest.raises(InputError, match=rf"^`{name} >= {smallest}` must hold, but got {name}={size}: "):
            build(size)
    for wrong in (2.0, "2", None, True, NAN):
        with pytest.raises(InputError, match=rf"^`{name}` must be a whole number, but got {wrong!r}: "):
            build(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("family", CONTINUOUS, ids=label)
def test_a_continuous_family_has_no_table_of_levels(family: Family) -> None:
    with pytest.raises(InputError, match=f"finitely many levels .* but x of {family.name} is continuous"):
        _ = family.levels
