import tracemalloc
from collections.abc import Iterator, Sequence
from itertools import combinations
from math import comb
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from threadpoolctl import threadpool_info, threadpool_limits

from overtone.spectral import correlation
from overtone.spectral.columns import Columns
from overtone.spectral.correlation import BLOCK, Candidates, Dictionary, correlations, single_threaded_blas
from overtone.spectral.monomials import FloatArray, IntArray, Monomial
from tests.strategies import EIGHTHS, all_monomials, group_structures, matrices

SIGNS = st.sampled_from((-1.0, 1.0))
BLOCKS = st.sampled_from((1, 3, 40, BLOCK))
FEW = st.sampled_from((0, correlation.FEW))  # 0: one matrix product a middle column, however few prefixes there are


def dense(columns: Columns, monomials: Sequence[Monomial]) -> FloatArray:
    """The matrix that is never built: one explicit product a monomial.  # (T, N)"""
    return np.stack([columns.values[:, list(s)].prod(axis=1) for s in monomials], axis=1)


def every_monomial(columns: Columns, degree: int) -> list[Monomial]:
    return [s for s in all_monomials(columns.groups, degree) if s]


def collect(blocks: Iterator[tuple[IntArray, FloatArray]]) -> tuple[list[Monomial], FloatArray]:
    """All blocks as one list of monomials and one (N, R) matrix."""
    names: list[Monomial] = []
    found = []
    for monomials, c in blocks:
        assert len(monomials) == len(c)
        names += [tuple(row) for row in monomials.tolist()]
        found.append(c)
    return names, np.concatenate(found)


def top(
    columns: Columns, degree: int, residual: FloatArray, factors: Sequence[float], level: float
) -> list[tuple[float, Monomial, float]]:
    """Score, monomial and correlation of all that reach the level: best first, ties by monomial. Brute force."""
    monomials = every_monomial(columns, degree)
    c = (dense(columns, monomials) * residual[:, None]).sum(axis=0)
    rows = [(abs(a) / factors[len(s) - 1], s, a) for s, a in zip(monomials, c.tolist(), strict=True)]
    return sorted((row for row in rows if row[0] >= level), key=lambda row: (-row[0], row[1]))


def same_bytes(one: Candidates, other: Candidates) -> bool:
    return (one.monomials, one.complete) == (other.monomials, other.complete) and (
        one.correlations.tobytes() + one.scores.tobytes() == other.correlations.tobytes() + other.scores.tobytes()
    )


@st.composite
def structures(draw: st.DrawFn) -> IntArray:
    """Groups of one column each (the parity case), or of several."""
    single = st.integers(1, 10).map(lambda n: np.arange(n, dtype=np.intp))
    return draw(st.one_of(single, group_structures()))


Problem = tuple[Columns, FloatArray, int]  # columns, residual, degree


@st.composite
def problems(draw: st.DrawFn, elements: st.SearchStrategy[float], residual: st.SearchStrategy[float]) -> Problem:
    """All in binary fractions, so that every sum is exact and ties are ties."""
    groups = draw(structures())
    columns = Columns(draw(matrices(len(groups), elements)), groups)
    r = draw(npst.arrays(np.float64, columns.n_samples, elements=residual))
    return columns, r, draw(st.integers(1, min(5, columns.n_groups)))


# ---- every monomial once, with its own correlation ----


@given(problem=problems(EIGHTHS, EIGHTHS), n_residuals=st.integers(1, 3), block=BLOCKS, few=FEW)
def test_matrix_free_equals_dense(problem: Problem, n_residuals: int, block: int, few: int) -> None:
    columns, r, degree = problem
    residuals = np.stack([np.roll(r, shift) * (shift + 1) for shift in range(n_residuals)], axis=1)
    with patch.object(correlation, "FEW", few):
        names, found = collect(correlations(columns, residuals, degree, block=block))
    expected = every_monomial(columns, degree)
    assert sorted(names) == sorted(expected)  # each of them, and once
    assert found.shape == (len(names), n_residuals)
    assert np.array_equal(found, dense(columns, names).T @ residuals)


@given(problem=problems(EIGHTHS, EIGHTHS), block=BLOCKS)
def test_blocks_come_by_degree_and_hold_rising_monomials(problem: Problem, block: int) -> None:
    columns, r, degree = problem
    widths = []
    for monomials, _ in correlations(columns, r, degree, block=block):
        widths.append(monomials.shape[1])
        assert (np.diff(monomials, axis=1) > 0).all()
    assert widths == sorted(widths)
    assert set(widths) == set(range(1, degree + 1))


def test_one_residual_is_a_matrix_of_one() -> None:
    rng = np.random.default_rng(0)
    columns, r = Columns.parity(rng.choice([-1, 1], (9, 5))), rng.standard_normal(9)
    flat = collect(correlations(columns, r, 3))
    matrix = collect(correlations(columns, r[:, None], 3))
    assert flat[0] == matrix[0]
    assert flat[1].shape == (25, 1)
    assert np.array_equal(flat[1], matrix[1])


def many_columns(n: int, size: int, degree: int, rng: np.random.Generator, T: int = 4) -> tuple[Columns, IntArray]:
    """n columns in groups of `size`, and all monomials of exactly `degree` columns as rows."""
    columns = Columns(rng.integers(-8, 9, (T, n)) / 8, np.repeat(np.arange(n // size), size))
    rows = np.array(list(combinations(range(n), degree)), dtype=np.intp)
    members = columns.groups[rows]
    return columns, rows[(np.diff(members, axis=1) > 0).all(axis=1)]


@pytest.mark.parametrize(
    ("n", "size", "degree", "by_middle"),
    [(140, 1, 3, True), (150, 2, 3, True), (40, 1, 4, True), (60, 1, 3, False), (60, 3, 3, False)],
)
def test_many_prefixes_and_few(
    n: int, size: int, degree: int, by_middle: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both ways to cut a scan into matrix products, at the sizes at which they are taken."""
    taken = []
    original = correlation._by_middle

    def spy(rows: FloatArray, start: IntArray, end: IntArray, k: int, height: int) -> Any:
        taken.append(k)
        return original(rows, start, end, k, height)

    monkeypatch.setattr(correlation, "_by_middle", spy)
    rng = np.random.default_rng(1)
    columns, rows = many_columns(n, size, degree, rng)
    r = rng.integers(-64, 65, columns.n_samples) / 8
    c = (columns.values.T[rows].prod(axis=1) * r).sum(axis=1)  # exact, as all entries are eighths

    got_rows, got_c = [], []
    for monomials, found in correlations(columns, r, degree):
        if monomials.shape[1] == degree:
            got_rows.append(monomials)
            got_c.append(found[:, 0])
    assert taken == ([degree] if by_middle else [])
    names, values = np.concatenate(got_rows), np.concatenate(got_c)
    order = np.lexsort(names.T[::-1])
    assert np.array_equal(names[order], rows)
    assert np.array_equal(values[order], c)

    best = Dictionary(columns, degree).strongest(r, factors=[1e6] * (degree - 1) + [1.0], limit=50)  # this degree only
    first = np.lexsort((*rows.T[::-1], -np.abs(c)))[:50]
    assert best.monomials == tuple(tuple(row) for row in rows[first].tolist())
    assert np.array_equal(best.correlations, c[first])


# ---- the strongest ----


@settings(max_examples=200)
@given(
    problem=st.one_of(
        problems(SIGNS, st.sampled_from((-1.0, 0.0, 1.0, 2.0))),  # massive ties
        problems(SIGNS, EIGHTHS),
        problems(EIGHTHS, EIGHTHS),
    ),
    factors=st.lists(st.sampled_from((0.25, 0.5, 1.0)), min_size=5, max_size=5),
    rank=st.one_of(st.none(), st.integers(0, 40)),
    limit=st.one_of(st.integers(1, 5), st.integers(1, 1000)),
    block=BLOCKS,
    few=FEW,
    float32_samples=st.sampled_from((0, correlation.FLOAT32_SAMPLES)),
)
def test_the_strongest_are_the_float64_top(
    problem: Problem,
    factors: list[float],
    rank: int | None,
    limit: int,
    block: int,
    few: int,
    float32_samples: int,
) -> None:
    columns, r, degree = problem
    everything = top(columns, degree, r, factors, 0.0)
    level = 0.0 if rank is None else everything[min(rank, len(everything) - 1)][0]  # a score itself: nothing may slip
    expected = [row for row in everything if row[0] >= level]
    with patch.object(correlation, "FEW", few), patch.object(correlation, "FLOAT32_SAMPLES", float32_samples):
        dictionary = Dictionary(columns, degree, block=block)
        found = dictionary.strongest(r, factors=factors[:degree], level=level, limit=limit)
    assert found.monomials == tuple(s for _, s, _ in expected[:limit])
    assert found.scores.tolist() == [score for score, _, _ in expected[:limit]]
    assert found.correlations.tolist() == [a for _, _, a in expected[:limit]]
    if len(expected) > limit:
        assert not found.complete
    elif len(everything) <= 4 * limit:  # else it may be too cautious, never too bold
        assert found.complete


@pytest.mark.parametrize("kind", ["signs", "real"])
@pytest.mark.parametrize("seed", range(4))
def test_the_strongest_of_residuals_that_no_binary_fraction_holds(kind: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    T, n = int(rng.integers(5, 200)), 14
    values = rng.choice([-1.0, 1.0], (T, n)) if kind == "signs" else rng.standard_normal((T, n)) * 3
    columns, r = Columns(values, np.arange(n) // 2), rng.standard_normal(T) * 10.0 ** rng.integers(-9, 9)
    factors = [0.5, 0.8, 1.0]
    expected = top(columns, 3, r, factors, 0.0)
    level = expected[60][0] * (1 + 1e-9)  # 60 are above
    assert expected[59][0] > level * (1 + 1e-9)
    for limit in (1, 20, 60, 200):
        found = Dictionary(columns, 3).strongest(r, factors=factors, level=level, limit=limit)
        assert found.monomials == tuple(s for _, s, _ in expected[: min(60, limit)])
        assert found.scores == pytest.approx([score for score, _, _ in expected[: min(60, limit)]], rel=1e-11)
        assert found.complete == (limit >= 60)


def test_without_factors_the_score_is_the_correlation() -> None:
    rng = np.random.default_rng(2)
    columns, r = Columns.parity(rng.choice([-1, 1], (20, 6))), rng.standard_normal(20)
    found = Dictionary(columns, 3).strongest(r)
    assert len(found.monomials) == 6 + 15 + 20
    assert np.array_equal(found.scores, np.abs(found.correlations))
    assert same_bytes(found, Dictionary(columns, 3).strongest(r, factors=[1.0, 1.0, 1.0]))


def test_ties_are_broken_by_monomial() -> None:
    columns = Columns.parity(np.ones((3, 6)))
    found = Dictionary(columns, 3).strongest(np.ones(3), limit=5)
    assert found.monomials == ((0,), (0, 1), (0, 1, 2), (0, 1, 3), (0, 1, 4))
    assert found.scores.tolist() == [3.0] * 5
    assert not found.complete


def test_nothing_reaches_a_level_above_all() -> None:
    columns = Columns.parity(np.random.default_rng(0).choice([-1, 1], (10, 5)))
    found = Dictionary(columns, 3).strongest(np.ones(10), level=10.5)
    assert (found.monomials, len(found.correlations), len(found.scores), found.complete) == ((), 0, 0, True)


def test_a_residual_of_nothing_but_zeros() -> None:
    columns = Columns.parity(np.random.default_rng(0).choice([-1, 1], (10, 5)))
    found = Dictionary(columns, 2).strongest(np.zeros(10), limit=3)
    assert found.monomials == ((0,), (0, 1), (0, 2))
    assert found.scores.tolist() == [0.0] * 3
    assert not found.complete


@pytest.mark.parametrize("cache", [0, 2**23])
def test_a_dictionary_serves_many_scans(cache: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(correlation, "CACHE", cache)
    rng = np.random.default_rng(3)
    columns = Columns(rng.standard_normal((15, 8)), np.arange(8))
    dictionary = Dictionary(columns, 4)
    residuals = rng.standard_normal((15, 3))
    once = [dictionary.strongest(r, limit=30) for r in residuals.T]
    again = [dictionary.strongest(r, limit=30) for r in residuals.T]
    fresh = [Dictionary(columns, 4).strongest(r, limit=30) for r in residuals.T]
    assert all(map(same_bytes, once, again))
    assert all(map(same_bytes, once, fresh))
    assert len({found.monomials for found in once}) == 3


def test_inputs_are_left_as_they_are() -> None:
    rng = np.random.default_rng(4)
    columns, r = Columns(rng.standard_normal((12, 6)), np.arange(6)), rng.standard_normal(12)
    values, residual = columns.values.copy(), r.copy()
    Dictionary(columns, 3).strongest(r)
    collect(correlations(columns, r, 3))
    assert np.array_equal(columns.values, values)
    assert np.array_equal(r, residual)


# ---- the same bytes, whatever does the work ----


@pytest.mark.parametrize("kind", ["signs", "real", "ties"])
def test_blocks_threads_and_blas_do_not_show(kind: str) -> None:
    rng = np.random.default_rng(5)
    T, n = 61, 40
    values = rng.standard_normal((T, n)) if kind == "real" else rng.choice([-1.0, 1.0], (T, n))
    r = rng.integers(-1, 2, T).astype(np.float64) if kind == "ties" else rng.standard_normal(T)
    columns = Columns(values, np.arange(n) // 2)
    reference = Dictionary(columns, 3, n_threads=1).strongest(r, factors=[0.6, 0.8, 1.0], limit=100)
    assert len(reference.monomials) == 100
    for n_threads, block, blas in [(1, T, 1), (2, 7 * T, 1), (2, BLOCK, 2), (3, 64 * T, 4), (1, BLOCK, 4)]:
        with threadpool_limits(blas, user_api="blas"):
            dictionary = Dictionary(columns, 3, block=block, n_threads=n_threads)
            found = dictionary.strongest(r, factors=[0.6, 0.8, 1.0], limit=100)
        assert same_bytes(reference, found)


def test_blas_runs_on_one_thread_inside_and_as_before_after() -> None:
    def threads() -> set[int]:
        return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}

    with threadpool_limits(2, user_api="blas"):
        with single_threaded_blas():
            assert threads() == {1}
        assert threads() == {2}


# ---- precision ----


@pytest.mark.parametrize("kind", ["signs", "real"])
def test_many_samples_are_screened_in_float64(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(6)
    values = rng.choice([-1.0, 1.0], (30, 12)) if kind == "signs" else rng.standard_normal((30, 12))
    columns, r = Columns(values, np.arange(12)), rng.standard_normal(30)
    coarse = Dictionary(columns, 3)
    monkeypatch.setattr(correlation, "FLOAT32_SAMPLES", 29)
    fine = Dictionary(columns, 3)
    assert [str(dictionary._rows.dtype) for dictionary in (coarse, fine)] == ["float32", "float64"]
    assert same_bytes(coarse.strongest(r, limit=40), fine.strongest(r, limit=40))
    assert same_bytes(coarse.strongest(r, level=9.0, limit=400), fine.strongest(r, level=9.0, limit=400))


def test_differences_that_float32_does_not_see_decide() -> None:
    """Two columns whose correlations differ in the 12th digit: the float64 order is the answer."""
    values = np.array([[1.0, 1.0, 1.0], [1.0, -1.0, -1.0], [-1.0, 1.0, -1.0]])
    r = np.array([1e6, 2e-6, 1e-6])
    found = Dictionary(Columns.parity(values), 1).strongest(r, limit=2)
    assert found.monomials == ((0,), (1,))  # 1e6 + 1e-6, 1e6 - 1e-6, 1e6 - 3e-6
    assert Dictionary(Columns.parity(values), 1).strongest(r, level=float(found.scores[1])).monomials == ((0,), (1,))


@pytest.mark.parametrize("block", [30, BLOCK])
@pytest.mark.parametrize("step", [2.0**-38, 2.0**-30])
@pytest.mark.parametrize("kind", ["signs", "real"])
@pytest.mark.parametrize("seed", range(3))
def test_near_ties_by_the_hundred_are_told_apart(kind: str, seed: int, step: float, block: int) -> None:
    """Scores that differ by less than float32 sees, or by so little that it takes one for the other."""
    rng = np.random.default_rng(seed)
    T, n = 30, 12
    values = rng.choice([-1.0, 1.0] if kind == "signs" else [-1.0, -0.5, 0.5, 1.0], (T, n))
    r = rng.integers(-2, 3, T) + rng.integers(-4096, 4097, T) * step  # sums are exact in float64
    columns = Columns(values, np.arange(n))
    factors = [0.25, 0.125, 0.25]  # a score is off by more than a correlation
    everything = top(columns, 3, r, factors, 0.0)
    dictionary = Dictionary(columns, 3, block=block)
    for k in (1, 2, 5, 11, 30, 60):
        best = tuple(s for _, s, _ in everything[:k])
        assert dictionary.strongest(r, factors=factors, limit=k).monomials == best
        above = dictionary.strongest(r, factors=factors, level=everything[k - 1][0])
        assert above.monomials == tuple(s for score, s, _ in everything if score >= everything[k - 1][0])
        assert above.complete


@pytest.mark.parametrize("seed", range(3))
def test_factors_above_1_lose_nothing_at_the_level(seed: int) -> None:
    rng = np.random.default_rng(seed)
    columns, r = Columns.parity(rng.choice([-1, 1], (20, 6))), rng.standard_normal(20)
    dictionary, factors = Dictionary(columns, 2), [1000.0, 1000.0]
    everything = dictionary.strongest(r, factors=factors)
    for k in range(1, 21):
        found = dictionary.strongest(r, factors=factors, level=float(everything.scores[k - 1]))
        assert found.monomials == everything.monomials[:k]


ROUNDED = "offer() compares with level * factor, rounded: (0.875 / 0.3) * 0.3 > 0.875, and the slack may be 0"


def test_what_has_just_the_level_is_found() -> None:
    dictionary = Dictionary(Columns.parity([[1.0]]), 1)
    everything = dictionary.strongest(np.array([0.875]), factors=[0.3])
    found = dictionary.strongest(np.array([0.875]), factors=[0.3], level=float(everything.scores[0]))
    assert found.monomials == everything.monomials == ((0,),)


def test_ties_are_broken_by_monomial_once_the_level_was_raised() -> None:
    found = Dictionary(Columns.parity(np.ones((1, 9))), 2).strongest(np.array([0.875]), factors=[0.3, 0.3], limit=2)
    assert found.monomials == ((0,), (0, 1))


@pytest.mark.parametrize("scale", [2.0**-170, 2.0**140])
@pytest.mark.parametrize("kind", ["signs", "real"])
def test_the_unit_of_the_residual_does_not_matter(scale: float, kind: str) -> None:
    rng = np.random.default_rng(7)
    values = rng.choice([-1.0, 1.0], (20, 6)) if kind == "signs" else rng.standard_normal((20, 6))
    dictionary, r = Dictionary(Columns(values, np.arange(6)), 2), rng.standard_normal(20)
    one = dictionary.strongest(r, level=4.0)
    other = dictionary.strongest(r * scale, level=4.0 * scale)
    assert one.monomials == other.monomials
    assert np.array_equal(one.scores * scale, other.scores)


# ---- memory ----


def test_memory_is_bounded_whatever_the_number_of_monomials() -> None:
    rng = np.random.default_rng(8)
    columns, r = Columns.parity(rng.choice([-1, 1], (50, 300))), rng.standard_normal(50)
    dictionary = Dictionary(columns, 3, n_threads=1)
    matrix = 8 * 50 * sum(dictionary.counts[1:])
    assert dictionary.counts == [1, 300, comb(300, 2), comb(300, 3)]
    tracemalloc.start()
    try:
        assert len(dictionary.strongest(r, limit=100).monomials) == 100
        scan = tracemalloc.get_traced_memory()[1]
        del dictionary
        tracemalloc.reset_peak()
        count = sum(len(monomials) for monomials, _ in correlations(columns, r, 3, block=2**16))
        blocks = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert count == 300 + comb(300, 2) + comb(300, 3)
    assert matrix > 1.8e9
    assert scan < matrix / 20
    assert blocks < matrix / 20


# ---- several residuals at once ----


@pytest.mark.parametrize("dense_limit", [0, 2**22])
@pytest.mark.parametrize("few", [0, correlation.FEW])
@pytest.mark.parametrize("kind", ["signs", "real", "groups"])
def test_the_strongest_for_each_of_several_residuals(
    kind: str, few: int, dense_limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(correlation, "FEW", few)
    monkeypatch.setattr(correlation, "DENSE", dense_limit)
    rng = np.random.default_rng(8)
    T, n = 50, 14
    values = rng.standard_normal((T, n)) if kind == "real" else rng.choice([-1.0, 1.0], (T, n))
    columns = Columns(values, np.arange(n) // 2 if kind == "groups" else np.arange(n))
    residuals, factors = rng.standard_normal((4, T)), [0.6, 0.8, 1.0]
    found = Dictionary(columns, 3).strongest_each(residuals, factors=factors, limit=20)
    assert len(found) == 4
    for r, monomials in zip(residuals, found, strict=True):
        assert list(monomials) == [s for _, s, _ in top(columns, 3, r, factors, 0.0)[:20]]


def test_several_residuals_of_which_one_is_nothing_but_zeros() -> None:
    columns = Columns.parity(np.random.default_rng(0).choice([-1, 1], (10, 5)))
    residuals = np.stack([np.zeros(10), columns.values[:, 2]])
    nothing, third = Dictionary(columns, 2).strongest_each(residuals, factors=[1.0, 1.0], limit=3)
    assert nothing == ()
    assert third[0] == (2,)


def test_more_than_there_are_for_several_residuals() -> None:
    columns = Columns.parity(np.random.default_rng(0).choice([-1, 1], (30, 4)))
    found = Dictionary(columns, 2).strongest_each(np.random.default_rng(1).random((2, 30)), factors=[1, 1], limit=99)
    assert [len(set(monomials)) for monomials in found] == [10, 10]
