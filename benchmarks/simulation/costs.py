"""What the coordinator's work costs, measured: asks and tells, the ledger, waiting, fits.

CPU seconds, because the machine is shared; of the ledger also wall-clock seconds, because it waits for the disk or the
server: the best of some, since other programs can only slow it down. The simulation reads what this has written.
"""

import json
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import closing, contextmanager
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import RESULTS, save, table
from benchmarks.planted import planted
from benchmarks.simulation.contestants import OURS
from benchmarks.simulation.model import Costs, Trials
from benchmarks.simulation.objective import Objective
from benchmarks.simulation.traces import record
from overtone.optimizers import RandomSearch
from overtone.optimizers.stage import Settings, learn
from overtone.optimizers.trial import Trial
from overtone.running.journal import ask_event
from overtone.running.ledger import Ledger, open_ledger
from overtone.space import Space, boolean

N = 60
EVENTS = {1: 100, 10: 50, 100: 20, 1000: 5}  # in a transaction: how often
FLIGHTS = (10, 100, 1000, 10_000)
STAGES = ((60, 100), (60, 500), (60, 2000), (200, 500), (1000, 500))  # units, samples
ROUNDS = (500, 5000)  # evaluations whose rounds are measured
DASK, DASK_WORKERS = "Overtone, DaskExecutor", 8  # the run of `throughput` that says what a trial costs there
Row = dict[str, Any]


def cpu_of(function: Callable[[], object]) -> float:
    start = time.process_time()
    function()
    return time.process_time() - start


def space(n: int) -> Space:
    return Space({f"x{i}": boolean() for i in range(n)})


def asked_and_told(n: int = N, trials: int = 1000) -> Row:
    """Milliseconds a trial, without fits."""
    optimizer = RandomSearch(space(n), n_evaluations=trials)
    out: list[Trial] = []
    ask = cpu_of(lambda: out.extend(optimizer.ask(trials)))
    start = time.process_time()
    for trial in out:
        optimizer.tell(trial, 0.5)
    tell = time.process_time() - start
    return {"n": n, "ask_ms": 1e3 * ask / trials, "tell_ms": 1e3 * tell / trials}


def appended(ledger: Ledger, name: str) -> Iterator[Row]:
    """Transactions of k events."""
    trials = RandomSearch(space(N), n_evaluations=max(EVENTS)).ask(max(EVENTS))
    for k, repeats in EVENTS.items():
        walls, cpus = [], []
        for _ in range(repeats):
            wall, cpu = time.perf_counter(), time.process_time()
            ledger.append(*map(ask_event, trials[:k]))
            walls.append(time.perf_counter() - wall)
            cpus.append(time.process_time() - cpu)
        yield {"ledger": name, "events": k, "ms": 1e3 * min(walls), "cpu_ms": 1e3 * float(np.mean(cpus))}


@contextmanager
def postgresql() -> Iterator[str | None]:
    """The address of a server that was started for this; None where there is none to start."""
    try:
        from tests.postgresql import Server, program

        program("initdb")
    except (ImportError, AssertionError):
        yield None
        return
    folder = Path(tempfile.mkdtemp(prefix="overtone-pg-", dir="/var/tmp"))
    server = Server(folder)
    try:
        yield server.new_url()
    finally:
        server.stop("immediate")
        shutil.rmtree(folder)


def ledger_rows() -> list[Row]:
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder, closing(open_ledger(Path(folder) / "l.db")) as ledger:
        rows = list(appended(ledger, "SQLite"))
    with postgresql() as address:
        if address is not None:
            with closing(open_ledger(address)) as ledger:
                rows += appended(ledger, "PostgreSQL")
    return rows


def waited(n: int, repeats: int = 5) -> Row:
    """Waiting for the first of n futures, one of which is done by then: what the loop does once a collection."""
    done: Future[None] = Future()
    done.set_result(None)
    futures: list[Future[None]] = [done, *(Future() for _ in range(n - 1))]
    seconds = cpu_of(lambda: [wait(futures, None, FIRST_COMPLETED) for _ in range(repeats)])
    return {"flights": n, "cpu_ms": 1e3 * seconds / repeats}


def learned(n: int, T: int) -> Row:
    """A stage of T samples; degree 3 and all else automatic."""
    problem = planted(n, T, 10, 0.1, seed=0)
    trials = [
        (Trial(i, {}, tuple(p)), float(v))
        for i, (p, v) in enumerate(zip(problem.points.tolist(), problem.values, strict=True))
    ]
    degree = None if n <= 60 else 2
    learn(space(6), [(Trial(i, {}, t.point[:6]), v) for i, (t, v) in enumerate(trials[:60])], [], Settings())  # warm
    return {"n": n, "T": T, "cpu_s": cpu_of(partial(learn, space(n), trials, [], Settings(degree=degree)))}


def fitted(name: str, evaluations: int) -> Row:
    """The CPU seconds of the optimizer at each opening: a stage's fit, or that of a round and its proposals."""
    objective, contestant = Objective(25, 0), OURS[name]
    drawn = Trials("equal").drawn(evaluations, 0)
    trace = record(contestant.make(objective.space, 0, evaluations), objective.measure, drawn, evaluations)
    pauses = trace.pauses[: contestant.n_fits]
    return {"what": name, "evaluations": evaluations, "fits": len(pauses), "cpu_s": float(np.mean(pauses)),
            "most_cpu_s": float(np.max(pauses))}  # fmt: skip


def main() -> None:
    rows = {
        "optimizer": [asked_and_told(n) for n in (N, 1000)],
        "ledger": ledger_rows(),
        "wait": [waited(n) for n in FLIGHTS],
        "stages": [learned(n, T) for n, T in STAGES],
        "fits": [fitted(name, n) for name in OURS for n in ROUNDS],
    }
    save("coordinator", rows)
    for name, each in rows.items():
        print(f"\n{name}")
        print(table(list(each[0]), [[_short(value) for value in row.values()] for row in each]))


def _short(value: Any) -> Any:
    return f"{value:.3g}" if isinstance(value, float) else value


# what the simulation takes from it


@cache
def measured() -> dict[str, Any]:
    rows: dict[str, Any] = _rows("coordinator")
    return rows


@cache
def costs(ledger: str = "SQLite") -> Costs:
    """With a Dask cluster as in `throughput`; the wait for the disk is the mean over 100,000 trials, as in `ledger`."""
    rows = measured()
    ((ask, tell),) = [(row["ask_ms"], row["tell_ms"]) for row in rows["optimizer"] if row["n"] == N]
    own = {row["events"]: row for row in rows["ledger"] if row["ledger"] == ledger}
    event = (own[1000]["cpu_ms"] - own[10]["cpu_ms"]) / 990
    kept = next(row for row in _rows("ledger")["measured"] if row["what"] == "append, on the disk")
    disk = (kept["first_ms"] - kept["first_cpu_ms"]) / 2  # an ask and a tell
    runs = (row for row in _rows("throughput") if row["what"] == DASK and not row["seconds"])
    dask = next(row["cpu_ms"] for row in runs if row["workers"] == DASK_WORKERS)
    flight = max(row["cpu_ms"] / row["flights"] for row in rows["wait"] if row["flights"] >= 1000)
    append = own[1]["cpu_ms"] - event + disk
    return Costs(*(each / 1e3 for each in (ask, tell, dask - ask - tell, append, event, flight)))


def _rows(name: str) -> Any:
    return json.loads((RESULTS / f"{name}.json").read_text())["rows"]


def fit_seconds(name: str, evaluations: int) -> float:
    """Of the contestant, or of spectral descent if it is one of its forms; nothing for the others."""
    found = [row["cpu_s"] for row in measured()["fits"] if (row["what"], row["evaluations"]) == (name, evaluations)]
    return float(found[0]) if found else 0.0
