"""The verbs, their options and their help. What is heavy is imported by the verb that needs it: `--help` is at once."""

import sys
from importlib.metadata import version
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated

import typer

from overtone.cli.messages import Format, reported

app = typer.Typer(
    name="overtone",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,  # names and values are the user's: nothing in them is markup
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
File = Annotated[Path, typer.Argument(metavar="FILE", help="The TOML file that says what to tune.")]
Place = Annotated[
    str,
    typer.Argument(metavar="FILE|LEDGER", help="The TOML file, or the ledger of a run (postgresql://...?run=NAME)."),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")]


def main() -> None:
    """The entry point."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # names and values may be more than the terminal can show
    app(prog_name="overtone")


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"overtone {version('overtone')}")
        raise typer.Exit


@app.callback()
def overtone(
    _: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")] = False,
) -> None:
    """Tune any program that has many discrete knobs, from one file.

    \b
    Example:
      overtone init tune.toml      write a file to start from
      overtone check tune.toml     is it right, and what would it do?
      overtone run tune.toml       tune; again: go on where it stopped
      overtone best tune.toml      the best found, and the command for it

    Exit codes: 0 done, 1 the run failed or was interrupted, 2 the file or the usage is wrong.
    """


@app.command()
@reported
def run(
    file: File,
    ledger: Annotated[
        str | None, typer.Option(help="Another ledger than the file names: a path, or postgresql://USER@HOST/DATABASE.")
    ] = None,
    dask: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Run the trials on the Dask cluster of this scheduler.")
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Tune; again: go on where it stopped. Nothing is evaluated twice.

    Ctrl-C ends it cleanly, with the result so far (exit code 1); a second one at once.

    \b
    Example:
      overtone run tune.toml
      overtone run tune.toml --ledger postgresql://me@db.example/tuning
      overtone run tune.toml --dask tcp://scheduler.example:8786
    """
    from overtone.cli.run import run_file

    run_file(file, ledger=ledger, dask=dask, quiet=quiet)


@app.command()
@reported
def check(
    file: File,
    trial: Annotated[bool, typer.Option("--trial/--no-trial", help="Run one trial, for its time.")] = True,
) -> None:
    """Validate a file; show the space and the plan, and run one trial.

    \b
    Example:
      overtone check tune.toml
      overtone check tune.toml --no-trial
    """
    from overtone.cli.check import check_file

    check_file(file, trial=trial)


@app.command()
@reported
def status(place: Place) -> None:
    """Say how far a run is, also while it is going.

    \b
    Example:
      overtone status tune.toml
    """
    from overtone.cli.status import show_status

    show_status(place)


@app.command()
@reported
def best(
    place: Place,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON: value, config, command.")] = False,
    as_env: Annotated[bool, typer.Option("--env", help="As NAME=value lines that a shell can read.")] = False,
) -> None:
    """Show the best configuration, and the command line that reproduces it.

    \b
    Example:
      overtone best tune.toml
      overtone best tune.db --json
      eval "$(overtone best tune.toml --env)"
    """
    from overtone.cli.best import show_best

    show_best(place, as_json=as_json, as_env=as_env)


@app.command()
@reported
def report(
    place: Place,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The HTML file; without it, LEDGER.html beside the ledger.")
    ] = None,
    text: Annotated[bool, typer.Option("--text", help="Print it here instead.")] = False,
    watch: Annotated[bool, typer.Option("--watch", help="Serve a live page, on this machine only.")] = False,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Of the live page; 0: any that is free.")] = 0,
) -> None:
    """Write what was found as one self-contained page.

    \b
    Example:
      overtone report tune.toml -o report.html
      overtone report tune.db --text
      overtone report tune.toml --watch --port 8000
    """
    from overtone.cli.report import make_report

    make_report(place, output, text=text, watch=watch, port=port)


@app.command()
@reported
def export(
    place: Place,
    form: Annotated[Format, typer.Option("--format", "-f", help="How to write them.")] = Format.csv,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="The file; without it, print them.")] = None,
) -> None:
    """Write all trials as a table.

    \b
    Example:
      overtone export tune.toml > trials.csv
      overtone export tune.db --format parquet -o trials.parquet
    """
    from overtone.cli.export import export_trials

    export_trials(place, form, output)


@app.command()
@reported
def init(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Where to write.")] = Path("tune.toml"),
    flags: Annotated[
        Path | None,
        typer.Option(metavar="LIST", help="A file with flags (-: standard input): an on/off parameter for each."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file if it exists.")] = False,
) -> None:
    """Write a commented file to start from, also from a list of flags.

    \b
    Example:
      overtone init
      overtone init tune.toml --flags flags.txt
      gcc -Q --help=optimizers | overtone init gcc.toml --flags -
    """
    from overtone.cli.init import write_starter

    write_starter(file, flags, force=force)
