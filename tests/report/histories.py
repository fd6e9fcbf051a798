"""Histories for the tests of reports: made by running the optimizers on planted objectives, in process."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from overtone.optimizers import Harmonica, Optimizer, RandomSearch, Stage, Trial
from overtone.optimizers.features import Features
from overtone.running.record import Goal, History, Outcome, Record
from overtone.space import Config, Space, boolean, choice, ordinal, real

DEFAULT: Config = {
    "learning_rate": 0.1,
    "batch_norm": False,
    "activation": "tanh",
    "optimizer": "sgd",
    "momentum": False,
    "weight_decay": 1e-4,
    "dropout": True,
    "optnet": False,
    "share_gradInput": False,
    "warmup": 0.5,
    **{f"dummy_{i:02d}": False for i in range(30)},
}


def network() -> Space:
    """40 options of a network, most of which do nothing."""
    return Space(
        {
            "learning_rate": ordinal([0.001, 0.01, 0.1, 1.0]),
            "batch_norm": boolean(),
            "activation": choice(["relu", "tanh", "sigmoid"]),
            "optimizer": choice(["sgd", "adam"]),
            "momentum": boolean(),
            "weight_decay": ordinal([1e-5, 1e-4, 1e-3, 1e-2]),
            "dropout": boolean(),
            "optnet": boolean(),
            "share_gradInput": boolean(),
            "warmup": real(0.0, 1.0),
            **{f"dummy_{i:02d}": boolean() for i in range(30)},
        }
    )


def error_rate(config: Config, rng: np.random.Generator) -> float:
    """A test error: a few options and pairs matter; two options must not be on together."""
    if config["optnet"] and config["share_gradInput"]:
        raise RuntimeError("optnet and share_gradInput write to the same buffer")
    on = {name: 1.0 if value is True else -1.0 for name, value in config.items()}
    rate = {0.001: 1.0, 0.01: -3.0, 0.1: 0.0, 1.0: 2.5}[config["learning_rate"]]  # type: ignore[index]
    relu = {"relu": -3.0, "tanh": 1.0, "sigmoid": 2.5}[config["activation"]]  # type: ignore[index]
    adam = 1.0 if config["optimizer"] == "adam" else -1.0
    value = 40 - 8 * on["batch_norm"] + rate + relu - 2.5 * on["batch_norm"] * relu / 3 - 2 * adam
    value += 1.5 * adam * on["momentum"] + on["dropout"] + 3 * (float(config["warmup"]) - 0.5)  # type: ignore[arg-type]
    return value + float(rng.normal(0, 1))


def run(
    optimizer: Optimizer,
    objective: Callable[[Config, np.random.Generator], float],
    space: Space,
    *,
    goal: Goal = "minimize",
    default: Config | None = None,
    settings: Mapping[str, Any] | None = None,
    stopped: str = "done",
) -> History:
    """Like the runner, but in process and with no clock: seconds are made up."""
    records = []
    if default is not None:
        trial = Trial(-1, default, space.encode(default), None, "default")
        records.append(Record(trial, outcome(objective, trial)))
    while asked := optimizer.ask(1):
        record = Record(asked[0], outcome(objective, asked[0]))
        records.append(record)
        value = record.outcome.value
        optimizer.tell(asked[0], value if value is None or goal == "minimize" else -value)
    stages: tuple[Stage, ...] = tuple(getattr(optimizer, "stages", ()))
    return History(space, tuple(records), stages, goal, default, settings or {}, stopped)


def outcome(objective: Callable[[Config, np.random.Generator], float], trial: Trial) -> Outcome:
    rng = np.random.default_rng([1, trial.number + 1])
    seconds = float(rng.uniform(10, 30))
    try:
        return Outcome(objective(trial.config, rng), seconds=seconds)
    except RuntimeError as error:
        detail = f'Traceback (most recent call last):\n  File "train.py", line {trial.number}, in <module>\n{error!r}'
        return Outcome(None, f"RuntimeError: {error}", detail, seconds / 4, attempts=2 if trial.number % 7 == 0 else 1)


@cache
def tuned(goal: Goal = "minimize") -> History:
    """What a user sees: two or three stages, a random search, failures, a default."""
    space = network()

    def accuracy(config: Config, rng: np.random.Generator) -> float:
        return 100 - error_rate(config, rng)

    def base(left: Space, seed: int) -> RandomSearch:
        return RandomSearch(left, seed, n_evaluations=40)

    objective = error_rate if goal == "minimize" else accuracy
    settings = {
        "seed": 0,
        "optimizer": "Harmonica",
        "n_evaluations": 500,
        "versions": {"python": "3.11", "numpy": "2.4"},
    }
    optimizer = Harmonica(space, 0, n_stages=3, n_samples=150, base=base)
    return run(optimizer, objective, space, goal=goal, default=DEFAULT, settings=settings)


def stage(space: Space, terms: Mapping[tuple[int, ...], float], number: int = 1, **changes: Any) -> Stage:
    """A stage with this polynomial over the columns of the space, and all else plausible."""
    blank = Stage(
        number=number,
        n_samples=10,
        n_failed=2,
        mean=5.0,
        quantiles=(1.0, 2.0, 4.0, 8.0, 16.0),
        names=tuple(Features(space).names),
        terms=tuple(terms.items()),
        stability=(1.0,) * sum(map(bool, terms)),
        verdict="ok",
        reason="a few monomials predict 90% of the variance of samples not seen",
        r2=0.9,
        noise=0.5,
        gap=1e-9,
        minimizers=(),
        crashes=(),
        fixed=(),
    )
    return replace(blank, **changes)


def record(
    number: int, value: float | None, part: str = "stage 1", config: Config | None = None, **more: Any
) -> Record:
    """more: of the outcome, or the trial's `budget`."""
    budget = more.pop("budget", None)
    return Record(Trial(number, config or {}, (), budget, part), Outcome(value, **more))


def large(n_parameters: int, n_trials: int, n_stages: int) -> History:
    """Made up, not run; every tenth trial fails, each with a number of its own in the reason."""
    space = Space({f"option_{i:04d}": boolean() for i in range(n_parameters)})
    rng = np.random.default_rng(0)
    config: Config = dict.fromkeys(space.parameters, True)  # one for all: ten million values would fill the memory
    stages = []
    for number in range(1, n_stages + 1):
        columns = rng.choice(n_parameters, size=(40, 3))
        terms = {tuple(sorted(set(row[: i % 3 + 1]))): float(rng.normal()) for i, row in enumerate(columns.tolist())}
        stages.append(stage(space, terms, number, fixed=tuple(f"option_{i:04d} = True" for i in columns[:, 0])))
    part = n_trials // (n_stages + 1) or 1
    records = [
        record(
            i,
            None if i % 10 == 9 else float(rng.normal(100 - i / n_trials, 5)),
            f"stage {i // part + 1}" if i // part < n_stages else "random search",
            config,
            reason="" if i % 10 != 9 else f"ValueError: x={i} is no good",
            detail="line\n" * 30,
        )
        for i in range(n_trials)
    ]
    return History(space, tuple(records), tuple(stages), default=config, settings={"seed": 0}, stopped="done")


def nasty(names: Sequence[str]) -> History:
    """A run in which every text is one of these: names, levels, reasons, details, parts, settings."""
    space = Space({name: choice([name, *dict.fromkeys(n for n in names if n != name)]) for name in names})
    columns = len(Features(space).names)
    terms: dict[tuple[int, ...], float] = {(i,): 1.0 + i for i in range(columns)} | {(0, columns - 1): 99.0}
    one = stage(
        space,
        terms,
        reason=names[0],
        warning=names[-1],
        fixed=tuple(f"{n} = {n!r}" for n in names),
        crashes=({names[0]: names[-1]},),
    )
    records = [
        record(
            i,
            None if i % 3 else float(i),
            names[i % len(names)],
            dict.fromkeys(names, n),
            reason=n,
            detail=n,
            seconds=1,
        )
        for i, n in enumerate([*names, *names, *names])
    ]
    settings = {names[0]: {names[-1]: [*names]}}
    default: Config = dict.fromkeys(names, names[0])
    return History(space, tuple(records), (one,), default=default, settings=settings, stopped=names[-1])


NASTY = (
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(1)>",
    '<a href="javascript:alert(1)">x</a>',
    "<b>bold</b><br>",
    "\"quoted\" 'twice'",
    "new\nline\ttab\rreturn\x00\x1b[31m",
    "bidi\u202eabc\u2066\u200b",
    "\ud800 lone",
    "{{ 7 * 7 }}{% raw %}",
    "$x^2$ %{x} &amp; &lt;",
    "<!--<script>",
    "]]>\u2028",
    "2020-01-01",
    "שלום",
    "x" * 500,
)
