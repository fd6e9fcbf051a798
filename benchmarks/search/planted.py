"""Sparse polynomials with a known optimum, and the paper's h(x), behind random sign flips: no default wins."""

from functools import partial
from typing import Any

import numpy as np

from benchmarks.hierarchy import Hierarchy, paper_function
from benchmarks.search.problem import Problem, signs, switches
from overtone.space import Config
from overtone.spectral.monomials import FloatArray


def planted(n: int, sparsity: int, noise: float, n_evaluations: int) -> Problem:
    """`sparsity` monomials of degree 1 to 3, all at their best at a random point z; noise as a share of the signal."""
    rng = np.random.default_rng([n, sparsity, 5])
    z = rng.choice([-1.0, 1.0], n)
    monomials = [rng.choice(n, int(rng.integers(1, 4)), replace=False) for _ in range(sparsity)]
    weights = rng.uniform(0.5, 1.5, sparsity)
    return Problem(
        f"planted n={n} s={sparsity} noise {noise:.0%}",
        switches(n),
        partial(_polynomial, monomials, weights, z),
        n_evaluations,
        is_real=False,
        is_tossed=True,
        noise=noise * float(np.sqrt((weights**2).sum())),
        optimum=-float(weights.sum()),
    )


def _polynomial(monomials: list[Any], weights: FloatArray, z: FloatArray, config: Config) -> float:
    """-sum_k w_k prod_{i in S_k} x_i z_i"""
    flipped = signs(config) * z
    return -float(weights @ np.array([flipped[monomial].prod() for monomial in monomials]))


def hierarchy() -> Problem:
    """h(x) of the paper's section 5.4 over 60 variables, with noise."""
    n = 60
    h = paper_function(n, seed=5)
    z = np.random.default_rng(5).choice([-1.0, 1.0], n)
    return Problem(
        "h(x) of the paper", switches(n), partial(_staged, h, z), 400, is_real=False, is_tossed=True, noise=2.0
    )


def _staged(h: Hierarchy, z: FloatArray, config: Config) -> float:
    return h(tuple((signs(config) * z).tolist()))
