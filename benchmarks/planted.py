"""Planted problems: a sparse polynomial, random points, noise."""

from dataclasses import dataclass

import numpy as np

from overtone.spectral.monomials import FloatArray, Monomial, products

# The features and weights of the paper's table "Important features", stage 1, over the column numbers it gives.
PAPER_STAGE_1: dict[Monomial, float] = {
    (24,): 8.05,
    (19,): 3.47,
    (4, 5): 3.12,
    (19, 24): -2.55,
    (4,): -2.34,
    (28,): -1.90,
    (24, 28): 1.79,
    (34, 35, 52): 1.54,
}
# Stages 2 and 3, as if they were already visible in stage 1: the small features that stand in the way.
PAPER_LATER: dict[Monomial, float] = {
    (3,): -4.22 / 4,
    (3, 10): -3.02 / 4,
    (15,): 2.80 / 4,
    (10,): 2.19 / 4,
    (15, 17): 1.68 / 4,
    (1,): -1.26 / 4,
    (1, 10): -1.12 / 4,
    (1, 3): 0.67 / 4,
}


@dataclass(frozen=True)
class Problem:
    points: FloatArray  # (T, n)
    values: FloatArray  # (T,)
    truth: dict[Monomial, float]


def planted(n: int, T: int, sparsity: int, noise: float, seed: int, degree: int = 3) -> Problem:
    """`sparsity` monomials of random degree 1..`degree`, weights +-[0.5, 1.5]; noise as a share of the signal."""
    rng = np.random.default_rng([seed, n, T, sparsity, int(100 * noise), degree])
    monomials: set[Monomial] = set()
    while len(monomials) < sparsity:
        size = int(rng.integers(1, degree + 1))
        monomials.add(tuple(sorted(rng.choice(n, size, replace=False).tolist())))
    weights = rng.uniform(0.5, 1.5, sparsity) * rng.choice([-1, 1], sparsity)
    return _problem(dict(zip(sorted(monomials), weights.tolist(), strict=True)), n, T, noise, rng)


def paper_stage_1(T: int, seed: int, noise: float = 0.1) -> Problem:
    """The paper's own first-stage features over 60 variables, with smaller features and noise beneath them."""
    rng = np.random.default_rng([seed, T])
    return _problem(PAPER_STAGE_1 | PAPER_LATER, 60, T, noise, rng)


def _problem(truth: dict[Monomial, float], n: int, T: int, noise: float, rng: np.random.Generator) -> Problem:
    points = rng.choice([-1.0, 1.0], size=(T, n))
    weights = np.array(list(truth.values()))
    signal = products(points, list(truth)) @ weights
    scale = noise * float(np.sqrt((weights**2).sum()))
    return Problem(points, signal + scale * rng.standard_normal(T) + 3.0, truth)
