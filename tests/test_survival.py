"""A run that is killed with -9 again and again ends as one that was left alone."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from overtone.running.journal import read_history
from overtone.running.ledger import read_ledger
from overtone.running.record import History

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


def prepared(folder: Path, seed: int) -> list[str]:
    """A file to tune by, and the command that does it."""
    folder.mkdir()
    (folder / "objective.py").write_text(OBJECTIVE.format(log=str(folder / "log")))
    switches = "".join(f"space.x{i} = {{ boolean = true }}\n" for i in range(20))
    (folder / "tune.toml").write_text(TUNE.format(seed=seed) + switches)
    return [sys.executable, "-m", "overtone", "run", "--quiet", str(folder / "tune.toml")]


def history(folder: Path) -> History:
    return read_history(read_ledger(folder / "tune.db"))


def known(folder: Path) -> set[str]:
    """The configurations whose values are safe."""
    if not (folder / "tune.db").exists():
        return set()
    try:
        records = history(folder).records
    except ValueError:  # killed before the start was written
        return set()
    return {json.dumps(record.trial.config, sort_keys=True) for record in records}


def evaluated(folder: Path) -> list[str]:
    log = folder / "log"
    return log.read_text().splitlines() if log.exists() else []


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
@pytest.mark.parametrize("seed", range(4))
def test_kill_9_costs_nothing_that_was_acknowledged(tmp_path: Path, seed: int) -> None:
    alone, often = tmp_path / "alone", tmp_path / "often"
    started = time.monotonic()
    assert not killed(prepared(alone, seed), 600)
    whole = time.monotonic() - started
    command, rng, kills = prepared(often, seed), random.Random(seed), 0  # noqa: S311 - no secret
    while kills < KILLS:
        safe, n = known(often), len(evaluated(often))
        if not killed(command, rng.uniform(0.02, 1.2) * min(whole / 4, 4.0)):  # it was done before: once more
            check_same(history(alone), history(often))
            often = tmp_path / f"often-{kills}"
            command = prepared(often, seed)
            continue
        kills += 1
        assert safe <= known(often)  # what was acknowledged stays
        assert not safe & set(evaluated(often)[n:])  # and is not evaluated again
    assert not killed(command, 600)
    check_same(history(alone), history(often))
