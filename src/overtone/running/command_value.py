"""How the number is read from what a program leaves behind."""

import json
import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from overtone.errors import TrialFailed
from overtone.running.command_process import LIMIT, Finished

Source = Literal["last line", "wall time", "exit code", "regex", "json"]


@dataclass(frozen=True)
class Reading:
    """Where the value is: in the output or in a file of the trial's folder, or beside it, as the time it took."""

    source: Source = "last line"
    pattern: str = ""  # the regular expression, or the path in the JSON
    file: str = ""  # relative to the trial's folder; "": the output

    def __call__(self, finished: Finished, folder: Path) -> float:
        """The value; TrialFailed says what was there instead."""
        if self.source == "wall time":
            return finished.seconds
        if self.source == "exit code":
            return float(finished.code)
        return self._number(_read(folder, self.file) if self.file else finished.output)

    def _number(self, text: str) -> float:
        where = f"file {self.file!r}" if self.file else "output"
        if self.source == "json":
            return _json_number(_parsed(text, where), self.pattern, where)
        if self.source == "regex":
            return _number(_last_match(self.pattern, text, where), f"what {self.pattern!r} finds in the {where}")
        return _number(next((line for line in reversed(text.splitlines()) if line.strip()), ""), "the last line")


def _read(folder: Path, name: str) -> str:
    path = folder / name
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - LIMIT))
            return file.read(LIMIT).decode(errors="replace")
    except OSError as error:
        raise TrialFailed(
            f"the command must write {name!r} into its folder, but: {error.strerror}: give it {{folder}}/{name}"
        ) from None


def _last_match(pattern: str, text: str, where: str) -> str:
    """The last one wins: programs print their progress first and the result last."""
    last = None
    for found in re.finditer(pattern, text, re.MULTILINE):
        last = found
    if last is None or last.group(1) is None:
        raise TrialFailed(f"{pattern!r} must match something in the {where}, but does not")
    return str(last.group(1))


def _parsed(text: str, where: str) -> Any:
    """The whole text as JSON, or else its last line, so that a program may talk before."""
    for part in (text, *text.strip().splitlines()[-1:]):
        try:
            return json.loads(part)
        except ValueError:
            continue
    raise TrialFailed(f"the {where}, or its last line, must be JSON, but ends in {text.strip()[-100:]!r}")


def _json_number(data: Any, path: str, where: str) -> float:
    for key in path.split("."):
        if isinstance(data, dict) and key in data:
            data = data[key]
        elif isinstance(data, list) and key.isdigit() and int(key) < len(data):
            data = data[int(key)]
        else:
            raise TrialFailed(f"the JSON of the {where} must have {path!r}, but there is no {key!r}")
    if isinstance(data, bool) or not isinstance(data, int | float):
        raise TrialFailed(f"{path!r} in the JSON of the {where} must be a number, but is {str(data)[:100]!r}")
    return _number(str(data), path)


def _number(text: str, what: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise TrialFailed(f"{what} must be a finite number, but is {text.strip()[:100]!r}")
    return number
