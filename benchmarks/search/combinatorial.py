"""Weighted MaxSAT, NK landscapes and contamination control."""

from functools import partial
from typing import Any

import numpy as np

from benchmarks.search.problem import Problem, bits, switches
from overtone.space import Config
from overtone.spectral.monomials import FloatArray


def maxsat() -> Problem:
    """240 random clauses of three literals over 60 variables: the weight of those that do not hold."""
    n, m, rng = 60, 240, np.random.default_rng(21)
    variables = np.array([rng.choice(n, 3, replace=False) for _ in range(m)])
    wanted, weights = rng.random((m, 3)) < 0.5, rng.uniform(1, 10, m)
    return Problem(
        "weighted MaxSAT n=60",
        switches(n),
        partial(_violated, variables, wanted, weights),
        400,
        is_real=False,
        is_tossed=True,
    )


def _violated(variables: Any, wanted: Any, weights: FloatArray, config: Config) -> float:
    holds = (bits(config)[variables] == wanted).any(axis=1)
    return float(weights @ ~holds)


def nk() -> Problem:
    """An NK landscape, n=40, K=3, with random neighbors: a mean of table look-ups."""
    n, K, rng = 40, 3, np.random.default_rng(22)
    neighbors = np.array([[i, *rng.choice(np.delete(np.arange(n), i), K, replace=False)] for i in range(n)])
    tables = rng.random((n, 2 ** (K + 1)))
    return Problem("NK n=40 K=3", switches(n), partial(_fitness, neighbors, tables), 400, is_real=False, is_tossed=True)


def _fitness(neighbors: Any, tables: FloatArray, config: Config) -> float:
    places = bits(config)[neighbors] @ 2 ** np.arange(neighbors.shape[1])
    return float(tables[np.arange(len(tables)), places].mean())


def contamination() -> Problem:
    """At which of 25 stages of food production to prevent contamination: cost, and a price for unsafe stages.

    Z_i = L_i (1 - x_i)(1 - Z_(i-1)) + (1 - G_i x_i) Z_(i-1); unsafe: Z_i > 0.1 in more than 5 % of 100 simulations.
    """
    n, runs, rng = 25, 100, np.random.default_rng(23)
    start, spread, cure = rng.beta(1, 30, runs), rng.beta(1, 17 / 3, (n, runs)), rng.beta(1, 3 / 7, (n, runs))
    return Problem(
        "contamination control", switches(n), partial(_contamination, start, spread, cure), 200, is_real=False
    )


def _contamination(start: FloatArray, spread: FloatArray, cure: FloatArray, config: Config) -> float:
    z, cost = start, 0.0
    for i, x in enumerate(bits(config)):
        z = (1 - cure[i]) * z if x else spread[i] * (1 - z) + z
        cost += float(x) + float((z > 0.1).mean()) - 0.05
    return cost
