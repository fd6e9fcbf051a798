"""`overtone check`: is the file right, and what would it do?"""

from pathlib import Path

import numpy as np

from overtone.cli.messages import drop_empty, level_text, say
from overtone.errors import RunFailed, TrialFailed
from overtone.report.words import seconds
from overtone.running.evaluation import Task
from overtone.running.workers import Workers
from overtone.settings.settings import Settings, load_settings
from overtone.space import Parameter, Space
from overtone.tuning import cores

SHOWN = 8  # levels of a parameter that are listed


def check_file(file: Path, *, trial: bool) -> None:
    """Show the space and the plan; run one trial, for its value and its time."""
    settings = load_settings(file)
    say("\n".join([*_space_lines(settings.space), "", *_plan_lines(settings)]))
    for note in settings.notes:
        say(f"note: {note}")
    if trial:
        _show_trial(settings)
    say(f"\n{file} is right")


def _space_lines(space: Space) -> list[str]:
    count = f"{space.n_points:,}" if space.n_points < 1e6 else f"{float(space.n_points):.1e}"
    lines = [f"{len(space.parameters)} parameters, {count} points, {len(space.forbid)} forbidden combinations"]
    width = max(map(len, space.parameters))
    return lines + [f"  {name:{width}}  {_parameter_words(each)}" for name, each in space.parameters.items()]


def _parameter_words(parameter: Parameter) -> str:
    levels = [level_text(level) for level in parameter.levels]
    shown = ", ".join(levels[:SHOWN]) + (f", ... ({len(levels)} levels)" if len(levels) > SHOWN else "")
    if parameter.is_continuous:
        shown = f"{parameter.low!r} to {parameter.high!r}{', log' if parameter.log else ''}"
    when = " and ".join(f"{name} = {level_text(_plain(wanted))}" for name, wanted in parameter.when.items())
    return shown + (f"  when {when}" if when else "")


def _plain(wanted: object) -> object:
    return list(wanted) if isinstance(wanted, tuple) else wanted


def _workers(settings: Settings) -> int:
    """As `minimize` has it."""
    return settings.run.workers or cores()


def _plan_lines(settings: Settings) -> list[str]:
    plan, workers = settings.plan, _workers(settings)
    return [
        "the plan, at most:",
        *(f"  {part.n} evaluations: {part.name}" for part in plan.parts),
        f"  {plan.n_evaluations} evaluations in {plan.n_rounds(workers)} rounds on {workers} workers",
        f"  goal: {settings.goal}; ledger: {settings.ledger}",
    ]


def _show_trial(settings: Settings) -> None:
    """The default, or a random configuration, in a worker as in a run; recorded nowhere."""
    space = settings.space
    config = settings.default or space.decode(space.draw(np.random.default_rng(settings.run.seed)))
    say(f"\none trial: {settings.objective.line(config)}")
    try:
        with Workers(1, timeout=settings.timeout, memory=settings.memory) as workers:
            measured = workers.submit(Task(settings.objective), config).result()
    except TrialFailed as error:
        raise _failed(error.reason, error.detail) from None
    drop_empty(settings.scratch)
    if measured.value is None:
        raise _failed(measured.reason, measured.detail)
    say(f"its value: {measured.value!r}, after {seconds(measured.seconds)}")
    total = measured.seconds * settings.plan.n_rounds(_workers(settings))
    say(f"the whole run: about {seconds(total)}, if other trials take as long and all stages are needed")


def _failed(reason: str, detail: str) -> RunFailed:
    return RunFailed(f"the trial failed: {reason}\n{detail}".rstrip())
