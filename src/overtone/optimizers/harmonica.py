"""Harmonica (Algorithms 1 and 3 of the paper): stages of sampling, recovery and restriction, then a base optimizer."""

import math
from collections.abc import Iterator, Sequence
from functools import cached_property

from overtone.optimizers.random_search import RandomSearch
from overtone.optimizers.relay import Relay
from overtone.optimizers.stage import Settings, Stage, learn
from overtone.optimizers.trial import Base, Optimizer, Trial, Value, check_whole, full_budget
from overtone.space import Space


class Harmonica(Relay):
    """The paper's algorithm; all six of its hyperparameters have automatic values.

    n_stages: q, at most; it stops by itself when a stage finds nothing to fix.
    n_samples: T a stage; automatic: 40 log n for n units, at least 50.
    sparsity, degree, l1_penalty: s, d, lambda of PSR; automatic: see `recover`.
    n_minimizers: t; automatic: those of the best 4 that the fit cannot tell apart.
        With s and lambda given, a stage is the paper's to the letter: it fixes what it finds, whatever the verdict.
    base: ALG, any (space, seed) -> Optimizer for what is left.
    budget: fidelity of the samples of the stages ("tune small"); the base has its own.
    stages: stages learned before, e.g. on a cheaper objective; they are applied first,
        but their polynomials are not subtracted: another objective has another scale.
    """

    def __init__(
        self,
        space: Space,
        seed: int = 0,
        *,
        n_stages: int = 3,
        n_samples: int | None = None,
        sparsity: int | None = None,
        degree: int | None = None,
        l1_penalty: float | None = None,
        n_minimizers: int | None = None,
        base: Base = RandomSearch,
        budget: float | None = None,
        stages: Sequence[Stage] = (),
    ) -> None:
        self.space, self.seed, self.budget = space, check_whole("seed", seed, 0), budget
        self.n_stages = check_whole("n_stages", n_stages, 0)
        self.n_samples = automatic_samples(space) if n_samples is None else check_whole("n_samples", n_samples)
        self.settings = Settings(sparsity, degree, l1_penalty, n_minimizers)
        self.base = base
        self.stages: list[Stage] = list(stages)
        self.restricted = space  # what is left after the stages so far
        self.best: tuple[Trial, float] | None = None  # of the largest budget told
        self._full: float | None = None  # the full budget; not needed before there is a base
        super().__init__(self._sequence())

    def _sequence(self) -> Iterator[Optimizer]:
        """for stage i = 1 to q: PSR, minimizers, f <- f_i; then ALG on what is left."""
        given, seen = len(self.stages), set[object]()
        for stage in self.stages:
            self.restricted = stage.apply(self.restricted)
        for number in range(given + 1, given + 1 + self.n_stages):
            space = self.restricted
            samples = RandomSearch(
                space, self.seed, n_evaluations=self.n_samples, budget=self.budget, stage=number, seen=seen
            )
            yield samples
            stage = learn(space, samples.results(), self.stages[given:], self.settings, number)
            self.stages.append(stage)
            self.restricted = stage.apply(space)
            if not stage.restricts:
                break
        base = self.base(self.restricted, self.seed)
        self._full = full_budget(base)
        yield base

    @cached_property
    def full_budget(self) -> float | None:
        """That of the base, which is made for this only."""
        return full_budget(self.base(self.space, self.seed))

    def tell(self, trial: Trial, value: Value) -> None:
        """Note a value; the last one of a stage makes it learn. The best seen is kept, whatever the model says."""
        super().tell(trial, value)
        known = self._book.values[trial.number]
        if known is not None and (self.best is None or self._rank(trial, known) < self._rank(*self.best)):
            self.best = trial, known

    def _rank(self, trial: Trial, value: float) -> tuple[float, float, int]:
        """Lower is better: values compare only within the largest budget told; no budget is the full one."""
        budget = self._full if trial.budget is None else trial.budget
        return -math.inf if budget is None else -budget, value, trial.number


def automatic_samples(space: Space) -> int:
    """T: 40 log n, at least 50. On planted functions of 5 to 8 features that finds them all, with 10 % noise."""
    return max(50, round(40 * math.log(max(2, len(space.units)))))
