"""Spectral descent: rounds of trials, each proposed by a fit of a polynomial and a smooth remainder to everything seen.

The promising trials of a round are of two kinds. Most are where a draw of the fit, as it might be, is descended to
from one of the best configurations (`draws`). The others are of greatest expected improvement among the points that
the fit thinks well of: where it is descended to, and what differs in one parameter from there or from the best. When
that brings nothing better, some trials are stirred, as in a stage of Harmonica: uniform but for what is named; two
switches are changed together (`pairs`); and branches of the space are tried that hardly were (`branches`). A few trials
change what leaves named monomials as they are (`symmetries`).
"""

import math
from collections.abc import Iterable, Iterator
from itertools import islice

import numpy as np
from scipy.linalg import block_diag

from overtone.errors import InputError
from overtone.optimizers.bending import bent
from overtone.optimizers.binary_walk import BinaryWalk
from overtone.optimizers.branches import elsewhere
from overtone.optimizers.draws import doubts
from overtone.optimizers.findings import Findings, Row, points_of
from overtone.optimizers.forward import Samples
from overtone.optimizers.pairs import interacting, together
from overtone.optimizers.pool import Pool
from overtone.optimizers.proposals import Neighborhood, Walk
from overtone.optimizers.sampling import Sampler, key
from overtone.optimizers.surrogate import ROUGH, Surrogate, fit
from overtone.optimizers.symmetries import keeping, mirrored
from overtone.optimizers.trial import Book, Trial, Value, check_whole, finite
from overtone.space import Point, Space
from overtone.spectral.correlation import single_threaded_blas
from overtone.spectral.monomials import FloatArray

START = 0.2  # share of the evaluations that are uniform, before the first fit
ROUNDS = 16  # that the others are spread over: more are a little better, and keep fewer workers busy
UNIFORM = 10  # one of so many trials is uniform, whatever the fit says,
WILD = 0.7  # up to this share of the evaluations; after it nothing is stirred, either: what that tells comes too late
GROWTH = 1.15  # of what is seen, until what is named is chosen anew, and not only its weights
DRAWN = 0.6  # share of the promising trials that are ends of drawn descents; the others are of expected improvement
N_INCUMBENTS = 3
N_CONTENDERS = 10  # for the best, if there is noise
N_POOL = 80
AT_ONCE = 100  # points that are looked up, whether they were seen
EXPLAINS = 0.05  # share of the variance from which on a fit ranks better than chance
STIRRED = 4  # when as many trials as in a round brought nothing better, one of so many promising trials is stirred:
STIR = 0.5  # share of its parameters that are drawn anew,
STIR_NAMED = 0.1  # and of those that are named, which then change so that named monomials stay (`symmetries`)
MIRRORED = 8  # one of so many promising trials has two switches changed of one named monomial
PAIRED = 5  # without noise, after as many again, one of so many has two switches changed that seem to interact
ELSEWHERE = 0.25, 0.5  # share of the promising trials in other branches of the space; after three rounds without better
ABROAD = 0.85  # up to this share of the evaluations
N_REPEATS = 6  # values that came back twice, from which on the noise is known


class SpectralDescent:
    """Uniform samples, then rounds of `batch` trials; the answer does not depend on the number of workers.

    n_evaluations: a fifth of them uniform; ends early when the space is exhausted.
    batch: trials a round; automatic: what makes 16 rounds. Smaller rounds share a fit, so that there are 16, too.
    lag: trials that a round does not wait for; it is proposed from all before them, as if these had the values that are
        expected. With long-tailed durations a straggler then holds up nobody for a while. Still, the answer does not
        depend on the workers: a round knows nothing of these trials even if they are back.
    seen: points with their values that are known already, as from a stage of Harmonica, also outside of what is left of
        the space; they count as uniform samples, and not as evaluations.
    No configuration comes twice, but for the best one when a fit first says that there may be noise: if its value is
    another one the second time, there is, and contenders are repeated from then on where that pays more than new ones.
    """

    def __init__(
        self,
        space: Space,
        seed: int = 0,
        *,
        n_evaluations: int = 100,
        batch: int | None = None,
        lag: int = 0,
        budget: float | None = None,
        seen: Iterable[tuple[Point, Value]] = (),
    ) -> None:
        self._sampler = Sampler(space, seed)
        self.space, self.seed, self.budget = space, seed, budget
        self.n_evaluations = check_whole("n_evaluations", n_evaluations)
        self._near = Neighborhood(space)
        self._book = Book()
        self._findings = Findings()
        n_seen = self.know(seen)
        self.n_uniform = max(0, math.ceil(START * (self.n_evaluations + n_seen)) - n_seen)
        self._patience = max(1, math.ceil((self.n_evaluations - self.n_uniform) / ROUNDS))
        self.batch = self._patience if batch is None else check_whole("batch", batch)
        self.lag = check_whole("lag", lag, 0)
        self._young: list[Trial] = []  # back, but the next round may not know them
        self._queue: list[Point] = []  # of this round, to be asked
        self._surrogate: Surrogate | None = None
        self._ranking: list[Row] = []  # best first
        self._sampled: list[Row] = []  # of the last fit
        self._pool = Pool.empty()
        self._ends: list[Point] = []  # of drawn descents of the last fit
        self._n_fitted = 0  # trials before the last fit
        self._n_chosen = 0  # configurations before the last fit whose monomials were chosen anew
        self._record = math.inf  # the best value so far,
        self._since = 0  # and the trials before it was found
        self._has_wondered = False
        self._exhausted = False

    def know(self, seen: Iterable[tuple[Point, Value]]) -> int:
        """Take in what was known before the first trial; how many points that are."""
        known = checked_seen(self.space, seen)
        for point, value in known:
            self._sampler.seen.add(key(self.space.decode(point)))
            self._findings.before(self._name(point), point, value)
        return len(known)

    def ask(self, n: int = 1) -> list[Trial]:
        """Up to n trials of this round; none while results that the next one must know are out."""
        return list(islice(iter(self._next, None), check_whole("n", n)))

    def _next(self) -> Trial | None:
        if self._left() <= 0 or self._exhausted:
            return None
        if len(self._book.trials) < self.n_uniform:
            self._queue = list(islice(self._drawn(), 1))
        elif not self._queue:
            if any(number < self._n_known() for number in self._book.open):
                return None
            self._note()
            with single_threaded_blas():
                self._queue = self._propose(min(self.batch, self._left()))
        self._exhausted = not self._queue
        return self._out(self._queue.pop(0)) if self._queue else None

    def _left(self) -> int:
        return self.n_evaluations - len(self._book.trials)

    def _out(self, point: Point) -> Trial:
        config = self.space.decode(point)
        trial = self._book.out(config, point, self.budget, "spectral descent")
        self._sampler.seen.add(key(config))
        self._findings.out(self._name(point), trial)
        return trial

    def _name(self, point: Point) -> object:
        return self._near.names([point])[0]

    def tell(self, trial: Trial, value: Value) -> None:
        """Note a value, for the rounds that may know it."""
        self._book.back(trial, value)
        self._young.append(trial)
        self._note()

    def _n_known(self) -> int:
        """The next round knows the trials before this one."""
        if self.done:
            return len(self._book.trials)
        return max(self.n_uniform, len(self._book.trials) + len(self._queue)) - self.lag

    def _note(self) -> None:
        """What is back and old enough, in any order."""
        n_known = self._n_known()
        for trial in self._young:
            if trial.number < n_known:
                self._findings.back(trial, self._book.values[trial.number])
        self._young = [trial for trial in self._young if trial.number >= n_known]

    @property
    def done(self) -> bool:
        """The evaluations are used up, or the space is."""
        return not self._book.open and (self._left() <= 0 or self._exhausted)

    @property
    def best(self) -> tuple[Trial, float] | None:
        """The trial of the best configuration, and the mean of its values; with noise, as the fit judges it.

        Of what the next round will know; of everything once it is done.
        """
        with single_threaded_blas():
            samples = self._samples() if self._findings.is_noisy else None
            ranked = self._ranked(None if samples is None else fit(samples))
        return next(((row.trial, row.mean) for row in ranked if row.trial is not None), None)

    @property
    def judged(self) -> Trial | None:
        """The trial of the best configuration if there is noise: then the lowest single value is a matter of luck."""
        best = self.best if self._findings.is_noisy else None
        return None if best is None else best[0]

    # one round

    def _propose(self, n: int) -> list[Point]:
        """The points of a round: repetitions; uniform, stirred and other rare ones; ends of draws; then the pool."""
        first = len(self._book.trials)
        rng = np.random.default_rng([self.seed, 0, first, 2])
        if self._pool.n_open < n or first - self._n_fitted >= self._patience:
            self._refit(n, rng)
        repeats = self._again(min(n, self._n_repeats()))
        n_new = n - len(repeats)
        new: list[Point] = []
        if first < WILD * self.n_evaluations:
            new += islice(self._drawn(), sum(map(_is_uniform, range(first + len(repeats), first + n))))
            if self._is_stuck(1):
                new += self._stirred((n_new - len(new)) // STIRRED, rng, new)
            new += self._mirrored((n_new - len(new)) // MIRRORED, new)
        if self._is_stuck(1) and first < ABROAD * self.n_evaluations:
            new += self._elsewhere(round(ELSEWHERE[self._is_stuck(3)] * (n_new - len(new))), rng, new)
        if self._is_stuck(2) and not self._findings.is_noisy:
            new += self._interacting((n_new - len(new)) // PAIRED, new)
        new += self._drawn_ends(round(DRAWN * (n_new - len(new))), new)
        self._pool.close(set(self._near.names(new)), self._near.names)
        new += self._pool.pick(n_new - len(new), self._lowest())
        if len(new) < n_new:
            self._sampler.seen.update(key(self.space.decode(point)) for point in new)
            new += islice(self._drawn(), n_new - len(new))
        return repeats + new

    def _is_stuck(self, rounds: int) -> bool:
        """As many trials as in so many rounds brought nothing better."""
        return len(self._book.trials) - self._since >= rounds * self._patience

    def _n_repeats(self) -> int:
        """Repetitions that this round must have: one when a fit first says that there may be noise, and then some."""
        if self._findings.is_noisy:
            return max(0, N_REPEATS - self._findings.n_repeats)
        wonders = not self._has_wondered and self._surrogate is not None and self._surrogate.shape.rough > min(ROUGH)
        self._has_wondered |= wonders
        return int(wonders)

    def _refit(self, n: int, rng: np.random.Generator) -> None:
        """A new fit, ranking and pool."""
        samples = self._samples()
        self._n_fitted = len(self._book.trials)
        anew = (n_rows := len(self._findings.rows)) >= GROWTH * self._n_chosen
        self._n_chosen = n_rows if anew else self._n_chosen
        self._surrogate = None if samples is None else fit(samples, self._surrogate, anew=anew)
        self._ranking = self._ranked(self._surrogate)
        self._note_record()
        if self._surrogate is None or self._surrogate.r2 < EXPLAINS:
            self._pool, self._ends = self._blind(n, rng), []
        else:
            self._pool = self._promising(self._surrogate, n)
            self._ends = self._descended(self._surrogate, max(n, self._patience), rng)

    def _note_record(self) -> None:
        """A value counts as better if that is not just the noise."""
        if not self._ranking:
            return
        margin = (self._findings.noise or 0.0) / 2 if self._findings.is_noisy else 0.0
        if (value := self._ranking[0].mean) < self._record - margin:
            self._since = len(self._book.trials)
        self._record = min(value, self._record)

    def _lowest(self) -> float:
        """What is to be improved upon, as the fit sees it."""
        if self._surrogate is None:
            return 0.0
        if self._findings.is_noisy:
            return float(self._surrogate.judged.min())
        lowest = self._findings.scaled(np.array(min((row.mean for row in self._findings.known()), default=0.0)))
        return float(bent(lowest, self._surrogate.bend))

    # where the points come from

    def _drawn(self) -> Iterator[Point]:
        """Uniform points, as long as there are new ones."""
        while (drawn := self._sampler.next()) is not None:
            yield drawn[0]

    def _fresh(self, points: FloatArray, n: int) -> list[Point]:
        """The first n that are in the space and of which the configuration was never seen."""
        found: dict[object, Point] = {}
        for start in range(0, len(points), AT_ONCE):
            rows: list[Point] = list(map(tuple, points[start : start + AT_ONCE].tolist()))
            for point, name in zip(rows, self._near.names(rows), strict=True):
                if len(found) >= n:
                    return list(found.values())
                if name not in self._findings.rows and self._near.contains(point):
                    found.setdefault(name, point)
        return list(found.values())

    def _beside(self, points: FloatArray, n: int, others: list[Point]) -> list[Point]:
        """The first n that are new, without those that are among others of the round."""
        taken, fresh = set(self._near.names(others)), self._fresh(points, n)
        return [point for point, name in zip(fresh, self._near.names(fresh), strict=True) if name not in taken]

    def _stirred(self, n: int, rng: np.random.Generator, beside: list[Point]) -> list[Point]:
        """Incumbents with other parameters, few of those that are named: what else matters shows best there."""
        if not n or not self._ranking:
            return []
        top = points_of(self._ranking[:N_INCUMBENTS])
        drawn = np.array([self.space.draw(rng) for _ in range(3 * n)])
        monomials = self._surrogate.monomials if self._surrogate else ()
        named = {int(self._near.groups[column]) for monomial in monomials for column in monomial}
        shares = np.array([STIR_NAMED if p in named else STIR for p in range(len(self._near.places))])
        mixed = self._near.crossed(top[rng.integers(len(top), size=3 * n)], drawn, shares, rng)
        return self._beside(keeping(self._near, monomials, mixed, rng), n, beside)

    def _mirrored(self, n: int, beside: list[Point]) -> list[Point]:
        """The best with two switches of a named monomial changed."""
        if not n or self._surrogate is None or not self._ranking:
            return []
        return self._beside(mirrored(self._near, self._surrogate, self._ranking[0].codes), n, beside)

    def _elsewhere(self, n: int, rng: np.random.Generator, beside: list[Point]) -> list[Point]:
        """Promising ones in branches that the best is not in."""
        if not n or not self._near.parents or self._surrogate is None or not self._ranking:
            return []
        return self._beside(elsewhere(self._near, self._surrogate, self._ranking, n, rng), n, beside)

    def _interacting(self, n: int, beside: list[Point]) -> list[Point]:
        """The best with two switches changed that seem to interact."""
        if not n or self._surrogate is None or not self._ranking:
            return []
        return self._beside(interacting(self._near, self._surrogate, self._ranking[0].codes, n), n, beside)

    def _descended(self, surrogate: Surrogate, n: int, rng: np.random.Generator) -> list[Point]:
        """Where n draws of what the fit may be lead to, from the best configurations."""
        best = points_of(self._ranking[: min(n, N_INCUMBENTS)])
        costs = doubts(self._near, surrogate, best[0], self._near.changes(best), n, rng)
        walk = self._walk(surrogate, best[np.arange(n) % len(best)], costs)
        walk.descend()
        return self._fresh(rng.permutation(walk.points), n)

    def _walk(self, surrogate: Surrogate, starts: FloatArray, doubts: FloatArray | None = None) -> Walk | BinaryWalk:
        return (BinaryWalk if self._near.is_binary else Walk)(self._near, surrogate, starts, doubts)

    def _drawn_ends(self, n: int, beside: list[Point]) -> list[Point]:
        """The next n ends of drawn descents that are new."""
        taken, seen = set(self._near.names(beside)), self._findings.rows
        names = self._near.names(self._ends)
        fresh = [end for end, name in zip(self._ends, names, strict=True) if name not in taken and name not in seen]
        self._ends = fresh[n:]
        return fresh[:n]

    def _blind(self, n: int, rng: np.random.Generator) -> Pool:
        """Where a fit says nothing: the neighbors of the best configuration, then of other good ones, in any order."""
        around = [rng.permutation(self._near.around(row.codes)) for row in self._ranking[:N_INCUMBENTS]]
        points = self._fresh(np.concatenate(around), max(n, N_POOL)) if around else []
        return Pool(points, np.arange(len(points), dtype=float), np.zeros((len(points),) * 2), 0.0)

    def _promising(self, surrogate: Surrogate, n: int) -> Pool:
        """Ends of descents of the fit, neighbors of these and of the incumbents, pairs of changes; the best of them."""
        size = max(N_POOL, 2 * max(n, self._patience))
        incumbents = points_of(self._ranking[:N_INCUMBENTS])
        walk = self._walk(surrogate, np.concatenate([incumbents, incumbents]))
        walk.descend(first=len(incumbents))
        _, distinct = np.unique(walk.points, axis=0, return_index=True)
        ends = distinct[np.argsort(walk.values[distinct], kind="stable")]
        around = np.union1d(np.arange(len(incumbents)), ends)
        found = np.concatenate([walk.points[ends], walk.neighbors(2 * size, around)])
        if self._is_stuck(1):
            found = np.concatenate([found, together(self._near, surrogate, incumbents[0])])
        found = found[np.argsort(surrogate(self._near.columns(found)), kind="stable")]
        points = self._fresh(found, size) + [row.point for row in self._findings.pending()]
        columns = self._near.columns(np.array(points).reshape(-1, found.shape[1]))
        return self._with_contenders(surrogate, points, surrogate(columns), surrogate.covariance(columns))

    def _with_contenders(
        self, surrogate: Surrogate, points: list[Point], mean: FloatArray, covariance: FloatArray
    ) -> Pool:
        """With noise, contenders are in the pool, too, with the doubt that is left of each."""
        n_out = len(self._findings.pending())
        if not self._findings.is_noisy:
            return Pool(points, mean, covariance, surrogate.rough, n_out=n_out)
        place = {id(row): i for i, row in enumerate(self._sampled)}
        inside = [row for row in self._ranking[:N_CONTENDERS] if self._near.contains(row.point) and id(row) in place]
        which = [place[id(row)] for row in inside]
        new = covariance + surrogate.rough * np.eye(len(points))
        return Pool(
            [row.point for row in inside] + points,
            np.concatenate([surrogate.judged[which], mean]),
            block_diag(np.diag(surrogate.doubt[which]), new),
            surrogate.noise,
            n_known=len(inside),
            n_out=n_out,
        )

    # fits

    def _samples(self) -> Samples | None:
        found = self._findings.sampled()
        if found is None:
            return None
        self._sampled, values = found
        columns = self._near.columns(points_of(self._sampled))
        counts = np.array([max(1.0, len(row.values)) for row in self._sampled])
        return Samples(columns, self._near.groups, values, counts, self._findings.noise_variance)

    def _ranked(self, surrogate: Surrogate | None) -> list[Row]:
        """Best first: by the mean of the values; with noise by the fit, where a value counts for its neighbors, too."""
        rows = self._findings.known()
        judged = {id(row): row.mean for row in rows}
        if self._findings.is_noisy and surrogate is not None:
            judged = {id(row): value for row, value in zip(self._sampled, surrogate.judged.tolist(), strict=True)}
        return sorted(rows, key=lambda row: judged.get(id(row), math.inf))

    def _again(self, n: int) -> list[Point]:
        """n contenders, fewest values first; while nobody knows whether there is noise, the best."""
        inside = [row for row in self._ranking[:N_CONTENDERS] if self._near.contains(row.point)]
        contenders = sorted(inside, key=lambda row: len(row.values)) if self._findings.is_noisy else inside
        return [row.point for row in contenders[:n]]


def checked_seen(space: Space, seen: Iterable[tuple[Point, Value]]) -> list[tuple[Point, Value]]:
    """Points of the space, with values that are finite or None."""
    try:
        known = [(tuple(point), finite(value)) for point, value in seen]
    except (TypeError, ValueError) as error:
        raise InputError(f"`seen` must be pairs of a point and its value, but {error}") from None
    for point, _ in known:
        if len(point) != len(space.units):
            raise InputError(f"`seen` must have points of {len(space.units)} codes, but got {point!r}")
    return known


def _is_uniform(slot: int) -> bool:
    return slot % UNIFORM == UNIFORM - 1
