"""Runs of the experiment: each an optimizer of Overtone with its own ledger, so that it goes on where it ended."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from experiments.frame import Options
from experiments.network.options import space
from experiments.network.plan import DEGREE, ETA, N_MINIMIZERS, N_STAGES, SPARSITY, Plan, Shape, plan
from experiments.network.training import Training, read_table, training_key
from overtone import Harmonica, Hyperband, RandomSearch, Space, Stage, SuccessiveHalving, minimize
from overtone.optimizers import Base
from overtone.optimizers.given import Given
from overtone.running.record import History, Record
from overtone.running.workers import Workers

SEED = 0


@dataclass(frozen=True)
class Run:
    """What one run came to: its trainings in their order."""

    name: str
    errors: tuple[float, ...]  # test errors, in percent
    epochs: tuple[int, ...]
    seconds: tuple[float, ...]  # of the processor
    bits: tuple[str, ...]  # each configuration, a character a variable: 0 for the first level, 1 for the second

    def full(self, epochs: int) -> list[float]:
        """The errors of trainings of the full length, best first."""
        return sorted(error for error, each in zip(self.errors, self.epochs, strict=True) if each == epochs)

    def best(self, epochs: int) -> tuple[float, str]:
        """The best error of the full length, and the configuration."""
        rows = zip(self.errors, self.epochs, self.bits, strict=True)
        return min((error, bits) for error, each, bits in rows if each == epochs)


@contextmanager
def laboratory(options: Options) -> Iterator["Laboratory"]:
    """With workers that all runs share: each has to load torch, which takes longer than a small training."""
    os.environ["OMP_NUM_THREADS"] = "1"  # of the workers: a core each
    with Workers(options.workers) as executor:
        yield Laboratory(options, executor)


@dataclass
class Laboratory:
    """Makes the runs of one size, or takes them from their ledgers."""

    options: Options
    executor: Executor
    plan: Plan = field(init=False)
    space: Space = field(init=False)

    def __post_init__(self) -> None:
        self.plan, self.space = plan(self.options), space()

    @cached_property
    def folder(self) -> Path:
        """A folder for each size and each set of images."""
        images = "digits" if self.options.data is None else self.options.data.stem
        folder = self.options.ledgers / f"network-{self.options.size}-{images}"
        folder.mkdir(exist_ok=True)
        return folder

    @property
    def _table(self) -> Path:
        return self.folder / "trainings.jsonl"

    # the small network

    def learned(self) -> tuple[list[Run], list[Stage]]:
        """The stages of Harmonica on the small network; the samples of each, and samples of what they leave."""
        budget = float(self.plan.epochs[0])
        after = partial(RandomSearch, n_evaluations=self.plan.n_after, budget=budget)
        optimizer = partial(
            Harmonica,
            n_stages=N_STAGES,
            n_samples=self.plan.n_samples,
            sparsity=SPARSITY,
            degree=DEGREE,
            l1_penalty=self.plan.l1_penalty,
            n_minimizers=N_MINIMIZERS,
            base=after,
            budget=budget,
        )
        history = self._history("stages", self.plan.small, optimizer, SEED, self.space)
        names = [*(f"stage {stage.number}" for stage in history.stages), "random search"]
        samples = [
            self._run(name, [record for record in history.records if record.trial.stage == name], self.plan.small)
            for name in names
        ]
        return samples, list(history.stages)

    # the big network

    def restricted(self, stages: Sequence[Stage], base: Base, name: str, seed: int) -> Run:
        """Tune small, apply to big: the stages of the small network, then a base optimizer on the big one."""
        return self.big(name, partial(_harmonica, stages=tuple(stages), base=base), seed)

    def big(self, name: str, optimizer: Base, seed: int = SEED, *, dummies: bool = True, training_seed: int = 0) -> Run:
        """A run of any optimizer on the big network."""
        space_ = self.space if dummies else space(dummies=False)
        history = self._history(f"{name}-{seed}", self.plan.big, optimizer, seed, space_, training_seed)
        return self._run(f"{name}-{seed}", history.records, self.plan.big, training_seed)

    def given(self, name: str, bits: Iterable[str], training_seed: int = 0) -> Run:
        """Chosen configurations on the big network, at the full length."""
        configs = [self.config(each) for each in bits]
        return self.big(name, partial(_given, configs=configs, budget=self.full), training_seed=training_seed)

    @property
    def full(self) -> float:
        """The budget of a full training of the big network."""
        return float(self.plan.epochs[1])

    def halving(self, factor: int = 1) -> Base:
        """From one epoch to the full number of them."""
        n = self.plan.n_halving * factor
        return partial(SuccessiveHalving, n_configurations=n, min_budget=1.0, max_budget=self.full, eta=ETA)

    def random(self, n: int) -> Base:
        """At the full length."""
        return partial(RandomSearch, n_evaluations=n, budget=self.full)

    def hyperband(self) -> Base:
        """Its brackets."""
        return partial(Hyperband, max_budget=self.full, eta=ETA)

    def bayesian(self) -> Base:
        """A Gaussian process, one training at a time: for Spearmint, which is no longer kept up."""
        from optuna.samplers import GPSampler

        from overtone.adapters.optuna import OptunaSearch

        sampler = partial(GPSampler, n_startup_trials=10, deterministic_objective=False)
        return partial(OptunaSearch, sampler=sampler, n_evaluations=self.plan.n_bayes, budget=self.full)

    # what all share

    def _history(
        self, name: str, shape: Shape, optimizer: Base, seed: int, space_: Space, training_seed: int = 0
    ) -> History:
        plan = self.plan
        training = Training(
            None if self.options.data is None else self.options.data.resolve(),
            shape,
            plan.n_train,
            plan.n_test,
            training_seed,
            self._table.resolve(),
        )
        print(f"network: {name}", flush=True)
        return minimize(
            training,
            space_,
            optimizer=optimizer,
            executor=self.executor,
            n_workers=self.options.workers,
            ledger=self.folder / f"{name}.db",
            seed=seed,
            progress=False,
        ).history

    def _run(self, name: str, records: Iterable[Record], shape: Shape, training_seed: int = 0) -> Run:
        """The trainings that gave a value, and what they cost."""
        table = read_table(self._table)
        rows = [
            (
                record.outcome.value,
                round(record.trial.budget or 0),
                table[training_key(shape, record.trial.config, record.trial.budget or 0, training_seed)][1],
                as_bits(record.trial.point),
            )
            for record in records
            if record.outcome.value is not None
        ]
        return Run(name, *zip(*rows, strict=True))

    def config(self, bits: str) -> dict[str, Any]:
        """The configuration with these bits; dummies that are left out are the first level."""
        padded = bits.ljust(len(self.space.units), "0")
        return self.space.decode([1.0 if bit == "1" else -1.0 for bit in padded])


def _harmonica(space_: Space, seed: int, *, stages: tuple[Stage, ...], base: Base) -> Harmonica:
    return Harmonica(space_, seed, n_stages=0, stages=stages, base=base)


def _given(space_: Space, seed: int, *, configs: Sequence[Mapping[str, Any]], budget: float) -> Given:  # noqa: ARG001
    return Given(space_, configs, budget=budget)


def as_bits(point: Sequence[float]) -> str:
    """'0' for -1, the first level; '1' for +1."""
    return "".join("1" if code > 0 else "0" for code in point)


def as_points(bits: Iterable[str]) -> Any:
    """The inverse.  # (T, n)"""
    return np.array([[1.0 if bit == "1" else -1.0 for bit in each] for each in bits])
