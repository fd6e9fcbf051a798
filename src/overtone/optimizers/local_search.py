"""Local search: the best of all one-parameter changes, again and again; at the end of a descent, a fresh start."""

from itertools import islice

import numpy as np

from overtone.optimizers.sampling import Sampler, key
from overtone.optimizers.trial import Book, Trial, Value, check_whole
from overtone.space import Point, Space

STEPS = (-0.5, -0.1, 0.1, 0.5)  # changes of a continuous unit, in [-1, 1]


class LocalSearch:
    """Best improvement in parallel batches: all neighbors of the incumbent are one batch."""

    def __init__(self, space: Space, seed: int = 0, *, n_evaluations: int = 100, budget: float | None = None) -> None:
        self.space, self.seed, self.budget = space, seed, budget
        self.n_evaluations = check_whole("n_evaluations", n_evaluations)
        self._sampler = Sampler(space, seed)
        self._book = Book()
        self._batch: list[Point] = []  # to be asked
        self._round: list[Trial] = []  # asked, of the batch whose best is the next incumbent
        self._incumbent: tuple[float, Point] | None = None
        self._n_rounds = 0
        self._exhausted = False
        self._restart()

    def ask(self, n: int = 1) -> list[Trial]:
        """Up to n neighbors of the incumbent; none while results of the batch are out."""
        return list(islice(iter(self._next, None), check_whole("n", n)))

    def _next(self) -> Trial | None:
        if not self._batch or self._left() <= 0:
            return None
        point = self._batch.pop(0)
        self._round.append(self._book.out(self.space.decode(point), point, self.budget, "local search"))
        return self._round[-1]

    def tell(self, trial: Trial, value: Value) -> None:
        """Note a value; the last one of a batch moves the incumbent, or starts afresh."""
        self._book.back(trial, value)
        if self._book.open or (self._batch and self._left() > 0):
            return
        told = [(self._book.values[t.number], t.number, t.point) for t in self._round]
        best = min(((v, number, point) for v, number, point in told if v is not None), default=None)
        self._round = []
        if best is not None and (self._incumbent is None or best[0] < self._incumbent[0]):
            self._incumbent = best[0], best[2]
            self._batch = self._neighbors(best[2])
        else:
            self._batch = []
        if not self._batch:
            self._restart()

    def _left(self) -> int:
        return self.n_evaluations - len(self._book.trials)

    def _restart(self) -> None:
        self._incumbent = None
        drawn = self._sampler.next()
        self._exhausted = drawn is None
        self._batch = [] if drawn is None else [drawn[0]]

    def _neighbors(self, point: Point) -> list[Point]:
        """Points that differ in one parameter and were not asked for yet, shuffled."""
        rng = np.random.default_rng([self.seed, 0, self._n_rounds, 1])
        self._n_rounds += 1
        found: list[Point] = []
        for neighbor in self.space.neighbors(point, STEPS):
            config = self.space.decode(neighbor)
            if key(config) not in self._sampler.seen:
                self._sampler.seen.add(key(config))
                found.append(neighbor)
        rng.shuffle(found)
        return found

    @property
    def done(self) -> bool:
        """The evaluations are used up, or the space is."""
        return not self._book.open and (self._left() <= 0 or (self._exhausted and not self._batch))
