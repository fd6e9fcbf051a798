"""How the command line speaks: plain text, errors on stderr without a traceback, exit codes."""

import json
import os
import re
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from enum import StrEnum
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec

import typer

from overtone.errors import LedgerError, OvertoneError, RunFailed

P = ParamSpec("P")
FAILED, WRONG = 1, 2  # exit codes: the run failed; the file or the usage is wrong


class Format(StrEnum):
    """How trials can be exported."""

    csv = "csv"
    json = "json"
    parquet = "parquet"


def reported(verb: Callable[P, None]) -> Callable[P, None]:
    """Turn the errors that a user can cause into a line and an exit code."""

    @wraps(verb)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            verb(*args, **kwargs)
        except BrokenPipeError:  # `| head`: nobody reads on
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(FAILED) from None
        except (OvertoneError, OSError) as error:
            typer.echo(f"overtone: {printable(str(error))}", err=True)
            raise typer.Exit(FAILED if isinstance(error, RunFailed | LedgerError) else WRONG) from None

    return guarded


def say(text: str = "") -> None:
    """Print; control characters that came from a program or a file cannot reach the terminal."""
    typer.echo(printable(text))


def printable(text: str) -> str:
    """Control characters, except for new lines and tabs, written out."""
    return re.sub(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", lambda found: f"\\x{ord(found[0]):02x}", text)


def drop_empty(folder: Path) -> None:
    """Remove the folder of the trials' folders, unless a failed trial left its own there."""
    with suppress(OSError):
        folder.rmdir()


def level_text(value: Any) -> str:
    """A value on one line, as it would stand in TOML or JSON."""
    return json.dumps(value, ensure_ascii=False)


def config_lines(config: Mapping[str, Any]) -> list[str]:
    """A line a parameter."""
    width = max((len(name) for name in config), default=0)
    return [f"  {name:{width}} = {level_text(value)}" for name, value in config.items()]
