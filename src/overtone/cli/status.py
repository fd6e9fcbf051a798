"""`overtone status`: how far is it?"""

import re
import socket
import time
from datetime import UTC, datetime
from pathlib import Path

import psutil

from overtone.cli.messages import say
from overtone.cli.source import find
from overtone.report.words import seconds
from overtone.running.ledger import Address
from overtone.running.record import History

STOPPED = "stopped in the middle (run it again to go on)"


def show_status(place: str) -> None:
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


def _unfinished(ledger: Path | Address) -> str:
    """It is going, or it was killed: who writes to a ledger says so, in a file beside it or on the server."""
    writer, age = _on_server(ledger) if isinstance(ledger, Address) else _in_file(ledger)
    return f"{writer}, last written {seconds(max(0.0, age))} ago"


def _on_server(address: Address) -> tuple[str, float]:
    from overtone.running.postgresql_ledger import presence

    now = datetime.now(UTC)
    found = presence(address)
    return f"going, {found.writer}" if found.writer else STOPPED, (now - (found.last or now)).total_seconds()


def _in_file(ledger: Path) -> tuple[str, float]:
    written = [ledger, ledger.with_name(ledger.name + "-wal")]
    age = time.time() - max(path.stat().st_mtime for path in written if path.exists())
    return _writer(ledger), age


def _writer(ledger: Path) -> str:
    try:
        holder = ledger.with_name(ledger.name + "-lock").read_text(errors="replace")
    except OSError:
        return STOPPED
    found = re.fullmatch(r"process (\d+) on (.+)", holder)
    if found and found[2] == socket.gethostname() and not psutil.pid_exists(int(found[1])):
        return "killed (run it again to go on)"
    return f"going, {holder}"
