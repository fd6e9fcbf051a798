"""The table of options: as the paper has it, and what a configuration means."""

from itertools import product

import numpy as np
import pytest

from experiments.network.options import OPTIONS, ROWS, by_hand, irrelevant, recipe, space
from overtone.optimizers.features import Features


def config(*second: int) -> dict[str, str]:
    """All options at their first level, but those of these numbers at their second."""
    return {option.name: option.levels[option.number in second] for option in OPTIONS}


def test_there_are_60_binary_variables_numbered_as_in_the_paper() -> None:
    names = Features(space()).names
    assert len(names) == len(space().units) == 60
    assert names[23] == "24. Batch norm"
    assert names[3:6] == [
        "04. Initial learning rate",
        "05. Initial learning rate (Detail 1)",
        "06. Initial learning rate (Detail 2)",
    ]
    assert names[37:39] == ["38. nthreads (Detail 1)", "39. Dummy"]
    assert len(space(dummies=False).units) == len(ROWS) == 38


def test_the_first_level_is_minus_one_as_in_the_papers_weights() -> None:
    assert space().encode(config()) == (-1.0,) * 60
    assert space().encode(config(3))[2] == 1.0


def test_the_three_bits_of_the_learning_rate_halve_the_list() -> None:
    rates = [
        recipe(config(*(n for n, bit in zip((4, 5, 6), bits, strict=True) if bit))).learning_rate
        for bits in product((0, 1), repeat=3)
    ]
    assert rates == [0.3, 0.1, 0.03, 0.01, 0.003, 0.001, 0.0003, 0.0001]


@pytest.mark.parametrize(
    ("second", "field", "value"),
    [
        ((), "initialization", "Xavier Glorot"),
        ((1, 2), "initialization", "1/n^2"),
        ((3,), "optimizer", "ADAM"),
        ((), "drops", (40, 80)),
        ((8, 9), "drops", (60, 100)),
        ((7, 8), "drops", ()),
        ((11,), "momentum", 0.99),
        ((10, 11), "momentum", 0.0),
        ((12,), "link_is_random", True),
        ((), "link_is_tuned_from", 0),
        ((14,), "link_is_tuned_from", 10),
        ((13, 14), "link_is_tuned_from", None),
        ((16,), "activations", (True, False, True)),
        ((18,), "bias", False),
        ((20,), "activation", "ReLU"),
        ((19,), "activation", "Sigmoid"),
        ((19, 20), "activation", "Tanh"),
        ((22, 23), "dropout", 0.05),
        ((21,), "dropout", 0.0),
        ((24,), "batch_norm", False),
        ((25,), "batch_norm_is_tuned", False),
        ((27,), "shortcut", "identity"),
        ((26,), "shortcut", "B"),
        ((26, 27), "shortcut", "C"),
        ((28,), "weight_decay", 0.0),
        ((29,), "weight_decay", 1e-4),
        ((30, 31), "batch_size", 32),
        ((), "spoilt", True),
        ((32,), "spoilt", False),
        ((33,), "spoilt", False),
    ],
)
def test_a_configuration_means_what_the_table_says(second: tuple[int, ...], field: str, value: object) -> None:
    assert getattr(recipe(config(*second)), field) == value


def test_irrelevant_options_change_nothing() -> None:
    numbers = [option.number for option in OPTIONS if irrelevant(option.name)]
    assert numbers == [34, 35, 36, 37, 38, *range(39, 61)]
    assert recipe(config(*numbers)) == recipe(config())


def test_all_other_options_change_something_somewhere() -> None:
    rng = np.random.default_rng(0)
    points = [space().draw(rng) for _ in range(60)]
    for place, option in enumerate(OPTIONS):
        flipped = [(*point[:place], -point[place], *point[place + 1 :]) for point in points]
        changed = any(
            recipe(space().decode(a)) != recipe(space().decode(b)) for a, b in zip(points, flipped, strict=True)
        )
        assert changed != irrelevant(option.name), option.name


def test_the_settings_by_hand_are_those_of_the_resnet_paper() -> None:
    found = recipe(space().decode([1.0 if bit == "1" else -1.0 for bit in by_hand()]))
    assert (found.optimizer, found.learning_rate, found.momentum, found.weight_decay) == ("SGD", 0.1, 0.9, 1e-4)
    assert (found.initialization, found.batch_norm, found.activation, found.batch_size) == (
        "Kaiming",
        True,
        "ReLU",
        128,
    )
    assert (found.shortcut, found.dropout, found.bias, found.spoilt) == ("identity", 0.0, False, False)
    assert found.activations == (True, False, True)
