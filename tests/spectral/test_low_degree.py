import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from overtone.errors import InputError
from overtone.spectral import low_degree as module
from overtone.spectral.columns import Columns
from overtone.spectral.families import combine, contrasts, hermite, legendre, parity
from overtone.spectral.low_degree import low_degree
from overtone.spectral.monomials import FloatArray, Monomial, products
from overtone.spectral.polynomial import Polynomial
from tests.strategies import EIGHTHS, all_monomials, cube, grouped_columns, polynomials

G = Polynomial({(): 0.5, (0,): 2.0, (1, 2): -1.0, (3, 4): 0.75}, n=12)


def empirical_means(columns: Columns, y: FloatArray, degree: int) -> dict[Monomial, float]:
    """The definition: 1/T sum_i f(x_i) chi_S(x_i), the constant too, by building the whole matrix."""
    monomials = all_monomials(columns.groups, degree)
    return dict(zip(monomials, (products(columns.values, monomials).T @ y / len(y)).tolist(), strict=True))


def samples(T: int, noise: float = 0.0, seed: int = 0) -> tuple[FloatArray, FloatArray]:
    rng = np.random.default_rng(seed)
    x = rng.choice([-1.0, 1.0], (T, G.n))
    return x, G(x) + noise * rng.standard_normal(T)


# ---- the pure algorithm ----


@given(grouped_columns(), st.data())
def test_it_is_the_empirical_means(columns: Columns, data: st.DataObject) -> None:
    columns = Columns(np.vstack([columns.values] * 2), columns.groups)  # T >= 2
    y = data.draw(npst.arrays(np.float64, columns.n_samples, elements=EIGHTHS))
    degree = data.draw(st.integers(1, min(3, columns.n_groups)))
    found = low_degree(columns, y, degree, threshold=0)
    expected = empirical_means(columns, y, degree)
    assert found.n_monomials == len(expected) - 1
    assert found.polynomial.terms.keys() <= expected.keys()
    for monomial, mean in expected.items():
        assert found.polynomial.terms.get(monomial, 0.0) == pytest.approx(mean, abs=1e-9)


def test_it_is_the_empirical_means_on_a_larger_scale() -> None:
    """In float32 blocks, so that the screen and the exact pass both do something."""
    rng = np.random.default_rng(1)
    points = np.column_stack([rng.choice([-1.0, 1.0], (300, 10)), rng.integers(0, 4, 300), rng.uniform(-1, 1, 300)])
    columns = combine([parity()] * 10 + [contrasts(4), legendre(3)], points)
    y = rng.standard_normal(300)
    found = low_degree(columns, y, 3, threshold=0).polynomial
    assert dict(found.terms) == pytest.approx(empirical_means(columns, y, 3), abs=1e-12)


@given(polynomials(min_n=2, max_n=6))
def test_all_points_of_the_cube_give_the_polynomial_itself(g: Polynomial) -> None:
    found = low_degree(cube(g.n), g(cube(g.n)), g.n, threshold=1e-9)
    assert found.polynomial == g  # exactly: all are multiples of 1/8


def test_values_are_taken_as_they_are() -> None:
    x, y = samples(50)
    shifted = low_degree(x, y + 100, 2, threshold=0).polynomial
    assert dict(shifted.terms) == pytest.approx(empirical_means(Columns.parity(x), y + 100, 2), abs=1e-10)


# ---- the threshold ----


@pytest.mark.parametrize("threshold", [0.05, 0.1, 0.3, 100.0])
def test_what_reaches_the_threshold_is_kept(threshold: float) -> None:
    x, y = samples(100, noise=0.5)
    expected = empirical_means(Columns.parity(x), y, 3)
    found = low_degree(x, y, 3, threshold=threshold)
    assert found.threshold == threshold
    assert found.polynomial.terms.keys() == {m for m, a in expected.items() if abs(a) >= threshold or not m}


def test_the_default_threshold_follows_the_noise() -> None:
    x, y = samples(4000, noise=1.0)
    found = low_degree(x, y - y.mean(), 3)
    assert found.threshold == pytest.approx(np.sqrt(2 * np.log(12 + 66 + 220) / 4000) * y.std())
    assert {m for m, _ in found.polynomial} == {m for m, _ in G}
    assert found.polynomial.terms[(0,)] == pytest.approx(2.0, abs=0.1)


def test_pure_noise_gives_next_to_nothing() -> None:
    counts = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        x = rng.choice([-1.0, 1.0], (100, 20))
        counts.append(len(low_degree(x, rng.standard_normal(100), 3).polynomial))
    assert sum(counts) <= 20  # one a run, of 1350 candidates


def test_rough_estimates_of_unbounded_families_are_left_out() -> None:
    """y He3(x) He3(x') varies so much that its mean is large by chance; measured by its own error it is not."""
    wrong, wrong_by_size_alone = 0, 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        columns = combine([hermite(3)] * 8, rng.standard_normal((200, 8)))
        y = columns.values[:, 0] + 0.3 * rng.standard_normal(200)
        found = low_degree(columns, y, 2)
        assert (0,) in found.polynomial.terms
        wrong += len(found.polynomial) - 1
        wrong_by_size_alone += len(low_degree(columns, y, 2, threshold=found.threshold).polynomial) - 1
    assert wrong <= 5 < 30 < wrong_by_size_alone


def test_sparsity_keeps_the_largest() -> None:
    x, y = samples(100, noise=0.5)
    everything = low_degree(x, y, 3, threshold=0).polynomial
    for sparsity in (1, 3, 1000):
        assert low_degree(x, y, 3, threshold=0, sparsity=sparsity).polynomial == everything.top(sparsity)
    automatic = low_degree(x, y, 3).polynomial
    assert 1 < len(automatic) < len(everything)
    assert low_degree(x, y, 3, sparsity=1).polynomial == automatic.top(1)


@pytest.mark.parametrize("scale", [2.0**-300, 2.0**-200, 2.0**200, 2.0**300])
def test_units_do_not_matter(scale: float) -> None:
    x, y = samples(100, noise=0.5)
    found = low_degree(x, y, 2)
    scaled = low_degree(x, y * scale, 2)
    assert dict(scaled.polynomial.terms) == {m: a * scale for m, a in found.polynomial.terms.items()}
    assert scaled.threshold == found.threshold * scale


def test_values_that_are_all_zero() -> None:
    x, y = samples(10)
    assert low_degree(x, 0 * y, 2).polynomial == Polynomial({}, G.n)
    assert low_degree(x, 0 * y, 2, threshold=0).polynomial == Polynomial({}, G.n)


# ---- errors, and what is too large ----


def test_an_answer_has_room_for_so_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST", 50)
    x, y = samples(100, noise=0.5)
    with pytest.raises(InputError, match=r"at most 50 monomials, but threshold=0 keeps 78: raise `threshold`"):
        low_degree(x, y, 2, threshold=0)
    with pytest.raises(InputError, match="but more reach the threshold"):
        low_degree(x, y, 2, threshold=0.01)
    assert len(low_degree(x, y, 2, threshold=0, sparsity=50).polynomial) == 50
    assert len(low_degree(x, y, 2, sparsity=78).polynomial) <= 50
    assert len(low_degree(x, y, 1, threshold=0).polynomial) == 12


@pytest.mark.parametrize("threshold", [-0.1, np.nan, np.inf])
def test_the_threshold_is_a_number(threshold: float) -> None:
    x, y = samples(10)
    with pytest.raises(InputError, match=r"`threshold >= 0` must hold and be finite, but got"):
        low_degree(x, y, 2, threshold=threshold)


@pytest.mark.parametrize("sparsity", [0, -1, 2.0, True])
def test_the_sparsity_is_a_whole_number(sparsity: int) -> None:
    x, y = samples(10)
    with pytest.raises(InputError, match=r"`sparsity` must be a whole number >= 1"):
        low_degree(x, y, 2, sparsity=sparsity)


def test_the_degree_is_checked() -> None:
    x, y = samples(10)
    with pytest.raises(InputError, match=r"1 <= degree <= 12"):
        low_degree(x, y, 13)
