"""`python tests/running/ledgers/make.py FOLDER`: the ledgers of the current version, for a new set of fixtures."""

import json
import shutil
import sys
from pathlib import Path

from overtone.optimizers import Harmonica
from overtone.running.journal import ask_event, end_event, stage_event, start_event, tell_event
from overtone.running.ledger import Event, SqliteLedger, read_ledger
from overtone.running.record import Outcome
from overtone.running.sqlite_file import VERSION
from overtone.space import Config, Space, boolean, choice, integer, real

SPACE = Space(
    {
        "flag": boolean(),
        "color": choice(["red", "grün", None, 2.5]),
        "width": integer(1, 64, levels=4, log=True),
        "rate": real(1e-4, 1e-1, log=True, when={"flag": True}),
    },
    forbid=[{"flag": True, "color": ["red"]}],
)


def value(number: int, config: Config) -> Outcome:
    if number % 9 == 4:
        return Outcome(None, "ValueError: it broke", "Traceback \0 \ud800 \x1b[0m\n  漢字", 0.5, attempts=2)
    return Outcome(3.0 * bool(config["flag"]) + (config["color"] is None) + number / 1000, seconds=0.25)


def run() -> list[Event]:
    optimizer = Harmonica(SPACE, 1, n_stages=1, n_samples=30, budget=2.0)
    made = [start_event(SPACE, {"seed": 1, "optimizer": "Harmonica"}, "maximize", {"flag": False, "width": 1})]
    for _ in range(20):
        trials = optimizer.ask(2)
        made += map(ask_event, trials)
        for trial in trials:
            outcome = value(trial.number, trial.config)
            made.append(tell_event(trial.number, outcome))
            optimizer.tell(trial, None if outcome.value is None else -outcome.value)
        if optimizer.stages and not any(event["kind"] == "stage" for event in made):
            made.append(stage_event(optimizer.stages[0]))
    return [*made, end_event("evaluations used up")]


def main(folder: Path) -> None:
    events = run()
    name = f"v{VERSION}"
    with SqliteLedger(folder / f"{name}.db") as ledger:
        ledger.append(*events)
    with SqliteLedger(folder / "open.db") as ledger:
        for first in range(0, 40, 8):
            ledger.append(*events[first : first + 8])
        for side in ("", "-wal"):
            shutil.copy(folder / f"open.db{side}", folder / f"{name}-killed.db{side}")
    (folder / "open.db").unlink()
    for known, n in ((name, len(events)), (f"{name}-killed", 40)):
        (folder / f"{known}.jsonl").write_text("".join(json.dumps(event) + "\n" for event in events[:n]))
        assert list(read_ledger(folder / f"{known}.db")) == events[:n]
    for shared in folder.glob("*-shm"):
        shared.unlink()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
