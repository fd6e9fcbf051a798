"""The command line: files in, exit codes and texts out."""

import csv
import io
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pandas as pd
import pytest

from overtone.cli.init import read_flags
from overtone.cli.messages import printable
from tests.command_line import SQUARE, best, called, overtone, write

EXAMPLES = Path(__file__).parent.parent / "examples" / "commands"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


# from the first file to the report


def test_a_run_from_the_first_file_to_the_report() -> None:
    called("init")
    text = Path("tune.toml").read_text().replace("evaluations = 300", "evaluations = 12")
    Path("tune.toml").write_text(text.replace("# workers = 8", "workers = 2"))
    shown = called("check", "tune.toml")
    assert "5 parameters, 512 points" in shown
    assert "12 evaluations in 7 rounds on 2 workers" in shown
    assert "its value: " in shown and "the whole run: about" in shown
    assert not Path("tune.db").exists()

    first = overtone("run", "tune.toml")
    assert "12 trials, 0 failed: evaluations used up" in first.stdout
    assert "12 of 12 trials" in first.stderr
    assert called("run", "tune.toml", "--quiet") == first.stdout
    rows = list(csv.DictReader(io.StringIO(called("export", "tune.toml"))))
    assert [row["number"] for row in rows] == [str(number) for number in range(12)]  # nothing came twice

    found = best()
    shown = called("best", "tune.db")
    assert repr(found["value"]) in shown
    line = shown.strip().splitlines()[-1]
    printed = subprocess.run(["sh", "-c", line], check=True, capture_output=True, text=True).stdout
    assert float(printed) == found["value"]
    assert f"to run it: {line}" in first.stdout
    assert "state: evaluations used up" in called("status", "tune.toml")

    assert called("report", "tune.toml").strip() == str(Path("tune.html").absolute())
    assert "</html>" in Path("tune.html").read_text()
    assert called("report", "tune.db", "--text").strip()
    assert "to a folder that is there" in called("report", "tune.db", "--output", "none/page.html", code=2)
    assert not Path("tune.db.trials").exists()


def test_flags_from_a_list() -> None:
    listed = "-fgcse\n# no comment\n-fno-plt  [enabled]\n  -falign-loops=[0|1]\n--fast\nThese flags are:\n"
    result = overtone("init", "flags.toml", "--flags", "-", stdin=listed)
    assert "left out, because they need a value: -falign-loops=[0|1]" in result.stderr
    text = Path("flags.toml").read_text()
    assert 'plt = { boolean = true, on = "-fplt", off = "-fno-plt" }' in text
    assert 'fast = { boolean = true, on = "--fast", off = "" }' in text
    assert "its value: " in called("check", "flags.toml")


def test_flags_that_clash_keep_their_full_names() -> None:
    found, left_out = read_flags("-fa -fno-a --a --config -mavx -Wno-all -DX=1 - -- '-q'")
    assert found == {
        "a": ("-fa", "-fno-a"),
        "--a": ("--a", ""),
        "--config": ("--config", ""),
        "mavx": ("-mavx", "-mno-avx"),
        "Wall": ("-Wall", "-Wno-all"),
        "DX=1": ("-DX=1", ""),
    }
    assert left_out == []


def test_levels_of_optimization_are_no_switches() -> None:
    result = overtone("init", "flags.toml", "--flags", "-", stdin="-Og -Os -O2 -O -Ofast -fgcse")
    assert "left out, because they are levels of one option: -Og -Os -O2 -O -Ofast" in result.stderr
    assert "its value: " in called("check", "flags.toml")
    assert "Og" not in Path("flags.toml").read_text()


def test_init_does_not_overwrite() -> None:
    write("mine")
    assert "exists: take another name, or --force" in called("init", code=2)
    assert Path("tune.toml").read_text() == "mine"
    called("init", "--force")
    assert "[objective]" in Path("tune.toml").read_text()
    assert "must have flags" in called("init", "x.toml", "--flags", "-", stdin="none here", code=2)
    assert "No such file" in called("init", "x.toml", "--flags", "none.txt", code=2)
    assert "No such file" in called("init", "none/x.toml", code=2)


@pytest.mark.parametrize(("name", "value"), [("arguments", 0.001), ("shell", 3.0)])
def test_the_examples_run(name: str, value: float) -> None:
    """Between them: arguments, pairs, flags, a file, the environment, a shell; JSON in a file, a regular expression."""
    shutil.copytree(EXAMPLES, "commands")
    Path("elsewhere").mkdir()
    os.chdir("elsewhere")
    file = f"../commands/{name}.toml"
    assert " 0 failed" in called("run", file)
    assert Path(f"../commands/{name}.db").exists()
    found = json.loads(called("best", file, "--json"))
    line = f'{found["command"]}; test -z "$folder" || cat "$folder"/result.json'
    printed = subprocess.run(["sh", "-c", line], check=True, capture_output=True, text=True).stdout
    assert f'{{"result": {{"loss": {found["value"]}}}}}' in printed
    if name == "shell":  # all of the space was tried
        assert found["value"] == value
        assert found["config"]["activation"] == "relu"


# names and values as nasty as they come

DUMP = """
optimizer = "random_search"
[objective]
command = [
    "PYTHON", "-c", "import json, sys; print(json.dumps(sys.argv[1:]), file=sys.stderr); print(len(sys.argv[1]))",
    '{[red]a b; $(x)}',
]
[space]
"[red]a b; $(x)" = { choice = ["two words", "it's", 'say "hi"', "$(touch pwned)", "one\\ntwo", "--help"] }
[run]
workers = 1
"""


def test_markup_and_shell_words_in_names_and_values_are_only_text() -> None:
    write(DUMP)
    shown = called("check", "tune.toml")
    assert "[red]a b; $(x)" in shown
    shown = called("run", "tune.toml")
    assert '[red]a b; $(x) = "it\'s"' in shown
    found = best()
    result = subprocess.run(["sh", "-c", found["command"]], check=True, capture_output=True, text=True)
    assert json.loads(result.stderr) == [found["config"]["[red]a b; $(x)"]] == ["it's"]
    assert called("best", "tune.toml", "--env").strip() == "_RED_A_B____X_='it'\"'\"'s'"
    rows = csv.DictReader(io.StringIO(called("export", "tune.toml")))
    assert {row["config.[red]a b; $(x)"] for row in rows} >= {"one\ntwo", 'say "hi"', "--help"}
    assert not Path("pwned").exists()


def test_control_characters_do_not_reach_the_terminal() -> None:
    assert printable("a\x1b[31m\nb\tc\x9b") == "a\\x1b[31m\nb\tc\\x9b"


# mistakes


@pytest.mark.parametrize("verb", ["run", "check", "status", "best", "report", "export"])
def test_a_file_that_is_wrong_or_not_there(verb: str) -> None:
    assert "No such file" in called(verb, "none.toml", code=2)
    assert "Is a directory" in called(verb, ".", code=2)
    write("objective = ")
    assert "tune.toml: it must be TOML, but: Invalid value (at" in called(verb, "tune.toml", code=2)
    write(SQUARE + "worker = 1")
    assert "tune.toml: run.worker: unknown key: did you mean 'workers'?" in called(verb, "tune.toml", code=2)
    write(SQUARE)
    if verb not in ("run", "check"):
        assert "there is no run yet" in called(verb, "tune.toml", code=2)


def test_wrong_usage_is_said_without_a_traceback() -> None:
    assert "No such command 'rum'" in overtone("rum", code=2).stderr
    assert "No such option" in overtone("run", "--fast", code=2).stderr
    assert "only one can be" in called("report", "x", "--text", "--watch", code=2)
    assert "--json and --env" in called("best", "x", "--json", "--env", code=2)
    assert "is not one of" in called("export", "x", "--format", "xml", code=2)


def test_a_ledger_that_is_none_or_cannot_be_written() -> None:
    Path("folder").mkdir()
    write(SQUARE + "ledger = 'folder'")
    assert "folder" in called("run", "tune.toml", code=1)
    Path("junk.db").write_text("junk " * 1000)
    write(SQUARE + "ledger = 'junk.db'")
    assert "junk.db" in called("run", "tune.toml", code=1)
    assert Path("junk.db").read_text() == "junk " * 1000
    write(SQUARE + "ledger = 'none/x.db'")
    assert "none" in called("run", "tune.toml", code=1)


def test_parquet_reads_back() -> None:
    write(SQUARE)
    called("run", "tune.toml", "--quiet")
    called("export", "tune.toml", "--format", "parquet", "-o", "x.parquet")
    table = pd.read_parquet("x.parquet")
    assert len(table) == 8
    assert table["value"].min() == 0.0
    assert set(table["config.a"]) == {0, 1, 2, 3}


def test_parquet_says_what_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    write(SQUARE + "evaluations = 2")
    called("run", "tune.toml")
    assert "say where to write it" in called("export", "tune.toml", "--format", "parquet", code=2)
    monkeypatch.setattr("overtone.cli.export.find_spec", lambda _: None)
    shown = called("export", "tune.toml", "--format", "parquet", "-o", "x.parquet", code=2)
    assert "Parquet needs pandas and pyarrow" in shown
    assert "No such file" in called("export", "tune.toml", "-o", "none/x.csv", code=2)
    called("export", "tune.toml", "-o", "x.csv")
    assert Path("x.csv").read_text() == called("export", "tune.toml")


def test_the_version() -> None:
    assert re.fullmatch(r"overtone \d+\.\d+\.\d+\n", overtone("--version").stdout)
