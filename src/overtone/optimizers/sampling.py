"""Uniform samples of a space: each a pure function of (seed, stage, index), no configuration twice."""

import numpy as np

from overtone.errors import InputError
from overtone.optimizers.trial import check_whole
from overtone.space import Config, Point, Space
from overtone.space.space import ENUMERABLE

TRIES = 200  # draws that are all known, after which a small space is listed instead
MORE_TRIES = 5000


def key(config: Config) -> tuple[object, ...]:
    """What makes two configurations the same; True is not 1."""
    return tuple(config), tuple(config.values()), tuple(map(type, config.values()))


class Sampler:
    """Draws new configurations of a space; knows what was drawn before."""

    def __init__(self, space: Space, seed: int, stage: int = 0, seen: set[object] | None = None) -> None:
        if not isinstance(space, Space):
            raise InputError(f"`space` must be a Space, but got {space!r}: write Space({{'name': boolean(), ...}})")
        self.space, self.seed, self.stage = space, check_whole("seed", seed, 0), stage
        self.seen: set[object] = set() if seen is None else seen
        self.index = 0

    def next(self) -> tuple[Point, Config] | None:
        """A point and its configuration, never seen before; None if the space is exhausted."""
        rng = self._numbers()
        self.index += 1
        small = self.space.n_points <= ENUMERABLE
        for _ in range(TRIES if small else MORE_TRIES):
            point = self.space.draw(rng)
            config = self.space.decode(point)
            if self._is_new(config):
                return point, config
        return self._from_list(rng) if small else None

    def _numbers(self) -> np.random.Generator:
        """Random numbers of (seed, stage, index); as an array they are mixed faster, to the same effect."""
        words = [self.seed, self.stage, self.index]
        return np.random.default_rng(np.array(words, dtype=np.uint32) if self.seed < 2**32 else words)

    def _is_new(self, config: Config) -> bool:
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
