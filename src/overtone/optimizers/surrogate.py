"""The model behind spectral descent: named monomials of low degree, and a smooth remainder of all degrees.

    y(x) = sum_S alpha_S psi_S(x) + g(x) + w(x) + noise

y is a bent value (`bending`). g is Gaussian with the covariance exp(-beta |v - v'|^2 / 2m) of the columns v: over
bits it is sum_S rho^|S| chi_S chi_S', rho = tanh(beta / m), so that the degrees share the variance as a Poisson(beta).
It holds what is dense, and what is too weak to be named. The weights alpha_S are Gaussian, too, of large variance. w is
what no neighbor knows of: independent at every x, yet the same whenever x is evaluated again, which the noise is not.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.linalg.blas import dtrmm
from scipy.linalg.lapack import dpotrf, dpotrs, dtrtri, dtrtrs

from overtone.optimizers.bending import BENDS, bent, steepness, volume
from overtone.optimizers.forward import PRIOR, Samples, choose
from overtone.spectral.monomials import FloatArray, Monomial, products

BETAS = (0.1, 0.5, 1.5, 4.0)  # how high the degrees of the remainder reach
ROUGH = (1e-4, 0.03, 0.3)  # variance of w and noise, as a share of that of g
SHAPING = 120  # samples that are enough to find the shape of the remainder
BLOCK = 64  # rows of a triangular matrix that are inverted at once
FIRM = 0.01  # the least share of what is rough, where bends are compared


@dataclass(frozen=True, eq=False)
class Surrogate:
    """The fit: the mean of y given the samples, and the share of the variance that it explains of samples left out."""

    bend: float  # of the values
    monomials: tuple[Monomial, ...]  # the constant among them
    coefficients: FloatArray
    shape: "Shape"
    scale: float  # of the columns: sqrt(beta / 2m)
    samples: FloatArray  # (T, m), scaled
    design: FloatArray  # (T, k), the named monomials there
    weights: FloatArray  # (T,) C^-1 y
    inverse: FloatArray  # L^-1 of L L' = C, the covariance of the samples
    deviation: float  # standard deviation of g
    noise: float  # variance of the noise of one value
    judged: FloatArray  # (T,) the samples without their noise: the mean of y - noise given all values
    doubt: FloatArray  # (T,) the variance of that
    r2: float

    def __call__(self, columns: FloatArray) -> FloatArray:
        """(N, m) -> (N,)"""
        smooth = covariance(columns * self.scale, self.samples) @ self.weights
        return np.asarray(products(columns, self.monomials) @ self.coefficients + smooth)

    def covariance(self, columns: FloatArray) -> FloatArray:
        """Of what is not known yet of y at some points, w left out.  # (N, m) -> (N, N)"""
        scaled, named = columns * self.scale, products(columns, self.monomials)
        both = covariance(self.samples, scaled) + PRIOR * self.design @ named.T
        known = self.whitened(both)
        return np.asarray(self.deviation**2 * (covariance(scaled, scaled) + PRIOR * named @ named.T - known.T @ known))

    def whitened(self, psi: FloatArray) -> FloatArray:
        """L^-1 psi.  # (T, k) -> (T, k)"""
        return np.asarray(dtrmm(1.0, self.inverse, psi, lower=1))

    @property
    def rough(self) -> float:
        """Variance of w."""
        return max(self.shape.rough * self.deviation**2 - self.noise, 0.0)


class Shape(NamedTuple):
    """Of the remainder: its beta, the share of what is rough, and the variance of g, all as some samples have it."""

    beta: float
    rough: float
    variance: float


START = Shape(0.5, 0.03, 1.0)  # before the first fit


def fit(samples: Samples, before: Surrogate | None = None, *, anew: bool = True) -> Surrogate:
    """The bend and the shape of the remainder, with what an earlier fit named; named monomials; then the weights.

    anew: else all that was chosen before stays, and only the weights are fitted.
    """
    V = samples.columns
    squares = _squares(V, V) / (2 * V.shape[1])
    if before and not anew:
        samples, C, noise = _covered(samples, squares, before.bend, before.shape)
        return _solved(samples, C, noise, before.bend, before.shape, before.monomials)
    few = _Few(samples, squares, before.monomials if before else ((),))
    bend = few.bend(before.shape if before else START)
    shape = few.shape(bend)
    samples, C, noise = _covered(samples, squares, bend, shape)
    return _solved(samples, C, noise, bend, shape, choose(samples, _factor(C)))


def _covered(
    samples: Samples, squares: FloatArray, bend: float, shape: "Shape"
) -> tuple[Samples, FloatArray, FloatArray]:
    """The samples, bent; C, the covariance of what is not named; and of that the noise, (T,)."""
    samples = replace(samples, values=bent(samples.values, bend), noise=samples.noise * steepness(bend) ** 2)
    noise = min(shape.rough, samples.noise / shape.variance) / samples.counts
    C = np.exp(-shape.beta * squares)
    C[np.diag_indices(len(C))] += shape.rough - noise * (samples.counts - 1)
    return samples, C, noise


def _solved(
    samples: Samples, C: FloatArray, noise: FloatArray, bend: float, shape: Shape, monomials: Sequence[Monomial]
) -> Surrogate:
    """All that follows from the covariance C of what is not named, noise included."""
    y, V = samples.values, samples.columns
    design = products(V, monomials)
    factor = _factor(C + PRIOR * design @ design.T)
    weights = dpotrs(factor, y, lower=1)[0]
    inverse = _inverse(factor)
    certainty = np.einsum("ij,ij->j", inverse, inverse)  # the diagonal of C^-1
    missed = weights / certainty  # y less its mean given all others
    total, variance = float(y.var()) * len(y), max(float(y @ weights), 0.0) / len(y)
    return Surrogate(
        bend=bend,
        monomials=tuple(monomials),
        coefficients=PRIOR * design.T @ weights,
        shape=shape,
        scale=(scale := math.sqrt(shape.beta / (2 * V.shape[1]))),
        samples=V * scale,
        design=design,
        weights=weights,
        inverse=inverse,
        deviation=math.sqrt(variance),
        noise=float((noise * samples.counts).max()) * variance,
        judged=y - noise * weights,
        doubt=variance * np.maximum(noise - noise * noise * certainty, 0.0),
        r2=1 - float(missed @ missed) / total if total > 0 else 0.0,
    )


def covariance(a: FloatArray, b: FloatArray) -> FloatArray:
    """exp(-|a - b|^2)  # (N, m), (T, m) -> (N, T)"""
    squares = _squares(a, b)
    return np.asarray(np.exp(np.negative(squares, out=squares), out=squares))


def _squares(a: FloatArray, b: FloatArray) -> FloatArray:
    squares: FloatArray = (-2 * a) @ b.T
    squares += (a * a).sum(axis=1)[:, None]
    squares += (b * b).sum(axis=1)
    return np.maximum(squares, 0.0, out=squares)


def _factor(C: FloatArray) -> FloatArray:
    """L, lower triangular."""
    return np.asarray(dpotrf(C, lower=1, clean=1)[0])


def _inverse(factor: FloatArray) -> FloatArray:
    """L^-1 by halves, which are products: [[A, 0], [B, D]]^-1 = [[A^-1, 0], [-D^-1 B A^-1, D^-1]]."""
    if len(factor) <= BLOCK:
        return np.asarray(dtrtri(factor, lower=1)[0])
    half = len(factor) // 2
    found = np.zeros_like(factor)
    found[:half, :half] = first = _inverse(factor[:half, :half])
    found[half:, half:] = second = _inverse(factor[half:, half:])
    found[half:, :half] = -(second @ (factor[half:, :half] @ first))
    return found


class _Few:
    """Some of the samples, which are enough for what has the highest likelihood."""

    def __init__(self, samples: Samples, squares: FloatArray, monomials: tuple[Monomial, ...]) -> None:
        some = np.arange(0, len(squares), -(-len(squares) // SHAPING))
        self._values, self._squares = samples.values[some], squares[np.ix_(some, some)]
        design = products(samples.columns[some], monomials)
        self._named = PRIOR * design @ design.T

    def bend(self, shape: Shape) -> float:
        """With the shape of before: log p(z) + sum log dz / ds."""
        factor = _factor(self._smooth(shape.beta) + max(shape.rough, FIRM) * np.eye(len(self._values)))
        return max(BENDS, key=lambda bend: self._likelihood(factor, bend)[0] + volume(self._values, bend))

    def shape(self, bend: float) -> Shape:
        """The best of all."""
        eye = np.eye(len(self._values))
        found = []
        for beta in BETAS:
            smooth = self._smooth(beta)
            each = [(self._likelihood(_factor(smooth + rough * eye), bend), beta, rough) for rough in ROUGH]
            found += [(likelihood, Shape(beta, rough, variance)) for (likelihood, variance), beta, rough in each]
        return max(found)[1]

    def _smooth(self, beta: float) -> FloatArray:
        return np.asarray(np.exp(-beta * self._squares) + self._named)

    def _likelihood(self, factor: FloatArray, bend: float) -> tuple[float, float]:
        """log p(z) with the variance at its best, and that: -T/2 log(z' C^-1 z) - 1/2 log |C|."""
        z = dtrtrs(factor, bent(self._values, bend), lower=1)[0]
        square = max(float(z @ z), 1e-300)
        return float(-0.5 * len(z) * math.log(square) - np.log(np.diag(factor)).sum()), square / len(z)
