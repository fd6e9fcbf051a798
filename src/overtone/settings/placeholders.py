"""Does the command fit the space? Every parameter reaches it, and every placeholder is known."""

import shlex
from collections.abc import Iterator

from overtone.errors import InputError
from overtone.running.command import OWN, Command
from overtone.running.command_text import check_shell, parse, slots
from overtone.settings.problems import Problems, hint
from overtone.space import Space


def check_placeholders(command: Command, space: Space, problems: Problems) -> None:
    """All that can be wrong between the two."""
    for name in [name for name in OWN if name in space.parameters]:
        problems.add(("space", name), f"{{{name}}} means something else in a command: call the parameter otherwise")
    for name, texts in command.texts.items():
        for key, text in zip(("on", "off"), texts, strict=True):
            with problems.under("space", name, key):
                _check_words(text)
    if not list(_unreadable(command, problems)):
        _check_names(command, space, problems)
        _check_forms(command, space, problems)


def _check_words(text: str) -> None:
    try:
        shlex.split(text)
    except ValueError as error:
        raise InputError(f"it is split into arguments as a shell does, but: {error}") from None


def _texts(command: Command) -> list[tuple[tuple[str, ...], str]]:
    """Every text that may have placeholders, with its key."""
    arguments = [(("objective", "command"), text) for group in command.arguments for text in group]
    return [*arguments, *((("objective", "env", name), text) for name, text in command.env.items())]


def _unreadable(command: Command, problems: Problems) -> Iterator[str]:
    for keys, text in _texts(command):
        try:
            parse(text)
        except InputError as error:
            problems.add(keys, f"{error} in {text!r}")
            yield text


def _check_names(command: Command, space: Space, problems: Problems) -> None:
    known = [*space.parameters, *OWN]
    for keys, text in _texts(command):
        for name in slots(text):
            if name not in known:
                doubled = "a brace that stands for itself is written twice"
                problems.add(keys, f"{{{name}}} is no parameter{hint(name, known)} ({doubled})")
    for name in space.parameters:
        if not (command.uses(name) or command.uses("config") or (name in command.texts and command.uses("flags"))):
            wanted = f"{{{name}}}" + (" or {flags}" if name in command.texts else "")
            problems.add(
                ("objective", "command"),
                f"missing placeholder: {name!r} must reach the command, but does not: write {wanted} there or "
                "into `env`, or {config} for all in a JSON file",
            )


def _check_forms(command: Command, space: Space, problems: Problems) -> None:
    with problems.under("objective", "command"):
        if command.uses("flags") and not command.texts:
            raise InputError("{flags} is empty: give some parameters `on` and `off` texts")
        if command.uses("budget") and command.budget is None:
            raise InputError("{budget} has no value: set `budget` of the optimizer, or take hyperband")
        if command.shell:
            _check_shell(command.arguments[0][0], space)
        else:
            _check_arguments(command, space)


def _check_shell(text: str, space: Space) -> None:
    check_shell(text)
    for name in slots(text):
        if _is_conditional(name, space):
            raise InputError(
                f"{name!r} is not always active, and a shell text cannot leave out an argument: give it by `env` "
                "(the variable is then not set), or by {config}"
            )


def _check_arguments(command: Command, space: Space) -> None:
    for number, group in enumerate(command.arguments):
        for text in group:
            if "flags" in slots(text) and text != "{flags}":
                raise InputError(f"{{flags}} must be an argument of its own, but came in {text!r}: or take `env`")
        before = command.arguments[number - 1] if number else ("",)
        name = next((name for text in group for name in slots(text) if _is_conditional(name, space)), None)
        if name is not None and len(before) == len(group) == 1 and _is_option(before[0]) and not _is_option(group[0]):
            raise InputError(
                f"{name!r} is not always active, and it is not clear whether {before[0]!r} is then left out, too: "
                f'write "{before[0]}={group[0]}", or list them as two that go together, ["{before[0]}", "{group[0]}"]'
            )


def _is_conditional(name: str, space: Space) -> bool:
    return name in space.parameters and bool(space.parameters[name].when)


def _is_option(text: str) -> bool:
    return text.startswith("-") and "=" not in text and not slots(text)
