"""Spectral descent: rounds of trials, each proposed by fits of a sparse polynomial to everything seen.

The first fit needs uniform samples; after that, exploration is by Thompson sampling: each trial takes the least point
of its own draw of a function that the samples allow, so that the trials of a round differ.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice

import numpy as np

from overtone.optimizers.findings import Findings, Row
from overtone.optimizers.proposals import Neighborhood
from overtone.optimizers.sampling import Sampler, key
from overtone.optimizers.surrogate import Samples, Surrogate, fit
from overtone.optimizers.trial import Book, Trial, Value, check_whole
from overtone.space import Point, Space
from overtone.spectral.correlation import single_threaded_blas
from overtone.spectral.monomials import FloatArray

START = 0.2  # share of the evaluations that are uniform, before the first fit
ROUNDS = 12  # that the others are spread over
PATTERN = "ffnffnffnu"  # what trials are for: minimizers of the fits, neighbors of the incumbents, uniform exploration
N_FITS = 4  # whose minima are looked at: on all samples, and on bootstrap resamples
N_INCUMBENTS = 5
N_STARTS = 2  # uniform points, besides the incumbents, from which a fit is descended
N_JUMPS = 100  # changes of two parameters, and of three, that are ranked
EXPLAINS = 0.05  # share of the variance from which on a fit ranks better than chance
N_POOL = 600  # best points of a round on which functions of the posterior are drawn
REPEAT = 4  # with noise, one of so many trials repeats a contender


class SpectralDescent:
    """Uniform samples, then rounds of `batch` trials; the answer does not depend on the number of workers.

    n_evaluations: a fifth of them uniform; ends early when the space is exhausted.
    batch: trials a round; automatic: what makes 12 rounds. With 1 it goes one trial at a time.
    No configuration comes twice, but for the best of the first round: if its value is another one the second time,
    the objective is noisy, and some trials repeat contenders from then on.
    """

    def __init__(
        self,
        space: Space,
        seed: int = 0,
        *,
        n_evaluations: int = 100,
        batch: int | None = None,
        budget: float | None = None,
    ) -> None:
        self.space, self.seed, self.budget = space, seed, budget
        self.n_evaluations = check_whole("n_evaluations", n_evaluations)
        self.n_uniform = math.ceil(START * self.n_evaluations)
        automatic = max(1, math.ceil((self.n_evaluations - self.n_uniform) / ROUNDS))
        self.batch = automatic if batch is None else check_whole("batch", batch)
        self._sampler = Sampler(space, seed)
        self._near = Neighborhood(space)
        self._book = Book()
        self._findings = Findings()
        self._queue: list[Point] = []  # of this round, to be asked
        self._n_rounds = 0
        self._exhausted = False

    def ask(self, n: int = 1) -> list[Trial]:
        """Up to n trials of this round; none while results of the round are out."""
        return list(islice(iter(self._next, None), check_whole("n", n)))

    def _next(self) -> Trial | None:
        if self._left() <= 0 or self._exhausted:
            return None
        if len(self._book.trials) < self.n_uniform:
            self._queue = list(islice(self._drawn(), 1))
        elif not self._queue and not self._book.open:
            with single_threaded_blas():
                self._queue = self._propose(min(self.batch, self._left()))
        elif not self._queue:
            return None
        self._exhausted = not self._queue
        return self._out(self._queue.pop(0)) if self._queue else None

    def _left(self) -> int:
        return self.n_evaluations - len(self._book.trials)

    def _out(self, point: Point) -> Trial:
        config = self.space.decode(point)
        trial = self._book.out(config, point, self.budget, "spectral descent")
        self._findings.out(key(config), trial)
        return trial

    def tell(self, trial: Trial, value: Value) -> None:
        """Note a value."""
        self._findings.back(trial, self._book.back(trial, value))

    @property
    def done(self) -> bool:
        """The evaluations are used up, or the space is."""
        return not self._book.open and (self._left() <= 0 or self._exhausted)

    @property
    def best(self) -> tuple[Trial, float] | None:
        """The trial of the best configuration, and the mean of its values; with noise, as the fit judges it."""
        with single_threaded_blas():
            samples = self._samples() if self._findings.noise else None
            ranked = self._ranked(None if samples is None else fit(samples))
        return (ranked[0].trial, ranked[0].mean) if ranked else None

    # one round

    def _propose(self, n: int) -> list[Point]:
        """The points of a round: repetitions if they are called for, then as PATTERN says."""
        rng = np.random.default_rng([self.seed, 0, self._n_rounds, 2])
        self._n_rounds += 1
        slots = range(len(self._book.trials), len(self._book.trials) + n)
        fits = self._fits(N_FITS, rng)
        ranked = self._ranked(fits[0] if fits else None)
        if not ranked:
            return list(islice(self._drawn(), n))
        again = self._again(ranked, n)
        incumbents = np.array([row.trial.point for row in ranked[:N_INCUMBENTS]])
        explains = bool(fits) and fits[0].r2 >= EXPLAINS
        near, minima = self._ranked_points(fits, incumbents, slots, rng) if explains else self._blind(incumbents, rng)
        return again + list(self._filled(slots[len(again) :], near, minima))

    def _filled(
        self, slots: Sequence[int], near: Iterator[Point], minima: dict[int, Iterator[Point]]
    ) -> Iterator[Point]:
        """A point for each slot; where its own source is dry, a uniform one, or any neighbor that is left."""
        drawn = self._drawn()
        for slot in slots:
            kind = PATTERN[slot % len(PATTERN)]
            own = {"f": minima.get(slot, near), "n": near, "u": drawn}[kind]
            yield from islice(chain(own, drawn, near), 1)

    def _drawn(self) -> Iterator[Point]:
        """Uniform points, as long as there are new ones."""
        while (drawn := self._sampler.next()) is not None:
            yield drawn[0]

    def _fresh(self, points: Iterable[FloatArray]) -> Iterator[Point]:
        """Those that are in the space and of which the configuration was never seen; seen from now on."""
        tried: set[Point] = set()
        for row in points:
            point: Point = tuple(row.tolist())
            if point in tried or not self._near.contains(point):
                continue
            tried.add(point)
            name = key(self.space.decode(point))
            if name not in self._sampler.seen:
                self._sampler.seen.add(name)
                yield point

    def _blind(
        self, incumbents: FloatArray, rng: np.random.Generator
    ) -> tuple[Iterator[Point], dict[int, Iterator[Point]]]:
        """Local search: the neighbors of the incumbents in any order."""
        around = self._near.around(incumbents).reshape(-1, incumbents.shape[1])
        return self._fresh(rng.permutation(around)), {}

    def _ranked_points(
        self, fits: Sequence[Surrogate], incumbents: FloatArray, slots: Sequence[int], rng: np.random.Generator
    ) -> tuple[Iterator[Point], dict[int, Iterator[Point]]]:
        """Neighbors as the fit on all samples ranks them; for each slot, these and all minima as a draw ranks them."""
        around = self._around(incumbents, rng)
        starts = np.concatenate([incumbents, [self.space.draw(rng) for _ in range(N_STARTS)]])
        pool = np.unique(np.concatenate([around, *(self._minima(each, starts) for each in fits)]), axis=0)
        pool = self._sorted(pool, fits[0])[:N_POOL]
        draws = fits[0].draws(self._near.columns(pool), len(slots), rng)  # Thompson sampling
        minima = {
            slot: self._fresh(pool[np.argsort(draw, kind="stable")]) for slot, draw in zip(slots, draws, strict=True)
        }
        return self._fresh(self._sorted(around, fits[0])), minima

    def _around(self, incumbents: FloatArray, rng: np.random.Generator) -> FloatArray:
        """All changes of one parameter, some of two and three."""
        jumps = [self._near.jumps(incumbents, N_JUMPS, size, rng) for size in (2, 3)]
        return np.concatenate([self._near.around(incumbents).reshape(-1, incumbents.shape[1]), *jumps])

    def _minima(self, surrogate: Surrogate, starts: FloatArray) -> FloatArray:
        """Where a fit is descended to, and all that is next to the best of it."""
        ends = self._sorted(self._near.descend(surrogate, starts), surrogate)
        return np.concatenate([ends, self._near.around(ends[:1])[0]])

    def _sorted(self, points: FloatArray, surrogate: Surrogate) -> FloatArray:
        return points[np.argsort(surrogate(self._near.columns(points)), kind="stable")]

    # fits

    def _fits(self, n: int, rng: np.random.Generator) -> list[Surrogate]:
        """On all samples, and on n - 1 bootstrap resamples; none if there is too little to fit."""
        samples = self._samples()
        if samples is None:
            return []
        main = fit(samples)
        return [main, *(fit(samples.resampled(rng), main) for _ in range(n - 1))]

    def _samples(self) -> Samples | None:
        found = self._findings.sampled()
        if found is None:
            return None
        rows, values = found
        counts = np.array([max(1.0, len(row.values)) for row in rows])
        return Samples(self._columns(rows), self._near.groups, values, counts)

    def _columns(self, rows: Sequence[Row]) -> FloatArray:
        return self._near.columns(np.array([row.trial.point for row in rows]))

    # noise

    def _ranked(self, surrogate: Surrogate | None) -> list[Row]:
        """Best first: by the mean of the values; with noise by the fit, where a value counts for its neighbors, too."""
        rows = self._findings.known()
        judged = [row.mean for row in rows]
        if self._findings.noise and surrogate is not None:
            judged = surrogate(self._columns(rows)).tolist()
        return [rows[i] for i in np.argsort(judged, kind="stable")]

    def _again(self, ranked: Sequence[Row], n: int) -> list[Point]:
        """The best, once, to see whether there is noise; where there is, contenders, fewest values first."""
        noise = self._findings.noise
        if noise is None:
            return [ranked[0].trial.point]
        contenders = sorted(ranked[: 2 * N_INCUMBENTS], key=lambda row: len(row.values))
        return [row.trial.point for row in contenders[: n // REPEAT if noise else 0]]
