import pickle
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from scipy.stats import norm

from overtone.errors import InputError
from overtone.spectral.encoding import Encoding, Interval, Levels
from overtone.spectral.monomials import FloatArray, products
from tests.strategies import all_monomials

T = 200
RNG = np.random.default_rng(5)


def grid(low: float, high: float, count: int = 20_000) -> FloatArray:
    """The middles of equal pieces: the uniform distribution."""
    return low + (high - low) * (np.arange(count) + 0.5) / count


def normal(mean: float, deviation: float, count: int = 20_000) -> FloatArray:
    """The normal distribution, by its quantiles."""
    return mean + deviation * np.asarray(norm.ppf(grid(0, 1, count)))


def fit_one(x: FloatArray, order: int = 3) -> Encoding:
    return Encoding.fit(x[:, np.newaxis], order)


def family(x: FloatArray) -> str | None:
    (feature,) = fit_one(x).features
    return None if feature is None else f"{feature.family.name}-{feature.family.size}"


def gram(columns: FloatArray) -> FloatArray:
    functions = np.column_stack([np.ones(len(columns)), columns])
    return functions.T @ functions / len(functions)


# ---- which family ----


@pytest.mark.parametrize(
    ("x", "expected"),
    [
        (np.full(T, 3.5), None),
        (np.arange(T) % 2, "parity-1"),
        (np.where(np.arange(T) == 7, 2.0, -7.5), "parity-1"),
        (np.array([0.0, 1e-9]), "parity-1"),
        (np.arange(T) % 3, "contrasts-2"),
        (np.array([0.1, 3, 3.5, 100, 2000])[np.arange(T) % 5], "contrasts-4"),
        (np.arange(T) % 8, "contrasts-7"),
        (np.arange(T) % 9, "legendre-3"),  # too many levels
        (np.arange(39) % 8, "legendre-3"),  # too few samples for each level
        (np.arange(40) % 8, "contrasts-7"),
        (np.array([1.0, 2, 3, 3, 2]), "legendre-2"),  # three points carry no third polynomial
        (grid(3, 4, T), "legendre-3"),
        (np.r_[normal(-5, 1, T), normal(5, 1, T)], "legendre-3"),  # bounded, if not uniform
        (normal(3, 4, T), "hermite-3"),
        (-np.log(grid(0, 1, T)), "hermite-3"),  # exponential
        (np.r_[np.zeros(T), grid(0, 1, 10)], "hermite-3"),  # nearly always 0
    ],
)
def test_the_family_follows_the_values(x: FloatArray, expected: str | None) -> None:
    x = np.asarray(x, dtype=float)
    other = np.arange(len(x)) % 2
    encoding = Encoding.fit(np.column_stack([other, x]))
    feature = encoding.features[1]
    assert (None if feature is None else f"{feature.family.name}-{feature.family.size}") == expected


@pytest.mark.parametrize(("draw", "name"), [(RNG.uniform, "legendre-3"), (RNG.standard_normal, "hermite-3")])
def test_random_samples_show_their_distribution(draw: object, name: str) -> None:
    assert callable(draw)
    found = [family(draw(size=T)) for _ in range(200)]
    assert found.count(name) >= 180


def test_the_order_is_that_of_the_polynomials() -> None:
    x = np.column_stack([grid(0, 1, T), normal(0, 1, T), np.arange(T) % 2, np.arange(T) % 4])
    assert [f.family.size for f in Encoding.fit(x, order=5).features if f is not None] == [5, 5, 1, 3]
    assert [f.family.size for f in Encoding.fit(x, order=1).features if f is not None] == [1, 1, 1, 3]


# ---- orthonormal on the data they are meant for ----


@pytest.mark.parametrize(
    ("x", "tolerance"),
    [
        (np.array([0.0, 1.0] * 10), 1e-12),
        (np.array([3.0, 5.0, 6.0] * 10), 1e-12),
        (np.arange(80) % 8.0, 1e-12),
        (grid(-3, 17), 1e-3),  # the ends of the range are half a piece off
        (normal(100, 0.1), 0.21),  # the cut at three standard deviations takes a fifth of E[He3^2]
    ],
)
def test_orthonormal_on_their_own_measure(x: FloatArray, tolerance: float) -> None:
    columns = fit_one(x).columns(x[:, np.newaxis]).values
    np.testing.assert_allclose(gram(columns), np.eye(1 + columns.shape[1]), atol=tolerance)


def test_products_across_features_are_orthonormal_too() -> None:
    X = np.array(list(product([0, 1], [2, 3, 5], grid(0, 1, 400))))
    columns = Encoding.fit(X).columns(X)
    design = products(columns.values, all_monomials(columns.groups, degree=3))
    assert design.shape[1] == 2 * 3 * 4
    np.testing.assert_allclose(design.T @ design / len(X), np.eye(design.shape[1]), atol=0.05)


def test_two_values_are_minus_one_and_plus_one() -> None:
    x = np.array([7.0, 2.0, 2.0, 7.0])
    np.testing.assert_array_equal(fit_one(x).columns(x[:, np.newaxis]).values[:, 0], [1, -1, -1, 1])


def test_the_range_that_was_seen_becomes_minus_one_to_one() -> None:
    x = grid(10, 20, 41)
    (feature,) = fit_one(x).features
    assert isinstance(feature, Interval)
    np.testing.assert_allclose(feature.place(x), np.linspace(-1, 1, 41))


@pytest.mark.parametrize("x", [grid(0, 1, T), normal(0, 1, T), np.arange(T) % 5.0, np.arange(T) % 2.0])
def test_units_do_not_matter(x: FloatArray) -> None:
    first = fit_one(x).columns(x[:, np.newaxis]).values
    for factor, shift in [(2.0**-300, 0.0), (2.0**300, 0.0), (1e3, -5e3)]:
        y = (factor * x + shift)[:, np.newaxis]
        np.testing.assert_allclose(Encoding.fit(y).columns(y).values, first, atol=1e-9)


# ---- outliers, and values not seen ----


@pytest.mark.parametrize("x", [grid(0, 1, 30), normal(0, 1, 30)])
@pytest.mark.parametrize("outlier", [-1e9, 40.0, 1e300])
def test_one_outlier_moves_nothing(x: FloatArray, outlier: float) -> None:
    (clean,) = fit_one(x).features
    (spoilt,) = fit_one(np.append(x, outlier)).features
    assert isinstance(clean, Interval)
    assert spoilt == clean
    assert abs(clean.place(np.array([outlier]))[0]) == clean.limit


@pytest.mark.parametrize(
    ("levels", "unseen", "nearest"),
    [
        ([0.0, 1.0], [-3, 0.4, 0.5, 0.6, 2, 1e300], [0, 0, 0, 1, 1, 1]),  # a tie goes to the smaller
        ([0.0, 1.0, 10.0], [-1, 0.7, 5.4, 5.6, 99], [0, 1, 1, 10, 10]),
        ([-1e308, 1.0, 1.7e308], [-1.7e308, 0, 1.6e308], [-1e308, 1, 1.7e308]),
    ],
)
def test_an_unseen_level_counts_as_the_nearest(levels: list[float], unseen: list[float], nearest: list[float]) -> None:
    encoding = fit_one(np.array(levels * 5))
    found, expected = (encoding.columns(np.array(x, dtype=float)[:, np.newaxis]) for x in (unseen, nearest))
    np.testing.assert_array_equal(found.values, expected.values)


def test_neighboring_floats_are_different_levels() -> None:
    x = np.array([1.0, np.nextafter(1.0, 2.0)])
    np.testing.assert_array_equal(fit_one(x).columns(x[:, np.newaxis]).values[:, 0], [-1, 1])


def test_beyond_the_seen_range_the_end_counts() -> None:
    x = grid(10, 20, 41)
    encoding = fit_one(x)
    ends = encoding.columns([[x.min()], [x.max()]]).values
    np.testing.assert_allclose(encoding.columns([[-1e308], [1e308]]).values, ends)


def test_a_constant_feature_is_left_out_whatever_it_becomes() -> None:
    X = np.column_stack([np.ones(T), np.arange(T) % 2, np.zeros(T), np.arange(T) % 3])
    encoding = Encoding.fit(X)
    assert encoding.groups == (1, 3, 3)
    np.testing.assert_array_equal(encoding.columns(X).groups, [1, 3, 3])
    other = np.column_stack([np.full(T, -8.0), X[:, 1], np.arange(T), X[:, 3]])
    np.testing.assert_array_equal(encoding.columns(other).values, encoding.columns(X).values)


FLOATS = st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from([0.0, 1.0, 5e-324, 1e-323, 1.7e308])


@given(npst.arrays(np.float64, st.tuples(st.integers(1, 12), st.integers(1, 3)), elements=FLOATS), st.data())
def test_every_finite_number_is_encoded(X: FloatArray, data: st.DataObject) -> None:
    assume((X[0] != X).any())
    encoding = Encoding.fit(X)
    new = data.draw(npst.arrays(np.float64, (3, X.shape[1]), elements=FLOATS))
    for values in (X, new):
        columns = encoding.columns(values)  # which checks that they are finite
        assert columns.n == len(encoding.groups) == len(encoding.names())
    assert len(encoding.legend()) == X.shape[1]


# ---- names ----

MIXED = np.column_stack([np.arange(T) % 2, np.arange(T) % 4, np.linspace(18, 80, T), normal(0, 1, T), np.ones(T)])


def test_every_column_has_a_readable_name() -> None:
    encoding = Encoding.fit(MIXED)
    assert encoding.names(["smoker", "color", "age", "score", "year"]) == [
        *["smoker", "color~1", "color~2", "color~3"],
        *["age", "P2(age)", "P3(age)", "score", "He2(score)", "He3(score)"],
    ]
    assert encoding.names()[:2] == ["x0", "x1~1"]


def test_the_legend_says_what_names_stand_for() -> None:
    assert Encoding.fit(MIXED).legend(["smoker", "color", "age", "score", "year"]) == [
        "smoker: -1 if 0, +1 if 1",
        "color: contrasts of the 4 levels 0, 1, 2, 3",
        "age: Legendre polynomials, 18 to 80",
        "score: Hermite polynomials, -2.99 to 2.99",
        "year: constant, left out",
    ]


def test_an_encoding_is_a_value() -> None:
    encoding = Encoding.fit(MIXED)
    copy = pickle.loads(pickle.dumps(encoding))  # noqa: S301 - our own bytes
    assert copy == encoding == Encoding.fit(MIXED)
    assert encoding != Encoding.fit(MIXED + 1)
    np.testing.assert_array_equal(copy.columns(MIXED).values, encoding.columns(MIXED).values)
    assert isinstance(encoding.features[0], Levels)


# ---- errors ----


def test_something_must_vary() -> None:
    with pytest.raises(InputError, match=r"at least one feature of X must take more than one value, but all 3 are"):
        Encoding.fit(np.ones((5, 3)))
    with pytest.raises(InputError, match="in the 1 samples"):
        Encoding.fit([[1.0, 2.0]])


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_entries_must_be_finite(bad: float) -> None:
    X = np.array([[0.0, 1.0], [1.0, bad]])
    with pytest.raises(InputError, match=r"row 1, feature 1 is .*leave out or repair"):
        Encoding.fit(X)
    with pytest.raises(InputError, match="row 1, feature 1"):
        Encoding.fit([[0.0, 1.0], [1.0, 0.0]]).columns(X)


@pytest.mark.parametrize("X", [np.ones(3), np.ones((0, 2)), np.ones((2, 0)), np.ones((2, 2, 2))])
def test_X_must_be_a_matrix(X: FloatArray) -> None:  # noqa: N802
    with pytest.raises(InputError, match=r"X must be a \(T, p\) matrix"):
        Encoding.fit(X)


def test_new_data_must_have_the_same_features() -> None:
    with pytest.raises(InputError, match=r"2 features as the fitted data had, but the shape is \(2, 3\)"):
        Encoding.fit([[0.0, 1.0], [1.0, 0.0]]).columns(np.ones((2, 3)))


def test_there_is_one_name_a_feature() -> None:
    with pytest.raises(InputError, match=r"one name a feature \(5\) in `feature_names`, but got 2"):
        Encoding.fit(MIXED).names(["a", "b"])


@pytest.mark.parametrize("order", [0, -1, 2.0, True, "3"])
def test_the_order_is_a_whole_number(order: int) -> None:
    with pytest.raises(InputError, match="`order` must be a whole number >= 1"):
        Encoding.fit(MIXED, order)
