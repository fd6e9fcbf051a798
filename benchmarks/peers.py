"""What the recovery is compared with: the Lasso by cross-validation, and orthogonal matching pursuit.

At n=200 there are 1.3 million monomials of degree <= 3, so scikit-learn's own classes do not get far. Both methods
are redone here over the matrix-free dictionary: same objective, same answer (a test compares them with scikit-learn).
"""

import numpy as np

from overtone.spectral.columns import Columns
from overtone.spectral.correlation import Dictionary
from overtone.spectral.lasso import largest_penalty, solve_lasso, solve_lasso_path
from overtone.spectral.monomials import FloatArray, Monomial, products
from overtone.spectral.polynomial import Polynomial


def lasso_cv(
    points: FloatArray,
    values: FloatArray,
    degree: int = 3,
    *,
    n_penalties: int = 10,
    lowest: float = 0.06,
    folds: int = 3,
) -> Polynomial:
    """LassoCV: the penalty of a geometric path with the least squared error on contiguous held-out folds."""
    top = largest_penalty(points, values, degree)
    penalties = np.geomspace(top, lowest * top, n_penalties)
    errors = np.zeros(n_penalties)
    for unseen in np.array_split(np.arange(len(values)), folds):
        seen = np.setdiff1d(np.arange(len(values)), unseen)
        fits = solve_lasso_path(points[seen], values[seen], degree, penalties.tolist(), tolerance=1e-3)
        errors += [((values[unseen] - fit.polynomial(points[unseen])) ** 2).mean() for fit in fits]
    best = float(penalties[int(np.argmin(errors))])
    return solve_lasso(points, values, degree, best, tolerance=1e-3).polynomial


def matching_pursuit(points: FloatArray, values: FloatArray, sparsity: int, degree: int = 3) -> list[Monomial]:
    """Orthogonal matching pursuit, told the true sparsity."""
    dictionary = Dictionary(Columns.parity(points), degree)
    y = values - values.mean()
    chosen: list[Monomial] = []
    residual = y
    for _ in range(sparsity):
        if residual @ residual <= 1e-18 * (y @ y):
            break
        chosen.append(dictionary.strongest(residual, limit=1).monomials[0])
        A = products(points, chosen)
        A = A - A.mean(axis=0)
        residual = y - A @ np.linalg.lstsq(A, y, rcond=None)[0]
    return chosen
