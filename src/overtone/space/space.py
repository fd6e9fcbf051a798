"""`Space`: what the user tunes, as points that the spectral engine can read. The one place that encodes and decodes.

A point holds a code for each *unit*: -1 or +1 for a bit, a level number for a choice coded by contrasts, u in [-1, 1]
for a continuous parameter. Units are independent and uniform, so every level of a parameter is equally likely.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from math import inf, prod
from operator import call
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from overtone.errors import InputError
from overtone.space.clauses import Config, activation_order, check_clause, checked_forbid, did_you_mean, holds
from overtone.space.codes import Unit, codes_of, first_codes, number_of, numbers_of, reader, units_of, value_of
from overtone.space.parameters import Clause, Parameter, Value, clause_key, options, plain_clause
from overtone.space.restrictions import (
    Mixture,
    Point,
    Restriction,
    checked_mixture,
    fixed_units,
    leave,
    left,
    merged,
    read_restriction,
)

DRAWS = 10_000  # draws without an allowed configuration after which there is none
FEW_DRAWS = 100  # draws without an allowed configuration after which a small space is listed
SIGNS = np.array([-1.0, 1.0], dtype=object)  # codes of bits: two floats that all points share
ENUMERABLE = 2**16  # points up to which a space is listed rather than sampled


@dataclass(frozen=True, eq=False)
class Space:
    """Parameters by name, combinations that are forbidden, and what stages have restricted so far."""

    parameters: Mapping[str, Parameter]
    forbid: Sequence[Clause] = ()
    mixtures: tuple[Mixture, ...] = ()
    units: tuple[Unit, ...] = field(init=False, repr=False)
    _places: Mapping[str, slice] = field(init=False, repr=False)
    _order: tuple[str, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        parameters = _checked_parameters(self.parameters)
        units: list[Unit] = []
        places: dict[str, slice] = {}
        for name, parameter in parameters.items():
            mine = units_of(name, parameter)
            places[name] = slice(len(units), len(units) + len(mine))
            units += mine
        for attribute, value in {
            "parameters": MappingProxyType(parameters),
            "forbid": checked_forbid(self.forbid, parameters),
            "units": tuple(units),
            "mixtures": tuple(checked_mixture(mixture, units) for mixture in self.mixtures),
            "_places": places,
            "_order": tuple(activation_order(parameters)),
        }.items():
            object.__setattr__(self, attribute, value)
        if self.forbid:
            self.draw(np.random.default_rng(0))  # raises if nothing is allowed

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Space) and self._identity == other._identity

    def __hash__(self) -> int:
        return hash(self._identity)

    @cached_property
    def _identity(self) -> tuple[object, ...]:
        """The order of the parameters is part of it: points depend on it."""
        mixtures = tuple(tuple(frozenset(each.items()) for each in mixture) for mixture in self.mixtures)
        return tuple(self.parameters.items()), tuple(map(clause_key, self.forbid)), mixtures

    def __reduce__(self) -> tuple[type["Space"], tuple[object, ...]]:
        mixtures = tuple(tuple(dict(each) for each in mixture) for mixture in self.mixtures)
        return Space, (dict(self.parameters), [dict(clause) for clause in self.forbid], mixtures)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return {
            "parameters": {name: parameter.to_dict() for name, parameter in self.parameters.items()},
            "forbid": [plain_clause(clause) for clause in self.forbid],
            "mixtures": [[{str(unit): code for unit, code in each.items()} for each in m] for m in self.mixtures],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Space":
        """The inverse of `to_dict`, also after a trip through JSON."""
        try:
            parameters = {
                name: Parameter(**{**p, "levels": tuple(p["levels"])}) for name, p in data["parameters"].items()
            }
            return cls(parameters, data["forbid"], tuple(tuple(map(read_restriction, m)) for m in data["mixtures"]))
        except (AttributeError, KeyError, TypeError) as error:
            raise InputError(
                f"a space must be what `Space.to_dict` gives, but {type(error).__name__}: {error}"
            ) from None

    def __str__(self) -> str:
        """What is fixed, narrowed and free, in words."""
        free = [name for name, words in self._words().items() if not words]
        shown = ", ".join(free[:10]) + (f" and {len(free) - 10} more" if len(free) > 10 else "")
        return "\n".join([*self.describe(), f"free: {shown or 'nothing'}"])

    # points and configurations

    def decode(self, point: Sequence[float]) -> Config:
        """The configuration at a point; what is not active is absent."""
        if len(point) != len(self.units):
            raise InputError(
                f"a point of this space must have {len(self.units)} codes, but got {len(point)}: draw it here"
            )
        if self._one_by_one:
            return dict(zip(self.parameters, map(call, self._one_by_one, point), strict=True))
        config = self._decode(tuple(point), self._order)
        if self._order == tuple(self.parameters):
            return config
        return {name: config[name] for name in self.parameters if name in config}

    @cached_property
    def _one_by_one(self) -> list[Callable[[Any], Value]]:
        """What turns each code into a value, where every parameter has one code and is always active; else nothing."""
        plain = all(not when and isinstance(place, int) for when, place, _ in self._readers.values())
        return [value for _, _, value in self._readers.values()] if plain else []

    def _decode(self, point: Point, names: Iterable[str]) -> Config:
        """The values of some parameters, each after those that its `when` names."""
        config: Config = {}
        for name in names:
            when, place, value = self._readers[name]
            if not when or holds(when, config):
                config[name] = value(point[place])
        return config

    @cached_property
    def _readers(self) -> dict[str, tuple[Clause, int | slice, Callable[[Any], Value]]]:
        """For each parameter: when it is active, where its codes are, and what turns them into its value."""
        readers: dict[str, tuple[Clause, int | slice, Callable[[Any], Value]]] = {}
        for name, parameter in self.parameters.items():
            place = self._places[name]
            alone = place.stop - place.start == 1
            readers[name] = parameter.when, place.start if alone else place, reader(parameter, alone=alone)
        return readers

    def encode(self, config: Mapping[str, Value]) -> Point:
        """A point of the configuration; parameters that are absent get their first level."""
        unknown = next((name for name in config if name not in self.parameters), None)
        if unknown is not None:
            raise InputError(f"{unknown!r} is no parameter{did_you_mean(unknown, self.parameters)}")
        codes: list[float] = []
        for name, parameter in self.parameters.items():
            codes += codes_of(name, parameter, config[name]) if name in config else first_codes(parameter)
        return tuple(codes)

    def settled(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Points with all that is not active at its first level, so that a configuration has one row.  # (N, units)"""
        settled = points.copy()
        active: dict[str, NDArray[np.bool_] | bool] = {}
        for name in self._order:
            parameter = self.parameters[name]
            active[name] = True
            for parent, wanted in parameter.when.items():
                known = self.parameters[parent]
                levels = [number for level in options(wanted) if (number := known.number(level)) is not None]
                active[name] &= active[parent] & np.isin(numbers_of(known, points[:, self._places[parent]]), levels)
            if parameter.when:
                settled[~active[name], self._places[name]] = first_codes(parameter)
        return settled

    def allows(self, config: Mapping[str, Value]) -> bool:
        """No forbidden combination is in it."""
        return not any(holds(clause, config) for clause in self.forbid)

    def allows_point(self, point: Point) -> bool:
        """The same of the configuration at a point."""
        return not self.forbid or self.allows(self._decode(point, self._watched))

    @cached_property
    def _watched(self) -> list[str]:
        """The parameters on which it depends what is forbidden: those of the clauses, and of their `when`."""
        needed = {name for clause in self.forbid for name in clause}
        for name in reversed(self._order):
            if name in needed:
                needed.update(self.parameters[name].when)
        return [name for name in self._order if name in needed]

    # sampling

    def draw(self, rng: np.random.Generator) -> Point:
        """A uniform point of what the mixtures leave, with no forbidden combination."""
        small = self.n_points <= ENUMERABLE
        for _ in range(FEW_DRAWS if small else DRAWS):
            (point,) = self.draw_unchecked(rng, 1)
            if self.allows_point(point):
                return point
        if small and self._listed:
            return self._listed[int(rng.integers(len(self._listed)))]
        tried = "configurations" if small else f"of {DRAWS:,} random ones"
        raise InputError(
            f"some configuration must be allowed, but all {tried} contain a forbidden combination: "
            f"drop some of the {len(self.forbid)} clauses in `forbid`, or levels that they rule out anyway"
            + (", or restrict the space less" if self.mixtures else "")
        )

    @cached_property
    def _listed(self) -> tuple[Point, ...]:
        return tuple(self.points())

    def draw_unchecked(self, rng: np.random.Generator, n: int) -> list[Point]:
        """n uniform points, forbidden ones too; each stage's mixture puts one of its minimizers on top."""
        sizes, is_bit, is_range = self._sizes
        uniform = rng.random((n, len(sizes)))
        if self._only_bits:
            codes: list[list[float]] = SIGNS.take(uniform >= 0.5).tolist()  # the same as below, in one step
        else:
            numbers = np.floor(uniform * sizes)
            codes = np.where(is_range, 2 * uniform - 1, np.where(is_bit, 2 * numbers - 1, numbers)).tolist()
        for mixture in self.mixtures:
            for row, which in zip(codes, rng.integers(len(mixture), size=n).tolist(), strict=True):
                for unit, code in mixture[which].items():
                    row[unit] = float(rng.uniform(*code)) if isinstance(code, tuple) else code
        return list(map(tuple, codes))

    @cached_property
    def _sizes(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """How many codes each unit has, whether it is a bit, and whether it is a range.  # (n,), (n,), (n,)"""
        kinds = [unit.kind for unit in self.units]
        sizes = np.array([unit.size for unit in self.units])
        return sizes, np.array([kind == "bit" for kind in kinds]), np.array([kind == "range" for kind in kinds])

    @cached_property
    def _only_bits(self) -> bool:
        return all(unit.kind == "bit" for unit in self.units)

    @cached_property
    def n_points(self) -> float:
        """At most how many points there are, forbidden ones counted; infinite if something is continuous."""
        fixed = self.fixed_units()
        sizes = [unit.size for i, unit in enumerate(self.units) if i not in fixed]
        return prod([*sizes, *map(len, self.mixtures)]) if all(sizes) else inf

    def points(self) -> Iterator[Point]:
        """All allowed points, each once; only for small spaces without continuous parameters."""
        if self.n_points == inf:
            raise InputError("points can be listed only if no parameter is continuous: give it `levels`, or use `draw`")
        seen: set[Point] = set()
        for chosen in product(*self.mixtures):
            on_top = {unit: code for restriction in chosen for unit, code in restriction.items()}
            codes = [(on_top[i],) if i in on_top else unit.codes for i, unit in enumerate(self.units)]
            for point in product(*codes):
                if point not in seen and self.allows_point(point):  # type: ignore[arg-type]
                    seen.add(point)  # type: ignore[arg-type]
                    yield point  # type: ignore[misc]

    def neighbors(self, point: Point, steps: Sequence[float] = (-0.1, 0.1)) -> Iterator[Point]:
        """The allowed points of this space that differ in one parameter; `steps` move a continuous one."""
        for name, parameter in self.parameters.items():
            place = self._places[name]
            for codes in self._moved(name, point[place.start], steps) if parameter.is_continuous else self._left(name):
                changed = (*point[: place.start], *codes, *point[place.stop :])
                if changed != point and leave(self.mixtures, changed) and self.allows_point(changed):
                    yield changed

    def _moved(self, name: str, u: float, steps: Sequence[float]) -> list[tuple[float, ...]]:
        """Where steps lead a continuous unit, at most to the ends of what is left of it."""
        ends = [end for interval in self._intervals(name) for end in interval]
        return [(min(max(ends), max(min(ends), u + step)),) for step in steps]

    # restrictions

    def fixed_units(self) -> frozenset[int]:
        """The units that every sample takes from a minimizer, so that they are no longer free."""
        return fixed_units(self.mixtures)

    def restrict(self, minimizers: Sequence[Restriction]) -> "Space":
        """f <- E_k f_(J, x*_k): the space in which each sample takes one of the t minimizers, and is free elsewhere."""
        return Space(self.parameters, self.forbid, (*self.mixtures, checked_mixture(minimizers, self.units)))

    def clause(self, units: Mapping[int, float]) -> Clause:
        """A clause that holds just where these units have these codes: bits that are left open allow several levels."""
        clause: dict[str, list[Value]] = {}
        for name in dict.fromkeys(self.units[unit].parameter for unit in units):
            if self.parameters[name].is_continuous:
                raise InputError(f"a clause must not name {name!r}, which is continuous: leave out its unit")
            codes = [[units[i]] if i in units else self.units[i].codes for i in self._range(name)]
            clause[name] = [value_of(self.parameters[name], chosen) for chosen in product(*codes)]
        return {name: values if len(values) > 1 else values[0] for name, values in clause.items()}

    def describe(self) -> list[str]:
        """What is fixed and what is narrowed, in words, a line a parameter; the rest is free."""
        return [f"{name} {words}" for name, words in self._words().items() if words]

    def _words(self) -> dict[str, str]:
        """What is left of each parameter; nothing to say if it is free."""
        touched = {self.units[unit].parameter for mixture in self.mixtures for each in mixture for unit in each}
        words = dict.fromkeys(self.parameters, "")
        for name in touched:
            is_continuous = self.parameters[name].is_continuous
            words[name] = self._range_words(name) if is_continuous else self._level_words(name)
        return words

    def _level_words(self, name: str) -> str:
        parameter = self.parameters[name]
        numbers = sorted({number_of(parameter, codes) for codes in self._left(name)})
        if len(numbers) == 1:
            return f"= {parameter.levels[numbers[0]]!r}"
        return f"in {[parameter.levels[i] for i in numbers]!r}" if len(numbers) < len(parameter.levels) else ""

    def _range_words(self, name: str) -> str:
        at = self.parameters[name].at
        intervals = self._intervals(name)
        if intervals == [(-1.0, 1.0)]:
            return ""
        if all(low == high for low, high in intervals):
            return "= " + " or ".join(f"{at(low):.4g}" for low, _ in intervals)
        return " or ".join(f"from {at(low):.4g} to {at(high):.4g}" for low, high in intervals)

    def _range(self, name: str) -> range:
        return range(len(self.units))[self._places[name]]

    def _left(self, name: str) -> list[tuple[float, ...]]:
        """The codes that a parameter with levels can still have."""
        place = self._range(name)
        return left(self.mixtures, place, product(*(self.units[i].codes for i in place)))  # type: ignore[return-value]

    def _intervals(self, name: str) -> list[tuple[float, float]]:
        """What is left of a continuous parameter."""
        return merged(code for (code,) in left(self.mixtures, self._range(name), [((-1.0, 1.0),)]))


def _checked_parameters(parameters: object) -> dict[str, Parameter]:
    if not isinstance(parameters, Mapping) or not parameters:
        raise InputError(
            f"a space must be a dict of names and parameters, at least one, but got {parameters!r}: "
            "write Space({'name': boolean(), ...})"
        )
    for name, parameter in parameters.items():
        if not isinstance(name, str) or not name:
            raise InputError(f"a parameter's name must be a text, but got {name!r}")
        if not isinstance(parameter, Parameter):
            raise InputError(
                f"{name!r} must be a parameter, but got {parameter!r}: use boolean(), choice([...]), ordinal([...]), "
                "integer(low, high) or real(low, high)"
            )
        if parameter.problem:
            raise InputError(f"{name!r}: {parameter.problem}")
    for name, parameter in parameters.items():
        if parameter.when:
            check_clause(parameter.when, parameters, f"`when` of {name!r}")
    return dict(parameters)
