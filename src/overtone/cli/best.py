"""`overtone best`: the best configuration, and the command line that reproduces it."""

import json
import re
import shlex

import typer

from overtone.cli.messages import FAILED, config_lines, say
from overtone.cli.source import find
from overtone.errors import InputError
from overtone.running.command_text import written
from overtone.space import Config


def show_best(place: str, *, as_json: bool, as_env: bool) -> None:
    """For people, for programs, or for a shell."""
    if as_json and as_env:
        raise InputError("--json and --env cannot both be: leave one out")
    source = find(place)
    history = source.history()
    best, line = history.best, source.line(history)
    if best is None:
        typer.echo("overtone: no trial has succeeded yet", err=True)
        raise typer.Exit(FAILED)
    if as_json:
        found = {"value": best.outcome.value, "config": best.trial.config, "trial": best.trial.number, "command": line}
        typer.echo(json.dumps(found, indent=2))
    elif as_env:
        typer.echo("\n".join(_env_lines(best.trial.config)))
    else:
        say(f"value {best.outcome.value!r} (trial {best.trial.number})")
        say("\n".join(config_lines(best.trial.config)))
        if line is not None:
            say("to run it:")
            typer.echo(line)  # as it is: it is quoted for a shell, and must reproduce the value


def _env_lines(config: Config) -> list[str]:
    """Names as shells allow them; two that become the same are refused."""
    lines: dict[str, str] = {}
    for name, value in config.items():
        variable = re.sub(r"^(?=\d)", "_", re.sub(r"\W", "_", name, flags=re.ASCII)).upper()
        if variable in lines:
            raise InputError(f"two parameters would be the variable {variable}, one of them {name!r}: take --json")
        lines[variable] = f"{variable}={shlex.quote(written(value))}"
    return list(lines.values())
