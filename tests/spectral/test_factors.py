from collections.abc import Iterable, Sequence
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overtone.spectral.factors import (
    CELLS,
    Ban,
    Clause,
    Factor,
    Found,
    Plan,
    affordable,
    eliminate,
    elimination_order,
    lowest,
    match,
    split,
    total,
)
from overtone.spectral.gf2 import Bits, bit_matrix, bits_of, cells, coordinates, echelon, intersection, rewrite, union
from overtone.spectral.monomials import FloatArray

N = 7
FORMS = st.integers(1, 2**N - 1)
VALUES = st.integers(-3, 3).map(float)  # many ties, and sums are exact


@st.composite
def factors(draw: st.DrawFn, max_rank: int = 3) -> Factor:
    forms = echelon(draw(st.lists(FORMS, min_size=1, max_size=max_rank)))
    size = 1 << len(forms)
    return Factor(forms, np.array(draw(st.lists(VALUES, min_size=size, max_size=size))))


def many(max_size: int = 10) -> st.SearchStrategy[list[Factor]]:
    return st.lists(factors(), min_size=1, max_size=max_size)


def clauses() -> st.SearchStrategy[list[Clause]]:
    literals = st.dictionaries(st.sampled_from([1 << v for v in range(N)]), st.integers(0, 1), min_size=1)
    return st.lists(literals.map(lambda clause: tuple(clause.items())), max_size=4)


def cube(n: int = N) -> Bits:
    """All assignments; bit v in column v.  # (2^n, n)"""
    return bit_matrix(range(1 << n), n)


def value_of(form: int, bits: Bits) -> Bits:
    return np.asarray(bits[:, bits_of(form)].sum(axis=1) % 2, dtype=np.uint8)


def values_of(some: Iterable[Factor], bits: Bits) -> FloatArray:
    """The sum of the factors at every row, by the definition of a factor."""
    result = np.zeros(len(bits))
    for factor in some:
        cell = sum(value_of(form, bits).astype(int) << i for i, form in enumerate(reversed(factor.forms)))
        result += factor.table[cell]
    return result


def span(forms: Sequence[int]) -> set[int]:
    sums = {0}
    for form in forms:
        sums |= {form ^ other for other in sums}
    return sums


def parities(*monomials: Sequence[int], seed: int = 0) -> list[Factor]:
    rng = np.random.default_rng(seed)
    return [Factor((sum(1 << v for v in m),), rng.normal() * np.array([1.0, -1.0])) for m in monomials]


def random_parities(n: int, number: int, seed: int) -> list[Factor]:
    rng = np.random.default_rng(seed)
    return parities(*(rng.choice(n, 3, replace=False).tolist() for _ in range(number)), seed=seed)


# ---- linear algebra over GF(2) ----


@given(st.lists(FORMS, max_size=6), st.lists(FORMS, max_size=6))
def test_echelon(forms: list[int], more: list[int]) -> None:
    basis = echelon(more, echelon(forms))
    assert span(basis) == span(forms + more)
    assert len(span(basis)) == 2 ** len(basis)
    assert list(basis) == sorted(basis)
    assert len({form.bit_length() for form in basis}) == len(basis)


@given(st.lists(FORMS, min_size=1, max_size=6).map(echelon), st.lists(FORMS, min_size=1, max_size=6).map(echelon))
def test_intersection(first: tuple[int, ...], second: tuple[int, ...]) -> None:
    shared = intersection(first, second)
    assert span(shared) == span(first) & span(second)
    assert echelon(shared) == shared


@given(st.lists(FORMS, min_size=1, max_size=6).map(echelon), st.data())
def test_cells(basis: tuple[int, ...], data: st.DataObject) -> None:
    inside = sorted(span(basis) - {0})
    forms = tuple(data.draw(st.lists(st.sampled_from(inside), max_size=4)))
    numbers = np.arange(1 << len(forms), dtype=np.float64)
    moved = Factor(basis, numbers[cells(forms, basis)])
    assert values_of([moved], cube()).tolist() == values_of([Factor(forms, numbers)], cube()).tolist()


@given(st.lists(FORMS, max_size=8))
def test_coordinates_are_a_bijection(forms: list[int]) -> None:
    units = coordinates(N, forms)
    assert len(echelon(units)) == N
    assert sorted(rewrite(form, units) for form in range(1 << N)) == list(range(1 << N))
    independent = [form for i, form in enumerate(forms) if len(echelon(forms[: i + 1])) > len(echelon(forms[:i]))]
    assert [rewrite(form, units) for form in independent] == [1 << i for i in range(len(independent))]


def test_bits_and_unions() -> None:
    assert bits_of(0b10110) == [1, 2, 4]
    assert union([0b1, 0b100]) == 0b101
    assert bit_matrix([0b101, 0b10], 3).tolist() == [[1, 0, 1], [0, 1, 0]]
    assert bit_matrix([], 3).shape == (0, 3)


# ---- plans ----


@given(many())
def test_a_plan_only_renames(some: list[Factor]) -> None:
    plan = Plan.best(N, some)
    old = cube() @ bit_matrix(plan.units, N).T % 2  # the old bits at every point of the new ones
    moved = [plan.move(factor) for factor in some]
    assert values_of(moved, cube()).tolist() == values_of(some, old.astype(np.uint8)).tolist()


def test_a_chain_has_rank_two_and_a_tree_of_parities_one() -> None:
    chain = [(1 << v | 2 << v,) for v in range(99)]
    order, ranks = elimination_order(100, chain)
    assert (sorted(order), max(ranks)) == (list(range(100)), 1)  # each bit leaves one parity
    fields = [(1 << v,) for v in range(100)]
    assert max(elimination_order(100, chain + fields)[1]) == 2


def test_few_dependent_forms_have_a_small_rank_in_other_bits() -> None:
    some = random_parities(100, 100, seed=0)
    rank = len(echelon(factor.forms[0] for factor in some))
    assert max(Plan.best(100, some).ranks) <= 100 - rank + 1 < 12


def test_what_is_affordable() -> None:
    assert affordable([1, 3, 2], 3, 10**6) == [3]
    assert affordable([40] * 60, 200, 10**8) == [16, 18]
    assert affordable([40] * 1000, 200, 10**8) == [12, 14]
    assert affordable([18] * 61, 200, 10**8) == [16, 18]  # exact, but a first try is cheaper
    assert all(60 * 2**width <= CELLS for width in affordable([40] * 60, 200, 10**8))
    assert max(affordable([40] * 60, 200, 1)) < 1


# ---- elimination ----


@given(many())
def test_total(some: list[Factor]) -> None:
    assert values_of([total(some)], cube()).tolist() == values_of(some, cube()).tolist()


@given(many(), st.integers(0, 5))
def test_split_keeps_the_sum_within_the_width(some: list[Factor], width: int) -> None:
    parts = split(some, width)
    assert values_of(parts, cube()).tolist() == values_of(some, cube()).tolist()
    assert all(len(part.forms) <= max(width, 3) for part in parts)
    assert len(split(some, N)) == 1


@given(factors(), factors())
def test_match_keeps_the_sum_and_improves_the_bound(first: Factor, second: Factor) -> None:
    matched = match(first, second)
    assert values_of(matched, cube()).tolist() == values_of([first, second], cube()).tolist()
    assert sum(f.table.min() for f in matched) >= first.table.min() + second.table.min()
    shared = intersection(first.forms, second.forms)
    low = [[f.table[cells(shared, f.forms) == cell].min() for cell in range(1 << len(shared))] for f in matched]
    assert low[0] == pytest.approx(low[1])


@given(many(), st.integers(0, 8))
def test_residuals_add_up_to_the_value(some: list[Factor], width: int) -> None:
    """bound(root) + sum of residuals = value, at every leaf; residuals are >= 0, so all bounds are true."""
    some = [Plan([1 << v for v in range(N)], []).move(factor) for factor in some]
    steps = list(eliminate(N, some, width))
    bound = sum(more for _, more in steps)
    residuals = [part for parts, _ in steps for part in parts]
    values = values_of(some, cube())
    assert all((part.table >= 0).all() for part in residuals)
    assert (bound + values_of(residuals, cube())).tolist() == pytest.approx(values.tolist())
    assert bound <= values.min() + 1e-9
    if width >= N:
        assert bound == values.min()


# ---- the search ----


def check(found: Found, some: list[Factor], banned: list[Clause], t: int) -> None:
    bits = cube()
    fine = np.ones(len(bits), dtype=bool)
    for clause in banned:
        fine &= ~np.all([value_of(form, bits) == value for form, value in clause], axis=0)
    truth = np.sort(values_of(some, bits)[fine])
    allowed = set(map(bytes, bits[fine]))
    assert all(bytes(row) in allowed for row in found.bits)
    assert len(set(map(bytes, found.bits))) == len(found.values)
    assert found.values.tolist() == pytest.approx(values_of(some, found.bits).tolist())
    assert found.bound <= min(truth, default=np.inf) + 1e-9
    if found.proven:
        assert found.values.tolist() == pytest.approx(truth[:t].tolist())


@settings(max_examples=150)
@given(many(), clauses(), st.integers(1, 20), st.lists(st.integers(0, 4), min_size=1, max_size=2))
def test_lowest_with_bad_bounds(some: list[Factor], banned: list[Clause], t: int, widths: list[int]) -> None:
    found = lowest(N, some, banned, t, 10**6, widths)
    assert found.proven
    check(found, some, banned, t)


@settings(max_examples=150)
@given(many(), clauses(), st.integers(1, 20), st.integers(1, 2000), st.integers(0, 4))
def test_lowest_with_bad_bounds_and_little_effort(
    some: list[Factor], banned: list[Clause], t: int, effort: int, width: int
) -> None:
    check(lowest(N, some, banned, t, effort, [width, width]), some, banned, t)


@given(clauses())
def test_bans(banned: list[Clause]) -> None:
    broken = np.zeros(2**N, dtype=bool)
    penalty = np.zeros(2**N)
    for ban in Ban.all_of(banned):
        broken |= ban.broken(cube())
        penalty += values_of([ban.penalty(1.0)], cube())
    truth = [any(all(x[bits_of(f)[0]] == v for f, v in clause) for clause in banned) for x in cube()]
    assert broken.tolist() == truth
    assert (penalty > 0).tolist() == truth


def test_a_search_that_does_not_end_tries_again_with_better_bounds_and_tabu_search() -> None:
    some = random_parities(40, 120, seed=0)
    best = lowest(40, some, [], 3, 10**7)
    assert best.proven
    hasty = lowest(40, some, [], 3, 200_000, [4, 6])
    assert not hasty.proven
    assert hasty.bound <= best.values[0] == pytest.approx(hasty.values[0])  # tabu search found it all the same
    assert hasty.spent >= 200_000


def test_the_effort_is_kept() -> None:
    some = random_parities(60, 200, seed=0)
    found = lowest(60, some, [], 1, 100_000)
    assert not found.proven
    assert found.spent < 200_000
    assert -sum(factor.table.max() for factor in some) < found.bound < found.values[0]


def test_dependent_parities_of_200_bits_are_proven() -> None:
    """Treewidth about 50, but only some 15 of the 200 monomials depend on the others."""
    some = random_parities(200, 200, seed=0)
    used = bits_of(union(factor.forms[0] for factor in some))
    units = {v: 1 << i for i, v in enumerate(used)}
    some = [Factor((sum(units[v] for v in bits_of(f.forms[0])),), f.table) for f in some]
    found = lowest(len(used), some, [], 16, 10**6)
    assert found.proven
    assert found.values.tolist() == pytest.approx(values_of(some, found.bits).tolist())
    pairs = combinations(found.bits.tolist(), 2)
    assert all(first != second for first, second in pairs)
