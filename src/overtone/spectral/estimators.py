"""Recovery in scikit-learn's form: a regressor, a classifier (the paper's decision trees), and the baseline.

X is any table of numbers: `Encoding` learns an orthonormal family for each feature. Features should be about
independent, as in the paper; where they are not, coefficients and importances share what belongs to several.
"""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from overtone.spectral.columns import Columns
from overtone.spectral.encoding import Encoding
from overtone.spectral.low_degree import low_degree
from overtone.spectral.monomials import FloatArray
from overtone.spectral.polynomial import Polynomial
from overtone.spectral.recovery import Recovery, recover


class _PolynomialRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """What has an `encoding_` and a `polynomial_` after `fit`."""

    encoding_: Encoding
    polynomial_: Polynomial

    def predict(self, X: ArrayLike) -> FloatArray:
        """The polynomial at every row of X.  # (T,)"""
        columns = _columns(self, X)
        return self.polynomial_(columns)

    def to_text(self, digits: int = 3) -> str:
        """The polynomial in the names of the features; `encoding_.legend` says what they stand for."""
        check_is_fitted(self)
        return _text(self, self.polynomial_, digits)


class SparseFourierRegressor(_PolynomialRegressor):
    """A sparse polynomial of low degree over orthonormal columns, by `recover`.

    degree: how many features a monomial may join, at most; automatic if None.
    sparsity: how many monomials there are; automatic if None.
    l1_penalty: of the Lasso, on the 1/(2T) scale; automatic if None.

    After `fit`: `polynomial_`, `recovery_` (with its verdict), `encoding_`, `n_features_in_`, `feature_names_in_` (if X
    had names) and `feature_importances_`, the total Sobol share of each feature, made to sum to 1.
    """

    def __init__(self, degree: int | None = None, sparsity: int | None = None, l1_penalty: float | None = None) -> None:
        self.degree = degree
        self.sparsity = sparsity
        self.l1_penalty = l1_penalty

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn the encoding, then recover the polynomial."""
        X, y = _checked(self, X, y, y_numeric=True)
        self.encoding_ = Encoding.fit(X)
        self.recovery_ = _recover(self, self.encoding_.columns(X), y)
        self.polynomial_ = self.recovery_.polynomial
        self.feature_importances_ = _importances(self.encoding_, [self.polynomial_])
        return self


class SparseFourierClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The sign of a sparse polynomial that is recovered from labels -1 and +1: the paper's way to learn decision trees.

    If E[(g - f)^2] <= eps then sign(g) errs with a probability of at most eps. More than two classes are learned one
    against the rest, and the largest polynomial wins. There is no `predict_proba`: a polynomial is no probability.

    degree, sparsity, l1_penalty: as in `SparseFourierRegressor`.

    After `fit`: `classes_`, `polynomials_` and `recoveries_` (one a class, but a single one, for the second class, if
    there are two), `encoding_`, `n_features_in_`, `feature_names_in_` and `feature_importances_`.
    """

    def __init__(self, degree: int | None = None, sparsity: int | None = None, l1_penalty: float | None = None) -> None:
        self.degree = degree
        self.sparsity = sparsity
        self.l1_penalty = l1_penalty

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn the encoding, then recover a polynomial for each class."""
        X, y = _checked(self, X, y)
        check_classification_targets(y)
        self.classes_ = np.unique(y)
        self.encoding_ = Encoding.fit(X)
        columns = self.encoding_.columns(X)
        signs = [np.where(y == label, 1.0, -1.0) for label in self._polynomial_classes()]
        self.recoveries_ = [_recover(self, columns, sign) for sign in signs]
        self.polynomials_ = [recovery.polynomial for recovery in self.recoveries_]
        self.feature_importances_ = _importances(self.encoding_, self.polynomials_)
        return self

    def decision_function(self, X: ArrayLike) -> FloatArray:
        """The polynomials at every row of X: that of the second class (T,) if there are two, else (T, classes)."""
        columns = _columns(self, X)
        values = [polynomial(columns) for polynomial in self.polynomials_]
        return values[0] if len(values) == 1 else np.stack(values, axis=1)

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The class of every row of X.  # (T,)"""
        g = self.decision_function(X)
        chosen = np.where(g > 0, len(self.classes_) - 1, 0) if g.ndim == 1 else g.argmax(axis=1)
        return np.asarray(self.classes_[chosen])

    def to_text(self, digits: int = 3) -> str:
        """A line for each polynomial, 'class: polynomial', in the names of the features."""
        check_is_fitted(self)
        pairs = zip(self._polynomial_classes(), self.polynomials_, strict=True)
        return "\n".join(f"{label}: {_text(self, polynomial, digits)}" for label, polynomial in pairs)

    def _polynomial_classes(self) -> NDArray[Any]:
        """The class that each polynomial speaks for."""
        classes: NDArray[Any] = self.classes_
        return classes[-1:] if len(classes) <= 2 else classes


class LowDegreeRegressor(_PolynomialRegressor):
    """The baseline: each coefficient estimated alone by an empirical mean, see `low_degree`. y is centred before.

    degree: how many features a monomial may join, at most.
    threshold: smaller coefficients are dropped; what chance reaches if None; 0 keeps all.

    After `fit`: `polynomial_`, `threshold_`, `encoding_`, `n_features_in_`, `feature_names_in_` and
    `feature_importances_`.
    """

    def __init__(self, degree: int = 2, threshold: float | None = None) -> None:
        self.degree = degree
        self.threshold = threshold

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn the encoding, then estimate the coefficients."""
        X, y = _checked(self, X, y, y_numeric=True)
        self.encoding_ = Encoding.fit(X)
        columns = self.encoding_.columns(X)
        center = float(y.mean() if np.ptp(y) else y[0])  # equal values less their mean may leave rounding errors
        fitted = low_degree(columns, y - center, _capped(self.degree, columns), threshold=self.threshold)
        self.threshold_ = fitted.threshold
        self.polynomial_ = Polynomial({**fitted.polynomial.terms, (): center}, columns.n)
        self.feature_importances_ = _importances(self.encoding_, [self.polynomial_])
        return self


def _checked(estimator: Any, X: ArrayLike, y: ArrayLike, *, y_numeric: bool = False) -> tuple[FloatArray, NDArray[Any]]:
    """scikit-learn's own checks; they set `n_features_in_` and `feature_names_in_`."""
    checked: tuple[FloatArray, NDArray[Any]] = validate_data(
        estimator, X, y, dtype=np.float64, y_numeric=y_numeric, ensure_min_samples=2
    )
    return checked


def _recover(estimator: SparseFourierRegressor | SparseFourierClassifier, columns: Columns, y: FloatArray) -> Recovery:
    degree = None if estimator.degree is None else _capped(estimator.degree, columns)
    return recover(columns, y, degree=degree, sparsity=estimator.sparsity, l1_penalty=estimator.l1_penalty)


def _capped(degree: int, columns: Columns) -> int:
    """A degree above the number of features allows no more monomials than that number does."""
    is_whole = isinstance(degree, int | np.integer) and not isinstance(degree, bool)
    return min(degree, columns.n_groups) if is_whole else degree  # what is no degree is refused further down


def _columns(estimator: Any, X: ArrayLike) -> Columns:
    """The columns of new data, checked against the data of `fit`."""
    check_is_fitted(estimator)
    encoding: Encoding = estimator.encoding_
    return encoding.columns(validate_data(estimator, X, dtype=np.float64, reset=False))


def _text(estimator: Any, polynomial: Polynomial, digits: int) -> str:
    names = getattr(estimator, "feature_names_in_", None)
    encoding: Encoding = estimator.encoding_
    return polynomial.to_text(encoding.names(names), digits)


def _importances(encoding: Encoding, polynomials: Sequence[Polynomial]) -> FloatArray:
    """The variance of all polynomials that hangs on each feature, as shares that sum to 1, or 0.  # (p,)"""
    totals = np.zeros(len(encoding.features))
    largest = max((abs(a) for polynomial in polynomials for _, a in polynomial), default=1.0)
    for polynomial in polynomials:
        variance = sum((a / largest) ** 2 for _, a in polynomial)
        for row in polynomial.importance(encoding.groups):
            totals[row.group] += variance * row.total
    return totals / (totals.sum() or 1.0)
