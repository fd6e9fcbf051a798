"""The ledger on a real PostgreSQL server that is stopped, crashed, cut off, taken over and looked at."""

import random
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

import overtone as ot
from overtone.errors import InputError, LedgerError
from overtone.running import postgresql_ledger, postgresql_server
from overtone.running.ledger import open_ledger, read_ledger
from overtone.running.postgresql_address import parse_address
from overtone.running.postgresql_ledger import PostgresqlLedger, presence
from tests.postgresql import PASSWORD, USER, Server
from tests.running.ledgers import writer
from tests.running.ledgers.writer import event, events

pytestmark = pytest.mark.heavy


def opened(url: str) -> PostgresqlLedger:
    ledger = open_ledger(url)
    assert isinstance(ledger, PostgresqlLedger)
    return ledger


# ---- the server goes away ----


def test_a_writer_survives_crashes_and_restarts_of_the_server(postgresql: Server) -> None:
    """A process appends without end; what it was told is there after each of them, once, and it goes on."""
    url, chance, known = postgresql.new_url(), random.Random(0), 0  # noqa: S311
    with subprocess.Popen([sys.executable, writer.__file__, url], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for end in (postgresql.crash, postgresql.stop, postgresql.end_sessions, postgresql.crash):
            for _ in range(chance.randint(5, 40)):
                known = int(process.stdout.readline().split()[-1])
            end()
            if end != postgresql.end_sessions:
                postgresql.start()
            assert len(list(read_ledger(url))) >= known
        known = [int(process.stdout.readline()) for _ in range(2000)][-1]  # beyond what was in the pipe
        process.kill()
        known = max([known, *map(int, process.stdout.read().splitlines())])
    there = list(read_ledger(url))
    assert known <= len(there) <= known + 3
    assert there == events(len(there))


def test_a_server_that_stays_away_is_told(postgresql: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgresql_server, "RESTART", 0.5)
    with closing(opened(postgresql.new_url())) as ledger:
        ledger.append(event(0))
        postgresql.stop()
        try:
            with pytest.raises(
                LedgerError, match=r"the server cannot be reached: start it, .*acknowledged before is safe"
            ):
                ledger.append(event(1))
            with pytest.raises(LedgerError, match="cannot be reached"):
                open_ledger(postgresql.new_url())
        finally:
            postgresql.start()
        ledger.append(event(1))  # the one that failed may or may not be there: it is not, as nobody was
        assert list(ledger.read()) == events(2)


def test_a_broken_connection_is_noticed_by_a_reader_of_its_own_ledger(postgresql: Server) -> None:
    with closing(opened(postgresql.new_url())) as ledger:
        ledger.append(event(0))
        postgresql.end_sessions()
        ledger.append(event(1))
        assert list(ledger.read()) == events(2)


# ---- a network that loses the answer ----


class Proxy:
    """Between a ledger and its server; `deaf`: the next request goes through, its answer does not.

    Then the connection of the ledger ends, but the server is not told.
    """

    def __init__(self, port: int) -> None:
        self.target, self.deaf, self.held = port, False, list[socket.socket]()
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self) -> None:
        while True:
            try:
                client, _ = self.socket.accept()
            except OSError:
                return
            server = socket.create_connection(("127.0.0.1", self.target))
            for source, target, is_answer in ((client, server, False), (server, client, True)):
                threading.Thread(target=self.relay, args=(source, target, is_answer), daemon=True).start()

    def relay(self, source: socket.socket, target: socket.socket, is_answer: bool) -> None:
        try:
            while data := source.recv(65536):
                if is_answer and self.deaf:
                    self.deaf = False
                    self.held.append(source)
                    break
                target.sendall(data)
        except OSError:
            pass
        for end in {source, target} - set(self.held):
            with closing(end), suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def proxy(postgresql: Server) -> Iterator[Proxy]:
    made = Proxy(postgresql.port)
    yield made
    for each in (made.socket, *made.held):
        each.close()


def test_an_answer_that_was_lost_is_not_written_twice(proxy: Proxy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    url = f"postgresql://{USER}@127.0.0.1:{proxy.port}/{USER}?sslmode=disable&run=lost-answer"
    monkeypatch.setattr(postgresql_ledger, "PATIENCE", 1000.0)  # so that only the end of the old session helps
    with closing(opened(url)) as ledger:
        for number in range(0, 12, 3):
            ledger.append(event(number))
            proxy.deaf = True
            ledger.append(event(number + 1), event(number + 2))
        assert not proxy.deaf
        assert list(ledger.read()) == events(12)


def test_who_was_cut_off_does_not_write_into_what_another_took_over(postgresql: Server) -> None:
    url = postgresql.new_url()
    with closing(opened(url)) as first:
        first.append(event(0))
        postgresql.end_sessions()  # as when the server hears nothing of the first one's host
        with closing(opened(url)) as second:
            second.append(event(1))
        with pytest.raises(LedgerError, match="another coordinator has written to it"):
            first.append(event(1))
        with pytest.raises(LedgerError, match="closed"):
            first.append(event(1))
    assert list(read_ledger(url)) == events(2)


def test_who_was_cut_off_is_refused_while_another_writes(postgresql: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    url = postgresql.new_url()
    with closing(opened(url)) as first:
        first.append(event(0))
        postgresql.end_sessions()
        with closing(opened(url)) as second:
            monkeypatch.setattr(postgresql_ledger, "PATIENCE", 0.0)
            with pytest.raises(LedgerError, match="must have one writer at a time"):
                first.append(event(1))
            second.append(event(1))
    assert list(read_ledger(url)) == events(2)


def test_a_server_that_forgot_something_is_noticed(postgresql: Server) -> None:
    """As when a standby takes over that had not heard of the last commits."""
    url = postgresql.new_url()
    with closing(opened(url)) as ledger:
        ledger.append(*events(5))
        postgresql.end_sessions()
        forget(postgresql, ledger._run, 5)
        with pytest.raises(LedgerError, match="the server lost something"):
            ledger.append(event(5))


def forget(server: Server, run: int, number: int) -> None:
    server.ask("ALTER TABLE overtone.events DISABLE TRIGGER append_only")
    server.ask(f"DELETE FROM overtone.events WHERE run = {run} AND id = {number}")  # noqa: S608
    server.ask("ALTER TABLE overtone.events ENABLE TRIGGER append_only")


# ---- what is on the server ----


def test_append_waits_for_the_servers_disk_whatever_its_settings_are(postgresql: Server) -> None:
    database = postgresql.new_database()
    for mode, wanted in {"off": "on", "local": "on", "remote_apply": "remote_apply"}.items():
        postgresql.ask(f"ALTER DATABASE {database} SET synchronous_commit = {mode}")
        with closing(opened(postgresql.url(mode, dbname=database))) as ledger:
            assert ledger._connection().execute("SHOW synchronous_commit").fetchone() == (wanted,)


def test_many_runs_share_a_database_also_if_they_begin_at_once(postgresql: Server) -> None:
    database = postgresql.new_database()
    urls = [postgresql.url(f"run {i} 漢", dbname=database) for i in range(6)]
    started = [subprocess.Popen([sys.executable, writer.__file__, url], stdout=subprocess.PIPE) for url in urls]
    first = [process.stdout.readline() for process in started if process.stdout is not None]
    second = [process.stdout.readline() for process in started if process.stdout is not None]
    for process in started:
        process.send_signal(signal.SIGKILL)
        process.communicate()
    assert first == [b"open 0\n"] * 6
    assert all(second)
    lengths = [len(list(read_ledger(url))) for url in urls]
    assert min(lengths) > 0
    assert postgresql.ask("SELECT version FROM overtone.schema_version", database) == [(1,)]
    with pytest.raises(LedgerError, match=r"there is none: has the run begun\? The database has 'run \d 漢', 'run"):
        list(read_ledger(postgresql.url("none", dbname=database)))


def test_a_reader_needs_no_tables_and_makes_none(postgresql: Server) -> None:
    database = postgresql.new_database()
    with pytest.raises(LedgerError, match="The database has no run"):
        list(read_ledger(postgresql.url("a", dbname=database)))
    assert postgresql.ask("SELECT to_regnamespace('overtone')", database) == [(None,)]


def test_any_tool_reads_the_trials_and_nobody_changes_them(postgresql: Server) -> None:
    import psycopg

    url = postgresql.new_url()
    with closing(opened(url)) as ledger:
        for number in range(3):
            ledger.append({"kind": "ask", "number": number, "stage": "s", "config": {"x": number}, "point": [1]})
        ledger.append({"kind": "tell", "number": 1, "value": 0.5, "seconds": 2.0, "detail": "\0 \\\0 \ud800 \\u0000"})
        ledger.append({"kind": "tell", "number": 0, "value": None, "seconds": 1.0, "reason": "it \0 broke"})
        run = ledger._run
    trials = (
        f"SELECT number, stage, budget, value, reason, seconds, config FROM overtone.trials WHERE run = '{name(url)}'"  # noqa: S608
    )
    assert sorted(postgresql.ask(trials)) == [
        (0, "s", None, None, "it / broke", 1.0, '{"x":0}'),
        (1, "s", None, 0.5, None, 2.0, '{"x":1}'),
        (2, "s", None, None, None, None, '{"x":2}'),
    ]
    for change in ("UPDATE overtone.events SET data = '{}'", "DELETE FROM overtone.events"):
        with pytest.raises(psycopg.errors.RaiseException, match="only ever appended to"):
            postgresql.ask(f"{change} WHERE run = {run}")
    postgresql.ask(f"DELETE FROM overtone.runs WHERE id = {run}")  # noqa: S608 - as a whole it may go
    assert postgresql.ask(f"SELECT count(*) FROM overtone.events WHERE run = {run}") == [(0,)]  # noqa: S608


def name(url: str) -> str:
    return parse_address(url).run


def test_what_was_changed_or_is_missing_is_noticed(postgresql: Server) -> None:
    for damage in ("UPDATE overtone.events SET data = '{}'", "DELETE FROM overtone.events"):
        url = postgresql.new_url()
        with closing(opened(url)) as ledger:
            ledger.append(*events(5))
            run = ledger._run
        postgresql.ask("ALTER TABLE overtone.events DISABLE TRIGGER append_only")
        postgresql.ask(f"{damage} WHERE run = {run} AND id = 3")
        postgresql.ask("ALTER TABLE overtone.events ENABLE TRIGGER append_only")
        with pytest.raises(LedgerError, match=r"event 3 of the ledger .* is not what was written"):
            list(read_ledger(url))


def test_a_newer_version_or_the_schema_of_something_else_is_refused(postgresql: Server) -> None:
    newer, other = postgresql.new_database(), postgresql.new_database()
    open_ledger(postgresql.url("a", dbname=newer)).close()
    postgresql.ask("UPDATE overtone.schema_version SET version = 99", newer)
    postgresql.ask("CREATE SCHEMA overtone", other)
    for database, match in {newer: "has version 99: install the version", other: "is of something else"}.items():
        for use in (open_ledger, lambda url: list(read_ledger(url))):
            with pytest.raises(LedgerError, match=match):
                use(postgresql.url("a", dbname=database))


def test_long_ledgers_are_read_page_by_page(postgresql: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgresql_ledger, "PAGE", 10)
    with closing(opened(postgresql.new_url())) as ledger:
        for n in range(0, 30, 5):
            ledger.append(*events(n + 5)[n:])
            assert list(ledger.read()) == events(n + 5)
        reading = ledger.read()
        assert next(reading) == event(0)
        ledger.append(event(30))  # in the middle of it
        assert [event(0), *reading] == events(31)


def test_who_writes_is_known_to_others(postgresql: Server) -> None:
    url = postgresql.new_url()
    with closing(opened(url)) as ledger:
        assert presence(parse_address(url)).last is None
        ledger.append(event(0))
        found = presence(parse_address(url))
        assert socket.gethostname() in found.writer
        assert found.last is not None
    assert presence(parse_address(url)).writer == ""


# ---- who may not ----


def test_errors_say_what_to_do(postgresql: Server) -> None:
    nobody = f"postgresql://nobody@/{USER}?host={postgresql.folder}&port={postgresql.port}&run=a"
    missing = postgresql.url("a", dbname="missing")
    for url, match in {
        postgresql.url_with_password("a", "wrong"): "PGPASSWORD or ~/.pgpass",
        nobody: "does not let you in",
        missing: "no such database: make it, with `createdb`",
        "postgresql://no-such-host.invalid/d?run=a": "no such host",
        f"postgresql://127.0.0.1:1/{USER}?run=a": "cannot be reached",
    }.items():
        for use in (open_ledger, lambda url: list(read_ledger(url))):
            with pytest.raises(LedgerError, match=match) as caught:
                use(url)
            assert "wrong" not in str(caught.value)
    with pytest.raises(InputError, match="must be a URL that libpq understands"):
        open_ledger(postgresql.url("a", nonsense="1"))


def test_who_may_not_make_tables_is_told_whom_to_ask(postgresql: Server) -> None:
    database = postgresql.new_database()
    postgresql.ask("CREATE ROLE guest LOGIN")
    url = postgresql.url("a", dbname=database, user="guest")
    with pytest.raises(LedgerError, match="GRANT CREATE ON DATABASE"):
        open_ledger(url)
    open_ledger(postgresql.url("a", dbname=database)).close()
    with pytest.raises(LedgerError, match="GRANT on the schema"):
        open_ledger(url)


# ---- minimize ----


def test_minimize_goes_on_in_another_process_and_hides_the_password(postgresql: Server, tmp_path: Path) -> None:
    space = ot.Space({f"x{i}": ot.boolean() for i in range(8)})

    def value(config: dict[str, Any]) -> float:
        return float(3 * config["x3"] - 2 * config["x5"] * config["x7"])

    url = postgresql.url_with_password("minimize")
    kept: dict[str, Any] = {"n_workers": 1, "progress": False, "ledger": url}
    begun = ot.minimize(value, space, n_evaluations=40, optimizer=ot.RandomSearch, **kept)
    result = ot.minimize(value, space, n_evaluations=80, optimizer=ot.RandomSearch, **kept)
    alone = ot.minimize(value, space, n_evaluations=80, optimizer=ot.RandomSearch, n_workers=1, progress=False)
    assert [(r.trial, r.outcome.value) for r in result.trials] == [(r.trial, r.outcome.value) for r in alone.trials]
    assert len(begun.trials) == 40
    result.report(tmp_path / "report.html")
    tables = str(postgresql.ask("SELECT * FROM overtone.events")) + str(postgresql.ask("SELECT * FROM overtone.runs"))
    assert "s3cret" not in (tmp_path / "report.html").read_text() + tables + str(result)
