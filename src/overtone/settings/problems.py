"""The mistakes of a file: all of them, each with its key and, where something is close, 'did you mean'."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from typing import Any

from pydantic import ValidationError

from overtone.errors import InputError
from overtone.settings import tables

# Which table stands where; * is any name.
TABLES: Mapping[tuple[str, ...], type[tables.Table]] = {
    (): tables.FileTable,
    ("objective",): tables.ObjectiveTable,
    ("objective", "value"): tables.ValueTable,
    ("space", "*"): tables.ParameterTable,
    ("harmonica",): tables.HarmonicaTable,
    ("random_search",): tables.RandomSearchTable,
    ("local_search",): tables.LocalSearchTable,
    ("spectral_descent",): tables.SpectralDescentTable,
    ("hyperband",): tables.HyperbandTable,
    ("successive_halving",): tables.SuccessiveHalvingTable,
    ("run",): tables.RunTable,
}
_WORDS = {
    "string_type": "must be a text",
    "int_type": "must be a whole number",
    "float_type": "must be a number",
    "bool_type": "must be true or false",
    "list_type": "must be a list",
    "dict_type": "must be a table, as in { name = value }",
    "model_type": "must be a table, as in { key = value }",
    "too_short": "must have more in it",
    "too_long": "must have less in it",
}
_KEY_WORDS: Mapping[tuple[str, ...], str] = {  # keys that may have several forms
    ("objective", "command"): "must be a text or a list of texts",
    ("objective", "value"): "must be a text or a table, as in { json = 'a.b' }",
    ("objective", "memory"): "must be a number of bytes, or a text like '2GB' or '512MiB'",
}


class Problems:
    """Collects mistakes, so that a file can be put right in one go."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._found: list[str] = []

    def add(self, keys: Sequence[str | int], text: str) -> None:
        """Note one, under the path of its key."""
        self._found.append(f"{self._file}: {key_path(keys)}: {text}")

    @contextmanager
    def under(self, *keys: str | int) -> Iterator[None]:
        """Note what is refused in here, and go on."""
        try:
            yield
        except InputError as error:
            self.add(keys, str(error))

    def add_all(self, error: ValidationError) -> None:
        """Note all that pydantic found."""
        for mistake in error.errors(include_url=False):
            forms = (tables.TEXT, tables.TABLE, tables.LIST)
            keys = [key for key in mistake["loc"] if key not in forms]
            self.add(keys, _words(keys, mistake))

    def __bool__(self) -> bool:
        return bool(self._found)

    def refuse(self) -> None:
        """Raise them, if there are any."""
        if self._found:
            raise InputError("\n".join(self._found))


def key_path(keys: Sequence[str | int]) -> str:
    """Keys as TOML writes them: space."a b".levels; places in lists in brackets."""
    path = ""
    for key in keys:
        part = (
            f"[{key}]"
            if isinstance(key, int)
            else "." + (key if re.fullmatch(r"[\w-]+", key, re.ASCII) else toml_text(key))
        )
        path += part
    return path.removeprefix(".")


def toml_text(text: str) -> str:
    """A text in quotes, as TOML's basic strings."""
    shown = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + re.sub(r"[\x00-\x1f\x7f]", lambda found: f"\\u{ord(found[0]):04x}", shown) + '"'


def hint(name: object, known: Iterable[str]) -> str:
    """': did you mean ...?' if something is close, else what there is."""
    names = list(known)
    close = get_close_matches(str(name), names, n=1)
    return f": did you mean {close[0]!r}?" if close else f": there are {', '.join(map(repr, names[:20]))}"


def _words(keys: Sequence[str | int], mistake: Any) -> str:
    kind = mistake["type"]
    if kind == "extra_forbidden":
        return _unknown(keys)
    if kind == "missing":
        return "must be given" + ("" if len(keys) > 1 else f", as in {keys[0]} = {{ ... }}")
    text = _KEY_WORDS.get(tuple(map(str, keys))) if kind.endswith("_type") else None
    text = (
        text or _WORDS.get(kind) or re.sub("^Input should be", "must be", re.sub("^Value error, ", "", mistake["msg"]))
    )
    text = text.replace("must be True", "must be true") + f", but got {_shown(mistake['input'])}"
    close = get_close_matches(str(mistake["input"]), re.findall("'([^']+)'", text.partition(", but got")[0]), n=1)
    return text + (f": did you mean {close[0]!r}?" if kind == "literal_error" and close else "")


def _unknown(keys: Sequence[str | int]) -> str:
    """An unknown key: a close one of its table, or the same one of another."""
    name = str(keys[-1])
    parent = tuple(map(str, keys[:-1]))
    known = key_names(TABLES[("space", "*") if parent[:1] == ("space",) else parent])
    elsewhere = [place for place, table in TABLES.items() if place and name in key_names(table)]
    if elsewhere and not get_close_matches(name, known, n=1, cutoff=0.8):
        return f"unknown key: it belongs into `{'.'.join(elsewhere[0])}`".replace(".*", ".NAME")
    return "unknown key" + hint(name, known)


def key_names(table: type[tables.Table]) -> list[str]:
    """The keys that a table may have."""
    return [field.alias or name for name, field in table.model_fields.items()]


def _shown(value: Any) -> str:
    text = {True: "true", False: "false"}[value] if isinstance(value, bool) else repr(value)
    return text if len(text) <= 100 else text[:97] + "..."
