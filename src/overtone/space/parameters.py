"""`Parameter`: one named thing that is tuned, as a finite list of levels or a continuous range.

One type, few constructors: they differ only in how the levels are listed and whether they are ordered.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache, cached_property, wraps
from itertools import pairwise
from types import MappingProxyType
from typing import Any, Literal, ParamSpec

import numpy as np

from overtone.errors import InputError

Value = bool | int | float | str | None
Clause = Mapping[str, Value | Sequence[Value]]  # a partial configuration; a list means any of these
Coding = Literal["binary", "contrasts", "continuous"]
LevelCoding = Literal["binary", "contrasts"]
P = ParamSpec("P")


@dataclass(frozen=True, eq=False)
class Parameter:
    """Levels with their coding, or a range; active only if `when` holds."""

    levels: tuple[Value, ...]  # () if continuous
    coding: Coding
    when: Clause = field(default_factory=dict)
    low: float = 0.0  # the range, if continuous
    high: float = 1.0
    log: bool = False
    problem: str = ""  # why it cannot be used: only `Space` knows the parameter's name, and refuses it there

    def __post_init__(self) -> None:
        if not self.problem:
            object.__setattr__(self, "when", frozen_clause(self.when))
            if self.is_continuous:
                low, high = _checked_range(self.low, self.high, self.log)
                object.__setattr__(self, "low", float(low))
                object.__setattr__(self, "high", float(high))
            else:
                object.__setattr__(self, "levels", _checked_levels(self.levels))
                _check_coding(len(self.levels), self.coding)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Parameter) and self._identity == other._identity

    def __hash__(self) -> int:
        return hash(self._identity)

    @property
    def _identity(self) -> tuple[object, ...]:
        levels = tuple(map(level_key, self.levels))
        return levels, self.coding, clause_key(self.when), self.low, self.high, self.log, self.problem

    def __reduce__(self) -> tuple[type["Parameter"], tuple[object, ...]]:
        return Parameter, (self.levels, self.coding, dict(self.when), self.low, self.high, self.log, self.problem)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        known = {"low": self.low, "high": self.high, "log": self.log} if self.is_continuous else {}
        return {"levels": list(self.levels), "coding": self.coding, "when": plain_clause(self.when), **known}

    @property
    def is_continuous(self) -> bool:
        """It has a range, not levels."""
        return self.coding == "continuous"

    @cached_property
    def is_ordered(self) -> bool:
        """Its levels are more than two, and in an order: they are coded in bits, or are rising or falling numbers."""
        numbers = [v for v in self.levels if isinstance(v, int | float) and not isinstance(v, bool)]
        rises = {a < b for a, b in pairwise(numbers)}
        return len(self.levels) > 2 and (
            self.coding == "binary" or (len(numbers) == len(self.levels) and len(rises) == 1)
        )

    def number(self, value: object) -> int | None:
        """The number of the level that is this value; None if none is."""
        try:
            return self._numbers.get(level_key(plain(value)))
        except TypeError:  # unhashable
            return None

    @cached_property
    def _numbers(self) -> dict[tuple[bool, object], int]:
        return {level_key(level): number for number, level in enumerate(self.levels)}

    def at(self, u: float) -> float:
        """The value at u in [-1, 1] of a continuous parameter, linear or on the log scale."""
        return _between(self.low, self.high, (float(u) + 1) / 2, self.log)

    def where(self, value: float) -> float:
        """u in [-1, 1] of a value: the inverse of `at`."""
        low, at, high = map(math.log, (self.low, value, self.high)) if self.log else (self.low, value, self.high)
        return min(1.0, max(-1.0, 2 * (at - low) / (high - low) - 1))


def _refused_by_name(build: Callable[P, Parameter]) -> Callable[P, Parameter]:
    """Keep what is wrong with a definition as its `problem`, until `Space` can say it with the parameter's name."""

    @wraps(build)
    def built(*args: P.args, **kwargs: P.kwargs) -> Parameter:
        try:
            return build(*args, **kwargs)
        except InputError as error:
            return Parameter((), "continuous", problem=str(error))

    return built


@_refused_by_name
def boolean(*, when: Clause | None = None) -> Parameter:
    """Off or on."""
    return _switch() if when is None else _listed((False, True), when, None, ordered=True)


@cache
def _switch() -> Parameter:
    """That is always active: many spaces have hundreds of them."""
    return _listed((False, True), None, None, ordered=True)


@_refused_by_name
def choice(levels: Iterable[Value], *, when: Clause | None = None, coding: LevelCoding | None = None) -> Parameter:
    """One of some unordered levels; coded by contrasts, or, if there are two, as a switch."""
    return _listed(levels, when, coding, ordered=False)


@_refused_by_name
def ordinal(levels: Iterable[Value], *, when: Clause | None = None, coding: LevelCoding | None = None) -> Parameter:
    """One of some ordered levels; coded in bits, coarse to fine, if their number is a power of two."""
    return _listed(levels, when, coding, ordered=True)


@_refused_by_name
def integer(
    low: int,
    high: int,
    *,
    levels: int | None = None,
    log: bool = False,
    when: Clause | None = None,
    coding: LevelCoding | None = None,
) -> Parameter:
    """A whole number from `low` to `high`: every one of up to 16, else `levels` of them (8), evenly or log spaced."""
    for name, bound in (("low", low), ("high", high)):
        if isinstance(bound, bool) or not isinstance(plain(bound), int):
            raise InputError(f"`{name}` must be a whole number, but got {bound!r}: use real(low, high) for others")
    low, high = _checked_range(low, high, log)
    n = high - low + 1
    count = (n if n <= 16 else 8) if levels is None else _checked_count(levels)
    if count > n:
        raise InputError(
            f"there must be `levels` whole numbers from {low} to {high}, but there are {n} and {levels=}: "
            "ask for fewer, or leave `levels` out"
        )
    return _listed(_spaced_whole(low, high, count, log), when, coding, ordered=True)


@_refused_by_name
def real(
    low: float,
    high: float,
    *,
    levels: int | None = None,
    log: bool = False,
    when: Clause | None = None,
    coding: LevelCoding | None = None,
) -> Parameter:
    """A number from `low` to `high`: `levels` of them, evenly or log spaced; continuous if `levels` is left out."""
    if levels is not None:
        low, high = _checked_range(low, high, log)
        return _listed(_spaced(float(low), float(high), _checked_count(levels), log), when, coding, ordered=True)
    if coding is not None:
        raise InputError(f"`coding` is for parameters with levels, but got {coding=} without: give `levels`, too")
    return Parameter((), "continuous", {} if when is None else when, low, high, log)


# levels and clauses


def plain(value: Any) -> Any:
    """A number of numpy as Python's own; anything else as it is."""
    return value.item() if isinstance(value, np.generic) else value


def level_key(value: object) -> tuple[bool, object]:
    """What makes two levels the same: 1 and 1.0 are, but not True and 1, which are equal in Python."""
    return isinstance(value, bool), value


def options(wanted: Value | Sequence[Value]) -> Sequence[Value]:
    """The values that a clause allows for a parameter: the one that is given, or those of a list."""
    return wanted if isinstance(wanted, Sequence) and not isinstance(wanted, str) else (wanted,)


def frozen_clause(clause: object) -> Clause:
    """A copy that nobody can change."""
    if not isinstance(clause, Mapping):
        raise InputError(f"a condition (`when`) must be a dict like {{'name': level}}, but got {clause!r}")
    return MappingProxyType({name: _frozen(wanted) for name, wanted in clause.items()})


def _frozen(wanted: Value | Sequence[Value]) -> Value | Sequence[Value]:
    values = tuple(map(plain, options(wanted)))
    return values if wanted is options(wanted) else values[0]


def plain_clause(clause: Clause) -> dict[str, Any]:
    """A clause as plain data, for JSON."""
    return {name: list(options(wanted)) if wanted is options(wanted) else wanted for name, wanted in clause.items()}


def clause_key(clause: Clause) -> frozenset[object]:
    """What makes two clauses the same."""
    return frozenset((name, tuple(map(level_key, options(wanted)))) for name, wanted in clause.items())


def _listed(levels: Iterable[Value], when: Clause | None, coding: LevelCoding | None, *, ordered: bool) -> Parameter:
    values = _checked_levels(levels)
    is_binary = len(values) == 2 or (ordered and _is_power_of_two(len(values)))
    default: LevelCoding = "binary" if is_binary else "contrasts"
    chosen = default if coding is None else coding
    _check_coding(len(values), chosen)
    return Parameter(values, chosen, {} if when is None else when)


def _checked_levels(levels: object) -> tuple[Value, ...]:
    if not isinstance(levels, Iterable) or isinstance(levels, str | bytes | set | frozenset | Mapping):
        raise InputError(f"levels must be a list, in an order that stays, but got {levels!r}: write [first, second]")
    values: tuple[Any, ...] = tuple(map(plain, levels))
    for value in values:
        if not isinstance(value, bool | int | float | str | None):
            raise InputError(
                f"a level must be a text, number, True, False or None, but got {value!r}: name it by a text"
            )
        if isinstance(value, float) and not math.isfinite(value):
            raise InputError(
                f"a number among levels must be finite, but got {value!r}: leave it out, or name it by a text"
            )
    if len(values) < 2:
        raise InputError(f"there must be at least two levels, but got {list(values)}: leave the parameter out if fixed")
    seen: set[object] = set()
    for value in values:
        if level_key(value) in seen:
            raise InputError(f"levels must differ, but {value!r} comes twice in {list(values)}: leave it out once")
        seen.add(level_key(value))
    return values


def _is_power_of_two(k: int) -> bool:
    return k & (k - 1) == 0


def _check_coding(k: int, coding: object) -> None:
    if coding not in ("binary", "contrasts"):
        raise InputError(f"`coding` must be 'binary' or 'contrasts', but got {coding!r}: leave it out if in doubt")
    if coding == "binary" and not _is_power_of_two(k):
        raise InputError(f"binary coding takes 2, 4, 8, ... levels, but there are {k}: use coding='contrasts'")


# ranges


def _checked_range(low: Any, high: Any, log: object) -> tuple[Any, Any]:
    low, high = plain(low), plain(high)
    for name, bound in (("low", low), ("high", high)):
        if isinstance(bound, bool) or not isinstance(bound, int | float) or not _is_finite(bound):
            raise InputError(f"`{name}` must be a finite number, but got {bound!r}: write one like 0.1 or 1000")
    if not isinstance(log, bool):
        raise InputError(f"`log` must be True or False, but got {log!r}")
    if log and low <= 0:
        raise InputError(f"`low > 0` must hold for log=True, but got {low=}: use a small positive number")
    if not (math.log(low) < math.log(high) if log and high > 0 else low < high):
        raise InputError(
            f"`low < high` must hold, but got {low=}, {high=}: swap them, or leave the parameter out if fixed"
        )
    if not _is_finite(high - low):
        raise InputError(f"`high - low` must be finite, but got {low=}, {high=}: use a smaller range")
    return low, high


def _is_finite(number: float) -> bool:
    try:
        return math.isfinite(number)
    except OverflowError:  # a whole number that no float can hold
        return False


def _checked_count(levels: Any) -> int:
    count = plain(levels)
    if isinstance(count, bool) or not isinstance(count, int) or count < 2:
        raise InputError(f"`levels` must be a whole number >= 2, but got {levels!r}: leave the parameter out if fixed")
    return count


def _between(low: float, high: float, share: float, log: bool) -> float:
    """`low` at share 0, `high` at share 1."""
    value = low ** (1 - share) * high**share if log else low + share * (high - low)
    return float(min(high, max(low, value)))


def _spaced(low: float, high: float, count: int, log: bool) -> list[float]:
    """From low to high inclusive; between them ten significant digits, so that 0.1 is 0.1, if they still differ."""
    between = [_between(low, high, i / (count - 1), log) for i in range(1, count - 1)]
    rounded = [low, *(float(f"{value:.10g}") for value in between), high]
    return rounded if all(a < b for a, b in pairwise(rounded)) else [low, *between, high]


def _spaced_whole(low: int, high: int, count: int, log: bool) -> list[int]:
    """From low to high inclusive, all different: where rounding makes two equal, the neighbors make room."""
    if log:
        between = [round(_between(low, high, i / (count - 1), log)) for i in range(1, count - 1)]
    else:
        between = [low + round(Fraction(i * (high - low), count - 1)) for i in range(1, count - 1)]
    values = [low, *between, high]
    for i in range(1, count):
        values[i] = max(values[i], values[i - 1] + 1)
    return [min(value, high - (count - 1 - i)) for i, value in enumerate(values)]
