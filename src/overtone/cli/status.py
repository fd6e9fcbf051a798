"""`overtone status`: how far is it?"""

import re
import socket
import time
from pathlib import Path

import psutil

from overtone.cli.messages import duration, say
from overtone.cli.source import find
from overtone.running.record import History


def show_status(place: Path) -> None:
    """A few lines, also while the run is going."""
    source = find(place)
    history = source.history()
    failed = sum(record.outcome.value is None for record in history.records)
    say(f"ledger: {source.ledger}")
    say(f"state: {history.stopped or _unfinished(source.ledger)}")
    say(f"trials: {len(history.records)} done, {failed} of them failed; {_where(history)}")
    if history.best is not None:
        say(f"best so far: {history.best.outcome.value!r} (trial {history.best.trial.number})")
    if history.records and history.records[-1].outcome.value is None:
        say(f"the last failure: {history.records[-1].outcome.reason}")


def _where(history: History) -> str:
    """The part of the optimizer that asked last."""
    last = history.records[-1].trial.stage if history.records else ""
    return f"stages learned: {len(history.stages)}" + (f", now at: {last}" if last else "")


def _unfinished(ledger: Path) -> str:
    """It is going, or it was killed: who writes to a ledger says so in a file beside it."""
    written = [ledger, ledger.with_name(ledger.name + "-wal")]
    age = time.time() - max(path.stat().st_mtime for path in written if path.exists())
    return f"{_writer(ledger)}, last written {duration(max(0.0, age))} ago"


def _writer(ledger: Path) -> str:
    try:
        holder = ledger.with_name(ledger.name + "-lock").read_text(errors="replace")
    except OSError:
        return "stopped in the middle (run it again to go on)"
    found = re.fullmatch(r"process (\d+) on (.+)", holder)
    if found and found[2] == socket.gethostname() and not psutil.pid_exists(int(found[1])):
        return "killed (run it again to go on)"
    return f"going, {holder}"
