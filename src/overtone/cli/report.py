"""`overtone report`: the page, the text, or the live page."""

from pathlib import Path

import typer

from overtone import report
from overtone.cli.messages import say
from overtone.cli.source import find
from overtone.errors import InputError


def make_report(place: str, output: Path | None, *, text: bool, watch: bool, port: int) -> None:
    """What was asked for."""
    if text + watch + (output is not None) > 1:
        raise InputError("of --output, --text and --watch only one can be: leave the others out")
    source = find(place)
    if watch:
        report.serve(source.history, port, announce=typer.echo)
    elif text:
        say(report.text(source.history()))
    else:
        target = output or source.page
        report.save(source.history(), target)
        typer.echo(str(target))
