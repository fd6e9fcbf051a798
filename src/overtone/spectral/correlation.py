"""Matrix-free correlation: A_S' r for every monomial S of degree <= d, without ever building the matrix A.

A monomial of degree k >= 3 is split at its last column but one, the middle j: (prefix of degree k-2) < j < last column.
For one j, all of its monomials are one matrix product, (prefix products) (phi_j * r) (columns after j)', of exactly
the entries that exist: no lower triangle is computed. Useful arithmetic is 2 T C(n, k), and so is the work done.

Letters: T samples, m columns, r a residual, c correlations, K the largest absolute entry.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import islice
from threading import Lock

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri
from threadpoolctl import ThreadpoolController

from overtone.spectral.columns import Columns
from overtone.spectral.monomials import FloatArray, IntArray, Monomial, count_monomials

BLOCK = 2**19  # entries (prefixes x samples) on the left of one matrix product: 2 MB of float32
STRIP = 256  # prefixes that are multiplied at once
CACHE = 2**23  # entries of prefix products that a dictionary keeps between scans: 32 MB of float32
LARGE = 4e8  # operations in a scan from which on threads bring more than they cost
FEW = 2**13  # prefixes up to which whole bands beat one matrix product a middle column
ROUNDING = 1 - 1e-12  # of products and quotients in float64
DENSE = 2**22  # scores of several residuals up to which one scan of all together beats threads
FLOAT32_SAMPLES = 4096  # past this many samples float32 sums are too coarse to screen with
Grid = NDArray[np.floating]  # float32 or float64


@dataclass(frozen=True)
class Candidates:
    """Monomials with their correlations A_S' r in float64, the highest score |A_S' r| / factor first."""

    monomials: tuple[Monomial, ...]
    correlations: FloatArray  # (k,)
    scores: FloatArray  # (k,)
    complete: bool  # every monomial with a score of at least `level` is here


def correlations(
    columns: Columns, residuals: FloatArray, degree: int, *, block: int = BLOCK
) -> Iterator[tuple[IntArray, FloatArray]]:
    """Blocks of monomials (b, k) and their correlations with all residuals (b, R), for k = 1, ..., degree, in float64.

    `residuals` is (T,) or (T, R). Memory is bounded by the block, whatever the number of monomials.
    """
    many = np.asarray(residuals, dtype=np.float64).reshape(columns.n_samples, -1).T  # (R, T)
    for piece in _pieces(columns.groups, np.ascontiguousarray(columns.values.T), range(1, degree + 1), block):
        grids = np.array([piece.correlate(r) for r in many])  # (R, rows, last columns)
        row, last = np.nonzero(piece.exists)
        yield piece.monomials(row, last), grids[:, row, last].T


class Dictionary:
    """All monomials of degree 1, ..., `degree` over some columns: what one scan looks at."""

    def __init__(self, columns: Columns, degree: int, *, block: int = BLOCK, n_threads: int | None = None) -> None:
        self.columns, self.degree, self.block, self.n_threads = columns, degree, block, n_threads
        self.counts = count_monomials(columns.groups, degree)  # of degree 0, 1, ...
        self._signs = bool((np.abs(columns.values) == 1).all())
        precision = np.float32 if columns.n_samples <= FLOAT32_SAMPLES else np.float64
        self._rows: Grid = np.ascontiguousarray(columns.values.T, dtype=precision)  # (m, T)
        self._kept: list[_Piece] | None = None

    def strongest(
        self, residual: FloatArray, *, factors: Sequence[float] | None = None, level: float = 0.0, limit: int = 1000
    ) -> Candidates:
        """The `limit` monomials of highest score |A_S' r| / factors[degree of S - 1], of those that reach `level`.

        Degrees whose factor is infinite are left out.
        One full scan: in float32 to screen, then in float64 for what the screen lets through. The screen is
        rigorous: it keeps whatever could pass within its own rounding error (`slack`), so that the answer does not
        depend on block sizes, threads or BLAS.
        """
        weights = np.ones(self.degree) if factors is None else np.asarray(factors, dtype=np.float64)
        unit = float(np.ldexp(1.0, int(np.frexp(np.abs(residual).max())[1]) - 1))  # float32 ends at 1e38
        residual, level = residual / unit, level / unit
        coarse, slack = self._screen(residual[None])
        pool = _Pool(level, limit, slack, slack / float(weights.min()))
        pieces = self._pieces(np.isfinite(weights))

        def scan_next() -> bool:
            with pool.lock:
                piece = next(pieces, None)
            if piece is None:
                return False
            pool.offer(piece, piece.correlate(coarse[0]), float(weights[piece.degree - 1]))
            return True

        _repeat(scan_next, self.n_threads or self._default_threads())
        found = _exact(self.columns, residual, weights, pool)
        return Candidates(found.monomials, found.correlations * unit, found.scores * unit, found.complete)

    def strongest_each(
        self, residuals: FloatArray, *, factors: Sequence[float], limit: int
    ) -> list[tuple[Monomial, ...]]:
        """The `limit` monomials of highest score for each of several residuals (B, T): one scan for all together.

        By the screen alone, which is exact for +-1 columns up to the rounding of the residual to its grid.
        """
        if len(residuals) * sum(self.counts[1:]) > DENSE:
            return [self.strongest(r, factors=factors, limit=limit).monomials for r in residuals]
        unit = np.abs(residuals).max(axis=1, keepdims=True)
        coarse, _ = self._screen(residuals / np.where(unit > 0, unit, 1.0))
        tops = _Tops(limit, np.full(len(coarse), np.finfo(coarse.dtype).tiny, dtype=coarse.dtype))
        with single_threaded_blas():
            for piece in self._pieces():
                tops.offer(piece, piece.score(coarse, float(factors[piece.degree - 1])))
        return tops.monomials(self.degree)

    def noise_level(self, residual: FloatArray, expected: int) -> float:
        """The correlation that about `expected` monomials reach if the residual is noise: a good first `level`."""
        share = min(0.5, expected / sum(self.counts[1:]))
        return float(ndtri(1 - share / 2) * np.linalg.norm(residual))

    @property
    def is_large(self) -> bool:
        """One scan is more than some milliseconds of work: 2 T N operations."""
        return 2 * self.columns.n_samples * sum(self.counts) > LARGE

    def _default_threads(self) -> int:
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        return cores if self.is_large else 1

    def _pieces(self, wanted: NDArray[np.bool_] | None = None) -> Iterator["_Piece"]:
        """The matrix products of a scan, of all or of the wanted degrees; kept for the next scan where they are few."""
        if wanted is not None and not wanted.all():
            return _pieces(self.columns.groups, self._rows, (np.flatnonzero(wanted) + 1).tolist(), self.block)
        degrees = range(1, self.degree + 1)
        if self._kept is None and self.columns.n_samples * sum(self.counts[: self.degree]) <= CACHE:
            self._kept = list(_pieces(self.columns.groups, self._rows, degrees, self.block))
        return iter(self._kept or _pieces(self.columns.groups, self._rows, degrees, self.block))

    def _screen(self, residuals: FloatArray) -> tuple[Grid, float]:
        """The residuals in the precision of the screen, and how far correlations with them can be off.  # (B, T)"""
        if self._rows.dtype == np.float32 and self._signs:
            # +-1 columns: with r on a grid so coarse that the sum of |r| is below 2^24 steps, every float32 sum
            # is exact, in any order; only the rounding of r to the grid is left.
            coarse = _on_grid(residuals)
            return coarse.astype(np.float32), float(np.abs(residuals - coarse).sum(axis=1).max())
        coarse = residuals.astype(self._rows.dtype)
        return coarse, _rounding(self.columns, residuals, self.degree, float(np.finfo(coarse.dtype).eps))


@dataclass
class _Tops:
    """The monomials of the highest positive scores for each of B residuals, ties by place."""

    limit: int
    floor: Grid  # (B,) what a score must reach
    scores: list[Grid] = field(default_factory=list)
    which: list[IntArray] = field(default_factory=list)  # the residual of each score
    kept: list[tuple["_Piece", IntArray, IntArray]] = field(default_factory=list)

    def offer(self, piece: "_Piece", scores: Grid) -> None:
        """Keep what reaches the floor, which rises where that is too much.  # (rows, B, last columns)"""
        _, B, n = scores.shape
        found = np.flatnonzero(scores >= self.floor[:, None])
        if len(found) > 4 * B * self.limit:
            best = np.partition(scores.swapaxes(0, 1).reshape(B, -1), -self.limit, axis=1)[:, -self.limit]
            self.floor = np.maximum(self.floor, best)
            found = np.flatnonzero(scores >= self.floor[:, None])
        if len(found):
            row, last = found // (B * n), found % n
            self.scores.append(scores.ravel()[found])
            self.which.append(found // n % B)
            self.kept.append((piece, row, last))

    def monomials(self, degree: int) -> list[tuple[Monomial, ...]]:
        """The best of each residual, best first."""
        if not self.kept:
            return [()] * len(self.floor)
        which = np.concatenate(self.which)
        order = np.lexsort((-np.concatenate(self.scores), which))  # stable: ties stay in their order
        ends = np.cumsum(np.bincount(which, minlength=len(self.floor)))
        tops = [top[: self.limit] for top in np.split(order, ends[:-1])]
        names = _named(_padded(self.kept, degree)[np.concatenate(tops)])
        return [tuple(islice(names, len(top))) for top in tops]


def _padded(kept: Sequence[tuple["_Piece", IntArray, IntArray]], degree: int) -> IntArray:
    """Entries of pieces as monomials, padded with -1 to one width.  # (b, degree)"""
    padded = np.full((sum(len(row) for _, row, _ in kept), degree), -1, dtype=np.intp)
    low = 0
    for piece, row, last in kept:
        padded[low : low + len(row), : piece.degree] = piece.monomials(row, last)
        low += len(row)
    return padded


def _named(padded: IntArray) -> Iterator[Monomial]:
    """Without the padding."""
    return (tuple(row[:size]) for row, size in zip(padded.tolist(), (padded >= 0).sum(axis=1).tolist(), strict=True))


def _exact(columns: Columns, residual: FloatArray, weights: FloatArray, pool: "_Pool") -> Candidates:
    """The float64 correlations of what the screen kept: sorted, and cut to the limit."""
    kept = _padded(pool.kept, len(weights))  # (b, degree)
    c = _correlate_padded(columns, residual, kept)
    scores = np.abs(c) / weights[(kept >= 0).sum(axis=1) - 1]
    order = np.lexsort((*kept.T[::-1], -scores))  # by score, then by monomial
    order = order[scores[order] >= pool.level]
    complete = len(order) <= pool.limit and not pool.overflowed
    order = order[: pool.limit]
    monomials = tuple(_named(kept[order]))
    return Candidates(monomials, c[order], scores[order], complete)


def _correlate_padded(columns: Columns, residual: FloatArray, monomials: IntArray) -> FloatArray:
    """A_S' r in float64, summed in the same order whatever the block size or the BLAS.  # (b,)"""
    rows, c = columns.with_ones, np.empty(len(monomials))  # row -1 stands for the padding
    height = max(1, BLOCK // columns.n_samples)
    for low in range(0, len(monomials), height):
        some = monomials[low : low + height]
        c[low : low + height] = np.einsum("bt,t->b", _multiply(rows, some), residual)
    return c


def _on_grid(residuals: FloatArray) -> FloatArray:
    """r rounded to whole multiples of a power of two, such that the sum of |r| is below 2^24 steps.  # (B, T)"""
    T = residuals.shape[1]
    total = np.abs(residuals).sum(axis=1, keepdims=True) + T * np.finfo(np.float64).tiny
    step = 2.0 ** np.ceil(np.log2(total / (2**24 - T)))
    return np.asarray(np.rint(residuals / step) * step)


def _rounding(columns: Columns, residuals: FloatArray, degree: int, eps: float) -> float:
    """The usual bound on the rounding error of a sum of T products: (T + degree + 2) eps K^degree sum |r|."""
    K = max(1.0, float(np.abs(columns.values).max()))
    return float((columns.n_samples + degree + 2) * eps * K**degree * np.abs(residuals).sum(axis=1).max())


@dataclass
class _Pool:
    """What the screen keeps: everything that may reach the level, which rises once there is more than enough."""

    level: float
    limit: int
    slack: float  # how far a correlation can be off
    score_slack: float  # how far a score can be off
    lock: Lock = field(default_factory=Lock)
    overflowed: bool = False
    raised: float = 0.0
    scores: list[FloatArray] = field(default_factory=list)
    kept: list[tuple["_Piece", IntArray, IntArray]] = field(default_factory=list)

    def offer(self, piece: "_Piece", grid: Grid, factor: float) -> None:
        """Keep the entries of one block of correlations that may reach the level."""
        piece.blank(grid)
        floor = max(self.level, self.raised) * factor * ROUNDING - self.slack
        if grid.max() < floor and grid.min() > -floor:
            return
        row, last = np.nonzero((grid >= floor) | (grid <= -floor) if floor > 0 else piece.exists)
        found = np.abs(grid[row, last]).astype(np.float64) / factor
        with self.lock:
            self.scores.append(found)
            self.kept.append((piece, row, last))
            if sum(map(len, self.scores)) > 4 * self.limit:
                self._shrink()

    def _shrink(self) -> None:
        """Raise the level to just below the limit-th best score; what is within the slack of it stays."""
        scores = np.concatenate(self.scores)
        best = float(np.partition(scores, -self.limit)[-self.limit])
        self.raised = max(self.raised, best * ROUNDING - 2 * self.score_slack)
        self.overflowed = True
        kept, self.kept, self.scores = zip(self.kept, self.scores, strict=True), [], []
        for (piece, row, last), found in kept:
            stay = found >= self.raised
            if stay.any():
                self.kept.append((piece, row[stay], last[stay]))
                self.scores.append(found[stay])


@dataclass(frozen=True)
class _Piece:
    """One matrix product of a scan: some prefixes, one middle column j (or none), all columns after it."""

    prefixes: IntArray  # (rows, k-1), or (rows, k-2) if there is a middle
    middle: int | None
    first: int  # the first last-column
    left: Grid  # (rows, T) products of the prefixes
    right: Grid  # (last columns, T)
    weight: Grid | None  # (T,) phi_j
    ends: IntArray | None  # where there is no middle: from which last-column on each row's monomials exist

    @cached_property
    def degree(self) -> int:
        return int(self.prefixes.shape[1]) + 1 + (self.middle is not None)

    def correlate(self, r: Grid) -> Grid:
        """(rows, last columns): the weight goes to the smaller side."""
        w = r if self.weight is None else r * self.weight
        if len(self.left) < len(self.right):
            return np.asarray((self.left * w) @ self.right.T)
        return np.asarray(self.left @ (self.right * w).T)

    def score(self, residuals: Grid, factor: float) -> Grid:
        """|A_S' r| / factor for several residuals (B, T); 0 where there is no monomial.  # (rows, B, last columns)"""
        w = residuals if self.weight is None else residuals * self.weight
        right = (w[:, None, :] * self.right).reshape(-1, w.shape[1])  # (B x last columns, T)
        scores: Grid = (self.left @ right.T).reshape(len(self.left), len(w), -1)
        np.abs(scores, out=scores)
        scores *= scores.dtype.type(1 / factor)
        if self.ends is not None:
            scores *= self.exists[:, None, :]
        return scores

    @cached_property
    def exists(self) -> NDArray[np.bool_]:
        """Which entries are monomials: last column after the row's own group."""
        if self.ends is None:
            return np.ones((len(self.left), len(self.right)), dtype=np.bool_)
        return np.arange(self.first, self.first + len(self.right)) >= self.ends[:, None]

    def blank(self, grid: Grid) -> None:
        """Zero what is not a monomial, so that it never counts as strong."""
        if self.ends is not None:
            grid *= self.exists

    def monomials(self, row: IntArray, last: IntArray) -> IntArray:
        """(b, k) column numbers."""
        columns = np.empty((len(row), self.degree), dtype=np.intp)
        columns[:, : self.prefixes.shape[1]] = self.prefixes[row]
        if self.middle is not None:
            columns[:, -2] = self.middle
        columns[:, -1] = last + self.first
        return columns


def _pieces(groups: IntArray, rows: Grid, degrees: Sequence[int], block: int) -> Iterator[_Piece]:
    """All the matrix products of one scan of the monomials of some degrees."""
    height = max(1, block // rows.shape[1])  # prefixes in one matrix product
    start = np.searchsorted(groups, groups, side="left")  # first column of each column's group
    end = np.searchsorted(groups, groups, side="right")  # one past the last
    counts = count_monomials(groups, max(degrees))
    for k in degrees:
        if k == 1:
            one = np.ones((1, rows.shape[1]), dtype=rows.dtype)
            yield _Piece(np.zeros((1, 0), dtype=np.intp), None, 0, one, rows, None, None)
        elif k == 2 or counts[k - 1] <= FEW:
            yield from _bands(rows, start, end, k, min(height, max(64, counts[k - 1] // 8)))
        else:
            yield from _by_middle(rows, start, end, k, height)


def _bands(rows: Grid, start: IntArray, end: IntArray, k: int, height: int) -> Iterator[_Piece]:
    """Few prefixes: all k-1 columns but the last, in bands of the upper triangle, so that little is done in vain."""
    for prefixes in _prefixes(start, k - 1, height):
        ends = end[prefixes[:, -1]]
        first = int(ends[0])
        if first < len(rows):
            yield _Piece(prefixes, None, first, _multiply(rows, prefixes), rows[first:], None, ends)


def _by_middle(rows: Grid, start: IntArray, end: IntArray, k: int, height: int) -> Iterator[_Piece]:
    """Many prefixes: k-2 columns, the middle, the last column. Nothing is computed in vain."""
    for prefixes in _prefixes(start, k - 2, height):
        left = _multiply(rows, prefixes)
        fits = np.searchsorted(prefixes[:, -1], start)  # how many prefixes end before each column's group
        for j, (fit, first) in enumerate(zip(fits.tolist(), end.tolist(), strict=True)):
            if fit and first < len(rows):
                yield _Piece(prefixes[:fit], j, first, left[:fit], rows[first:], rows[j], None)


def _prefixes(start: IntArray, degree: int, height: int) -> Iterator[IntArray]:
    """All monomials of one degree, by last column, in blocks of `height`.  # (height, degree)"""
    if degree == 1:
        yield from np.array_split(np.arange(len(start))[:, None], range(height, len(start), height))
        return
    shorter = np.concatenate(list(_prefixes(start, degree - 1, height)))
    fits = np.searchsorted(shorter[:, -1], start)  # how many of these end before each column's group
    ends = np.cumsum(fits)
    for low in range(0, int(ends[-1]), height):
        row = np.arange(low, min(low + height, int(ends[-1])))
        column = np.searchsorted(ends, row, side="right")
        yield np.column_stack([shorter[row - ends[column] + fits[column]], column])


def _multiply(rows: Grid, prefixes: IntArray) -> Grid:
    """Products of the columns of each prefix.  # (rows, T)"""
    left = rows.take(prefixes[:, 0], axis=0)
    for low in range(0, len(left), STRIP):  # large arrays for a moment cost more than the products
        some = slice(low, low + STRIP)
        for position in range(1, prefixes.shape[1]):
            left[some] *= rows.take(prefixes[some, position], axis=0)
    return left


@cache
def _blas() -> ThreadpoolController:
    return ThreadpoolController()


class _OneThread:
    """How many are inside, and the limit that the first one of them set and the last one lifts."""

    def __init__(self) -> None:
        self.lock, self.inside = Lock(), 0
        self.limit: AbstractContextManager[None] = nullcontext()

    def __enter__(self) -> None:
        with self.lock:
            if self.inside == 0:
                self.limit = _blas().limit(limits=1, user_api="blas")
                self.limit.__enter__()
            self.inside += 1

    def __exit__(self, *error: object) -> None:
        with self.lock:
            self.inside -= 1
            if self.inside == 0:
                self.limit.__exit__(None, None, None)


_one_thread = _OneThread()


def single_threaded_blas() -> AbstractContextManager[None]:
    """BLAS on one thread: the same numbers whatever the number of threads it is set to outside."""
    return _one_thread


def _repeat(step: Callable[[], bool], workers: int) -> None:
    """Call `step` in all workers until it says there is no more; BLAS itself stays on one thread in each."""

    def work() -> None:
        while step():
            pass

    with single_threaded_blas():
        if workers == 1:
            work()
            return
        with ThreadPoolExecutor(workers) as executor:
            for future in [executor.submit(work) for _ in range(workers)]:
                future.result()
