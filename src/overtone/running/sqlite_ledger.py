"""The ledger in a file: SQLite in WAL mode, one transaction an append, on the disk when `append` returns."""

import logging
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Self

from overtone.errors import LedgerError
from overtone.running.lock import Lock
from overtone.running.rows import Event, Row
from overtone.running.salvage import salvage
from overtone.running.sqlite_file import (
    SIDES,
    check_damage,
    checked,
    connect,
    explained,
    insert,
    is_blank,
    is_sound,
    last_id,
    reading,
    sound_rows,
    sync_folder,
    transaction,
)

logger = logging.getLogger(__name__)


class SqliteLedger:
    """The ledger at `path`, opened for writing or made; one writer at a time, any number of readers.

    A damaged file is set aside, and what can be read of it is the ledger from then on.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = checked(path)
        with explained(self.path):
            self._lock = Lock(self.path)
            try:
                self._db = _opened(self.path)
            except BaseException:
                self._lock.release()
                raise

    def append(self, *events: Event) -> None:
        """All of these events or none; they survive a power failure once it returns."""
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        with explained(self.path), transaction(self._db):
            first = last_id(self._db) + 1  # asked each time: after Ctrl-C we may not know what is written
            insert(self._db, [Row.of(number, at, event) for number, event in enumerate(events, first)])

    def read(self) -> Iterator[Event]:
        """Every event, in the order in which they were appended."""
        with explained(self.path):
            for row in sound_rows(self._db):
                yield row.event

    def close(self) -> None:
        """Let others write; nothing can be appended any more."""
        try:
            self._db.close()
        finally:
            self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


def read_sqlite(path: str | os.PathLike[str]) -> Iterator[Event]:
    """The events of a ledger, also while it is written, after a crash, of a damaged file and on a read-only disk."""
    place = checked(path)
    if not place.exists():
        raise LedgerError(f"there must be a ledger at {place}, but there is no file: has the run begun?")
    return _events(place)


def _events(path: Path) -> Iterator[Event]:
    done = 0
    with explained(path):
        try:
            with reading(path) as db:
                for row in () if is_blank(db, path) else sound_rows(db):
                    yield row.event
                    done = row.id
        except sqlite3.DatabaseError as error:
            check_damage(path, error)
            rows = salvage(path)
            logger.warning("%s is damaged: only its first %d events can be read", path, len(rows))
            yield from (row.event for row in rows[done:])


# ---- opening and repairing; the lock is held ----


def _opened(path: Path) -> sqlite3.Connection:
    _finish_repair(path)
    if path.exists() and not is_sound(path):
        _repair(path)
    return connect(path)


def _repair(path: Path) -> None:
    """Put what can be read in the place of a damaged ledger, which is kept; it may be interrupted at any point."""
    rows, new = salvage(path), Path(f"{path}.new")
    for side in ("", "-shm", *SIDES):
        Path(f"{new}{side}").unlink(missing_ok=True)
    with closing(connect(new)) as db, transaction(db):
        insert(db, rows)
    new.replace(f"{path}.salvaged")  # from here on the repair will be finished, now or by the next writer
    aside = _finish_repair(path)
    logger.warning(
        "%s was damaged: the run goes on from its first %d events; the damaged file is %s", path, len(rows), aside
    )


def _finish_repair(path: Path) -> Path | None:
    """Set the damaged file aside with what belongs to it, which would spoil another; then take the new one."""
    new = Path(f"{path}.salvaged")
    if not new.exists():
        return None
    aside = next(place for i in count(1) if not (place := Path(f"{path}.damaged-{i}")).exists())
    Path(f"{path}-shm").unlink(missing_ok=True)
    for side in (*SIDES, ""):
        if Path(f"{path}{side}").exists():
            Path(f"{path}{side}").replace(f"{aside}{side}")
    new.replace(path)
    sync_folder(path)
    return aside
