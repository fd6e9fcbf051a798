import copy
import json
import pickle
import time
from collections import Counter
from contextlib import suppress
from functools import partial
from itertools import islice, product
from math import inf, nan
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from overtone.errors import InputError
from overtone.space import Parameter, Point, Space, Unit, boolean, choice, integer, ordinal, real

SEEDS = st.integers(0, 2**32 - 1)
LR = real(1e-4, 1e-1, levels=8, log=True)
MIXED = Space(
    {
        "lr": LR,  # units 0, 1, 2
        "x": real(0, 4),  # unit 3
        "color": choice(["red", "green", "blue"]),  # unit 4
        "norm": boolean(),  # unit 5
        "dropout": ordinal([0.1, 0.2, 0.3, 0.4], when={"norm": False}),  # units 6, 7
    }
)


KINDS: list[Any] = [
    boolean,
    partial(choice, ["a", "b", "c"]),
    partial(ordinal, [1, 2, 3, 4]),
    partial(real, 1, 9, log=True),
]


def spaces(*, continuous: bool = True, forbid: bool = True, when: bool = True) -> st.SearchStrategy[Space]:
    """Spaces of up to five parameters, a few hundred points; made of one number: much quicker than drawing parts."""
    return SEEDS.map(lambda seed: a_space(chance(seed), KINDS if continuous else KINDS[:3], forbid, when))


def restricted(*, continuous: bool = True, forbid: bool = True) -> st.SearchStrategy[Space]:
    """Spaces after up to two stages of one to three minimizers."""
    kinds = KINDS if continuous else KINDS[:3]
    return SEEDS.map(lambda seed: restrict(chance(seed), a_space(chance(seed), kinds, forbid, when=True)))


def chance(seed: int) -> Random:
    return Random(seed)  # noqa: S311 - no secrets here


def a_space(random: Random, kinds: list[Any], forbid: bool, when: bool) -> Space:
    parameters: dict[str, Parameter] = {}
    for number in range(random.randint(1, 5)):
        earlier = [name for name, parameter in parameters.items() if parameter.levels]
        conditional = when and earlier and random.random() < 0.5
        clause = a_clause(random, parameters, random.choice(earlier)) if conditional else None
        parameters[f"p{number}"] = random.choice(kinds)(when=clause)
    finite = [name for name, parameter in parameters.items() if parameter.levels]
    pairs = [(a, b) for a in finite for b in finite if a < b] if forbid else []
    chosen = random.sample(pairs, min(len(pairs), random.randint(0, 2)))
    return Space(parameters, [a_clause(random, parameters, *pair) for pair in chosen])


def a_clause(random: Random, parameters: dict[str, Parameter], *names: str) -> dict[str, Any]:
    """One level, or a list of one, for each of these parameters."""
    levels = {name: random.choice(parameters[name].levels) for name in names}
    return {name: [level] if random.random() < 0.3 else level for name, level in levels.items()}


def restrict(random: Random, space: Space) -> Space:
    for _ in range(random.randint(0, 2)):
        minimizers = [a_restriction(random, space) for _ in range(random.randint(1, 3))]
        with suppress(InputError):  # where only forbidden combinations would be left
            space = space.restrict(minimizers)
    return space


def a_restriction(random: Random, space: Space) -> dict[int, Any]:
    """Codes, or intervals, for about half of the units."""
    ends = (-1.0, -0.5, 0.0, 0.5)
    codes: list[Any] = [unit.codes or [*ends, *zip(ends, (-0.5, 0.0, 0.5, 1.0), strict=True)] for unit in space.units]
    return {i: random.choice(codes[i]) for i in range(len(codes)) if random.random() < 0.5}


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


# ---- units ----


def test_units_are_bits_level_numbers_and_ranges() -> None:
    assert MIXED.units == (
        *[Unit("lr", "bit", 2)] * 3,
        Unit("x", "range", 0),
        Unit("color", "levels", 3),
        Unit("norm", "bit", 2),
        *[Unit("dropout", "bit", 2)] * 2,
    )
    assert MIXED.units[0].codes == (-1.0, 1.0)
    assert MIXED.units[3].codes == ()
    assert MIXED.units[4].codes == (0.0, 1.0, 2.0)


def test_bits_go_from_coarse_to_fine() -> None:
    space = Space({"lr": LR})
    levels = [space.decode(point)["lr"] for point in product((-1.0, 1.0), repeat=3)]
    assert levels == list(LR.levels)
    for bit, left in ((-1.0, LR.levels[:4]), (1.0, LR.levels[4:])):
        half = space.restrict([{0: bit}])
        assert [half.decode(point)["lr"] for point in half.points()] == list(left)


# ---- decode and encode ----


def test_decode_gives_the_levels_in_the_order_of_the_parameters() -> None:
    config = MIXED.decode((1.0, 1.0, 1.0, 0.5, 2.0, -1.0, 1.0, -1.0))
    assert list(config.items()) == [("lr", 0.1), ("x", 3.0), ("color", "blue"), ("norm", False), ("dropout", 0.3)]


def test_what_is_not_active_is_absent() -> None:
    assert "dropout" not in MIXED.decode((1.0, 1.0, 1.0, 0.5, 2.0, 1.0, 1.0, -1.0))


def test_conditions_in_a_chain_end_where_one_does_not_hold() -> None:
    space = Space(
        {
            "c": boolean(when={"b": ["x", "y"]}),
            "a": boolean(),
            "b": choice(["x", "y", "z"], when={"a": True}),
            "d": boolean(when={"c": False, "a": True}),
        }
    )
    configs = [space.decode(point) for point in space.points()]
    assert {tuple(config) for config in configs} == {("a",), ("a", "b"), ("c", "a", "b"), ("c", "a", "b", "d")}
    for config in configs:
        assert ("b" in config) == (config["a"] is True)
        assert ("c" in config) == (config.get("b") in ("x", "y"))
        assert ("d" in config) == (config.get("c") is False)


@settings(max_examples=40)
@given(spaces(), SEEDS)
def test_encode_and_decode_are_inverse(space: Space, seed: int) -> None:
    config = space.decode(space.draw(rng(seed)))
    again = space.decode(space.encode(config))
    assert list(again) == list(config)
    for name, value in config.items():
        assert again[name] == (pytest.approx(value, rel=1e-9) if space.parameters[name].is_continuous else value)
        assert type(again[name]) is type(value)


@settings(max_examples=40)
@given(spaces(continuous=False, forbid=False, when=False))
def test_without_conditions_encode_gives_the_point_back(space: Space) -> None:
    for point in islice(space.points(), 50):
        assert space.encode(space.decode(point)) == point


@given(spaces(), SEEDS)
def test_settled_points_are_those_that_encode_gives(space: Space, seed: int) -> None:
    rng = np.random.default_rng(seed)
    points = np.array([space.draw(rng) for _ in range(8)])
    encoded = np.array([space.encode(space.decode(point)) for point in points.tolist()])
    np.testing.assert_allclose(space.settled(points), encoded, atol=1e-12)


def test_settled_keeps_true_and_one_apart_and_follows_chains_of_conditions() -> None:
    switch = choice([1, True, "b"])
    space = Space({"c": boolean(when={"b": True}), "b": boolean(when={"a": True}), "a": switch})
    points = np.array(list(product([-1.0, 1.0], [-1.0, 1.0], [0.0, 1.0, 2.0])))
    for point, settled in zip(points, space.settled(points), strict=True):
        assert tuple(settled) == space.encode(space.decode(point.tolist()))


def test_encode_fills_in_what_is_absent_with_first_levels() -> None:
    assert MIXED.decode(MIXED.encode({})) == {"lr": 1e-4, "x": 0.0, "color": "red", "norm": False, "dropout": 0.1}


def test_encode_takes_numbers_of_numpy_and_keeps_true_and_one_apart() -> None:
    space = Space({"a": choice([True, 1, "1"]), "b": boolean(), "x": real(0, 1)})
    assert space.encode({"a": 1})[0] == 1.0
    assert space.encode({"a": True})[0] == 0.0
    of_numpy: Any = {"a": np.int64(1), "b": np.True_, "x": np.float32(0.5)}
    assert space.encode(of_numpy) == (1.0, 1.0, 0.0)
    assert [type(value) for value in space.decode((1.0, 1.0, 0.0)).values()] == [int, bool, float]


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({"colour": "red"}, "'colour' is no parameter: did you mean 'color'?"),
        ({"color": "pink"}, "'color' must be one of ['red', 'green', 'blue'], but got 'pink'"),
        ({"color": ["red"]}, "'color' must be one of ['red', 'green', 'blue'], but got ['red']"),
        ({"norm": 1}, "'norm' must be one of [False, True], but got 1"),
        ({"x": 5}, "'x' must be a number from 0.0 to 4.0, but got 5"),
        ({"x": nan}, "'x' must be a number from 0.0 to 4.0, but got nan"),
        ({"x": True}, "'x' must be a number from 0.0 to 4.0, but got True"),
        ({"x": "1"}, "'x' must be a number from 0.0 to 4.0, but got '1'"),
    ],
)
def test_encode_refuses_what_is_not_in_the_space(config: Any, words: str) -> None:
    with pytest.raises(InputError) as caught:
        MIXED.encode(config)
    assert str(caught.value) == words


@pytest.mark.parametrize("n", [0, 7, 9])
def test_decode_refuses_a_point_of_another_space(n: int) -> None:
    with pytest.raises(InputError, match=rf"a point of this space must have 8 codes, but got {n}"):
        MIXED.decode((0.0,) * n)


def test_decode_reads_a_row_of_a_matrix_as_well() -> None:
    point = MIXED.draw(rng())
    config = MIXED.decode(np.array([point])[0])
    assert config == MIXED.decode(point)
    assert [type(value) for value in config.values()] == [type(value) for value in MIXED.decode(point).values()]


# ---- definitions ----


@pytest.mark.parametrize("parameters", [{}, [], None, [boolean()], "lr"])
def test_a_space_is_a_dict_of_parameters(parameters: Any) -> None:
    with pytest.raises(InputError, match="a space must be a dict of names and parameters, at least one, but got"):
        Space(parameters)


@pytest.mark.parametrize("name", ["", 1, None])
def test_names_are_texts(name: Any) -> None:
    with pytest.raises(InputError, match="a parameter's name must be a text, but got"):
        Space({name: boolean()})


@pytest.mark.parametrize("parameter", [boolean, [1, 2], (0, 1), None])
def test_what_is_no_parameter_is_refused_by_name(parameter: Any) -> None:
    with pytest.raises(InputError, match=r"'lr' must be a parameter, but got .*: use boolean\(\), choice\(\["):
        Space({"lr": parameter})


# ---- drawing ----


def chi_square(counts: Counter[Any], k: int) -> float:
    expected = counts.total() / k
    return sum((counts[level] - expected) ** 2 for level in counts) / expected + (k - len(counts)) * expected


@pytest.mark.parametrize(
    "parameter",
    [
        boolean(),
        choice(["a", "b", "c"]),
        choice([True, 1, "1", None, 2]),
        LR,
        ordinal(range(4), coding="contrasts"),
        integer(1, 7),
        choice(list("abcdefgh"), coding="binary"),
    ],
)
def test_every_level_is_equally_likely(parameter: Parameter) -> None:
    space, generator = Space({"first": boolean(), "mine": parameter}), rng(1)
    counts = Counter(repr(space.decode(space.draw(generator))["mine"]) for _ in range(4000))
    k = len(parameter.levels)
    assert len(counts) == k
    assert chi_square(counts, k) < (k - 1) + 5 * np.sqrt(2 * (k - 1))


def test_a_continuous_parameter_is_uniform_on_its_own_scale() -> None:
    space, generator = Space({"x": real(1e-4, 1, log=True)}), rng(2)
    decades = Counter(
        int(np.floor(np.log10(float(str(space.decode(space.draw(generator))["x"]))))) for _ in range(4000)
    )
    assert set(decades) == {-4, -3, -2, -1}
    assert chi_square(decades, 4) < 3 + 5 * np.sqrt(6)


def test_units_are_drawn_independently() -> None:
    generator = rng(3)
    points = np.array([MIXED.draw(generator) for _ in range(4000)])
    off_diagonal = np.corrcoef(points.T) - np.eye(len(MIXED.units))
    assert np.abs(off_diagonal).max() < 5 / np.sqrt(4000)


@settings(max_examples=40)
@given(restricted(), SEEDS)
def test_a_draw_is_a_pure_function_of_the_generator_and_stays_in_the_space(space: Space, seed: int) -> None:
    point = space.draw(rng(seed))
    assert point == space.draw(rng(seed))
    assert space.allows(space.decode(point))
    assert all(type(code) is float for code in point)
    for unit, code in zip(space.units, point, strict=True):
        assert code in unit.codes if unit.size else -1 <= code <= 1


@settings(max_examples=40)
@given(restricted(continuous=False), SEEDS)
def test_draws_are_among_the_points(space: Space, seed: int) -> None:
    points = set(space.points())
    assert {space.draw(rng(seed + i)) for i in range(5)} <= points


def test_all_points_are_drawn_equally_often_where_some_are_forbidden() -> None:
    space = Space({"a": choice([1, 2, 3]), "b": boolean()}, forbid=[{"a": 2, "b": True}, {"a": [3], "b": False}])
    generator = rng(4)
    counts = Counter(space.draw(generator) for _ in range(4000))
    assert set(counts) == set(space.points())
    assert chi_square(counts, 4) < 3 + 5 * np.sqrt(6)


def test_a_forbidden_combination_of_what_is_not_active_forbids_nothing() -> None:
    space = Space({"a": boolean(), "b": boolean(when={"a": True})}, forbid=[{"b": True}])
    configs = [space.decode(point) for point in space.points()]
    assert configs.count({"a": False}) == 2  # decoding is many-to-one
    assert configs.count({"a": True, "b": False}) == 1
    assert len(configs) == 3


# ---- listing ----


@settings(max_examples=40)
@given(restricted(continuous=False))
def test_points_are_allowed_each_once_and_at_most_n_points(space: Space) -> None:
    points = list(space.points())
    assert len(set(points)) == len(points) <= space.n_points
    assert all(space.allows(space.decode(point)) for point in points)


@settings(max_examples=40)
@given(spaces(continuous=False))
def test_points_are_all_that_are_allowed(space: Space) -> None:
    everything = list(product(*(unit.codes for unit in space.units)))
    assert space.n_points == len(everything)
    assert list(space.points()) == [point for point in everything if space.allows(space.decode(point))]


def test_the_number_of_points() -> None:
    assert Space({"lr": LR, "c": choice([1, 2, 3])}).n_points == 24
    assert MIXED.n_points == inf
    assert Space({f"p{i}": boolean() for i in range(1100)}).n_points == 2**1100
    assert Space({**{f"p{i}": boolean() for i in range(1100)}, "x": real(0, 1)}).n_points == inf


def test_points_of_a_continuous_space_cannot_be_listed() -> None:
    with pytest.raises(InputError, match="only if no parameter is continuous: give it `levels`, or use `draw`"):
        next(MIXED.points())
    with pytest.raises(InputError, match="only if no parameter is continuous"):
        next(MIXED.restrict([{3: (0.0, 0.5)}]).points())


def test_a_continuous_parameter_that_is_fixed_can_be_listed() -> None:
    space = Space({"x": real(0, 4), "b": boolean()}).restrict([{0: 0.5}, {0: 0.0, 1: 1.0}])
    assert [space.decode(point) for point in space.points()] == [
        {"x": 3.0, "b": False},
        {"x": 3.0, "b": True},
        {"x": 2.0, "b": True},
    ]


# ---- neighbors ----


def test_neighbors_change_one_parameter_to_any_other_level() -> None:
    point = MIXED.encode({"lr": 0.1, "x": 3.9, "color": "red", "norm": False, "dropout": 0.2})
    configs = [MIXED.decode(neighbor) for neighbor in MIXED.neighbors(point, steps=(-0.5, 0.1))]
    here = MIXED.decode(point)
    assert {config["lr"] for config in configs} == set(LR.levels)
    assert {config["color"] for config in configs} == {"red", "green", "blue"}
    assert sorted({float(str(config["x"])) for config in configs}) == pytest.approx([2.9, 3.9, 4.0])
    assert len(configs) == 7 + 2 + 2 + 1 + 3
    kept = {"norm": True} | {name: here[name] for name in ("lr", "x", "color")}
    assert kept in configs  # dropout is no longer active


@settings(max_examples=40)
@given(restricted(), SEEDS)
def test_neighbors_lie_in_the_space_and_differ_in_one_parameter(space: Space, seed: int) -> None:
    point = space.draw(rng(seed))
    found = list(space.neighbors(point))
    assert len(set(found)) == len(found)
    inside = set(space.points()) if space.n_points < inf else None
    for neighbor in found:
        changed = {space.units[i].parameter for i, (a, b) in enumerate(zip(point, neighbor, strict=True)) if a != b}
        assert len(changed) == 1
        assert space.allows(space.decode(neighbor))
        assert inside is None or neighbor in inside


@settings(max_examples=40)
@given(restricted(continuous=False), SEEDS)
def test_all_points_at_one_change_are_neighbors(space: Space, seed: int) -> None:
    point = space.draw(rng(seed))

    def n_changes(other: Point) -> int:
        return len({space.units[i].parameter for i, (a, b) in enumerate(zip(point, other, strict=True)) if a != b})

    assert set(space.neighbors(point)) == {other for other in space.points() if n_changes(other) == 1}


def test_a_narrowed_range_moves_up_to_its_ends_and_a_fixed_one_does_not() -> None:
    space = Space({"x": real(0, 1)})
    narrow = space.restrict([{0: (0.0, 0.25)}])
    assert list(narrow.neighbors((0.125,), steps=(-0.5, -0.0625, 0.0625, 0.5))) == [
        (0.0,),
        (0.0625,),
        (0.1875,),
        (0.25,),
    ]
    assert list(space.restrict([{0: 0.25}]).neighbors((0.25,))) == []


# ---- restrictions ----


def test_a_mixture_draws_one_of_its_minimizers_each_time() -> None:
    space = MIXED.restrict([{0: 1.0, 4: 2.0}, {0: -1.0, 5: 1.0}, {0: -1.0, 5: 1.0}])
    generator = rng(5)
    points = [space.draw(generator) for _ in range(600)]
    first = [point for point in points if point[0] == 1.0]
    assert 120 < len(first) < 280  # about a third
    assert {point[4] for point in first} == {2.0}
    assert {point[5] for point in points if point[0] == -1.0} == {1.0}
    assert {point[4] for point in points if point[0] == -1.0} == {0.0, 1.0, 2.0}  # still open
    assert {point[5] for point in first} == {-1.0, 1.0}


def test_a_later_stage_goes_over_an_earlier_one() -> None:
    space = Space({"a": boolean(), "b": boolean(), "c": boolean()})
    both = space.restrict([{0: 1.0, 1: 1.0}, {0: -1.0, 1: 1.0}]).restrict([{1: -1.0}])
    assert set(both.points()) == set(product((-1.0, 1.0), (-1.0,), (-1.0, 1.0)))
    assert both.describe() == ["b = False"]
    assert both.fixed_units() == {0, 1}


def test_an_interval_narrows_a_continuous_parameter_which_stays_continuous() -> None:
    space = MIXED.restrict([{3: (0.0, 0.5)}])
    generator = rng(6)
    values = {float(str(space.decode(space.draw(generator))["x"])) for _ in range(50)}
    assert len(values) == 50
    assert all(2 <= value <= 3 for value in values)
    assert space.n_points == inf
    assert space.fixed_units() == frozenset()


@pytest.mark.parametrize(
    ("stages", "fixed"),
    [
        ([[{0: 1.0}]], {0}),
        ([[{0: 1.0}, {1: 1.0}]], set()),
        ([[{0: 1.0}, {0: -1.0, 1: 1.0}]], {0}),
        ([[{3: 0.5}]], {3}),
        ([[{3: (0.0, 0.5)}]], set()),
        ([[{3: (0.0, 0.5)}, {3: 0.0}]], set()),
        ([[{3: (0.0, 0.5)}], [{3: 0.25}]], {3}),
        ([[{3: 0.25}], [{3: (0.0, 0.5)}, {0: 1.0}]], set()),
        ([[{3: 0.25}], [{3: 0.5}, {0: 1.0}]], {3}),
    ],
)
def test_units_are_fixed_if_every_sample_takes_them_from_a_minimizer(stages: Any, fixed: set[int]) -> None:
    assert Space(MIXED.parameters, mixtures=stages).fixed_units() == fixed


@pytest.mark.parametrize(
    ("stages", "words"),
    [
        ([], []),
        ([[{}]], []),
        ([[{0: 1.0}]], ["lr in [0.005179474679, 0.01389495494, 0.0372759372, 0.1]"]),
        ([[{0: 1.0, 1: 1.0, 2: 1.0}]], ["lr = 0.1"]),
        ([[{0: -1.0, 1: -1.0}, {0: 1.0, 1: 1.0}]], ["lr in [0.0001, 0.0002682695795, 0.0372759372, 0.1]"]),
        ([[{0: 1.0}, {0: -1.0}]], []),
        (
            [[{0: 1.0}, {1: 1.0}]],
            ["lr in [0.000719685673, 0.001930697729, 0.005179474679, 0.01389495494, 0.0372759372, 0.1]"],
        ),
        ([[{4: 2.0}], [{5: 1.0}]], ["color = 'blue'", "norm = True"]),
        ([[{4: 2.0}, {4: 0.0}]], ["color in ['red', 'blue']"]),
        ([[{4: 2.0}, {}]], []),
        ([[{4: 2.0}], [{4: 1.0}, {5: 1.0}]], ["color in ['green', 'blue']"]),
        ([[{3: (0.0, 0.5)}]], ["x from 2 to 3"]),
        ([[{3: (0.0, 0.5)}, {3: (0.25, 1.0)}]], ["x from 2 to 4"]),
        ([[{3: (-1.0, -0.5)}, {3: (0.5, 1.0)}]], ["x from 0 to 1 or from 3 to 4"]),
        ([[{3: 0.5}]], ["x = 3"]),
        ([[{3: 0.5}, {3: -0.5}]], ["x = 1 or 3"]),
        ([[{3: 0.5}, {}]], []),
    ],
)
def test_it_says_in_words_what_is_fixed_and_narrowed(stages: Any, words: list[str]) -> None:
    space = Space(MIXED.parameters)
    for minimizers in stages:
        space = space.restrict(minimizers)
    assert space.describe() == words


def test_true_and_one_stay_apart_in_words() -> None:
    assert Space({"a": choice([True, 1, "1"])}).restrict([{0: 0.0}, {0: 2.0}]).describe() == ["a in [True, '1']"]


def test_its_text_says_what_is_free_as_well() -> None:
    assert str(MIXED.restrict([{4: 2.0}])) == "color = 'blue'\nfree: lr, x, norm, dropout"
    assert str(Space({"a": boolean()}).restrict([{0: 1.0}])) == "a = True\nfree: nothing"
    many = Space({f"p{i}": boolean() for i in range(12)})
    assert str(many) == "free: p0, p1, p2, p3, p4, p5, p6, p7, p8, p9 and 2 more"


@settings(max_examples=40)
@given(restricted(continuous=False, forbid=False))
def test_the_words_are_true(space: Space) -> None:
    points, said = list(space.points()), {line.split()[0]: line for line in space.describe()}
    for name, parameter in space.parameters.items():
        mine = [i for i, unit in enumerate(space.units) if unit.parameter == name]
        n_left = len({tuple(point[i] for i in mine) for point in points})
        assert (name in said) == (n_left < len(parameter.levels))
        assert (" = " in said.get(name, "")) == (n_left == 1)


@pytest.mark.parametrize(
    ("minimizers", "words"),
    [
        ([], "there must be at least one minimizer, but none came: leave the space as it is"),
        ({0: 1.0}, "minimizers must be a list of dicts like [{unit: code}], but got {0: 1.0}"),
        (None, "minimizers must be a list of dicts like [{unit: code}], but got None"),
        ([3], "a minimizer must be a dict like {unit: code}, but got 3"),
        ([{"lr": 1.0}], "a minimizer must name units from 0 to 7, but got 'lr'"),
        ([{8: 1.0}], "a minimizer must name units from 0 to 7, but got 8"),
        ([{-1: 1.0}], "a minimizer must name units from 0 to 7, but got -1"),
        ([{1.0: 1.0}], "a minimizer must name units from 0 to 7, but got 1.0"),
        ([{0: 0.5}], "unit 0, of 'lr', must have one of the codes (-1.0, 1.0), but got 0.5"),
        ([{0: "on"}], "unit 0, of 'lr', must have one of the codes (-1.0, 1.0), but got 'on'"),
        ([{0: None}], "unit 0, of 'lr', must have one of the codes (-1.0, 1.0), but got None"),
        ([{4: 3.0}], "unit 4, of 'color', must have one of the codes (0.0, 1.0, 2.0), but got 3.0"),
        ([{4: (0.0, 1.0)}], "unit 4, of 'color', must have one of the codes (0.0, 1.0, 2.0), but got (0.0, 1.0)"),
        ([{4: (1.0,)}], "unit 4, of 'color', must have one of the codes (0.0, 1.0, 2.0), but got (1.0,)"),
        *(
            ([{3: code}], f"unit 3, of 'x', must have a code in [-1, 1], or (low, high) there, but got {code}")
            for code in (1.5, nan, (0.5, 0.5), (0.5, 0.0), (-2.0, 0.0), (0.0, nan), (0.0,), (), (0.0, 0.1, 0.2))
        ),
    ],
)
def test_bad_minimizers_are_refused(minimizers: Any, words: str) -> None:
    for build in (MIXED.restrict, lambda given: Space(MIXED.parameters, mixtures=(given,))):
        with pytest.raises(InputError) as caught:
            build(minimizers)
        assert str(caught.value) == words


def test_minimizers_may_hold_numbers_of_numpy_and_whole_ones() -> None:
    given_: Any = [{np.int64(0): 1, 3: np.float64(0.5)}]
    assert MIXED.restrict(given_) == MIXED.restrict([{0: 1.0, 3: 0.5}])
    assert all(type(code) is float for code in MIXED.restrict(given_).draw(rng()))


def test_a_restriction_that_leaves_only_forbidden_ones_is_refused() -> None:
    space = Space({"a": boolean(), "b": boolean()}, forbid=[{"a": True}])
    assert set(space.restrict([{0: 1.0}, {0: -1.0}]).points()) == {(-1.0, -1.0), (-1.0, 1.0)}
    with pytest.raises(InputError, match="or restrict the space less"):
        space.restrict([{0: 1.0}])


# ---- clauses of units ----


@settings(max_examples=40)
@given(SEEDS)
def test_a_clause_of_units_holds_just_where_they_have_these_codes(seed: int) -> None:
    space = Space({"lr": LR, "color": choice(["r", "g", "b"]), "norm": boolean()})
    units = a_restriction(chance(seed), space)
    assume(units)
    allowed = set(Space(space.parameters, [space.clause(units)]).points())
    matching = {point for point in space.points() if all(point[unit] == code for unit, code in units.items())}
    assert allowed == set(space.points()) - matching


def test_a_clause_of_units_is_short() -> None:
    assert MIXED.clause({0: 1.0, 1: 1.0, 5: -1.0}) == {"lr": [0.0372759372, 0.1], "norm": False}
    assert MIXED.clause({0: 1.0, 1: 1.0, 2: 1.0}) == {"lr": 0.1}


def test_a_clause_cannot_name_a_continuous_parameter() -> None:
    with pytest.raises(InputError, match="a clause must not name 'x', which is continuous: leave out its unit"):
        MIXED.clause({3: 0.5})


# ---- values ----


@settings(max_examples=40)
@given(restricted())
def test_spaces_survive_pickling_and_copying(space: Space) -> None:
    for again in (pickle.loads(pickle.dumps(space)), copy.deepcopy(space)):  # noqa: S301 - our own bytes
        assert again == space
        assert hash(again) == hash(space)
        assert again.describe() == space.describe()
        assert again.draw(rng()) == space.draw(rng())


def test_spaces_are_equal_only_if_they_are_the_same() -> None:
    a, b = boolean(), choice([0, 1])
    some = [
        Space({"a": a, "b": a}),
        Space({"b": a, "a": a}),  # points mean something else
        Space({"a": a, "b": b}),
        Space({"a": a, "b": a}, [{"a": True, "b": True}]),
        Space({"a": a, "b": b}, [{"a": True, "b": 1}]),
        Space({"a": a, "b": a}).restrict([{0: 1.0}]),
        Space({"a": a, "b": a}).restrict([{0: 1.0}, {1: 1.0}]),
        Space({"a": a, "b": a}).restrict([{0: 1.0}]).restrict([{1: 1.0}]),
    ]
    assert len(set(some)) == len(some)
    assert Space({"a": a}, [{"a": [True]}]) == Space({"a": a}, ({"a": (True,)},))
    assert MIXED != "space"


def test_spaces_are_frozen_and_keep_no_hold_on_what_they_were_given() -> None:
    parameters: dict[str, Parameter] = {"a": boolean(), "b": boolean()}
    minimizer = {0: 1.0}
    forbid: Any = [{"a": False, "b": True}]
    space = Space(parameters, forbid).restrict([minimizer])
    parameters["c"], minimizer[1] = boolean(), 1.0
    forbid[0]["a"] = True
    assert list(space.parameters) == ["a", "b"]
    assert space.mixtures == (({0: 1.0},),)
    assert space.forbid == ({"a": False, "b": True},)
    with pytest.raises(AttributeError):
        space.forbid = ()  # type: ignore[misc]


# ---- a thousand parameters ----


def a_thousand() -> dict[str, Parameter]:
    kinds = [boolean(), choice(["a", "b", "c"]), LR, real(0, 1), integer(1, 5)]
    free: dict[str, Parameter] = {f"p{i}": kinds[i % 5] for i in range(900)}
    return free | {f"q{i}": boolean(when={f"q{i + 1}" if i < 99 else "p0": [False, True]}) for i in range(100)}


def test_a_thousand_parameters_are_quick() -> None:
    space = Space(a_thousand(), forbid=[{"p0": True, "p1": "a"}, {"q0": True, "p2": 0.1}])
    space = space.restrict([{1: 1.0, 2: 1.0}, {1: 2.0}])
    generator, seconds = rng(), []
    for _ in range(20):
        start = time.perf_counter()
        config = space.decode(space.draw(generator))
        seconds.append(time.perf_counter() - start)
    assert len(config) == 1000
    assert min(seconds) < 0.01


def test_a_long_chain_of_conditions_is_ordered() -> None:
    parameters = {f"p{i}": boolean(when={f"p{i + 1}": True} if i < 999 else None) for i in range(1000)}
    space = Space(parameters)
    assert len(space.decode((1.0,) * 1000)) == 1000
    assert space.decode((1.0,) * 999 + (-1.0,)) == {"p999": False}


# ---- plain data ----


@settings(max_examples=60)
@given(restricted(), SEEDS)
def test_a_space_survives_a_trip_through_json(space: Space, seed: int) -> None:
    back = Space.from_dict(json.loads(json.dumps(space.to_dict(), allow_nan=False)))
    assert back == space
    assert back.to_dict() == space.to_dict()
    assert list(back.parameters) == list(space.parameters)  # points depend on the order
    assert [back.draw(rng(seed)) for _ in range(3)] == [space.draw(rng(seed)) for _ in range(3)]
    point = space.draw(rng(seed))
    assert json.dumps(back.decode(point)) == json.dumps(space.decode(point))  # 1 is neither 1.0 nor True here


def test_levels_of_every_type_survive_a_trip_through_json() -> None:
    levels: list[Any] = [True, 1.5, 10**30, -0.0, "", "ü\0\ud800", None, 5e-324]
    space = Space({"x.y": choice(levels), "ü": boolean(when={"x.y": [None, True]})})
    back = Space.from_dict(json.loads(json.dumps(space.to_dict())))
    assert back == space
    assert [type(level) for level in back.parameters["x.y"].levels] == [type(level) for level in levels]


@pytest.mark.parametrize("data", [{}, {"parameters": {}}, {"parameters": {"x": {}}, "forbid": [], "mixtures": []}, 3])
def test_what_is_no_space_is_refused(data: Any) -> None:
    with pytest.raises(InputError, match=r"a space must be"):
        Space.from_dict(data)
