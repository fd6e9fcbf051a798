"""Texts with placeholders: `{name}` is filled in, `{{` and `}}` stand for braces."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from overtone.errors import InputError

_PIECES = re.compile(r"\{\{|\}\}|\{[^{}]*\}|[{}]|[^{}]+")
# What a shell sees as one piece: an escape, a quoted text, a comment, a placeholder, or a character.
_SHELL_PIECES = re.compile(
    r"""\\.|'[^']*'|"(?:\\.|[^"\\])*"|(?<![^\s;&|()])\#[^\n]*|\{\{|\}\}|\{[^{}]*\}|.""", re.DOTALL
)
_UNSAFE = re.compile(r"`|<<|\(\(|\$\[|\$'")  # what follows is read by other rules than those of plain words
_NESTED = re.compile(r"`|\$\(|\$\{\{[^}]*$")  # inside double quotes: quotes start afresh in there


@dataclass(frozen=True)
class Slot:
    """A place to be filled."""

    name: str


Text = tuple[str | Slot, ...]


def parse(text: str) -> Text:
    """The pieces of a text; a brace that stands alone is refused."""
    return tuple(map(_piece, _PIECES.findall(text)))


def _piece(found: str) -> str | Slot:
    if found in "{}":
        raise InputError(
            f"a brace that stands for itself must be written twice, but a single {found} came: write {found * 2}"
        )
    if found in ("{{", "}}"):
        return found[0]
    return Slot(found[1:-1]) if found.startswith("{") else found


def slots(text: str) -> list[str]:
    """The names in a text's placeholders."""
    return [piece.name for piece in parse(text) if isinstance(piece, Slot)]


def fill(text: str, values: Mapping[str, str]) -> str | None:
    """The text with its values; None if one of them is not there."""
    pieces = [values.get(piece.name) if isinstance(piece, Slot) else piece for piece in parse(text)]
    return None if None in pieces else "".join(piece for piece in pieces if piece is not None)


def written(value: object) -> str:
    """A value as an argument: texts as they are, floats in full, and true, false, null as in JSON."""
    if isinstance(value, str):
        return value
    return (
        {True: "true", False: "false", None: "null"}[value] if value is None or isinstance(value, bool) else repr(value)
    )


def written_budget(budget: float) -> str:
    """A budget as an argument: whole ones as programs that count epochs expect them."""
    return str(int(budget)) if budget == int(budget) else repr(budget)


def check_shell(text: str) -> None:
    """Placeholders of a shell text stand where the shell reads plain words: they bring their own quotes.

    Anywhere else (in quotes, here-documents, arithmetic, comments) a quoted value could end up as code.
    """
    if not slots(text):
        return
    pieces = _SHELL_PIECES.findall(text)
    plain = [piece for piece in pieces if re.fullmatch(r"\{[^{}]*\}", piece)]
    odd = any(
        piece in "'\"" or (piece == "$" and after in plain) or (piece[0] == '"' and _NESTED.search(piece))
        for piece, after in zip(pieces, [*pieces[1:], ""], strict=True)
    )
    if len(plain) < len(slots(text)) or odd or _UNSAFE.search("".join(p for p in pieces if p[0] not in "'\"\\")):
        raise InputError(
            "in a shell text a placeholder must stand outside of quotes, backquotes, here-documents, arithmetic and "
            'comments, because its value is quoted already: write {name}, not "{name}"; or give it by `env`, as "$NAME"'
        )
