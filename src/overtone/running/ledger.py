"""Ledgers: what happened in a run, as events that are only ever appended. State is replay (see `journal`)."""

import json
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol, cast

from overtone.running.postgresql_address import Address, is_url, public_address
from overtone.running.rows import Event, encode
from overtone.running.sqlite_ledger import SqliteLedger, read_sqlite

if TYPE_CHECKING:
    from overtone.running.postgresql_ledger import PostgresqlLedger

__all__ = [
    "Address",
    "Event",
    "Ledger",
    "MemoryLedger",
    "SqliteLedger",
    "is_url",
    "open_ledger",
    "public_address",
    "read_ledger",
]


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


def open_ledger(place: str | os.PathLike[str] | Address) -> "SqliteLedger | PostgresqlLedger":
    """The ledger in a file, or at postgresql://..., for writing; it is made if there is none."""
    if isinstance(place, Address) or is_url(place):
        from overtone.running.postgresql_ledger import PostgresqlLedger  # here: it is an extra

        return PostgresqlLedger(cast("str | Address", place))
    return SqliteLedger(place)


def read_ledger(place: str | os.PathLike[str] | Address) -> Iterator[Event]:
    """The events of a ledger, also while it is written or after a crash."""
    if isinstance(place, Address) or is_url(place):
        from overtone.running.postgresql_ledger import read_postgresql

        return read_postgresql(cast("str | Address", place))
    return read_sqlite(place)
