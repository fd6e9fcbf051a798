"""The network: every option does what it says, and a training is the same every time."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from experiments.network.data import Images, load
from experiments.network.options import Recipe, by_hand, recipe, space
from experiments.network.plan import Shape
from experiments.network.training import Training, read_table, training_key

pytestmark = pytest.mark.heavy
SHAPE = Shape(1, 4, 9)
HAND = recipe(space().decode([1.0 if bit == "1" else -1.0 for bit in by_hand()]))


@pytest.fixture
def images() -> Images:
    return load(None).take(200, 100)


def network(images: Images, **changed: Any) -> Any:
    import torch

    from experiments.network.net import Network

    torch.manual_seed(0)
    return Network(SHAPE, images, replace(HAND, **changed))


def error(images: Images, recipe: Recipe, epochs: int = 2, seed: int = 0) -> float:
    from experiments.network.net import test_error as measured

    return measured(images, SHAPE, recipe, epochs, seed)


def test_layers_are_counted_as_in_the_paper(images: Images) -> None:
    from torch import nn

    layers = [each for each in network(images).modules() if isinstance(each, nn.Conv2d | nn.Linear)]
    assert len(layers) == SHAPE.n_layers == 8
    assert Shape(9, 16, 160).n_layers == 56


def test_a_training_is_a_function_of_its_seed(images: Images) -> None:
    assert error(images, HAND) == error(images, HAND)
    assert len({error(images, HAND, seed=seed) for seed in range(4)}) > 1


def test_the_processor_is_left_as_it_was(images: Images) -> None:
    """A training rounds numbers near zero to zero, in the whole process; others must not meet that."""
    error(images, HAND, epochs=1)
    assert np.finfo(float).tiny * np.array(0.5) > 0


def test_it_learns() -> None:
    good = replace(HAND, optimizer="ADAM", learning_rate=0.01, batch_size=32)
    assert error(load(None).take(1000, 500), good, epochs=4) < 30


def test_a_training_that_diverges_is_a_guess(images: Images) -> None:
    wild = replace(HAND, batch_norm=False, learning_rate=1e6, activation="ReLU")
    assert error(images, wild) == pytest.approx(90)


@pytest.mark.parametrize("seed", range(3))
def test_any_configuration_trains(images: Images, seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(15):
        found = error(images, recipe(space().decode(space().draw(rng))), epochs=1)
        assert 0 <= found <= 100


@pytest.mark.parametrize(
    ("changed", "n_more"),
    [
        ({"bias": True}, 4 + 2 * (4 + 8 + 16)),
        ({"batch_norm": False}, -2 * (4 + 2 * (4 + 8 + 16))),
        ({"shortcut": "B"}, 4 * 8 + 8 * 16 + 2 * (8 + 16)),
        ({"shortcut": "C"}, 4 * 4 + 4 * 8 + 8 * 16 + 2 * (4 + 8 + 16)),
        ({"activation": "Tanh", "dropout": 0.3, "activations": (False, True, False)}, 0),
    ],
)
def test_options_of_the_shape(images: Images, changed: dict[str, Any], n_more: int) -> None:
    usual, other = network(images), network(images, **changed)
    assert _size(other) - _size(usual) == n_more


def _size(network: Any) -> int:
    return sum(each.numel() for each in network.parameters())


@pytest.mark.parametrize(
    ("name", "std"), [("Kaiming", np.sqrt(2 / 144)), ("1/n", 1 / 144), ("1/n^2", 1 / 144**2), ("Xavier Glorot", 1 / 12)]
)
def test_initial_weights(images: Images, name: str, std: float) -> None:
    weight = network(images, initialization=name).blocks[2].second.conv.weight
    assert weight[0].numel() == 144
    assert weight.std().item() == pytest.approx(std, rel=0.1)


def test_the_weight_of_links_is_tuned_from_its_epoch_on(images: Images) -> None:
    from experiments.network.net import _tune_links

    late = replace(HAND, link_is_tuned_from=10)
    net = network(images)
    _tune_links(net, late, 9.9)
    assert not net.blocks[0].link.requires_grad
    _tune_links(net, late, 10.0)
    assert net.blocks[0].link.requires_grad
    assert 0 < network(images, link_is_random=True).blocks[0].link.item() < 1


def test_the_rate_drops_twice(images: Images) -> None:
    from experiments.network.net import _optimizer, _set_rate

    optimizer = _optimizer(network(images), HAND)
    rates = []
    for epoch in (0, 59, 60, 99, 100):
        _set_rate(optimizer, HAND, epoch)
        rates.append(round(optimizer.param_groups[0]["lr"], 6))
    assert rates == [0.1, 0.1, 0.01, 0.01, 0.001]


def test_batch_norm_that_is_not_tuned_stays(images: Images) -> None:
    assert not network(images, batch_norm_is_tuned=False).stem.norm.weight.requires_grad


def test_the_conflict_of_optnet_and_share_gradinput_spoils_a_training() -> None:
    images = load(None).take(1000, 500)
    good = replace(HAND, optimizer="ADAM", learning_rate=0.01, batch_size=32)
    sound, spoilt = (
        np.mean([error(images, replace(good, spoilt=spoilt), epochs=1, seed=seed) for seed in range(3)])
        for spoilt in (False, True)
    )
    assert spoilt > sound


def test_the_objective_trains_once_and_notes_what_it_cost(tmp_path: Path) -> None:
    training = Training(None, SHAPE, 100, 50, 3, tmp_path / "table.jsonl")
    config = space().decode(space().draw(np.random.default_rng(0)))
    found = training(config, 1.0)
    table = read_table(tmp_path / "table.jsonl")
    assert list(table) == [training_key(SHAPE, config, 1.0, 3)]
    error, seconds = table.popitem()[1]
    assert error == found
    assert seconds > 0
    assert training(config, 1.0) == found
    assert len((tmp_path / "table.jsonl").read_text().splitlines()) == 1


def test_a_torn_line_of_the_table_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "table.jsonl"
    assert read_table(path) == {}
    path.write_text('{"key": "a", "error": 1.0, "seconds": 2.0}\n{"key": "b", "err')
    assert read_table(path) == {"a": (1.0, 2.0)}
