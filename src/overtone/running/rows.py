"""`Row`: an event as a ledger's file holds it, with a checksum, because SQLite has none of its own."""

import json
from typing import Any, NamedTuple
from zlib import crc32

from overtone.errors import LedgerError

Event = dict[str, Any]  # plain data, as JSON knows it; "kind" says what happened


class Row(NamedTuple):
    """One event; ids are 1, 2, 3, ... without a gap."""

    id: int
    at: str  # when it was appended, UTC
    kind: str
    data: str  # the rest of the event, as JSON
    crc: int

    @classmethod
    def of(cls, id: int, at: str, event: Event) -> "Row":  # noqa: A002 - the column's name
        """An event under its id."""
        kind = event["kind"]
        data = encode({name: value for name, value in event.items() if name != "kind"})
        return cls(id, at, kind, data, _checksum(id, at, kind, data))

    @property
    def is_sound(self) -> bool:
        """It is what was written."""
        return self.crc == _checksum(self.id, self.at, self.kind, self.data)

    @property
    def event(self) -> Event:
        """The event, as it was appended."""
        return {"kind": self.kind, **json.loads(self.data)}


def encode(data: Event) -> str:
    """JSON that every tool can read: no NaN, and whatever UTF-8 cannot hold (half of a surrogate pair) escaped."""
    try:
        text = json.dumps(data, separators=(",", ":"), allow_nan=False, ensure_ascii=False)
        return text if _is_text(text) else json.dumps(data, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise LedgerError(
            f"an event must be plain data, as JSON knows it, but {error}: use texts and numbers"
        ) from None


def _is_text(text: str) -> bool:
    """UTF-8 can hold it."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _checksum(id: int, at: str, kind: str, data: str) -> int:  # noqa: A002
    return crc32(f"{id} {at} {kind} {data}".encode())
