"""Restrictions: what minimizers fix or narrow, as data, and what is left under the mixtures of all stages."""

from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from types import MappingProxyType
from typing import Any

from overtone.errors import InputError
from overtone.space.codes import Unit
from overtone.space.parameters import plain

Point = tuple[float, ...]
Interval = tuple[float, float]
Code = float | Interval
Restriction = Mapping[int, Code]  # unit -> its code, or the interval that is left of a continuous one
Mixture = tuple[Restriction, ...]  # the t minimizers of one stage; each sample draws one of them


def read_restriction(data: Mapping[str, Any]) -> dict[int, Code]:
    """A restriction after a trip through JSON, which knows neither numbers as keys nor tuples."""
    return {int(unit): tuple(code) if isinstance(code, list) else code for unit, code in data.items()}


def checked_mixture(minimizers: object, units: Sequence[Unit]) -> Mixture:
    """At least one restriction, each of codes that its units have."""
    if isinstance(minimizers, Mapping | str) or not isinstance(minimizers, Iterable):
        raise InputError(f"minimizers must be a list of dicts like [{{unit: code}}], but got {minimizers!r}")
    checked = tuple(_checked_restriction(each, units) for each in minimizers)
    if not checked:
        raise InputError("there must be at least one minimizer, but none came: leave the space as it is")
    return checked


def _checked_restriction(restriction: object, units: Sequence[Unit]) -> Restriction:
    if not isinstance(restriction, Mapping):
        raise InputError(f"a minimizer must be a dict like {{unit: code}}, but got {restriction!r}")
    checked: dict[int, Code] = {}
    for key, code in restriction.items():
        number = plain(key)
        if not isinstance(number, int) or number not in range(len(units)):
            raise InputError(f"a minimizer must name units from 0 to {len(units) - 1}, but got {number!r}")
        checked[number] = _checked_code(number, units[number], code)
    return MappingProxyType(checked)


def _checked_code(number: int, unit: Unit, given: object) -> Code:
    try:
        ends = [float(end) for end in given] if isinstance(given, tuple) else [float(given)]  # type: ignore[arg-type]
    except (TypeError, ValueError):
        ends = []
    if unit.kind != "range":
        if len(ends) == 1 and not isinstance(given, tuple) and ends[0] in unit.codes:
            return ends[0]
        raise InputError(
            f"unit {number}, of {unit.parameter!r}, must have one of the codes {unit.codes}, but got {given!r}"
        )
    if ends and all(isfinite(end) and -1 <= end <= 1 for end in ends):
        if not isinstance(given, tuple):
            return ends[0]
        if len(ends) == 2 and ends[0] < ends[1]:
            return ends[0], ends[1]
    raise InputError(
        f"unit {number}, of {unit.parameter!r}, must have a code in [-1, 1], or (low, high) there, but got {given!r}"
    )


def fixed_units(mixtures: Sequence[Mixture]) -> frozenset[int]:
    """The units that every sample takes from a minimizer; one that keeps an interval is still free."""
    fixed: set[int] = set()
    for mixture in mixtures:
        common = set.intersection(*map(set, mixture))
        open_ = {unit for each in mixture for unit, code in each.items() if isinstance(code, tuple)}
        fixed = (fixed | common) - open_
    return frozenset(fixed)


def leave(mixtures: Sequence[Mixture], point: Sequence[float]) -> bool:
    """Some choice of a minimizer a stage, later stages over earlier ones, gives the point."""
    return _leave(mixtures, point, frozenset())


def _leave(mixtures: Sequence[Mixture], point: Sequence[float], over: frozenset[int]) -> bool:
    """over: the units that a later stage has set."""
    if not mixtures:
        return True
    return any(
        all(unit in over or _matches(point[unit], code) for unit, code in each.items())
        and _leave(mixtures[:-1], point, over | each.keys())
        for each in mixtures[-1]
    )


def _matches(code: float, wanted: Code) -> bool:
    return wanted[0] <= code <= wanted[1] if isinstance(wanted, tuple) else code == wanted


def left(mixtures: Sequence[Mixture], place: range, codes: Iterable[tuple[Code, ...]]) -> list[tuple[Code, ...]]:
    """What the units of one place can still be together, of all that they could be."""
    found = list(codes)
    for mixture in mixtures:
        if any(unit in each for each in mixture for unit in place):
            on_top = [tuple(each.get(unit) for unit in place) for each in mixture]
            found = list(dict.fromkeys(_over(each, below) for each in on_top for below in found))
    return found


def _over(above: Sequence[Code | None], below: Sequence[Code]) -> tuple[Code, ...]:
    return tuple(b if a is None else a for a, b in zip(above, below, strict=True))


def merged(codes: Iterable[Code]) -> list[Interval]:
    """Codes and intervals as intervals that do not touch, rising."""
    found: list[Interval] = []
    for low, high in sorted(code if isinstance(code, tuple) else (code, code) for code in codes):
        if found and low <= found[-1][1]:
            found[-1] = found[-1][0], max(high, found[-1][1])
        else:
            found.append((low, high))
    return found
