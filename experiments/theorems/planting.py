"""Functions that Lemma 1 speaks of: a few large coefficients, and what may stand in their way."""

from dataclasses import dataclass

import numpy as np

from benchmarks.planted import planted
from overtone.spectral.monomials import FloatArray, Monomial, products

N, DEGREE, SPARSITY = 60, 3, 5
N_SMALL = 40  # coefficients that are too small to be found one by one, of degree <= 3 and of degree 4 alike
SPIKED = 0.05  # share of the samples that spikes are put on
SMALL, GAUSSIAN, SPIKES, DECOY = "small coefficients", "Gaussian noise", "spikes on 5 % of the samples", "a decoy"
KINDS = (SMALL, GAUSSIAN, SPIKES, DECOY)


@dataclass(frozen=True)
class Sample:
    points: FloatArray  # (T, n)
    values: FloatArray  # (T,)
    truth: dict[Monomial, float]  # f, all of it

    def error(self, found: dict[Monomial, float]) -> float:
        """E[(f - g)^2] by Parseval: the squared difference of the coefficients."""
        return sum((self.truth.get(S, 0.0) - found.get(S, 0.0)) ** 2 for S in self.truth.keys() | found.keys())


def sample(kind: str, eps: float, T: int, seed: int) -> Sample:
    """f of variance 1, plus eps/4 of it above the degree and eps/4 in small ones; or values f + v with |v|^2 = eps T.

    The first is Lemma 1's (eps/4, d, s)-bounded function, the others its remark on adversarial noise.
    """
    problem = planted(N, T, SPARSITY, 0.0, seed, DEGREE)
    rng = np.random.default_rng([seed, T, KINDS.index(kind)])
    size = float(np.sqrt(sum(a**2 for a in problem.truth.values())))
    truth = {S: a / size for S, a in problem.truth.items()}
    if kind == SMALL:
        truth = _small(eps / 4, range(DEGREE + 1, DEGREE + 2), rng) | _small(eps / 4, range(1, DEGREE + 1), rng) | truth
    f = products(problem.points, list(truth)) @ np.array(list(truth.values()))
    return Sample(problem.points, f + _noise(kind, eps, problem.points, rng), truth)


def _small(mass: float, degrees: range, rng: np.random.Generator) -> dict[Monomial, float]:
    """Random monomials of these degrees with random signs; their squares sum up to the mass."""
    monomials: set[Monomial] = set()
    while len(monomials) < N_SMALL:
        monomials.add(tuple(sorted(rng.choice(N, int(rng.choice(degrees)), replace=False).tolist())))
    signs = rng.choice([-1.0, 1.0], N_SMALL) * np.sqrt(mass / N_SMALL)
    return dict(zip(sorted(monomials), signs.tolist(), strict=True))


def _noise(kind: str, eps: float, points: FloatArray, rng: np.random.Generator) -> FloatArray:
    """v, (T,)"""
    T = len(points)
    v = np.zeros(T)
    if kind == GAUSSIAN:
        v = rng.standard_normal(T)
    elif kind == SPIKES:
        spiked = rng.permutation(T)[: max(1, round(SPIKED * T))]
        v[spiked] = rng.choice([-1.0, 1.0], len(spiked))
    elif kind == DECOY:
        v = products(points, [tuple(sorted(rng.choice(N, 2, replace=False).tolist()))])[:, 0]
    length = float(np.linalg.norm(v))
    return v * np.sqrt(eps * T) / length if length else v
