import math
import pickle
import sys
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overtone import space
from overtone.errors import InputError
from overtone.space import Parameter, Space, boolean, choice, integer, ordinal, real

LEVELS = st.one_of(
    st.booleans(), st.integers(-3, 3), st.sampled_from([-0.5, 1.0, 2.5]), st.text("ab", max_size=2), st.none()
)

unchecked: Any = space  # for what no type checker would let pass


def refusal(parameter: Parameter) -> str:
    """What a space says about a bad definition."""
    with pytest.raises(InputError) as caught:
        Space({"fine": boolean(), "mine": parameter})
    return str(caught.value)


# ---- levels and their coding ----


@pytest.mark.parametrize(
    ("parameter", "levels", "coding"),
    [
        (boolean(), (False, True), "binary"),
        (choice(["a", "b"]), ("a", "b"), "binary"),
        (choice(["a", "b", "c"]), ("a", "b", "c"), "contrasts"),
        (choice(["a", "b", "c", "d"]), ("a", "b", "c", "d"), "contrasts"),
        (choice(["a", "b", "c", "d"], coding="binary"), ("a", "b", "c", "d"), "binary"),
        (ordinal([1, 5, 9, 13]), (1, 5, 9, 13), "binary"),
        (ordinal([1, 5, 9]), (1, 5, 9), "contrasts"),
        (ordinal([1, 5, 9, 13], coding="contrasts"), (1, 5, 9, 13), "contrasts"),
        (choice(iter([None, "a", 2.5])), (None, "a", 2.5), "contrasts"),
        (integer(-1, 2), (-1, 0, 1, 2), "binary"),
        (integer(1, 3), (1, 2, 3), "contrasts"),
        (integer(1, 16, log=True), tuple(range(1, 17)), "binary"),
        (integer(0, 70), (0, 10, 20, 30, 40, 50, 60, 70), "binary"),
        (integer(0, 100, levels=5), (0, 25, 50, 75, 100), "contrasts"),
        (integer(1, 1000, levels=4, log=True), (1, 10, 100, 1000), "binary"),
        (integer(1, 20, log=True), (1, 2, 3, 4, 6, 8, 13, 20), "binary"),
        (integer(1, 10**15 + 1, levels=3), (1, 5 * 10**14 + 1, 10**15 + 1), "contrasts"),
        (real(0, 1, levels=2), (0.0, 1.0), "binary"),
        (real(0, 0.7, levels=8), (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7), "binary"),
        (real(1e-4, 1e-1, levels=4, log=True), (0.0001, 0.001, 0.01, 0.1), "binary"),
        (real(1 / 3, 2 / 3, levels=3), (1 / 3, 0.5, 2 / 3), "contrasts"),
        (real(0, 1), (), "continuous"),
    ],
)
def test_constructors_list_levels_and_choose_their_coding(parameter: Parameter, levels: object, coding: str) -> None:
    assert (parameter.levels, parameter.coding) == (levels, coding)
    assert parameter.problem == ""
    assert parameter.is_continuous == (coding == "continuous")


@given(st.integers(-50, 50), st.integers(1, 100), st.integers(2, 40), st.booleans())
def test_an_integer_has_as_many_levels_as_asked_for(low: int, width: int, count: int, log: bool) -> None:
    low, count = (abs(low) + 1 if log else low), min(count, width + 1)
    levels: Any = integer(low, low + width, levels=count, log=log).levels
    assert len(levels) == count
    assert (levels[0], levels[-1]) == (low, low + width)
    assert all(type(level) is int for level in levels)
    assert all(a < b for a, b in pairwise(levels))


@given(st.floats(1e-9, 1e9), st.floats(1e-6, 1e9), st.integers(2, 40), st.booleans())
def test_a_real_has_as_many_levels_as_asked_for(low: float, width: float, count: int, log: bool) -> None:
    levels: Any = real(low, low + width, levels=count, log=log).levels
    assert len(levels) == count
    assert (levels[0], levels[-1]) == (low, low + width)
    assert all(a < b for a, b in pairwise(levels))


def test_levels_that_differ_only_after_the_tenth_digit_are_kept_apart() -> None:
    levels: Any = real(1, 1 + 1e-12, levels=4).levels
    assert all(a < b for a, b in pairwise(levels))


def test_numbers_of_numpy_become_pythons_own() -> None:
    parameter = choice(np.array([1, 2]))
    assert [type(level) for level in parameter.levels] == [int, int]
    assert [type(level) for level in ordinal(np.logspace(-3, 0, 4).tolist()).levels] == [float] * 4
    assert choice([np.bool_(True), np.float64(2)]).levels == (True, 2.0)  # type: ignore[list-item]
    assert integer(np.int64(1), np.int64(4), levels=np.int64(2)).levels == (1, 4)  # type: ignore[arg-type]
    assert real(np.float32(0), np.float32(1)) == real(0, 1)  # type: ignore[arg-type]


@given(st.lists(LEVELS, min_size=2, max_size=6, unique_by=lambda level: (isinstance(level, bool), level)))
def test_the_number_of_a_level_is_its_place(levels: list[Any]) -> None:
    parameter = choice(levels)
    assert [parameter.number(level) for level in levels] == list(range(len(levels)))


@pytest.mark.parametrize(
    ("parameter", "expected"),
    [
        (ordinal(["low", "middle", "high", "all"]), True),  # in bits
        (ordinal(["low", "middle", "high"]), False),  # in contrasts: nothing says so any more
        (ordinal([1, 2, 5]), True),
        (choice([5.0, 2, 1]), True),
        (choice([5, 1, 2]), False),
        (choice([1, 2, "auto"]), False),
        (choice(["a", "b", "c"]), False),
        (choice([1, 2]), False),  # two levels have no order
        (boolean(), False),
        (choice([True, 2, 3]), False),
        (integer(1, 12), True),
        (real(0, 1, levels=5), True),
        (real(0, 1), False),  # a range
    ],
)
def test_ordered_levels_are_bits_or_numbers_that_run_one_way(parameter: Parameter, expected: bool) -> None:
    assert parameter.is_ordered is expected


def test_true_is_not_one_but_one_is_a_float_too() -> None:
    assert choice([1, True, 0, False]).levels == (1, True, 0, False)
    assert choice([1, 2]).number(True) is None
    assert boolean().number(1) is None
    assert boolean().number(np.bool_(True)) == 1
    assert choice([1, 2]).number(2.0) == 1
    assert choice([1, 2]).number([1]) is None
    assert choice([1, 2]).number("1") is None


# ---- bad definitions, refused by name ----


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (
            lambda: unchecked.choice([]),
            "there must be at least two levels, but got []: leave the parameter out if fixed",
        ),
        (
            lambda: unchecked.choice(["a"]),
            "there must be at least two levels, but got ['a']: leave the parameter out if fixed",
        ),
        (
            lambda: unchecked.choice(["a", "a"]),
            "levels must differ, but 'a' comes twice in ['a', 'a']: leave it out once",
        ),
        (lambda: unchecked.choice([1, 1.0]), "levels must differ, but 1.0 comes twice in [1, 1.0]: leave it out once"),
        (lambda: unchecked.ordinal([0.0, -0.0]), "levels must differ, but -0.0 comes twice"),
        (
            lambda: unchecked.choice("abc"),
            "levels must be a list, in an order that stays, but got 'abc': write [first, second]",
        ),
        (lambda: unchecked.choice(b"abc"), "levels must be a list"),
        (lambda: unchecked.choice({"a", "b"}), "levels must be a list, in an order that stays"),
        (lambda: unchecked.choice({"a": 1, "b": 2}), "levels must be a list"),
        (lambda: unchecked.choice(None), "levels must be a list, in an order that stays, but got None"),
        (lambda: unchecked.choice(3), "levels must be a list, in an order that stays, but got 3"),
        (
            lambda: unchecked.choice([[1], [2]]),
            "a level must be a text, number, True, False or None, but got [1]: name it by a text",
        ),
        (lambda: unchecked.ordinal([1.0, math.nan]), "a number among levels must be finite, but got nan: leave it out"),
        (lambda: unchecked.ordinal([1.0, -math.inf]), "a number among levels must be finite, but got -inf"),
        (
            lambda: unchecked.choice([1, 2, 3], coding="binary"),
            "2, 4, 8, ... levels, but there are 3: use coding='contrasts'",
        ),
        (
            lambda: unchecked.choice([1, 2], coding="gray"),
            "`coding` must be 'binary' or 'contrasts', but got 'gray': leave it out",
        ),
        (lambda: unchecked.choice([1, 2], coding="continuous"), "`coding` must be 'binary' or 'contrasts'"),
        (
            lambda: unchecked.real(0, 1, coding="binary"),
            "`coding` is for parameters with levels, but got coding='binary' without",
        ),
        (lambda: unchecked.real(1, 0), "`low < high` must hold, but got low=1, high=0: swap them"),
        (lambda: unchecked.real(1, 1), "`low < high` must hold, but got low=1, high=1"),
        (lambda: unchecked.real(1, -1, log=True), "`low < high` must hold"),
        (lambda: unchecked.real(1e10, math.nextafter(1e10, 2e10), log=True), "`low < high` must hold"),
        (lambda: unchecked.real(0, math.inf), "`high` must be a finite number, but got inf: write one like"),
        (lambda: unchecked.real(math.nan, 1), "`low` must be a finite number, but got nan"),
        (lambda: unchecked.real("0", 1), "`low` must be a finite number, but got '0'"),
        (lambda: unchecked.real(None, 1), "`low` must be a finite number, but got None"),
        (lambda: unchecked.real(False, 1), "`low` must be a finite number, but got False"),
        (
            lambda: unchecked.real(-1e308, 1e308),
            "`high - low` must be finite, but got low=-1e+308, high=1e+308: use a smaller range",
        ),
        (
            lambda: unchecked.real(0, 1, log=True),
            "`low > 0` must hold for log=True, but got low=0: use a small positive number",
        ),
        (lambda: unchecked.real(0, 1, levels=4, log=True), "`low > 0` must hold for log=True"),
        (lambda: unchecked.integer(0, 100, log=True), "`low > 0` must hold for log=True"),
        (lambda: unchecked.real(1, 2, log="no"), "`log` must be True or False, but got 'no'"),
        (
            lambda: unchecked.real(0, 1, levels=1),
            "`levels` must be a whole number >= 2, but got 1: leave the parameter out if fixed",
        ),
        (lambda: unchecked.real(0, 1, levels=2.0), "`levels` must be a whole number >= 2, but got 2.0"),
        (lambda: unchecked.real(0, 1, levels=True), "`levels` must be a whole number >= 2, but got True"),
        (lambda: unchecked.real(0, 5e-324, levels=4), "levels must differ"),
        (lambda: unchecked.integer(0, 10.0), "`high` must be a whole number, but got 10.0: use real(low, high)"),
        (lambda: unchecked.integer(True, 3), "`low` must be a whole number, but got True"),
        (lambda: unchecked.integer(5, 5), "`low < high` must hold"),
        (lambda: unchecked.integer(0, 10**400), "`high` must be a finite number"),
        (
            lambda: unchecked.integer(1, 3, levels=8),
            "from 1 to 3, but there are 3 and levels=8: ask for fewer, or leave `levels` out",
        ),
        (lambda: unchecked.boolean(when="x"), "must be a dict like {'name': level}, but got 'x'"),
        (lambda: unchecked.boolean(when=[("fine", True)]), "must be a dict like {'name': level}"),
        (lambda: unchecked.boolean(when=0), "must be a dict like {'name': level}, but got 0"),
    ],
)
def test_bad_definitions_are_refused_with_the_name_and_the_remedy(build: Callable[[], Parameter], words: str) -> None:
    message = refusal(build())
    assert message.startswith("'mine': ")
    assert words in message


@pytest.mark.parametrize(("levels", "coding"), [((), "binary"), (("a", "b", "c"), "binary"), (("a", "b"), "bits")])
def test_a_parameter_made_by_hand_is_checked_too(levels: tuple[str, ...], coding: Any) -> None:
    with pytest.raises(InputError):
        Parameter(levels, coding)


def test_many_levels_are_checked_quickly() -> None:
    assert len(choice(range(50_000)).levels) == 50_000


# ---- continuous ----


@pytest.mark.parametrize(
    ("parameter", "values"),
    [
        (real(0, 1), (0.0, 0.5, 1.0)),
        (real(-3, 5), (-3.0, 1.0, 5.0)),
        (real(1e-4, 1e-2, log=True), (1e-4, 1e-3, 1e-2)),
        (real(1e-300, 1e300, log=True), (1e-300, 1.0, 1e300)),
        (real(1, sys.float_info.max, log=True), (1.0, math.sqrt(sys.float_info.max), sys.float_info.max)),
    ],
)
def test_a_range_goes_from_low_over_the_middle_to_high(parameter: Parameter, values: tuple[float, ...]) -> None:
    assert [parameter.at(u) for u in (-1, 0, 1)] == pytest.approx(values, rel=1e-12)
    assert (parameter.at(-1), parameter.at(1)) == (parameter.low, parameter.high)
    assert [parameter.where(value) for value in values] == pytest.approx([-1, 0, 1], abs=1e-12)


@given(st.floats(1e-6, 1e6), st.floats(1e-3, 1e6), st.booleans(), st.floats(-1, 1), st.floats(-1, 1))
def test_a_range_rises_and_where_is_its_inverse(low: float, width: float, log: bool, u: float, v: float) -> None:
    parameter = real(low, low + width, log=log)
    assert low <= parameter.at(u) <= low + width
    assert u >= v or parameter.at(u) <= parameter.at(v)
    assert parameter.at(parameter.where(parameter.at(u))) == pytest.approx(parameter.at(u), rel=1e-9)


# ---- values ----

SOME = [
    boolean(),
    choice([True, False]),
    choice([1, 0]),
    choice(["a", "b", "c"]),
    choice(["a", "c", "b"]),
    ordinal([1, 2, 3, 4]),
    ordinal([1, 2, 3, 4], coding="contrasts"),
    real(0, 1),
    real(0, 2),
    real(1, 2),
    real(1, 2, log=True),
    boolean(when={"x": 1}),
    boolean(when={"x": True}),
    boolean(when={"x": [1, 2]}),
    choice(["a"]),
]


def test_parameters_are_equal_only_if_they_are_the_same() -> None:
    assert len(set(SOME)) == len(SOME)
    assert boolean() == choice([False, True])
    assert boolean(when={"x": ["a", "b"], "y": 1}) == boolean(when={"y": 1, "x": ("a", "b")})
    assert hash(boolean(when={"x": 1, "y": 2})) == hash(boolean(when={"y": 2, "x": 1}))
    assert boolean() != "boolean"


@pytest.mark.parametrize("parameter", SOME)
def test_parameters_survive_pickling(parameter: Parameter) -> None:
    copy = pickle.loads(pickle.dumps(parameter))  # noqa: S301 - our own bytes
    assert copy == parameter
    assert repr(copy.levels) == repr(parameter.levels)


def test_parameters_are_frozen_and_keep_no_hold_on_what_they_were_given() -> None:
    wanted = ["a", "b"]
    when = {"x": wanted}
    parameter = boolean(when=when)
    wanted.append("c")
    when["y"] = wanted
    assert parameter.when == {"x": ("a", "b")}
    with pytest.raises(AttributeError):
        parameter.levels = ()  # type: ignore[misc]
    with pytest.raises(TypeError):
        parameter.when["z"] = 1  # type: ignore[index]
