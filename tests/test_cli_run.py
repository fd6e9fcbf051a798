"""`overtone run` with real processes: limits, hostile commands, interruptions."""

import json
import os
import re
import signal
import subprocess
import time
import urllib.request
from pathlib import Path

import pytest

from tests.command_line import SQUARE, best, called, overtone, started, write


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_the_goal_and_the_target() -> None:
    write(SQUARE + "evaluations = 100\n")
    called("run", "tune.toml")
    assert best()["config"] == {"a": 2, "b": 0}
    write(SQUARE.replace("[objective]", "[objective]\ngoal = 'maximize'") + "ledger = 'max.db'")
    called("run", "tune.toml")
    assert best()["value"] == 5.0
    write(SQUARE + "ledger = 'target.db'\ntarget = 1")
    assert "target reached" in called("run", "tune.toml")


def test_a_default_comes_first() -> None:
    write(SQUARE.replace("[objective]", "default = { a = 3, b = 1 }\n[objective]") + "evaluations = 3\n")
    assert "1 evaluations: default" in called("check", "tune.toml", "--no-trial")
    called("run", "tune.toml")
    rows = json.loads(called("export", "tune.toml", "-f", "json"))
    assert (rows[0]["stage"], rows[0]["config.a"], rows[0]["config.b"]) == ("default", 3, 1)
    assert len(rows) == 3


def test_a_run_may_be_made_longer_but_not_changed() -> None:
    write(SQUARE + "evaluations = 2\n")
    called("run", "tune.toml")
    write(SQUARE + "evaluations = 4\n")
    assert "4 trials" in called("run", "tune.toml")
    write(SQUARE.replace("[0, 3]", "[0, 2]") + "evaluations = 4\n")
    assert "space.a.levels: was [0, 1, 2, 3], is [0, 1, 2]" in called("run", "tune.toml", code=2)
    write(SQUARE.replace("+ b)", "- b)") + "evaluations = 4\n")
    assert "objective.arguments: was" in called("run", "tune.toml", code=2)


def test_repeats_env_and_a_budget() -> None:
    program = "import os, sys, time; print(float(os.environ['A']) * int(sys.argv[1]))"
    text = SQUARE.replace('"{a}", "{b}"]', '"{budget}", "{b}"]\nenv = { A = "{a}" }\nrepeats = 2')
    text = re.sub('"import.*?",', lambda _: f'"{program}",', text)
    write(text.replace("random_search", "hyperband") + "\n[hyperband]\nmax_budget = 3\n")
    called("run", "tune.toml")
    rows = json.loads(called("export", "tune.toml", "--format", "json"))
    assert {row["budget"] for row in rows} == {1.0, 3.0}
    assert all(row["value"] == row["config.a"] * row["budget"] for row in rows)


HOSTILE = """
optimizer = "random_search"
[objective]
command = ["PYTHON", "-c", '''
import os, sys, time
kind = sys.argv[1]
if kind == "hang":
    import subprocess
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)", "MARK"]).wait()
if kind == "crash": os.kill(os.getpid(), 11)
if kind == "exit": print("[red]why[/red] \\u001b[31m", file=sys.stderr); sys.exit(3)
if kind == "eat": x = bytearray(3 * 10**9)
if kind == "flood":
    for i in range(1200): print("y" * 9999)
print(1)
''', "{kind}", "MARK"]
timeout = 15
memory = "1500MB"
[space]
kind = { choice = ["hang", "crash", "exit", "eat", "flood", "fine"] }
[run]
workers = 2
retries = 0
"""


def test_commands_that_hang_crash_eat_and_flood() -> None:
    mark = f"mark-of-{os.getpid()}-{time.monotonic_ns()}"
    write(HOSTILE.replace("MARK", mark))
    overtone("run", "tune.toml")
    rows = {row["config.kind"]: row for row in json.loads(called("export", "tune.toml", "--format", "json"))}
    assert {kind: row["value"] for kind, row in rows.items()} == {
        **dict.fromkeys(["hang", "crash", "exit", "eat"]),
        **dict.fromkeys(["flood", "fine"], 1.0),
    }
    assert "15" in rows["hang"]["reason"]  # seconds
    assert "SIGSEGV" in rows["crash"]["reason"]
    assert rows["exit"]["reason"] == "the command ended with exit code 3"
    kept = {
        json.loads((folder / "config.json").read_text())["kind"]: folder for folder in Path("tune.db.trials").iterdir()
    }
    assert {"hang", "crash", "exit"} <= set(kept) <= {"hang", "crash", "exit", "eat"}
    assert "[red]why[/red]" in (kept["exit"] / "errors.txt").read_text()
    assert "4 of them failed" in called("status", "tune.toml")
    assert running(mark) == []


def running(mark: str) -> list[str]:
    shown = subprocess.run(["ps", "-eo", "args"], check=True, capture_output=True, text=True).stdout
    return [line for line in shown.splitlines() if mark in line]


def test_a_run_in_which_everything_fails_says_why() -> None:
    write(SQUARE.replace("print(", "raise SystemExit(1 + ") + "retries = 0\n")
    failed = overtone("run", "tune.toml", code=1)
    assert "exit code" in failed.stderr
    assert "no trial has succeeded" in called("best", "tune.toml", code=1)
    assert "exit code" in called("check", "tune.toml", code=1)
    write(SQUARE.replace("PYTHON", "no-such-program"), "none.toml")
    assert "cannot be started" in called("run", "none.toml", code=1)


def test_a_run_that_was_killed_says_so_and_goes_on() -> None:
    write(SQUARE.replace("import sys;", "import sys, time, pathlib; time.sleep(pathlib.Path('slow').exists() * 600);"))
    write(Path("tune.toml").read_text().replace("workers = 1", "workers = 2"))
    Path("slow").touch()
    process = started("run", "tune.toml")
    deadline = time.monotonic() + 120
    while not list(Path().glob("tune.db.trials/*/output.txt")) and time.monotonic() < deadline:
        time.sleep(0.05)
    process.kill()
    process.communicate(timeout=60)
    assert "state: killed (run it again to go on)" in called("status", "tune.toml")
    Path("slow").unlink()
    assert "8 trials, 0 failed: done" in called("run", "tune.toml")


def test_the_live_page() -> None:
    write(SQUARE)
    process = started("report", "tune.toml", "--watch")
    assert process.stdout is not None
    address = re.search(r"http://127\.0\.0\.1:\d+/", process.stdout.readline())
    assert address is not None
    with urllib.request.urlopen(address[0]) as answer:  # noqa: S310 - ours
        assert "nothing to show yet" in answer.read().decode()  # the run may begin later
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_ends_cleanly_and_the_run_goes_on_later(number: int) -> None:
    write(SQUARE.replace("import sys;", "import sys, time, pathlib; time.sleep(pathlib.Path('slow').exists() * 600);"))
    Path("slow").touch()
    process = started("run", "tune.toml")
    deadline = time.monotonic() + 120
    while not list(Path().glob("tune.db.trials/*/output.txt")) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert f"state: going, process {process.pid}" in called("status", "tune.toml")
    assert f"in use by process {process.pid}" in called("run", "tune.toml", code=1)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 1, err
    assert "interrupted" in out and "to go on: run the same again" in out
    assert "Traceback" not in err
    Path("slow").unlink()
    assert "8 trials, 0 failed: done" in called("run", "tune.toml")
