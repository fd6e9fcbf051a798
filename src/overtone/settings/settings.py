"""`Settings`: all that a file says, ready to run."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from overtone.errors import InputError
from overtone.optimizers.trial import Base
from overtone.running.command import Command
from overtone.running.function import Function
from overtone.running.ledger import Address, is_url, public_address
from overtone.running.record import Goal
from overtone.settings.objective import build_objective
from overtone.settings.optimizer import build_optimizer, check_optimizer, largest_budget
from overtone.settings.parameters import build_space, check_default
from overtone.settings.placeholders import check_placeholders
from overtone.settings.plan import Part, Plan, automatic_plan, plan_of
from overtone.settings.problems import Problems
from overtone.settings.tables import FileTable, RunTable
from overtone.space import Config, Space
from overtone.tuning import automatic_recipe


@dataclass(frozen=True)
class Settings:
    """What to tune, how, and for how long."""

    file: Path
    space: Space
    objective: Command | Function
    optimizer: Base | None  # None: `minimize` chooses
    plan: Plan
    ledger: Path | Address
    scratch: Path  # where commands have the folders of their trials
    run: RunTable
    goal: Goal = "minimize"
    default: Config | None = None
    timeout: float | None = None
    memory: int | None = None

    @property
    def notes(self) -> list[str]:
        """What is no mistake, but perhaps not meant."""
        varies = any("budget" in part.name for part in self.plan.parts)
        if varies and isinstance(self.objective, Command) and not self.objective.uses("budget"):
            return ["the optimizer varies the budget, but the command has no {budget}: it runs the same each time"]
        return []


def load_settings(path: str | Path, ledger: Path | Address | None = None) -> Settings:
    """Read a file; all mistakes are reported at once. ledger: another one than the file names."""
    file = Path(path)
    data = _read(file)
    problems = Problems(str(path))
    try:
        tables = FileTable.model_validate(data)
    except ValidationError as error:
        problems.add_all(error)
        problems.refuse()
        raise
    return _built(file, tables, ledger or _ledger(file, tables.run.ledger, problems), problems)


def _read(file: Path) -> Mapping[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{file}: it must be a file that can be read, but: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{file}: it must be TOML, but: {error}") from None


def _plan(tables: FileTable, optimizer: Base | None, space: Space) -> Plan:
    most = tables.run.evaluations
    planned = automatic_plan(space, most) if optimizer is None else plan_of(optimizer(space, tables.run.seed), space)
    plan = Plan((*[Part("default", 1)] * (tables.default is not None), *planned.parts))
    most = automatic_recipe(space, None)["n_evaluations"] if most is None and optimizer is None else most
    return plan if most is None else plan.limited(most)


def _ledger(file: Path, text: str | None, problems: Problems) -> Path | Address:
    """As the file names it; without a name, a run on a server has that of the file."""
    usual = file.absolute().with_suffix(".db")
    if is_url(text):
        with problems.under("run", "ledger"):
            return public_address(str(text), file.stem)
        return usual
    return usual if text is None else file.absolute().parent / text


def _built(file: Path, tables: FileTable, ledger: Path | Address, problems: Problems) -> Settings:
    """From tables to values; only what is right so far is checked further."""
    folder = file.absolute().parent
    if ledger == file.absolute():
        problems.add(("run", "ledger"), "it must be another file than this one: give it a name that ends in .db")
    kept = ledger if isinstance(ledger, Path) else file.absolute().with_suffix("")
    places = folder, kept.with_name(kept.name + ".trials")
    optimizer = build_optimizer(tables, problems)
    objective = build_objective(tables.objective, tables.space, places, largest_budget(tables), problems)
    space = build_space(tables, problems)
    if space is not None:
        if optimizer is not None:
            check_optimizer(tables, optimizer, space, problems)
        if tables.default is not None:
            check_default(tables.default, space, problems)
        if isinstance(objective, Command):
            check_placeholders(objective, space, problems)
    problems.refuse()
    assert space is not None and objective is not None  # noqa: S101 - there are no problems
    return Settings(
        file=file,
        space=space,
        objective=objective,
        optimizer=optimizer,
        plan=_plan(tables, optimizer, space),
        ledger=ledger,
        scratch=places[1],
        run=tables.run,
        goal=tables.objective.goal,
        default=tables.default,
        timeout=tables.objective.timeout,
        memory=tables.objective.memory,
    )
