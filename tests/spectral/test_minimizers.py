from collections.abc import Mapping, Sequence
from itertools import product
from math import inf, nan
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overtone.errors import InputError
from overtone.spectral.families import contrasts, parity
from overtone.spectral.minimizers import Minimizers, minimizers
from overtone.spectral.monomials import FloatArray, Monomial
from overtone.spectral.polynomial import Polynomial

SIGNS = parity().levels  # (2, 1)
SMALL_INTEGERS = st.integers(-2, 2).map(float)  # many ties
NUMBERS = st.one_of(SMALL_INTEGERS, st.floats(-4, 4))


@st.composite
def polynomials(draw: st.DrawFn, max_n: int = 12, max_terms: int = 24, degree: int = 4) -> Polynomial:
    n = draw(st.integers(1, max_n))
    monomial = st.lists(st.integers(0, n - 1), max_size=degree, unique=True).map(lambda m: tuple(sorted(m)))
    coefficients = draw(st.sampled_from([SMALL_INTEGERS, NUMBERS]))
    return Polynomial(draw(st.dictionaries(monomial, coefficients, max_size=max_terms)), n)


def clauses(sizes: Sequence[int]) -> st.SearchStrategy[list[dict[int, int]]]:
    """Partial assignments {group: level number} of groups with that many levels."""
    some = st.lists(st.integers(0, len(sizes) - 1), min_size=1, unique=True)
    clause = some.flatmap(lambda groups: st.fixed_dictionaries({g: st.integers(0, sizes[g] - 1) for g in groups}))
    return st.lists(clause, max_size=5)


def tables() -> st.SearchStrategy[list[FloatArray]]:
    """Families with 1 to 6 levels, and any tables."""
    families = st.sampled_from([SIGNS, *(contrasts(k).levels for k in range(2, 7))])
    size = st.tuples(st.integers(1, 4), st.integers(1, 2))
    anything = size.flatmap(
        lambda kq: st.lists(SMALL_INTEGERS, min_size=kq[0] * kq[1], max_size=kq[0] * kq[1]).map(
            lambda numbers: np.array(numbers).reshape(kq)
        )
    )
    return st.lists(st.one_of(families, anything), min_size=1, max_size=4)


def brute_force(
    g: Polynomial, levels: Sequence[FloatArray], forbidden: Sequence[Mapping[int, int]] = ()
) -> dict[tuple[int, ...], float]:
    """The value of every allowed assignment of level numbers to the groups of the support."""
    group = [number for number, table in enumerate(levels) for _ in table.T]
    support = sorted({group[column] for column in g.support})
    sizes = [len(table) if number in support else 1 for number, table in enumerate(levels)]
    choices = np.array(list(product(*map(range, sizes)))).reshape(-1, len(levels))  # (all, groups)
    points = np.hstack([np.zeros((len(choices), 0)), *(t[choices[:, k]] for k, t in enumerate(levels))])
    bad = np.zeros(len(choices), dtype=bool)
    for clause in forbidden:
        if all(k in support or len(levels[k]) == 1 for k in clause):
            bad |= np.all([choices[:, k] == level for k, level in clause.items()], axis=0)
    rows = map(tuple, choices[~bad][:, support].tolist())
    return dict(zip(rows, g(points[~bad]).tolist(), strict=True))


def check(best: Minimizers, truth: Mapping[tuple[int, ...], float], t: int, labels: Mapping[int, int]) -> None:
    """Distinct and legal assignments with their true values, and a true certificate."""
    rows = [tuple(labels[level] for level in assignment.values()) for assignment in best.assignments]
    assert len(set(rows)) == len(rows) == len(best) == len(best.values) <= t
    assert [truth[row] for row in rows] == pytest.approx(best.values, abs=1e-9)
    assert list(best.values) == sorted(best.values)
    assert best.bound <= best.values[0]
    assert best.bound <= min(truth.values()) + 1e-9
    if best.proven:
        assert best.values == pytest.approx(sorted(truth.values())[:t], abs=1e-9)
        assert best.bound == best.values[0]


PARITY_LABELS = {-1: 0, 1: 1}
LEVEL_LABELS = {level: level for level in range(20)}


def signed(clause: Mapping[int, int]) -> dict[int, float]:
    return {column: 2.0 * level - 1.0 for column, level in clause.items()}


def random_polynomial(n: int, sparsity: int, seed: int, degree: int = 3) -> Polynomial:
    """Monomials of random degree, Gaussian coefficients."""
    rng = np.random.default_rng(seed)
    terms: dict[Monomial, float] = {}
    while len(terms) < sparsity:
        columns = rng.choice(n, int(rng.integers(1, degree + 1)), replace=False)
        terms[tuple(sorted(columns.tolist()))] = float(rng.normal())
    return Polynomial(terms, n)


# ---- against trying all assignments ----


@given(polynomials(), st.integers(1, 20))
def test_parity(g: Polynomial, t: int) -> None:
    best = minimizers(g, t)
    check(best, brute_force(g, [SIGNS] * g.n), t, PARITY_LABELS)
    assert best.proven
    assert [g.restrict(assignment).constant for assignment in best.assignments] == pytest.approx(best.values, abs=1e-9)
    assert all(tuple(assignment) == g.support for assignment in best.assignments)


@given(st.data(), polynomials(max_n=7), st.integers(1, 20))
def test_forbidden(data: st.DataObject, g: Polynomial, t: int) -> None:
    forbidden = data.draw(clauses([2] * g.n))
    truth = brute_force(g, [SIGNS] * g.n, forbidden)
    if not truth:
        with pytest.raises(InputError, match="forbid less"):
            minimizers(g, t, forbidden=[signed(clause) for clause in forbidden])
        return
    best = minimizers(g, t, forbidden=[signed(clause) for clause in forbidden])
    check(best, truth, t, PARITY_LABELS)
    assert best.proven


@given(st.data(), tables(), st.integers(1, 20))
def test_levels(data: st.DataObject, levels: list[FloatArray], t: int) -> None:
    n = sum(table.shape[1] for table in levels)
    monomial = st.lists(st.integers(0, n - 1), max_size=4, unique=True).map(lambda m: tuple(sorted(m)))
    g = Polynomial(data.draw(st.dictionaries(monomial, NUMBERS, max_size=12)), n)
    truth = brute_force(g, levels, forbidden := data.draw(clauses([len(table) for table in levels])))
    if not truth:
        with pytest.raises(InputError, match="forbid less"):
            minimizers(g, t, levels=levels, forbidden=forbidden)
        return
    best = minimizers(g, t, levels=levels, forbidden=forbidden)
    check(best, truth, t, LEVEL_LABELS)
    assert best.proven


@given(polynomials(max_n=10, max_terms=40), st.integers(1, 20), st.integers(1, 300))
def test_little_effort_still_gives_assignments_and_a_true_bound(g: Polynomial, t: int, effort: int) -> None:
    check(minimizers(g, t, effort=effort), brute_force(g, [SIGNS] * g.n), t, PARITY_LABELS)


@pytest.mark.parametrize("seed", range(5))
def test_too_little_effort_is_told(seed: int) -> None:
    g = random_polynomial(14, 80, seed)
    best = minimizers(g, 3, effort=1)
    assert not best.proven
    check(best, brute_force(g, [SIGNS] * g.n), 3, PARITY_LABELS)
    assert -sum(abs(a) for _, a in g) - 1e-9 <= best.bound < best.values[0]
    assert minimizers(g, 3).proven
    assert minimizers(g, 3).values[0] <= best.values[0]


def test_high_degrees() -> None:
    g = Polynomial({tuple(range(40)): 2.0, tuple(range(20, 60)): 1.0, (0,): 0.5}, 60)
    best = minimizers(g, 4)
    assert (best.proven, best.values) == (True, (-3.5,) * 4)


# ---- the list ----


def test_pairs_in_the_order_of_the_values() -> None:
    best = minimizers(Polynomial({(): 10.0, (2,): 1.0, (5,): -2.0}, 7), 3)
    assert best == Minimizers(({2: -1, 5: 1}, {2: 1, 5: 1}, {2: -1, 5: -1}), (7.0, 9.0, 11.0), True, 7.0)
    assert list(best) == list(zip(best.assignments, best.values, strict=True))
    assert all(type(value) is int for assignment in best.assignments for value in assignment.values())
    assert all(type(value) is float for value in (*best.values, best.bound))


def test_ties_are_not_enumerated() -> None:
    g = Polynomial({(3 * i, 3 * i + 1, 3 * i + 2): 1.0 for i in range(100)}, 300)  # 4^100 minimizers
    best = minimizers(g, 5)
    assert (best.proven, best.values) == (True, (-100.0,) * 5)
    joined = Polynomial({(i, i + 1, i + 2): 1.0 for i in range(298)}, 300)  # one component, 4 minimizers
    assert minimizers(joined, 6).values == (-298.0,) * 4 + (-296.0,) * 2


def test_fewer_if_there_are_not_so_many() -> None:
    g = Polynomial({(0, 1): 1.0}, 3)
    assert len(minimizers(g, 100)) == 4
    assert len(minimizers(g, 100, forbidden=[{0: 1}])) == 2


@pytest.mark.parametrize("levels", [None, [SIGNS, contrasts(3).levels]])
def test_an_empty_support_has_one_empty_assignment(levels: list[FloatArray] | None) -> None:
    best = minimizers(Polynomial({(): 2.5}, 1 if levels is None else 3), 4, levels=levels, forbidden=[{0: 1}])
    assert best == Minimizers(({},), (2.5,), True, 2.5)


def test_a_polynomial_over_no_columns() -> None:
    assert minimizers(Polynomial({}, 0)) == Minimizers(({},), (0.0,), True, 0.0)


@given(polynomials(), st.integers(1, 20), st.randoms(use_true_random=False))
def test_the_same_every_time(g: Polynomial, t: int, random: Any) -> None:
    terms = list(g.terms.items())
    random.shuffle(terms)
    assert minimizers(g, t) == minimizers(Polynomial(dict(terms), g.n), t) == minimizers(g, t)


# ---- forbidden clauses ----


def test_a_clause_outside_of_the_support_does_not_bind() -> None:
    g = Polynomial({(0, 1): 1.0, (1,): 1.0}, 3)
    assert minimizers(g, forbidden=[{0: 1, 1: -1, 2: 1}]) == minimizers(g)
    assert minimizers(g, forbidden=[{0: 1, 1: -1}]).values == (0.0,)


def test_a_group_with_one_level_cannot_dodge() -> None:
    g = Polynomial({(0,): 1.0}, 2)
    levels = [SIGNS, np.array([[3.0]])]
    assert minimizers(g, levels=levels, forbidden=[{0: 0, 1: 0}]).assignments == ({0: 1},)
    with pytest.raises(InputError, match="forbid less"):
        minimizers(g, levels=levels, forbidden=[{1: 0}])


@pytest.mark.parametrize("length", [2, 5, 12, 60])
def test_one_minimizer_after_the_other(length: int) -> None:
    """Forbidding what was found, part by part or as a whole, the values only rise; as a whole, one by one."""
    g = random_polynomial(60, 50, seed=0)
    values: list[float] = []
    forbidden: list[dict[int, int]] = []
    for number in range(6):
        best = minimizers(g, forbidden=forbidden)
        assert best.proven
        assert not any(clause.items() <= best.assignments[0].items() for clause in forbidden)
        values += best.values
        columns = list(best.assignments[0].items())
        forbidden.append(dict((columns + columns)[5 * number :][:length]))
    assert values == sorted(values)
    if length == 60:
        assert values == pytest.approx(minimizers(g, 6).values)


def test_all_forbidden() -> None:
    g = Polynomial({(0, 1): 1.0}, 2)
    with pytest.raises(InputError, match="the 2 forbidden ones, but there is no such assignment: forbid less"):
        minimizers(g, forbidden=[{0: 1}, {0: -1}])


def test_all_that_was_seen_is_forbidden() -> None:
    """Long clauses are checked in the search: with little effort it may see nothing else."""
    g = Polynomial({(column,): 1.0 for column in range(12)}, 12)
    every = [dict(enumerate(point)) for point in product((-1, 1), repeat=12)]
    with pytest.raises(InputError, match="raise `effort`"):
        minimizers(g, forbidden=every[:-1], effort=1)
    assert minimizers(g, forbidden=every[:-1], effort=10**6).assignments == (every[-1],)


# ---- size ----


@pytest.mark.parametrize("t", [1, 16])
@pytest.mark.parametrize(("n", "sparsity"), [(60, 5), (60, 50), (60, 100), (200, 200)])
def test_random_polynomials_are_proven(n: int, sparsity: int, t: int) -> None:
    g = random_polynomial(n, sparsity, seed=1)
    best = minimizers(g, t)
    assert best.proven
    assert len(best) == t
    assert [g.restrict(assignment).constant for assignment in best.assignments] == pytest.approx(best.values)


@pytest.mark.parametrize("step", [1, 2])
def test_a_chain_and_a_ladder_of_1000_columns(step: int) -> None:
    rng = np.random.default_rng(0)
    pairs: dict[Monomial, float] = {(i, i + step): float(rng.normal()) for i in range(1000 - step)}
    rungs = {(i, i + 1): float(rng.normal()) for i in range(0, 1000, 2)} if step == 2 else {}
    g = Polynomial(pairs | rungs, 1000)
    best = minimizers(g, 4)
    assert best.proven
    assert best.values[0] == best.values[1] < best.values[2] == best.values[3]  # x and -x
    if step == 1:
        assert best.values[0] == pytest.approx(-sum(abs(a) for _, a in g))


def test_a_few_features_of_a_wide_choice() -> None:
    rng = np.random.default_rng(0)
    levels = [contrasts(5).levels] * 25
    terms: dict[Monomial, float] = {
        tuple(sorted(rng.choice(100, 2, replace=False).tolist())): float(rng.normal()) for _ in range(15)
    }
    best = minimizers(Polynomial(terms, 100), 16, levels=levels)
    assert best.proven
    assert len(best) == 16


# ---- errors ----


G = Polynomial({(0, 1): 1.0}, 3)


@pytest.mark.parametrize("bad", [0, -1, True, 1.0, "1", None])
@pytest.mark.parametrize("name", ["t", "effort"])
def test_whole_numbers(name: str, bad: Any) -> None:
    with pytest.raises(InputError, match=f"`{name}` must be a whole number >= 1, but got"):
        minimizers(G, **{name: bad})


@pytest.mark.parametrize(
    ("forbidden", "text"),
    [
        ([{}], "none of them empty, but number 0 is {}"),
        ([{0: 1}, {}], "none of them empty, but number 1 is {}"),
        ([(0, 1)], "sequence of mappings from columns to values"),
        ({0: 1}, "sequence of mappings from columns to values"),
        ([{3: 1}], r"columns run from 0 to 2, but clause 0 of `forbidden` names \[3\]"),
        ([{-1: 1}], r"columns run from 0 to 2, but clause 0 of `forbidden` names \[-1\]"),
        ([{"x": 1}], "columns run from 0 to 2"),
        ([{0: 0}], r"column 0 has the values \[-1, 1\], but clause 0 of `forbidden` has 0"),
        ([{0: 0.5}], "has 0.5"),
        ([{0: nan}], "has nan"),
    ],
)
def test_bad_clauses(forbidden: Any, text: str) -> None:
    with pytest.raises(InputError, match=text):
        minimizers(G, forbidden=forbidden)


@pytest.mark.parametrize(
    ("forbidden", "text"),
    [
        ([{2: 0}], r"groups run from 0 to 1, but clause 0 of `forbidden` names \[2\]"),
        ([{1: 3}], r"group 1 has the values \[0, 1, 2\], but clause 0 of `forbidden` has 3"),
        ([{0: -1}], r"group 0 has the values \[0, 1\]"),
    ],
)
def test_bad_clauses_of_levels(forbidden: Any, text: str) -> None:
    with pytest.raises(InputError, match=text):
        minimizers(G, levels=[SIGNS, contrasts(3).levels], forbidden=forbidden)


@pytest.mark.parametrize(
    ("levels", "text"),
    [
        ([SIGNS, SIGNS], "as many columns as the polynomial, which is 3, but have 2"),
        ([], "but have 0"),
        ([SIGNS, SIGNS, [-1.0, 1.0]], r"group 2 has shape \(2,\)"),
        ([SIGNS, SIGNS, np.zeros((0, 1))], r"group 2 has shape \(0, 1\)"),
        ([SIGNS, [[1.0, 2.0], [nan, 0.0]]], "finite numbers for each group, .* group 1"),
        ([[[inf]], SIGNS, SIGNS], "group 0"),
    ],
)
def test_bad_levels(levels: Any, text: str) -> None:
    with pytest.raises(InputError, match=text):
        minimizers(G, levels=levels)


def test_too_many_levels_together() -> None:
    levels = [np.arange(1024.0)[:, None]] * 3
    with pytest.raises(InputError, match=r"groups \[0, 1, 2\] have 2\^30"):
        minimizers(Polynomial({(0, 1, 2): 1.0}, 3), levels=levels)
    assert minimizers(Polynomial({(0, 1): 1.0, (1, 2): 1.0}, 3), levels=levels).proven
