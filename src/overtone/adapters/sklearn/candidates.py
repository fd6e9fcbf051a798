"""What scikit-learn calls `param_distributions`, as a `Space`: the one place that knows both."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import isclose
from typing import Any

import numpy as np

from overtone.errors import InputError
from overtone.space import Config, Parameter, Space, choice, ordinal, real
from overtone.space.parameters import plain

MOST_LEVELS = 16  # whole numbers up to which a range is a list of levels; a longer one is continuous, and rounded
WHICH = "param_distributions"  # the parameter that says which dict, where there are several
SHOWN = 40  # characters of an object that is a level


@dataclass(frozen=True)
class _Dimension:
    """One entry of a dict: what scikit-learn calls it, and what its levels stand for."""

    name: str
    parameter: Parameter | None  # None: it has one value
    values: Sequence[Any] = ()  # the user's own objects, in the order of the levels
    whole: tuple[int, int] | None = None  # continuous, but to be rounded: from, to

    def settled(self, level: Any) -> Any:
        """The level, as a whole number where it must be one."""
        return level if self.whole is None else min(self.whole[1], max(self.whole[0], round(level)))

    def value(self, level: Any) -> Any:
        """The user's own object."""
        number = self.parameter.number(level) if self.values and self.parameter is not None else None
        return level if number is None else self.values[number]


@dataclass(frozen=True)
class Candidates:
    """A space, and what scikit-learn calls the values of its parameters."""

    space: Space | None  # None: nothing varies
    dimensions: Mapping[str, _Dimension]  # by the names of the space
    fixed: Mapping[Any, Mapping[str, Any]]  # lists with one value, by the level of `WHICH`

    @classmethod
    def of(cls, given: Any) -> "Candidates":
        """Of a space, of a dict of lists, parameters and distributions, or of a list of such dicts."""
        if isinstance(given, Space):
            return cls(given, {name: _Dimension(name, each) for name, each in given.parameters.items()}, {None: {}})
        grids = [given] if isinstance(given, Mapping) else given
        if not isinstance(grids, list | tuple) or not grids or not all(isinstance(grid, Mapping) for grid in grids):
            raise InputError(f"`param_distributions` must be a dict, a list of dicts or a Space, but got {given!r}")
        known = [{name: _dimension(name, kind) for name, kind in grid.items()} for grid in grids]
        fixed = [{name: each.values[0] for name, each in grid.items() if each.parameter is None} for grid in known]
        if len(known) == 1:
            return cls._made({name: each for name, each in known[0].items() if each.parameter}, {None: fixed[0]})
        labels = [f"{number}: {', '.join(grid)}" for number, grid in enumerate(known)]
        return cls._made(_united(known, labels), dict(zip(labels, fixed, strict=True)))

    @classmethod
    def _made(cls, dimensions: Mapping[str, _Dimension], fixed: Mapping[Any, Mapping[str, Any]]) -> "Candidates":
        parameters = {name: each.parameter for name, each in dimensions.items() if each.parameter is not None}
        return cls(Space(parameters) if parameters else None, dimensions, fixed)

    @property
    def names(self) -> set[str]:
        """All that candidates may set, as scikit-learn calls it."""
        return {each.name for each in self.dimensions.values()}.union(*self.fixed.values())

    def settled(self, config: Config) -> Config:
        """The configuration with whole numbers where there must be: equal for equal candidates."""
        return {name: self.dimensions[name].settled(level) for name, level in config.items()}

    def params(self, config: Config) -> dict[str, Any]:
        """A candidate: a settled configuration with the user's own names and objects, and what is fixed."""
        values = {self.dimensions[name].name: self.dimensions[name].value(level) for name, level in config.items()}
        which = values.pop(WHICH, None)
        return {**values, **self.fixed[which]}


def _united(grids: Sequence[Mapping[str, _Dimension]], labels: Sequence[str]) -> dict[str, _Dimension]:
    """A parameter that says which dict, and those of each dict for when it is that one; what all share is one."""
    united = {WHICH: _Dimension(WHICH, choice(labels))}
    for number, (grid, label) in enumerate(zip(grids, labels, strict=True)):
        for name, each in grid.items():
            if each.parameter is None:
                continue
            if each.parameter.when:
                raise InputError(f"{name!r} must have no `when` in a list of dicts: write one Space instead")
            if all(name in other and other[name].parameter == each.parameter for other in grids):
                united[name] = each
            else:
                alone = sum(name in other for other in grids) == 1
                united[name if alone else f"{name} ({number})"] = replace(
                    each, parameter=replace(each.parameter, when={WHICH: label})
                )
    return united


def _dimension(name: str, kind: Any) -> _Dimension:
    """One entry of the dict."""
    if isinstance(kind, Parameter):
        return _Dimension(name, kind)
    if hasattr(kind, "rvs"):
        return _distribution(name, kind)
    if isinstance(kind, np.ndarray) or (isinstance(kind, Sequence) and not isinstance(kind, str | bytes)):
        return _listed(name, list(kind))
    raise InputError(
        f"{name!r} must be a list of values, a parameter as real(low, high), or one of scipy's distributions, "
        f"but got {kind!r}: write [{kind!r}] if it is fixed"
    )


def _listed(name: str, values: list[Any]) -> _Dimension:
    """Rising or falling numbers are ordered; objects that cannot be levels are named by number and text."""
    if not values:
        raise InputError(f"{name!r} must have at least one value, but got []: leave it out, or list some")
    if len(values) == 1:
        return _Dimension(name, None, values)
    parameter = ordinal(values) if _is_ordered(values) else choice(values)
    return _Dimension(name, choice(_named(values)) if parameter.problem else parameter, values)


def _is_ordered(values: list[Any]) -> bool:
    numbers = list(map(plain, values))
    if not all(isinstance(number, int | float) and not isinstance(number, bool) for number in numbers):
        return False
    return all(a < b for a, b in pairwise(numbers)) or all(a > b for a, b in pairwise(numbers))


def _named(values: list[Any]) -> list[str]:
    texts = [" ".join(repr(value).split()) for value in values]
    return [f"{i}: {text if len(text) <= SHOWN else text[: SHOWN - 3] + '...'}" for i, text in enumerate(texts)]


def _distribution(name: str, kind: Any) -> _Dimension:
    """A frozen distribution of scipy's that is uniform: on a range, on its log scale, or on whole numbers."""
    known = getattr(getattr(kind, "dist", None), "name", type(kind).__name__)
    low, high = kind.support() if hasattr(kind, "support") else (np.nan, np.nan)
    if known == "uniform":
        return _Dimension(name, real(float(low), float(high)))
    if known in ("loguniform", "reciprocal") and low > 0 and _is_unmoved(kind, low, high):
        return _Dimension(name, real(float(low), float(high), log=True))
    if known == "randint":
        return _whole(name, int(low), int(high))
    raise InputError(
        f"{name!r} must be uniform, loguniform (not moved by `loc`) or randint if it is a distribution of scipy's, "
        f"but got {known}: write real(low, high), real(low, high, log=True), or list its values"
    )


def _is_unmoved(kind: Any, low: float, high: float) -> bool:
    """The middle of a range on the log scale is the root of the product; with `loc`, it is elsewhere."""
    return isclose(float(kind.median()), float(low * high) ** 0.5, rel_tol=1e-6)


def _whole(name: str, low: int, high: int) -> _Dimension:
    """Few whole numbers are levels; of many, each has the same share of a continuous range."""
    if high - low < MOST_LEVELS:
        return _listed(name, list(range(low, high + 1)))
    return _Dimension(name, real(low - 0.5, high + 0.5), whole=(low, high))
