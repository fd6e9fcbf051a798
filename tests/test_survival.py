"""A run that is killed with -9 again and again ends as one that was left alone."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from overtone.errors import InputError, LedgerError
from overtone.running.journal import read_history
from overtone.running.ledger import read_ledger
from overtone.running.record import History
from tests.postgresql import Server

KILLS = 25  # for each of four seeds: a hundred in all
OBJECTIVE = """
import json, time

def value(config):
    with open({log!r}, "a") as log:
        log.write(json.dumps(config, sort_keys=True) + "\\n")
    time.sleep(0.02)
    return 2.0 * config["x3"] - config["x5"] * config["x7"] + 0.1 * config["lr"]
"""
TUNE = """
objective = {{ function = "objective.py:value" }}
harmonica = {{ n_stages = 2, n_samples = 150, base = "local_search" }}
run       = {{ evaluations = 400, workers = 2, seed = {seed} }}
space.lr  = {{ real = [1e-3, 1.0], levels = 8, log = true }}
"""


@dataclass(frozen=True)
class Run:
    """One run: its folder, and where its ledger is."""

    folder: Path
    ledger: str

    @property
    def command(self) -> list[str]:
        words = ["run", "--quiet", str(self.folder / "tune.toml"), "--ledger", self.ledger]
        return [sys.executable, "-m", "overtone", *words]

    def history(self) -> History:
        return read_history(read_ledger(self.ledger))

    def known(self) -> set[str]:
        """The configurations whose values are safe."""
        try:
            records = self.history().records
        except (InputError, LedgerError) as error:  # killed before the start was written
            assert "begun?" in str(error)
            return set()
        return {json.dumps(record.trial.config, sort_keys=True) for record in records}

    def evaluated(self) -> list[str]:
        log = self.folder / "log"
        return log.read_text().splitlines() if log.exists() else []


def prepared(folder: Path, seed: int, server: Server | None) -> Run:
    """A file to tune by."""
    folder.mkdir()
    (folder / "objective.py").write_text(OBJECTIVE.format(log=str(folder / "log")))
    switches = "".join(f"space.x{i} = {{ boolean = true }}\n" for i in range(20))
    (folder / "tune.toml").write_text(TUNE.format(seed=seed) + switches)
    return Run(folder, server.new_url() if server else str(folder / "tune.db"))


def killed(command: list[str], seconds: float) -> bool:
    """Start it, and kill it after a while; False if it was done before."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        _, errors = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        return True
    assert process.returncode == 0, errors
    return False


def check_same(first: History, second: History) -> None:
    assert [(r.trial, r.outcome.value) for r in first.records] == [(r.trial, r.outcome.value) for r in second.records]
    assert first.stages == second.stages


@pytest.mark.heavy
@pytest.mark.parametrize(("kind", "seed"), [*(("sqlite", seed) for seed in range(4)), ("postgresql", 4)])
def test_kill_9_costs_nothing_that_was_acknowledged(
    tmp_path: Path, kind: str, seed: int, request: pytest.FixtureRequest
) -> None:
    server = request.getfixturevalue("postgresql") if kind == "postgresql" else None
    alone, often = prepared(tmp_path / "alone", seed, server), prepared(tmp_path / "often", seed, server)
    started = time.monotonic()
    assert not killed(alone.command, 600)
    whole, rng, kills = time.monotonic() - started, random.Random(seed), 0  # noqa: S311 - no secret
    while kills < KILLS:
        safe, n = often.known(), len(often.evaluated())
        if not killed(often.command, rng.uniform(0.02, 1.2) * min(whole / 4, 4.0)):  # it was done before: once more
            check_same(alone.history(), often.history())
            often = prepared(tmp_path / f"often-{kills}", seed, server)
            continue
        kills += 1
        assert safe <= often.known()  # what was acknowledged stays
        assert not safe & set(often.evaluated()[n:])  # and is not evaluated again
    assert not killed(often.command, 600)
    check_same(alone.history(), often.history())


@pytest.mark.heavy
def test_a_run_goes_on_through_crashes_of_the_server_and_in_another_coordinator(
    tmp_path: Path, postgresql: Server
) -> None:
    """The server dies under the run again and again, then the coordinator; another one goes on."""
    alone, moved = (prepared(tmp_path / name, 5, postgresql) for name in ("alone", "moved"))
    assert not killed(alone.command, 600)
    with subprocess.Popen(moved.command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        for n in (40, 120, 200):
            while len(moved.evaluated()) < n:
                assert process.poll() is None, process.communicate()
                time.sleep(0.01)
            postgresql.crash()
            postgresql.start()
        safe = moved.known()
        process.kill()
    (tmp_path / "moved" / "log").unlink()
    assert not killed(moved.command, 600)
    check_same(alone.history(), moved.history())
    assert not safe & set(moved.evaluated())
