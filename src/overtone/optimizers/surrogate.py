"""The model behind spectral descent: named monomials of low degree, and a smooth remainder of all degrees.

    y(x) = sum_S alpha_S psi_S(x) + g(x) + noise

g is Gaussian with the covariance exp(-beta |v - v'|^2 / 2m) of the columns v: over bits it is
sum_S rho^|S| chi_S chi_S', rho = tanh(beta / m), so that the degrees share the variance as a Poisson(beta). It holds
what is dense, and what is too weak to be named. The weights alpha_S are Gaussian, too, of large variance.
"""

import math
from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.linalg import cho_solve, solve_triangular
from scipy.linalg.lapack import dpotrf, dtrtri

from overtone.optimizers.forward import PRIOR, Samples, choose
from overtone.spectral.monomials import FloatArray, Monomial, products

BETAS = (0.1, 0.5, 1.5, 4.0)  # how high the degrees of the remainder reach
NOISES = (1e-4, 0.03, 0.3)  # its noise, as a share of its variance
SHAPING = 120  # samples that are enough to find the shape of the remainder


@dataclass(frozen=True, eq=False)
class Surrogate:
    """The fit: the mean of y given the samples, and the share of the variance that it explains of samples left out."""

    monomials: tuple[Monomial, ...]  # the constant among them
    coefficients: FloatArray
    scale: float  # of the columns: sqrt(beta / 2m)
    samples: FloatArray  # (T, m), scaled
    design: FloatArray  # (T, k), the named monomials there
    weights: FloatArray  # (T,) C^-1 y
    factor: FloatArray  # L of L L' = C, the covariance of the samples
    deviation: float  # standard deviation of g
    share: float  # variance of the noise over that of g
    r2: float

    def __call__(self, columns: FloatArray) -> FloatArray:
        """(N, m) -> (N,)"""
        smooth = covariance(columns * self.scale, self.samples) @ self.weights
        return np.asarray(products(columns, self.monomials) @ self.coefficients + smooth)

    def covariance(self, columns: FloatArray) -> FloatArray:
        """Of what is not known yet of y at some points.  # (N, m) -> (N, N)"""
        scaled, named = columns * self.scale, products(columns, self.monomials)
        both = covariance(self.samples, scaled) + PRIOR * self.design @ named.T
        known = solve_triangular(self.factor, both, lower=True, check_finite=False)
        return np.asarray(self.deviation**2 * (covariance(scaled, scaled) + PRIOR * named @ named.T - known.T @ known))

    @property
    def noise(self) -> float:
        """Variance of the noise of one value."""
        return self.share * self.deviation**2


def fit(samples: Samples, before: Surrogate | None = None) -> Surrogate:
    """The shape of the remainder, with what an earlier fit named; named monomials; then the weights."""
    y, V = samples.values, samples.columns
    squares = _squares(V, V) / (2 * V.shape[1])
    beta, share = _shape(samples, squares, products(V, before.monomials if before else [()]))
    C = _covariance(samples, squares, beta, share)
    monomials = choose(samples, _factor(C))
    design = products(V, monomials)
    factor = _factor(C + PRIOR * design @ design.T)
    weights = cho_solve((factor, True), y, check_finite=False)
    inverse = dtrtri(factor, lower=1)[0]
    missed = weights / (inverse * inverse).sum(axis=0)  # y less its mean given all others
    total = float(y.var()) * len(y)
    return Surrogate(
        monomials=tuple(monomials),
        coefficients=PRIOR * design.T @ weights,
        scale=(scale := math.sqrt(beta / (2 * V.shape[1]))),
        samples=V * scale,
        design=design,
        weights=weights,
        factor=factor,
        deviation=math.sqrt(max(float(y @ weights), 0.0) / len(y)),
        share=share,
        r2=1 - float(missed @ missed) / total if total > 0 else 0.0,
    )


def covariance(a: FloatArray, b: FloatArray) -> FloatArray:
    """exp(-|a - b|^2)  # (N, m), (T, m) -> (N, T)"""
    result: FloatArray = np.exp(-_squares(a, b))
    return result


def _squares(a: FloatArray, b: FloatArray) -> FloatArray:
    squares: FloatArray = np.maximum((a * a).sum(axis=1)[:, None] + (b * b).sum(axis=1) - 2 * a @ b.T, 0.0)
    return squares


def _covariance(samples: Samples, squares: FloatArray, beta: float, share: float) -> FloatArray:
    """Of what is not named, noise included.  # (T, T)"""
    C: FloatArray = np.exp(-beta * squares)
    C[np.diag_indices(len(C))] += share / samples.counts
    return C


def _factor(C: FloatArray) -> FloatArray:
    """L, lower triangular."""
    return np.asarray(dpotrf(C, lower=1, clean=1)[0])


def _shape(samples: Samples, squares: FloatArray, design: FloatArray) -> tuple[float, float]:
    """beta and noise of highest likelihood, on some of the samples."""
    some = np.arange(0, len(design), -(-len(design) // SHAPING))
    few, between = samples.rows(some), squares[np.ix_(some, some)]
    named = PRIOR * design[some] @ design[some].T

    smooth = {beta: np.exp(-beta * between) + named for beta in BETAS}

    def likelihood(shape: tuple[float, float]) -> float:
        """log p(y) with its variance at the best: -T/2 log(y' C^-1 y) - 1/2 log |C|."""
        factor = _factor(smooth[shape[0]] + np.diag(shape[1] / few.counts))
        z = solve_triangular(factor, few.values, lower=True, check_finite=False)
        return float(-0.5 * len(z) * math.log(max(float(z @ z), 1e-300)) - np.log(np.diag(factor)).sum())

    return max(product(BETAS, NOISES), key=likelihood)
