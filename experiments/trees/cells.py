"""One tree, one sample, one learner; and what is known of the tree itself."""

from itertools import product
from math import log2

import numpy as np

from experiments.frame import Options, Row
from experiments.trees.labels import DECOY, NONE, RANDOM, corrupted
from experiments.trees.learners import LEARNERS
from experiments.trees.tree import random_tree

N, TEST = 50, 4000  # variables, points of the test
SHARE = 0.1  # of the labels flipped, in the curves
EPSILONS = (0.5, 0.3, 0.2, 0.1, 0.05)  # squared errors asked for
FIXED_LEAVES, FIXED_T = 8, 800  # where the noise grows


def learn(leaves: int, kind: str, share: float, T: int, learner: str, seed: int) -> Row:
    """Squared and classification error on clean points. A larger T has the smaller one's samples among its own."""
    rng = np.random.default_rng([leaves, seed])
    tree = random_tree(leaves, rng, frozenset(range(N)))
    test = rng.choice([-1.0, 1.0], size=(TEST, N))
    X = rng.choice([-1.0, 1.0], size=(T, N))
    y = corrupted(kind, share, X, tree(X), np.random.default_rng([leaves, seed, 1]))
    g, truth = np.clip(LEARNERS[learner](X, y)(test), -1, 1), tree(test)
    wrong = np.where(g >= 0, 1.0, -1.0) != truth
    return {"squared": float(((g - truth) ** 2).mean()), "wrong": float(wrong.mean())}


def structure(leaves: int, seed: int) -> Row:
    """The two facts that the corollary rests on: the L1 norm, and the mass above degree log2(s/eps)."""
    terms = random_tree(leaves, np.random.default_rng([leaves, seed]), frozenset(range(N))).fourier()
    beyond = {str(eps): sum(a**2 for S, a in terms.items() if len(S) > log2(leaves / eps)) for eps in EPSILONS}
    return {"l1": sum(map(abs, terms.values())), "monomials": len(terms), "beyond": beyond}


def grid(options: Options) -> list[Row]:
    """Error curves for every size of tree, without and with noise; then more and more noise at one size."""
    leaves = options.pick((4,), (4, 8, 16), (4, 8, 16, 32))
    samples = options.pick((60, 120), (25, 50, 100, 200, 400, 800, 1600), (25, 50, 100, 200, 400, 800, 1600, 3200))
    shares = options.pick((0.05,), (0.0125, 0.025, 0.05, 0.1, 0.15), (0.0125, 0.025, 0.05, 0.1, 0.15, 0.2))
    noises = [(NONE, 0.0), (RANDOM, SHARE), (DECOY, SHARE)]
    curves = [
        {"leaves": s, "kind": kind, "share": share, "T": T, "learner": learner, "seed": seed}
        for seed, s, (kind, share), T, learner in product(seeds(options), leaves, noises, samples, LEARNERS)
    ]
    s, T = (leaves[0], samples[-1]) if options.size == "tiny" else (FIXED_LEAVES, FIXED_T)
    levels = [
        {"leaves": s, "kind": kind, "share": share, "T": T, "learner": learner, "seed": seed}
        for seed, kind, share, learner in product(seeds(options), (RANDOM, DECOY), shares, LEARNERS)
    ]
    return curves + levels


def trees(options: Options) -> list[Row]:
    leaves = options.pick((4,), (4, 8, 16, 32), (4, 8, 16, 32, 64))
    return [{"leaves": s, "seed": seed} for s, seed in product(leaves, seeds(options))]


def seeds(options: Options) -> range:
    return options.seeds(2, 5, 20)
