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
from threading import Lock

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri
from threadpoolctl import ThreadpoolController

from overtone.spectral.columns import Columns
from overtone.spectral.monomials import FloatArray, IntArray, Monomial, count_monomials

BLOCK = 2**19  # entries (prefixes x samples) on the left of one matrix product: 2 MB of float32
CACHE = 2**23  # entries of prefix products that a dictionary keeps between scans: 32 MB of float32
LARGE = 4e8  # operations in a scan from which on threads bring more than they cost
FEW = 2**13  # prefixes up to which whole bands beat one matrix product a middle column
ROUNDING = 1 - 1e-12  # of products and quotients in float64
DENSE = 2**22  # scores of several residuals up to which they are kept all at once: 16 MB of float32
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
    for piece in _pieces(columns.groups, np.ascontiguousarray(columns.values.T), degree, block):
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

        One full scan: in float32 to screen, then in float64 for what the screen lets through. The screen is
        rigorous: it keeps whatever could pass within its own rounding error (`slack`), so that the answer does not
        depend on block sizes, threads or BLAS.
        """
        weights = np.ones(self.degree) if factors is None else np.asarray(factors, dtype=np.float64)
        unit = float(np.ldexp(1.0, int(np.frexp(np.abs(residual).max())[1]) - 1))  # float32 ends at 1e38
        residual, level = residual / unit, level / unit
        coarse, slack = self._screen(residual)
        pool = _Pool(level, limit, slack, slack / float(weights.min()))
        pieces = self._pieces()

        def scan_next() -> bool:
            with pool.lock:
                piece = next(pieces, None)
            if piece is None:
                return False
            pool.offer(piece, piece.correlate(coarse), float(weights[piece.degree - 1]))
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
        coarse = np.stack([self._screen(r)[0] for r in residuals / np.where(unit > 0, unit, 1.0)])
        pieces = list(self._pieces())
        ends = np.cumsum([0, *(len(piece.left) * len(piece.right) for piece in pieces)])
        scores = np.empty((len(residuals), ends[-1]), dtype=coarse.dtype)
        with single_threaded_blas():
            for piece, low, high in zip(pieces, ends[:-1], ends[1:], strict=True):
                piece.score(coarse, float(factors[piece.degree - 1]), scores[:, low:high])
        return _tops(pieces, ends, scores, limit)

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

    def _pieces(self) -> Iterator["_Piece"]:
        """The matrix products of a scan; kept for the next scan where they are few."""
        if self._kept is None and self.columns.n_samples * sum(self.counts[: self.degree]) <= CACHE:
            self._kept = list(_pieces(self.columns.groups, self._rows, self.degree, self.block))
        return iter(self._kept or _pieces(self.columns.groups, self._rows, self.degree, self.block))

    def _screen(self, residual: FloatArray) -> tuple[Grid, float]:
        """The residual in the precision of the screen, and how far correlations with it can be off."""
        if self._rows.dtype == np.float32 and self._signs:
            # +-1 columns: with r on a grid so coarse that the sum of |r| is below 2^24 steps, every float32 sum
            # is exact, in any order; only the rounding of r to the grid is left.
            coarse = _on_grid(residual)
            return coarse.astype(np.float32), float(np.abs(residual - coarse).sum())
        coarse = residual.astype(self._rows.dtype)
        return coarse, _rounding(self.columns, residual, self.degree, float(np.finfo(coarse.dtype).eps))


def _tops(pieces: Sequence["_Piece"], starts: IntArray, scores: Grid, limit: int) -> list[tuple[Monomial, ...]]:
    """The monomials of the highest positive scores in each row, ties by place.  # (B, entries of all pieces)"""
    limit = min(limit, scores.shape[1])
    places = []
    for row, least in zip(scores, np.partition(scores, -limit, axis=1)[:, -limit], strict=True):
        place = np.flatnonzero(row >= max(least, np.finfo(row.dtype).tiny))
        places.append(place[np.argsort(-row[place], kind="stable")][:limit].tolist())
    needed = np.unique(np.concatenate(places)).astype(np.intp)
    names: dict[int, Monomial] = {}
    of_pieces = np.split(needed, np.searchsorted(needed, starts[1:-1]))
    for piece, start, some in zip(pieces, starts[:-1], of_pieces, strict=True):
        named = piece.monomials(*divmod(some - start, len(piece.right))).tolist()
        names.update(zip(some.tolist(), map(tuple, named), strict=True))
    return [tuple(names[at] for at in place) for place in places]


def _exact(columns: Columns, residual: FloatArray, weights: FloatArray, pool: "_Pool") -> Candidates:
    """The float64 correlations of what the screen kept: sorted, and cut to the limit."""
    kept = pool.monomials(len(weights))  # (b, degree), short ones padded with -1
    c = _correlate_padded(columns, residual, kept)
    scores = np.abs(c) / weights[(kept >= 0).sum(axis=1) - 1]
    order = np.lexsort((*kept.T[::-1], -scores))  # by score, then by monomial
    order = order[scores[order] >= pool.level]
    complete = len(order) <= pool.limit and not pool.overflowed
    order = order[: pool.limit]
    monomials = tuple(tuple(column for column in row if column >= 0) for row in kept[order].tolist())
    return Candidates(monomials, c[order], scores[order], complete)


def _correlate_padded(columns: Columns, residual: FloatArray, monomials: IntArray) -> FloatArray:
    """A_S' r in float64, summed in the same order whatever the block size or the BLAS.  # (b,)"""
    rows = np.vstack([columns.values.T, np.ones(columns.n_samples)])  # row -1 stands for the padding
    c = np.empty(len(monomials))
    height = max(1, BLOCK // columns.n_samples)
    for low in range(0, len(monomials), height):
        some = monomials[low : low + height]
        c[low : low + height] = np.einsum("bt,t->b", _multiply(rows, some), residual)
    return c


def _on_grid(residual: FloatArray) -> FloatArray:
    """r rounded to whole multiples of a power of two, such that the sum of |r| is below 2^24 steps."""
    total = np.abs(residual).sum() + len(residual) * np.finfo(np.float64).tiny
    step = 2.0 ** np.ceil(np.log2(total / (2**24 - len(residual))))
    return np.asarray(np.rint(residual / step) * step)


def _rounding(columns: Columns, residual: FloatArray, degree: int, eps: float) -> float:
    """The usual bound on the rounding error of a sum of T products: (T + degree + 2) eps K^degree sum |r|."""
    K = max(1.0, float(np.abs(columns.values).max()))
    return float((columns.n_samples + degree + 2) * eps * K**degree * np.abs(residual).sum())


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
        if max(float(grid.max()), -float(grid.min())) < floor:
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

    def monomials(self, degree: int) -> IntArray:
        """All that is kept, padded with -1 to one width.  # (b, degree)"""
        padded = np.full((sum(len(row) for _, row, _ in self.kept), degree), -1, dtype=np.intp)
        low = 0
        for piece, row, last in self.kept:
            padded[low : low + len(row), : piece.degree] = piece.monomials(row, last)
            low += len(row)
        return padded


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

    @property
    def degree(self) -> int:
        return int(self.prefixes.shape[1]) + 1 + (self.middle is not None)

    def correlate(self, r: Grid) -> Grid:
        """(rows, last columns): the weight goes to the smaller side."""
        w = r if self.weight is None else r * self.weight
        if len(self.left) < len(self.right):
            return np.asarray((self.left * w) @ self.right.T)
        return np.asarray(self.left @ (self.right * w).T)

    def score(self, residuals: Grid, factor: float, into: Grid) -> None:
        """|A_S' r| / factor for several residuals; 0 where there is no monomial.  # (B, T) -> (B, entries)"""
        w = residuals if self.weight is None else residuals * self.weight
        right = (w[:, None, :] * self.right).reshape(-1, w.shape[1])  # (B x last columns, T)
        grids = (self.left @ right.T).reshape(len(self.left), len(w), -1)  # (rows, B, last columns)
        scores = into.reshape(len(w), len(self.left), -1)  # a view
        np.abs(grids.swapaxes(0, 1), out=scores)
        scores *= scores.dtype.type(1 / factor)
        if self.ends is not None:
            scores *= self.exists

    @cached_property
    def exists(self) -> NDArray[np.bool_]:
        """Which entries are monomials: last column after the row's own group."""
        if self.ends is None:
            return np.ones((len(self.left), len(self.right)), dtype=np.bool_)
        return np.arange(self.first, self.first + len(self.right)) >= self.ends[:, None]

    def blank(self, grid: Grid) -> None:
        """Zero what is not a monomial, so that it never counts as strong."""
        if self.ends is not None:
            grid[~self.exists] = 0

    def monomials(self, row: IntArray, last: IntArray) -> IntArray:
        """(b, k) column numbers."""
        middle = [] if self.middle is None else [np.full(len(row), self.middle)]
        return np.column_stack([self.prefixes[row], *middle, last + self.first])


def _pieces(groups: IntArray, rows: Grid, degree: int, block: int) -> Iterator[_Piece]:
    """All the matrix products of one scan of the monomials of degree 1, ..., `degree`."""
    height = max(1, block // rows.shape[1])  # prefixes in one matrix product
    start = np.searchsorted(groups, groups, side="left")  # first column of each column's group
    end = np.searchsorted(groups, groups, side="right")  # one past the last
    one = np.ones((1, rows.shape[1]), dtype=rows.dtype)
    yield _Piece(np.zeros((1, 0), dtype=np.intp), None, 0, one, rows, None, None)  # degree 1
    counts = count_monomials(groups, degree)
    for k in range(2, degree + 1):
        if k == 2 or counts[k - 1] <= FEW:
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
        for j in range(int(prefixes[0, -1]) + 1, len(rows)):
            fits = int(np.searchsorted(prefixes[:, -1], start[j]))  # prefixes that end before j's group
            if fits and end[j] < len(rows):
                yield _Piece(prefixes[:fits], j, int(end[j]), left[:fits], rows[end[j] :], rows[j], None)


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
    left = rows[prefixes[:, 0]]
    for position in range(1, prefixes.shape[1]):
        left *= rows[prefixes[:, position]]
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
