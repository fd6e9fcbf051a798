"""The throughput benchmark runs end to end, at a tiny size, on real processes and a real cluster."""

import json
from pathlib import Path

import pytest

from benchmarks import measure, throughput


def test_the_stopwatch_counts_from_the_first_fifth_on() -> None:
    watch = throughput.Stopwatch(10)
    for n_done in range(10):
        watch.at(n_done)
    assert watch.start is not None
    assert watch.start[0] == 2
    assert not watch.row
    watch.at(10)
    assert watch.row["trials"] == 10
    assert watch.row["rate"] > 0


@pytest.mark.heavy
def test_throughput(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(measure, "RESULTS", tmp_path)
    throughput.main({0.0: 10, 0.01: 10}, (2,))
    rows = json.loads((tmp_path / "throughput.json").read_text())["rows"]
    assert {(row["where"], row["seconds"]) for row in rows} == {
        (where, seconds) for where in ("processes", "Dask") for seconds in (0.0, 0.01)
    }
    assert all(row["trials"] == 10 and row["cpu_ms"] >= 0 for row in rows)
    assert "| processes | 2 | no-op | Overtone |" in capsys.readouterr().out
