"""What `minimize` does when nobody chooses: uniform samples, a look at what matters, then spectral descent."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice

from overtone.optimizers.features import Features
from overtone.optimizers.random_search import RandomSearch
from overtone.optimizers.relay import Relay
from overtone.optimizers.spectral_descent import ROUNDS, START, SpectralDescent, checked_seen
from overtone.optimizers.stage import Settings, Stage, learn
from overtone.optimizers.trial import Optimizer, Value, check_whole
from overtone.space import Point, Space
from overtone.spectral.monomials import count_monomials

AFFORDABLE = 2e9  # operations of a scan up to which the stage looks at monomials of a degree: a fraction of a second
WHY = "nothing is fixed by it: spectral descent goes on over the whole space, with these samples and all that follow"


class Automatic(Relay):
    """A fifth of the evaluations uniform, from which a stage is learned; then spectral descent that knows them.

    The stage is for the report, and for combinations that crash, which are avoided from then on. It fixes nothing:
    descent judges every parameter by all that was seen, so that nothing needs to be released again.
    n_evaluations: as planned; with `goes_on`, asked for more, it goes on with everything before known to it.
    """

    def __init__(self, space: Space, seed: int = 0, *, n_evaluations: int = 100, goes_on: bool = False) -> None:
        self.space, self.seed = space, check_whole("seed", seed, 0)
        self.n_evaluations = check_whole("n_evaluations", n_evaluations)
        self.goes_on = goes_on
        self.n_samples = math.ceil(START * self.n_evaluations)
        self.stages: list[Stage] = []
        self._known: list[tuple[Point, Value]] = []  # before the first trial
        super().__init__(self._sequence())

    def know(self, seen: Iterable[tuple[Point, Value]]) -> None:
        """Take in what was known before the first trial, as of today's default: descent may start from there."""
        self._known += checked_seen(self.space, seen)

    def _sequence(self) -> Iterator[Optimizer]:
        samples = RandomSearch(self.space, self.seed, n_evaluations=self.n_samples, stage=1)
        yield samples
        stage = learn(self.space, samples.results(), [], Settings(degree=self._degree()))
        self.stages.append(replace(stage, minimizers=(), fixed=(), reason="; ".join(filter(None, (stage.reason, WHY)))))
        space = self.stages[0].apply(self.space)
        yield from islice(self._descents(space), None if self.goes_on else 1)

    def _descents(self, space: Space) -> Iterator[Optimizer]:
        """Each knows what came before, and takes what is left of the evaluations, or as many again."""
        n_before = -1
        while n_before < (n := len(self._book.trials)):  # else the space is exhausted
            left = self.n_evaluations - n
            if left > 0 or self.goes_on:
                seen = [*self._known, *((trial.point, value) for trial, value in self._book.results())]
                yield SpectralDescent(
                    space, self.seed, n_evaluations=left if left > 0 else self.n_evaluations, seen=seen
                )
            n_before = n

    def _degree(self) -> int | None:
        """None, automatic, where the engine's usual ladder is affordable; else what is."""
        counts = count_monomials(Features(self.space).groups, 3)
        affordable = sum(2 * self.n_samples * count <= AFFORDABLE for count in counts[1:])
        return None if affordable == 3 else max(1, affordable)

    @property
    def batch(self) -> int:
        """Trials that are asked for at a time after the uniform samples; the answer is known only to the next ones."""
        return max(1, math.ceil((self.n_evaluations - self.n_samples) / ROUNDS))
