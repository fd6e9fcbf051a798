"""Uniform samples of a space: each a pure function of (seed, stage, index), no configuration twice."""

import numpy as np

from overtone.errors import InputError
from overtone.optimizers.trial import check_whole
from overtone.space import Config, Point, Space
from overtone.space.space import ENUMERABLE

TRIES = 200  # draws that are all known, after which a small space is listed instead
MORE_TRIES = 5000
BLOCK = 64  # points that are drawn at once


def key(config: Config) -> tuple[object, ...]:
    """What makes two configurations the same; True is not 1."""
    return *config, *config.values(), *map(type, config.values())  # a third each: nothing can be mixed up


class Sampler:
    """Draws new configurations of a space; knows what was drawn before."""

    def __init__(self, space: Space, seed: int, stage: int = 0, seen: set[object] | None = None) -> None:
        if not isinstance(space, Space):
            raise InputError(f"`space` must be a Space, but got {space!r}: write Space({{'name': boolean(), ...}})")
        self.space, self.seed, self.stage = space, check_whole("seed", seed, 0), stage
        self.seen: set[object] = set() if seen is None else seen
        self.index = 0
        self._block: tuple[int, list[Point]] = -1, []  # its number, and its points

    def next(self) -> tuple[Point, Config] | None:
        """A point and its configuration, never seen before; None if the space is exhausted."""
        index = self.index
        self.index += 1
        first = self._of_block(index)
        config = self.space.decode(first)
        if self.space.allows_point(first) and self.is_new(config):
            return first, config
        return self._further(np.random.default_rng([self.seed, self.stage, index, 1]))

    def _of_block(self, index: int) -> Point:
        """Points are drawn BLOCK at a time: to seed a generator costs more than to draw a point."""
        number, place = divmod(index, BLOCK)
        if self._block[0] != number:
            rng = np.random.default_rng([self.seed, self.stage, number])
            self._block = number, self.space.draw_unchecked(rng, BLOCK)
        return self._block[1][place]

    def _further(self, rng: np.random.Generator) -> tuple[Point, Config] | None:
        """What is drawn in place of a point that is forbidden or known."""
        small = self.space.n_points <= ENUMERABLE
        for _ in range(TRIES if small else MORE_TRIES):
            point = self.space.draw(rng)
            config = self.space.decode(point)
            if self.is_new(config):
                return point, config
        return self._from_list(rng) if small else None

    def is_new(self, config: Config) -> bool:
        """It was not drawn or asked for yet; from now on it counts as if it was."""
        n = len(self.seen)
        self.seen.add(key(config))
        return len(self.seen) > n

    def _from_list(self, rng: np.random.Generator) -> tuple[Point, Config] | None:
        """One of the points that are left, where drawing finds none."""
        left = [point for point in self.space.points() if key(self.space.decode(point)) not in self.seen]
        if not left:
            return None
        point = left[int(rng.integers(len(left)))]
        self.seen.add(key(self.space.decode(point)))
        return point, self.space.decode(point)
