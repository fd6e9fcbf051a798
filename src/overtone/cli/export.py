"""`overtone export`: all trials as a table."""

import csv
import io
import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import typer

from overtone.cli.messages import Format
from overtone.cli.source import find
from overtone.errors import InputError
from overtone.running.command_text import written
from overtone.running.record import History, Record

Row = dict[str, Any]


def export_trials(place: str, form: Format, output: Path | None) -> None:
    """Into a file, or printed."""
    history = find(place).history()
    if form is Format.parquet:
        _write_parquet(history, output)
        return
    text = _csv(history) if form is Format.csv else json.dumps(_rows(history), indent=1) + "\n"
    if output is None:
        typer.echo(text, nl=False)
    else:
        output.write_text(text, encoding="utf-8", newline="")


def _rows(history: History) -> list[Row]:
    return [_row(record) for record in history.records]


def _row(record: Record) -> Row:
    """The columns of parameters are called config.NAME, so that none of them can be one of ours."""
    trial, outcome = record.trial, record.outcome
    known = {"number": trial.number, "stage": trial.stage, "budget": trial.budget, "value": outcome.value}
    told = {"reason": outcome.reason, "seconds": outcome.seconds, "attempts": outcome.attempts}
    return {**known, **told, **{f"config.{name}": value for name, value in trial.config.items()}}


def _columns(history: History) -> list[str]:
    known = ["number", "stage", "budget", "value", "reason", "seconds", "attempts"]
    return known + [f"config.{name}" for name in history.space.parameters]


def _csv(history: History) -> str:
    """What is not active, or failed, is empty."""
    text = io.StringIO()
    writer = csv.DictWriter(text, _columns(history), lineterminator="\n")
    writer.writeheader()
    writer.writerows(_rows(history))
    return text.getvalue()


def _write_parquet(history: History, output: Path | None) -> None:
    if output is None:
        raise InputError("Parquet is no text: say where to write it, with -o trials.parquet")
    missing = [name for name in ("pandas", "pyarrow") if find_spec(name) is None]
    if missing:
        raise InputError(f"Parquet needs {' and '.join(missing)}: install that, or take --format csv")
    import pandas

    frame = pandas.DataFrame(_rows(history), columns=_columns(history))
    for column in frame:  # a column of Parquet has one type, the levels of a choice may have several
        if frame[column].dropna().map(type).nunique() > 1:
            frame[column] = frame[column].map(lambda value: None if value is None else written(value))
    frame.to_parquet(output, index=False)
