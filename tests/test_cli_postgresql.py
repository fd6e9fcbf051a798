"""The verbs on a ledger on a PostgreSQL server."""

import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.command_line import PYTHON, SQUARE, called, overtone, started, write
from tests.dask_cluster import wait_until
from tests.postgresql import PASSWORD, USER, Server

SECRET = "s3cret"  # noqa: S105
# A trial takes 5 seconds as long as there is a file `slow` beside the TOML file.
SLOW = SQUARE.replace(
    "import sys;", "import pathlib, sys, time; time.sleep(5 * pathlib.Path('slow').exists());"
).replace("[0, 3]", "[0, 31]")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    yield


def with_ledger(url: str, text: str = SQUARE) -> Path:
    return write(text + f'ledger = "{url}"\nevaluations = 8\n')


# ---- without a server ----


@pytest.mark.parametrize("url", [f"postgresql://me:{SECRET}@h/d", f"postgresql://me@h/d?password={SECRET}"])
def test_a_password_in_the_file_or_on_the_command_line_is_refused(url: str) -> None:
    write(SQUARE)
    said = called("run", "tune.toml", "--ledger", url, code=2)
    said += called("status", url + ("&" if "?" in url else "?") + "run=a", code=2)
    with_ledger(url)
    for verb in ("run", "check", "status", "best", "report", "export"):
        said += called(verb, "tune.toml", code=2)
    assert said.count("must have no password") == 8
    assert said.count("run.ledger: postgresql://me@h/d?run=tune must") == 6
    assert SECRET not in said


def test_a_run_on_a_server_has_the_name_of_its_file() -> None:
    with_ledger("postgresql://me@h/d")
    assert "ledger: postgresql://me@h/d?run=tune" in called("check", "tune.toml", "--no-trial")
    with_ledger("postgresql://me@h/d?run=other")
    assert "ledger: postgresql://me@h/d?run=other" in called("check", "tune.toml", "--no-trial")
    assert "with a name for the run" in called("status", "postgresql://me@h/d", code=2)


def test_another_file_than_the_one_that_is_named(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    write(SQUARE + "evaluations = 3\n")
    assert "overtone report elsewhere/run.db" in overtone(
        "run", "tune.toml", "--ledger", "elsewhere/run.db"
    ).stdout.replace(f"{tmp_path}/", "")
    assert not (tmp_path / "tune.db").exists()
    assert "3 done" in called("status", "elsewhere/run.db")


# ---- with one ----


@pytest.mark.heavy
def test_every_verb_works_on_it(postgresql: Server, tmp_path: Path) -> None:
    url = postgresql.new_url()
    with_ledger(url)
    assert "begun" in called("status", "tune.toml", code=1)
    assert "8 trials, 0 failed" in called("run", "tune.toml", "--quiet")
    for place in ("tune.toml", url):
        assert f"ledger: {url}" in called("status", place)
        assert "8 done" in called("status", place)
        assert json.loads(called("best", place, "--json"))["value"] >= 0
        assert "to run it:" in called("best", place)
        assert len(called("export", place).splitlines()) == 9
        assert "Overtone" in called("report", place, "--text") or called("report", place, "--text")
        page = called("report", place).strip()
        assert Path(page).exists()
        assert SECRET not in Path(page).read_text()
    assert "<html" in (tmp_path / f"{url.rpartition('=')[2]}.html").read_text()
    assert not list(tmp_path.glob("*.db"))


@pytest.mark.heavy
def test_a_run_is_seen_while_it_goes_refuses_another_and_moves(postgresql: Server, tmp_path: Path) -> None:
    url, alone = postgresql.new_url(), postgresql.new_url()
    write(SLOW + "evaluations = 60\n")
    called("run", "tune.toml", "--quiet", "--ledger", alone)
    Path("slow").touch()
    process = started("run", "tune.toml", "--quiet", "--ledger", url)
    name = f"process {process.pid} on {socket.gethostname()}"
    wait_until("the first trial", lambda: _has_trials(url))
    assert f"state: going, {name}, last written" in called("status", url)
    refused = overtone("run", "tune.toml", "--ledger", url, code=1).stderr
    assert f"in use by {name}: wait for that run, stop it, or use another ledger" in refused
    process.kill()
    process.communicate()
    assert "state: stopped in the middle (run it again to go on), last written" in called("status", url)
    there = tmp_path / "other host"
    there.mkdir()
    (tmp_path / "tune.toml").rename(there / "tune.toml")
    called("run", str(there / "tune.toml"), "--quiet", "--ledger", url)
    assert trials(url) == trials(alone)


def _has_trials(url: str) -> bool:
    done = subprocess.run([sys.executable, "-m", "overtone", "status", url], capture_output=True, text=True)
    return done.returncode == 0 and " 0 done" not in done.stdout


def trials(url: str) -> list[dict[str, object]]:
    rows = json.loads(called("export", url, "--format", "json"))
    return [{key: value for key, value in row.items() if key != "seconds"} for row in rows]


@pytest.mark.heavy
def test_a_password_is_nowhere_to_be_seen(postgresql: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url = f"postgresql://{USER}@127.0.0.1:{postgresql.port}/{USER}?run=hidden"
    write(SLOW + "evaluations = 10\n")
    words = ["-m", "overtone", "run", "tune.toml", "--ledger", url]
    monkeypatch.setenv("PGPASSWORD", "wrong")
    assert "PGPASSWORD or ~/.pgpass" in overtone(*words[2:], code=1).stderr
    file = tmp_path / "pgpass"
    file.write_text(f"127.0.0.1:*:*:{USER}:{PASSWORD.replace(':', chr(92) + ':')}\n")
    file.chmod(0o600)
    monkeypatch.delenv("PGPASSWORD")
    monkeypatch.setenv("PGPASSFILE", str(file))
    process = subprocess.Popen([PYTHON, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    seen = ""
    while process.poll() is None:
        family = [psutil.Process(process.pid), *psutil.Process(process.pid).children(recursive=True)]
        for each in family:
            try:
                seen += " ".join(each.cmdline())
            except psutil.Error:
                continue
    output, errors = process.communicate()
    assert process.returncode == 0, errors
    called("report", url, "-o", "page.html")
    tables = [str(postgresql.ask(f"SELECT * FROM overtone.{table}")) for table in ("runs", "events", "trials")]  # noqa: S608
    shown = "".join([output, errors, seen, *tables, Path("page.html").read_text(), called("export", url)])
    assert "overtone" in seen
    assert SECRET not in shown + postgresql.log()
