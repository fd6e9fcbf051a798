"""The benchmark of the sampler runs end to end, at a tiny size."""

from pathlib import Path

import pytest

from benchmarks import measure, optuna_sampler


@pytest.mark.heavy
def test_optuna_sampler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(measure, "RESULTS", tmp_path)
    optuna_sampler.main({8: 70})
    assert (tmp_path / "optuna_sampler.json").exists()
    out = capsys.readouterr().out
    for name in optuna_sampler.SAMPLERS:
        assert f"| {name} | 8 | 70 |" in out


@pytest.mark.heavy
def test_it_stops_at_the_limit() -> None:
    assert optuna_sampler.study("TPE", 8, 50, limit=0.0)()["trials"] == 1
