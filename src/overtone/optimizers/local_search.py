"""Local search: all one-parameter changes at once, then the better ones together; at the end, a fresh start."""

from collections.abc import Generator
from contextlib import suppress
from itertools import islice
from operator import itemgetter

import numpy as np

from overtone.optimizers.sampling import Sampler
from overtone.optimizers.trial import Book, Trial, Value, check_whole
from overtone.space import Point, Space
from overtone.space.restrictions import leave

STEPS = (-0.5, -0.1, 0.1, 0.5)  # changes of a continuous unit, in [-1, 1]


class LocalSearch:
    """Descents in parallel batches, each from a uniform point.

    All neighbors of the incumbent are one batch. What was better in it is tried together in the next, since effects
    often add up: the best 2, 3, 4, 6, 8, 12, ... changes, and all. The best of both batches is the next incumbent.
    """

    def __init__(self, space: Space, seed: int = 0, *, n_evaluations: int = 100, budget: float | None = None) -> None:
        self.space, self.seed, self.budget = space, seed, budget
        self.n_evaluations = check_whole("n_evaluations", n_evaluations)
        self._sampler = Sampler(space, seed)
        self._book = Book()
        self._n_rounds = 0
        self._batches = self._descents()
        self._batch: list[Point] = list(next(self._batches, []))  # to be asked
        self._round: list[Trial] = []  # asked, of the batch

    def ask(self, n: int = 1) -> list[Trial]:
        """Up to n trials of a batch; none while results of it are out."""
        return list(islice(iter(self._next, None), check_whole("n", n)))

    def _next(self) -> Trial | None:
        if not self._batch or self._left() <= 0:
            return None
        point = self._batch.pop(0)
        self._round.append(self._book.out(self.space.decode(point), point, self.budget, "local search"))
        return self._round[-1]

    def tell(self, trial: Trial, value: Value) -> None:
        """Note a value; the last one of a batch leads to the next batch."""
        self._book.back(trial, value)
        if self._book.open or self._batch or self._left() <= 0:
            return
        values = [self._book.values[each.number] for each in self._round]
        self._round = []
        with suppress(StopIteration):  # the space is exhausted
            self._batch = list(self._batches.send(values))

    def _left(self) -> int:
        return self.n_evaluations - len(self._book.trials)

    def _descents(self) -> Generator[list[Point], list[Value], None]:
        """Batches of points, each for their values, until the space is exhausted."""
        while (drawn := self._sampler.next()) is not None:
            here = drawn[0]
            (value,) = yield [here]
            while value is not None:
                near = self._neighbors(here)
                better = _better(near, (yield near) if near else [], value)
                if not better:
                    break
                joined = self._joined(here, [point for _, point in better])
                better += _better(joined, (yield joined) if joined else [], value)
                value, here = min(better, key=itemgetter(0))

    def _neighbors(self, point: Point) -> list[Point]:
        """Points that differ in one parameter and were not asked for yet, shuffled."""
        rng = np.random.default_rng([self.seed, 0, self._n_rounds, 1])
        self._n_rounds += 1
        found = [neighbor for neighbor in self.space.neighbors(point, STEPS) if self._is_new(neighbor)]
        rng.shuffle(found)
        return found

    def _joined(self, here: Point, changed: list[Point]) -> list[Point]:
        """The first two of some changes of a point together, the first three, and so on; a parameter changes once."""
        together, taken = [here], set[int]()
        for point in changed:
            units = {unit for unit, code in enumerate(point) if code != here[unit]}
            more = tuple(point[unit] if unit in units else code for unit, code in enumerate(together[-1]))
            if taken.isdisjoint(units) and leave(self.space.mixtures, more) and self.space.allows_point(more):
                together.append(more)
                taken |= units
        last = len(together) - 1
        return [
            point for n, point in enumerate(together) if n > 1 and (_is_tried(n) or n == last) and self._is_new(point)
        ]

    def _is_new(self, point: Point) -> bool:
        return self._sampler.is_new(self.space.decode(point))

    @property
    def done(self) -> bool:
        """The evaluations are used up, or the space is."""
        return not self._book.open and (self._left() <= 0 or not self._batch)


def _is_tried(n: int) -> bool:
    """2, 3, 4, 6, 8, 12, 16, ...: a power of two, or one and a half."""
    return n & (n - 1) == 0 or (n % 3 == 0 and (third := n // 3) & (third - 1) == 0)


def _better(points: list[Point], values: list[Value], value: float) -> list[tuple[float, Point]]:
    """Those that are better than a value, best first."""
    known = [(other, point) for point, other in zip(points, values, strict=True) if other is not None]
    return sorted(((other, point) for other, point in known if other < value), key=itemgetter(0))
