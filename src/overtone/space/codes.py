"""Units and their codes: how one parameter becomes a part of a point, and back."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from overtone.errors import InputError
from overtone.space.parameters import Parameter, Value, plain


@dataclass(frozen=True)
class Unit:
    """One independent code: a bit, a level number or a range; `size` counts its codes, 0 for a range."""

    parameter: str
    kind: Literal["bit", "levels", "range"]
    size: int

    @cached_property
    def codes(self) -> tuple[float, ...]:
        """All codes of a bit or a level number."""
        return (-1.0, 1.0) if self.kind == "bit" else tuple(float(code) for code in range(self.size))


def units_of(name: str, parameter: Parameter) -> list[Unit]:
    """A bit for every halving of the levels, coarse to fine; or one unit for all levels; or a range."""
    if parameter.is_continuous:
        return [Unit(name, "range", 0)]
    if parameter.coding == "contrasts":
        return [Unit(name, "levels", len(parameter.levels))]
    return [Unit(name, "bit", 2)] * n_bits(parameter)


def n_bits(parameter: Parameter) -> int:
    """How often the levels can be halved."""
    return len(parameter.levels).bit_length() - 1


def value_of(parameter: Parameter, codes: Sequence[float]) -> Value:
    """The level, or the value of a continuous parameter, that the codes of its units stand for."""
    return parameter.at(codes[0]) if parameter.is_continuous else parameter.levels[number_of(parameter, codes)]


def reader(parameter: Parameter, *, alone: bool) -> Callable[[Any], Value]:
    """`value_of` as a look-up, for many points: of the codes of a parameter, or of its code if it has one unit."""
    if parameter.is_continuous:
        return parameter.at
    codes = [tuple(_codes_of_number(parameter, number)) for number in range(len(parameter.levels))]
    table = {each[0] if alone else each: level for each, level in zip(codes, parameter.levels, strict=True)}
    return table.__getitem__


def number_of(parameter: Parameter, codes: Sequence[float]) -> int:
    """The number of the level that the codes stand for."""
    if parameter.coding == "contrasts":
        return int(codes[0])
    number = 0
    for bit in codes:  # the first bit is the coarsest: it halves the range
        number = 2 * number + (bit > 0)
    return number


def numbers_of(parameter: Parameter, codes: NDArray[np.float64]) -> NDArray[np.float64]:
    """The same for many points at once.  # (N, units of the parameter) -> (N,)"""
    if parameter.coding == "contrasts":
        return codes[:, 0]
    return np.asarray((codes > 0) @ 2.0 ** np.arange(codes.shape[1])[::-1])


def codes_of(name: str, parameter: Parameter, value: Value) -> list[float]:
    """The codes of the units of a parameter that stand for a value: the inverse of `value_of`."""
    if parameter.is_continuous:
        return [parameter.where(_checked_number(name, parameter, value))]
    number = parameter.number(value)
    if number is None:
        raise InputError(f"{name!r} must be one of {list(parameter.levels)}, but got {value!r}")
    return _codes_of_number(parameter, number)


def first_codes(parameter: Parameter) -> list[float]:
    """The codes of the first level, or of the low end."""
    return [-1.0] if parameter.is_continuous else _codes_of_number(parameter, 0)


def _codes_of_number(parameter: Parameter, number: int) -> list[float]:
    if parameter.coding == "contrasts":
        return [float(number)]
    return [1.0 if number >> bit & 1 else -1.0 for bit in reversed(range(n_bits(parameter)))]


def _checked_number(name: str, parameter: Parameter, value: Value) -> float:
    number = plain(value)
    is_number = isinstance(number, int | float) and not isinstance(number, bool)
    if not is_number or not parameter.low <= number <= parameter.high:
        raise InputError(f"{name!r} must be a number from {parameter.low} to {parameter.high}, but got {value!r}")
    return float(number)
