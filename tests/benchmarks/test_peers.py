"""The peers are what they claim to be: the same answers as scikit-learn on the built matrix."""

import numpy as np
from sklearn.linear_model import LassoCV, OrthogonalMatchingPursuit
from sklearn.preprocessing import PolynomialFeatures

from benchmarks.peers import lasso_cv, matching_pursuit
from benchmarks.planted import planted

problem = planted(n=12, T=90, sparsity=5, noise=0.3, seed=1)
expand = PolynomialFeatures(3, interaction_only=True, include_bias=False).fit(problem.points)
A = expand.transform(problem.points)
monomials = [tuple(np.flatnonzero(powers).tolist()) for powers in expand.powers_]


def test_lasso_cv_is_that_of_scikit_learn() -> None:
    top = np.abs(A.T @ (problem.values - problem.values.mean())).max() / len(A)
    alphas = np.geomspace(top, 0.06 * top, 10)
    theirs = LassoCV(alphas=alphas, cv=3, tol=1e-9, max_iter=100_000).fit(A, problem.values)
    ours = lasso_cv(problem.points, problem.values)
    expected = {monomials[i]: theirs.coef_[i] for i in np.flatnonzero(np.abs(theirs.coef_) > 0.02)}
    found = {monomial: a for monomial, a in ours if abs(a) > 0.02}
    assert found.keys() == expected.keys()
    np.testing.assert_allclose([found[m] for m in found], [expected[m] for m in found], atol=0.02)


def test_matching_pursuit_is_that_of_scikit_learn() -> None:
    theirs = OrthogonalMatchingPursuit(n_nonzero_coefs=5).fit(A - A.mean(axis=0), problem.values)
    expected = {monomials[i] for i in np.flatnonzero(theirs.coef_)}
    assert set(matching_pursuit(problem.points, problem.values, 5)) == expected


def test_matching_pursuit_stops_when_nothing_is_left() -> None:
    clean = planted(n=12, T=90, sparsity=2, noise=0.0, seed=0)
    assert set(matching_pursuit(clean.points, clean.values, 5)) == clean.truth.keys()
