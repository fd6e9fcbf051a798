"""A ledger's tables on a PostgreSQL server: their schema, connections, and what errors mean for the user."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TypeVar

from overtone.errors import InputError, LedgerError
from overtone.running.postgresql_address import Address

if TYPE_CHECKING:
    import psycopg

T = TypeVar("T")
VERSION = 1  # of the schema; ledgers of every earlier one stay readable
CLASS = 0x4F76746E  # "Ovtn": the first key of our advisory locks; the second is the run's id, 0 for the schema
RESTART = 60.0  # seconds to wait for a server that is away
PAUSE = 0.2  # seconds between two attempts
# Data is text, not jsonb, which has no NUL, sorts keys and rounds numbers. A run goes as a whole, or not at all.
# `trials`: of the ask and the tell of a number, max() takes what one of them has. JSON on a server has no NUL and no
# half of a surrogate pair; \/ is right in their place, whether or not the backslash before it was one of two.
TABLES = r"""
CREATE SCHEMA overtone;
CREATE TABLE overtone.schema_version (version integer NOT NULL);
CREATE TABLE overtone.runs (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL UNIQUE,
    writer text NOT NULL DEFAULT '',
    made timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE overtone.events (
    run integer NOT NULL REFERENCES overtone.runs ON DELETE CASCADE,
    id bigint NOT NULL,
    at text NOT NULL,
    kind text NOT NULL,
    data text NOT NULL,
    crc bigint NOT NULL,
    PRIMARY KEY (run, id)
);
CREATE FUNCTION overtone.refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF TG_OP = 'DELETE' AND NOT EXISTS (SELECT FROM overtone.runs WHERE id = OLD.run) THEN RETURN OLD; END IF;
    RAISE EXCEPTION 'a ledger is only ever appended to; to remove a run, delete it from overtone.runs';
END $$;
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON overtone.events
    FOR EACH ROW EXECUTE FUNCTION overtone.refuse();
CREATE VIEW overtone.trials AS
    SELECT name AS run,
        (data -> 'number')::text::bigint AS number,
        max(data ->> 'stage') AS stage,
        max((data ->> 'budget')::float8) AS budget,
        max((data ->> 'value')::float8) AS value,
        max(data ->> 'reason') AS reason,
        max((data ->> 'seconds')::float8) AS seconds,
        max(data ->> 'config') AS config
    FROM (
        SELECT run, regexp_replace(data, '\\u(0000|[dD][89a-fA-F][0-9a-fA-F]{2})', '\\/', 'g')::json AS data
        FROM overtone.events WHERE kind IN ('ask', 'tell')
    ) AS events JOIN overtone.runs ON runs.id = events.run GROUP BY 1, 2;
"""
# Asked of the tables of the system: to_regnamespace() may still know what was before we waited for a lock.
SCHEMA = """
SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = 'overtone'),
    EXISTS (SELECT FROM pg_tables WHERE schemaname = 'overtone' AND tablename = 'schema_version')
"""
# Settings of a session. A commit is on the disk (and on a standby that the server waits for) before it is acknowledged.
# A server that hears nothing from a coordinator's host for 40 s ends its session, and so its lock.
SESSION = """
SELECT set_config('synchronous_commit', 'on', false)
    WHERE current_setting('synchronous_commit') IN ('off', 'local', 'remote_write');
SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 10; SET tcp_keepalives_count = 3;
SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0;
"""
# The same from this side: a server that is gone is noticed.
ALIVE = {"keepalives_idle": 10, "keepalives_interval": 10, "keepalives_count": 3, "tcp_user_timeout": 40_000}


def connect(address: Address) -> "psycopg.Connection[Any]":
    """A session, each statement a transaction of its own."""
    if find_spec("psycopg") is None:
        raise InputError(
            "a ledger on PostgreSQL needs psycopg, but it is not installed: pip install 'overtone[postgresql]'"
        )
    import psycopg
    from psycopg.conninfo import conninfo_to_dict

    try:
        given = conninfo_to_dict(address.conninfo)
    except psycopg.ProgrammingError:  # its words may have the password in them
        raise InputError(f"{address} must be a URL that libpq understands, but is none: see its parameters") from None
    usual = {"connect_timeout": 10, "application_name": "overtone", **ALIVE}
    db = psycopg.connect(
        address.conninfo,
        autocommit=True,
        client_encoding="utf8",
        **{name: value for name, value in usual.items() if name not in given},
    )
    try:
        db.execute(SESSION)
    except BaseException:
        db.close()
        raise
    return db


def patiently(attempt: Callable[[], T], seconds: float) -> T:
    """Once more, until the time is up, as long as the server is away, starts or ends."""
    import psycopg

    end = time.monotonic() + seconds
    while True:
        try:
            return attempt()
        except psycopg.OperationalError as error:
            if not is_away(error) or time.monotonic() > end:
                raise
        time.sleep(PAUSE)


def is_away(error: Exception) -> bool:
    """A connection that broke, or a server that starts or ends (class 57P); not one that refuses us."""
    import psycopg

    if not isinstance(error, psycopg.OperationalError):
        return False
    state = error.sqlstate
    if state is None:  # no word of the server, or one that came while connecting
        return not any(word in str(error) for word in REFUSALS)
    return str(state).startswith(("57P", "08"))


# ---- the schema ----


def prepare(db: "psycopg.Connection[Any]", address: Address) -> None:
    """Make the tables, if there are none; refuse those of others."""
    if has_tables(db, address):
        return
    encoding = db.info.parameter_status("server_encoding")
    if encoding not in ("UTF8", "SQL_ASCII"):
        raise LedgerError(f"the database of {address} must hold all letters, but its encoding is {encoding}: use UTF8")
    with db.transaction():
        db.execute("SELECT pg_advisory_xact_lock(%s, 0)", [CLASS])
        if not has_tables(db, address):  # now that nobody else makes them
            db.execute(TABLES)
            db.execute("INSERT INTO overtone.schema_version VALUES (%s)", [VERSION])


def has_tables(db: "psycopg.Connection[Any]", address: Address) -> bool:
    """They are there, of a version that we know."""
    has_schema, has_version = db.execute(SCHEMA).fetchone() or (False, False)
    if not has_schema:
        return False
    if not has_version:
        raise LedgerError(
            f"the schema `overtone` must be ours, but the one of {address} is of something else: use another database"
        )
    (version,) = db.execute("SELECT coalesce(max(version), 0) FROM overtone.schema_version").fetchone() or (0,)
    if version > VERSION:
        raise LedgerError(
            f"this version of Overtone reads ledgers up to version {VERSION}, but {address} has version {version}: "
            "install the version of Overtone that wrote it, or a later one"
        )
    return True


def run_id(db: "psycopg.Connection[Any]", address: Address) -> int | None:
    """The run's number; None if it is not there."""
    found = db.execute("SELECT id FROM overtone.runs WHERE name = %s", [address.run]).fetchone()
    return None if found is None else int(found[0])


def run_names(db: "psycopg.Connection[Any]") -> list[str]:
    """All runs of the database."""
    return [name for (name,) in db.execute("SELECT name FROM overtone.runs ORDER BY made, name")]


# ---- errors ----

DENIED = "the server does not let you in: see the user's name, and its password in PGPASSWORD or ~/.pgpass"
MISSING = "there is no such database: make it, with `createdb`"
RIGHTS = "its owner must let you: GRANT CREATE ON DATABASE, once, and GRANT on the schema `overtone` and what is in it"
FULL = "the server's disk is full: free some space, and run again"
REMEDIES = {
    "28": DENIED,
    "3D000": MISSING,
    "42501": RIGHTS,
    "53100": FULL,
    "53300": "the server has too many connections: close some, or raise max_connections",
    "25006": "the server only reads, as a standby does: name the primary, or add ?target_session_attrs=read-write",
    "57P": "the server ended: start it, and run again",
    "08": "the server cannot be reached: start it, or see its host and port, and run again",
}
# What libpq says while it connects has no code. These will not get better by waiting:
REFUSALS = {
    "authentication failed": DENIED,
    "no password supplied": DENIED,
    "no pg_hba.conf entry": DENIED,
    'role "': DENIED,
    'database "': MISSING,
    "permission denied": RIGHTS,
}
WORDS = {**REFUSALS, "resolve host": "there is no such host: see its name", "too many": REMEDIES["53300"]}


@contextmanager
def explained(address: Address) -> Iterator[None]:
    """Errors of the server and the way to it, with what to do."""
    try:
        yield
    except Exception as error:
        if find_spec("psycopg") is None or not _is_psycopg(error):
            raise
        what = f"{_remedy(error)} ({_line(error)})"
        raise LedgerError(f"the ledger {address} failed: {what}. What was acknowledged before is safe.") from error


def _is_psycopg(error: Exception) -> bool:
    import psycopg

    return isinstance(error, psycopg.Error)


def _remedy(error: Any) -> str:
    codes = [remedy for start, remedy in REMEDIES.items() if (error.sqlstate or "").startswith(start)]
    words = [remedy for word, remedy in WORDS.items() if error.sqlstate is None and word in str(error)]
    return next(iter(codes + words), REMEDIES["08"] if is_away(error) else "the server refused")


def _line(error: Exception) -> str:
    return " ".join(str(error).split())
