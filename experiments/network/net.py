"""A residual network with the options of the paper, trained on one thread, the same way every time."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from experiments.network.data import Images
from experiments.network.options import Recipe
from experiments.network.plan import STAGES, Shape

PAPER_EPOCHS = 160  # of a full training in the paper: options name epochs on that scale
SPOILT = 0.5  # share of the convolutions whose gradients are overwritten in a step, where options conflict
ACTIVATIONS = {"ReLU": functional.relu, "Sigmoid": torch.sigmoid, "Tanh": torch.tanh}


class Convolution(nn.Module):  # type: ignore[misc]
    """A convolution, and batch norm after it if wanted."""

    def __init__(self, inputs: int, outputs: int, size: int, stride: int, recipe: Recipe) -> None:
        super().__init__()
        self.conv = nn.Conv2d(inputs, outputs, size, stride, size // 2, bias=recipe.bias)
        self.norm = nn.BatchNorm2d(outputs) if recipe.batch_norm else None
        if self.norm is not None and not recipe.batch_norm_is_tuned:
            self.norm.requires_grad_(False)

    def forward(self, x: Tensor) -> Tensor:
        """(B, inputs, h, w) -> (B, outputs, h / stride, w / stride)"""
        x = self.conv(x)
        return x if self.norm is None else self.norm(x)


class Block(nn.Module):  # type: ignore[misc]
    """y = a3(a2(F2(a1(F1(x)))) + w * shortcut(x)): the activations a1, a2 and a3 are options, and so is w."""

    def __init__(self, inputs: int, outputs: int, stride: int, recipe: Recipe) -> None:
        super().__init__()
        self.recipe, self.activation = recipe, ACTIVATIONS[recipe.activation]
        self.first = Convolution(inputs, outputs, 3, stride, recipe)
        self.second = Convolution(outputs, outputs, 3, 1, recipe)
        changes = stride > 1 or inputs != outputs
        has_weights = recipe.shortcut == "C" or (recipe.shortcut == "B" and changes)
        self.shortcut = Convolution(inputs, outputs, 1, stride, recipe) if has_weights else None
        self.stride, self.padding = stride, outputs - inputs
        self.link = nn.Parameter(torch.rand(()) if recipe.link_is_random else torch.ones(()), requires_grad=False)

    def forward(self, x: Tensor) -> Tensor:
        """(B, inputs, h, w) -> (B, outputs, h / stride, w / stride)"""
        after_first, after_second, after_link = self.recipe.activations
        y = self.first(x)
        y = self.activation(y) if after_first else y
        y = functional.dropout(y, self.recipe.dropout, self.training) if self.recipe.dropout else y
        y = self.second(y)
        y = self.activation(y) if after_second else y
        y = y + self.link * self._shortened(x)
        return self.activation(y) if after_link else y

    def _shortened(self, x: Tensor) -> Tensor:
        """The identity takes every other pixel, and zeros for the new channels (type A of the ResNet paper)."""
        if self.shortcut is not None:
            return self.shortcut(x)
        x = x[:, :, :: self.stride, :: self.stride]
        return functional.pad(x, (0, 0, 0, 0, 0, self.padding)) if self.padding else x


class Network(nn.Module):  # type: ignore[misc]
    """A convolution, three stages of blocks, the mean of every channel, a linear layer."""

    def __init__(self, shape: Shape, images: Images, recipe: Recipe) -> None:
        super().__init__()
        channels, side = images.x_train.shape[1:3]
        self.activation = ACTIVATIONS[recipe.activation]
        self.stem = Convolution(channels, shape.width, 3, 2 if side > 8 else 1, recipe)
        blocks, inputs = [], shape.width
        for stage in range(STAGES):
            for number in range(shape.n_blocks):
                outputs = shape.width * 2**stage
                blocks.append(Block(inputs, outputs, 2 if stage and not number else 1, recipe))
                inputs = outputs
        self.blocks = nn.Sequential(*blocks)
        self.last = nn.Linear(inputs, images.n_classes)
        self.apply(lambda module: _initialize(module, recipe.initialization))

    def forward(self, x: Tensor) -> Tensor:
        """(B, channels, side, side) -> (B, classes)"""
        return self.last(self.blocks(self.activation(self.stem(x))).mean((2, 3)))


def _initialize(module: Any, initialization: str) -> None:
    if not isinstance(module, nn.Conv2d | nn.Linear):
        return
    fan_in = module.weight[0].numel()
    if initialization == "Xavier Glorot":
        nn.init.xavier_normal_(module.weight)
    else:
        std = {"Kaiming": math.sqrt(2 / fan_in), "1/n": 1 / fan_in, "1/n^2": 1 / fan_in**2}[initialization]
        nn.init.normal_(module.weight, 0.0, std)
    if module.bias is not None:
        nn.init.zeros_(module.bias)


@contextmanager
def _without_denormals() -> Iterator[None]:
    """Numbers so near to zero that they make a processor slow are zero; in all of this process, so only for a while."""
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(False)


@_without_denormals()
def test_error(images: Images, shape: Shape, recipe: Recipe, epochs: int, seed: int) -> float:
    """Percent of the test images that are taken for another class, after so many epochs.

    A training that diverges ends there, with the error of a guess.
    """
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    torch.manual_seed(seed)
    network = Network(shape, images, recipe)
    if not _train(network, images, recipe, epochs, PAPER_EPOCHS / shape.full_epochs):
        return 100 * (1 - 1 / images.n_classes)
    network.eval()
    with torch.no_grad():
        guesses = [network(part).argmax(1) for part in torch.from_numpy(images.x_test).split(500)]
    wrong = torch.cat(guesses) != torch.from_numpy(images.y_test)
    return float(100 * wrong.double().mean())


def _train(network: Any, images: Images, recipe: Recipe, epochs: int, scale: float) -> bool:
    """False if it diverged. scale: the paper's epochs in one of ours."""
    optimizer = _optimizer(network, recipe)
    x, y = torch.from_numpy(images.x_train), torch.from_numpy(images.y_train)
    network.train()
    for epoch in range(epochs):
        _set_rate(optimizer, recipe, epoch * scale)
        _tune_links(network, recipe, epoch * scale)
        for batch in torch.randperm(len(x)).split(recipe.batch_size):
            optimizer.zero_grad()
            loss = functional.cross_entropy(network(x[batch]), y[batch])
            if not math.isfinite(loss.item()):
                return False
            loss.backward()
            if recipe.spoilt:
                _spoil(network)
            optimizer.step()
    return True


def _optimizer(network: Any, recipe: Recipe) -> Any:
    rate, decay = recipe.learning_rate, recipe.weight_decay
    if recipe.optimizer == "ADAM":
        betas = (recipe.momentum, 0.999)
        return torch.optim.Adam(network.parameters(), rate, betas, weight_decay=decay, fused=True)
    return torch.optim.SGD(network.parameters(), rate, recipe.momentum, weight_decay=decay)


def _set_rate(optimizer: Any, recipe: Recipe, epoch: float) -> None:
    """A tenth after each drop."""
    n_drops = sum(epoch >= drop for drop in recipe.drops)
    for group in optimizer.param_groups:
        group["lr"] = recipe.learning_rate * 0.1**n_drops


def _tune_links(network: Any, recipe: Recipe, epoch: float) -> None:
    if recipe.link_is_tuned_from is not None and epoch >= recipe.link_is_tuned_from:
        for block in network.blocks:
            block.link.requires_grad_(True)


def _spoil(network: Any) -> None:
    """Optnet and Share gradInput claim the same memory: what is found there are gradients of other weights."""
    for parameter in network.parameters():
        gradient = parameter.grad
        if gradient is not None and gradient.dim() == 4 and torch.rand(()).item() < SPOILT:
            gradient.copy_(gradient.flatten()[torch.randperm(gradient.numel())].view_as(gradient))
