"""A Python function in a file, named in TOML, as an objective."""

import subprocess
import sys
from pathlib import Path

import pytest

from overtone.errors import InputError
from overtone.running.evaluation import evaluate
from overtone.running.function import Function, parse
from overtone.running.workers import Workers

CODE = """
from beside import offset
calls = []
def error(config):
    calls.append(config)
    return len(calls) + offset
def with_budget(config, budget):
    return config["a"] * budget
number = 3
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "train.py").write_text(CODE)
    (tmp_path / "beside.py").write_text("offset = 10")
    return tmp_path


def test_the_file_is_run_once_a_process_and_may_import_its_neighbors(folder: Path) -> None:
    with Workers(1) as workers:
        values = [workers.submit(parse("train.py:error", folder), {}).result() for _ in range(3)]
    assert values == [11, 12, 13]


def test_the_budget_is_given_if_wanted(folder: Path) -> None:
    with Workers(1) as workers:
        assert workers.submit(parse("train.py:with_budget", folder), {"a": 2}, 4.0).result() == 8.0


def test_the_line_prints_the_value(folder: Path) -> None:
    line = parse("train.py:with_budget", folder).line({"a": 2, "text": "it's; $(true)"}, 4.0)
    assert subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=True).stdout == "8.0\n"


@pytest.mark.parametrize("name", ["missing", "number"])
def test_a_function_that_is_not_there_is_a_failed_trial(folder: Path, name: str) -> None:
    with Workers(1) as workers:
        outcome = workers.submit(evaluate, Function(str(folder / "train.py"), name), {}).result()
    assert outcome.value is None
    assert "must define a function" in outcome.reason


@pytest.mark.parametrize(
    "text", ["train", "train:error", "train.py:", ":error", "train.py:a b", "missing.py:error", "..py"]
)
def test_what_cannot_be_a_function_is_refused(folder: Path, text: str) -> None:
    with pytest.raises(InputError, match=r"must be"):
        parse(text, folder)


def test_a_worker_needs_no_engine_for_it() -> None:
    code = "import sys, overtone.running.function; sys.exit('numpy' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
