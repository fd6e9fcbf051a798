"""Clauses: partial configurations, as they stand in `when` and `forbid`."""

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from graphlib import CycleError, TopologicalSorter

from overtone.errors import InputError
from overtone.space.parameters import Clause, Parameter, Value, frozen_clause, level_key, options

Config = dict[str, Value]


def holds(clause: Clause, config: Mapping[str, Value]) -> bool:
    """Every parameter that the clause names is active and has the value, or one of the values, given."""
    return all(name in config and _is_among(config[name], wanted) for name, wanted in clause.items())


def _is_among(value: Value, wanted: Value | Sequence[Value]) -> bool:
    return any(level_key(value) == level_key(option) for option in options(wanted))


def checked_forbid(forbid: object, parameters: Mapping[str, Parameter]) -> tuple[Clause, ...]:
    """Clauses, each of known parameters and their levels, that nobody can change."""
    if isinstance(forbid, Mapping | str) or not isinstance(forbid, Iterable):
        raise InputError(f"`forbid` must be a list of dicts like [{{'name': level}}], but got {forbid!r}")
    clauses = tuple(forbid)
    for number, clause in enumerate(clauses):
        check_clause(clause, parameters, f"`forbid`, clause {number},")
    return tuple(map(frozen_clause, clauses))


def check_clause(clause: object, parameters: Mapping[str, Parameter], what: str) -> None:
    """A non-empty dict of known parameters and their levels."""
    if not isinstance(clause, Mapping) or not clause:
        raise InputError(f"{what} must be a dict like {{'name': level}}, with at least one entry, but got {clause!r}")
    for name, wanted in clause.items():
        if name not in parameters:
            raise InputError(f"{what} names {name!r}, which is no parameter{did_you_mean(name, parameters)}")
        _check_levels(wanted, name, parameters[name], what)


def _check_levels(wanted: Value | Sequence[Value], name: str, parameter: Parameter, what: str) -> None:
    if parameter.is_continuous:
        raise InputError(f"{what} names {name!r}, which is continuous: give it `levels`, so that a clause can hold")
    if not options(wanted):
        raise InputError(f"{what} can never hold: it has no level for {name!r}: take some of {list(parameter.levels)}")
    for option in options(wanted):
        if parameter.number(option) is None:
            raise InputError(
                f"{what} can never hold: {option!r} is no level of {name!r}: take some of {list(parameter.levels)}"
            )


def did_you_mean(name: object, known: Mapping[str, object]) -> str:
    """', did you mean ...?' if something is close."""
    close = get_close_matches(str(name), known, n=1)
    return f": did you mean {close[0]!r}?" if close else f": there are {list(known)[:10]}"


def activation_order(parameters: Mapping[str, Parameter]) -> list[str]:
    """The parameters, each after those that its `when` names."""
    if not any(parameter.when for parameter in parameters.values()):
        return list(parameters)
    try:
        return list(TopologicalSorter({name: parameter.when for name, parameter in parameters.items()}).static_order())
    except CycleError as error:
        circle = " -> ".join(map(repr, reversed(error.args[1])))
        raise InputError(f"`when` must not go in a circle, but there is {circle}: drop one of these `when`") from None
