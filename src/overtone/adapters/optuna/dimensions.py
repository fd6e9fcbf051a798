"""Optuna's distributions as parameters of a `Space`, and back: the one place that knows both."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import log
from typing import Any

import numpy as np
from optuna import Trial
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution

from overtone.errors import InputError
from overtone.space import Config, Parameter, Point, Space, choice, ordinal, real
from overtone.space.clauses import activation_order, holds

MOST_LEVELS = 16  # steps up to which a stepped range is a list of levels; a longer one is continuous, and rounded


@dataclass(frozen=True)
class Dimension:
    """One distribution as a parameter."""

    distribution: BaseDistribution
    parameter: Parameter

    def value(self, level: Any) -> Any:
        """What Optuna calls the level."""
        kind = self.distribution
        if not self.parameter.is_continuous:
            number = self.parameter.number(level)
            return level if number is None else self._values[number]
        if getattr(kind, "step", None) is None:
            return float(level)
        steps = round((level - kind.low) / kind.step)
        return type(kind.low)(min(max(kind.low + steps * kind.step, kind.low), kind.high))

    def draw(self, rng: np.random.Generator) -> Any:
        """A uniform level: of the list, or of the range on its scale."""
        if self.parameter.is_continuous:
            return self.parameter.at(rng.uniform(-1, 1))
        return self.parameter.levels[int(rng.integers(len(self.parameter.levels)))]

    def level(self, value: Any) -> Any:
        """The level of a value of Optuna's."""
        if self.parameter.is_continuous:
            return value
        if isinstance(self.distribution, CategoricalDistribution):
            return self.parameter.levels[int(self.distribution.to_internal_repr(value))]
        return self.parameter.levels[round((value - self.distribution.low) / self.distribution.step)]

    @cached_property
    def _values(self) -> tuple[Any, ...]:
        kind = self.distribution
        return tuple(kind.choices) if isinstance(kind, CategoricalDistribution) else tuple(self.parameter.levels)


def dimension(kind: BaseDistribution) -> Dimension:
    """A distribution of Optuna's as a parameter, with levels or continuous."""
    return Dimension(kind, _choice(kind) if isinstance(kind, CategoricalDistribution) else _numbers(kind))


def _choice(kind: CategoricalDistribution) -> Parameter:
    """Optuna takes any object for a choice; ours must be plain and differ, else they are named by number and text."""
    plain = choice(kind.choices)
    return choice([f"{i}: {each!r}" for i, each in enumerate(kind.choices)]) if plain.problem else plain


def _numbers(kind: FloatDistribution | IntDistribution) -> Parameter:
    """A range with few steps is a list of levels; with many, each step has the same share of a continuous range."""
    if kind.step is None:
        return real(kind.low, kind.high, log=kind.log)
    n = round((kind.high - kind.low) / kind.step) + 1
    if n <= MOST_LEVELS and not kind.log:
        return ordinal([min(kind.low + i * kind.step, kind.high) for i in range(n)])
    return real(kind.low - kind.step / 2, kind.high + kind.step / 2, log=kind.log)


def distributions(space: Space) -> dict[str, BaseDistribution]:
    """What Optuna calls the parameters of a space, e.g. for `study.ask(distributions(space))` if none has a `when`."""
    return {name: _categorical_or_float(parameter) for name, parameter in space.parameters.items()}


def _categorical_or_float(parameter: Parameter) -> BaseDistribution:
    if parameter.is_continuous:
        return FloatDistribution(parameter.low, parameter.high, log=parameter.log)
    return CategoricalDistribution(parameter.levels)


def suggest(trial: Trial, space: Space) -> Config:
    """A configuration of the space, for objectives of Optuna: parameters that are not active are left out."""
    kinds = distributions(space)
    config: Config = {}
    for name in activation_order(space.parameters):
        if holds(space.parameters[name].when, config):
            kind = kinds[name]
            if isinstance(kind, CategoricalDistribution):
                config[name] = trial.suggest_categorical(name, kind.choices)
            else:
                config[name] = trial.suggest_float(name, kind.low, kind.high, log=kind.log)
    return {name: config[name] for name in space.parameters if name in config}


class Dimensions:
    """A space, with the distributions that stand for its parameters."""

    def __init__(self, space: Space, dimensions: Mapping[str, Dimension]) -> None:
        self.space, self._dimensions = space, dimensions

    @classmethod
    def of(cls, given: Space | Mapping[str, BaseDistribution]) -> "Dimensions":
        """Of a space, or of distributions; one that has a single value is no parameter."""
        if isinstance(given, Space):
            kinds = distributions(given)
            return cls(given, {name: Dimension(kinds[name], parameter) for name, parameter in given.parameters.items()})
        wrong = [name for name, kind in given.items() if not isinstance(kind, BaseDistribution)]
        if wrong:
            raise InputError(
                f"`space` must be a Space, or a dict of names and Optuna's distributions, but {wrong[0]!r} is "
                f"{given[wrong[0]]!r}"
            )
        known = {name: dimension(kind) for name, kind in given.items() if not kind.single()}
        return cls(Space({name: each.parameter for name, each in known.items()}), known)

    @cached_property
    def distributions(self) -> dict[str, BaseDistribution]:
        """By name, in the order of the space."""
        return {name: each.distribution for name, each in self._dimensions.items()}

    def params(self, config: Config) -> dict[str, Any]:
        """A configuration, as Optuna calls its values."""
        return {name: self._dimensions[name].value(level) for name, level in config.items()}

    def levels(self, params: Mapping[str, Any]) -> Config:
        """Values of Optuna's, as a configuration has them."""
        return {name: self._dimensions[name].level(value) for name, value in params.items()}

    def point(
        self, params: Mapping[str, Any], kinds: Mapping[str, BaseDistribution], rng: np.random.Generator
    ) -> Point | None:
        """Where a trial is; None if it is no trial of this space. What was not active is drawn: it does not matter."""
        here = {name for name, kind in self.distributions.items() if kinds.get(name) == kind}
        config = {
            name: each.level(params[name]) if name in here else each.draw(rng)
            for name, each in self._dimensions.items()
        }
        point = self.space.encode(config)
        return point if self.space.decode(point).keys() <= here else None


def shown(parameter: Parameter) -> BaseDistribution:
    """A distribution for plots: rising numbers are a range, so that they get an axis of numbers."""
    levels: Any = parameter.levels
    if parameter.is_continuous or not is_rising(levels):
        return _categorical_or_float(parameter)
    ratios = [log(b / a) for a, b in pairwise(levels)] if levels[0] > 0 else []
    geometric = len(ratios) > 1 and max(ratios) < 1.5 * min(ratios) and not _is_even(levels)
    whole = all(isinstance(level, int) for level in levels)
    return (IntDistribution if whole else FloatDistribution)(levels[0], levels[-1], log=geometric)


def is_rising(levels: Any) -> bool:
    """They are numbers, each larger than the one before."""
    numbers = all(isinstance(level, int | float) and not isinstance(level, bool) for level in levels)
    return numbers and list(levels) == sorted(levels)


def _is_even(levels: Any) -> bool:
    steps = [b - a for a, b in pairwise(levels)]
    return bool(max(steps) < 1.5 * min(steps))
