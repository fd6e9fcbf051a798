"""Every benchmark runs end to end, at a tiny size."""

from pathlib import Path

import pytest

from benchmarks import __main__ as command
from benchmarks import forbidden, growth, ledger, measure, overhead, recovery, scale, speed


def test_an_unknown_part_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["sped"]) == 2
    assert "there is no sped; choose from speed, scale" in capsys.readouterr().err


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    for module in (measure, recovery):
        monkeypatch.setattr(module, "RESULTS", tmp_path)
    monkeypatch.setattr(recovery, "DONE", tmp_path / "recovery.jsonl")
    monkeypatch.setattr(recovery, "GRID", [{"n": 12, "s": 3, "noise": 0.1, "T": 80}])
    monkeypatch.setattr(recovery, "PAPER", [])
    monkeypatch.setattr(growth, "COLUMNS", (10, 20))
    monkeypatch.setattr(growth, "SAMPLES", (40, 80))
    return tmp_path


@pytest.mark.heavy
def test_recovery(tiny: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recovery.main(seeds=2)
    first = (tiny / "recovery.jsonl").read_text()
    recovery.main(seeds=2)  # resumes: nothing is left to do
    assert (tiny / "recovery.jsonl").read_text() == first
    assert first.count("\n") == 2
    assert "| 12 | 3 | 10% | 80 | 1.00 (0.0)" in capsys.readouterr().out


@pytest.mark.heavy
def test_growth(tiny: Path, capsys: pytest.CaptureFixture[str]) -> None:
    growth.main()
    assert (tiny / "growth.json").exists()
    assert "| 20 | 1,350 |" in capsys.readouterr().out


@pytest.mark.heavy
def test_the_peers_reach_the_same_objective() -> None:
    """Celer and scikit-learn on the built matrix, n=15."""
    ours, sklearn, celer = (f(15)() for f in (speed.ours, speed.sklearn_with_expansion, speed.celer_on_ready_matrix))
    assert sklearn == pytest.approx(ours, rel=1e-6)
    assert celer == pytest.approx(ours, rel=1e-6)


@pytest.mark.heavy
def test_scale_measures_what_it_says() -> None:
    assert scale.lasso(12, 3, 60)()["gap"] <= 1e-6
    assert scale.recovery(12)()["found"] == scale.SPARSITY
    assert scale.peak() > 1e8
    scale.scan(20)()


# ---- the optimizers ----


def test_clauses_of_every_kind() -> None:
    columns = list(range(10))
    assert forbidden.clauses("pairs", columns, 2) == [{"x0": True, "x1": True}, {"x2": True, "x3": True}]
    assert forbidden.clauses("triples", columns, 1) == [{"x0": True, "x1": True, "x2": True}]
    assert forbidden.clauses("hub", columns, 2) == [{"x0": True, "x1": True}, {"x0": True, "x2": True}]
    assert forbidden.clauses("equal", columns, 1) == [{"x0": False, "x1": False}, {"x0": True, "x1": True}]
    assert forbidden.clauses("none", columns, 0) == []


@pytest.mark.heavy
def test_forbidden(tiny: Path, capsys: pytest.CaptureFixture[str]) -> None:
    forbidden.report([forbidden.instance(case, 150, 0) for case in (forbidden.CASES[0], forbidden.CASES[-1])])
    assert (tiny / "forbidden.json").exists()
    out = capsys.readouterr().out
    assert "| 150 | none | - | 100% |" in out
    assert "| 150 | 3 equal | relevant | 1" in out


@pytest.mark.heavy
def test_overhead() -> None:
    assert overhead.optuna_sampler("gp", 500, limit=0.0)()["n"] == 0
    rows = [overhead.harmonica({}, 12, 120)(), overhead.optuna_sampler("tpe", 20)()]
    assert [row["n"] for row in rows] == [120, 20]
    assert list(rows[0]["readings"]) == [100]
    assert rows[0]["verdicts"]


@pytest.mark.heavy
def test_ledger(tiny: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ledger.main(trials=50)
    assert (tiny / "ledger.json").exists()
    assert "A ledger of 50 trials of 60 parameters" in capsys.readouterr().out
