"""The model behind spectral descent: a sparse polynomial of low degree, and a smooth remainder of all degrees.

    y(x) = c + sum_S alpha_S psi_S(x) + g(x) + noise

The monomials S are chosen forward, each against the honest threshold of its degree; g is Gaussian with the covariance
exp(-beta |v - v'|^2 / 2n) of the columns v: over bits it is sum_S rho^|S| chi_S chi_S', rho = tanh(beta / n), so that
the degrees share the variance as a Poisson(beta). It holds what is dense, and what is too weak to be named.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import cho_factor, cho_solve, solve_triangular

from overtone.spectral.columns import Columns
from overtone.spectral.correlation import Dictionary
from overtone.spectral.monomials import FloatArray, IntArray, Monomial, count_monomials, products

BETAS = (0.25, 1.0, 2.0, 4.0)  # how high the degrees of the remainder reach
NOISES = (1e-4, 0.03, 0.3)  # its noise, as a share of its variance
MOST = 40  # monomials
SHAPING = 250  # samples that are enough to find the shape of the remainder
TINY = 1e-10  # a share of the variance that is rounding
JITTER = 1e-6  # on the diagonal of a covariance, against rounding
TRIPLES = 2e8  # operations of a scan up to which monomials of degree 3 are looked for


@dataclass(frozen=True, eq=False)
class Samples:
    """Columns (T, m) with their groups, values (T,), and of how many evaluations each value is the mean (T,)."""

    columns: FloatArray
    groups: IntArray
    values: FloatArray
    counts: FloatArray

    def rows(self, which: IntArray) -> "Samples":
        """Some of them."""
        return Samples(self.columns[which], self.groups, self.values[which], self.counts[which])

    def resampled(self, rng: np.random.Generator) -> "Samples":
        """A bootstrap resample: as many, drawn with replacement; what comes k times counts k times."""
        T = len(self.values)
        which, times = np.unique(rng.integers(T, size=T), return_counts=True)
        return replace(self.rows(which), counts=self.counts[which] * times)


@dataclass(frozen=True, eq=False)
class Remainder:
    """g: a weighted sum of the covariances with the samples."""

    samples: FloatArray  # (T, m)
    weights: FloatArray  # (T,)
    beta: float
    noise: float  # variance, as a share of g's
    r2: float  # of what it is fitted to, left out one by one
    factor: tuple[FloatArray, bool]  # of C, the covariance of the samples, by Cholesky
    scale: float  # standard deviation of g

    def __call__(self, columns: FloatArray) -> FloatArray:
        """(N, m) -> (N,)"""
        return _covariance(columns, self.samples, self.beta) @ self.weights

    def draws(self, columns: FloatArray, n: int, rng: np.random.Generator) -> FloatArray:
        """n functions of the posterior, less its mean, at some points.  # (N, m) -> (n, N)"""
        known = solve_triangular(self.factor[0], _covariance(self.samples, columns, self.beta), lower=True)  # (T, N)
        spread = _covariance(columns, columns, self.beta) - known.T @ known
        root = np.linalg.cholesky(spread + JITTER * np.eye(len(columns)))
        return self.scale * rng.standard_normal((n, len(columns))) @ root.T


@dataclass(frozen=True, eq=False)
class Surrogate:
    """The fit, and the share of the variance that it explains of samples left out."""

    constant: float
    monomials: tuple[Monomial, ...]
    coefficients: FloatArray
    remainder: Remainder | None
    r2: float

    def __call__(self, columns: FloatArray) -> FloatArray:
        """(N, m) -> (N,)"""
        trend = self.constant + products(columns, self.monomials) @ self.coefficients
        return trend if self.remainder is None else trend + self.remainder(columns)

    def draws(self, columns: FloatArray, n: int, rng: np.random.Generator) -> FloatArray:
        """n functions that the samples allow, at some points; the polynomial is taken for certain.  # (n, N)"""
        mean = np.tile(self(columns), (n, 1))
        return mean if self.remainder is None else mean + self.remainder.draws(columns, n, rng)


def fit(samples: Samples, like: Surrogate | None = None) -> Surrogate:
    """The polynomial, then the remainder; `like` gives the shape of the remainder, which takes longest to find."""
    y = samples.values
    monomials = tuple(_forward(samples))
    design = np.column_stack([np.ones(len(y)), products(samples.columns, monomials)])
    weights = np.sqrt(samples.counts)
    solution = np.linalg.lstsq(design * weights[:, None], y * weights, rcond=None)[0]
    left = y - design @ solution
    total, rest = float(y.var()), float(left.var())
    if rest <= TINY * total:
        return Surrogate(float(solution[0]), monomials, solution[1:], None, 1.0 if total else 0.0)
    remainder = _remainder(samples, left, None if like is None else like.remainder)
    honest = rest * len(y) / max(1, len(y) - 1 - 2 * len(monomials))  # each was chosen, then fitted
    r2 = 1 - honest * (1 - max(0.0, remainder.r2)) / total
    return Surrogate(float(solution[0]), monomials, solution[1:], remainder, r2)


# the polynomial


def _forward(samples: Samples) -> Iterator[Monomial]:
    """The strongest monomial against sigma sqrt(2 log N_d), again and again; degree 3 when 1 and 2 have no more."""
    search = _Search(samples)
    while len(search.chosen) < min(MOST, len(samples.values) // 3):
        found = search.strongest() or search.strongest_triple()
        if found is None:
            return
        if search.take(found):
            yield found


class _Search:
    """Orthogonal least squares: what is left of the values, and an orthonormal basis of what was taken."""

    def __init__(self, samples: Samples) -> None:
        V, self.groups = samples.columns, samples.groups
        T = len(V)
        self.V, self.T = V, T
        self.counts = count_monomials(self.groups, 3)
        self.chosen: set[Monomial] = set()
        self.basis = np.full((1, T), T**-0.5)  # (k, T), the constant first
        self.left = samples.values - samples.values.mean()
        self.total = float(self.left @ self.left)
        spread = ((V * V).sum(axis=0) - V.sum(axis=0) ** 2 / T, (V * V).T @ (V * V) - (V.T @ V) ** 2 / T)
        same = self.groups[:, None] >= self.groups  # a pair once, and never two columns of a group
        self.first = _inverse_root(spread[0], T) / self._threshold(1)  # (m,)
        self.second = np.where(same, 0.0, _inverse_root(spread[1], T)) / self._threshold(2)  # (m, m)
        self.dictionary: Dictionary | None = None

    def _threshold(self, degree: int) -> float:
        return math.sqrt(2 * math.log(max(2, self.counts[degree])))

    def _sigma(self) -> float:
        return math.sqrt(float(self.left @ self.left) / max(1, self.T - len(self.basis)))

    def _is_over(self) -> bool:
        return float(self.left @ self.left) <= TINY * self.total

    def strongest(self) -> Monomial | None:
        """The monomial of degree 1 or 2 that is farthest above its threshold."""
        if self._is_over():
            return None
        first = np.abs(self.V.T @ self.left) * self.first  # (m,)
        second = np.abs((self.V * self.left[:, None]).T @ self.V) * self.second  # (m, m)
        one, two = int(first.argmax()), divmod(int(second.argmax()), len(first))
        best: Monomial = (one,) if first[one] >= second[two] else (min(two), max(two))
        return best if max(first[one], second[two]) > self._sigma() else None

    def strongest_triple(self) -> Monomial | None:
        """The same for degree 3, by a scan of all, where it is affordable."""
        if self._is_over() or not 0 < self.counts[3] * 2 * self.T <= TRIPLES:
            return None
        self.dictionary = self.dictionary or Dictionary(Columns(self.V, self.groups), 3, n_threads=1)
        level = self._threshold(3) * self._sigma() * math.sqrt(self.T)
        found = self.dictionary.strongest(self.left, factors=[1e9, 1e9, 1.0], limit=4).monomials
        new = [m for m in found if m not in self.chosen and len(m) == 3]
        return next((m for m in new if abs(products(self.V, [m])[:, 0] @ self.left) > level), None)

    def take(self, monomial: Monomial) -> bool:
        """Put it into the basis; False if it was there already, in other words."""
        x = products(self.V, [monomial])[:, 0]
        own = x - self.basis.T @ (self.basis @ x)
        self._strike(monomial)
        self.chosen.add(monomial)
        norm = float(np.linalg.norm(own))
        if norm <= 1e-6 * math.sqrt(self.T):
            return False
        self.basis = np.vstack([self.basis, own / norm])
        self.left = self.left - self.basis[-1] * (self.basis[-1] @ self.left)
        return True

    def _strike(self, monomial: Monomial) -> None:
        if len(monomial) == 1:
            self.first[monomial] = 0.0
        elif len(monomial) == 2:
            self.second[monomial] = self.second[monomial[::-1]] = 0.0


def _inverse_root(spread: FloatArray, T: int) -> FloatArray:
    """1 / |x - mean x|; 0 for what hardly varies: 2 samples of T must differ."""
    varies = spread > 2.0 * min(1.0, 4 / T)
    return np.where(varies, 1 / np.sqrt(np.where(varies, spread, 1.0)), 0.0)


# the remainder


def _covariance(a: FloatArray, b: FloatArray, beta: float) -> FloatArray:
    """exp(-beta |a - b|^2 / 2n), n the mean squared length.  # (N, m), (T, m) -> (N, T)"""
    squares = (a * a).sum(axis=1)[:, None] + (b * b).sum(axis=1) - 2 * a @ b.T
    covariance: FloatArray = np.exp(-beta / (2 * b.shape[1]) * np.maximum(squares, 0.0))
    return covariance


def _remainder(samples: Samples, left: FloatArray, like: Remainder | None) -> Remainder:
    """The posterior mean; of highest likelihood among a few shapes, or of the shape of another one."""
    beta, noise = _shape(samples, left) if like is None else (like.beta, like.noise)
    factor, weights = _solve(samples, left, beta, noise)
    missed = weights / np.diag(cho_solve(factor, np.eye(len(left)))) if like is None else left  # left out one by one
    r2 = 1 - float(missed @ missed) / float(left @ left)
    scale = math.sqrt(max(float(left @ weights), 0.0) / len(left))
    return Remainder(samples.columns, weights, beta, noise, r2, factor, scale)


def _shape(samples: Samples, left: FloatArray) -> tuple[float, float]:
    """beta and noise of highest likelihood, on some of the samples."""
    some = np.arange(0, len(left), -(-len(left) // SHAPING))
    few, values = samples.rows(some), left[some]
    return max(
        ((beta, noise) for beta in BETAS for noise in NOISES), key=lambda shape: _likelihood(few, values, *shape)
    )


def _likelihood(samples: Samples, left: FloatArray, beta: float, noise: float) -> float:
    """log p(left) with its scale at the best: -T/2 log(left' C^-1 left) - 1/2 log |C|."""
    (factor, _), weights = _solve(samples, left, beta, noise)
    return float(-0.5 * len(left) * math.log(max(float(left @ weights), 1e-300)) - np.log(np.diag(factor)).sum())


def _solve(samples: Samples, left: FloatArray, beta: float, noise: float) -> tuple[tuple[FloatArray, bool], FloatArray]:
    """A factor of C = covariance + noise, and C^-1 left."""
    C = _covariance(samples.columns, samples.columns, beta) + np.diag(noise / samples.counts)
    factor = cho_factor(C, lower=True)
    return factor, cho_solve(factor, left)
