"""What the experiments share: cells are computed once, results say how they were made, the page is filled from them."""

from pathlib import Path

import pytest

from experiments import __main__ as command
from experiments import frame
from experiments.frame import Claim, Options
from experiments.trees.cells import structure


def test_a_size_picks() -> None:
    assert [Options(size=size).pick(1, 2, 3) for size in ("tiny", "default", "full")] == [1, 2, 3]
    assert Options("full").seeds(1, 2, 3) == range(3)
    assert Options("full", n_seeds=7).seeds(1, 2, 3) == range(7)


def test_results_say_how_they_were_made(tmp_path: Path) -> None:
    options = Options("full", Path("images"), tmp_path / "new", 1, 3)
    frame.save(options, "trees-curves", {"rows": [1, 2]}, seeds=range(3))
    saved = frame.load(tmp_path / "new", "trees-curves")
    assert saved["rows"] == [1, 2]
    assert saved["about"]["command"] == "python -m experiments trees --full --seeds 3 --data PATH"
    assert saved["about"]["seeds"] == [0, 1, 2]
    assert {"python", "numpy", "overtone"} <= saved["about"]["versions"].keys()
    assert "3 seeds" in frame.provenance(tmp_path / "new", "trees-curves")


def counted(where: str, x: int) -> dict[str, int]:
    with Path(where).open("a") as file:
        file.write("called\n")
    return {"square": x * x}


def test_cells_are_computed_once(tmp_path: Path) -> None:
    calls, options = tmp_path / "calls", Options("tiny", None, tmp_path, 1)
    cells = [{"where": str(calls), "x": x} for x in (3, 1, 3)]
    first = frame.compute(options, "squares", counted, cells)
    assert [row["square"] for row in first] == [9, 1, 9]
    kept = tmp_path / "ledgers" / "squares.jsonl"
    kept.write_text(kept.read_text() + '{"cell": {"whe')  # cut off by a crash
    again = frame.compute(options, "squares", counted, [*cells, {"where": str(calls), "x": 2}])
    assert [row["square"] for row in again] == [9, 1, 9, 4]
    assert calls.read_text().count("called") == 3


def test_processes_compute_the_same(tmp_path: Path) -> None:
    cells = [{"leaves": leaves, "seed": 0} for leaves in (4, 8)]
    one, two = (frame.compute(Options("tiny", None, tmp_path / str(n), n), "s", structure, cells) for n in (1, 2))
    assert one == two


def test_a_page_is_filled(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- a -->\nold\n<!-- /a -->\nafter\n")
    frame.fill_docs({"a": "new"}, page)
    assert page.read_text() == "before\n<!-- a -->\nnew\n<!-- /a -->\nafter\n"
    with pytest.raises(ValueError, match="marks"):
        frame.fill_docs({"b": "new"}, page)


def test_claims_are_a_table() -> None:
    text = frame.claim_table([Claim("|v| is small", "section 9", "3", "holds")])
    assert text.splitlines()[-1] == r"| \|v\| is small | section 9 | 3 | **holds** |"


def test_an_unknown_experiment_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        command.main(["tress"])
    assert "there is no tress; choose from synthetic, trees" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("mistake", "said"),
    [
        (["--seeds", "0"], "--seeds must be 1 or more, but got 0"),
        (["--workers", "-1"], "--workers must be 1 or more, but got -1"),
        (["--data", "no/such/folder"], "nothing is at no/such/folder"),
    ],
)
def test_mistakes_are_refused_before_anything_runs(
    mistake: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        command.main(mistake)
    assert said in capsys.readouterr().err


def test_what_has_no_results_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.md"
    page.write_text("<!-- claims -->\n<!-- /claims -->\n<!-- trees-about -->\nas it was\n<!-- /trees-about -->\n")
    assert command.main(["--docs", "--results", str(tmp_path), "--page", str(page)]) == 0
    assert "as it was" in page.read_text()
    assert "trees: no results yet" in capsys.readouterr().err


def test_the_page_says_what_the_results_say(tmp_path: Path) -> None:
    """docs/paper.md, filled again from experiments/results, is as it was."""
    page = tmp_path / "paper.md"
    page.write_text(frame.DOCS.read_text())
    frame.fill_docs(command.parts(frame.RESULTS), page)
    assert page.read_text() == frame.DOCS.read_text()
