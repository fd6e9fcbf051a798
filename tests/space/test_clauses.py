from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overtone.errors import InputError
from overtone.space import Parameter, Space, boolean, choice, real
from overtone.space.clauses import activation_order, holds

ABC = {"switch": boolean(), "color": choice(["red", "green", "blue"]), "size": choice([1, 2, 4]), "x": real(0, 1)}
VALUES = st.sampled_from([True, False, 0, 1, 1.0, 2, "1", "a", None])


# ---- holds ----


@pytest.mark.parametrize(
    ("clause", "expected"),
    [
        ({}, True),
        ({"a": 1}, True),
        ({"a": 1.0}, True),
        ({"a": True}, False),
        ({"a": "1"}, False),
        ({"a": [2, 1]}, True),
        ({"a": (2, True)}, False),
        ({"a": []}, False),
        ({"b": True}, True),
        ({"b": 1}, False),
        ({"a": 1, "b": True}, True),
        ({"a": 1, "b": False}, False),
        ({"c": "ab"}, True),
        ({"c": "a"}, False),  # a text is one value, no list of letters
        ({"d": None}, True),
        ({"absent": None}, False),
    ],
)
def test_a_clause_holds_if_all_it_names_is_there(clause: Any, expected: bool) -> None:
    assert holds(clause, {"a": 1, "b": True, "c": "ab", "d": None}) is expected


@given(st.dictionaries(st.sampled_from("abc"), VALUES), st.dictionaries(st.sampled_from("abc"), VALUES))
def test_a_list_of_one_is_that_one_and_a_clause_holds_where_its_parts_do(clause: Any, config: Any) -> None:
    parts = [{name: wanted} for name, wanted in clause.items()]
    assert holds(clause, config) == all(holds(part, config) for part in parts)
    assert holds(clause, config) == holds({name: [wanted] for name, wanted in clause.items()}, config)
    assert holds(config, config)


# ---- forbid ----


@pytest.mark.parametrize(
    ("forbid", "words"),
    [
        (None, "`forbid` must be a list of dicts like [{'name': level}], but got None"),
        ({"switch": True}, "`forbid` must be a list of dicts like [{'name': level}], but got {'switch': True}"),
        ("switch", "`forbid` must be a list of dicts"),
        (["switch"], "clause 0, must be a dict like {'name': level}, with at least one entry, but got 'switch'"),
        ([{"switch": True}, {}], "clause 1, must be a dict like {'name': level}, with at least one entry, but got {}"),
        ([{"colour": "red"}], "clause 0, names 'colour', which is no parameter: did you mean 'color'?"),
        ([{"zzz": "red"}], "names 'zzz', which is no parameter: there are ['switch', 'color', 'size', 'x']"),
        ([{7: "red"}], "names 7, which is no parameter"),
        ([{"color": "pink"}], "can never hold: 'pink' is no level of 'color': take some of ['red', 'green', 'blue']"),
        ([{"color": ["red", "pink"]}], "can never hold: 'pink' is no level of 'color'"),
        ([{"color": []}], "can never hold: it has no level for 'color': take some of ['red', 'green', 'blue']"),
        ([{"color": {"red"}}], "can never hold: {'red'} is no level of 'color'"),
        ([{"switch": 1}], "can never hold: 1 is no level of 'switch': take some of [False, True]"),
        ([{"size": True}], "can never hold: True is no level of 'size'"),
        ([{"x": 0.5}], "names 'x', which is continuous: give it `levels`"),
    ],
)
def test_bad_forbids_are_refused(forbid: Any, words: str) -> None:
    with pytest.raises(InputError) as caught:
        Space(ABC, forbid=forbid)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    "forbid",
    [
        [{"switch": True}, {"switch": False}],
        [{"switch": [False, True]}],
        [{"color": color, "size": [1, 2, 4]} for color in ("red", "green", "blue")],
    ],
)
def test_a_forbid_that_leaves_nothing_is_refused(forbid: Any) -> None:
    words = rf"some configuration must be allowed, but .*: drop some of the {len(forbid)} clauses in `forbid`"
    with pytest.raises(InputError, match=words):
        Space(ABC, forbid=forbid)


def test_a_forbid_that_leaves_one_point_of_a_small_space_is_respected() -> None:
    bits = {f"bit{i}": boolean() for i in range(12)}
    space = Space(bits, forbid=[{name: True} for name in bits])
    assert space.draw(np.random.default_rng(1)) == (-1.0,) * 12


def test_a_forbid_may_give_numbers_of_numpy_and_any_sequence() -> None:
    space = Space(ABC, forbid=({"size": np.int64(2)}, {"size": (4,), "switch": np.bool_(True)}))  # type: ignore[dict-item]
    assert space.forbid == ({"size": 2}, {"size": (4,), "switch": True})
    assert not space.allows({"size": 2})
    assert space.allows({"size": 4, "switch": False})


# ---- when ----


@pytest.mark.parametrize(
    ("when", "words"),
    [
        ({"switsch": True}, "`when` of 'mine' names 'switsch', which is no parameter: did you mean 'switch'?"),
        ({"color": "pink"}, "`when` of 'mine' can never hold: 'pink' is no level of 'color': take some of ['red',"),
        ({"color": []}, "`when` of 'mine' can never hold: it has no level for 'color'"),
        ({"switch": 1}, "`when` of 'mine' can never hold: 1 is no level of 'switch'"),
        ({"x": 0.5}, "`when` of 'mine' names 'x', which is continuous: give it `levels`"),
        ({"mine": True}, "`when` must not go in a circle, but there is 'mine' -> 'mine': drop one of these `when`"),
    ],
)
def test_bad_conditions_are_refused_with_the_name(when: Any, words: str) -> None:
    with pytest.raises(InputError) as caught:
        Space({**ABC, "mine": boolean(when=when)})
    assert words in str(caught.value)


def test_a_circle_names_only_those_in_it() -> None:
    waits = {"a": "b", "b": "c", "c": "b", "d": "a"}
    with pytest.raises(InputError) as caught:
        Space({name: boolean(when={other: True}) for name, other in waits.items()})
    assert str(caught.value) in (
        "`when` must not go in a circle, but there is 'b' -> 'c' -> 'b': drop one of these `when`",
        "`when` must not go in a circle, but there is 'c' -> 'b' -> 'c': drop one of these `when`",
    )


def test_parameters_without_conditions_keep_their_order() -> None:
    assert activation_order(ABC) == list(ABC)


@given(st.permutations(range(8)), st.lists(st.integers(0, 7), min_size=8, max_size=8))
def test_every_parameter_comes_after_those_it_waits_for(order: list[int], waits: list[int]) -> None:
    parameters: dict[str, Parameter] = {}
    for i in order:
        parameters[f"p{i}"] = boolean(when={f"p{waits[i]}": True} if waits[i] < i else None)
    found = activation_order(parameters)
    assert sorted(found) == sorted(parameters)
    assert all(found.index(other) < found.index(name) for name in found for other in parameters[name].when)
