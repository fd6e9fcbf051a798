"""What the peers from PyPI have in common: each is used through its own ask-and-tell interface, one file each.

Levels without an order are categories; ordered ones are whole numbers (their places), so that the order is known.
What a peer cannot express is said in docs/contest.md: parameters that are not active are proposed and dropped, and a
forbidden proposal is told as a failure and asked for again, at no cost, up to `RETRIES` times.
"""

import math
from collections.abc import Iterable, Iterator
from typing import Any

from overtone.space import Config, Parameter, Space

RETRIES = 30


def is_ordered(parameter: Parameter) -> bool:
    """More than two levels whose order means something: numbers."""
    return len(parameter.levels) > 2 and all(
        isinstance(level, int | float) and not isinstance(level, bool) for level in parameter.levels
    )


def is_active(parameter: Parameter, config: Config) -> bool:
    """Its `when` holds."""
    return all(
        name in config and config[name] in (wanted if isinstance(wanted, tuple | list) else (wanted,))
        for name, wanted in parameter.when.items()
    )


def active_only(space: Space, whole: dict[str, Any]) -> Config:
    """A configuration without the parameters that are not active."""
    config: Config = {}
    for name in space._order:  # each after those that its `when` names
        if is_active(space.parameters[name], config):
            config[name] = whole[name]
    return {name: config[name] for name in space.parameters if name in config}


class Failures:
    """Failures as the worst value so far, for peers that must have a number; before there is one, they wait."""

    def __init__(self) -> None:
        self._worst = -math.inf
        self._owed: list[Any] = []

    def numbers(self, told: Iterable[tuple[Any, float | None]]) -> Iterator[tuple[Any, float, bool]]:
        """(handle, number, whether it failed), for all that can be said now."""
        for handle, value in told:
            if value is None:
                self._owed.append(handle)
            else:
                self._worst = max(self._worst, value)
                yield handle, value, False
        if self._worst > -math.inf:
            yield from ((handle, self._worst, True) for handle in self._owed)
            self._owed = []
