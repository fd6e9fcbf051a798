"""The functions of the paper's section 5.4 and of its authors' two public examples, over n on/off variables."""

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from overtone.space import Point
from overtone.spectral.monomials import FloatArray, Monomial
from overtone.spectral.polynomial import Polynomial

N_FEATURES, N_STAGES, DEGREE = 5, 3, 3  # a sparse vector's, and how deep they go
SPARSE = Polynomial({(2, 8): 10.0, (15,): 10.0, (46,): 10.0, (38,): 10.0, (3, 6): 10.0}, 60)  # the first example


@dataclass(frozen=True)
class Vector:
    """A sparse vector: weights of monomials."""

    weights: FloatArray  # (5,)
    monomials: list[Monomial]

    def terms(self, point: Point) -> FloatArray:
        """w_k f_k(x), (5,)"""
        signs = np.array([np.prod([point[i] for i in monomial]) for monomial in self.monomials])
        return np.asarray(self.weights * signs)


@dataclass(frozen=True)
class Hierarchy:
    """h(x): the sum of one sparse vector of each stage; the signs of its terms pick the one of the next stage."""

    stages: list[list[Vector]]  # 1, 32 and 32^2 of them

    def __call__(self, point: Point) -> float:
        return float(sum(vector.terms(point).sum() for vector in self.path(point)))

    def path(self, point: Point) -> list[Vector]:
        """The vectors that matter at a point, a stage each."""
        chosen, j = [], 0
        for vectors in self.stages:
            chosen.append(vectors[j])
            bits = chosen[-1].terms(point) > 0
            j = 2**N_FEATURES * j + int(bits @ 2 ** np.arange(N_FEATURES))
        return chosen

    @property
    def goal(self) -> float:
        """Every term of every stage at its best: what stages reach if no two features contradict one another."""
        return -float(sum(np.abs(vectors[0].weights).sum() for vectors in self.stages))


def paper_function(n: int, seed: int) -> Hierarchy:
    """Section 5.4: weights in [10 + 10^-i, 10 + 10^(2-i)] in stage i = 0, 1, 2; features of degree 1, 2 or 3."""
    rng = np.random.default_rng([n, seed])

    def vector(i: int) -> Vector:
        weights = rng.uniform(10 + 10.0**-i, 10 + 10.0 ** (2 - i), N_FEATURES)
        return Vector(weights, _features(n, rng))

    return Hierarchy([[vector(i) for _ in range(32**i)] for i in range(N_STAGES)])


def authors_function(n: int, seed: int) -> Hierarchy:
    """The second public example: weights +-[100, 200] / 4^i; every monomial of degree <= 3 equally likely."""
    rng = np.random.default_rng([n, seed, 1])
    monomials = [monomial for size in range(1, DEGREE + 1) for monomial in combinations(range(n), size)]

    def vector(i: int) -> Vector:
        weights = rng.uniform(100, 200, N_FEATURES) * rng.choice([-1, 1], N_FEATURES) / 4**i
        return Vector(weights, [monomials[k] for k in rng.integers(len(monomials), size=N_FEATURES)])

    return Hierarchy([[vector(i) for _ in range(32**i)] for i in range(N_STAGES)])


def _features(n: int, rng: np.random.Generator) -> list[Monomial]:
    """Five different monomials of random degree."""
    found: list[Monomial] = []
    while len(found) < N_FEATURES:
        monomial = tuple(sorted(rng.choice(n, int(rng.integers(1, DEGREE + 1)), replace=False).tolist()))
        found += [monomial] if monomial not in found else []
    return found
