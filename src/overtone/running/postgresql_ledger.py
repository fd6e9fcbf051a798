"""The ledger on a PostgreSQL server, for a coordinator that may move to another host: one transaction an append."""

import logging
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self
from weakref import WeakSet

from overtone.errors import LedgerError
from overtone.running import postgresql_server as server
from overtone.running.lock import me, refused
from overtone.running.postgresql_address import Address, parse_address
from overtone.running.rows import Event, Row

if TYPE_CHECKING:
    import psycopg

logger = logging.getLogger(__name__)
PATIENCE = 10.0  # seconds to wait for the lock: a server needs a moment to notice that a writer was killed
PAGE = 1000  # rows that are read at a time
IDLE = 0  # the state of a connection that waits for us, as libpq has it
INSERT = """INSERT INTO overtone.events (run, id, at, kind, data, crc)
    SELECT %s, * FROM unnest(%s::bigint[], %s::text[], %s::text[], %s::text[], %s::bigint[])"""
SELECT = "SELECT id, at, kind, data, crc FROM overtone.events WHERE run = %s AND id > %s ORDER BY id LIMIT %s"
LAST = "SELECT coalesce(max(id), 0) FROM overtone.events WHERE run = %s"
MAKE = "INSERT INTO overtone.runs (name) VALUES (%s) ON CONFLICT DO NOTHING"
SESSION = "SELECT pid, backend_start FROM pg_stat_activity WHERE pid = pg_backend_pid()"
END_SESSION = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = %s AND backend_start = %s"
TRY_LOCK = "SELECT pg_try_advisory_lock(%s, %s)"
WRITER = """SELECT writer, EXISTS (
        SELECT FROM pg_locks JOIN pg_database ON pg_database.oid = pg_locks.database AND datname = current_database()
        WHERE locktype = 'advisory' AND granted AND classid::bigint = %s AND objid::bigint = runs.id
    ), (SELECT at FROM overtone.events WHERE run = runs.id ORDER BY id DESC LIMIT 1)
    FROM overtone.runs WHERE id = %s"""


class PostgresqlLedger:
    """The ledger of a run on a server, opened for writing or made; one writer at a time, any number of readers.

    A connection that breaks is made anew, and nothing is written twice. If meanwhile another coordinator has taken
    over, or the server has forgotten something, that is said, and nothing is written any more.
    """

    def __init__(self, address: str | Address) -> None:
        self.address = parse_address(address) if isinstance(address, str) else address
        self._db: psycopg.Connection[Any] | None = None
        self._session: Sequence[Any] = ()  # by which the server knows our last connection
        self._run = 0
        self._last = 0  # the id of the last row that is known to be there
        self._pending: Sequence[Row] = ()  # rows of an append of which nobody knows whether it came to pass
        self._closed = False
        with server.explained(self.address):
            self._open()
            try:
                self._last = self._last_id()
            except BaseException:
                self._disconnect()
                raise
        _ledgers.add(self)

    def append(self, *events: Event) -> None:
        """All of these events or none; they survive a crash of the server once it returns."""
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        with server.explained(self.address):
            self._settle()
            rows = [Row.of(number, at, event) for number, event in enumerate(events, self._last + 1)]
            if not rows:
                return
            self._pending = rows
            try:
                self._insert(rows)
            except Exception as error:
                if not server.is_away(error):
                    self._pending = ()
                    raise
                logger.warning("%s: the connection broke (%s); connecting again", self.address, type(error).__name__)
                self._disconnect()
                self._settle(must=True)
            self._last, self._pending = rows[-1].id, ()

    def read(self) -> Iterator[Event]:
        """Every event, in the order in which they were appended."""
        with server.explained(self.address):
            self._settle()
            for row in _sound_rows(self._connection(), self._run, self.address):
                yield row.event

    def close(self) -> None:
        """Let others write; nothing can be appended any more."""
        self._closed = True
        with suppress(Exception):  # the lock would go with the connection, but a moment later
            self._connection().execute("SELECT pg_advisory_unlock_all()")
        self._disconnect()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    # ---- connections ----

    def _connection(self) -> "psycopg.Connection[Any]":
        if self._db is None:
            raise LedgerError(f"a ledger must be open, but {self.address} is closed: open it again")
        return self._db

    def _open(self) -> None:
        """Connect, and take the lock; the tables and the run are made if this is the first time."""
        db = server.connect(self.address)
        try:
            if self._session:  # the server may not have noticed yet that it broke, and it has our lock
                db.execute(END_SESSION, self._session)
            if not self._run:
                server.prepare(db, self.address)
                self._run = _made(db, self.address)
            _lock(db, self._run, self.address)
            self._session = db.execute(SESSION).fetchone() or ()
        except BaseException:
            db.close()
            raise
        self._db = db

    def _disconnect(self) -> None:
        if self._db is not None:
            with suppress(Exception):
                self._db.close()
            self._db = None

    # ---- what came of the last append ----

    def _settle(self, *, must: bool = False) -> None:
        """After a break or an interrupt, find out what is there; with `must`, write what is pending and is not."""
        if self._closed:
            self._connection()
        if self._db is None or self._pending or self._db.info.transaction_status != IDLE:
            server.patiently(lambda: self._renew(must), server.RESTART)

    def _renew(self, must: bool) -> None:
        """A new connection that stands where the old one did: that one is of no use after Ctrl-C in a statement."""
        self._disconnect()
        self._open()
        there = list(_rows(self._connection(), self._run, self._last))
        if self._last_id() < self._last or there not in ([], list(self._pending)):
            self.close()
            raise LedgerError(
                f"the ledger {self.address} must be as it was when the connection broke, but it is not: another "
                "coordinator has written to it, or the server lost something. See that no other one runs, and run "
                "again: it goes on with what is there"
            )
        if there:
            self._last = there[-1].id
        elif must:
            self._insert(self._pending)
        self._pending = ()

    def _insert(self, rows: Sequence[Row]) -> None:
        """One statement, so one transaction."""
        self._connection().execute(INSERT, [self._run, *map(list, zip(*rows, strict=True))])

    def _last_id(self) -> int:
        return int(_one(self._connection(), LAST, self._run))


def read_postgresql(address: str | Address) -> Iterator[Event]:
    """The events of a run, also while it is written."""
    place = parse_address(address) if isinstance(address, str) else address
    with server.explained(place), closing(server.connect(place)) as db:
        for row in _sound_rows(db, _known(db, place), place):
            yield row.event


@dataclass(frozen=True)
class Presence:
    """Who writes to a ledger, and when something was last written."""

    writer: str  # "" if nobody does
    last: datetime | None


def presence(address: Address) -> Presence:
    """Of a run on a server."""
    with server.explained(address), closing(server.connect(address)) as db:
        found = db.execute(WRITER, [server.CLASS, _known(db, address)]).fetchone() or ("", False, None)
    writer, is_held, last = found
    return Presence(writer if is_held else "", None if last is None else datetime.fromisoformat(last))


# ---- rows ----


def _rows(db: "psycopg.Connection[Any]", run: int, after: int) -> Iterator[Row]:
    """Those after an id, a page at a time, so that there can be appended meanwhile."""
    page = [Row(*values) for values in db.execute(SELECT, [run, after, PAGE])]
    yield from page
    while len(page) == PAGE:
        page = [Row(*values) for values in db.execute(SELECT, [run, page[-1].id, PAGE])]
        yield from page


def _sound_rows(db: "psycopg.Connection[Any]", run: int, address: Address) -> Iterator[Row]:
    for number, row in enumerate(_rows(db, run, 0), 1):
        if row.id != number or not row.is_sound:
            raise LedgerError(
                f"event {number} of the ledger {address} is not what was written: somebody changed it, or the server "
                "is damaged. Restore it from a backup of the server, or use another ledger for a new run"
            )
        yield row


# ---- runs and their locks ----


def _known(db: "psycopg.Connection[Any]", address: Address) -> int:
    """The number of a run that must be there."""
    has_tables = server.has_tables(db, address)
    run = server.run_id(db, address) if has_tables else None
    if run is None:
        others = ", ".join(map(repr, server.run_names(db))) if has_tables else ""
        raise LedgerError(
            f"there must be a run at {address}, but there is none: has the run begun? "
            f"The database has {others or 'no run'}"
        )
    return run


def _made(db: "psycopg.Connection[Any]", address: Address) -> int:
    """The number of a run, new or not."""
    run = server.run_id(db, address)
    if run is None:
        db.execute(MAKE, [address.run])
        run = server.run_id(db, address)
    assert run is not None  # noqa: S101 - it was made, by us or by another
    return run


def _lock(db: "psycopg.Connection[Any]", run: int, address: Address) -> None:
    """Be the writer as long as this connection lasts; the lock is the server's, so it ends with it."""
    end = time.monotonic() + PATIENCE
    while not _one(db, TRY_LOCK, server.CLASS, run):
        if time.monotonic() > end:
            raise refused(address, _one(db, "SELECT writer FROM overtone.runs WHERE id = %s", run) or "another process")
        time.sleep(server.PAUSE)
    db.execute("UPDATE overtone.runs SET writer = %s WHERE id = %s", [me(), run])


def _one(db: "psycopg.Connection[Any]", question: str, *values: object) -> Any:
    """The one value of the one row that there is."""
    found = db.execute(question, values).fetchone()
    return None if found is None else found[0]


# ---- forks ----

_ledgers = WeakSet[PostgresqlLedger]()
_left: list[Any] = []  # connections that are our parent's: never closed here, which would say goodbye for it


def _let_go() -> None:
    """A child must not keep its parent's connection open: the parent may die, and its lock must die with it."""
    for ledger in _ledgers:
        if ledger._db is not None:
            nothing = os.open(os.devnull, os.O_RDWR)
            os.dup2(nothing, ledger._db.fileno())
            os.close(nothing)
            _left.append(ledger._db)
            ledger._db, ledger._closed = None, True


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_let_go)
