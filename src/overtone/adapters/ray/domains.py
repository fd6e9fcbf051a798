"""Ray's domains as parameters of a `Space`, and configurations as its trials have them: the one place to know both."""

import re
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from math import ceil, floor, isclose
from typing import Any

from ray.tune.search.sample import Categorical, Domain, Float, Integer, LogUniform, Quantized, Uniform
from ray.tune.search.variant_generator import assign_value, parse_spec_vars

from overtone.errors import InputError
from overtone.space import Config, Parameter, Space, choice, ordinal, real
from overtone.tuning import described

MOST_LEVELS = 16  # steps up to which a stepped range is a list of levels; a longer one is continuous, and rounded
KNOWN = "tune.choice, uniform, quniform, loguniform, qloguniform, randint, qrandint, lograndint or qlograndint"
Path = tuple[Any, ...]  # keys and indices that lead to a place in a configuration


@dataclass(frozen=True)
class Grid:
    """The multiples of a step, from the first to the last.

    Whole numbers are rounded down, from a range that ends before last + 1; others to the nearest. Ray does the same.
    """

    step: Any
    first: int
    last: int
    whole: bool

    def value(self, number: int) -> Any:
        """One of them."""
        return (int if self.whole else float)(self.step * number)

    def at(self, level: float) -> Any:
        """That of a level of the continuous range."""
        number = floor(level / self.step) if self.whole else round(level / self.step)
        return self.value(min(max(number, self.first), self.last))

    def dimension(self, log: bool) -> "Dimension":
        """Few even steps are levels; else it is a range in which each step has the share that it has with Ray."""
        values = tuple(self.value(number) for number in range(self.first, min(self.last, self.first + MOST_LEVELS) + 1))
        if self.first == self.last or (self.last - self.first < MOST_LEVELS and not log):
            return Dimension(ordinal(values), values)
        return Dimension(real(self.value(self.first), self.value(self.last + self.whole), log=log), (), self)


@dataclass(frozen=True)
class Dimension:
    """One domain as a parameter."""

    parameter: Parameter
    values: tuple[Any, ...] = ()  # what Ray calls the levels; a single one: a constant
    grid: Grid | None = None  # of a continuous parameter that is rounded

    def value(self, level: Any) -> Any:
        """What Ray calls the level."""
        if self.parameter.is_continuous:
            return float(level) if self.grid is None else self.grid.at(level)
        number = self.parameter.number(level)
        assert number is not None  # noqa: S101 - it comes from the same parameter
        return self.values[number]


def dimension(name: str, domain: Domain) -> Dimension:
    """A domain of Ray's as a parameter, with levels or continuous."""
    sampler = domain.get_sampler()
    step = sampler.q if isinstance(sampler, Quantized) else None
    kind = sampler.sampler if isinstance(sampler, Quantized) else sampler
    if isinstance(domain, Categorical):
        return _choice(name, tuple(domain.categories))
    if not isinstance(domain, Float | Integer) or not isinstance(kind, Uniform | LogUniform):
        raise InputError(
            f"a searched parameter must be {KNOWN}, but {name!r} is a {type(domain).__name__} sampled by "
            f"{type(kind).__name__}: a model needs to know what there is to choose from, so bound it, list it, "
            "or compute it inside the trainable"
        )
    return _numbers(name, domain, step, isinstance(kind, LogUniform))


def _choice(name: str, values: tuple[Any, ...]) -> Dimension:
    """Ray takes any object for a choice; ours must be plain and differ, else they are named by number and text."""
    if searches({name: list(values)}):
        raise InputError(
            f"a choice must be among values, but {name!r} holds domains: use a Space, with `when` on what depends"
        )
    plain = choice(values)
    named = choice([f"{i}: {_text(value)}" for i, value in enumerate(values)]) if plain.problem else plain
    return Dimension(named, values)


def _text(value: Any) -> str:
    """The same in every process: no addresses."""
    return re.sub(" at 0x[0-9a-f]+", "", described(value))


def _numbers(name: str, domain: Domain, step: Any, log: bool) -> Dimension:
    whole = isinstance(domain, Integer)
    if step is None and not whole:
        if domain.lower == domain.upper:
            return Dimension(ordinal([]), (float(domain.lower),))
        return Dimension(real(domain.lower, domain.upper, log=log))
    first, last = _inward(domain.lower, step or 1, ceil), _inward(domain.upper, step or 1, floor)
    if whole and step in (None, 1):  # then, and only then, Ray's upper bound is exclusive
        last -= 1
    if last < first:
        raise InputError(f"a range must hold a value, but {name!r} has none: {domain.domain_str}, step {step or 1}")
    return Grid(step or 1, first, last, whole).dimension(log)


def _inward(bound: float, step: float, rounded: Any) -> int:
    """The number of the last multiple within a bound, which is that bound itself up to rounding errors."""
    nearest = round(bound / step)
    return nearest if isclose(bound / step, nearest) else int(rounded(bound / step))


@dataclass(frozen=True)
class Domains:
    """A space, and how its configurations become those of Ray's trials."""

    space: Space
    dimensions: Mapping[str, Dimension]
    paths: Mapping[str, Path]  # where each parameter's value goes in
    template: Mapping[str, Any]  # the parts of Ray's configuration that hold something to be put in

    @classmethod
    def of(cls, given: Space | Mapping[str, Any]) -> "Domains":
        """Of a space, or of what Ray calls `param_space`, nested or not; a domain with one value is a constant."""
        if isinstance(given, Space):
            known = {name: Dimension(each, tuple(each.levels)) for name, each in given.parameters.items()}
            return cls(given, known, {name: (name,) for name in known}, {})
        if not isinstance(given, Mapping):
            raise InputError(f"`space` must be a Space, or a dict with Ray's domains, but got {given!r}")
        _, domains, grids = parse_spec_vars(given)
        if grids:
            raise InputError(
                f"a searched parameter must be {KNOWN}, but {_name(grids[0][0])!r} is a grid_search: use tune.choice"
            )
        paths = {_name(path): path for path, _ in domains}
        if len(paths) < len(domains):
            raise InputError(f"names must differ, but of {[_name(path) for path, _ in domains]} some are the same")
        found = {_name(path): dimension(_name(path), domain) for path, domain in domains}
        template = deepcopy({path[0]: given[path[0]] for path in paths.values()})
        for name, each in found.items():
            if len(each.values) == 1:
                assign_value(template, paths[name], each.values[0])
        free = {name: each for name, each in found.items() if len(each.values) != 1}
        if not free:
            raise InputError("there must be something to search, but `param_space` has constants only: use tune.choice")
        return cls(Space({name: each.parameter for name, each in free.items()}), free, paths, template)

    def fits(self, other: "Domains") -> bool:
        """The same is searched, and put in the same places."""
        return self.space == other.space and self.paths == other.paths

    def config(self, config: Config) -> dict[str, Any]:
        """A configuration of the space, as Ray's trials have it."""
        whole = deepcopy(dict(self.template))
        for name, level in config.items():
            assign_value(whole, self.paths[name], self.dimensions[name].value(level))
        return whole


def searches(config: Mapping[str, Any]) -> bool:
    """There is something in it that is no constant."""
    return bool(parse_spec_vars(config)[1:] != ([], []))


def _name(path: Path) -> str:
    """As Ray flattens it: "model/layers/0"."""
    return "/".join(map(str, path))
