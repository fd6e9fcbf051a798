"""Problems of physics and signals over spins: Ising sparsification, a spin glass, and low autocorrelation (dense)."""

from functools import partial
from itertools import product

import numpy as np

from benchmarks.search.problem import Problem, bits, signs, switches
from overtone.space import Config
from overtone.spectral.monomials import FloatArray

Edges = list[tuple[int, int]]


def ising() -> Problem:
    """Which of the 24 bonds of a 4x4 Ising model to keep: KL(p || q) to the whole model plus a price for each bond."""
    rng = np.random.default_rng(11)
    edges = _grid(4)
    J = rng.uniform(0.05, 5, len(edges)) * rng.choice([-1, 1], len(edges)) / 4
    states = np.array(list(product([-1, 1], repeat=15)), dtype=np.float32)
    states = np.hstack([np.ones((len(states), 1), np.float32), states])  # the other half is its mirror image
    pairs = np.stack([states[:, i] * states[:, j] for i, j in edges], axis=1)  # (2^15, 24)
    true = partial(_divergence, pairs, J.astype(np.float32), _moments(pairs, J))
    return Problem("Ising sparsification", switches(len(edges)), true, 200, is_real=False)


def _grid(side: int) -> Edges:
    right = [(side * r + c, side * r + c + 1) for r in range(side) for c in range(side - 1)]
    return right + [(side * r + c, side * (r + 1) + c) for r in range(side - 1) for c in range(side)]


def _moments(pairs: FloatArray, J: FloatArray) -> tuple[FloatArray, float]:
    """E_p[s_i s_j] for each bond, and log Z_p."""
    energies = pairs @ J
    top = float(energies.max())
    shares = np.exp(energies - top)
    return shares @ pairs / shares.sum(), top + float(np.log(shares.sum()))


def _divergence(pairs: FloatArray, J: FloatArray, whole: tuple[FloatArray, float], config: Config) -> float:
    """sum (J_p - J_q) E_p[ss] + log Z_q - log Z_p + 0.01 |x|"""
    kept = bits(config)
    energies = pairs @ np.where(kept, J, 0).astype(np.float32)
    top = float(energies.max())
    log_z = top + float(np.log(np.exp(energies - top).sum(dtype=np.float64)))
    moments, log_z_whole = whole
    return float((J * ~kept) @ moments) + log_z - log_z_whole + 0.01 * float(kept.sum())


def spin_glass() -> Problem:
    """A 7x7 torus with Gaussian bonds: frustrated, and no spin matters by itself."""
    side, rng = 7, np.random.default_rng(12)
    J = rng.standard_normal((2, side, side))
    return Problem("spin glass 7x7", switches(side**2), partial(_energy, J), 400, is_real=False, is_tossed=True)


def _energy(J: FloatArray, config: Config) -> float:
    s = signs(config).reshape(J.shape[1:])
    return -float((J[0] * s * np.roll(s, 1, 0)).sum() + (J[1] * s * np.roll(s, 1, 1)).sum())


def labs() -> Problem:
    """Low autocorrelation binary sequences: every monomial of degree 4 counts, so that no sparse fit can help."""
    return Problem("LABS n=32", switches(32), _autocorrelation, 400, is_real=False, is_tossed=True, optimum=64.0)


def _autocorrelation(config: Config) -> float:
    """sum_k C_k^2, k = 1..n-1"""
    s = signs(config)
    return float((np.correlate(s, s, "full")[len(s) :] ** 2).sum())
