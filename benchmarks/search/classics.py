"""Peers that need no library: hill climbing with restarts, simulated annealing, Combined Elimination."""

import math
from collections.abc import Iterator
from itertools import islice

import numpy as np

from benchmarks.search.player import Script
from benchmarks.search.problem import Problem, Value, key
from overtone.space import Config, Point, Space

STEPS = (-0.5, -0.1, 0.1, 0.5)  # changes of a continuous unit, in [-1, 1], as those of LocalSearch
STARTS = 1000  # random restarts that are tried until one is new
COOLING = 1e-3  # the last temperature as a share of the first


def hill_climbing(problem: Problem, seed: int, W: int) -> Script:
    """First improvement in random order; never a configuration twice; a random restart where no neighbor is better.

    A round of W: as many starts, of which the best goes on; then as many neighbors, filled up with random changes of
    two parameters; the best of them, if it is better.
    """
    space, rng = problem.space, np.random.default_rng([seed, 101])
    seen: set[str] = set()
    while True:
        starts = list(islice(_unseen(space, (space.draw(rng) for _ in range(STARTS)), seen), W))
        if not starts:  # all of a small space was seen
            return
        values = yield [space.decode(point) for point in starts]
        value, place = _least(values)
        here = starts[place]
        improved = value < math.inf
        while improved:
            improved = False
            fresh = _fresh(space, here, seen, rng, pairs=W > 1)
            while not improved and (points := list(islice(fresh, W))):
                values = yield [space.decode(point) for point in points]
                best, place = _least(values)
                if best < value:
                    here, value, improved = points[place], best, True


def _fresh(space: Space, here: Point, seen: set[str], rng: np.random.Generator, *, pairs: bool) -> Iterator[Point]:
    """Neighbors that were not evaluated, in random order; then, if wanted, as many neighbors of neighbors at random."""
    neighbors = list(space.neighbors(here, STEPS))
    order = [neighbors[i] for i in rng.permutation(len(neighbors))]
    yield from _unseen(space, order, seen)
    if pairs:
        yield from _unseen(space, (_change(space, _pick(order, rng), rng) for _ in range(200)), seen)


def _unseen(space: Space, points: Iterator[Point] | list[Point], seen: set[str]) -> Iterator[Point]:
    for point in points:
        name = key(space.decode(point))
        if name not in seen:
            seen.add(name)
            yield point


def _pick(points: list[Point], rng: np.random.Generator) -> Point:
    return points[int(rng.integers(len(points)))]


def _change(space: Space, point: Point, rng: np.random.Generator) -> Point:
    """A random neighbor, without listing them all."""
    for _ in range(100):
        unit = int(rng.integers(len(point)))
        other = space.draw_unchecked(rng, 1)[0][unit]
        changed = (*point[:unit], other, *point[unit + 1 :])
        if changed != point and space.allows(space.decode(changed)):
            return changed
    return point


def _or_worst(value: Value) -> float:
    return math.inf if value is None else value


def _least(values: list[Value]) -> tuple[float, int]:
    """The least value and its place, the first of equal ones."""
    return min((_or_worst(value), place) for place, value in enumerate(values))


def annealing(problem: Problem, seed: int, W: int) -> Script:
    """Random changes of one parameter; worse is accepted with exp(-difference / T); T falls geometrically.

    It starts from the best of a twentieth of the evaluations (at least 10); their standard deviation is the first T.
    A round of W looks at W neighbors ahead: the first that is accepted is the next place, the others are dropped.
    """
    space, rng, B = problem.space, np.random.default_rng([seed, 102]), problem.n_evaluations
    points = [space.draw(rng) for _ in range(max(10, B // 20, W if W > 1 else 0))]
    values = yield [space.decode(point) for point in points]
    known = [value for value in values if value is not None]
    first = float(np.std(known)) or 1.0 if known else 1.0
    _, best = _least(values)
    here, value, spent = points[best], values[best], len(points)
    while True:
        T = first * COOLING ** min(1.0, spent / B)
        tries = [_change(space, here, rng) for _ in range(W)]
        found = yield [space.decode(point) for point in tries]
        spent += W
        for point, other in zip(tries, found, strict=True):
            if other is None:
                continue
            if value is None or other <= value or rng.random() < math.exp((value - other) / T):
                here, value = point, other
                break


def combined_elimination(problem: Problem, seed: int, _W: int) -> Script:
    """Pan and Eigenmann (2006), for on/off parameters: start with all on, turn off what is better off.

    Where on and off have no meaning, a coin says which is which: else every seed has the same luck with one start.
    Each pass measures every parameter that is on, turned off alone; the best one goes off for good, then the others
    that had looked better off, best first, each if it still is. It ends when none looks better off.
    """
    names = list(problem.space.parameters)
    coins = np.random.default_rng([seed, 3]).random(len(names)) < 0.5
    off = dict(zip(names, coins.tolist(), strict=True)) if problem.is_tossed else dict.fromkeys(names, False)
    base: Config = {name: not off[name] for name in names}
    (value,) = yield [base]
    candidates = names
    while candidates:
        values = yield [{**base, name: off[name]} for name in candidates]
        ranked = sorted((_or_worst(v), i) for i, v in enumerate(values))
        better = [candidates[i] for v, i in ranked if v < _or_worst(value)]
        if not better:
            return
        base, value = {**base, better[0]: off[better[0]]}, values[candidates.index(better[0])]
        for name in better[1:]:
            (other,) = yield [{**base, name: off[name]}]
            if _or_worst(other) < _or_worst(value):
                base, value = {**base, name: off[name]}, other
        candidates = [name for name in candidates if base[name] != off[name]]
