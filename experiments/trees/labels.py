"""Noise in labels -1 and +1. A share p of them flipped is a noise vector v with ||v||^2 = 4 p T, so gamma = 4 p."""

import numpy as np

from overtone.spectral.monomials import FloatArray, products

NONE, RANDOM, DECOY = "none", "random flips", "decoy"
DECOY_DEGREE = 2


def corrupted(kind: str, share: float, X: FloatArray, y: FloatArray, rng: np.random.Generator) -> FloatArray:
    """The labels after the adversary: a share flipped at random, or where it makes a false monomial look true.

    The decoy is a parity of two random variables: labels that differ from it are flipped until the share is used up,
    which adds about 2 p to its empirical coefficient.
    """
    n_flips = round(share * len(y))
    if kind == RANDOM:
        flipped = rng.permutation(len(y))[:n_flips]
    elif kind == DECOY:
        decoy = tuple(sorted(rng.choice(X.shape[1], DECOY_DEGREE, replace=False).tolist()))
        flipped = np.flatnonzero(y != products(X, [decoy])[:, 0])[:n_flips]
    else:
        flipped = np.arange(0)
    noisy = y.copy()
    noisy[flipped] *= -1
    return noisy


def gamma(share: float) -> float:
    """||v||^2 / T of so many flips."""
    return 4 * share
