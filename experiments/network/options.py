"""The table "60 options" of the paper, as a space of 60 binary parameters.

Every number of the table is one binary variable. Where the table lists four or eight levels ("Detail"), they are those
of several variables together: 04, 05 and 06 halve the list of eight learning rates three times. The first level of the
table is -1 and the second +1, so that weights have the same signs as in the paper's table of important features.

The paper's text counts 39 options and 21 dummies; its table numbers 38 options and, as 39 to 60, 22 dummies. We follow
the table.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from overtone import Space, choice

Kind = Literal["real", "nearest", "nothing", "dummy"]
KINDS: dict[Kind, str] = {
    "real": "as in the table",
    "nearest": "the nearest real thing",
    "nothing": "does nothing today",
    "dummy": "no effect at all",
}
N_VARIABLES = 60


@dataclass(frozen=True)
class Option:
    """One binary variable of the table."""

    number: int
    title: str
    levels: tuple[str, str]  # as the table lists them: -1, +1
    kind: Kind
    note: str  # what it does here

    @property
    def name(self) -> str:
        """As the paper writes it, as '24. Batch norm'."""
        return f"{self.number:02d}. {self.title}"


YES_NO = ("yes", "no")
ROWS: tuple[tuple[str, tuple[str, str], Kind, str], ...] = (
    ("Weight initialization", ("standard", "other"), "real", "with 02"),
    ("Weight initialization (Detail 1)", ("Xavier Glorot | 1/n", "Kaiming | 1/n^2"), "real", "n inputs; 1/n: std"),
    ("Optimization method", ("SGD", "ADAM"), "real", "torch.optim"),
    ("Initial learning rate", (">= 0.01", "< 0.01"), "real", "with 05 and 06"),
    ("Initial learning rate (Detail 1)", (">= 0.1 | >= 0.001", "< 0.1 | < 0.001"), "real", "with 04 and 06"),
    ("Initial learning rate (Detail 2)", ("0.3 | 0.03 | ...", "0.1 | 0.01 | ..."), "real", "0.3, 0.1, ..., 0.0001"),
    ("Learning rate drop", YES_NO, "real", "the small network ends before the first drop, as the paper's did"),
    ("Learning rate first drop time", ("epoch 40", "epoch 60"), "real", "of 160, scaled to our epochs; by 1/10"),
    ("Learning rate second drop time", ("epoch 80", "epoch 100"), "real", "of 160, scaled to our epochs; to 1/100"),
    ("Use momentum", YES_NO, "real", "with ADAM: its first moment"),
    ("Momentum rate", ("0.9", "0.99"), "real", "with ADAM: its beta_1"),
    ("Initial residual link weight", ("constant 1", "random in [0, 1]"), "real", "a factor of each shortcut"),
    ("Tune residual link weight", YES_NO, "real", "by back propagation"),
    ("Tune time of residual link weight", ("first epoch", "epoch 10"), "real", "of 160, scaled to our epochs"),
    ("Resblock first activation", YES_NO, "real", "after the first convolution"),
    ("Resblock second activation", YES_NO, "real", "after the second convolution"),
    ("Resblock third activation", YES_NO, "real", "after the residual link"),
    ("Convolution bias", YES_NO, "real", "in all convolutions"),
    ("Activation", ("ReLU", "others"), "real", "with 20"),
    ("Activation (Detail 1)", ("ReLU | Sigmoid", "ReLU | Tanh"), "real", "with 19: ReLU twice"),
    ("Use dropout", YES_NO, "real", "after the first convolution of a block"),
    ("Dropout rate", ("high", "low"), "real", "with 23"),
    ("Dropout rate (Detail 1)", ("0.3 | 0.1", "0.2 | 0.05"), "real", "with 22"),
    ("Batch norm", YES_NO, "real", "after every convolution"),
    ("Batch norm tuning", YES_NO, "real", "of its scale and shift"),
    ("Resnet shortcut type", ("Identity", "others"), "real", "with 27"),
    ("Resnet shortcut type (Detail 1)", ("Identity | Type B", "Identity | Type C"), "real", "with 26: identity twice"),
    ("Weight decay", YES_NO, "real", "an L2 term"),
    ("Weight decay parameter", ("1e-3", "1e-4"), "real", "if there is weight decay"),
    ("Batch Size", ("big", "small"), "real", "with 31"),
    ("Batch Size (Detail 1)", ("256 | 64", "128 | 32"), "real", "with 30"),
    ("Optnet", YES_NO, "nearest", "nothing by itself; with 33 gradients are spoilt, as the footnote says"),
    ("Share gradInput", YES_NO, "nearest", "nothing by itself; with 32 gradients are spoilt, as the footnote says"),
    ("Backend", ("cudnn", "cunn"), "nothing", "there is no graphics card"),
    ("cudnn running state", ("fastest", "other"), "nothing", "there is no graphics card"),
    ("cudnn running state (Detail 1)", ("Fastest | default", "Fastest | deterministic"), "nothing", "no graphics card"),
    ("nthreads", ("many", "few"), "nothing", "the images are in memory: no threads load them"),
    ("nthreads (Detail 1)", ("8 | 2", "4 | 1"), "nothing", "the images are in memory: no threads load them"),
)


def _all() -> Iterable[Option]:
    for number, row in enumerate(ROWS, start=1):
        yield Option(number, *row)
    for number in range(len(ROWS) + 1, N_VARIABLES + 1):
        yield Option(number, "Dummy", ("first", "second"), "dummy", "none")


OPTIONS: tuple[Option, ...] = tuple(_all())


def space(*, dummies: bool = True) -> Space:
    """The 60 variables, or the 38 that are no dummies."""
    return Space({option.name: choice(option.levels) for option in OPTIONS if dummies or option.kind != "dummy"})


# the settings of the ResNet paper (He et al. 2016) as far as the options have them: which take their second level
BY_HAND = (2, 6, 8, 9, 13, 16, 18, 21, 29, 31, 32, 33)


def by_hand() -> str:
    """The configuration that people chose, as bits: SGD at 0.1 with momentum 0.9, Kaiming, batch norm, ReLU, ..."""
    return "".join("1" if option.number in BY_HAND else "0" for option in OPTIONS)


def irrelevant(name: str) -> bool:
    """A variable that cannot change the error: a dummy, or one that does nothing today."""
    return OPTIONS[int(name[:2]) - 1].kind in ("dummy", "nothing")


@dataclass(frozen=True)
class Recipe:
    """What a configuration says about a training, in the net's own terms. Epochs are the paper's, of 160."""

    initialization: str
    optimizer: str
    learning_rate: float
    drops: tuple[int, ...]  # epochs after which the rate falls to 1/10, 1/100
    momentum: float
    link_is_random: bool
    link_is_tuned_from: int | None  # epoch; None: never
    activations: tuple[bool, bool, bool]  # after the first and second convolution, after the link
    bias: bool
    activation: str
    dropout: float
    batch_norm: bool
    batch_norm_is_tuned: bool
    shortcut: str
    weight_decay: float
    batch_size: int
    spoilt: bool  # Optnet with Share gradInput


def recipe(config: Mapping[str, Any]) -> Recipe:
    """The training that a configuration stands for; dummies need not be in it."""
    bits = {o.number: o.levels.index(config[o.name]) for o in OPTIONS if o.kind != "dummy"}

    def is_on(number: int) -> bool:
        return bits[number] == 0  # "yes" comes first

    def listed(levels: tuple[Any, ...], *numbers: int) -> Any:
        """The level that some variables pick from a list, the first one halving it first."""
        place = 0
        for number in numbers:
            place = 2 * place + bits[number]
        return levels[place]

    return Recipe(
        initialization=listed(("Xavier Glorot", "Kaiming", "1/n", "1/n^2"), 1, 2),
        optimizer=listed(("SGD", "ADAM"), 3),
        learning_rate=listed((0.3, 0.1, 0.03, 0.01, 0.003, 0.001, 0.0003, 0.0001), 4, 5, 6),
        drops=(listed((40, 60), 8), listed((80, 100), 9)) if is_on(7) else (),
        momentum=listed((0.9, 0.99), 11) if is_on(10) else 0.0,
        link_is_random=not is_on(12),
        link_is_tuned_from=listed((0, 10), 14) if is_on(13) else None,
        activations=(is_on(15), is_on(16), is_on(17)),
        bias=is_on(18),
        activation=listed(("ReLU", "ReLU", "Sigmoid", "Tanh"), 19, 20),
        dropout=listed((0.3, 0.2, 0.1, 0.05), 22, 23) if is_on(21) else 0.0,
        batch_norm=is_on(24),
        batch_norm_is_tuned=is_on(25),
        shortcut=listed(("identity", "identity", "B", "C"), 26, 27),
        weight_decay=listed((1e-3, 1e-4), 29) if is_on(28) else 0.0,
        batch_size=listed((256, 128, 64, 32), 30, 31),
        spoilt=is_on(32) and is_on(33),
    )
