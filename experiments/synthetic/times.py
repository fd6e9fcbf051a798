"""Optimizer time: CPU seconds of everything but the objective, others on one thread (see benchmarks.overhead)."""

from functools import partial
from itertools import product
from math import inf
from typing import Any

from benchmarks.hierarchy import paper_function
from benchmarks.overhead import PAPER, Clock, Objective, optuna_sampler
from experiments.frame import Options, Row
from experiments.synthetic.stages import space_of
from overtone.optimizers import Base, Harmonica, RandomSearch, SpectralDescent

EVALUATIONS, EVERY = 500, 10
HARMONICA, GAUSSIAN = "Harmonica, the paper's settings", "Optuna GPSampler"
OURS = (HARMONICA, "Harmonica, automatic", "Overtone's spectral descent")
OPTUNA = {"Optuna TPE": "tpe", GAUSSIAN: "gp"}


def timed(optimizer: str, n: int, evaluations: int, limit: float | None) -> Row:
    """h(x) over n switches; a sampler is stopped after `limit` seconds, between two evaluations."""
    if optimizer in OPTUNA:
        kind, seconds = OPTUNA[optimizer], inf if limit is None else limit
        return _row(optuna_sampler(kind, evaluations, seconds, n, EVERY)())
    _drive(_maker(optimizer, 200), 12, lambda point: sum(point[:3]), 200)  # whatever is made at the first call
    return _row(_drive(_maker(optimizer, evaluations), n, paper_function(n, 0), evaluations))


def _row(clocked: Row) -> Row:
    """As JSON has it, and `n` is the number of variables here."""
    readings = {str(k): seconds for k, seconds in clocked["readings"].items()}
    return {"cpu": clocked["cpu"], "n_done": clocked["n"], "readings": readings}


def _maker(optimizer: str, evaluations: int) -> Base:
    """Harmonica's evaluations are its stages and random search after them."""
    if optimizer == OURS[2]:
        return partial(SpectralDescent, n_evaluations=evaluations)
    settings: dict[str, Any] = {"n_samples": 100, **PAPER} if optimizer == HARMONICA else {}
    return partial(Harmonica, base=partial(RandomSearch, n_evaluations=evaluations), **settings)


def _drive(make: Base, n: int, objective: Objective, evaluations: int) -> Row:
    clock, optimizer = Clock(objective, EVERY), make(space_of(n), 0)
    while clock.n < evaluations:
        for trial in optimizer.ask(1):
            optimizer.tell(trial, clock(trial.point))
        clock.read()
    return clock.row()


def grid(options: Options) -> list[Row]:
    sizes = options.pick((12,), (30, 60, 100, 200), (30, 60, 100, 200))
    evaluations = options.pick(120, EVALUATIONS, EVALUATIONS)
    limits = {GAUSSIAN: options.pick(2.0, 30.0, 3600.0)}
    return [
        {"optimizer": optimizer, "n": n, "evaluations": evaluations, "limit": limits.get(optimizer)}
        for n, optimizer in product(sizes, (*OURS, *OPTUNA))
    ]
