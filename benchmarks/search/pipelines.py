"""Pipelines of scikit-learn on its real data, small enough for a few milliseconds: options that depend on others."""

import warnings
from functools import partial
from typing import Any

import numpy as np
import sklearn
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_selection import SelectKBest, f_classif, f_regression
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import ElasticNet, Ridge, RidgeClassifier
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, PolynomialFeatures, StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from benchmarks.search.problem import Problem, Value
from overtone.space import Config, Space, boolean, choice, ordinal, real

SCALERS = {"none": FunctionTransformer, "standard": StandardScaler, "range": MinMaxScaler}
TRANSFORMS: dict[str, Any] = {"none": np.asarray, "square root": np.sqrt, "logarithm": np.log}
Data = tuple[Any, Any, Any, Any]  # X, y to train on; X, y to judge by


def _split(load: Any, n_train: int, n_test: int) -> Data:
    X, y = load(return_X_y=True)
    order = np.random.default_rng(51).permutation(len(X))
    train, test = order[:n_train], order[n_train : n_train + n_test]
    return X[train], y[train], X[test], y[test]


def _fitted(steps: list[Any], data: Data) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it did not converge is told by the score
        return make_pipeline(*steps).fit(*data[:2])


# digits


def digits_pipeline() -> Problem:
    """Preparation and classifier for 150 digits: error on 300 others, in percent."""
    space = Space(
        {
            "binarize": boolean(),
            "threshold": ordinal([2, 4, 6, 8], when={"binarize": True}),
            "square_root": boolean(),
            "scaler": choice(list(SCALERS)),
            "pca": boolean(),
            "components": ordinal([5, 10, 15, 20, 25, 30, 35, 40], when={"pca": True}),
            "whiten": boolean(when={"pca": True}),
            "model": choice(["neighbors", "svm", "ridge", "discriminant", "tree"]),
            "k": ordinal([1, 2, 3, 4, 5, 7, 9, 12], when={"model": "neighbors"}),
            "weights": choice(["uniform", "distance"], when={"model": "neighbors"}),
            "p": choice([1, 2], when={"model": "neighbors"}),
            "kernel": choice(["rbf", "poly", "linear"], when={"model": "svm"}),
            "C": real(0.01, 100, levels=8, log=True, when={"model": "svm"}),
            "gamma": real(1e-5, 1, log=True, when={"model": "svm", "kernel": ["rbf", "poly"]}),
            "alpha": real(0.001, 1000, log=True, when={"model": "ridge"}),
            "shrinkage": real(0.01, 0.99, when={"model": "discriminant"}),
            "depth": ordinal([3, 5, 7, 9], when={"model": "tree"}),
            "leaf": ordinal([1, 2, 4, 8], when={"model": "tree"}),
            "criterion": choice(["gini", "entropy"], when={"model": "tree"}),
        }
    )
    true = partial(_digits_error, _split(load_digits, 150, 300))
    return Problem("digits pipeline, % error", space, true, 150, is_real=True, is_slow=True, stamp=sklearn.__version__)


def _digits_error(data: Data, config: Config) -> float:
    X, y, X_test, y_test = data
    steps = [SCALERS[str(config["scaler"])](), _digits_model(config)]
    if config["pca"]:
        steps.insert(1, PCA(config["components"], whiten=config["whiten"], random_state=0))
    X, X_test = (_drawn(each, config) for each in (X, X_test))
    return 100 * float((_fitted(steps, (X, y, X_test, y_test)).predict(X_test) != y_test).mean())


def _drawn(X: Any, config: Config) -> Any:
    X = (config["threshold"] < X).astype(float) if config["binarize"] else X
    return np.sqrt(X) if config["square_root"] else X


def _digits_model(config: Config) -> Any:
    match config["model"]:
        case "neighbors":
            return KNeighborsClassifier(config["k"], weights=config["weights"], p=config["p"], algorithm="brute")
        case "svm":
            return SVC(kernel=config["kernel"], C=config["C"], gamma=config.get("gamma", 1.0), max_iter=2000)
        case "ridge":
            return RidgeClassifier(config["alpha"])
        case "discriminant":
            return LinearDiscriminantAnalysis(solver="lsqr", shrinkage=config["shrinkage"])
    return DecisionTreeClassifier(
        max_depth=config["depth"], min_samples_leaf=config["leaf"], criterion=config["criterion"], random_state=0
    )


# diabetes


def diabetes_pipeline() -> Problem:
    """Terms, selection and regressor for 150 patients: squared error on 292 others, in percent of the variance."""
    space = Space(
        {
            "terms": choice(["linear", "interactions", "squares"]),
            "scaler": choice(list(SCALERS)),
            "select": boolean(),
            "kept": ordinal([2, 3, 4, 5, 6, 7, 8, 10], when={"select": True}),
            "log_target": boolean(),
            "model": choice(["ridge", "elastic net", "neighbors", "kernel ridge", "svr", "tree"]),
            "penalty": real(1e-4, 100, levels=16, log=True, when={"model": ["ridge", "elastic net", "kernel ridge"]}),
            "l1_ratio": ordinal([0.05, 0.3, 0.6, 0.95], when={"model": "elastic net"}),
            "k": ordinal([3, 5, 8, 12, 17, 23, 30, 40], when={"model": "neighbors"}),
            "weights": choice(["uniform", "distance"], when={"model": "neighbors"}),
            "kernel": choice(["rbf", "laplacian", "poly"], when={"model": "kernel ridge"}),
            "C": real(0.01, 100, levels=8, log=True, when={"model": "svr"}),
            "epsilon": ordinal([0.01, 0.1, 0.3, 0.6], when={"model": "svr"}),
            "gamma": real(1e-3, 1, levels=8, log=True, when={"model": ["kernel ridge", "svr"]}),
            "leaf": ordinal([2, 5, 10, 20], when={"model": "tree"}),
            "depth": ordinal([2, 3, 5, 8], when={"model": "tree"}),
        }
    )
    true = partial(_diabetes_error, _split(load_diabetes, 150, 292))
    return Problem(
        "diabetes pipeline, % error", space, true, 150, is_real=True, is_slow=True, stamp=sklearn.__version__
    )


def _diabetes_error(data: Data, config: Config) -> float:
    X, y, X_test, y_test = data
    target = np.log(y) if config["log_target"] else y
    mean, spread = target.mean(), target.std()
    steps: list[Any] = [StandardScaler()]  # the file's own scale is far too small for any model
    if config["terms"] != "linear":
        steps.append(PolynomialFeatures(2, interaction_only=config["terms"] == "interactions", include_bias=False))
    steps.append(SCALERS[str(config["scaler"])]())
    if config["select"]:
        steps.append(SelectKBest(f_regression, k=config["kept"]))
    guess = _fitted([*steps, _regressor(config)], (X, (target - mean) / spread, X_test, y_test)).predict(X_test)
    guess = mean + spread * np.clip(guess, -5, 5)
    return 100 * float((((np.exp(guess) if config["log_target"] else guess) - y_test) ** 2).mean() / y_test.var())


def _regressor(config: Config) -> Any:
    match config["model"]:
        case "ridge":
            return Ridge(config["penalty"])
        case "elastic net":
            return ElasticNet(config["penalty"], l1_ratio=config["l1_ratio"], max_iter=500)
        case "neighbors":
            return KNeighborsRegressor(config["k"], weights=config["weights"], algorithm="brute")
        case "kernel ridge":
            return KernelRidge(alpha=config["penalty"], kernel=config["kernel"], gamma=config["gamma"], coef0=1)
        case "svr":
            return SVR(C=config["C"], epsilon=config["epsilon"], gamma=config["gamma"], max_iter=2000)
    return DecisionTreeRegressor(max_depth=config["depth"], min_samples_leaf=config["leaf"], random_state=0)


# a space with forbidden combinations, and with others that crash


def crashing_pipeline() -> Problem:
    """Classifiers for 150 tumours in which scikit-learn refuses some combinations: error on 400 others, in percent.

    One refusal is known beforehand and forbidden; the others are found out by a crash.
    """
    space = Space(
        {
            "transform": choice(["none", "square root", "logarithm"]),  # of numbers of which some are 0: not finite
            "scaler": choice(list(SCALERS)),
            "select": boolean(),
            "kept": ordinal([6, 9, 12, 15], when={"select": True}),
            "pca": boolean(),
            "components": ordinal([2, 4, 7, 10], when={"pca": True}),  # more than are kept: refused
            "model": choice(["linear svm", "multinomial", "gaussian", "neighbors"]),
            "penalty": choice(["l1", "l2"], when={"model": "linear svm"}),
            "loss": choice(["hinge", "squared_hinge"], when={"model": "linear svm"}),
            "dual": boolean(when={"model": "linear svm"}),
            "C": real(0.001, 100, levels=8, log=True, when={"model": "linear svm"}),
            "alpha": real(0.01, 10, levels=8, log=True, when={"model": "multinomial"}),  # refuses negative numbers
            "smoothing": real(1e-9, 1, levels=8, log=True, when={"model": "gaussian"}),
            "k": ordinal([1, 3, 5, 9], when={"model": "neighbors"}),
            "metric": choice(["euclidean", "manhattan", "cosine"], when={"model": "neighbors"}),
            **{f"leave_out_{i}": boolean() for i in range(10)},  # groups of three measurements
        },
        forbid=[{"penalty": "l1", "loss": "hinge"}],
    )
    true = partial(_tumour_error, _split(load_breast_cancer, 150, 400))
    return Problem(
        "crashing pipeline, % error", space, true, 150, is_real=True, is_slow=True, stamp=sklearn.__version__
    )


def _tumour_error(data: Data, config: Config) -> Value:
    X, y, X_test, y_test = data
    kept = [j for j in range(X.shape[1]) if not config[f"leave_out_{j // 3}"]]
    X, X_test = X[:, kept], X_test[:, kept]
    with np.errstate(divide="ignore"):
        X, X_test = (TRANSFORMS[str(config["transform"])](each) for each in (X, X_test))
    steps = [SCALERS[str(config["scaler"])]()]
    steps += [SelectKBest(f_classif, k=config["kept"])] if config["select"] else []
    steps += [PCA(config["components"], random_state=0)] if config["pca"] else []
    try:
        model = _fitted([*steps, _tumour_model(config)], (X, y, X_test, y_test))
        return 100 * float((model.predict(X_test) != y_test).mean())
    except ValueError:
        return None


def _tumour_model(config: Config) -> Any:
    match config["model"]:
        case "linear svm":
            options = {name: config[name] for name in ("penalty", "loss", "dual", "C")}
            return LinearSVC(**options, max_iter=300, random_state=0)
        case "multinomial":
            return MultinomialNB(alpha=config["alpha"])
        case "gaussian":
            return GaussianNB(var_smoothing=config["smoothing"])
    return KNeighborsClassifier(config["k"], metric=config["metric"], algorithm="brute")
