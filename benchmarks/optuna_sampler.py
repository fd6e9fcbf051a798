"""What `HarmonicaSampler` costs in an Optuna study, beside Optuna's own samplers, on a function that costs nothing.

CPU seconds of the whole study, in memory, define-by-run. Most of it is Optuna's own work on each parameter, which the
random sampler shows. A sampler is stopped after `LIMIT` seconds.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

from threadpoolctl import threadpool_limits

from benchmarks.hierarchy import paper_function
from benchmarks.measure import measure, save, table
from benchmarks.overhead import Clock

SIZES = {60: 500, 200: 400, 1000: 350}  # parameters: trials
EVERY = 50  # trials between two readings
LIMIT = 60.0
SAMPLERS = ("Harmonica", "TPE", "random")
LARGE: dict[int, dict[str, Any]] = {1000: {"n_samples": 300, "degree": 3}}


def study(kind: str, n: int, trials: int, limit: float = LIMIT) -> Callable[[], dict[str, Any]]:
    import optuna

    from overtone.adapters.optuna import HarmonicaSampler

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    makers: dict[str, Callable[[], optuna.samplers.BaseSampler]] = {
        "Harmonica": lambda: HarmonicaSampler(n_stages=1, **LARGE.get(n, {})),
        "TPE": lambda: optuna.samplers.TPESampler(seed=0),
        "random": lambda: optuna.samplers.RandomSampler(seed=0),
    }
    h = paper_function(n, 0)

    @threadpool_limits.wrap(limits=1)  # type: ignore[untyped-decorator]
    def run() -> dict[str, Any]:
        made, clock = optuna.create_study(sampler=makers[kind]()), Clock(h)
        readings = {0: 0.0}
        while not clock.n or (clock.n < trials and clock.read() < limit):
            trial = made.ask()
            on = [trial.suggest_categorical(f"x{i}", [False, True]) for i in range(n)]
            made.tell(trial, clock(tuple(2.0 * each - 1 for each in on)))
            if clock.n % EVERY == 0:
                readings[clock.n] = clock.read()
        return {"sampler": kind, "n": n, "trials": clock.n, "cpu": clock.read(), "best": made.best_value} | {
            "readings": readings
        }

    return run  # type: ignore[no-any-return]


def main(sizes: dict[int, int] = SIZES) -> None:
    rows = []
    for n, trials in sizes.items():
        for kind in SAMPLERS:
            rows.append(measure(study, kind, n, trials).answer)
            print(f"{kind}, n={n}: {rows[-1]['cpu']:.1f} s", flush=True)
    save("optuna_sampler", rows)
    print("\nA study in memory: CPU ms a trial, in blocks of trials; the stage of Harmonica is learned in one of them")
    print(
        table(["sampler", "parameters", "trials", "CPU s", "ms a trial, by trials", "best"], [_cells(r) for r in rows])
    )


def _cells(row: dict[str, Any]) -> list[Any]:
    readings = sorted((int(n), seconds) for n, seconds in row["readings"].items())
    blocks = [
        f"{n}: {1000 * (seconds - before) / (n - start):.0f}" for (start, before), (n, seconds) in pairwise(readings)
    ]
    return [row["sampler"], row["n"], row["trials"], f"{row['cpu']:.1f}", ", ".join(blocks), f"{row['best']:.3g}"]
