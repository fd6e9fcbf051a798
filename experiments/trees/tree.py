"""Random decision trees over +-1 variables, and their exact Fourier expansion."""

from dataclasses import dataclass

import numpy as np

from overtone.spectral.monomials import FloatArray, Monomial

Terms = dict[Monomial, float]


@dataclass(frozen=True)
class Tree:
    """A leaf with a label, or a variable and two subtrees."""

    label: float = 0.0
    variable: int = -1
    low: "Tree | None" = None
    high: "Tree | None" = None

    def __call__(self, points: FloatArray) -> FloatArray:
        if self.low is None or self.high is None:
            return np.full(len(points), self.label)
        return np.where(points[:, self.variable] < 0, self.low(points), self.high(points))

    def fourier(self) -> Terms:
        """f = (1 - x_v)/2 f_low + (1 + x_v)/2 f_high, all the way down; coefficients that are not 0."""
        if self.low is None or self.high is None:
            return {(): self.label}
        terms: Terms = {}
        for sign, subtree in ((-1.0, self.low), (1.0, self.high)):
            for monomial, a in subtree.fourier().items():
                joined = tuple(sorted((*monomial, self.variable)))  # a path meets a variable once
                terms[monomial] = terms.get(monomial, 0.0) + a / 2
                terms[joined] = terms.get(joined, 0.0) + sign * a / 2
        return {monomial: a for monomial, a in terms.items() if a}


def random_tree(leaves: int, rng: np.random.Generator, free: frozenset[int], label: float = 1.0) -> Tree:
    """A tree of the given size: random variables, random splits of the size, labels that differ between siblings."""
    if leaves == 1:
        return Tree(label=label)
    variable = int(rng.choice(sorted(free)))
    left = leaves // 2 if leaves <= 3 else int(rng.integers(leaves // 4 + 1, leaves - leaves // 4))
    sign = float(rng.choice([-1.0, 1.0]))
    rest = free - {variable}
    return Tree(0.0, variable, random_tree(left, rng, rest, sign), random_tree(leaves - left, rng, rest, -sign))
