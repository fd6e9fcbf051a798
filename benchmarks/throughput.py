"""Trials a second over worker processes and over a Dask cluster, beside the ideal, and beside Optuna in the same run.

A trial sets 60 switches and sleeps, so that many workers fit on few cores: what is measured is the coordinator and the
way to the workers. The first fifth of a run is not counted, in which workers start. The machine is shared, so the CPU
seconds of the coordinator's process are there, too: they bound the rate from above, whatever else the machine does.
"""

import logging
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import overtone as ot
from benchmarks.measure import save, table
from overtone.running.progress import Status
from overtone.space import Space, boolean

N = 60
WARM = 0.2  # share of the trials before the clock starts
LOCAL = 2
CLUSTERS = (2, 8, 16)
SLEEPS = {0.0: 500, 0.1: 100}  # seconds of a trial: trials for two workers
Row = dict[str, Any]


def switches(n: int = N) -> Space:
    return Space({f"x{i}": boolean() for i in range(n)})


def sleeping(seconds: float, config: dict[str, Any]) -> float:
    """A trial: it does nothing for a while."""
    if seconds:
        time.sleep(seconds)
    return float(sum(config.values()))


class Stopwatch:
    """Wall-clock and CPU seconds of this process, from the first fifth of the trials on; a `Progress`, too."""

    def __init__(self, trials: int) -> None:
        self.trials, self.first = trials, max(1, round(WARM * trials))
        self.start: tuple[int, float, float] | None = None
        self.row: Row = {}

    def at(self, n_done: int) -> None:
        now = n_done, time.perf_counter(), time.process_time()
        if self.start is None and n_done >= self.first:
            self.start = now
        if self.start is not None and n_done >= self.trials and not self.row:
            n, wall, cpu = (after - before for after, before in zip(now, self.start, strict=True))
            self.row = {"trials": self.trials, "rate": n / wall, "cpu_ms": 1e3 * cpu / n, "load": os.getloadavg()[0]}

    def update(self, status: Status) -> None:
        self.at(status.n_done)

    def end(self, stopped: str) -> None:
        """Nothing is left to note."""


# ours


def ours(seconds: float, trials: int, n_workers: int, ledger: Path | str | None, executor: Executor | None) -> Row:
    """`minimize` by random search, which never waits: what is left is the machinery."""
    watch = Stopwatch(trials)
    ot.minimize(
        partial(sleeping, seconds),
        switches(),
        n_evaluations=trials,
        n_workers=n_workers,
        optimizer=partial(ot.RandomSearch, n_evaluations=trials),
        executor=executor,
        ledger=ledger,
        progress=watch,
    )
    return watch.row


# peers


def study(sampler: str, storage: Path | None = None) -> Any:
    """An Optuna study: in memory, or in a file of SQLite."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    samplers = {"random": optuna.samplers.RandomSampler, "TPE": optuna.samplers.TPESampler}
    place = None if storage is None else f"sqlite:///{storage}"
    return optuna.create_study(sampler=samplers[sampler](seed=0), storage=place)


def suggested(trial: Any) -> dict[str, bool]:
    return {f"x{i}": trial.suggest_categorical(f"x{i}", [False, True]) for i in range(N)}


def optuna_threads(seconds: float, trials: int, n_workers: int, sampler: str, storage: Path | None = None) -> Row:
    """`study.optimize(n_jobs=...)`: threads, which is enough for a trial that sleeps."""
    watch, made, done = Stopwatch(trials), study(sampler, storage), iter(range(1, trials + 1))
    made.optimize(
        lambda trial: sleeping(seconds, suggested(trial)),
        n_trials=trials,
        n_jobs=n_workers,
        callbacks=[lambda *_: watch.at(next(done))],
    )
    return watch.row


def optuna_executor(seconds: float, trials: int, n_workers: int, sampler: str, executor: Executor) -> Row:
    """Optuna's ask and tell around an executor: what somebody would write for a cluster."""
    watch, made, done, asked = Stopwatch(trials), study(sampler), 0, 0
    out: dict[Future[float], Any] = {}
    while done < trials:
        while len(out) < n_workers and asked < trials:
            trial = made.ask()
            out[executor.submit(sleeping, seconds, suggested(trial))] = trial
            asked += 1
        for future in wait(out, return_when=FIRST_COMPLETED).done:
            made.tell(out.pop(future), future.result())
            done += 1
        watch.at(done)
    return watch.row


def bare(seconds: float, trials: int, n_workers: int, executor: Executor) -> Row:
    """The executor alone, fed the same way: the ceiling of everything that is built on it."""
    watch, done, asked = Stopwatch(trials), 0, 0
    out: set[Future[float]] = set()
    config = dict.fromkeys((f"x{i}" for i in range(N)), True)
    while done < trials:
        while len(out) < n_workers and asked < trials:
            out.add(executor.submit(sleeping, seconds, config))
            asked += 1
        came = wait(out, return_when=FIRST_COMPLETED).done
        out -= came
        done += len(came)
        watch.at(done)
    return watch.row


# what is compared


@contextmanager
def cluster(n_workers: int) -> Iterator[Any]:
    """A scheduler and workers of one thread each, every one a process of its own; a client of them.

    Each has a session of its own, so that a system that is fair to sessions treats them as the machines they stand for.
    """
    from distributed import Client

    logging.getLogger("distributed").setLevel(logging.ERROR)
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder, address = Path(name), Path(name) / "scheduler.json"
        stack.enter_context(_started(folder, "scheduler", "--port", "0", "--scheduler-file", str(address)))
        while not address.exists() or not address.read_text().strip():
            time.sleep(0.05)
        words = "--scheduler-file", str(address), "--nthreads", "1", "--no-nanny", "--memory-limit", "0"
        for number in range(n_workers):
            own = "--local-directory", str(folder / f"worker-{number}")
            stack.enter_context(_started(folder, "worker", *words, *own))
        client = stack.enter_context(Client(scheduler_file=str(address), timeout=300))
        client.wait_for_workers(n_workers, timeout=600)
        yield client


@contextmanager
def _started(folder: Path, what: str, *words: str) -> Iterator[None]:
    command = [sys.executable, "-m", f"distributed.cli.dask_{what}", "--host", "127.0.0.1", "--no-dashboard", *words]
    find = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)}  # `sleeping`
    with (folder / f"{what}.log").open("ab") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, cwd=folder, env=find, start_new_session=True)
    try:
        yield
    finally:
        process.kill()
        process.wait()


def local_rows(folder: Path, sleeps: dict[float, int], n_workers: int = LOCAL) -> Iterator[Row]:
    for seconds, trials in sleeps.items():
        name = f"{seconds}.db"
        runs: dict[str, Callable[[], Row]] = {
            "Overtone": partial(ours, seconds, trials, n_workers, None, None),
            "Overtone, ledger on disk": partial(ours, seconds, trials, n_workers, folder / f"ours-{name}", None),
            "process pool alone": partial(_pooled, bare, seconds, trials, n_workers),
            "Optuna random, n_jobs": partial(optuna_threads, seconds, trials, n_workers, "random"),
            "Optuna TPE, n_jobs": partial(optuna_threads, seconds, min(trials, 200), n_workers, "TPE"),
            "Optuna random, n_jobs, SQLite": partial(
                optuna_threads, seconds, min(trials, 50), n_workers, "random", folder / f"optuna-{name}"
            ),
        }
        for what, run in runs.items():
            yield {"where": "processes", "workers": n_workers, "seconds": seconds, "what": what, **run()}


def _pooled(run: Callable[..., Row], seconds: float, trials: int, n_workers: int) -> Row:
    with ProcessPoolExecutor(n_workers) as pool:
        return run(seconds, trials, n_workers, pool)


def cluster_rows(folder: Path, sleeps: dict[float, int], sizes: tuple[int, ...]) -> Iterator[Row]:
    from overtone.adapters.dask import DaskExecutor

    for n_workers in sizes:
        with cluster(n_workers) as client:
            for seconds, trials in sleeps.items():
                many = trials * max(1, n_workers // LOCAL) if seconds else trials
                plain, ledger = client.get_executor(pure=False), folder / f"dask-{n_workers}-{seconds}.db"
                runs: dict[str, Callable[[], Row]] = {
                    "Overtone, DaskExecutor": partial(ours, seconds, many, n_workers, None, DaskExecutor(client)),
                    "Overtone, DaskExecutor, ledger on disk": partial(
                        ours, seconds, many, n_workers, ledger, DaskExecutor(client)
                    ),
                    "Dask alone": partial(bare, seconds, many, n_workers, plain),
                    "Optuna random, ask and tell over Dask": partial(
                        optuna_executor, seconds, many, n_workers, "random", plain
                    ),
                    "Optuna TPE, ask and tell over Dask": partial(
                        optuna_executor, seconds, min(many, 200), n_workers, "TPE", plain
                    ),
                }
                for what, run in runs.items():
                    yield {"where": "Dask", "workers": n_workers, "seconds": seconds, "what": what, **run()}


def main(sleeps: dict[float, int] = SLEEPS, sizes: tuple[int, ...] = CLUSTERS) -> None:
    rows = []
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:  # a disk, as /tmp may not be
        for source in (local_rows(Path(folder), sleeps), cluster_rows(Path(folder), sleeps, sizes)):
            for row in source:
                rows.append(row)
                print(_cells(row), file=sys.stderr, flush=True)
                save("throughput", rows)  # what is there, should a cluster fail later
    print(f"\nThroughput: trials of {N} switches; a fifth of them before the clock starts")
    print(throughput_table(rows))


def throughput_table(rows: list[Row]) -> str:
    header = ["where", "workers", "trial", "what", "trials a second", "of the ideal", "CPU ms a trial", "load"]
    return table(header, [_cells(row) for row in rows])


def _cells(row: Row) -> list[Any]:
    seconds = row["seconds"]
    share = f"{row['rate'] * seconds / row['workers']:.0%}" if seconds else "-"
    trial = f"{1e3 * seconds:.0f} ms" if seconds else "no-op"
    return [
        row["where"],
        row["workers"],
        trial,
        row["what"],
        f"{row['rate']:.3g}",
        share,
        _short(row["cpu_ms"]),
        f"{row['load']:.0f}",
    ]


def _short(number: float) -> str:
    return f"{number:.0f}" if number >= 10 else f"{number:.2g}"
