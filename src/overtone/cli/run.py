"""`overtone run`: tune a command, or go on with it."""

import signal
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import typer

from overtone import report
from overtone.cli.messages import FAILED, config_lines, drop_empty, say
from overtone.cli.source import Source, ledger_place
from overtone.errors import RunFailed
from overtone.running.command import Command
from overtone.running.record import History
from overtone.settings.settings import Settings, load_settings
from overtone.tuning import Result, minimize

SHOWN = 20  # lines of the best configuration


def run_file(file: Path, *, ledger: str | None, dask: str | None, quiet: bool) -> None:
    """Tune, then show what came of it."""
    settings = load_settings(file, None if ledger is None else ledger_place(ledger, file.stem))
    for note in settings.notes:
        typer.echo(f"overtone: note: {note}", err=True)
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)  # a polite kill is an interruption, too
    try:
        history = tune(settings, progress=not quiet, dask=dask).history
    finally:
        signal.signal(signal.SIGTERM, before)
    drop_empty(settings.scratch)
    _conclude(settings, history, str(settings.file if ledger is None else settings.ledger))


def tune(settings: Settings, *, progress: bool, dask: str | None = None) -> Result:
    """`minimize`, as the file says; dask: the address of a scheduler."""
    run = settings.run
    with ExitStack() as stack:
        return minimize(
            settings.objective,
            settings.space,
            n_evaluations=run.evaluations,
            optimizer=settings.optimizer,
            ledger=str(settings.ledger),
            seed=run.seed,
            retries=run.retries,
            seconds=run.seconds,
            target=run.target,
            default=settings.default,
            goal=settings.goal,
            progress=progress,
            settings={"objective": settings.objective.to_dict()},
            **_workers(settings, dask, stack),
        )


def _workers(settings: Settings, dask: str | None, stack: ExitStack) -> dict[str, Any]:
    """Where the trials run, with the same limits everywhere."""
    if dask is None:
        return {"n_workers": settings.run.workers, "timeout": settings.timeout, "memory": settings.memory}
    from overtone.adapters.dask import connected

    executor, n = stack.enter_context(connected(dask, timeout=settings.timeout, memory=settings.memory))
    return {"executor": executor, "n_workers": settings.run.workers or n}


def _conclude(settings: Settings, history: History, place: str) -> None:
    """The report in short, the best so far, how to run it, and where to read more."""
    if history.records:
        say(report.text(history).partition("\n\n")[0] + "\n")
    failed = sum(record.outcome.value is None for record in history.records)
    say(f"{len(history.records)} trials, {failed} failed: {history.stopped}")
    best = history.best
    if best is not None:
        say(f"best value {best.outcome.value!r} (trial {best.trial.number})")
        lines = config_lines(best.trial.config)
        say("\n".join(lines[:SHOWN]))
        if len(lines) > SHOWN:
            say(f"  and {len(lines) - SHOWN} more: overtone best {place}")
        if isinstance(settings.objective, Command):  # that of a function is long, and of little use to read
            say(f"to run it: {Source(settings.ledger, settings.objective).line(history)}")
    say(f"for more: overtone report {place}")
    if history.stopped == "interrupted":
        say("to go on: run the same again")
        raise typer.Exit(FAILED)
    if best is None:
        raise RunFailed("no trial succeeded")
