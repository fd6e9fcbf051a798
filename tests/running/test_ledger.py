"""Ledgers: the contract that every kind keeps, then what only a file can suffer: crashes, damage, locks, full disks."""

import errno
import json
import os
import random
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overtone.errors import LedgerError
from overtone.running.journal import read_history
from overtone.running.ledger import Ledger, MemoryLedger, SqliteLedger, open_ledger, read_ledger
from overtone.running.salvage import salvage
from overtone.running.sqlite_file import APPLICATION, VERSION, explained
from tests.running.ledgers import writer
from tests.running.ledgers.writer import event, events

Opener = Callable[[], Ledger]
LASTING = ["sqlite", pytest.param("postgresql", marks=pytest.mark.heavy)]  # a new kind is added here and below
NUMBERS = count()
FIXTURES = Path(__file__).parent / "ledgers"
PAGE, FRAME = 4096, 24 + 4096  # bytes of a page, and of one in the WAL


def new_place(request: pytest.FixtureRequest, folder: Path) -> str:
    """Where a ledger of the wanted kind can be that nobody has used."""
    if request.param == "postgresql":
        return str(request.getfixturevalue("postgresql").new_url())
    return str(folder / f"run{next(NUMBERS)}.db")


@pytest.fixture(params=["memory", *LASTING])
def ledger(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Ledger]:
    with closing(MemoryLedger() if request.param == "memory" else open_ledger(new_place(request, tmp_path))) as made:
        yield made


@pytest.fixture(params=LASTING)
def places(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """New ones, without end."""
    return iter(lambda: new_place(request, tmp_path), "")


@pytest.fixture
def opener(places: Iterator[str]) -> Opener:
    place = next(places)
    return lambda: open_ledger(place)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who is refused is refused at once."""
    monkeypatch.setattr("overtone.running.postgresql_ledger.PATIENCE", 0.0)


# ---- the contract ----


def test_a_new_ledger_is_empty(ledger: Ledger) -> None:
    assert list(ledger.read()) == []


def test_events_are_read_as_they_were_appended(ledger: Ledger) -> None:
    ledger.append(event(0), event(1))
    ledger.append()
    for number in range(2, 30):
        ledger.append(event(number))
    assert list(ledger.read()) == events(30)
    assert list(ledger.read()) == events(30)


def test_what_is_changed_after_it_was_appended_stays_as_it_was(ledger: Ledger) -> None:
    mine = {"kind": "ask", "config": {"x": 1}}
    ledger.append(mine)
    mine["config"]["x"] = 2  # type: ignore[index]
    assert list(ledger.read()) == [{"kind": "ask", "config": {"x": 1}}]


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), {1, 2}, object()])
def test_an_append_is_all_or_nothing(ledger: Ledger, bad: Any) -> None:
    ledger.append(event(0))
    with pytest.raises(LedgerError, match="must be plain data"):
        ledger.append(event(1), {"kind": "tell", "value": bad}, event(2))
    ledger.append(event(1))
    assert list(ledger.read()) == events(2)


TEXTS = [
    "",
    "\0",
    "a\0b",
    "\ud800",
    "\udfff\ud800 half a pair, twice",
    "ünï 漢字 😀",
    "\u2028\x7f\x1b[31m",
    "'; DROP TABLE events; --",
    '"\\\n\r\t',
]


@pytest.mark.parametrize("text", TEXTS)
def test_any_text_comes_back(ledger: Ledger, text: str) -> None:
    odd = {"kind": "tell", "detail": text, text: [text, None, True, -0.5, 10**30, 1e-300, 5e300]}
    ledger.append(odd)
    assert list(ledger.read()) == [odd]


JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@pytest.fixture(scope="module", params=["memory", *LASTING])
def one_ledger(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ledger]:
    place = "" if request.param == "memory" else new_place(request, tmp_path_factory.mktemp("one"))
    with closing(open_ledger(place) if place else MemoryLedger()) as made:
        yield made


@settings(max_examples=40)
@given(data=JSON)
def test_any_plain_data_comes_back(one_ledger: Ledger, data: Any) -> None:
    one_ledger.append({"kind": "tell", "data": data})
    (*_, last) = one_ledger.read()
    assert json.dumps(last) == json.dumps({"kind": "tell", "data": data})  # as JSON, where 1 is neither true nor 1.0


def test_a_ledger_goes_on_where_it_ended(opener: Opener) -> None:
    for number in range(0, 9, 3):
        with closing(opener()) as ledger:
            assert list(ledger.read()) == events(number)
            ledger.append(*events(number + 3)[number:])
    with closing(opener()) as ledger:
        assert list(ledger.read()) == events(9)


@pytest.mark.usefixtures("impatient")
def test_a_second_writer_is_refused_by_name_until_the_first_is_closed(opener: Opener) -> None:
    with closing(opener()) as ledger:
        ledger.append(event(0))
        for _ in range(2):  # to refuse must not weaken the lock
            with pytest.raises(LedgerError, match=rf"one writer .* process {os.getpid()} on {socket.gethostname()}"):
                opener()
        ledger.append(event(1))
    with closing(opener()) as ledger:
        assert list(ledger.read()) == events(2)


def test_nothing_is_appended_after_close(opener: Opener) -> None:
    ledger = opener()
    ledger.close()
    ledger.close()
    with pytest.raises(LedgerError, match="closed"):
        ledger.append(event(0))


# ---- other processes ----

Start = Callable[[str], "subprocess.Popen[bytes]"]


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts a process that appends without end."""
    started: list[subprocess.Popen[bytes]] = []

    def run(place: str) -> "subprocess.Popen[bytes]":
        started.append(subprocess.Popen([sys.executable, writer.__file__, place], stdout=subprocess.PIPE))
        return started[-1]

    yield run
    for process in started:
        if process.returncode is None:
            killed(process)


def said(process: "subprocess.Popen[bytes]", lines: int) -> list[str]:
    assert process.stdout is not None
    return [process.stdout.readline().decode() for _ in range(lines)]


def killed(process: "subprocess.Popen[bytes]") -> list[str]:
    """What it still said."""
    process.send_signal(signal.SIGKILL)
    return process.communicate()[0].decode().splitlines()


def events_so_far(place: str) -> list[dict[str, Any]]:
    """None, if the writer was killed before it could make a ledger."""
    try:
        return list(read_ledger(place))
    except LedgerError as error:
        assert "has the run begun?" in str(error)
        return []


def test_what_was_acknowledged_survives_a_kill(start: Start, places: Iterator[str]) -> None:
    """32 kills at random moments, of making and opening a ledger, too; each goes on where the one before ended."""
    chance = random.Random(0)  # noqa: S311
    place, known, counts = "", 0, list[int]()
    for kill in range(32):
        if kill % 8 == 0:
            place, known = next(places), 0
        process = start(place)
        lines = said(process, chance.choice([0, 0, 1, 2, 9]))
        time.sleep(chance.uniform(0, 0.08))
        lines += killed(process)
        counts.append(len(lines))
        known = max([known, *(int(line.split()[-1]) for line in lines)])
        there = events_so_far(place)
        assert known <= len(there) <= known + 3, "acknowledged events are lost, or others came of nothing"
        assert there == events(len(there))
        known = len(there)
    assert len(set(counts)) > 3, "all were killed at the same point"


def test_a_writer_elsewhere_is_named_and_readers_may_read_meanwhile(
    start: Start, places: Iterator[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    place = next(places)
    process = start(place)
    said(process, 3)
    refusal = rf"in use by process {process.pid} on {socket.gethostname()}: wait"
    with monkeypatch.context() as patched, pytest.raises(LedgerError, match=refusal):
        patched.setattr("overtone.running.postgresql_ledger.PATIENCE", 0.0)
        open_ledger(place)
    lengths = [len(list(read_ledger(place))) for _ in range(5)]
    assert lengths[0] >= 3
    assert lengths == sorted(lengths)
    killed(process)
    with closing(open_ledger(place)) as ledger:  # the lock ended with its process
        assert list(ledger.read())[: lengths[-1]] == events(lengths[-1])


def test_a_lock_is_not_handed_on_to_forked_children_who_may_outlive_the_writer(places: Iterator[str]) -> None:
    script = """if True:
        import os, sys, time
        from overtone.running.ledger import open_ledger
        ledger = open_ledger(sys.argv[1])
        child = os.fork()
        if child:
            print(child, flush=True)
            os.kill(os.getpid(), 9)
        time.sleep(60)
    """
    place = next(places)
    with subprocess.Popen([sys.executable, "-c", script, place], stdout=subprocess.PIPE) as process:
        child = int(said(process, 1)[0])
        try:
            process.wait()
            open_ledger(place).close()
        finally:
            os.kill(child, signal.SIGKILL)


def test_an_interrupt_at_any_moment_leaves_a_ledger_that_can_be_appended_to(opener: Opener) -> None:
    class Interrupt(BaseException):
        """What Ctrl-C does, at a moment of ours."""

    def interrupt(*_: object) -> None:
        raise Interrupt

    before, chance, n = signal.signal(signal.SIGALRM, interrupt), random.Random(0), 0  # noqa: S311
    try:
        with closing(opener()) as ledger:
            for _ in range(60):
                with pytest.raises(Interrupt):
                    signal.setitimer(signal.ITIMER_REAL, chance.uniform(1e-4, 5e-3))
                    while True:
                        ledger.append(event(n))
                        n += 1
                there = list(ledger.read())
                assert n <= len(there) <= n + 1
                n = len(there)
            assert there == events(n)
    finally:
        signal.signal(signal.SIGALRM, before)


# ---- one file ----


def test_append_waits_for_the_disk(tmp_path: Path) -> None:
    """A power failure cannot be had in a test; these are the two settings with which SQLite survives one."""
    with SqliteLedger(tmp_path / "run.db") as ledger:
        asked = [ledger._db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("journal_mode", "synchronous")]
    assert asked == ["wal", 3]


def test_a_closed_ledger_is_one_file_and_reading_leaves_nothing_behind(tmp_path: Path) -> None:
    path = write(tmp_path / "run.db", 20)
    assert list(read_ledger(path)) == events(20)
    with SqliteLedger(path):
        assert list(read_ledger(path)) == events(20)  # beside a writer, in one process
    assert list(tmp_path.iterdir()) == [tmp_path / "run.db"]


def test_any_tool_of_sqlite_reads_trials_and_stages(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    with SqliteLedger(path) as ledger:
        for number in range(3):
            ledger.append({"kind": "ask", "number": number, "stage": "s", "config": {"x": number}, "point": [1]})
        ledger.append({"kind": "tell", "number": 1, "value": 0.5, "seconds": 2.0})
        ledger.append({"kind": "tell", "number": 0, "value": None, "seconds": 1.0, "reason": "it broke"})
        ledger.append({"kind": "stage", "number": 1, "n_samples": 50, "verdict": "ok", "fixed": ["x = 1"]})
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("SELECT * FROM trials").fetchall() == [
            (0, "s", None, None, "it broke", 1.0, '{"x":0}'),
            (1, "s", None, 0.5, None, 2.0, '{"x":1}'),
            (2, "s", None, None, None, None, '{"x":2}'),
        ]
        stages = db.execute("SELECT number, n_samples, verdict, fixed FROM stages").fetchall()
        assert stages == [(1, 50, "ok", '["x = 1"]')]
        for change in ("UPDATE events SET data = '{}'", "DELETE FROM events"):
            with pytest.raises(sqlite3.IntegrityError, match="only ever appended to"):
                db.execute(change)


def test_odd_names_of_files(tmp_path: Path) -> None:
    for name in ("a b.db", "50%.db", "q?mode=ro#x", "-x", "ü.db", os.fsdecode(b"\xff.db")):
        path = write(tmp_path / name, 3)
        assert list(read_ledger(path)) == events(3)


def test_a_link_leads_to_the_same_ledger_and_lock(tmp_path: Path) -> None:
    (tmp_path / "link.db").symlink_to(tmp_path / "run.db")
    with SqliteLedger(tmp_path / "link.db") as ledger:
        ledger.append(event(0))
        with pytest.raises(LedgerError, match="in use by this very one"):
            SqliteLedger(tmp_path / "run.db")
    assert list(read_ledger(tmp_path / "run.db")) == events(1)


# ---- damage ----


def write(path: Path, n: int) -> Path:
    with SqliteLedger(path) as ledger:
        for number in range(n):
            ledger.append(event(number))
    return path


def crashed(folder: Path, n: int, in_wal: int) -> tuple[Path, list[int]]:
    """A ledger as a writer leaves it that is killed, and the length of its WAL after each event in it."""
    source, path = write(folder / "source.db", n - in_wal), folder / "run.db"
    sizes = []
    with SqliteLedger(source) as ledger:
        for number in range(n - in_wal, n):
            ledger.append(event(number))
            sizes.append(Path(f"{source}-wal").stat().st_size)
        for side in ("", "-wal"):
            shutil.copyfile(f"{source}{side}", f"{path}{side}")
    return path, sizes


def gone_on(path: Path, n: int) -> None:
    """A run goes on after the first n events, which is all that there is."""
    with SqliteLedger(path) as ledger:
        assert list(ledger.read()) == events(n)
        ledger.append(event(n))
    assert list(read_ledger(path)) == events(n + 1)
    remove(path)


def remove(path: Path) -> None:
    for file in path.parent.glob(f"{path.name}*"):
        file.unlink()


EVERY = pytest.mark.parametrize("step", [101, pytest.param(1, marks=pytest.mark.heavy)])  # heavy: every byte


@EVERY
def test_a_wal_cut_anywhere_costs_only_what_was_cut(tmp_path: Path, step: int) -> None:
    path, sizes = crashed(tmp_path, 43, 7)
    main, wal = path.read_bytes(), Path(f"{path}-wal").read_bytes()
    assert len(wal) == sizes[-1]
    near = {edge + by for edge in range(32, len(wal) + 1, FRAME) for by in (-1, 0, 1, 8, 23, 24, 25)}
    cuts = sorted({*range(sizes[-4], len(wal), step), *near, *range(33), len(wal)} & set(range(len(wal) + 1)))
    for cut in cuts:
        remove(path)
        path.write_bytes(main)
        Path(f"{path}-wal").write_bytes(wal[:cut])
        left = 36 + sum(size <= cut for size in sizes)
        assert list(read_ledger(path)) == events(left)
        if cut in some(cuts):
            gone_on(path, left)


def some(cuts: list[int]) -> list[int]:
    """About 40 of them, for what takes its time."""
    return cuts[:: 1 + len(cuts) // 40]


def test_a_missing_wal_costs_what_was_in_it(tmp_path: Path) -> None:
    path, _ = crashed(tmp_path, 45, 9)
    Path(f"{path}-wal").unlink()
    gone_on(path, 36)


@EVERY
def test_a_main_file_cut_anywhere_costs_what_was_cut(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, step: int
) -> None:
    path = write(tmp_path / "run.db", 45)
    whole = path.read_bytes()
    last = 45
    cuts = [*range(len(whole) - 1, len(whole) - 3 * PAGE, -step), 8192, 4097, 4095, 511, 99, 15, 1]
    for cut in cuts:
        path.write_bytes(whole[:cut])
        there = list(read_ledger(path))
        assert there == events(len(there))
        assert len(there) <= last, "a longer file must not give less"
        assert cut < 5 * PAGE or len(there) > 20
        last = len(there)
        if cut in some(cuts) or cut < PAGE:
            caplog.clear()
            gone_on_from_damage(path, whole[:cut], last)
            assert f"goes on from its first {last} events; the damaged file is {path}.damaged-1" in caplog.text
    path.write_bytes(b"")
    gone_on(path, 0)


def gone_on_from_damage(path: Path, damaged: bytes, n: int) -> None:
    with SqliteLedger(path) as ledger:
        assert list(ledger.read()) == events(n)
        ledger.append(event(n))
    assert list(read_ledger(path)) == events(n + 1)
    assert Path(f"{path}.damaged-1").read_bytes() == damaged
    assert len(list(path.parent.glob(f"{path.name}*"))) == 2
    remove(path)


def test_a_damaged_main_file_keeps_what_is_in_its_wal(tmp_path: Path) -> None:
    path, _ = crashed(tmp_path, 45, 44)
    for cut in (0, 100, PAGE + 1):
        damaged = path.read_bytes()[:cut]
        path.write_bytes(damaged)
        there = list(read_ledger(path))
        assert there == events(45)
    with SqliteLedger(path) as ledger:
        assert list(ledger.read()) == events(45)
    assert Path(f"{path}.damaged-1-wal").exists()


def test_garbage_in_the_last_page(tmp_path: Path) -> None:
    path = write(tmp_path / "run.db", 45)
    damaged = path.read_bytes()[:-PAGE] + random.Random(0).randbytes(PAGE)  # noqa: S311
    path.write_bytes(damaged)
    n = len(list(read_ledger(path)))
    assert n > 20
    gone_on_from_damage(path, damaged, n)


def test_a_flipped_byte_is_noticed_wherever_it_is(tmp_path: Path) -> None:
    """What is read is what was written, up to some event; a header that is no longer ours is refused, and kept."""
    path, chance = write(tmp_path / "run.db", 30), random.Random(0)  # noqa: S311
    whole = path.read_bytes()
    for place in [*range(0, 100, 7), *chance.sample(range(len(whole)), 80)]:
        remove(path)
        damaged = bytearray(whole)
        damaged[place] ^= chance.choice([1, 0x80, 0xFF])
        path.write_bytes(damaged)
        try:
            with SqliteLedger(path) as ledger:
                there = list(ledger.read())
                assert there == events(len(there))
                assert list(read_ledger(path)) == there
                ledger.append(event(len(there)))
        except LedgerError:
            assert place < 100, "only the header says whether it is a ledger"
            assert path.read_bytes() == damaged


def test_a_broken_tree_costs_nothing(tmp_path: Path) -> None:
    """One page cannot point to all of these events; all that points is overwritten."""
    path, many = tmp_path / "run.db", [{"kind": "tell", "detail": f"{number:300}"} for number in range(9_000)]
    with SqliteLedger(path) as ledger:
        ledger.append(*many)
    whole = bytearray(path.read_bytes())
    inner = [at for at in range(PAGE, len(whole), PAGE) if whole[at] == 5]
    assert len(inner) > 2
    for at in inner:
        whole[at : at + PAGE] = bytes(PAGE)
    path.write_bytes(whole)
    with SqliteLedger(path) as ledger:
        assert list(ledger.read()) == many


def test_a_repair_that_was_interrupted_is_finished(tmp_path: Path) -> None:
    """Killed between its last two steps: the damaged file is aside already, and nothing stands in its place."""
    write(tmp_path / "run.db.salvaged", 7)
    Path(tmp_path / "run.db-wal").write_bytes(b"of the damaged file")
    gone_on(tmp_path / "run.db", 7)


def test_a_repair_starts_over_what_an_earlier_one_left(tmp_path: Path) -> None:
    path = write(tmp_path / "run.db", 20)
    path.write_bytes(path.read_bytes()[:-1])
    write(tmp_path / "run.db.new", 5)
    n = len(list(read_ledger(path)))
    gone_on_from_damage(path, path.read_bytes(), n)


@pytest.fixture(scope="module")
def crashed_ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return crashed(tmp_path_factory.mktemp("crashed"), 8, 4)[0]


@settings(max_examples=60)
@given(st.binary(max_size=300), st.integers(0, 3 * PAGE), st.binary(max_size=300))
def test_salvage_survives_any_bytes(crashed_ledger: Path, noise: bytes, at: int, more_noise: bytes) -> None:
    path = crashed_ledger.with_name("noisy.db")
    for side, overwrite in (("", noise), ("-wal", more_noise)):
        whole = bytearray(Path(f"{crashed_ledger}{side}").read_bytes())
        whole[at : at + len(overwrite)] = overwrite
        Path(f"{path}{side}").write_bytes(whole)
    rows = salvage(path)
    assert [row.event for row in rows] == events(len(rows))


# ---- what is no ledger ----


def refused(path: Path, match: str) -> None:
    """Neither written nor read, and left as it was."""
    before = path.read_bytes() if path.is_file() else None
    for use in (SqliteLedger, lambda place: list(read_ledger(place))):
        with pytest.raises(LedgerError, match=match):
            use(path)
    assert before is None or path.read_bytes() == before


@pytest.mark.parametrize("text", [b"x", b"lr = 0.1\n" * 1000, b"SQLite format 4\0" + bytes(5000), bytes(8192)])
def test_a_file_that_is_no_database_is_refused_and_kept(tmp_path: Path, text: bytes) -> None:
    (tmp_path / "tune.toml").write_bytes(text)
    refused(tmp_path / "tune.toml", "is no SQLite database: use another file")


def test_the_database_of_something_else_is_refused_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as db:
        db.executescript("CREATE TABLE events (id); INSERT INTO events VALUES (1)")
    refused(path, "is an SQLite database of something else")
    path.write_bytes(path.read_bytes()[:-100])
    refused(path, "is an SQLite database of something else")


def test_a_database_without_tables_becomes_a_ledger(tmp_path: Path) -> None:
    """What is left if a writer is killed while it makes the file."""
    with closing(sqlite3.connect(tmp_path / "run.db")) as db:
        db.execute("PRAGMA journal_mode = WAL")
    assert list(read_ledger(tmp_path / "run.db")) == []
    gone_on(tmp_path / "run.db", 0)


def test_a_newer_version_is_refused_with_the_remedy(tmp_path: Path) -> None:
    path = write(tmp_path / "run.db", 3)
    with closing(sqlite3.connect(path)) as db:
        db.execute(f"PRAGMA user_version = {VERSION + 1}")
    refused(path, f"up to version {VERSION}, but .* has version {VERSION + 1}: install the version of Overtone that")


def test_places_where_no_file_can_be(tmp_path: Path) -> None:
    file = write(tmp_path / "run.db", 1)
    refused(tmp_path, "must be a file")
    refused(Path("/dev/null"), "must be a file")
    refused(tmp_path / "no" / "run.db", "folder must exist, but there is none at .*no: make it first")
    refused(file / "run.db", "folder must exist")
    with pytest.raises(LedgerError, match="too long"):
        SqliteLedger(tmp_path / ("x" * 300))
    with pytest.raises(LedgerError, match="there is no file: has the run begun"):
        read_ledger(tmp_path / "none.db")
    assert list(tmp_path.iterdir()) == [tmp_path / "run.db"]


def test_a_folder_of_the_system_is_refused_with_what_to_do() -> None:
    with pytest.raises(LedgerError, match=r"/proc/run.db failed: .*"):
        SqliteLedger("/proc/run.db")


# ---- disks ----

FULL = """if True:
    import resource, signal, sys
    from overtone.errors import LedgerError
    from overtone.running.ledger import SqliteLedger, read_ledger
    from tests.running.ledgers.writer import event, events
    path, limit = sys.argv[1], int(sys.argv[2])
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    ledger = SqliteLedger(path)
    if limit:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    n = 0
    try:
        while True:
            ledger.append(event(n))
            n += 1
    except LedgerError as error:
        print(error)
    assert list(ledger.read()) == events(n)  # while it is open
    if limit:
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        ledger.append(event(n))  # there is room again
        n += 1
    ledger.close()
    assert list(read_ledger(path)) == events(n)
    print(n, "events")
"""


def run(*command: str | Path) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=100)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_limit_on_files_is_told_and_costs_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    said = run(sys.executable, "-c", FULL, tmp_path / "run.db", "200000")
    assert "the disk fails, or a limit on the size of files is reached" in said
    assert int(said.split()[-2]) > 20


in_namespace = pytest.mark.skipif(
    subprocess.run(["unshare", "-rm", "true"], check=False, capture_output=True).returncode != 0
    if shutil.which("unshare")
    else True,
    reason="disks can be made for tests only where user namespaces are allowed",
)


def on_small_disk(folder: Path, then: str, *arguments: str | Path) -> str:
    """Run a shell script in a folder that is a disk of its own, of 200 kB, which ends with the script."""
    script = f'mount -t tmpfs -o size=200k tmpfs "$1" && cd "$1" && {then}'
    return run("unshare", "-rm", "sh", "-c", script, "sh", folder, *arguments)


@in_namespace
def test_a_full_disk_is_told_and_costs_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    command = f'PYTHONPATH="{Path.cwd()}" "$2" -c "$3" run.db 0'
    said = on_small_disk(tmp_path, command, sys.executable, FULL)
    assert "the disk is full: free some space, and run again" in said
    assert int(said.split()[-2]) > 20


READ_ONLY = """if True:
    from overtone.errors import LedgerError
    from overtone.running.ledger import SqliteLedger, read_ledger
    from tests.running.ledgers.writer import events
    for path, n in (("source.db", 6), ("run.db", 10)):
        assert list(read_ledger(path)) == events(n), path
        try:
            SqliteLedger(path)
        except LedgerError as error:
            print(error)
"""


@in_namespace
def test_a_read_only_disk_can_be_read_also_after_a_crash_but_not_written(tmp_path: Path) -> None:
    crashed(tmp_path, 10, 4)
    write(tmp_path / "closed.db", 6).replace(tmp_path / "source.db")
    (tmp_path / "disk").mkdir()
    command = f'cp ../*.db* . && mount -o remount,ro . && PYTHONPATH="{Path.cwd()}" "$2" -c "$3"'
    said = on_small_disk(tmp_path / "disk", command, sys.executable, READ_ONLY)
    assert said.count("failed: cannot be opened or written there: see that the file and its folder are yours") == 2


@pytest.mark.parametrize(
    ("error", "match"),
    [
        (OSError(errno.ENOSPC, "No space left"), "the disk is full: free"),
        (PermissionError(errno.EACCES, "Permission denied"), "yours to write"),
        (sqlite3.OperationalError("something new"), "something new. What was written before is safe"),
    ],
)
def test_errors_of_the_system_say_what_to_do(error: Exception, match: str) -> None:
    with pytest.raises(LedgerError, match=match), explained(Path("run.db")):
        raise error


def test_another_program_that_keeps_writing_is_waited_for_and_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("overtone.running.sqlite_file.PATIENCE", 0.1)
    with SqliteLedger(tmp_path / "run.db") as ledger, closing(sqlite3.connect(ledger.path)) as other:
        ledger.append(event(0))
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(LedgerError, match="another program writes to it and does not end"):
            ledger.append(event(1))
        other.rollback()
        ledger.append(event(1))
        assert list(ledger.read()) == events(2)


# ---- every version stays readable ----


@pytest.mark.parametrize("name", ["v1", "v1-killed"])
def test_ledgers_of_every_version_stay_readable(tmp_path: Path, name: str) -> None:
    for file in FIXTURES.glob(f"{name}.db*"):
        shutil.copy(file, tmp_path)
    known = [json.loads(line) for line in (FIXTURES / f"{name}.jsonl").read_text().splitlines()]
    path = tmp_path / f"{name}.db"
    assert list(read_ledger(path)) == known
    history = read_history(read_ledger(path))
    assert len(history.records) == sum(each["kind"] == "tell" for each in known)
    with SqliteLedger(path) as ledger:
        ledger.append({"kind": "end", "reason": "read by a later version"})
        assert list(ledger.read())[:-1] == known


def test_the_marks_in_the_header_stay() -> None:
    """Otherwise the ledgers of others would no longer be known as such."""
    assert (FIXTURES / "v1.db").read_bytes()[68:72] == APPLICATION.to_bytes(4) == b"Ovtn"
