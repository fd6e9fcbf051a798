"""Which features, prototypes or trees to keep: subset selection on scikit-learn's real data sets, judged exactly."""

from functools import partial

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.tree import DecisionTreeClassifier

from benchmarks.search.problem import Problem, bits, switches
from overtone.space import Config, Space, choice
from overtone.spectral.monomials import FloatArray


def diabetes_features() -> Problem:
    """Which of 64 linear, squared and mixed terms to regress on: leave-one-out error, in percent of the variance."""
    X, y = load_diabetes(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    first, second = np.triu_indices(X.shape[1])
    terms = X[:, first] * X[:, second]
    terms = terms[:, (first != second) | (first != 1)]  # the square of a column of two values is that column
    terms = np.hstack([X, (terms - terms.mean(axis=0)) / terms.std(axis=0)])
    true = partial(_regression, terms, (y - y.mean()) / y.std())
    return Problem("diabetes features, % error", switches(terms.shape[1]), true, 300, is_real=True)


def _regression(X: FloatArray, y: FloatArray, config: Config) -> float:
    return 100 * float((_left_out(X[:, bits(config)], y) ** 2).mean())


def _left_out(X: FloatArray, y: FloatArray) -> FloatArray:
    """Errors of least squares on all other rows: e_i / (1 - h_i); a little ridge keeps it solvable.  # (T,)"""
    A = np.hstack([np.ones((len(X), 1)), X])
    inverse = np.linalg.inv(A.T @ A + 1e-6 * np.eye(A.shape[1]))
    hat = np.einsum("ij,jk,ik->i", A, inverse, A, optimize=True)
    return np.asarray((y - A @ (inverse @ (A.T @ y))) / (1 - hat))


def cancer_features() -> Problem:
    """Leave out each of 30 measurements of a tumour, take it, or take its logarithm: leave-one-out error, in percent.

    Each measurement that is taken costs 0.02.
    """
    X, y = load_breast_cancer(return_X_y=True)
    forms = {"as it is": _standard(X), "logarithm": _standard(np.log(X + 0.01))}
    space = Space({f"measurement_{i:02}": choice(["out", *forms]) for i in range(X.shape[1])})
    true = partial(_classification, forms, 2.0 * y - 1)
    return Problem("cancer features, % error", space, true, 300, is_real=True)


def _standard(X: FloatArray) -> FloatArray:
    return np.asarray((X - X.mean(axis=0)) / X.std(axis=0))


def _classification(forms: dict[str, FloatArray], y: FloatArray, config: Config) -> float:
    taken = [forms[str(form)][:, i] for i, form in enumerate(config.values()) if form != "out"]
    columns = np.array(taken).reshape(len(taken), len(y)).T
    wrong = np.abs(_left_out(columns, y)) > 1  # the sign of the prediction is another one: |y - g| > 1 for y = +-1
    return 100 * float(wrong.mean()) + 0.02 * len(taken)


def prototypes() -> Problem:
    """Which of 60 digits to keep as prototypes of a nearest-neighbor classifier: error in percent, 0.1 for each."""
    X, y = load_digits(return_X_y=True)
    kept, others = slice(0, 60), slice(60, 760)
    distances = ((X[others, None, :] - X[None, kept, :]) ** 2).sum(axis=2)
    true = partial(_nearest, distances, y[kept], y[others])
    return Problem("digit prototypes, % error", switches(60), true, 300, is_real=True)


def _nearest(distances: FloatArray, mine: FloatArray, theirs: FloatArray, config: Config) -> float:
    kept = np.flatnonzero(bits(config))
    if not len(kept):
        return 100.0
    guess = mine[kept[distances[:, kept].argmin(axis=1)]]
    return 100 * float((guess != theirs).mean()) + 0.1 * len(kept)


def ensemble() -> Problem:
    """Which of 50 decision trees to keep in a vote over digits: error in percent, 0.05 for each tree."""
    X, y = load_digits(return_X_y=True)
    rng = np.random.default_rng(41)
    votes = []
    for i in range(50):
        rows = rng.integers(0, 600, 300)
        tree = DecisionTreeClassifier(max_depth=5, max_features=8, random_state=i).fit(X[rows], y[rows])
        votes.append(tree.predict(X[600:1400])[:, None] == np.arange(10))
    true = partial(_vote, np.array(votes, dtype=np.float32), y[600:1400])
    return Problem("ensemble pruning, % error", switches(50), true, 300, is_real=True)


def _vote(votes: FloatArray, y: FloatArray, config: Config) -> float:
    kept = bits(config)
    guess = np.tensordot(kept.astype(np.float32), votes, 1).argmax(axis=1)  # (V, 10) -> (V,)
    return 100 * float((guess != y).mean()) + 0.05 * int(kept.sum())
