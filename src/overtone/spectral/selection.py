"""Which monomials are in the polynomial: a search for the model of best evidence, started by Lasso and by greed.

A model is judged by its description length, see `evidence`. This is the careful search for one set of samples and a
sparsity that may be given; `stepwise` is the fast one for many sets.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from overtone.spectral.columns import centred
from overtone.spectral.correlation import Dictionary, single_threaded_blas
from overtone.spectral.evidence import EXACT, misfit, prices
from overtone.spectral.lasso import LassoSolver, honest_factors
from overtone.spectral.monomials import FloatArray, IntArray, Monomial

PATH = 0.5 ** np.arange(1, 5)  # penalties of the Lasso's proposals, as shares of the largest
LOOSE = 3e-3  # gap at which a Lasso solution is good enough to propose monomials
FINALISTS = 3  # proposals that are worth improving


@dataclass(frozen=True)
class Model:
    """Some monomials, refitted by least squares."""

    monomials: tuple[Monomial, ...]
    coefficients: FloatArray  # (k,)
    evidence: FloatArray  # (k,) nats that each monomial brings: cost without it minus cost
    cost: float
    residual: FloatArray  # (T,)


def select(
    dictionary: Dictionary, values: FloatArray, starts: Iterable[Sequence[Monomial]] = (), sparsity: int | None = None
) -> Model:
    """The best model that the search finds; `starts` are models to begin from; `sparsity` fixes the size."""
    with single_threaded_blas():
        return _Search(dictionary, values, sparsity).run(starts)


def refit(dictionary: Dictionary, values: FloatArray, monomials: Sequence[Monomial], *, prune: bool = False) -> Model:
    """A given model, fitted and judged; with `prune`, without the members that it is better without."""
    with single_threaded_blas():
        search = _Search(dictionary, values, None)
        members = search.join(monomials[: max(0, search.T - 2)])
        return search.model(search.prune(members) if prune else members)


class _Search:
    """The pool of monomials met so far, and moves between models: tuples of positions in the pool."""

    def __init__(self, dictionary: Dictionary, values: FloatArray, sparsity: int | None) -> None:
        self.dictionary = dictionary
        self.factors = honest_factors(dictionary)
        self.y = centred(values)
        self.T = len(values)
        self.total = float(self.y @ self.y) or 1.0  # constant values
        self.sparsity = sparsity
        self.largest = min(max(1, (self.T - 2) // 3) if sparsity is None else sparsity, self.T - 2)
        self.position: dict[Monomial, int] = {}
        self.C = np.zeros((self.T, 0))  # the pool's columns, centred
        self.degrees = np.zeros(0, dtype=np.intp)
        self.prices = prices(tuple(dictionary.counts), self.T)  # (degree, sizes)
        self._fits: dict[tuple[int, ...], tuple[FloatArray, FloatArray]] = {}
        self._scanned: set[tuple[int, ...]] = set()  # models whose residual was looked through for more

    def run(self, starts: Iterable[Sequence[Monomial]]) -> Model:
        if not self.y.any() or self.largest < 1:
            return self.model(())
        proposals = {self.prune(self.join(start)) for start in starts}
        proposals.add(())
        if self.sparsity is None and sum(self.dictionary.counts[1:]) <= self.largest:  # few enough to start from all
            proposals.add(self.prune(self.join(self.dictionary.strongest(self.y, limit=self.largest).monomials)))
        else:
            proposals |= {self.prune(members) for members in self.lasso_proposals()}
            if not self.is_exact(min(proposals, key=self.cost)):
                proposals.add(self.prune(self.greedy()))
        ranked = sorted(proposals, key=lambda members: (self.cost(members), members))
        finals = [self.improve(members) for members in ranked[:FINALISTS]]
        best = min(finals, key=lambda members: (self.cost(members), members))
        return self.model(best if self.sparsity is None else self.fill(best))

    # the pool

    def join(self, monomials: Iterable[Monomial]) -> tuple[int, ...]:
        """Positions in the pool, where new monomials are added."""
        names = tuple(monomials)
        new = [monomial for monomial in dict.fromkeys(names) if monomial not in self.position]
        if new:
            columns = self.dictionary.columns.products(new)
            self.position.update(zip(new, range(len(self.degrees), len(self.degrees) + len(new)), strict=True))
            self.C = np.hstack([self.C, columns - columns.mean(axis=0)])
            self.degrees = np.concatenate([self.degrees, [len(monomial) for monomial in new]])
        return tuple(sorted({self.position[monomial] for monomial in names}))

    def scan(self, residual: FloatArray, limit: int) -> IntArray:
        """The monomials that fit a residual best, of all there are.  # positions, best first"""
        level = self.dictionary.noise_level(residual, limit) / max(self.factors)
        found = self.dictionary.strongest(residual, factors=self.factors, level=level, limit=limit).monomials
        if not found:
            found = self.dictionary.strongest(residual, factors=self.factors, limit=limit).monomials
        self.join(found)
        return np.array([self.position[monomial] for monomial in found], dtype=np.intp)

    # what a model is worth

    def price(self, counts: IntArray) -> FloatArray:
        """Nats to name the monomials, from how many there are of each degree.  # (.., degree) -> (..)"""
        return np.asarray(self.prices[np.arange(self.dictionary.degree), counts].sum(axis=-1))

    def misfit(self, k: int, rss: FloatArray) -> FloatArray:
        """Nats for what is left."""
        return misfit(self.T, k, rss / self.total)

    def counts(self, members: Sequence[int]) -> IntArray:
        """How many members there are of degree 1, 2, ...  # (degree,)"""
        return np.bincount(self.degrees[list(members)], minlength=self.dictionary.degree + 1)[1:]

    def fit(self, members: tuple[int, ...]) -> tuple[FloatArray, FloatArray]:
        """Least squares: coefficients and residual. Models come back often, so their fits are kept."""
        if not members:
            return np.zeros(0), self.y
        if members not in self._fits:
            B = self.C[:, list(members)]
            w = np.asarray(np.linalg.lstsq(B, self.y, rcond=None)[0], dtype=np.float64)
            self._fits[members] = w, self.y - B @ w
        return self._fits[members]

    def cost(self, members: tuple[int, ...]) -> float:
        _, r = self.fit(members)
        return float(self.misfit(len(members), r @ r) + self.price(self.counts(members)))

    def is_exact(self, members: tuple[int, ...]) -> bool:
        _, r = self.fit(members)
        return bool(r @ r <= EXACT * self.total)

    def model(self, members: tuple[int, ...]) -> Model:
        names = list(self.position)
        w, r = self.fit(members)
        cost = self.cost(members)
        evidence = self.without_one(members, self.inverse(members), w, float(r @ r)) - cost
        return Model(tuple(names[i] for i in members), w, evidence, cost, r)

    # moves

    def inverse(self, members: Sequence[int]) -> FloatArray:
        """(B'B)^-1 with a trace of ridge, so that repeated columns do no harm."""
        B = self.C[:, list(members)]
        return np.asarray(np.linalg.inv(B.T @ B + 1e-10 * self.T * np.eye(len(members))))

    def without_one(self, members: Sequence[int], inverse: FloatArray, w: FloatArray, rss: float) -> FloatArray:
        """The cost of the model without each of its members: RSS grows by w_j^2 / (B'B)^-1_jj.  # (k,)"""
        k = len(members)
        if k == 0:
            return np.zeros(0)
        grown = rss + w**2 / np.diag(inverse)
        kinds = np.eye(self.dictionary.degree, dtype=np.intp)[self.degrees[list(members)] - 1]
        return self.misfit(k - 1, grown) + self.price(self.counts(members) - kinds)

    def prune(self, members: Sequence[int]) -> tuple[int, ...]:
        """Backward elimination: drop the members that the model is best without, as long as it gets better."""
        kept = np.array(members[: self.T - 2], dtype=np.intp)
        inverse = self.inverse(kept.tolist())
        while len(kept):
            right = self.C[:, kept].T @ self.y
            w = inverse @ right
            rss = max(0.0, self.total - float(right @ w))
            costs = self.without_one(kept.tolist(), inverse, w, rss)
            now = float(self.misfit(len(kept), np.asarray(rss)) + self.price(self.counts(kept.tolist())))
            worse = int((costs < now).sum())
            if worse == 0 and len(kept) <= self.largest:
                break
            dropped = np.argsort(costs, kind="stable")[: max(1, worse // 4)]  # a few at once while there are many
            stay = np.delete(np.arange(len(kept)), dropped)
            cross = inverse[np.ix_(stay, dropped)]
            inverse = inverse[np.ix_(stay, stay)] - cross @ np.linalg.solve(inverse[np.ix_(dropped, dropped)], cross.T)
            kept = kept[stay]
        return tuple(kept.tolist())

    def best_addition(self, members: tuple[int, ...]) -> tuple[float, int]:
        """The member of the pool that the model is best with, and the cost then: RSS falls by (c_j'r)^2 / |c_j|^2."""
        _, r = self.fit(members)
        norms = (self.C**2).sum(axis=0)
        if members:
            Q = np.linalg.qr(self.C[:, list(members)])[0]
            norms = norms - ((Q.T @ self.C) ** 2).sum(axis=0)  # of what is orthogonal to the model
        usable = norms > 1e-6 * self.T
        gain = np.where(usable, (r @ self.C) ** 2 / np.where(usable, norms, 1.0), 0.0)
        kinds = np.eye(self.dictionary.degree, dtype=np.intp)
        prices = self.price(self.counts(members) + kinds)[self.degrees - 1]
        costs = self.misfit(len(members) + 1, np.maximum(float(r @ r) - gain, 0.0)) + prices
        costs[list(members)] = np.inf
        best = int(np.argmin(costs))
        return float(costs[best]), best

    def weakest(self, members: tuple[int, ...], n: int) -> list[int]:
        w, _ = self.fit(members)
        loss = w**2 / np.diag(self.inverse(members)) if members else w
        return [members[i] for i in np.argsort(loss, kind="stable")[:n]]

    def moves(self, members: tuple[int, ...]) -> list[tuple[float, tuple[int, ...]]]:
        """Add one, drop one of the weakest, or exchange one of the weakest."""
        found = []
        if len(members) < self.largest:
            cost, new = self.best_addition(members)
            found.append((cost, tuple(sorted((*members, new)))))
        for weak in self.weakest(members, 4):
            rest = tuple(i for i in members if i != weak)
            cost, new = self.best_addition(rest)
            found += [(cost, tuple(sorted((*rest, new)))), (self.cost(rest), rest)]
        return found

    def improve(self, members: tuple[int, ...]) -> tuple[int, ...]:
        """The best move within the pool, again and again; when none is left, a full scan refreshes the pool."""
        cost = self.cost(members)
        while not self.is_exact(members):
            better, new = min(self.moves(members), key=lambda move: move[0], default=(cost, members))
            if better < cost - 1e-9 * (1 + abs(cost)):
                members, cost = new, better
            elif members in self._scanned:
                break
            else:
                self._scanned.add(members)
                self.scan(self.fit(members)[1], 100)
        return members

    def fill(self, members: tuple[int, ...]) -> tuple[int, ...]:
        """Up to the sparsity asked for, as long as there is something left to explain."""
        if len(members) < self.largest and not self.is_exact(members):
            self.join(self.dictionary.strongest(self.fit(members)[1], limit=2 * self.largest).monomials)
        while len(members) < min(self.largest, len(self.degrees)) and not self.is_exact(members):
            members = tuple(sorted((*members, self.best_addition(members)[1])))
        return members

    # proposals

    def lasso_proposals(self) -> Iterable[tuple[int, ...]]:
        """The supports of Lasso solutions along a path of penalties, largest coefficients first."""
        first = self.scan(self.y, 100)
        top = float(np.abs(self.C[:, first[0]] @ self.y) / (self.T * self.factors[self.degrees[first[0]] - 1]))
        solver = LassoSolver(self.dictionary, self.y, self.factors)
        for share in PATH:
            support = [m for m, _ in solver.solve(share * top, LOOSE, 5, warn=False).polynomial]
            members = self.join(support[: self.T // 3])
            yield members
            if len(support) > self.T // 3 or self.is_exact(members):
                return

    def greedy(self) -> tuple[int, ...]:
        """Orthogonal matching pursuit to T/4 monomials; between scans half as many are added as there are."""
        members: list[int] = []
        Q = np.zeros((self.T, 0))  # orthonormal basis of the members
        r = self.y
        weights = np.array(self.factors)
        while len(members) < self.T // 4 and r @ r > EXACT * self.total:
            candidates = self.scan(r, 50)
            for _ in range(max(3, len(members) // 2)):
                scores = np.abs(r @ self.C[:, candidates]) / weights[self.degrees[candidates] - 1]
                best = int(candidates[np.argmax(scores)])
                if best in members:  # nothing but rounding is left
                    return tuple(members)
                q = self.C[:, best] - Q @ (Q.T @ self.C[:, best])
                norm = float(np.linalg.norm(q))
                if norm <= 1e-6 * np.sqrt(self.T):  # a copy of what is there, or constant in these samples
                    return tuple(members)
                members.append(best)
                Q = np.column_stack([Q, q / norm])
                r = r - Q[:, -1] * (Q[:, -1] @ r)
        return tuple(members)
