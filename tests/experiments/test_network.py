"""The network experiment end to end, at its tiny size: killed, run again, and told about."""

import csv
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from experiments import network
from experiments.frame import Options, load
from experiments.network.claims import _in_time, judged
from experiments.network.options import by_hand
from experiments.network.training import read_table

ROOT = Path(__file__).parents[2]
MARKS = ["about", "best", "drops", "features", "variants", "stable", "degree", "small-big"]


def test_a_claim_of_several_parts_may_hold_partly() -> None:
    assert judged(True, True) == "holds"
    assert judged(True, False) == "partly"
    assert judged(False, False) == "does not hold here"


def test_better_with_more_time_is_no_evidence() -> None:
    assert _in_time(True, 0.1, 1 / 8) == "holds"
    assert _in_time(True, 0.5, 1 / 8) == "partly"
    assert _in_time(True, 8.0, 1 / 8) == "does not hold here"
    assert _in_time(False, 0.1, 1 / 8) == "does not hold here"


@pytest.mark.heavy
def test_the_experiment_goes_on_after_a_kill_and_tells_what_it_found(tmp_path: Path) -> None:
    table = tmp_path / "ledgers" / "network-tiny-digits" / "trainings.jsonl"
    command = [sys.executable, "-m", "experiments", "network", "--tiny", "--results", str(tmp_path), "--workers", "2"]
    process = subprocess.Popen(command, cwd=ROOT, start_new_session=True)
    while process.poll() is None and len(read_table(table)) < 20:
        time.sleep(0.2)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    known = read_table(table)
    assert 20 <= len(known) < 120

    options = Options("tiny", None, tmp_path, 1)
    network.run(options)
    assert known.items() <= read_table(table).items()  # nothing is trained again
    data = load(tmp_path, "network")
    assert len(data["stages"]) == 3
    assert len(data["drops"]) == len(data["degrees"]) == 4
    assert len(data["algorithms"]) == 9
    assert data["layers"] == [8, 14]
    with (tmp_path / "network-samples.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 3 * data["plan"]["n_samples"] + data["plan"]["n_after"]
    assert all(len(row["bits"]) == len(by_hand()) for row in rows)
    for name in ("best", "drops", "variants", "small-big"):
        assert (tmp_path / f"network-{name}.png").stat().st_size > 10_000

    before = table.read_text()
    network.run(options)
    assert table.read_text() == before
    assert load(tmp_path, "network") == data

    blocks = network.blocks(tmp_path)
    assert list(blocks) == [f"network-{mark}" for mark in MARKS]
    assert "| 24. Batch norm | yes or no | as in the table |" in blocks["network-about"]
    claims = network.claims(tmp_path)
    assert len(claims) == 15
    assert all(claim.says and claim.measured for claim in claims)
