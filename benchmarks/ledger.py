"""What a ledger costs: 100,000 trials of 60 parameters appended (an ask and a tell each), read, and gone on with.

Appending waits for the disk twice a trial; the same without waiting shows how much of it is the disk. CPU seconds as
well, because the machine is shared.
"""

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.measure import measure, save, table
from overtone.optimizers import RandomSearch, Trial
from overtone.running.journal import ask_event, read_history, replay, start_event, tell_event
from overtone.running.ledger import SqliteLedger, read_ledger
from overtone.running.record import Outcome
from overtone.space import Space, boolean, choice, ordinal, real

TRIALS, PARAMETERS = 100_000, 60
KINDS = (boolean(), choice(["red", "green", "blue"]), ordinal([1, 2, 4, 8]), real(1e-4, 1e-1, log=True))
Times = list[tuple[float, float]]  # wall-clock and CPU seconds of each trial


def space() -> Space:
    return Space({f"parameter_{i}": KINDS[i % len(KINDS)] for i in range(PARAMETERS)})


def search(trials: int) -> RandomSearch:
    return RandomSearch(space(), n_evaluations=trials)


def write(path: Path, trials: int, sync: bool) -> Callable[[], dict[str, float]]:
    def thunk() -> dict[str, float]:
        optimizer, times = search(trials), Times()
        with SqliteLedger(path) as ledger:
            if not sync:
                ledger._db.execute("PRAGMA synchronous = OFF")
            ledger.append(start_event(optimizer.space, {"seed": 0}, "minimize", None))
            for _ in range(trials):
                (trial,) = optimizer.ask()
                times.append(appended(ledger, trial))
                optimizer.tell(trial, 0.5)
        tenth = trials // 10
        return {**per_trial("first", times[:tenth]), **per_trial("last", times[-tenth:])}

    return thunk


def appended(ledger: SqliteLedger, trial: Trial) -> tuple[float, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    ledger.append(ask_event(trial))
    ledger.append(tell_event(trial.number, Outcome(trial.number / 7, seconds=1.25)))
    return time.perf_counter() - wall, time.process_time() - cpu


def per_trial(which: str, times: Times) -> dict[str, float]:
    """Milliseconds a trial; also the median, which waits of other programs for the disk do not move."""
    walls, cpus = (sorted(column) for column in zip(*times, strict=True))
    mean = {f"{which}_ms": sum(walls) / len(walls) * 1e3, f"{which}_cpu_ms": sum(cpus) / len(cpus) * 1e3}
    return {**mean, f"{which}_median_ms": walls[len(walls) // 2] * 1e3}


def timed_cpu(function: Callable[[], Any]) -> Callable[[], float]:
    """Its CPU seconds, as the answer."""

    def thunk() -> float:
        start = time.process_time()
        function()
        return time.process_time() - start

    return thunk


def resume(path: Path, trials: int) -> Callable[[], float]:
    """Open, check, read and lead a fresh optimizer to where the run stood."""

    def thunk() -> None:
        with SqliteLedger(path) as ledger:
            replay(search(trials), ledger.read(), "minimize")

    return timed_cpu(thunk)


def ask_only(_: Path, trials: int) -> Callable[[], float]:
    """The part of it that is the optimizer's own."""
    return timed_cpu(lambda: search(trials).ask(trials))


def open_only(path: Path, _: int) -> Callable[[], float]:
    """The part of it that looks for damage."""
    return timed_cpu(lambda: SqliteLedger(path).close())


def history(path: Path, _: int) -> Callable[[], float]:
    return timed_cpu(lambda: read_history(read_ledger(path)))


READING = {
    "open for writing, every row checked": open_only,
    "read the history": history,
    "resume: open, read, replay": resume,
    "of which the optimizer's asks": ask_only,
}


def main(trials: int = TRIALS) -> None:
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:  # a disk, as /tmp may not be
        for name, sync in {"append, on the disk": True, "append, not waiting for the disk": False}.items():
            path = Path(folder) / f"{sync}.db"
            answer = measure(write, path, trials, sync).answer
            rows.append({"what": name, "mb": path.stat().st_size / 1e6, **answer})
        for name, function in READING.items():
            m = measure(function, Path(folder) / "True.db", trials)
            rows.append({"what": name, "s": m.seconds, "cpu_s": m.answer, "peak_mb": m.peak_mb})
    save("ledger", {"trials": trials, "parameters": PARAMETERS, "measured": rows})
    show(rows, trials)


def show(rows: list[dict[str, Any]], trials: int) -> None:
    print(f"\nA ledger of {trials:,} trials of {PARAMETERS} parameters, {rows[0]['mb']:.0f} MB")
    cells = [
        [row["what"]] + [f"{row[f'{which}_{kind}']:.2f}" for which in ("first", "last") for kind in ("ms", "cpu_ms")]
        for row in rows
        if "first_ms" in row
    ]
    print(table(["ms a trial", "first tenth", "CPU", "last tenth", "CPU"], cells))
    print()
    seconds = [
        [row["what"], f"{row['s']:.1f}", f"{row['cpu_s']:.1f}", f"{row['peak_mb']:.0f}"] for row in rows if "s" in row
    ]
    print(table(["", "s", "CPU s", "MB of memory"], seconds))
