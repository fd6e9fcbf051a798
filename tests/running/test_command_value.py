"""Where the number is: every source, and what is no value."""

from pathlib import Path

import pytest

from overtone.errors import TrialFailed
from overtone.running.command import Command
from overtone.running.command_value import Reading, Source
from tests.running.test_command import literal, python


def printing(text: str, source: Source = "last line", pattern: str = "", file: str = "") -> Command:
    return python("import sys; print(sys.argv[1])", literal(text), value=Reading(source, pattern, file))


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("text", "source", "pattern", "value"),
    [
        ("3\n4.5\n\n", "last line", "", 4.5),
        ("error=3\nerror=2e-1 end", "regex", r"error=([0-9.e-]+)", 0.2),
        ('{"a": {"b": [1, {"c": 7}]}}', "json", "a.b.1.c", 7.0),
        ('talk\n{"a": 7}', "json", "a", 7.0),
        ('{\n"a":\n7}', "json", "a", 7.0),
    ],
)
def test_sources_in_the_output(text: str, source: Source, pattern: str, value: float) -> None:
    assert printing(text, source, pattern)({}) == value


@pytest.mark.parametrize(
    ("text", "source", "pattern", "reason"),
    [
        ("3\nnan", "last line", "", "the last line must be a finite number, but is 'nan'"),
        ("inf", "last line", "", "finite"),
        ("four", "last line", "", "'four'"),
        ("", "last line", "", "the last line must be a finite number, but is ''"),
        ("loss=3", "regex", r"error=(\d+)", "must match something in the output"),
        ("error=x", "regex", r"error=(\w+)", "must be a finite number, but is 'x'"),
        ("{", "json", "a", "must be JSON, but ends in '{'"),
        ('{"a": [1]}', "json", "a.1", "there is no '1'"),
        ('{"a": "1"}', "json", "a", "must be a number, but is '1'"),
        ('{"a": true}', "json", "a", "must be a number"),
        ('{"a": NaN}', "json", "a", "finite"),
        ("1", "json", "a", "there is no 'a'"),
        ("7", "regex", "(a)?7", "must match something"),
    ],
)
def test_what_is_no_value_is_a_failure_that_says_what_came(
    text: str, source: Source, pattern: str, reason: str
) -> None:
    with pytest.raises(TrialFailed) as failure:
        printing(text, source, pattern)({})
    assert reason in failure.value.reason


def test_sources_in_a_file_of_the_folder() -> None:
    program = "import sys; open(sys.argv[1] + '/m.json', 'w').write('{\"a\": [5]} error=6'[: int(sys.argv[2])])"
    whole = python(program, "{folder}", "99", value=Reading("regex", "error=(.)", "m.json"))
    assert whole({}) == 6.0
    assert python(program, "{folder}", "10", value=Reading("json", "a.0", "m.json"))({}) == 5.0
    with pytest.raises(TrialFailed, match=r"must write 'n.json' into its folder.*give it \{folder\}/n.json"):
        python(program, "{folder}", "10", value=Reading("json", "a.0", "n.json"))({})


def test_the_exit_code_and_the_wall_time() -> None:
    assert python("raise SystemExit(3)", value=Reading("exit code"))({}) == 3.0
    assert 0.2 <= python("import time; time.sleep(0.2)", value=Reading("wall time"))({}) < 60
    with pytest.raises(TrialFailed, match="exit code 3"):
        python("raise SystemExit(3)", value=Reading("wall time"))({})
    with pytest.raises(TrialFailed, match="killed by SIGABRT"):
        python("import os; os.abort()", value=Reading("exit code"))({})


def test_repeats_are_fresh_runs_and_their_median() -> None:
    program = """
import os, sys
assert not os.path.exists(sys.argv[1] + "/seen")
open(sys.argv[1] + "/seen", "w").close()
n = os.path.exists("n") and len(open("n").read())
open("n", "a").write("x")
print([5, 1, 3][n])
"""
    assert python(program, "{folder}", repeats=3)({}) == 3.0
    with pytest.raises(TrialFailed, match="exit code 1"):  # the fourth is out of the list: one failure is enough
        python(program, "{folder}", repeats=3)({})
