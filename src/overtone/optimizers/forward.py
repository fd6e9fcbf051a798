"""The named part of spectral descent's model: monomials of degree 1 to 3, chosen one after another.

What is not named has the covariance C. A monomial psi is named if it stands out of that: its t-value
psi' C^-1 y / sqrt(psi' C^-1 psi) must exceed about sigma sqrt(2 PRICE log N_d), where sqrt(2 log N_d) is the honest
threshold for one choice among N_d monomials.
"""

import math
from dataclasses import dataclass
from heapq import nlargest
from operator import itemgetter

import numpy as np
from scipy.linalg.lapack import dpotrs

from overtone.spectral.columns import Columns
from overtone.spectral.correlation import Dictionary
from overtone.spectral.monomials import FloatArray, IntArray, Monomial, count_monomials, products

MOST = 40  # monomials
PRICE = 1.0  # of a choice among N monomials, in units of log N
AT_ONCE = 8  # that one scan may give
PRIOR = 100.0  # variance of the weight of a named monomial, as a multiple of that of all that is not named
TINY = 1e-14  # a share of the variance that is rounding
TRIPLES = 2e8  # operations of a scan up to which monomials of degree 3 are looked for


@dataclass(frozen=True, eq=False)
class Samples:
    """Columns (T, m) with their groups, values (T,), and of how many evaluations each value is the mean (T,).

    noise: variance of one evaluation, as repeated ones have it.
    """

    columns: FloatArray
    groups: IntArray
    values: FloatArray
    counts: FloatArray
    noise: float = 0.0


def choose(samples: Samples, factor: FloatArray) -> list[Monomial]:
    """The monomials, the constant first, then as they stand out; degree 3 when 1 and 2 have no more."""
    search = _Search(samples, factor)
    search.scan([()])
    most = min(MOST, len(samples.values) // 3)
    while len(search.chosen) <= most and (search.scan(search.strongest()) or search.scan(search.triples())):
        pass
    return search.chosen


class _Search:
    """C^-1 with what was named added to C: sum over the named of rank one each."""

    def __init__(self, samples: Samples, factor: FloatArray) -> None:
        self.V, self.groups, self.y = samples.columns, samples.groups, samples.values
        self.factor, self.T = factor, len(self.y)
        self.counts = count_monomials(self.groups, 3)
        self.chosen: list[Monomial] = []
        self.U = np.zeros((0, self.T))  # C^-1 psi, over the root of 1 / PRIOR + psi' C^-1 psi
        self.alpha = dpotrs(factor, self.y, lower=1)[0]  # C^-1 y
        self.short = V = self.V.astype(np.float32)  # which is enough to see what stands out
        W = V * V
        spread = W.sum(axis=0) - V.sum(axis=0) ** 2 / self.T, W.T @ W - (V.T @ V) ** 2 / self.T
        same = self.groups[:, None] >= self.groups  # a pair once, and never two columns of a group
        self.first = _inverse_root(spread[0], self.T) / self._threshold(1)  # (m,)
        self.second = np.where(same, np.float32(0), _inverse_root(spread[1], self.T)) / self._threshold(2)  # (m, m)
        self.dictionary: Dictionary | None = None

    def _threshold(self, degree: int) -> float:
        return math.sqrt(2 * math.log(max(2, self.counts[degree])))

    def strongest(self) -> list[Monomial]:
        """The monomials of degree 1 or 2 that seem to stand out most."""
        first = np.abs(self.V.T @ self.alpha) * self.first  # (m,)
        second = (self.short * self.alpha.astype(np.float32)[:, None]).T @ self.short  # (m, m)
        second = np.abs(second, out=second)
        second *= self.second
        rows = np.argsort(-second.max(axis=1), kind="stable")[:AT_ONCE]  # which have the greatest among them
        both: list[tuple[float, Monomial]] = [(each, (i,)) for i, each in enumerate(first.tolist())]
        both += [(float(second[i, j]), (int(i), j)) for i in rows for j in np.argsort(-second[i])[:AT_ONCE].tolist()]
        return [monomial for each, monomial in nlargest(AT_ONCE, both, key=itemgetter(0)) if each > 0]

    def triples(self) -> list[Monomial]:
        """The same for degree 3, by a scan of all, where it is affordable."""
        if not 0 < self.counts[3] * 2 * self.T <= TRIPLES:
            return []
        self.dictionary = self.dictionary or Dictionary(Columns(self.V, self.groups), 3, n_threads=1)
        found = self.dictionary.strongest(self.alpha, factors=[1e9, 1e9, 1.0], limit=AT_ONCE).monomials
        return [each for each in found if len(each) == 3 and each not in self.chosen]

    def scan(self, found: list[Monomial]) -> bool:
        """Name those for which there is evidence; False if there is for none."""
        X = products(self.V, found)  # (T, k)
        solved = dpotrs(self.factor, X, lower=1)[0] if found else X
        return sum(self.take(each, x, u) for each, x, u in zip(found, X.T, solved.T, strict=True)) > 0

    def take(self, monomial: Monomial, x: FloatArray, solved: FloatArray) -> bool:
        """Name psi = x, if log p(y) gains more than PRICE log N_d, for having chosen it among N_d."""
        u = solved - self.U.T @ (self.U @ x)
        square = float(x @ u)
        u = u / math.sqrt(1 / PRIOR + max(square, 0.0))
        before = max(float(self.y @ self.alpha), 1e-300)
        after = max(before - float(u @ self.y) ** 2, TINY * before)
        gain = 0.5 * self.T * math.log(before / after) - 0.5 * math.log(1 + PRIOR * max(square, 0.0))
        if monomial and (square <= 1e-9 * self.T or gain <= PRICE * math.log(self.counts[len(monomial)])):
            return False
        self.chosen.append(monomial)
        if len(monomial) == 1:
            self.first[monomial] = 0.0
        elif len(monomial) == 2:
            self.second[monomial] = 0.0
        self.U = np.vstack([self.U, u])
        self.alpha = self.alpha - u * float(u @ self.y)
        return True


def _inverse_root(spread: FloatArray, T: int) -> FloatArray:
    """1 / |x - mean x|; 0 for what hardly varies: 2 samples of T must differ."""
    varies = spread > 2.0 * min(1.0, 4 / T)
    return np.asarray(varies / np.sqrt(np.where(varies, spread, 1), dtype=spread.dtype), dtype=spread.dtype)
