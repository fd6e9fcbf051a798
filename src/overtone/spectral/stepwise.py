"""Stepwise selection on several sets of samples at once: all samples, and all folds but one.

The sets are rows of one stack, so that a step costs a few array operations for all of them together. Each set has its
own pool of monomials: those that its own scans found, so that no set knows what is held out from it. The Gram matrix A
of the values (its row 0) and the pool is kept swept in the members: it then holds the residual sum of squares of every
model that is one step away. With -(G^-1) of the members in one corner and, for a monomial j outside, c_j'c_j and c_j'r
of what is orthogonal to them, w the coefficients, h_i = (G^-1)_ii and b_ij = (G^-1 G)_ij,

    add j, drop j: RSS - A_j0^2 / A_jj, which is RSS - (c_j'r)^2 / c_j'c_j, or RSS + w_j^2 / h_j
    exchange i, j: RSS + w_i^2 / h_i - (c_j'r + b_ij w_i / h_i)^2 / (c_j'c_j + b_ij^2 / h_i)

Letters: B sets, T samples, p monomials in a pool, D degrees.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from overtone.spectral.correlation import Dictionary, single_threaded_blas
from overtone.spectral.evidence import EXACT, misfit, prices
from overtone.spectral.lasso import honest_factors
from overtone.spectral.monomials import FloatArray, IntArray, Monomial

POOL = 24  # monomials that a scan adds to a pool
FEW = 64  # monomials that are few enough for all of them to be in the pools
WIDE = 60  # the same for matching pursuit, which takes more at once
MANY = 4  # members from which on they are swept all at once
SINGULAR = 1e-6  # of T: a column of which no more than this is new is a copy of others
ONE_MORE_OR_LESS = np.array([0, 1, -1])[:, None, None]
TINY = float(np.finfo(np.float64).tiny)  # a sum of squares that is none
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True)
class Found:
    """A model for one set of samples: no step within the dictionary makes it better."""

    monomials: tuple[Monomial, ...]
    weights: FloatArray  # of the monomials
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
    unit = float(np.ldexp(1.0, int(np.frexp(np.ptp(values))[1])))  # the fourth power of huge values is no number
    values = values / unit
    with single_threaded_blas():
        if from_above:
            starts = [_pursuit(dictionary, values, seen) for seen in sets]
        stack = _Stack(dictionary, values, sets, starts)
        if from_above:
            stack.prune()
        return [replace(found, weights=found.weights * unit) for found in stack.run()]


def _pursuit(dictionary: Dictionary, values: FloatArray, seen: BoolArray) -> list[Monomial]:
    """Orthogonal matching pursuit to T/4 monomials; between scans as many are added as there are."""
    factors = honest_factors(dictionary)
    T = int(seen.sum())
    r = np.where(seen, values - values[seen].mean(), 0.0)  # 0 outside of the set
    exact = EXACT * float(r @ r)
    members: list[Monomial] = []
    Q = np.zeros((0, len(r)))  # orthonormal basis of the members
    while len(members) < T // 4 and r @ r > exact:
        (found,), known = dictionary.strongest_each(r[None], factors=factors, limit=WIDE), set(members)
        names = [m for m in found if m not in known]
        C = dictionary.columns.products(names).T  # (candidates, T)
        C = np.where(seen, C - C[:, seen].mean(axis=1, keepdims=True), 0.0)
        C -= (C @ Q.T) @ Q  # what is new in them
        most = min(max(4, len(members)), T // 4 - len(members))
        taken = _picked(C, r, np.array([factors[len(m) - 1] for m in names]), most, SINGULAR * T)
        if not taken:
            break  # nothing but copies is left
        members += [names[i] for i in taken]
        new = np.linalg.qr(C[taken].T)[0].T
        r = r - (new @ r) @ new
        Q = np.vstack([Q, new])
    return members


def _picked(C: FloatArray, r: FloatArray, weights: FloatArray, most: int, least: float) -> list[int]:
    """Matching pursuit among a few candidates (rows of C): which ones, of those with more than `least` of their own.

    On their Gram matrix: G holds what is left of them beside those that were picked, c how they fit the residual then.
    """
    G, c = C @ C.T, C @ r
    picked: list[int] = []
    for _ in range(min(len(C), most)):
        best = int(np.argmax(np.abs(c) / weights))
        weights[best] = np.inf  # not again
        own = float(G[best, best])
        if own > least:  # else it is a copy of what is there
            share = G[best] / own
            c -= share * c[best]
            G -= np.multiply.outer(share, G[best])
            picked.append(best)
    return picked


class _Stack:
    """The models of all sets, their pools, and the swept Gram matrices: q rows, the values and p monomials each."""

    def __init__(
        self, dictionary: Dictionary, values: FloatArray, sets: BoolArray, starts: Sequence[Sequence[Monomial]]
    ) -> None:
        self.dictionary, self.factors = dictionary, honest_factors(dictionary)
        self.sets = sets.astype(np.float64)  # (B, T)
        self.sizes = self.sets.sum(axis=1)  # (B,)
        y = self.sets * (values - (self.sets @ values / self.sizes)[:, None])  # (B, T), centred, 0 if not in it
        self.norm = np.sqrt(np.maximum((y**2).sum(axis=1), TINY))  # (B,); squares of squares of values would overflow
        self.C = (y / self.norm[:, None])[:, None, :]  # (B, q, T), the values first
        self.A = (self.C[:, 0] ** 2).sum(axis=1)[:, None, None]  # (B, q, q)
        self.total = np.maximum(self.A[:, 0, 0], TINY)
        spare = self.sizes.astype(np.intp) - 2
        self.largest = np.clip(spare // 3, np.minimum(1, spare), None)  # members of a model
        self.least = SINGULAR * self.sizes  # what a member must have of its own
        tables = [prices(tuple(dictionary.counts), int(T)) for T in self.sizes]
        self.prices = _stacked(tables, max(0, int(self.largest.max())) + 2)  # (B, D, k)
        n_monomials = sum(dictionary.counts[1:])
        self.limit = n_monomials if n_monomials <= FEW else POOL
        self.each = np.arange(len(y))[:, None]
        self.names: list[list[Monomial]] = [[()] for _ in y]  # () is no monomial
        self.inside = np.zeros((len(y), 1), dtype=np.bool_)  # (B, q)
        self.kinds = np.zeros((len(y), 1), dtype=np.intp)  # (B, q), degrees, less 1
        self.counts = np.zeros((len(y), dictionary.degree), dtype=np.intp)  # members of each degree
        self.start(starts)

    def run(self) -> list[Found]:
        """Scan, take steps within the pools, and again; until a scan brings no step."""
        active = (self.total > TINY) & (self.largest > 0)  # sets of equal values are done
        while (active := active & ~self.is_exact()).any():
            self.scan(active)
            active = self.improve(active) & (self.limit == POOL)  # else the pools hold all there is
        members = map(tuple, map(compress, self.names, self.inside.tolist()))
        weights = (norm * A[inside, 0] for norm, A, inside in zip(self.norm, self.A, self.inside, strict=True))
        left = self.A[:, 0, 0] / self.total
        return [Found(*each) for each in zip(members, weights, self.cost().tolist(), left.tolist(), strict=True)]

    def prune(self) -> None:
        """Backward elimination: drop what the models are better without, a few at once while there are many."""
        while True:
            steps = self.single_steps()
            costs = np.where(self.inside, steps, np.inf)
            worse = (costs < steps[:, :1]).sum(axis=1)
            n = np.where(worse > 0, np.maximum(1, worse // 3), 0)
            if not n.any():
                return
            order = costs.argsort(axis=1, kind="stable")
            if n.max() > MANY and self.take(self.inside & (order.argsort(axis=1) >= n[:, None])):
                continue
            for step in range(int(n.max())):
                rows = np.flatnonzero(step < n)
                self.sweep(rows, order[rows, step])

    def start(self, models: Sequence[Sequence[Monomial]]) -> None:
        """Take some members in, all at once; one by one, if some may be copies of others."""
        self.extend([list(model[: int(most)]) for model, most in zip(models, self.largest, strict=True)])
        named = np.array([[bool(name) for name in names] for names in self.names])
        if named.any() and not self.take(named):
            for column in range(1, named.shape[1]):
                rows = np.flatnonzero(named[:, column])
                self.sweep(rows, np.full(len(rows), column))

    # the pools

    def scan(self, active: BoolArray) -> None:
        """Add the monomials that fit the residual of each active set best, of all there are."""
        w = np.where(self.inside, -self.A[:, :, 0], 0.0)
        w[:, 0] = 1.0  # r = y - C w
        r = (w[:, None, :] @ self.C)[active, 0]
        found = iter(self.dictionary.strongest_each(r, factors=self.factors, limit=self.limit))
        self.extend([next(found) if yes else [] for yes in active.tolist()])

    def extend(self, new: Sequence[Sequence[Monomial]]) -> None:
        """Join new monomials; where a set has fewer than others, its pool is filled up with nothing."""
        known = map(set, self.names)
        fresh = [[m for m in some if m not in names] for some, names in zip(new, known, strict=True)]
        width = max(map(len, fresh))
        if width == 0:
            return
        fresh = [[*some, *[()] * (width - len(some))] for some in fresh]
        N = self.columns_of(fresh)  # (B, width, T)
        self.border(N)
        self.C = np.concatenate([self.C, N], axis=1)
        for names, some in zip(self.names, fresh, strict=True):
            names += some
        kinds = np.array([[max(0, len(name) - 1) for name in some] for some in fresh], dtype=np.intp)
        self.inside = np.concatenate([self.inside, np.zeros(kinds.shape, dtype=np.bool_)], axis=1)
        self.kinds = np.concatenate([self.kinds, kinds], axis=1)

    def columns_of(self, names: Sequence[Sequence[Monomial]]) -> FloatArray:
        """Centred in each set, 0 outside; () gives 0.  # (B, width, T)"""
        union = {m: i for i, m in enumerate(dict.fromkeys(m for some in names for m in some))}
        P = self.dictionary.columns.products(list(union)).T  # (u, T)
        means = self.sets @ P.T / self.sizes[:, None]  # (B, u)
        which = np.array([[union[m] for m in some] for some in names], dtype=np.intp)
        centred = P[which]
        centred -= means[self.each, which][:, :, None]
        centred *= self.sets[:, None, :]
        return np.asarray(centred)

    # the swept Gram matrix

    def border(self, N: FloatArray) -> None:
        """Widen A by new columns N, as if they had been there when the members were swept in."""
        B, q, width = len(N), self.C.shape[1], N.shape[1]
        Nt = N.swapaxes(1, 2)
        cross = self.C @ Nt  # (B, q, width)
        mine = np.where(self.inside[:, :, None], cross, 0.0)  # the members' part
        swept = self.A @ mine  # -G^-1 of it for members; what others share with the new ones through them
        A = np.empty((B, q + width, q + width))
        A[:, :q, :q] = self.A
        A[:, :q, q:] = cross - mine - swept
        A[:, q:, :q] = A[:, :q, q:].swapaxes(1, 2)
        A[:, q:, q:] = N @ Nt + mine.swapaxes(1, 2) @ swept
        self.A = A

    def take(self, members: BoolArray) -> bool:
        """Sweep the Gram matrix in these members and no others; False, and nothing is done, if some are copies."""
        G = self.C @ self.C.swapaxes(1, 2)
        both = members[:, :, None] & members[:, None, :]
        try:
            inverse = np.linalg.inv(np.where(both, G, np.eye(G.shape[1])))
        except np.linalg.LinAlgError:
            return False
        h = np.diagonal(inverse, axis1=1, axis2=2)
        if not (~members | ((h > 0) & (h * self.least[:, None] < 1))).all():
            return False
        mine = np.where(members[:, :, None], G, 0.0)
        share = np.where(both, inverse, 0.0) @ mine  # (B, q, q), G^-1 G in the rows of members
        A = np.where(members[:, :, None], share, G - mine.swapaxes(1, 2) @ share)
        A = np.where(members[:, None, :], share.swapaxes(1, 2), A)
        self.A, self.inside = np.where(both, -inverse, A), members
        kinds = np.where(members, self.kinds, -1)[:, :, None] == np.arange(self.counts.shape[1])
        self.counts = kinds.sum(axis=1)
        return True

    def sweep(self, rows: IntArray, pivots: IntArray) -> None:
        """Take a monomial in, or out if it is in, in some sets; copies of what is there stay out. Pivot 0: none."""
        d, is_in = self.A[rows, pivots, pivots], self.inside[rows, pivots]
        sound = (pivots > 0) & (is_in | (d > self.least[rows]))
        if not sound.all():
            rows, pivots, d, is_in = rows[sound], pivots[sound], d[sound], is_in[sound]
        if not len(rows):
            return
        column = self.A[rows, :, pivots]  # (b, q), a copy
        scaled = column / d[:, None]
        A = self.A if len(rows) == len(self.A) else self.A[rows]  # in place, where all are meant
        A -= column[:, :, None] * scaled[:, None, :]
        scaled[is_in] *= -1
        each = self.each[: len(rows), 0]
        A[each, pivots, :] = scaled
        A[each, :, pivots] = scaled
        A[each, pivots, pivots] = -1 / d
        if A is not self.A:
            self.A[rows] = A
        self.inside[rows, pivots] ^= True
        self.counts[rows, self.kinds[rows, pivots]] += np.where(is_in, -1, 1)

    def is_exact(self) -> BoolArray:
        """What is left is rounding.  # (B,)"""
        return np.asarray(self.A[:, 0, 0] <= EXACT * self.total)

    # what models are worth

    def price(self) -> FloatArray:
        """Nats to name the members of each degree; with one more; with one less.  # (3, B, D)"""
        degrees = np.arange(self.counts.shape[1])
        return np.asarray(self.prices[self.each, degrees, self.counts + ONE_MORE_OR_LESS])

    def cost(self) -> FloatArray:
        """Of the models as they are.  # (B,)"""
        left = self.A[:, 0, 0] / self.total
        return np.asarray(misfit(self.sizes, self.counts.sum(axis=1), left) + self.price()[0].sum(axis=1))

    # steps

    def improve(self, active: BoolArray) -> BoolArray:
        """The best step of each set, again and again; says which sets took any.  # (B,)"""
        moved, going, cost = np.zeros_like(active), active, self.cost()
        while (going := going & ~self.is_exact()).any():
            better, out, new = self.best_single()
            if not (going & _is_less(better, cost)).any():
                better, out, new = self.best_exchange()
                going = going & _is_less(better, cost)
            rows = np.flatnonzero(going & _is_less(better, cost))
            self.sweep(rows, out[rows])
            self.sweep(rows, new[rows])
            before, cost = cost, self.cost()
            moved[rows] = True
            going[rows] = _is_less(cost, before)[rows]  # not by rounding alone
        return moved

    def best_single(self) -> tuple[FloatArray, IntArray, IntArray]:
        """Add one or drop one: the best cost, what goes out for it and what comes in, or 0.  # (B,) each"""
        costs = self.single_steps()
        best, b = costs.argmin(axis=1), self.each[:, 0]
        drops = self.inside[b, best]
        return costs[b, best], np.where(drops, best, 0), np.where(drops, 0, best)

    def single_steps(self) -> FloatArray:
        """The cost without each member, and with each monomial that is not in yet; infinite for copies.  # (B, q)

        In the place of the values: the cost without any step.
        """
        k, own = self.counts.sum(axis=1), np.diagonal(self.A, axis1=1, axis2=2)
        fits = self.inside | ((own > self.least[:, None]) & (k < self.largest)[:, None])
        fits[:, 0] = False  # the values
        left = self.A[:, :1, 0] - self.A[:, :, 0] ** 2 / np.where(fits, own, 1.0)
        fits[:, 0], left[:, 0] = True, self.A[:, 0, 0]
        prices = self.price()
        now = prices[0].sum(axis=1)
        after = now[:, None] + (prices[1:] - prices[0])  # (2, B, D), with one more and one less of a degree
        costs: FloatArray = after[self.inside.view(np.int8), self.each, self.kinds]
        costs[:, 0] = now
        k = k[:, None] + np.where(self.inside, -1, 1)
        k[:, 0] -= 1
        costs += misfit(self.sizes[:, None], k, left / self.total[:, None])
        costs[~fits] = np.inf
        return costs

    def best_exchange(self) -> tuple[FloatArray, IntArray, IntArray]:
        """The best exchange of a member i for another monomial j, as `best_single`.  # (B,) each"""
        k, q, b = self.counts.sum(axis=1), self.inside.shape[1], self.each
        i = np.argsort(~self.inside, axis=1, kind="stable")[:, : max(1, int(k.max()))]  # (B, m), members first
        is_member = self.inside[b, i]
        h = np.where(is_member, -self.A[b, i, i], 1.0)
        w, cross = self.A[b, i, 0], self.A[b, i, :]  # (B, m), (B, m, q)
        own = np.diagonal(self.A, axis1=1, axis2=2)[:, None, :] + cross**2 / h[:, :, None]
        right = self.A[:, None, :, 0] + cross * (w / h)[:, :, None]
        fits = ~self.inside[:, None, :] & is_member[:, :, None] & (own > self.least[:, None, None])
        fits[:, :, 0] = False  # the values
        grown = self.A[:, :1, 0] + w**2 / h  # (B, m)
        left = grown[:, :, None] - right**2 / np.where(fits, own, 1.0)  # (B, m, q)
        costs = misfit(self.sizes[:, None, None], k[:, None, None], left / self.total[:, None, None])
        costs += self.exchange_prices()[b[:, :, None], self.kinds[b, i][:, :, None], self.kinds[:, None, :]]
        costs = np.where(fits, costs, np.inf).reshape(len(k), -1)
        best = costs.argmin(axis=1)
        return costs[b[:, 0], best], i[b[:, 0], best // q], best % q

    def exchange_prices(self) -> FloatArray:
        """Nats to name the members, after one of a degree was exchanged for one of another.  # (B, D, D)"""
        now, more, less = self.price()
        other = 1 - np.eye(now.shape[1])  # within a degree nothing changes
        changed = (less - now)[:, :, None] + (more - now)[:, None, :]
        return np.asarray(now.sum(axis=1)[:, None, None] + changed * other)


def _stacked(tables: Sequence[FloatArray], width: int) -> FloatArray:
    """All of one width; beyond their end, their last column, for models that are too large."""
    columns = np.arange(width)
    return np.stack([table[:, np.minimum(columns, table.shape[1] - 1)] for table in tables])


def _is_less(a: FloatArray, b: FloatArray) -> BoolArray:
    """By more than rounding."""
    return np.asarray(a < b - 1e-9 * (1 + np.abs(b)))
