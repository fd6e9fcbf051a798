"""`param_distributions` as a space, and its points as candidates."""

from typing import Any

import numpy as np
import pytest
from scipy.stats import expon, loguniform, norm, randint, uniform
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from overtone import InputError, Parameter, Space, boolean, choice, integer, ordinal, real
from overtone.adapters.sklearn.candidates import WHICH, Candidates


def parameter(kind: Any) -> Parameter:
    space = Candidates.of({"it": kind}).space
    assert space is not None
    return space.parameters["it"]


def drawn(candidates: Candidates, n: int = 200) -> list[dict[str, Any]]:
    assert candidates.space is not None
    rng = np.random.default_rng(0)
    points = [candidates.space.draw(rng) for _ in range(n)]
    return [candidates.params(candidates.settled(candidates.space.decode(point))) for point in points]


@pytest.mark.parametrize("kind", [[0.1, 1, 10, 100], (8, 4, 2, 1), np.logspace(-3, 0, 4), range(4)])
def test_rising_or_falling_numbers_are_ordered(kind: Any) -> None:
    assert parameter(kind) == ordinal(list(kind))


@pytest.mark.parametrize("kind", [["a", "b", "c", "d"], [1, 3, 2, 4], [None, 1, 2, 3], [0, 1, "auto", None]])
def test_other_lists_are_choices(kind: Any) -> None:
    assert parameter(kind) == choice(kind)


@pytest.mark.parametrize("kind", [boolean(), choice(["a", "b", "c"]), integer(1, 100), real(1e-3, 1.0, log=True)])
def test_our_parameters_are_taken_as_they_are(kind: Parameter) -> None:
    assert parameter(kind) is kind


def test_distributions_that_are_uniform() -> None:
    assert parameter(uniform(2, 3)) == real(2, 5)
    assert parameter(loguniform(1e-4, 1e-1)) == real(1e-4, 1e-1, log=True)
    assert parameter(randint(3, 7)) == ordinal([3, 4, 5, 6])


def test_many_whole_numbers_are_equally_likely() -> None:
    values = [each["it"] for each in drawn(Candidates.of({"it": randint(1, 31)}), 3000)]
    assert all(isinstance(value, int) for value in values)
    assert set(values) == set(range(1, 31))
    assert np.bincount(values)[1:].min() > 60


def test_the_ends_of_whole_numbers_are_not_left() -> None:
    candidates = Candidates.of({"it": randint(1, 31)})
    assert [candidates.settled({"it": end}) for end in (0.5, 30.5)] == [{"it": 1}, {"it": 30}]


@pytest.mark.parametrize("kind", [expon(), norm(0, 1), loguniform(1, 10, loc=3), uniform, "1,2,3", 1, [], {1, 2}])
def test_what_is_none_of_them_is_refused_by_name(kind: Any) -> None:
    with pytest.raises(InputError, match=r"^'it' must "):
        Candidates.of({"it": kind})


@pytest.mark.parametrize("given", [None, [], "C", [["C"]]])
def test_what_is_no_dict_is_refused(given: Any) -> None:
    with pytest.raises(InputError, match="must be a dict, a list of dicts or a Space"):
        Candidates.of(given)


def test_values_are_the_objects_of_the_user() -> None:
    scalers = [StandardScaler(), MinMaxScaler(), "passthrough", None]
    shapes = [(10,), (10, 10), np.array([1, 2])]
    found = drawn(Candidates.of({"scaler": scalers, "shape": shapes, "C": [np.float32(0.5), np.float32(1.5)]}))
    assert {id(each["scaler"]) for each in found} == set(map(id, scalers))
    assert {id(each["shape"]) for each in found} == set(map(id, shapes))
    assert all(isinstance(each["C"], np.float32) for each in found)


def test_values_that_are_equal_twice_or_no_number_are_told_apart() -> None:
    found = drawn(Candidates.of({"it": [1, 1, np.nan]}))
    assert {repr(each["it"]) for each in found} == {"1", "nan"}


def test_a_list_with_one_value_is_fixed() -> None:
    candidates = Candidates.of({"kernel": ["rbf"], "C": [1, 2]})
    assert candidates.space is not None
    assert list(candidates.space.parameters) == ["C"]
    assert all(each["kernel"] == "rbf" for each in drawn(candidates))


@pytest.mark.parametrize("given", [{}, {"kernel": ["rbf"]}])
def test_nothing_varies(given: dict[str, Any]) -> None:
    candidates = Candidates.of(given)
    assert candidates.space is None
    assert candidates.params({}) == {name: values[0] for name, values in given.items()}


def test_a_space_with_conditions() -> None:
    space = Space({"kernel": choice(["rbf", "linear"]), "gamma": real(0.1, 1.0, when={"kernel": "rbf"})})
    candidates = Candidates.of(space)
    assert candidates.space is space
    assert all(("gamma" in each) == (each["kernel"] == "rbf") for each in drawn(candidates))


def test_a_list_of_dicts() -> None:
    candidates = Candidates.of(
        [
            {"kernel": ["rbf"], "gamma": loguniform(1e-3, 1), "C": [1, 10], "tol": [0.1, 0.2]},
            {"kernel": ["poly"], "degree": [2, 3], "C": [2, 20, 200], "tol": [0.1, 0.2]},
        ]
    )
    assert candidates.space is not None
    assert set(candidates.space.parameters) == {WHICH, "gamma", "C (0)", "C (1)", "degree", "tol"}
    assert candidates.names == {WHICH, "kernel", "gamma", "C", "degree", "tol"}
    for each in drawn(candidates):
        if each["kernel"] == "rbf":
            assert each.keys() == {"kernel", "gamma", "C", "tol"}
            assert each["C"] in (1, 10)
        else:
            assert each.keys() == {"kernel", "degree", "C", "tol"}
            assert each["C"] in (2, 20, 200)


def test_conditions_in_a_list_of_dicts_are_refused() -> None:
    conditional = {"a": [1, 2], "b": boolean(when={"a": 1})}
    with pytest.raises(InputError, match="'b' must have no `when` in a list of dicts"):
        Candidates.of([conditional, {"a": [3]}])
