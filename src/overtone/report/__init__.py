"""A run as text, as one HTML page, as plain tables and as plotly figures: all made of a `History`, and nothing else."""

# What draws is imported where it is used, so that a command line that only might report starts at once.

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from overtone.errors import InputError

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

    from overtone.running.record import History

__all__ = ["figures", "page", "save", "serve", "tables", "text"]


def text(history: "History") -> str:
    """The report for a terminal."""
    from overtone.report.terminal import render

    return render(history)


def page(history: "History", *, refresh: float | None = None) -> str:
    """One HTML page that needs no network; with `refresh`, the one that `serve` shows and renews every few seconds."""
    from overtone.report.webpage import render

    return render(history, refresh=refresh)


def save(history: "History", path: Path) -> None:
    """The page as a file."""
    if not path.parent.is_dir():
        raise InputError(f"a report must go to a folder that is there, but got {str(path)!r}: make its folder first")
    path.write_text(page(history), encoding="utf-8")


def tables(history: "History") -> dict[str, list[dict[str, Any]]]:
    """Tables as lists of flat dicts, ready for `pandas.DataFrame`."""
    from overtone.report.flat import tables_of

    return tables_of(history)


def figures(history: "History") -> "dict[str, Figure]":
    """The plots of the page, as plotly figures; those that there is nothing to show for are left out."""
    from overtone.report.plots import figures_of
    from overtone.report.summary import summarize

    return figures_of(summarize(history))


def serve(
    load: "Callable[[], History]", port: int = 0, *, interval: float = 2.0, announce: Callable[[str], object] = print
) -> None:
    """Show the page live on this machine only, until Ctrl-C; port 0 takes a free one, `announce` gets the address."""
    from overtone.report.watch import serve_forever

    serve_forever(load, port, interval=interval, announce=announce)
