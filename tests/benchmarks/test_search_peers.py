"""The contest from end to end: every contestant, every problem, the command, the tables and the plots."""

from pathlib import Path

import pytest

from benchmarks import measure
from benchmarks.search import cache, command, problems, report
from benchmarks.search.arena import play
from benchmarks.search.contestants import CONTESTANTS
from benchmarks.search.player import MODES

pytestmark = [
    pytest.mark.heavy,
    pytest.mark.filterwarnings("ignore"),  # of the peers' own dependencies
]
FOREIGN = [name for name, contestant in CONTESTANTS.items() if contestant.package != "overtone"]


@pytest.fixture(autouse=True)
def folders(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(cache, "FOLDER", tmp_path / "cache")
    monkeypatch.setattr(measure, "RESULTS", tmp_path)


@pytest.mark.parametrize("name", ["lzma", "crashing-pipeline", "digits-pipeline"])
@pytest.mark.parametrize("mode", list(MODES))
@pytest.mark.parametrize("contestant", FOREIGN)
def test_peers_play_spaces_of_every_kind(contestant: str, mode: str, name: str) -> None:
    """Levels with and without order, continuous ones, conditions, forbidden combinations, failures."""
    row = play(name, contestant, mode, 0, 300.0, 20)
    assert (row["evaluations"], row["capped"]) == (20, False)
    assert row["at_share"][-1] is not None


def test_the_command_runs_resumes_and_reports(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = ["planted-30", "ising", "network"]
    arguments = ["--tiny", "--results", str(tmp_path / "cells"), "--problems", *names]
    assert command.main(arguments) == 0
    first = capsys.readouterr()
    assert first.err == ""
    for mode in MODES:
        assert f"Gap to the best known at 100 % of B, {mode}" in first.out
    assert {path.name for path in tmp_path.glob("search*")} >= {
        "search.json", "search.md", "search-curves.png", "search-gaps.png", "search-seconds.png",
    }  # fmt: skip
    assert command.main(arguments) == 0
    assert "\n0 cells to run" in "\n" + capsys.readouterr().out
    page = tmp_path / "page.md"
    page.write_text(report.DOCS.read_text())
    summary = report.report(tmp_path / "cells", keep=True)
    assert summary is not None
    report.fill_docs(summary, page)
    assert "| SMAC3 | smac |" in page.read_text()


def test_every_problem_is_played(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--tiny", "--run-only", "--results", str(tmp_path / "cells"), "--contestants", "random search"]
    assert command.main(arguments) == 0
    assert capsys.readouterr().err == ""
    assert len(list((tmp_path / "cells").glob("*.jsonl"))) == len(problems.PROBLEMS)
