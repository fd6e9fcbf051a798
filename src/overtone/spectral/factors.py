"""The t smallest values of a sum of small tables over many bits: mini-bucket elimination, then branch and bound.

A table does not look at bits but at *forms*, parities of bits. A form is a bit mask, its value at x is the parity of
`form & x`, so a monomial over {-1, 1} is a table over one form whatever its degree. Scopes are then subspaces over
GF(2), and what limits elimination is their rank: never more than the treewidth asks for, and often far less.

Bits are numbered in the order of the search; a form's leading bit is its last one. Eliminating bit d from a table psi
leaves the message min over bit d, and the residual `psi - message >= 0`. Hence for a node of the search tree
    bound(child) = bound(parent) + sum of the residuals of the child's bit,
which is the value at a leaf, and exact everywhere if no bucket had to be split into mini-buckets (Dechter 1997).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from overtone.spectral.gf2 import (
    BYTES,
    Bits,
    bit_matrix,
    bits_of,
    cells,
    coordinates,
    echelon,
    intersection,
    rewrite,
    switches,
    union,
)
from overtone.spectral.monomials import FloatArray, IntArray

Clause = tuple[tuple[int, int], ...]  # (form, value) pairs that must not all hold at once

CELLS = 1 << 24  # of all tables together; a cell takes 8 bytes
HOPELESS = 40  # ranks above are not told apart
LONG = 4  # a ban of more forms than this is checked in the search, if no table looks at all of them anyway
BLOCK = 4096  # nodes that are expanded at once, at most
STARTS, STEPS = 32, 1000  # of the tabu search, at most


@dataclass(frozen=True, eq=False)
class Factor:
    """`table[cell]`, where the bits of `cell` are the values of the forms, the first one the most significant."""

    forms: tuple[int, ...]  # linearly independent over GF(2)
    table: FloatArray  # (2^len(forms),)


@dataclass(frozen=True)
class Ban:
    """Values, one byte a form, that the forms must not have together."""

    forms: tuple[int, ...]
    values: frozenset[bytes]

    @classmethod
    def all_of(cls, clauses: Iterable[Clause]) -> list["Ban"]:
        """One for all clauses over the same forms."""
        groups: dict[tuple[int, ...], set[bytes]] = {}
        for clause in sorted(map(sorted, clauses)):
            groups.setdefault(tuple(form for form, _ in clause), set()).add(bytes(value for _, value in clause))
        return [cls(forms, frozenset(values)) for forms, values in groups.items()]

    def penalty(self, height: float) -> Factor:
        """`height` where the ban is broken, else 0."""
        table = np.zeros(1 << len(self.forms))
        for values in self.values:
            table[int("".join(map(str, values)), 2)] = height
        return Factor(self.forms, table)

    def broken(self, bits: Bits) -> NDArray[np.bool_]:
        """(m, n) -> (m,)."""
        parities = bits.astype(np.float64) @ bit_matrix(self.forms, bits.shape[1]).T % 2
        return np.array([row.tobytes() in self.values for row in parities.astype(np.uint8)], dtype=bool)


@dataclass(frozen=True, eq=False)
class Found:
    """The best assignments of the bits, best first, and what is known about all the others."""

    bits: Bits  # (r, n)
    values: FloatArray  # (r,)
    bound: float  # no allowed assignment has a smaller value
    proven: bool  # no assignment that is left out is better than one that is in
    spent: int  # nodes


def stacked(factors: Sequence[Factor]) -> tuple[IntArray, FloatArray]:
    """Where each table begins, and all tables in a row."""
    starts = np.cumsum([0, *(len(factor.table) for factor in factors)])[:-1]
    return starts, np.concatenate([np.zeros(0), *(factor.table for factor in factors)])


# ------------------------------------------------------------------ the order of the search


class _Scopes:
    """The scopes of the tables while bits are eliminated one by one, without the tables."""

    def __init__(self, n: int, scopes: Iterable[Sequence[int]]) -> None:
        self.spans: list[Sequence[int]] = []
        self.touching: list[set[int]] = [set() for _ in range(n)]  # the numbers of the spans that look at each bit
        for scope in scopes:
            self._add(scope)

    def _add(self, span: Sequence[int]) -> None:
        for v in bits_of(union(span)):
            self.touching[v].add(len(self.spans))
        self.spans.append(span)

    def bucket(self, v: int) -> list[int]:
        """All forms of the tables that look at bit v."""
        return [form for number in sorted(self.touching[v]) for form in self.spans[number]]

    def cost(self, v: int) -> tuple[int, int, int]:
        """(rank of the bucket, bits in it, v)."""
        forms = self.bucket(v)
        return len(echelon(forms)), union(forms).bit_count(), v

    def eliminate(self, v: int) -> list[int]:
        """Replace the tables that look at v by their message; the other bits that were in them."""
        forms = self.bucket(v)
        for number in sorted(self.touching[v]):
            for u in bits_of(union(self.spans[number])):
                self.touching[u].discard(number)
        pivot = next((form for form in forms if form >> v & 1), 0)
        self._add(echelon(form ^ pivot if form >> v & 1 else form for form in forms)[:HOPELESS])
        return bits_of(union(forms) & ~(1 << v))


def elimination_order(n: int, scopes: Iterable[Sequence[int]]) -> tuple[list[int], list[int]]:
    """Greedy: next the bit whose bucket has the smallest rank, then the fewest bits. Also the ranks."""
    state = _Scopes(n, scopes)
    costs = [state.cost(v) for v in range(n)]
    heap, order, ranks = costs.copy(), [], []
    heapify(heap)
    while heap:
        entry = heappop(heap)
        rank, _, v = entry
        if entry != costs[v]:
            continue  # outdated
        costs[v] = (-1, -1, v)  # done
        order.append(v)
        ranks.append(rank)
        for u in state.eliminate(v):
            costs[u] = state.cost(u)
            heappush(heap, costs[u])
    return order, ranks


@dataclass(frozen=True)
class Plan:
    """Old bits as forms of the bits of the search, and the ranks of the buckets."""

    units: list[int]
    ranks: list[int]

    @classmethod
    def of(cls, scopes: Sequence[Sequence[int]], units: Sequence[int]) -> "Plan":
        """The greedy elimination order of new bits, of which the old ones are the forms `units`."""
        n = len(units)
        moved = [[rewrite(form, units) for form in scope] for scope in scopes]
        order, ranks = elimination_order(n, moved)
        last_first = [0] * n
        for step, v in enumerate(order):
            last_first[v] = 1 << (n - 1 - step)
        return cls([rewrite(unit, last_first) for unit in units], ranks)

    @classmethod
    def best(cls, n: int, factors: Sequence[Factor]) -> "Plan":
        """The cheaper one of: search over the bits as they are; search over the heaviest independent forms.

        If there are m forms of rank r, the second one needs no rank above m - r + 1.
        """
        scopes = [factor.forms for factor in factors]
        plain = cls.of(scopes, [1 << v for v in range(n)])
        heaviest = sorted(factors, key=lambda factor: (-np.ptp(factor.table), factor.forms))
        forms = [form for factor in heaviest for form in factor.forms]
        if max(plain.ranks) <= 10 or len(forms) - len(echelon(forms)) >= HOPELESS:
            return plain
        turned = cls.of(scopes, coordinates(n, forms))
        return min(plain, turned, key=lambda plan: sum(2**rank for rank in plan.ranks))

    def move(self, factor: Factor) -> Factor:
        """The factor over the bits of the search."""
        forms = [rewrite(form, self.units) for form in factor.forms]
        basis = echelon(forms)
        return Factor(basis, factor.table[cells(forms, basis)])


# ------------------------------------------------------------------ the bound: mini-bucket elimination


def total(factors: Iterable[Factor]) -> Factor:
    """The sum of factors as one factor; the small ones first, so that large tables are touched last."""
    forms: tuple[int, ...] = ()
    table = np.zeros(1)
    for factor in sorted(factors, key=lambda factor: (len(factor.forms), factor.forms)):
        basis = echelon(factor.forms, forms)
        table = (table if basis == forms else table[cells(forms, basis)]) + factor.table[cells(factor.forms, basis)]
        forms = basis
    return Factor(forms, table)


def split(bucket: Iterable[Factor], width: int) -> list[Factor]:
    """Mini-buckets, summed up: each factor goes where it adds the least rank, if that stays within `width`."""
    bases: list[tuple[int, ...]] = []
    parts: list[list[Factor]] = []
    for factor in sorted(bucket, key=lambda factor: (-len(factor.forms), factor.forms)):
        joined = [echelon(factor.forms, basis) for basis in bases]
        grown = [len(new) - len(old) for new, old in zip(joined, bases, strict=True)]
        fitting = [i for i, new in enumerate(joined) if len(new) <= width or not grown[i]]
        if fitting:
            i = min(fitting, key=grown.__getitem__)
            bases[i] = joined[i]
            parts[i].append(factor)
        else:
            bases.append(factor.forms)
            parts.append([factor])
    return [total(part) for part in parts]


def match(first: Factor, second: Factor) -> tuple[Factor, Factor]:
    """Shift cost between two factors until their minima over the forms they share agree: the bound improves."""
    shared = intersection(first.forms, second.forms)
    here, there = cells(shared, first.forms), cells(shared, second.forms)
    low = np.full((2, 1 << len(shared)), np.inf)
    np.minimum.at(low[0], here, first.table)
    np.minimum.at(low[1], there, second.table)
    half = (low[1] - low[0]) / 2
    return Factor(first.forms, first.table + half[here]), Factor(second.forms, second.table - half[there])


def eliminate(n: int, factors: Iterable[Factor], width: int) -> Iterator[tuple[list[Factor], float]]:
    """From the last bit to the first: the residuals of its mini-buckets, and what it adds to the bound of the root."""
    buckets: list[list[Factor]] = [[] for _ in range(n)]
    for factor in factors:
        buckets[factor.forms[-1].bit_length() - 1].append(factor)
    while buckets:
        parts = split(buckets.pop(), width)
        for i, j in combinations(range(len(parts)), 2):
            parts[i], parts[j] = match(parts[i], parts[j])
        residuals, bound = [], 0.0
        for part in parts:
            pairs = part.table.reshape(-1, 2)  # only the last form looks at this bit
            message = pairs.min(axis=1)
            residuals.append(Factor(part.forms, (pairs - message[:, None]).ravel()))
            if np.ptp(message) == 0:
                bound += float(message[0])
            else:
                buckets[part.forms[-2].bit_length() - 1].append(Factor(part.forms[:-1], message))
        yield residuals, bound


# ------------------------------------------------------------------ branch and bound


@dataclass(frozen=True, eq=False)
class _Stage:
    """What the search needs at one bit: its residuals, and the bans that it can break."""

    places: IntArray  # (b,): the bytes of the bits before it that matter
    lookup: NDArray[np.int32]  # (b, parts, 256): what such a byte switches in the number of a part's cell
    starts: NDArray[np.int32]  # (parts, 1): where in `table` each part begins
    table: FloatArray
    bans: list[Ban]

    @classmethod
    def of(cls, parts: Sequence[Factor], bans: list[Ban], n: int) -> "_Stage":
        """For packed bits of n / 8 bytes, rounded up."""
        size = -(-n // 8)
        switch = switches((part.forms for part in parts), 8 * size).reshape(len(parts), size, 8)
        places = np.flatnonzero(switch.any(axis=(0, 2)))
        switch = switch[:, places].transpose(1, 0, 2).astype(np.int32)  # (b, parts, 8)
        lookup = np.bitwise_xor.reduce(switch[:, :, None, :] * BYTES, axis=3)
        starts, table = stacked(parts)
        return cls(places, lookup, starts[:, None].astype(np.int32), table, bans)

    def growth(self, packed: Bits) -> FloatArray:
        """What the bound gains if this bit is 0, and if it is 1.  # (bytes, m) -> (2, m)"""
        cell = np.zeros((len(self.starts), packed.shape[1]), dtype=np.int32)
        for place, lookup in zip(self.places, self.lookup, strict=True):
            cell ^= lookup.take(packed[place], axis=1)
        cell += self.starts
        return np.stack([self.table[cell].sum(axis=0), self.table[cell ^ 1].sum(axis=0)])


@dataclass(frozen=True, eq=False)
class _Nodes:
    """Nodes of one depth: `bit` is the last bit of each, those before it stand in column `parent` of `packed`."""

    depth: int
    packed: Bits  # (bytes, parents)
    parent: IntArray  # (m,)
    bit: Bits  # (m,)
    bound: FloatArray  # (m,)

    def __len__(self) -> int:
        return len(self.bound)

    def __getitem__(self, which: NDArray[np.bool_]) -> "_Nodes":
        return _Nodes(self.depth, self.packed, self.parent[which], self.bit[which], self.bound[which])

    def lowest(self, size: int) -> NDArray[np.bool_]:
        """The `size` nodes with the smallest bounds; among equals the first."""
        last = np.partition(self.bound, size - 1)[size - 1]
        chosen: NDArray[np.bool_] = self.bound < last
        chosen[np.flatnonzero(self.bound == last)[: size - np.count_nonzero(chosen)]] = True
        return chosen

    def assignments(self) -> Bits:
        """The bits of each node, packed.  # (bytes, m)"""
        packed = self.packed[:, self.parent]
        if self.depth:
            packed[(self.depth - 1) >> 3] |= self.bit << ((self.depth - 1) & 7)
        return packed


@dataclass
class _Pool:
    """The t best assignments so far."""

    t: int
    ceiling: float  # the values of allowed assignments lie below, those of forbidden ones above
    tolerance: float
    bits: Bits  # (r, n)
    values: FloatArray = field(default_factory=lambda: np.zeros(0))

    @property
    def limit(self) -> float:
        """Only nodes with a bound below are worth a visit."""
        return float(self.values[-1]) - self.tolerance if len(self.values) == self.t else self.ceiling

    def add(self, bits: Bits, values: FloatArray) -> None:
        """Some may be known already.  # (m, n), (m,)"""
        bits, values = np.concatenate([self.bits, bits]), np.concatenate([self.values, values])
        chosen: dict[bytes, int] = {}
        for i in np.argsort(values, kind="stable").tolist():
            chosen.setdefault(bits[i].tobytes(), i)
        best = list(chosen.values())[: self.t]
        self.bits, self.values = bits[best], values[best]


@dataclass(frozen=True, eq=False)
class _Tree:
    """The search tree that belongs to one elimination."""

    stages: list[_Stage]
    units: Bits  # (n, n): the old bits as forms of the bits of the search
    bound: float  # of the root

    @classmethod
    def of(cls, plan: Plan, factors: Iterable[Factor], bans: Iterable[Ban], width: int) -> "_Tree":
        """Bans are only those that are not among the factors."""
        n = len(plan.units)
        complete: list[list[Ban]] = [[] for _ in range(n)]
        for ban in bans:
            moved = Ban(tuple(rewrite(form, plan.units) for form in ban.forms), ban.values)
            complete[max(moved.forms).bit_length() - 1].append(moved)
        stages, bound = [], 0.0
        for residuals, more in eliminate(n, (plan.move(factor) for factor in factors), width):
            stages.append(_Stage.of(residuals, complete.pop(), n))
            bound += more
        return cls(stages[::-1], bit_matrix(plan.units, n), bound)

    def search(self, pool: _Pool, effort: int) -> tuple[float, int]:
        """Depth first, many nodes at once: the least bound of the nodes not visited, and how many were."""
        first = 8 * len(self.stages) * max(16, pool.t)  # the way down to the first leaves is always granted
        stack, spent = [self._root()], 0
        while stack and spent < (effort if len(pool.values) else effort + first):
            nodes = stack.pop()
            nodes = nodes[nodes.bound < pool.limit]
            size = max(16, pool.t, min(BLOCK, (spent - first) >> 8))
            if len(nodes) > size:
                chosen = nodes.lowest(size)
                stack.append(nodes[~chosen])
                nodes = nodes[chosen]
            if len(nodes):
                parts = len(self.stages[min(nodes.depth, len(self.stages) - 1)].starts)
                spent += 2 * len(nodes) * (1 + parts // 8)  # many mini-buckets take more time
                stack += self._visit(nodes, pool)
        return min((float(nodes.bound.min()) for nodes in stack), default=np.inf), spent

    def _root(self) -> _Nodes:
        packed = np.zeros((-(-len(self.stages) // 8), 1), dtype=np.uint8)
        return _Nodes(0, packed, np.zeros(1, dtype=np.intp), np.zeros(1, dtype=np.uint8), np.array([self.bound]))

    def _visit(self, nodes: _Nodes, pool: _Pool) -> list[_Nodes]:
        """Leaves go to the pool; of other nodes, the children that are worth a visit."""
        packed = nodes.assignments()
        for ban in self.stages[nodes.depth - 1].bans if nodes.depth else ():
            fine = ~ban.broken(self._unpack(packed))
            nodes, packed = nodes[fine], packed[:, fine]
        if nodes.depth == len(self.stages):
            best = np.argsort(nodes.bound, kind="stable")[: pool.t]
            old = self._unpack(packed[:, best]).astype(np.float64) @ self.units.T % 2
            pool.add(old.astype(np.uint8), nodes.bound[best])
            return []
        bound = (nodes.bound + self.stages[nodes.depth].growth(packed)).ravel()
        which = np.flatnonzero(bound < pool.limit)
        bit, parent = np.divmod(which, packed.shape[1])
        return [_Nodes(nodes.depth + 1, packed, parent, bit.astype(np.uint8), bound[which])] if len(which) else []

    def _unpack(self, packed: Bits) -> Bits:
        """(bytes, m) -> (m, n)."""
        return np.unpackbits(packed, axis=0, count=len(self.stages), bitorder="little").T


# ------------------------------------------------------------------ tabu search, and all of it together


def tabu(n: int, factors: Sequence[Factor], bans: Iterable[Ban], pool: _Pool, steps: int) -> tuple[Bits, FloatArray]:
    """From random starts always the best flip, but none of a bit just flipped: the best of each.  # (s, n), (s,)

    Only those that are allowed. The bans are those that are not among the factors.
    """
    rng, rows, (starts, table) = np.random.default_rng(0), np.arange(STARTS), stacked(factors)
    switch = switches((factor.forms for factor in factors), n).T  # (n, factors)
    bit, owner = np.nonzero(switch)  # all pairs of a bit and a factor that looks at it
    flip, (used, begin) = switch[bit, owner], np.unique(bit, return_index=True)
    bits, cell = rng.integers(0, 2, (STARTS, n), dtype=np.uint8), np.zeros((STARTS, len(factors)), dtype=np.intp)
    for v in range(n):
        cell ^= bits[:, v, None] * switch[v]
    value = table[starts + cell].sum(axis=1)
    best, record, until = bits.copy(), value.copy(), np.zeros((STARTS, len(used)), dtype=np.intp)
    for step in range(steps):
        now = cell[:, owner]
        change = table[starts[owner] + (now ^ flip)] - table[starts[owner] + now]  # (s, pairs)
        after = value[:, None] + np.add.reduceat(change, begin, axis=1)  # (s, used)
        free = (until <= step) | (after < record[:, None] - pool.tolerance)
        pick = np.where(free, after, np.inf).argmin(axis=1)
        bits[rows, used[pick]] ^= 1
        cell ^= switch[used[pick]]
        value = table[starts + cell].sum(axis=1)
        until[rows, pick] = step + rng.integers(n // 10 + 2, n // 4 + 3, STARTS)
        better = value < record - pool.tolerance
        best[better], record[better] = bits[better], value[better]
    fine = record < pool.ceiling
    for ban in bans:
        fine &= ~ban.broken(best)
    return best[fine], record[fine]


def affordable(ranks: Sequence[int], n_factors: int, effort: int) -> list[int]:
    """To which ranks mini-buckets are limited: so that no bucket is split, or in a first and in a second try."""
    n, exact = max(len(ranks), n_factors // 4), sum(2**rank for rank in ranks)  # n mini-buckets are to be expected
    cells = min(CELLS, n * effort)
    if exact <= cells // 4:
        return [max(ranks)]
    width = (cells // n).bit_length() - 1
    return [min(16, width - 2), max(ranks) if exact <= cells else width]


def lowest(
    n: int,
    factors: Sequence[Factor],
    clauses: Iterable[Clause],
    t: int,
    effort: int,
    widths: Sequence[int] | None = None,
) -> Found:
    """The t assignments of n bits with the smallest sums of the factors, among those where no clause holds."""
    high, low = (sum(float(side(factor.table)) for factor in factors) for side in (np.max, np.min))
    spread = high - low or 1.0
    bans, scopes = Ban.all_of(clauses), [set(factor.forms) for factor in factors]
    late = [ban for ban in bans if len(ban.forms) > LONG and not any(scope.issuperset(ban.forms) for scope in scopes)]
    factors = [*factors, *(ban.penalty(2 * spread) for ban in bans if ban not in late)]
    pool = _Pool(t, high + spread / 2, 1e-12 * spread, np.zeros((0, n), dtype=np.uint8))
    plan = Plan.best(n, factors)
    widths = affordable(plan.ranks, len(factors), effort) if widths is None else widths
    bound, spent, rest = -np.inf, 0, -np.inf
    for number, width in enumerate(widths):
        if number:
            steps = min(STEPS, effort // (8 * STARTS * n))
            pool.add(*tabu(n, factors, late, pool, steps))
            spent += steps * STARTS * n
        left = effort - spent if number == len(widths) - 1 else effort // 8
        rest, more = _Tree.of(plan, factors, late, width).search(pool, left)
        bound, spent = max(bound, min([rest, *pool.values.tolist()])), spent + more
        if rest >= pool.limit:
            break
    return Found(pool.bits, pool.values, bound, rest >= pool.limit, spent)
