"""The mathematics of the paper: sparse polynomials of low degree, recovered from random samples."""

from overtone.spectral.columns import Columns
from overtone.spectral.lasso import LassoFit, solve_lasso, solve_lasso_path
from overtone.spectral.minimizers import Minimizers, minimizers
from overtone.spectral.monomials import parity
from overtone.spectral.polynomial import Importance, Polynomial
from overtone.spectral.recovery import Feature, Recovery, recover

__all__ = [
    "Columns",
    "Feature",
    "Importance",
    "LassoFit",
    "Minimizers",
    "Polynomial",
    "Recovery",
    "minimizers",
    "parity",
    "recover",
    "solve_lasso",
    "solve_lasso_path",
]
