"""From the file's tables to what is tuned: a `Command`, or a `Function`."""

import re
import shlex
from collections.abc import Mapping
from pathlib import Path, PurePath

from overtone.errors import InputError
from overtone.running.command import Command
from overtone.running.command_value import Reading
from overtone.running.function import Function, parse
from overtone.settings.problems import Problems, hint
from overtone.settings.tables import ObjectiveTable, ParameterTable, ValueTable

WORDS = ("last line", "wall time", "exit code")
_OF_A_SHELL = frozenset({"|", "||", "&", "&&", ";", ">", ">>", "<", "2>&1"})


COMMANDS_ONLY = ("value", "shell", "env", "repeats")  # keys that a function has no use for


def build_objective(
    table: ObjectiveTable,
    parameters: Mapping[str, ParameterTable],
    places: tuple[Path, Path],
    budget: float | None,
    problems: Problems,
) -> Command | Function | None:
    """What is tuned; None if something is wrong with it."""
    if (table.command is None) == (table.function is None):
        problems.add(("objective",), "it must have either `command` or `function`, just one of them")
        return None
    if table.function is None:
        return build_command(table, parameters, places, budget, problems)
    for key in [key for key in COMMANDS_ONLY if key in table.model_fields_set]:
        problems.add(("objective", key), "it goes with `command`, but this is a `function`: leave it out")
    for name in [name for name, each in parameters.items() if each.on is not None]:
        problems.add(("space", name, "on"), "texts go with `command`, but this is a `function`: leave them out")
    with problems.under("objective", "function"):
        return parse(table.function, places[0])
    return None


def build_command(
    table: ObjectiveTable,
    parameters: Mapping[str, ParameterTable],
    places: tuple[Path, Path],
    budget: float | None,
    problems: Problems,
) -> Command | None:
    """The command; None if something is wrong with it. places: where it runs, and where its trials' folders are."""
    arguments, reading = None, None
    with problems.under("objective", "command"):
        arguments = _arguments(table)
    with problems.under("objective", "value"):
        reading = _word_reading(table.value) if isinstance(table.value, str) else _table_reading(table.value)
    for name in table.env:
        if not name or "=" in name or "\0" in name:
            problems.add(("objective", "env", name), "it is no name of an environment variable")
    if arguments is None or reading is None:
        return None
    return Command(
        arguments=arguments,
        value=reading,
        shell=table.shell,
        env=dict(table.env),
        texts={name: (p.on, p.off) for name, p in parameters.items() if p.on is not None and p.off is not None},
        repeats=table.repeats,
        budget=budget,
        cwd=str(places[0]),
        scratch=str(places[1]),
    )


def _arguments(table: ObjectiveTable) -> list[list[str]]:
    """A text is split before anything is filled in, so that a value stays within its argument."""
    if any("\0" in text for group in table.command or () for text in group):
        raise InputError("it must not hold the character NUL, which no argument of a program can hold")
    if table.shell:
        if not isinstance(table.command, str) or not table.command.strip():
            raise InputError("with `shell = true` it must be a text, but got a list or nothing")
        return [[table.command]]
    if not isinstance(table.command, str):
        return [[group] if isinstance(group, str) else list(group) for group in table.command or ()]
    return [[word] for word in _words(table.command)]


def _words(text: str) -> list[str]:
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise InputError(f"it is split into arguments as a shell does, but: {error}: close the quote") from None
    if not words:
        raise InputError("it must name a program, but is empty")
    found = next((word for word in words if word in _OF_A_SHELL), None)
    if found is not None:
        raise InputError(
            f"{found!r} would be given to the program as it is, because no shell reads the command: set "
            "`shell = true`, or list the arguments if that is meant"
        )
    return words


def _word_reading(text: str) -> Reading:
    if text in WORDS:
        return Reading(source=text)  # type: ignore[arg-type]
    return Reading("regex", _checked_regex(text))


def _checked_regex(text: str) -> str:
    try:
        groups = re.compile(text).groups
    except re.error as error:
        raise InputError(f"{text!r} is no regular expression: {error}") from None
    if not groups:
        raise InputError(
            f"it must be one of {', '.join(map(repr, WORDS))} or a regular expression with a group in parentheses, "
            f"as in 'error=([0-9.]+)', but got {text!r}{hint(text, WORDS)}"
        )
    return text


def _table_reading(table: ValueTable) -> Reading:
    if (table.regex is None) == (table.json_path is None):
        raise InputError("it must have just one of `json` and `regex`")
    file = table.file or ""
    if PurePath(file).is_absolute() or ".." in PurePath(file).parts:
        raise InputError(
            f"`file` must be a path in the folder of the trial, but got {file!r}: trials that run at the same time "
            "must not share a file; have the command write to {folder}/result.json"
        )
    if table.regex is not None:
        return Reading("regex", _checked_regex(table.regex), file)
    if not table.json_path:
        raise InputError("`json` must be a path like 'a.b.0.c', but is empty")
    return Reading("json", table.json_path, file)
