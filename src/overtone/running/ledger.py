"""Ledgers: what happened in a run, as events that are only ever appended. State is replay (see `journal`)."""

import json
from collections.abc import Iterator
from typing import Protocol

from overtone.running.rows import Event, encode
from overtone.running.sqlite_ledger import SqliteLedger, read_ledger

__all__ = ["Event", "Ledger", "MemoryLedger", "SqliteLedger", "read_ledger"]


class Ledger(Protocol):
    """Append and read: all that a run needs to lose nothing."""

    def append(self, *events: Event) -> None:
        """All of these events or none; they are safe once it returns."""

    def read(self) -> Iterator[Event]:
        """Every event, in the order in which they were appended."""

    def close(self) -> None:
        """Let others write; nothing can be appended any more."""


class MemoryLedger:
    """A ledger that ends with its process; events are kept as text, so that they are as those of a file."""

    def __init__(self) -> None:
        self._texts: list[str] = []

    def append(self, *events: Event) -> None:
        """Keep events."""
        self._texts += [encode(event) for event in events]

    def read(self) -> Iterator[Event]:
        """The events so far."""
        return map(json.loads, tuple(self._texts))

    def close(self) -> None:
        """Nothing to let go."""
