"""Points around points, as arrays: changes of a few parameters, and descent of a function along changes of one."""

from collections.abc import Callable
from itertools import groupby, product

import numpy as np

from overtone.optimizers.features import Features
from overtone.space import Point, Space
from overtone.space.restrictions import leave
from overtone.spectral.monomials import FloatArray, IntArray

STEPS = (-0.5, -0.1, -0.02, 0.02, 0.1, 0.5)  # changes of a continuous unit, in [-1, 1]
LONGEST = 200  # steps of a descent
Function = Callable[[FloatArray], FloatArray]  # of columns: (N, m) -> (N,)


class Neighborhood:
    """All changes of one parameter: each sets some units to codes, or moves a continuous one by a step."""

    def __init__(self, space: Space) -> None:
        self.space = space
        self._features = Features(space)
        entries: list[tuple[int, int, float, bool]] = []  # change, unit, code or step, whether it is a step
        self.n_changes = 0
        for place in _places(space):
            for codes in _codes(space, place):
                is_step = space.units[place[0]].kind == "range"
                entries += [(self.n_changes, unit, code, is_step) for unit, code in zip(place, codes, strict=True)]
                self.n_changes += 1
        self._change, self._unit = np.array([entry[:2] for entry in entries]).T
        self._code = np.array([entry[2] for entry in entries])
        self._is_step = np.array([entry[3] for entry in entries])

    def columns(self, points: FloatArray) -> FloatArray:
        """(N, n) -> (N, m)"""
        if len(self._features.groups) == points.shape[1] and all(unit.kind == "bit" for unit in self.space.units):
            return points
        blocks = [family.functions(points[:, unit]) for unit, family in enumerate(self._features.families)]
        return np.concatenate(blocks, axis=1)

    @property
    def groups(self) -> IntArray:
        """The unit of each column.  # (m,)"""
        return self._features.groups

    def around(self, points: FloatArray) -> FloatArray:
        """Every change of every point; some are the point itself, or not in the space.  # (S, n) -> (S, M, n)"""
        changed = np.repeat(points[:, None, :], self.n_changes, axis=1)
        moved = np.clip(changed[:, self._change, self._unit] + self._code, -1.0, 1.0)
        changed[:, self._change, self._unit] = np.where(self._is_step, moved, self._code)
        return changed

    def jumps(self, points: FloatArray, n: int, size: int, rng: np.random.Generator) -> FloatArray:
        """n random changes of `size` parameters.  # (S, n) -> (n, n)"""
        jumped = points[rng.integers(len(points), size=n)]
        for _ in range(size):
            jumped = self.around(jumped)[np.arange(n), rng.integers(self.n_changes, size=n)]
        return jumped

    def contains(self, point: Point) -> bool:
        """It is in the space, and nothing of it is forbidden."""
        space = self.space
        return leave(space.mixtures, point) and (not space.forbid or space.allows(space.decode(point)))

    def descend(self, function: Function, starts: FloatArray) -> FloatArray:
        """Each start, changed in one parameter at a time to where the function is least, to the end.  # (S, n)"""
        points = starts.copy()
        values = function(self.columns(points))
        moving = np.arange(len(points))
        for _ in range(LONGEST):
            if not len(moving):
                break
            options = self.around(points[moving])  # (s, M, n)
            predicted = function(self.columns(options.reshape(-1, points.shape[1]))).reshape(len(moving), -1)
            taken = [self._step(o, p, values[i]) for i, o, p in zip(moving, options, predicted, strict=True)]
            for i, o, p, best in zip(moving, options, predicted, taken, strict=True):
                if best is not None:
                    points[i], values[i] = o[best], p[best]
            moving = moving[[best is not None for best in taken]]
        return points

    def _step(self, options: FloatArray, predicted: FloatArray, value: float) -> int | None:
        """The best change that is in the space; None if none is better than to stay."""
        for best in np.argsort(predicted, kind="stable").tolist():
            if predicted[best] >= value - 1e-9 * (1 + abs(value)):
                return None
            if self.contains(tuple(options[best].tolist())):
                return int(best)
        return None


def _places(space: Space) -> list[list[int]]:
    """The units of each parameter."""
    numbered = groupby(range(len(space.units)), key=lambda unit: space.units[unit].parameter)
    return [list(place) for _, place in numbered]


def _codes(space: Space, place: list[int]) -> list[tuple[float, ...]]:
    """What the units of a parameter can be, or the steps of a continuous one."""
    if space.units[place[0]].kind == "range":
        return [(step,) for step in STEPS]
    return list(product(*(space.units[unit].codes for unit in place)))
