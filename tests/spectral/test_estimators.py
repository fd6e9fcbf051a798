import os
import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from overtone.errors import InputError
from overtone.spectral.estimators import LowDegreeRegressor, SparseFourierClassifier, SparseFourierRegressor
from overtone.spectral.monomials import FloatArray, Monomial, products

ESTIMATORS = [SparseFourierRegressor, SparseFourierClassifier, LowDegreeRegressor]
REGRESSORS = [SparseFourierRegressor, LowDegreeRegressor]
Tree = list[tuple[dict[int, int], int]]  # the path to each leaf, and its label


# ---- scikit-learn's own checks: none is expected to fail ----


@parametrize_with_checks([make() for make in ESTIMATORS])  # type: ignore[untyped-decorator]
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:
    check(estimator)


ARRAY_API = """
from sklearn.utils.estimator_checks import estimator_checks_generator
from overtone.spectral.estimators import LowDegreeRegressor, SparseFourierClassifier, SparseFourierRegressor
for make in (SparseFourierRegressor, SparseFourierClassifier, LowDegreeRegressor):
    for estimator, check in estimator_checks_generator(make()):
        if "array_api" in check.func.__name__:
            check(estimator)
    print("passed")
"""


def test_the_one_check_that_needs_a_variable_of_the_environment() -> None:
    """It is skipped above, as it is for every estimator: scipy reads the variable when it is imported."""
    environment = {**os.environ, "SCIPY_ARRAY_API": "1"}
    run = subprocess.run([sys.executable, "-c", ARRAY_API], env=environment, capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["passed"] * 3


def test_the_engine_does_not_import_scikit_learn() -> None:
    code = "import sys, overtone.spectral; print('sklearn' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"


# ---- what is learned ----


def switches(T: int, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    names = ["batch_norm", "dropout", "augment", "nesterov", "warmup", *(f"other_{i}" for i in range(15))]
    return pd.DataFrame(rng.integers(0, 2, (T, len(names))), columns=names)


def planted(X: pd.DataFrame) -> FloatArray:
    """60 + 8 bn - 4 augment*dropout + 2 nesterov*warmup*bn, over -1 and +1."""
    x: dict[str, FloatArray] = {name: 2.0 * X[name].to_numpy() - 1 for name in X}
    both = x["dropout"] * x["augment"]
    return 60 + 8 * x["batch_norm"] - 4 * both + 2 * x["batch_norm"] * x["nesterov"] * x["warmup"]


def test_a_planted_polynomial_is_found_and_named() -> None:
    X = switches(150)
    noise = 0.3 * np.random.default_rng(1).standard_normal(150)
    model = SparseFourierRegressor().fit(X, planted(X) + noise)
    assert model.to_text(digits=1) == "6e+01 + 8*batch_norm - 4*dropout*augment + 2*batch_norm*nesterov*warmup"
    assert model.to_text() == model.polynomial_.to_text(list(X))  # one column a feature
    assert (model.recovery_.verdict, model.recovery_.degree) == ("ok", 3)
    assert list(model.feature_names_in_) == list(X)
    new = switches(500, seed=7)
    np.testing.assert_allclose(model.predict(new), planted(new), atol=0.4)


def test_importances_are_total_sobol_shares() -> None:
    X = switches(150)
    model = SparseFourierRegressor().fit(X, planted(X))
    shares = dict(zip(X, model.feature_importances_, strict=True))
    totals = {"batch_norm": 64 + 4, "dropout": 16, "augment": 16, "nesterov": 4, "warmup": 4}
    expected = {name: totals.get(name, 0) / sum(totals.values()) for name in X}
    assert shares == pytest.approx(expected, abs=1e-9)


def mixed(T: int, seed: int) -> tuple[pd.DataFrame, FloatArray]:
    """Whether age matters, and how, hangs on two other features."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "smoker": rng.integers(0, 2, T),
            "region": rng.integers(0, 5, T),
            "age": rng.uniform(20, 80, T),
            "score": rng.normal(100, 15, T),
            "constant": 1.0,
        }
    )
    sign = np.where(X["region"] == 3, 1.0, -1.0) * (2 * X["smoker"] - 1)
    y = 5 + 3 * sign * (X["age"] - 50) / 30 + 0.05 * X["score"] + 0.3 * rng.standard_normal(T)
    return X, y.to_numpy()


def test_mixed_data_with_an_interaction_beats_a_linear_regression() -> None:
    X, y = mixed(500, seed=0)
    new, truth = mixed(500, seed=1)
    model = SparseFourierRegressor().fit(X, y)
    score, linear = model.score(new, truth), LinearRegression().fit(X, y).score(new, truth)
    assert score > 0.9 > 0.3 > linear
    assert [f and f.family.name for f in model.encoding_.features] == [
        *["parity", "contrasts", "legendre", "hermite", None]
    ]
    assert model.feature_importances_[4] == 0
    assert "smoker*region~" in model.to_text()


def random_tree(rng: np.random.Generator, n: int, n_leaves: int) -> Tree:
    """Leaves are split at random, on a variable that is new on their path; half of them have the label 1."""
    paths: list[dict[int, int]] = [{}]
    while len(paths) < n_leaves:
        path = paths.pop(int(rng.integers(len(paths))))
        variable = int(rng.choice([v for v in range(n) if v not in path]))
        paths += [{**path, variable: side} for side in (0, 1)]
    return list(zip(paths, rng.permutation(np.arange(n_leaves) % 2).tolist(), strict=True))


def labels(tree: Tree, X: NDArray[Any]) -> NDArray[Any]:
    y = np.zeros(len(X), dtype=int)
    for path, label in tree:
        y[np.all([X[:, variable] == side for variable, side in path.items()], axis=0)] = label
    return y


@pytest.mark.parametrize(("seed", "flipped", "error"), [(1, 0.0, 0.0), (3, 0.0, 0.0), (2, 0.1, 0.1)])
def test_decision_trees_are_learned(seed: int, flipped: float, error: float) -> None:
    """The paper's corollary: 20 variables, 8 leaves, 600 samples; with noise in the labels too."""
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, n=20, n_leaves=8)
    X, new = rng.integers(0, 2, (600, 20)), rng.integers(0, 2, (4000, 20))
    y, truth = labels(tree, X), labels(tree, new)
    noisy = np.where(rng.random(600) < flipped, 1 - y, y)
    model = SparseFourierClassifier().fit(X, noisy)
    dummy = 1 - DummyClassifier().fit(X, noisy).score(new, truth)
    assert 1 - model.score(new, truth) <= error < 0.3 < dummy
    variables = {variable for path, _ in tree for variable in path}
    if not flipped:
        assert {v for v in range(20) if model.feature_importances_[v] > 0} <= variables
    assert model.to_text().startswith("1: ")


def test_more_than_two_classes_are_learned_one_against_the_rest() -> None:
    rng = np.random.default_rng(0)
    X, new = rng.integers(0, 2, (300, 8)), rng.integers(0, 2, (300, 8))
    names = np.array(["cat", "dog", "emu", "emu"])  # sorted, as classes_ is
    y, truth = names[2 * X[:, 0] + X[:, 1]], names[2 * new[:, 0] + new[:, 1]]
    model = SparseFourierClassifier().fit(X, y)
    assert list(model.classes_) == ["cat", "dog", "emu"]
    assert model.score(new, truth) == 1
    decision = model.decision_function(new)
    assert decision.shape == (300, 3)
    np.testing.assert_array_equal(model.classes_[decision.argmax(axis=1)], model.predict(new))
    assert len(model.polynomials_) == len(model.recoveries_) == 3
    lines = model.to_text().splitlines()
    assert [line.split(":")[0] for line in lines] == ["cat", "dog", "emu"]
    assert lines[2].endswith("1*x0")
    assert model.feature_importances_[:2].sum() == pytest.approx(1)
    assert model.feature_importances_[0] > model.feature_importances_[1]


def test_two_classes_have_one_polynomial_for_the_second() -> None:
    X = switches(100)
    y = np.where(X["dropout"] == X["augment"], "yes", "no")
    model = SparseFourierClassifier().fit(X, y)
    assert model.polynomials_[0].terms[(1, 2)] == pytest.approx(1)
    assert model.to_text().startswith("yes: ")
    assert model.to_text().endswith("1*dropout*augment")
    assert model.decision_function(X).shape == (100,)
    np.testing.assert_array_equal(model.predict(X), y)
    assert not hasattr(model, "predict_proba")


def test_one_class_is_always_predicted() -> None:
    X = switches(20)
    model = SparseFourierClassifier().fit(X, ["only"] * 20)
    assert set(model.predict(switches(20, seed=1))) == {"only"}


@pytest.mark.parametrize("make", REGRESSORS)
def test_constant_values_are_always_predicted(make: Any) -> None:
    model = make().fit(switches(20), np.full(20, 0.1))
    np.testing.assert_array_equal(model.predict(switches(20, seed=1)), np.full(20, 0.1))
    np.testing.assert_array_equal(model.feature_importances_, np.zeros(20))
    assert model.to_text() == "0.1"


def test_the_baseline_is_the_empirical_means_of_centred_values() -> None:
    X = switches(80).iloc[:, :6]
    y = planted(switches(80))
    model = LowDegreeRegressor(degree=2, threshold=0.0).fit(X, y)
    pairs: list[Monomial] = [(i, j) for i in range(6) for j in range(i)]
    monomials: list[Monomial] = [*((i,) for i in range(6)), *(tuple(sorted(pair)) for pair in pairs)]
    means = products(2.0 * X.to_numpy() - 1, monomials).T @ (y - y.mean()) / len(y)
    assert dict(model.polynomial_.terms) == pytest.approx({(): y.mean(), **dict(zip(monomials, means, strict=True))})
    assert model.threshold_ == 0


def test_the_baseline_finds_large_coefficients() -> None:
    X = switches(1000)
    model = LowDegreeRegressor(degree=3).fit(X, planted(X))
    names = ["batch_norm", "dropout*augment", "batch_norm*nesterov*warmup"]
    assert [part.split("*", 1)[1] for part in model.to_text().replace(" - ", " + ").split(" + ")[1:]] == names
    assert model.score(X, planted(X)) > 0.95


# ---- parameters, and life among other estimators ----


@pytest.mark.parametrize("make", ESTIMATORS)
def test_a_degree_above_the_number_of_features_is_that_number(make: Any) -> None:
    X = switches(60).iloc[:, :2]
    y = np.where(X["batch_norm"] + X["dropout"] == 1, 1, 0)
    assert make(degree=5).fit(X, y).to_text() == make(degree=2).fit(X, y).to_text()


def test_degree_sparsity_and_penalty_are_those_of_recover() -> None:
    X = switches(150)
    model = SparseFourierRegressor(degree=2, sparsity=2, l1_penalty=0.1).fit(X, planted(X))
    assert (model.recovery_.degree, model.recovery_.sparsity, model.recovery_.l1_penalty) == (2, 2, 0.1)


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        ({"degree": 0}, "1 <= degree <= 20"),
        ({"degree": 1.5}, "`degree` must be a whole number"),
        ({"degree": True}, "`degree` must be a whole number"),
        ({"sparsity": 0}, "`sparsity` must be a whole number >= 1"),
    ],
)
@pytest.mark.parametrize("make", [SparseFourierRegressor, SparseFourierClassifier])
def test_parameters_are_checked_by_fit(make: Any, parameters: dict[str, Any], text: str) -> None:
    X = switches(30)
    with pytest.raises(InputError, match=text):
        make(**parameters).fit(X, X["dropout"])


def test_in_a_pipeline_and_a_search() -> None:
    X = switches(100)
    search = GridSearchCV(
        make_pipeline(StandardScaler(), SparseFourierRegressor()),
        {"sparsefourierregressor__degree": [1, 2], "sparsefourierregressor__sparsity": [2, None]},
        cv=3,
    )
    search.fit(X, planted(X))
    assert search.best_params_["sparsefourierregressor__degree"] == 2
    assert search.best_score_ > 0.9


@pytest.mark.parametrize("make", ESTIMATORS)
def test_clones_and_pickles(make: Any) -> None:
    X = switches(60)
    y = X["dropout"]
    model = make(degree=1).fit(X, y)
    assert clone(model).get_params() == model.get_params()
    copy = pickle.loads(pickle.dumps(model))  # noqa: S301 - our own bytes
    np.testing.assert_array_equal(copy.predict(X), model.predict(X))
    assert copy.to_text() == model.to_text()


def test_a_level_that_a_fold_has_not_seen_is_no_error() -> None:
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 2, (60, 4)), rng.integers(0, 3, 60)])
    X[7, 0], X[21, 4] = 2, 5  # seen once
    y = X[:, 1] * X[:, 2] + 0.1 * rng.standard_normal(60)
    scores = cross_val_score(SparseFourierRegressor(degree=2), X, y, error_score="raise")
    assert scores.min() > 0.8


@pytest.mark.parametrize("dtype", ["bool", "int8", "float32", "Int64", "boolean"])
def test_the_types_of_pandas(dtype: str) -> None:
    X = switches(60).iloc[:, :6]
    X_typed = X.astype(dtype)
    model = SparseFourierRegressor(degree=1).fit(X_typed, X["dropout"])
    assert model.to_text() == "0.5 + 0.5*dropout"


# ---- what cannot be used, and what is odd but can ----


@pytest.mark.parametrize("make", ESTIMATORS)
def test_something_must_vary(make: Any) -> None:
    with pytest.raises(InputError, match="at least one feature of X must take more than one value"):
        make().fit(np.ones((10, 3)), np.arange(10) % 2)


@pytest.mark.parametrize("make", ESTIMATORS)
def test_a_single_constant_feature_is_ignored(make: Any) -> None:
    X = switches(60)
    y = X["dropout"]
    with_constant = X.assign(dropout=1.0, again=y)
    model = make(degree=1).fit(with_constant, y)
    new = with_constant.assign(dropout=0.0)
    np.testing.assert_array_equal(model.predict(new), model.predict(with_constant))
    assert "again" in model.to_text()


@pytest.mark.parametrize("make", ESTIMATORS)
@pytest.mark.parametrize(("bad", "text"), [(np.nan, "NaN"), (np.inf, "infinity")])
def test_missing_and_infinite_entries_are_refused_in_the_words_of_scikit_learn(
    make: Any, bad: float, text: str
) -> None:
    X = switches(20).astype(float)
    y = X["dropout"].copy()
    spoilt = X.copy()
    spoilt.iloc[3, 2] = bad
    with pytest.raises(ValueError, match=f"Input X contains {text}"):
        make().fit(spoilt, y)
    with pytest.raises(ValueError, match=f"Input X contains {text}"):
        make(degree=1).fit(X, y).predict(spoilt)
    y.iloc[3] = bad
    with pytest.raises(ValueError, match=f"Input y contains {text}"):
        make().fit(X, y)


@pytest.mark.parametrize("make", ESTIMATORS)
def test_nothing_works_before_fit(make: Any) -> None:
    with pytest.raises(NotFittedError):
        make().predict(switches(3))
    with pytest.raises(NotFittedError):
        make().to_text()


def odd_data() -> list[tuple[str, FloatArray]]:
    rng = np.random.default_rng(0)
    x = rng.standard_normal(12)
    binary = np.arange(12) % 2.0
    return [
        ("two samples", np.array([[0.0, 1.0], [1.0, 1.0]])),
        ("three samples", rng.standard_normal((3, 4))),
        ("more features than samples", rng.standard_normal((5, 9))),
        ("the same feature three times", np.column_stack([x, x, x])),
        ("collinear", np.column_stack([x, 1 - 2 * x, x])),
        ("the same switch and its opposite", np.column_stack([binary, 1 - binary, binary])),
        ("one sample stands out", np.column_stack([np.eye(12)[0], np.eye(12)[0], binary])),
        ("very large and very small", np.column_stack([1e300 * x, 1e-300 * x])),
    ]


@pytest.mark.parametrize("make", ESTIMATORS)
@pytest.mark.parametrize(("what", "X"), odd_data(), ids=[what for what, _ in odd_data()])
def test_odd_data_are_no_error(make: Any, what: str, X: FloatArray) -> None:
    rng = np.random.default_rng(1)
    targets = [np.arange(len(X)) % 2, np.eye(len(X))[0].astype(int), (X[:, 0] > np.median(X[:, 0])).astype(int)]
    if make is not SparseFourierClassifier:
        targets.append(rng.standard_normal(len(X)))
    for y in targets:
        predicted = make().fit(X, y).predict(X)
        assert predicted.shape == (len(X),), what
        assert np.isfinite(predicted).all()
