"""One planted function and one sample of it: is it recovered, how far is it off, when does random search meet it?"""

from itertools import product

import numpy as np

from benchmarks.planted import Problem, planted
from experiments.frame import Options, Row
from experiments.theorems.planting import KINDS, sample
from overtone.spectral import minimizers, recover
from overtone.spectral.lasso import solve_lasso
from overtone.spectral.monomials import products
from overtone.spectral.polynomial import Polynomial

AUTOMATIC, LASSO = "recover (automatic)", "PSR (s, d, lambda given)"
METHODS = (AUTOMATIC, LASSO)
PENALTY = 0.05  # lambda of PSR; the smallest weight is 0.5, and there is no noise
CLOSE = 1e-6
PANELS = ((60, 2), (60, 3), (200, 2))  # n, d
CHUNK = 4096


def phase(n: int, degree: int, s: int, T: int, method: str, seed: int) -> Row:
    """Theorem 1: are all s monomials found and no other, and is the minimum of f where g has it?"""
    problem = planted(n, T, s, 0.0, seed, degree)
    if method == AUTOMATIC:
        g = recover(problem.points, problem.values).polynomial
        exact = _is_exact(problem, g)
    else:  # Procedure 2 to the letter; the right monomials are enough, as their weights are then a linear system
        g = solve_lasso(problem.points, problem.values, degree, PENALTY).polynomial.top(s)
        exact = {S for S, _ in g if S} == problem.truth.keys()
    return {"exact": exact, "minimum": exact or _is_minimized(problem, g)}


def _is_exact(problem: Problem, g: Polynomial) -> bool:
    found = {S: a for S, a in g if S}
    return found.keys() == problem.truth.keys() and all(abs(found[S] - a) < CLOSE for S, a in problem.truth.items())


def _is_minimized(problem: Problem, g: Polynomial) -> bool:
    """f at the minimizer of g, variables outside of J at +1."""
    f = Polynomial(problem.truth, problem.points.shape[1])
    x = np.ones((1, f.n))
    for i, level in (minimizers(g).assignments or ({},))[0].items():
        x[0, i] = level
    return bool(f(x)[0] <= minimizers(f).values[0] + CLOSE)


def noisy(kind: str, eps: float, T: int, seed: int) -> Row:
    """Lemma 1: E[(f - g)^2]."""
    drawn = sample(kind, eps, T, seed)
    return {"error": drawn.error(dict(recover(drawn.points, drawn.values).polynomial))}


def covered(s: int, seed: int) -> Row:
    """How many uniform points random search draws until one is a minimizer of s monomials."""
    problem = planted(60, 2, s, 0.0, seed)
    monomials, weights = list(problem.truth), np.array(list(problem.truth.values()))
    lowest = minimizers(Polynomial(problem.truth, 60)).values[0]
    rng, drawn = np.random.default_rng([seed, s]), 0
    while True:
        values = products(rng.choice([-1.0, 1.0], size=(CHUNK, 60)), monomials) @ weights
        met = np.flatnonzero(values <= lowest + CLOSE)
        if len(met):
            return {"draws": drawn + int(met[0]) + 1}
        drawn += CHUNK


# grids


def seeds(options: Options) -> range:
    return options.seeds(2, 8, 40)


def phase_grid(options: Options) -> list[Row]:
    panels = options.pick(((12, 2),), PANELS, (*PANELS, (200, 3)))
    sparsities = options.pick((2, 4), (2, 4, 8, 12, 16, 24), (2, 4, 6, 8, 12, 16, 20, 24, 32))
    few, many = (20, 40, 60, 80, 120, 160, 200, 260, 320, 400), (20, 40, 60, 80, 100, 120, 140, 160, 200, 240, 280, 320)
    samples = options.pick((20, 60), few, (*many, 400, 480, 600))
    return [
        {"n": n, "degree": degree, "s": s, "T": T, "method": method, "seed": seed}
        for seed, (n, degree), s, T, method in product(seeds(options), panels, sparsities, samples, METHODS)
    ]


def noisy_grid(options: Options) -> list[Row]:
    epsilons = options.pick((0.01, 0.1), (0.003, 0.01, 0.03, 0.1, 0.3), (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0))
    samples = options.pick((100,), (100, 200, 400), (100, 200, 400, 800))
    return [
        {"kind": kind, "eps": eps, "T": T, "seed": seed}
        for seed, kind, eps, T in product(seeds(options), KINDS, epsilons, samples)
    ]


def covered_grid(options: Options) -> list[Row]:
    sparsities = options.pick((2, 4), (2, 4, 8, 12, 16), (2, 4, 8, 12, 16, 20))
    return [{"s": s, "seed": seed} for s, seed in product(sparsities, seeds(options))]
