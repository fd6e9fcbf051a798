import pickle
from math import inf, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overtone.errors import InputError
from overtone.spectral.columns import Columns, as_columns, as_samples, check_degree
from overtone.spectral.monomials import FloatArray, parity
from tests.strategies import grouped_columns, points

POINTS = [[1, -1, 1], [-1, -1, 1]]


def ones(*shape: int) -> FloatArray:
    return np.ones(shape)


# ---- Columns ----


@given(grouped_columns())
def test_the_sizes_are_those_of_the_matrix_and_the_groups(columns: Columns) -> None:
    assert (columns.n_samples, columns.n) == columns.values.shape
    assert columns.n_groups == len(set(columns.groups.tolist()))


@given(st.data())
def test_some_rows_keep_the_columns_and_the_groups(data: st.DataObject) -> None:
    columns = data.draw(grouped_columns())
    which = np.array(data.draw(st.lists(st.integers(0, columns.n_samples - 1), min_size=1, max_size=5)))
    chosen = columns.rows(which)
    np.testing.assert_array_equal(chosen.values, columns.values[which])
    np.testing.assert_array_equal(chosen.groups, columns.groups)


@given(grouped_columns())
def test_products_are_those_of_the_columns_again_and_again(columns: Columns) -> None:
    monomials = [(), (0,), tuple(range(columns.n))]
    for _ in range(2):
        found = columns.products(monomials)
        np.testing.assert_array_equal(found, np.column_stack([parity(columns.values, each) for each in monomials]))
        found[:] = 0  # it is the caller's own


@given(points(4))
def test_points_of_the_cube_are_their_own_columns(x: FloatArray) -> None:
    columns = Columns.parity(x)
    np.testing.assert_array_equal(columns.values, x)
    assert columns.groups.tolist() == [0, 1, 2, 3]


def test_lists_become_arrays_of_one_kind() -> None:
    columns = Columns([[1, 2], [3, 4]], [0, 0])  # type: ignore[arg-type]
    assert columns.values.dtype == np.float64
    assert columns.groups.dtype == np.intp
    assert (columns.n_samples, columns.n, columns.n_groups) == (2, 2, 1)


def test_columns_are_frozen_and_survive_pickling() -> None:
    columns = Columns.parity(POINTS)
    with pytest.raises(AttributeError):
        columns.values = ones(1, 1)  # type: ignore[misc]
    copy = pickle.loads(pickle.dumps(columns))  # noqa: S301 - our own bytes
    np.testing.assert_array_equal(copy.values, columns.values)
    np.testing.assert_array_equal(copy.groups, columns.groups)


@pytest.mark.parametrize("shape", [(), (3,), (0, 2), (2, 0), (1, 2, 3)])
def test_columns_are_a_matrix(shape: tuple[int, ...]) -> None:
    with pytest.raises(InputError) as caught:
        Columns(ones(*shape), np.zeros(0, dtype=np.intp))
    assert str(caught.value) == f"columns must be a (T, m) matrix with T, m >= 1, but the shape is {shape}"


@pytest.mark.parametrize("bad", [nan, inf, -inf])
def test_columns_are_finite_and_the_error_says_where_not(bad: float) -> None:
    values = ones(4, 3)
    values[2, 1] = bad
    with pytest.raises(InputError, match=rf"must be finite, but row 2, column 1 is {bad}: leave out or repair"):
        Columns(values, np.arange(3))


@pytest.mark.parametrize("groups", [[0], [0, 1, 2], [[0, 1]], [1, 0]])
def test_groups_are_one_number_a_column_and_never_decrease(groups: list[int]) -> None:
    with pytest.raises(InputError, match=r"number a column \(2\) and never decrease, but .*: sort the"):
        Columns(ones(3, 2), np.array(groups))


def test_the_error_shows_groups_that_decrease() -> None:
    with pytest.raises(InputError, match=r"never decrease, but .*\[0, 2, 1\]"):
        Columns(ones(3, 3), np.array([0, 2, 1]))


@pytest.mark.parametrize("groups", [[0.2, 0.9], [0.0, 0.5]])
def test_groups_are_whole_numbers(groups: list[float]) -> None:
    with pytest.raises(InputError, match="groups"):
        Columns(ones(3, 2), np.array(groups))


def test_entries_are_numbers() -> None:
    with pytest.raises(InputError, match="numbers"):
        Columns.parity([["on", "off"]])
    with pytest.raises(InputError, match="numbers"):
        Columns(np.array([["on", "off"]]), np.arange(2))
    with pytest.raises(InputError, match="numbers"):
        as_samples(POINTS, ["fast", "slow"])


# ---- Columns.parity ----


@pytest.mark.parametrize("shape", [(), (2,), (1, 2, 1)])
def test_points_are_a_matrix(shape: tuple[int, ...]) -> None:
    with pytest.raises(InputError) as caught:
        Columns.parity(ones(*shape))
    assert str(caught.value) == f"points must be a (T, n) matrix, but the shape is {shape}"


@pytest.mark.parametrize("bad", [0, 0.5, 2, -1.5, nan, inf])
def test_points_are_signs_and_the_error_says_where_not(bad: float) -> None:
    expected = rf"must be -1 or \+1, but row 1, column 2 is {float(bad)}: map 0/1 data by 2\*x - 1, or give other"
    with pytest.raises(InputError, match=expected):
        Columns.parity([[1.0, 1.0, -1.0], [-1.0, 1.0, bad]])


@pytest.mark.parametrize("shape", [(0, 3), (3, 0)])
def test_points_are_not_empty(shape: tuple[int, int]) -> None:
    with pytest.raises(InputError, match="T, m >= 1, but the shape is"):
        Columns.parity(ones(*shape))


# ---- as_columns, as_samples ----


def test_columns_pass_through_and_arrays_are_points_of_the_cube() -> None:
    columns = Columns(np.full((2, 2), 0.5), np.zeros(2, dtype=np.intp))
    assert as_columns(columns) is columns
    assert as_columns(POINTS).groups.tolist() == [0, 1, 2]
    with pytest.raises(InputError, match=r"must be -1 or \+1"):
        as_columns(columns.values)


def test_samples_are_points_and_values() -> None:
    columns, y = as_samples(POINTS, [1, 2])
    assert columns.values.tolist() == POINTS
    assert y.tolist() == [1.0, 2.0]
    assert y.dtype == np.float64


@pytest.mark.parametrize("y", [1.0, [1.0], [1.0, 2.0, 3.0], [[1.0], [2.0]]])
def test_there_is_one_value_a_point(y: float | list[float]) -> None:
    with pytest.raises(InputError) as caught:
        as_samples(POINTS, y)
    expected = f"there must be one value a point, but there are 2 points and values of shape {np.shape(y)}"
    assert str(caught.value) == expected


def test_one_sample_is_too_few() -> None:
    with pytest.raises(InputError, match="at least 2 samples are needed, but 1 came: evaluate more points"):
        as_samples([[1, -1]], [1.0])


@pytest.mark.parametrize("bad", [nan, inf, -inf])
def test_values_are_finite_and_the_error_says_which_is_not(bad: float) -> None:
    with pytest.raises(InputError, match=f"must be finite, but value 1 is {bad}: leave out failed evaluations"):
        as_samples(POINTS, [1.0, bad])


# ---- check_degree ----

THREE_COLUMNS_TWO_GROUPS = Columns(ones(2, 3), np.array([0, 1, 1]))


@pytest.mark.parametrize("degree", [1, 2, np.int64(2)])
def test_a_degree_up_to_the_number_of_groups_is_fine(degree: int) -> None:
    checked = check_degree(THREE_COLUMNS_TWO_GROUPS, degree)
    assert checked == degree
    assert type(checked) is int


@pytest.mark.parametrize("degree", [0, -1, 3])
def test_another_degree_is_not(degree: int) -> None:
    with pytest.raises(
        InputError, match=rf"`1 <= degree <= 2` must hold .* of the 2 groups\), but got degree={degree}"
    ):
        check_degree(THREE_COLUMNS_TWO_GROUPS, degree)


@pytest.mark.parametrize("degree", [2.0, "2", None, True])
def test_a_degree_is_a_whole_number(degree: object) -> None:
    with pytest.raises(InputError, match=f"^`degree` must be a whole number, but got {degree!r}$"):
        check_degree(THREE_COLUMNS_TWO_GROUPS, degree)  # type: ignore[arg-type]
