"""The algorithms of the paper's two figures, each run with several seeds on the big network."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from experiments.network.laboratory import SEED, Laboratory, Run
from experiments.network.options import by_hand
from experiments.network.plan import ETA, LONG, N_STAGES
from overtone import Stage
from overtone.optimizers import Base
from overtone.optimizers.halving import halving_schedule

TOP = 10  # results that the paper's figures show of an algorithm
BLOCKS = 8  # runs of random search that make "8x"


@dataclass(frozen=True)
class Algorithm:
    """Its repetitions on the big network, and what the small one cost before."""

    name: str
    runs: tuple[Run, ...]
    before: float = 0.0  # seconds of the stages on the small network, which all repetitions share

    def best(self, epochs: int) -> tuple[float, str]:
        """Of all repetitions: the error and the configuration."""
        return min(run.best(epochs) for run in self.runs)

    def to_dict(self, epochs: int) -> dict[str, object]:
        """Plain data, for figures and tables."""
        return {
            "name": self.name,
            "tops": [run.full(epochs)[:TOP] for run in self.runs],
            "means": [float(np.mean(run.full(epochs))) for run in self.runs],
            "n_full": [len(run.full(epochs)) for run in self.runs],
            "n_trainings": [len(run.errors) for run in self.runs],
            "seconds": [self.before + sum(run.seconds) for run in self.runs],
            "before": self.before,
        }


def compared(lab: Laboratory, stages: Sequence[Stage], costs: Sequence[float]) -> list[Algorithm]:
    """Those of the figure "distribution of the best results and running time"; costs: seconds of each stage."""
    found = [_staged(lab, stages, costs, q, "SH", lab.halving(), lab.plan.n_seeds) for q in _counts(stages)]
    pool = [lab.big("random", lab.random(lab.plan.n_random), seed) for seed in range(BLOCKS)]
    found += [Algorithm(f"Random search {n}x", _joined(pool, n)) for n in (1, 2, 8)]
    found.append(Algorithm("Successive halving", _seeds(lab, "halving", lab.halving(LONG), lab.plan.n_long_seeds)))
    found.append(Algorithm("Hyperband", _seeds(lab, "hyperband", lab.hyperband(), lab.plan.n_seeds)))
    return [*found, Algorithm("Bayesian (GP)", (lab.big("bayesian", lab.bayesian(), dummies=False),))]


def variants(lab: Laboratory, stages: Sequence[Stage], costs: Sequence[float]) -> list[Algorithm]:
    """The others of the figure of variants: random search as base, and halving for longer."""
    rungs = halving_schedule(lab.plan.n_halving, 1.0, ETA, lab.full)
    n = max(2, round(sum(rung.n * rung.budget for rung in rungs) / lab.full))  # as many epochs as halving has
    n_seeds = lab.plan.n_long_seeds
    found = [_staged(lab, stages, costs, q, "Random", lab.random(n), n_seeds) for q in _counts(stages)]
    long = lab.halving(LONG)
    return found + [_staged(lab, stages, costs, q, "Long", long, n_seeds) for q in _counts(stages)[1:]]


def _counts(stages: Sequence[Stage]) -> list[int]:
    """q = 1, 2, 3, if so many stages found something."""
    return list(range(1, 1 + min(N_STAGES, sum(stage.restricts for stage in stages))))


def _staged(
    lab: Laboratory, stages: Sequence[Stage], costs: Sequence[float], q: int, kind: str, base: Base, n_seeds: int
) -> Algorithm:
    name = f"Harmonica-{q}" + {"SH": "", "Random": "-Random", "Long": "-Long"}[kind]
    run: Callable[[int], Run] = lambda seed: lab.restricted(stages[:q], base, name.lower(), seed)  # noqa: E731
    return Algorithm(name, tuple(map(run, range(n_seeds))), float(sum(costs[:q])))


def _seeds(lab: Laboratory, name: str, optimizer: Base, n_seeds: int) -> tuple[Run, ...]:
    return tuple(lab.big(name, optimizer, seed) for seed in range(n_seeds))


def _joined(pool: Sequence[Run], n: int) -> tuple[Run, ...]:
    """Disjoint groups of n runs of the pool, each as one run."""
    groups = [pool[start : start + n] for start in range(0, len(pool), n)]
    return tuple(_sum(group) for group in groups)


def _sum(runs: Sequence[Run]) -> Run:
    parts = zip(*((run.errors, run.epochs, run.seconds, run.bits) for run in runs), strict=True)
    return Run("+".join(run.name for run in runs), *(sum(part, ()) for part in parts))


# small to big


def control(lab: Laboratory, first: Run) -> Run:
    """The appendix's control: the best configurations of the small network, and perturbations, on the big one.

    first: the samples of stage 1, which are random configurations of the small network.
    """
    n_best, n_more = lab.plan.n_control
    order = np.argsort(first.errors, kind="stable")[:n_best]
    best = [first.bits[place] for place in order.tolist()]
    rng = np.random.default_rng(SEED)
    moved = [_flipped(best[number % n_best], int(rng.integers(len(lab.space.units)))) for number in range(n_more)]
    return lab.given("control", [*best, *moved])


def _flipped(bits: str, place: int) -> str:
    return bits[:place] + ("0" if bits[place] == "1" else "1") + bits[place + 1 :]


def hand_tuned(lab: Laboratory) -> list[float]:
    """Errors of the configuration of the ResNet paper."""
    seeds = range(1, 1 + 2 * lab.plan.n_again)
    return [lab.given(f"hand-{seed}", [by_hand()], training_seed=seed).errors[0] for seed in seeds]


def again(lab: Laboratory, algorithms: Sequence[Algorithm]) -> dict[str, list[float]]:
    """The best configuration of each algorithm, trained with new seeds: what is left without the luck of the best."""
    bits = {algorithm.name: algorithm.best(round(lab.full))[1] for algorithm in algorithms}
    unique = list(dict.fromkeys(bits.values()))
    runs = [lab.given(f"again-{seed}", unique, training_seed=seed) for seed in range(1, 1 + lab.plan.n_again)]
    return {name: [run.errors[unique.index(each)] for run in runs] for name, each in bits.items()}
