"""A ledger's file: its schema, what is a ledger and what is not, and what SQLite's errors mean for the user."""

import errno
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from overtone.errors import LedgerError
from overtone.running.rows import Row

VERSION = 1  # of the schema; ledgers of every earlier one stay readable
APPLICATION = 0x4F76746E  # "Ovtn" in the header, by which a ledger is known
PATIENCE = 60.0  # seconds to wait for another program that writes to the file, as a shell of SQLite may
MAGIC = b"SQLite format 3\x00"
HEADER = 100  # bytes at the start of every file of SQLite, of which the first are MAGIC
SIDES = ("-wal", "-journal")  # files beside a ledger that is being written, or was when its writer died
# `trials`: of the ask and the tell of a number, max() takes what one of them has; a join would take time n squared
TABLES = """
CREATE TABLE events (
    id INTEGER PRIMARY KEY, at TEXT NOT NULL, kind TEXT NOT NULL, data TEXT NOT NULL, crc INTEGER NOT NULL
);
CREATE TRIGGER no_update BEFORE UPDATE ON events BEGIN SELECT RAISE(ABORT, 'a ledger is only ever appended to'); END;
CREATE TRIGGER no_delete BEFORE DELETE ON events BEGIN SELECT RAISE(ABORT, 'a ledger is only ever appended to'); END;
CREATE VIEW trials AS
    SELECT json_extract(data, '$.number') AS number,
        max(json_extract(data, '$.stage')) AS stage,
        max(json_extract(data, '$.budget')) AS budget,
        max(json_extract(data, '$.value')) AS value,
        max(json_extract(data, '$.reason')) AS reason,
        max(json_extract(data, '$.seconds')) AS seconds,
        max(json_extract(data, '$.config')) AS config
    FROM events WHERE kind IN ('ask', 'tell') GROUP BY 1;
CREATE VIEW stages AS
    SELECT json_extract(data, '$.number') AS number,
        json_extract(data, '$.n_samples') AS n_samples,
        json_extract(data, '$.n_failed') AS n_failed,
        json_extract(data, '$.mean') AS mean,
        json_extract(data, '$.verdict') AS verdict,
        json_extract(data, '$.r2') AS r2,
        json_extract(data, '$.fixed') AS fixed
    FROM events WHERE kind = 'stage';
"""


class Damaged(sqlite3.DatabaseError):
    """SQLite can read it, but it is not what was written."""


# ---- connections ----


def connect(path: Path) -> sqlite3.Connection:
    """For writing; the file is made if there is none, and gets its tables if it has none."""
    db = sqlite3.connect(path, timeout=PATIENCE, isolation_level=None)
    try:
        db.execute("PRAGMA synchronous = EXTRA")  # FULL, and the folder as well while there is no WAL yet
        if is_blank(db, path):
            marks = f"PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION};"
            db.executescript(f"BEGIN; {TABLES} {marks} COMMIT;")
            sync_folder(path)
        db.execute("PRAGMA journal_mode = WAL")  # last, so that the file itself says from the start what it is
    except BaseException:
        db.close()
        raise
    return db


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """For reading, also while it is written, after a crash and on a read-only disk; never changes the file."""
    size = path.stat().st_size
    if 0 < size < HEADER or (size == 0 and _has_bytes(Path(f"{path}-wal"))):
        raise Damaged("cut so short that SQLite may take it for a new one, and delete its WAL")
    if not any(Path(f"{path}{side}").exists() for side in SIDES):
        # Nobody writes. Without `immutable`, SQLite would want to make files beside it, and would leave them there.
        with closing(_read_only(path, "&immutable=1")) as db:
            yield db
        return
    with tempfile.TemporaryDirectory() as folder, closing(_read_only(path)) as db:
        try:
            db.execute("SELECT count(*) FROM sqlite_master")
        except sqlite3.OperationalError as error:
            if not _name(error).startswith(("SQLITE_CANTOPEN", "SQLITE_READONLY")):
                raise
            # A writer died, and the files that SQLite needs to see what it left cannot be made here.
            with closing(sqlite3.connect(_copied(path, Path(folder)))) as copy:
                yield copy
                return
        yield db


def _has_bytes(path: Path) -> bool:
    return path.exists() and path.stat().st_size > 0


def _read_only(path: Path, more: str = "") -> sqlite3.Connection:
    return sqlite3.connect(f"{path.as_uri()}?mode=ro{more}", uri=True, timeout=PATIENCE, isolation_level=None)


def _copied(path: Path, folder: Path) -> Path:
    for side in ("", *SIDES):
        with suppress(FileNotFoundError):
            shutil.copyfile(f"{path}{side}", folder / f"ledger{side}")
    return folder / "ledger"


def sync_folder(path: Path) -> None:
    """Make a new name of a file survive a power failure."""
    fd = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


# ---- rows ----


@contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    """All that is written in it, or nothing."""
    if db.in_transaction:  # Ctrl-C came between two of these lines
        db.execute("ROLLBACK")
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):  # some errors have rolled it back already
            db.execute("ROLLBACK")
        raise


def insert(db: sqlite3.Connection, rows: Iterable[Row]) -> None:
    """Add rows, in a transaction."""
    db.executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?)", rows)


def last_id(db: sqlite3.Connection) -> int:
    """The id of the last row; 0 if there is none."""
    return int(db.execute("SELECT coalesce(max(id), 0) FROM events").fetchone()[0])


def sound_rows(db: sqlite3.Connection) -> Iterator[Row]:
    """All rows in order; `Damaged` at the first that is not what was written, or is missing."""
    for number, values in enumerate(db.execute("SELECT id, at, kind, data, crc FROM events ORDER BY id"), 1):
        row = Row(*values)
        if row.id != number or not row.is_sound:
            raise Damaged(f"event {number} is not what was written")
        yield row


def is_sound(path: Path) -> bool:
    """Every row is what was written, and SQLite finds nothing wrong with the rest; refuses what is no ledger."""
    try:
        with reading(path) as db:
            if not is_blank(db, path):
                for _ in sound_rows(db):
                    pass
            return bool(db.execute("PRAGMA quick_check(1)").fetchone() == ("ok",))
    except sqlite3.DatabaseError as error:
        check_damage(path, error)
        return False


# ---- what it is ----


def checked(path: str | os.PathLike[str]) -> Path:
    """The file's place, links followed; its folder must be there."""
    with explained(Path(path)):
        place = Path(path).resolve()
        if not place.parent.is_dir():
            raise LedgerError(f"a ledger's folder must exist, but there is none at {place.parent}: make it first")
        if place.exists() and not place.is_file():
            raise LedgerError(f"a ledger must be a file, but {place} is none: use another path")
        return place


def is_blank(db: sqlite3.Connection, path: Path) -> bool:
    """It has no tables yet: a new file, or one whose maker died; refuses the tables of others."""
    application, version, tables = (
        db.execute(question).fetchone()[0]
        for question in ("PRAGMA application_id", "PRAGMA user_version", "SELECT count(*) FROM sqlite_master")
    )
    if application == 0 and tables == 0:
        return True
    if application != APPLICATION:
        raise LedgerError(f"{path} must be a ledger, but is an SQLite database of something else: use another file")
    if version > VERSION:
        raise LedgerError(
            f"this version of Overtone reads ledgers up to version {VERSION}, but {path} has version {version}: "
            "install the version of Overtone that wrote it, or a later one"
        )
    return False


def check_damage(path: Path, error: sqlite3.DatabaseError) -> None:
    """An error that means: a ledger, but damaged. Any other is raised again, and what is no ledger is refused."""
    if _name(error).startswith(tuple(REMEDIES)):
        raise error
    with path.open("rb") as file:
        header = file.read(HEADER)
    if not header.startswith(MAGIC[: len(header)]):
        raise LedgerError(f"{path} must be a ledger, but is no SQLite database: use another file") from None
    if len(header) >= 72 and int.from_bytes(header[68:72]) != APPLICATION:
        raise LedgerError(f"{path} must be a ledger, but is an SQLite database of something else: use another file")


# ---- errors ----

FULL = "is full: free some space, and run again"
PLACE = "cannot be opened or written there: see that the file and its folder are yours to write, or use another place"
REMEDIES = {
    "SQLITE_FULL": f"the disk {FULL}",
    "ENOSPC": f"the disk {FULL}",
    "EDQUOT": f"your share of the disk {FULL}",
    "SQLITE_IOERR": "the disk fails, or a limit on the size of files is reached: see `df`, `ulimit -f`, and run again",
    "SQLITE_BUSY": "another program writes to it and does not end: close shells of SQLite that have it open",
    "SQLITE_LOCKED": "another program writes to it and does not end: close shells of SQLite that have it open",
    "SQLITE_NOMEM": "there is too little memory",
    "SQLITE_CANTOPEN": PLACE,
    "SQLITE_READONLY": PLACE,
    "SQLITE_PERM": PLACE,
    "EACCES": PLACE,
    "EPERM": PLACE,
    "EROFS": PLACE,
}


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Errors of SQLite and the system, with what to do."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        remedy = next((text for start, text in REMEDIES.items() if _name(error).startswith(start)), "")
        what = f"{remedy} ({error})" if remedy else str(error)
        raise LedgerError(f"the ledger {path} failed: {what}. What was written before is safe.") from error


def _name(error: Exception) -> str:
    """SQLITE_FULL, ENOSPC, ...; extended ones, like SQLITE_IOERR_WRITE, begin with the plain one."""
    if isinstance(error, OSError):
        return errno.errorcode.get(error.errno or 0, "")
    return str(getattr(error, "sqlite_errorname", ""))
