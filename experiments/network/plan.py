"""How large the experiment is: what the paper did, scaled down."""

from dataclasses import dataclass

from experiments.frame import Options

STAGES = 3  # of blocks; each halves the side and doubles the width of the one before


@dataclass(frozen=True)
class Shape:
    """A network, and the epochs of a full training, which those of the options are scaled to."""

    n_blocks: int  # in each of the three stages
    width: int  # channels in the first stage
    full_epochs: int

    @property
    def n_layers(self) -> int:
        """Convolutions and the last, linear layer, as the paper counts."""
        return 2 * STAGES * self.n_blocks + 2


@dataclass(frozen=True)
class Plan:
    """All numbers of one size."""

    n_train: int  # images
    n_test: int
    width: int
    n_blocks: tuple[int, int]  # of the small and the big network, in each of three stages of layers
    epochs: tuple[int, int]
    n_samples: int  # T of each stage
    n_after: int  # samples of what the last stage leaves
    l1_penalty: float  # of the stages, for errors in percent
    n_random: int  # trainings of random search 1x
    n_halving: int  # configurations in the first rung of halving as a base; see LONG
    n_seeds: int  # repetitions of the base optimizers and of Hyperband
    n_long_seeds: int  # the same for other variants, and for halving alone
    n_bayes: int
    n_control: tuple[int, int]  # the best of the small network, and perturbations of them
    n_again: int  # new seeds for the best configuration of each algorithm

    @property
    def small(self) -> Shape:
        """The one that stages are learned on."""
        return Shape(self.n_blocks[0], self.width, self.epochs[1])

    @property
    def big(self) -> Shape:
        """The one that is to be tuned."""
        return Shape(self.n_blocks[1], self.width, self.epochs[1])


N_STAGES = 3
SPARSITY, DEGREE, N_MINIMIZERS = 5, 3, 4  # s, d, t of the paper
ETA = 3  # of halving
LONG = 2  # times the configurations of halving as a base: those of "Long", and of halving alone

TINY = Plan(
    n_train=96,
    n_test=100,
    width=4,
    n_blocks=(1, 2),
    epochs=(1, 3),
    n_samples=40,
    n_after=20,
    l1_penalty=0.5,
    n_random=2,
    n_halving=3,
    n_seeds=2,
    n_long_seeds=1,
    n_bayes=4,
    n_control=(2, 4),
    n_again=2,
)
DEFAULT = Plan(
    n_train=1200,
    n_test=2000,
    width=8,
    n_blocks=(1, 2),
    epochs=(3, 9),
    n_samples=300,
    n_after=100,
    l1_penalty=0.5,
    n_random=30,
    n_halving=27,
    n_seeds=3,
    n_long_seeds=1,
    n_bayes=40,
    n_control=(10, 90),
    n_again=2,
)
FULL = Plan(
    n_train=5000,
    n_test=10_000,
    width=16,
    n_blocks=(1, 9),
    epochs=(9, 81),
    n_samples=300,
    n_after=100,
    l1_penalty=0.5,
    n_random=80,
    n_halving=81,
    n_seeds=5,
    n_long_seeds=5,
    n_bayes=100,
    n_control=(10, 90),
    n_again=5,
)


def plan(options: Options) -> Plan:
    """The one of the size."""
    return options.pick(TINY, DEFAULT, FULL)
