"""Stepwise selection on several sets of samples at once: all samples, and all folds but one.

The sets are rows of one stack, so that a step costs a few array operations for all of them together. Each set has its
own pool of monomials: those that its own scans found, so that no set knows what is held out from it. The Gram matrix
of pool and values is kept swept in the members: it then holds the residual sum of squares of every model that is one
step away. With (G^-1) of the members in one corner and, for a monomial j outside, c_j'c_j and c_j'r of what is
orthogonal to them,

    add j:         RSS - (c_j'r)^2 / c_j'c_j
    drop i:        RSS + w_i^2 / h_i,   h_i = (G^-1)_ii
    exchange i, j: RSS + w_i^2 / h_i - (c_j'r + b_ij w_i / h_i)^2 / (c_j'c_j + b_ij^2 / h_i),   b_ij = (G^-1 G)_ij

Letters: B sets, T samples, p monomials in a pool, D degrees.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from overtone.spectral.correlation import Dictionary, single_threaded_blas
from overtone.spectral.evidence import EXACT, misfit, prices
from overtone.spectral.lasso import honest_factors
from overtone.spectral.monomials import FloatArray, IntArray, Monomial, products

POOL = 24  # monomials that a scan adds to a pool
FEW = 64  # monomials that are few enough for all of them to be in the pools
WIDE = 60  # the same for matching pursuit, which takes more at once
SINGULAR = 1e-6  # of T: a column of which no more than this is new is a copy of others
TINY = float(np.finfo(np.float64).tiny)  # a sum of squares that is none
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True)
class Found:
    """A model for one set of samples: no step within the dictionary makes it better."""

    monomials: tuple[Monomial, ...]
    cost: float
    left: float  # the residual sum of squares, as a share of the values' own


def stepwise(
    dictionary: Dictionary,
    values: FloatArray,
    sets: BoolArray,
    starts: Sequence[Sequence[Monomial]],
    *,
    from_above: bool = False,
) -> list[Found]:
    """A model for each set of samples (B, T), step by step from its start.

    from_above: the start is first made far too large, by matching pursuit, and cut down again. That can find what
    steps from below miss: monomials that are strong only together.
    """
    with single_threaded_blas():
        if from_above:
            starts = [_pursuit(dictionary, values, seen) for seen in sets]
        stack = _Stack(dictionary, values, sets, starts)
        if from_above:
            stack.prune()
        return stack.run()


def _pursuit(dictionary: Dictionary, values: FloatArray, seen: BoolArray) -> list[Monomial]:
    """Orthogonal matching pursuit to T/4 monomials; between scans as many are added as there are."""
    factors = honest_factors(dictionary)
    T = int(seen.sum())
    r = np.where(seen, values - values[seen].mean(), 0.0)  # 0 outside of the set
    exact = EXACT * float(r @ r)
    members: list[Monomial] = []
    Q = np.zeros((0, len(r)))  # orthonormal basis of the members
    while len(members) < T // 4 and r @ r > exact:
        names = [m for m in dictionary.strongest_each(r[None], factors=factors, limit=WIDE)[0] if m not in members]
        C = products(dictionary.columns.values, names).T  # (candidates, T)
        C = np.where(seen, C - C[:, seen].mean(axis=1, keepdims=True), 0.0)
        weights = np.array([factors[len(m) - 1] for m in names])
        for _ in range(min(len(names), max(4, len(members)))):
            best = int(np.argmax(np.abs(C @ r) / weights))
            q = C[best] - (Q @ C[best]) @ Q
            norm = float(np.linalg.norm(q))
            weights[best] = np.inf  # taken
            if norm <= np.sqrt(SINGULAR * T) or len(members) >= T // 4:  # a copy of what is there
                continue
            members.append(names[best])
            Q = np.vstack([Q, q / norm])
            r = r - Q[-1] * (Q[-1] @ r)
        if not names or members[-1] not in names:
            break  # nothing but copies is left
    return members


class _Stack:
    """The models of all sets, their pools, and the swept Gram matrices."""

    def __init__(
        self, dictionary: Dictionary, values: FloatArray, sets: BoolArray, starts: Sequence[Sequence[Monomial]]
    ) -> None:
        self.dictionary, self.factors = dictionary, honest_factors(dictionary)
        self.one = np.eye(dictionary.degree, dtype=np.intp)
        self.sets = sets.astype(np.float64)  # (B, T)
        self.sizes = self.sets.sum(axis=1)  # (B,)
        self.y = self.sets * (values - (self.sets @ values / self.sizes)[:, None])  # (B, T), centred, 0 if not in it
        self.total = np.maximum((self.y**2).sum(axis=1), TINY)
        self.prices = _stacked([prices(tuple(dictionary.counts), int(T)) for T in self.sizes])  # (B, D, k)
        spare = self.sizes.astype(np.intp) - 2
        self.largest = np.clip(spare // 3, np.minimum(1, spare), None)  # members of a model
        n_monomials = sum(dictionary.counts[1:])
        self.limit = n_monomials if n_monomials <= FEW else POOL
        self.names: list[list[Monomial]] = [[] for _ in self.y]
        self.C = np.zeros((*self.y.shape, 0))  # (B, T, p)
        self.A = (self.y**2).sum(axis=1)[:, None, None]  # (B, p + 1, p + 1), the values last
        self.inside = np.zeros((len(self.y), 0), dtype=np.bool_)
        self.kinds = np.zeros((len(self.y), 0), dtype=np.intp)  # degrees, less 1
        self.start(starts)

    def run(self) -> list[Found]:
        """Scan, take steps within the pools, and again; until a scan brings no step."""
        active = (self.total > TINY) & (self.largest > 0)  # sets of equal values are done
        while (active := active & ~self.is_exact()).any():
            self.scan(active)
            active = self.improve(active) & (self.limit == POOL)  # else the pools hold all there is
        members = (compress(names, inside) for names, inside in zip(self.names, self.inside.tolist(), strict=True))
        left = self.A[:, -1, -1] / self.total
        return [Found(*each) for each in zip(map(tuple, members), self.cost().tolist(), left.tolist(), strict=True)]

    def prune(self) -> None:
        """Backward elimination: drop what the models are better without, a few at once while there are many."""
        k = self.inside.sum(axis=1)
        while True:
            costs, now = self.drops(), self.cost()
            worse = (costs < now[:, None]).sum(axis=1)
            n = np.where(worse > 0, np.maximum(1, worse // 3), k > self.largest)
            if not n.any():
                return
            order = costs.argsort(axis=1, kind="stable")
            for step in range(int(n.max())):
                rows = np.flatnonzero(step < n)
                self.sweep(rows, order[rows, step])
            k = self.inside.sum(axis=1)

    def start(self, models: Sequence[Sequence[Monomial]]) -> None:
        """Take some members in."""
        self.extend([list(model[: int(most)]) for model, most in zip(models, self.largest, strict=True)])
        for column in range(self.inside.shape[1]):
            rows = np.array([b for b, names in enumerate(self.names) if names[column]], dtype=np.intp)
            self.sweep(rows, np.full(len(rows), column))

    # the pools

    def scan(self, active: BoolArray) -> None:
        """Add the monomials that fit the residual of each active set best, of all there are."""
        w = np.where(self.inside, self.A[:, :-1, -1], 0.0)
        r = self.y[active] - np.einsum("btp,bp->bt", self.C[active], w[active])
        found = iter(self.dictionary.strongest_each(r, factors=self.factors, limit=self.limit))
        self.extend([next(found) if yes else [] for yes in active.tolist()])

    def extend(self, new: Sequence[Sequence[Monomial]]) -> None:
        """Join new monomials; where a set has fewer than others, its pool is filled up with nothing."""
        fresh = [[m for m in some if m not in names] for some, names in zip(new, self.names, strict=True)]
        width = max(map(len, fresh))
        N = self.columns_of([[*some, *[()] * (width - len(some))] for some in fresh])  # (B, T, width)
        self.border(N)
        self.C = np.concatenate([self.C, N], axis=2)
        for names, some in zip(self.names, fresh, strict=True):
            names += [*some, *[()] * (width - len(some))]
        self.inside = np.concatenate([self.inside, np.zeros((len(new), width), dtype=np.bool_)], axis=1)
        self.kinds = np.array([[max(0, len(name) - 1) for name in names] for names in self.names], dtype=np.intp)

    def columns_of(self, names: Sequence[Sequence[Monomial]]) -> FloatArray:
        """Centred in each set, 0 outside; () gives 0.  # (B, T, width)"""
        union = {m: i for i, m in enumerate(dict.fromkeys(m for some in names for m in some))}
        P = products(self.dictionary.columns.values, list(union)).T  # (u, T)
        means = self.sets @ P.T / self.sizes[:, None]  # (B, u)
        which = np.array([[union[m] for m in some] for some in names], dtype=np.intp).reshape(len(names), -1)
        each = np.arange(len(names))[:, None]
        centred = (P[which] - means[each, which][:, :, None]) * self.sets[:, None, :]
        return np.asarray(centred.swapaxes(1, 2))

    # the swept Gram matrix

    def border(self, N: FloatArray) -> None:
        """Widen A by new columns N, as if they had been there when the members were swept in."""
        p = self.C.shape[2]
        both = self.inside[:, :, None] & self.inside[:, None, :]
        inverse = np.where(both, -self.A[:, :p, :p], 0.0)  # of the members' Gram matrix
        w = inverse @ (self.C.swapaxes(1, 2) @ N)  # (B, p, width): the members' share in the new columns
        N = N - self.C @ w
        cross = np.where(self.inside[:, :, None], w, self.C.swapaxes(1, 2) @ N)
        own, right = N.swapaxes(1, 2) @ N, self.y[:, None, :] @ N  # (B, width, width), (B, 1, width)
        old, values, y = self.A[:, :p, :p], self.A[:, :p, p:], self.A[:, p:, p:]
        top = np.concatenate([old, cross, values], axis=2)
        middle = np.concatenate([cross.swapaxes(1, 2), own, right.swapaxes(1, 2)], axis=2)
        last = np.concatenate([values.swapaxes(1, 2), right, y], axis=2)
        self.A = np.concatenate([top, middle, last], axis=1)

    def sweep(self, rows: IntArray, pivots: IntArray) -> None:
        """Take a monomial in, or out if it is in, in some sets; copies of what is there stay out. Pivot -1: none."""
        d = self.A[rows, pivots, pivots]
        sound = (pivots >= 0) & (self.inside[rows, pivots] | (d > SINGULAR * self.sizes[rows]))
        rows, pivots, d = rows[sound], pivots[sound], d[sound]
        if not len(rows):
            return
        column = self.A[rows, :, pivots]  # (b, p + 1), a copy
        A = self.A if len(rows) == len(self.A) else self.A[rows]  # in place, where all are meant
        A -= column[:, :, None] * (column / d[:, None])[:, None, :]
        sign = np.where(self.inside[rows, pivots], -1.0, 1.0)
        scaled = column * (sign / d)[:, None]
        each = np.arange(len(rows))
        A[each, pivots, :] = scaled
        A[each, :, pivots] = scaled
        A[each, pivots, pivots] = -1 / d
        if A is not self.A:
            self.A[rows] = A
        self.inside[rows, pivots] ^= True

    def is_exact(self) -> BoolArray:
        """What is left is rounding.  # (B,)"""
        return np.asarray(self.A[:, -1, -1] <= EXACT * self.total)

    # what models are worth

    def own(self) -> FloatArray:
        """The diagonal of A: -(G^-1)_jj of members, c_j'c_j of what others have of their own.  # (B, p)"""
        return np.diagonal(self.A, axis1=1, axis2=2)[:, :-1]

    def counts(self) -> IntArray:
        """Members of each degree.  # (B, D)"""
        return np.stack([(self.inside & (self.kinds == d)).sum(axis=1) for d in range(self.dictionary.degree)], axis=1)

    def price(self, counts: IntArray) -> FloatArray:
        """Nats to name the members, from how many there are of each degree.  # (B, .., D) -> (B, ..)"""
        b = np.arange(len(counts)).reshape(-1, *[1] * (counts.ndim - 1))
        return np.asarray(self.prices[b, np.arange(counts.shape[-1]), counts].sum(axis=-1))

    def misfit(self, k: IntArray, rss: FloatArray) -> FloatArray:
        """Nats for what is left.  # k (B,), rss (B, ..)"""
        shape = (-1, *[1] * (rss.ndim - 1))
        return misfit(self.sizes.reshape(shape), k.reshape(shape), rss / self.total.reshape(shape))

    def cost(self) -> FloatArray:
        """Of the models as they are.  # (B,)"""
        return self.misfit(self.inside.sum(axis=1), self.A[:, -1, -1]) + self.price(self.counts())

    # steps

    def improve(self, active: BoolArray) -> BoolArray:
        """The best step of each set, again and again; says which sets took any.  # (B,)"""
        moved, going, cost = np.zeros_like(active), active & (self.inside.shape[1] > 0), self.cost()
        while (going := going & ~self.is_exact()).any():
            steps = self.single_steps()
            if not (going & _is_less(steps[0], cost)).any():
                steps = self.exchanges()
                going = going & _is_less(steps[0], cost)
            better, out, new = steps
            rows = np.flatnonzero(going & _is_less(better, cost))
            self.sweep(rows, out[rows])
            self.sweep(rows, new[rows])
            before, cost = cost, self.cost()
            moved[rows] = True
            going[rows] = _is_less(cost, before)[rows]  # not by rounding alone
        return moved

    def single_steps(self) -> tuple[FloatArray, IntArray, IntArray]:
        """Add one or drop one: the best cost, what goes out for it and what comes in, or -1.  # (B,) each"""
        costs = np.where(self.inside, self.drops(), self.additions())
        best = costs.argmin(axis=1)
        b = np.arange(len(best))
        drops = self.inside[b, best]
        return costs[b, best], np.where(drops, best, -1), np.where(drops, -1, best)

    def additions(self) -> FloatArray:
        """The cost with each monomial that is not in yet; infinite for the others.  # (B, p)"""
        k = self.inside.sum(axis=1)
        rss, own, right = self.A[:, -1:, -1], self.own(), self.A[:, :-1, -1]
        fits = ~self.inside & (own > SINGULAR * self.sizes[:, None]) & (k < self.largest)[:, None]
        left = np.maximum(rss - right**2 / np.where(fits, own, 1.0), 0.0)
        prices = self.price(self.counts()[:, None] + self.one)
        return np.where(fits, self.misfit(k + 1, left) + np.take_along_axis(prices, self.kinds, axis=1), np.inf)

    def drops(self) -> FloatArray:
        """The cost without each member; infinite for the others.  # (B, p)"""
        k = self.inside.sum(axis=1)
        rss, h, w = self.A[:, -1:, -1], np.where(self.inside, -self.own(), 1.0), self.A[:, :-1, -1]
        prices = self.price(self.counts()[:, None] - self.one)
        costs = self.misfit(k - 1, rss + w**2 / h) + np.take_along_axis(prices, self.kinds, axis=1)
        return np.where(self.inside, costs, np.inf)

    def exchanges(self) -> tuple[FloatArray, IntArray, IntArray]:
        """The best exchange of a member i for another monomial j, as `single_steps`.  # (B,) each"""
        p, k, one = self.inside.shape[1], self.inside.sum(axis=1), self.one
        b = np.arange(len(k))[:, None]
        i = np.argsort(~self.inside, axis=1, kind="stable")[:, : max(1, int(k.max()))]  # (B, m), members first
        is_member = self.inside[b, i]
        h = np.where(is_member, -self.A[b, i, i], 1.0)
        w, cross = self.A[b, i, -1], self.A[b, i, :-1]  # (B, m), (B, m, p)
        own = self.own()[:, None, :] + cross**2 / h[:, :, None]
        right = self.A[:, None, :-1, -1] + cross * (w / h)[:, :, None]
        fits = ~self.inside[:, None, :] & is_member[:, :, None] & (own > SINGULAR * self.sizes[:, None, None])
        grown = self.A[:, -1, -1][:, None] + w**2 / h  # (B, m)
        left = np.maximum(grown[:, :, None] - right**2 / np.where(fits, own, 1.0), 0.0)  # (B, m, p)
        prices = self.price(self.counts()[:, None, None] - one[:, None, :] + one)  # (B, D of i, D of j)
        costs = self.misfit(k, left) + prices[b[:, :, None], self.kinds[b, i][:, :, None], self.kinds[:, None, :]]
        costs = np.where(fits, costs, np.inf).reshape(len(k), -1)
        best = costs.argmin(axis=1)
        return costs[b[:, 0], best], i[b[:, 0], best // p], best % p


def _stacked(tables: Sequence[FloatArray]) -> FloatArray:
    """One more column than the longest has; beyond their end, their last column, for models that are too large."""
    width = max(table.shape[1] for table in tables) + 1
    return np.stack([np.pad(table, ((0, 0), (0, width - table.shape[1])), mode="edge") for table in tables])


def _is_less(a: FloatArray, b: FloatArray) -> BoolArray:
    """By more than rounding."""
    return np.asarray(a < b - 1e-9 * (1 + np.abs(b)))
