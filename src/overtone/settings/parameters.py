"""From the file's tables to a space: every mistake under its key."""

from collections.abc import Mapping

from overtone.errors import InputError
from overtone.optimizers.given import checked_config
from overtone.settings.problems import Problems
from overtone.settings.tables import FileTable, ParameterTable
from overtone.space import Config, Parameter, Space, boolean, choice, integer, ordinal, real
from overtone.space.clauses import check_clause
from overtone.space.parameters import Clause, options

KINDS = ("boolean", "choice", "ordinal", "integer", "real")
_ONLY = {  # keys that go with some kinds only
    "levels": ("integer", "real"),
    "log": ("integer", "real"),
    "coding": ("choice", "ordinal", "integer", "real"),
    "on": ("boolean",),
    "off": ("boolean",),
}


def build_space(file: FileTable, problems: Problems) -> Space | None:
    """The space; None if something is wrong with it."""
    parameters: dict[str, Parameter] = {}
    for name, table in file.space.items():
        with problems.under("space", name):
            parameters[name] = _parameter(table)
    if len(parameters) < len(file.space):
        return None
    for name, parameter in parameters.items():
        if parameter.when:
            with problems.under("space", name, "when"):
                _check_clause({**parameter.when}, parameters)
    for number, clause in enumerate(file.forbid):
        with problems.under("forbid", number):
            _check_clause(clause, parameters)
    if problems:
        return None
    with problems.under("forbid" if file.forbid else "space"):
        return Space(parameters, file.forbid)
    return None


def _parameter(table: ParameterTable) -> Parameter:
    kinds = [kind for kind in KINDS if getattr(table, kind) is not None]
    if len(kinds) != 1:
        raise InputError(f"must have just one of {', '.join(KINDS)}, but has {' and '.join(kinds) or 'none of them'}")
    for key, allowed in _ONLY.items():
        if getattr(table, key) is not None and kinds[0] not in allowed:
            raise InputError(f"`{key}` goes with {' and '.join(allowed)}, but this is {kinds[0]}: leave it out")
    if (table.on is None) != (table.off is None):
        raise InputError("`on` and `off` go together, but only one came: an empty text adds nothing")
    parameter = _built(table)
    if parameter.problem:
        raise InputError(parameter.problem)
    if any(isinstance(level, str) and "\0" in level for level in parameter.levels):
        raise InputError("a text must not hold the character NUL, which no argument of a program can hold")
    return parameter


def _built(table: ParameterTable) -> Parameter:
    if table.choice is not None:
        return choice(table.choice, when=table.when, coding=table.coding)
    if table.ordinal is not None:
        return ordinal(table.ordinal, when=table.when, coding=table.coding)
    spaced = {"levels": table.levels, "log": bool(table.log), "when": table.when, "coding": table.coding}
    if table.integer is not None:
        return integer(*table.integer, **spaced)  # type: ignore[arg-type]
    return real(*table.real, **spaced) if table.real is not None else boolean(when=table.when)  # type: ignore[arg-type]


def _check_clause(clause: Clause, parameters: Mapping[str, Parameter]) -> None:
    """Of known names and levels, and such that it can hold: what it names can be active together."""
    check_clause(clause, parameters, "it")
    left: dict[str, set[int | None]] = {}
    waiting = [clause]
    while waiting:
        for name, wanted in waiting.pop().items():
            numbers = {parameters[name].number(option) for option in options(wanted)}
            is_new = name not in left
            left[name] = left.get(name, numbers) & numbers
            if not left[name]:
                raise InputError(f"it can never hold: {name!r} would need two levels at once, by the `when` of others")
            if is_new and parameters[name].when:
                waiting.append(parameters[name].when)


def check_default(default: Config, space: Space, problems: Problems) -> None:
    """Complete, allowed, and with nothing that is not active."""
    with problems.under("default"):
        known = checked_config(space, default)
        extra = next((name for name in default if name not in known), None)
        if extra is not None:
            raise InputError(f"{extra!r} is not active with the others: leave it out")
