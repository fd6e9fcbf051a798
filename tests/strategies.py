"""All shared hypothesis strategies, and the few exact helpers that go with them."""

from collections.abc import Mapping
from itertools import combinations, product

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from overtone.spectral.columns import Columns
from overtone.spectral.monomials import FloatArray, IntArray, Monomial
from overtone.spectral.polynomial import Polynomial

Terms = Mapping[Monomial, float]

# Multiples of 1/8: sums and products of a few of them are exact, so that tests can ask for equality.
EIGHTHS = st.integers(-64, 64).map(lambda eighths: eighths / 8)


def cube(n: int) -> FloatArray:
    """Every point of {-1, 1}^n.  # (2^n, n)"""
    return np.array(list(product((-1.0, 1.0), repeat=n))).reshape(-1, n)


def all_monomials(groups: IntArray, degree: int) -> list[Monomial]:
    """Every monomial of at most `degree` columns, no two of one group: by trying all sets of columns."""
    sets = [s for size in range(degree + 1) for s in combinations(range(len(groups)), size)]
    return [s for s in sets if len({int(groups[column]) for column in s}) == len(s)]


def evaluate(columns: Columns, terms: Terms) -> FloatArray:
    """The sum of the terms, one explicit product each.  # (T,)"""
    return sum((a * columns.values[:, list(s)].prod(axis=1) for s, a in terms.items()), np.zeros(columns.n_samples))


def sample(seed: int, T: int, n: int, terms: Terms, noise: float = 0.0) -> tuple[FloatArray, FloatArray]:
    """Random points and 3 + the polynomial + Gaussian noise; `noise` as a share of the signal's deviation."""
    rng = np.random.default_rng((seed, T, n))
    points = rng.choice([-1.0, 1.0], (T, n))
    y = evaluate(Columns.parity(points), terms)
    return points, 3 + y + noise * (y.std() or 1.0) * rng.standard_normal(T)


def planted(seed: int, n: int, sparsity: int, degree: int = 3) -> dict[Monomial, float]:
    """Random monomials of degree 1, ..., `degree`, coefficients of size 1/2 to 2."""
    rng = np.random.default_rng((seed, n, sparsity))
    terms: dict[Monomial, float] = {}
    while len(terms) < sparsity:
        size = int(rng.integers(1, degree + 1))
        monomial = tuple(sorted(rng.choice(n, size, replace=False).tolist()))
        terms[monomial] = float(rng.choice([-1.0, 1.0]) * rng.uniform(0.5, 2.0))
    return terms


def points(n: int, max_samples: int = 12) -> st.SearchStrategy[FloatArray]:
    """Points of {-1, 1}^n.  # (T, n), T >= 1"""
    return matrices(n, st.sampled_from((-1.0, 1.0)), max_samples)


def matrices(
    n: int, elements: st.SearchStrategy[float] = EIGHTHS, max_samples: int = 12
) -> st.SearchStrategy[FloatArray]:
    """Any values in n columns.  # (T, n), T >= 1"""
    shapes = st.tuples(st.integers(1, max_samples), st.just(n))
    return npst.arrays(np.float64, shapes, elements=elements)


def monomials(n: int) -> st.SearchStrategy[Monomial]:
    """Rising tuples of column numbers below n; the empty one among them."""
    bits = st.integers(0, 2**n - 1)  # one draw a monomial: much quicker than a set of column numbers
    return bits.map(lambda number: tuple(column for column in range(n) if number >> column & 1))


@st.composite
def polynomials(draw: st.DrawFn, min_n: int = 1, max_n: int = 6, max_terms: int = 8) -> Polynomial:
    """Sparse polynomials with coefficients in eighths; the zero and the constant ones among them."""
    n = draw(st.integers(min_n, max_n))
    return Polynomial(draw(st.dictionaries(monomials(n), EIGHTHS, max_size=max_terms)), n)


@st.composite
def group_structures(draw: st.DrawFn, max_groups: int = 4, max_size: int = 3) -> IntArray:
    """The `groups` of a `Columns`: never decreasing, some numbers left out.  # (m,), m >= 1"""
    sizes = draw(st.lists(st.integers(1, max_size), min_size=1, max_size=max_groups))
    steps = draw(st.lists(st.integers(1, 3), min_size=len(sizes), max_size=len(sizes)))
    return np.repeat(np.cumsum(steps) - 1, sizes).astype(np.intp)


@st.composite
def grouped_columns(draw: st.DrawFn, max_groups: int = 4, max_size: int = 3, max_samples: int = 12) -> Columns:
    """Any values in columns with any group structure."""
    groups = draw(group_structures(max_groups, max_size))
    return Columns(draw(matrices(len(groups), max_samples=max_samples)), groups)
