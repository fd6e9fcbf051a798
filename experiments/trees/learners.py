"""What learns the trees: sparse recovery, the low-degree algorithm, and scikit-learn's trees."""

from collections.abc import Callable
from typing import Any

import numpy as np

from overtone.spectral import recover
from overtone.spectral.monomials import FloatArray

Predictor = Callable[[FloatArray], FloatArray]
OURS, LOW_DEGREE = "sparse Fourier (recover)", "low degree"


def sparse_fourier(X: FloatArray, y: FloatArray) -> Predictor:
    return recover(X, y).polynomial


def low_degree(X: FloatArray, y: FloatArray) -> Predictor:
    from overtone.spectral.estimators import LowDegreeRegressor

    return _fitted(LowDegreeRegressor(degree=3), X, y)


def decision_tree(X: FloatArray, y: FloatArray) -> Predictor:
    from sklearn.model_selection import GridSearchCV
    from sklearn.tree import DecisionTreeRegressor

    return _fitted(GridSearchCV(DecisionTreeRegressor(random_state=0), {"max_leaf_nodes": [4, 8, 16, 32, 64]}), X, y)


def boosting(X: FloatArray, y: FloatArray) -> Predictor:
    from sklearn.ensemble import GradientBoostingRegressor

    return _fitted(GradientBoostingRegressor(random_state=0), X, y)


def _fitted(model: Any, X: FloatArray, y: FloatArray) -> Predictor:
    fitted = model.fit(X, y)
    return lambda points: np.asarray(fitted.predict(points))


LEARNERS: dict[str, Callable[[FloatArray, FloatArray], Predictor]] = {
    OURS: sparse_fourier,
    LOW_DEGREE: low_degree,
    "decision tree (CV size)": decision_tree,
    "gradient boosting": boosting,
}
