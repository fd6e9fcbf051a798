"""Runs on a real Dask cluster of processes: workers that are killed, limits, crashes, and who is not there."""

import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import overtone as ot
from overtone.adapters import dask as adapter
from overtone.errors import InputError, RunFailed
from overtone.running.journal import read_history
from overtone.running.ledger import read_ledger
from overtone.running.record import History
from tests.dask_cluster import Cluster, cluster, is_alive, wait_until

TUNE = """
objective = { function = "objective.py:value", timeout = 20, memory = "4GB" }
harmonica = { n_stages = 2, n_samples = 60, base = "local_search" }
run       = { evaluations = 180, workers = 3 }
space.lr  = { real = [1e-3, 1.0], levels = 8, log = true }
""" + "".join(f"space.x{i} = {{ boolean = true }}\n" for i in range(12))
OBJECTIVE = """
import os, pathlib, time

def value(config):
    time.sleep(0.05)
    with open(pathlib.Path(__file__).with_name("log"), "a") as log:
        log.write(f"{os.getppid()}\\n")  # the Dask worker, whose child we are
    return 2.0 * config["x3"] - config["x5"] * config["x7"] + 0.1 * config["lr"]
"""


def prepared(folder: Path, objective: str = OBJECTIVE, tune: str = TUNE) -> Path:
    folder.mkdir()
    (folder / "objective.py").write_text(objective)
    (folder / "tune.toml").write_text(tune)
    return folder


def started(folder: Path, *words: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "overtone", "run", "--quiet", str(folder / "tune.toml"), *words]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finished(process: "subprocess.Popen[str]", code: int = 0) -> str:
    output, errors = process.communicate(timeout=300)
    assert process.returncode == code, output + errors
    assert "Traceback" not in errors
    return output + errors


def history(folder: Path) -> History:
    return read_history(read_ledger(folder / "tune.db"))


def n_lines(file: Path) -> int:
    return len(file.read_text().splitlines()) if file.exists() else 0


def summary(history: History) -> list[tuple[Any, ...]]:
    return [(record.trial, record.outcome.value, record.outcome.reason) for record in history.records]


@pytest.mark.heavy
def test_a_worker_that_is_killed_costs_nothing(tmp_path: Path) -> None:
    many, one = prepared(tmp_path / "many"), prepared(tmp_path / "one")
    with cluster(tmp_path, 3) as real:
        process = started(many, "--dask", real.address)
        for worker, n in ((real.workers[0], 20), (real.workers[1], 90)):  # in the first stage, and in the second
            wait_until("that many trials", lambda n=n: n_lines(many / "log") >= n)  # type: ignore[misc]
            worker.send_signal(signal.SIGKILL)
        real.add_worker()
        output = finished(process)
    assert "180 trials, 0 failed: evaluations used up" in output
    finished(started(one))
    assert summary(history(many)) == summary(history(one))
    assert history(many).stages == history(one).stages
    ran = {int(line) for line in (many / "log").read_text().split()}
    assert len(ran) > 1, "all trials ran on one worker"


LIMITED = """
import os, time

def value(config):
    if config["sleeps"]:
        time.sleep(1000)
    if config["crashes"]:
        os.kill(os.getpid(), 11)
    if config["eats"]:
        return len(bytearray(3 * 10**9))
    if config["raises"]:
        raise ValueError("this one")
    return 1.0
"""
LIMITS = """
optimizer = "random_search"
objective = { function = "objective.py:value", timeout = 3, memory = "1GB" }
run       = { evaluations = 12, workers = 2, seed = 1 }
""" + "".join(f"space.{name} = {{ boolean = true }}\n" for name in ("sleeps", "crashes", "eats", "raises"))


@pytest.mark.heavy
def test_limits_and_crashes_mean_the_same_as_at_home(tmp_path: Path) -> None:
    many, one = (prepared(tmp_path / name, LIMITED, LIMITS) for name in ("many", "one"))
    with cluster(tmp_path, 2) as real:
        finished(started(many, "--dask", real.address))
        assert [worker.poll() for worker in real.workers] == [None, None], "a trial took its Dask worker with it"
    finished(started(one))
    assert summary(history(many)) == summary(history(one))
    reasons = " ".join({record.outcome.reason for record in history(many).records})
    for word in ("longer than 3 s", "SIGSEGV", "this one", "emory"):
        assert word in reasons
    attempts = {record.outcome.attempts for record in history(many).records if "SIGSEGV" in record.outcome.reason}
    assert attempts == {2}  # run.retries is 1


SLOW = """
import os, pathlib, time

def value(config):
    pathlib.Path(__file__).with_name(f"pid{os.getpid()}").touch()
    time.sleep(10000)
"""


def slow_run(folder: Path, real: Cluster) -> tuple["subprocess.Popen[str]", list[int]]:
    """A run whose trials never end, and their processes."""
    process = started(prepared(folder, SLOW, TUNE.replace("timeout = 20, ", "")), "--dask", real.address)
    wait_until("two trials", lambda: len(list(folder.glob("pid*"))) >= 2)
    return process, [int(file.name[3:]) for file in folder.glob("pid*")]


@pytest.mark.heavy
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_trials_end_with_their_coordinator_however_it_ends(tmp_path: Path, number: int) -> None:
    with cluster(tmp_path, 2) as real:
        process, trials = slow_run(tmp_path / "run", real)
        process.send_signal(number)
        output = process.communicate(timeout=300)[0]
        assert "interrupted" in output or number == signal.SIGKILL
        wait_until("the end of the trials", lambda: not any(map(is_alive, trials)))


@pytest.mark.heavy
def test_a_trial_ends_with_its_dask_worker(tmp_path: Path) -> None:
    with cluster(tmp_path, 2) as real:
        process, trials = slow_run(tmp_path / "run", real)
        for worker in real.workers:
            worker.kill()
        wait_until("the end of the trials", lambda: not any(map(is_alive, trials)))
        process.kill()
        process.communicate()


@pytest.mark.heavy
def test_a_scheduler_that_dies_ends_the_run_and_fails_no_trial(tmp_path: Path) -> None:
    with cluster(tmp_path, 2) as real:
        process, _ = slow_run(tmp_path / "run", real)
        real.scheduler.kill()
        assert "the Dask scheduler is gone" in finished(process, 1)
    assert history(tmp_path / "run").records == ()


@pytest.mark.heavy
@pytest.mark.filterwarnings("ignore")  # Dask and tornado have their own
def test_the_executor_is_there_for_minimize_too(tmp_path: Path) -> None:
    from distributed import Client

    def value(config: dict[str, Any]) -> float:
        if config["x0"]:
            threading.Event().wait()
        return float(config["x1"])

    space = ot.Space({"x0": ot.boolean(), "x1": ot.boolean()})
    with cluster(tmp_path, 2) as real, Client(real.address) as client:
        executor = adapter.DaskExecutor(client, timeout=2.0)
        kept: dict[str, Any] = {"optimizer": ot.RandomSearch, "n_evaluations": 8, "progress": False}
        many = ot.minimize(value, space, executor=executor, n_workers=2, **kept)
    one = ot.minimize(value, space, timeout=2.0, n_workers=2, **kept)
    assert summary(many.history) == summary(one.history)
    assert any("longer than 2 s" in record.outcome.reason for record in many.trials)


@pytest.mark.heavy
@pytest.mark.filterwarnings("ignore")
def test_who_is_not_there_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adapter, "PATIENCE", 1.0)
    with pytest.raises(RunFailed, match=r"there must be a Dask scheduler at tcp://127\.0\.0\.1:1, but"):
        enter("tcp://127.0.0.1:1")
    with pytest.raises(RunFailed, match="there must be a Dask scheduler at nonsense"):
        enter("nonsense://x")
    with cluster(tmp_path, 0) as real, pytest.raises(RunFailed, match=f"with `dask worker {real.address}`"):
        enter(real.address)


def enter(address: str) -> None:
    with adapter.connected(address):
        pass


def test_without_dask_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adapter, "find_spec", lambda _: None)
    with pytest.raises(InputError, match=r"pip install 'overtone\[dask\]'"):
        enter("tcp://127.0.0.1:1")
