"""What the optimizer itself costs: Harmonica beside Optuna's samplers on a function that costs nothing.

Times are CPU seconds of everything but the objective, other libraries on one thread: the machine is shared, and a
sampler that waits for a core is not slower for it. Ours counts all threads of its scans.
"""

import gc
import time
from collections.abc import Callable
from functools import partial
from math import inf
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.hierarchy import paper_function
from benchmarks.measure import measure, save, table
from overtone.optimizers import Harmonica, RandomSearch
from overtone.space import Point, Space, boolean

N, EVALUATIONS, LARGE = 60, 500, 1000
LIMIT = 500.0  # seconds after which the Gaussian process is stopped; what it took by then is a lower bound
ASKS = (100, 200, 300, 400, 500)  # evaluations known to it, when the cost of one more is measured
SEEDS = range(5)  # of Harmonica: more stages are more time, and how many there are hangs on the samples
EVERY = 100  # evaluations between two readings that are kept
PAPER = {"sparsity": 5, "degree": 3, "l1_penalty": 3.0}  # s, d, and the penalty of the authors' code
OURS: dict[str, dict[str, Any]] = {
    "Harmonica, automatic": {},
    "Harmonica, the paper's settings": {"n_samples": 100, **PAPER},
}
LARGE_OURS: dict[str, dict[str, Any]] = {
    "Harmonica, degree 3": {"n_samples": 300, "degree": 3},
    "Harmonica, the paper's settings": {"n_samples": 300, **PAPER},
}
OPTUNA = {
    "Optuna TPE (its default)": "tpe",
    "Optuna TPE, multivariate=False": "univariate",
    "Optuna GPSampler": "gp",
}
Objective = Callable[[Point], float]


class Clock:
    """An objective, and the CPU seconds of all but it."""

    def __init__(self, objective: Objective, every: int = EVERY) -> None:
        gc.collect()
        gc.freeze()  # what was imported before is not looked through again and again, for nobody
        self.objective, self.every = objective, every
        self.start, self.free, self.n = time.process_time(), 0.0, 0
        self.readings: dict[int, float] = {}

    def __call__(self, point: Point) -> float:
        start = time.process_time()
        value = self.objective(point)
        self.free += time.process_time() - start
        self.n += 1
        return value

    def read(self) -> float:
        """After a tell, so that the value of the last evaluation is digested."""
        seconds = time.process_time() - self.start - self.free
        if self.n and self.n % self.every == 0:
            self.readings[self.n] = seconds
        return seconds

    def row(self) -> dict[str, Any]:
        return {"cpu": self.read(), "n": self.n, "readings": self.readings}


def harmonica(settings: dict[str, Any], n: int = N, evaluations: int = EVALUATIONS) -> Callable[[], dict[str, Any]]:
    """Stages, and random search after them: so many evaluations in all. Imports are not counted."""
    h = paper_function(n, 0)
    _harmonica(lambda point: sum(point[:3]), 12, {}, 200)  # whatever is made at the first call
    return partial(_harmonica, h, n, settings, evaluations)


def _harmonica(objective: Objective, n: int, settings: dict[str, Any], evaluations: int) -> dict[str, Any]:
    clock = Clock(objective)
    space = Space({f"x{i}": boolean() for i in range(n)})
    optimizer = Harmonica(space, base=partial(RandomSearch, n_evaluations=evaluations), **settings)
    while clock.n < evaluations:
        for trial in optimizer.ask(1):
            optimizer.tell(trial, clock(trial.point))
        clock.read()
    return {**clock.row(), "verdicts": [stage.verdict for stage in optimizer.stages]}


def optuna_sampler(
    kind: str, evaluations: int = EVALUATIONS, limit: float = inf, n: int = N, every: int = EVERY
) -> Callable[[], dict[str, Any]]:
    """The same function through Optuna's ask, suggest and tell, in memory."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    makers: dict[str, Callable[[], optuna.samplers.BaseSampler]] = {
        "tpe": lambda: optuna.samplers.TPESampler(seed=0),
        "univariate": lambda: optuna.samplers.TPESampler(seed=0, multivariate=False),
        "gp": lambda: optuna.samplers.GPSampler(seed=0),
    }
    h = paper_function(n, 0)

    def run() -> dict[str, Any]:
        study, clock = optuna.create_study(sampler=makers[kind]()), Clock(h, every)
        while clock.n < evaluations and clock.read() < limit:
            trial = study.ask()
            on = [trial.suggest_categorical(f"x{i}", [False, True]) for i in range(n)]
            study.tell(trial, clock(tuple(2.0 * each - 1 for each in on)))
        return clock.row()

    return partial(_on_one_thread, run)


def gp_asks(n: int, repeats: int = 3) -> Callable[[], dict[str, Any]]:
    """What one more configuration costs a Gaussian process that knows n random ones: the median of a few."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    h, rng = paper_function(N, 0), np.random.default_rng(0)
    kinds = {f"x{i}": optuna.distributions.CategoricalDistribution([False, True]) for i in range(N)}
    study = optuna.create_study(sampler=optuna.samplers.GPSampler(seed=0))
    for _ in range(n):
        on = {name: bool(rng.integers(2)) for name in kinds}
        value = h(tuple(2.0 * each - 1 for each in on.values()))
        study.add_trial(optuna.trial.create_trial(params=on, distributions=kinds, value=value))

    def run() -> dict[str, Any]:
        seconds = []
        for _ in range(repeats):
            start = time.process_time()
            trial = study.ask(kinds)
            study.tell(trial, h(tuple(2.0 * each - 1 for each in trial.params.values())))
            seconds.append(time.process_time() - start)
        return {"cpu": float(np.median(seconds)), "n": n, "readings": {}}

    return partial(_on_one_thread, run)


def _on_one_thread(run: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Torch and BLAS threads that spin would count as work."""
    import torch

    torch.set_num_threads(1)
    with threadpool_limits(1):
        return run()


def main() -> None:
    rows = []
    for name, settings in OURS.items():
        rows += [_row(f"{name}, n={N}, seed {seed}", measure(harmonica, {**settings, "seed": seed})) for seed in SEEDS]
    for name, kind in OPTUNA.items():
        limit = LIMIT if kind == "gp" else inf
        rows.append(_row(f"{name}, n={N}", measure(optuna_sampler, kind, EVALUATIONS, limit)))
    rows += [_row("Optuna GPSampler, one more evaluation", measure(gp_asks, n)) for n in ASKS]
    for name, settings in LARGE_OURS.items():
        rows.append(_row(f"{name}, n={LARGE}", measure(harmonica, settings, LARGE, 900)))
    save("overhead", rows)
    print(f"\nOptimizer time: h(x) of the paper, {EVALUATIONS} evaluations of {N} switches; 900 of {LARGE}")
    print(table(["optimizer", "evaluations", "CPU s", "by evaluations", "wall s", "memory MB", "stages"],
                [_cells(row) for row in rows]))  # fmt: skip


def _row(what: str, measured: Any) -> dict[str, Any]:
    row = {"what": what, "wall": measured.seconds, "mb": measured.peak_mb, **measured.answer}
    print(f"{what}: {row['cpu']:.2f} s", flush=True)
    return row


def _cells(row: dict[str, Any]) -> list[Any]:
    growth = ", ".join(f"{n}: {seconds:.3g}" for n, seconds in row["readings"].items())
    cells = [row["what"], row["n"], f"{row['cpu']:.3g}", growth, f"{row['wall']:.3g}", f"{row['mb']:.0f}"]
    return [*cells, ", ".join(row.get("verdicts", []))]
