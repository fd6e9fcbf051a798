"""A program as an objective: what it gets, what is read from it, and what is left behind."""

import json
import os
import pickle
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from overtone.errors import TrialFailed
from overtone.running import command_process
from overtone.running.command import Command
from overtone.running.command_text import check_shell
from overtone.running.command_value import Reading

PYTHON = sys.executable
DUMP = "import json, os, sys; open(os.environ['OUT'], 'w').write(json.dumps(sys.argv[1:])); print(0)"
NASTY: dict[str, Any] = {
    "space": "a b",
    "single": "it's",
    "double": 'say "hi"',
    "semicolon": "x; touch pwned",
    "substitution": "$(touch pwned)",
    "backquotes": "`touch pwned`",
    "newline": "one\ntwo; touch pwned",
    "dash": "-x",
    "long dash": "--help",
    "[red]markup[/red]": "[bold]x[/bold]",
    "braces": "{space}",
    "empty": "",
    "star": "*",
    "unicode": "é\u202e",
    "backslash": "\\' \\",
    "variable": "$HOME ~",
    "pipe": "a | b > c & d",
}


def literal(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def python(program: str, *arguments: str, **options: Any) -> Command:
    return Command([[PYTHON], ["-c"], [literal(program)], *([each] for each in arguments)], **options)


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


# what the program gets


def received(command: Command, config: Mapping[str, Any], monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setenv("OUT", str(Path("arguments.json").absolute()))
    command(dict(config))
    found: list[str] = json.loads(Path("arguments.json").read_text())
    assert not Path("pwned").exists()
    return found


def test_every_value_arrives_as_one_argument(monkeypatch: pytest.MonkeyPatch) -> None:
    command = python(DUMP, *(f"{{{name}}}" for name in NASTY), *(f"--x={{{name}}}" for name in NASTY))
    expected = [*NASTY.values(), *(f"--x={value}" for value in NASTY.values())]
    assert received(command, NASTY, monkeypatch) == expected


def test_with_a_shell_too(monkeypatch: pytest.MonkeyPatch) -> None:
    words = " ".join([*(f"{{{name}}}" for name in NASTY), *(f"--x={{{name}}}" for name in NASTY)])
    text = f'"$PYTHON" -c "$DUMP" {words} | cat'
    check_shell(text)
    monkeypatch.setenv("PYTHON", PYTHON)
    monkeypatch.setenv("DUMP", DUMP)
    command = Command([[text]], shell=True)  # noqa: S604 - ours
    expected = [*NASTY.values(), *(f"--x={value}" for value in NASTY.values())]
    assert received(command, NASTY, monkeypatch) == expected


def test_by_environment_and_by_file() -> None:
    program = """
import json, os, sys
config = json.load(open(sys.argv[1]))
assert [os.environ[f"V{i}"] for i in range(len(config))] == list(config.values())
print(len(config))
"""
    env = {f"V{i}": f"{{{name}}}" for i, name in enumerate(NASTY)}
    assert python(program, "{config}", env=env)(dict(NASTY)) == len(NASTY)


def test_what_is_not_active_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("V", "from outside")
    command = Command([["p"], ["--a={a}"], ["--b", "{b}"], ["c"]], env={"V": "{b}"})
    assert command.filled({"a": 1, "b": 2}, None, "/f") == ["p", "--a=1", "--b", "2", "c"]
    assert command.filled({}, None, "/f") == ["p", "c"]
    assert "V" not in command._environment({}, None, "/f")
    assert command._environment({"b": 2}, None, "/f")["V"] == "2"


def test_flags_are_the_on_and_off_texts_in_words() -> None:
    texts = {"a": ("-fa", "-fno-a"), "b": ("--b 'x y'", ""), "c": ("-c", "-d")}
    command = Command([["p"], ["{flags}"], ["{b}"], ["--a={a}"], ["end"]], texts=texts, env={"F": "{flags}"})
    assert command.filled({"a": True, "b": True}, None, "") == [
        "p",
        "-fa",
        "--b",
        "x y",
        "--b",
        "x y",
        "--a=-fa",
        "end",
    ]
    assert command.filled({"a": False, "b": False, "c": False}, None, "") == ["p", "-fno-a", "-d", "--a=-fno-a", "end"]
    assert command._environment({"a": True, "b": True}, None, "")["F"] == "-fa --b 'x y'"
    shell = Command([["p {flags} | q"]], texts=texts, shell=True)  # noqa: S604 - ours
    assert shell.filled({"a": True, "b": True}, None, "")[-1] == "p -fa --b 'x y' | q"


def test_the_budget_and_the_folder() -> None:
    command = Command([["p"], ["--epochs={budget}"], ["{folder}/x"], ["{config}"]], budget=27.0)
    assert command.filled({}, 3.0, "/f")[1:] == ["--epochs=3", "/f/x", "/f/config.json"]
    assert command.filled({}, None, "/f")[1] == "--epochs=27"


def test_it_travels_and_is_plain_data() -> None:
    command = python("print({x})", env={"A": "{a}"}, texts={"a": ("x", "y")}, value=Reading("regex", "(.*)"), repeats=3)
    assert pickle.loads(pickle.dumps(command)) == command  # noqa: S301 - our own
    again = Command.from_dict(json.loads(json.dumps(command.to_dict())))
    assert again.filled({"a": True}, None, "/f") == command.filled({"a": True}, None, "/f")
    assert json.dumps(again.to_dict()) == json.dumps(command.to_dict())


# failures, floods and folders


def test_a_failure_keeps_its_folder_and_shows_the_end_of_the_output(tmp_path: Path) -> None:
    program = "import sys; print('out', 'x' * 10000, 'last'); print('why', file=sys.stderr); sys.exit(1)"
    with pytest.raises(TrialFailed) as failure:
        python(program, "{a}", scratch=str(tmp_path / "t"))({"a": "v"})
    (folder,) = (tmp_path / "t").iterdir()
    assert str(folder) in failure.value.detail
    assert "why" in failure.value.detail and failure.value.detail.endswith("last")
    assert len(failure.value.detail) < 6000
    assert json.loads((folder / "config.json").read_text()) == {"a": "v"}
    assert (folder / "errors.txt").read_text() == "why\n"
    assert (folder / "output.txt").read_text().startswith("out")


def test_a_success_leaves_nothing(tmp_path: Path) -> None:
    assert python("print(1)", scratch=str(tmp_path / "t"))({}) == 1.0
    assert list((tmp_path / "t").iterdir()) == []


def test_only_the_newest_failures_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command_process, "KEPT", 3)
    running = tmp_path / "t" / f"{os.getppid()}-other"  # of a process that lives
    running.mkdir(parents=True)
    for number in range(5):
        with pytest.raises(TrialFailed):
            Command([[PYTHON], ["-c"], ["raise SystemExit(1)"], [str(number)]], scratch=str(tmp_path / "t"))({})
        time.sleep(0.01)  # their order is that of the file system's clock
    assert running.exists()
    assert len(list((tmp_path / "t").iterdir())) == 1 + 3


def test_a_flood_is_bounded_and_its_end_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command_process, "LIMIT", 100_000)
    program = (
        "import sys\nfor _ in range(300): sys.stdout.write('y' * 9999 + '\\n'); sys.stderr.write('z' * 9999)\nprint(7)"
    )
    assert python(program)({}) == 7.0
    with pytest.raises(TrialFailed):
        python(program + "\nsys.exit(1)", scratch=str(tmp_path / "t"))({})
    (folder,) = (tmp_path / "t").iterdir()
    assert (folder / "output.txt").stat().st_size <= 300_000
    assert (folder / "errors.txt").stat().st_size <= 300_000
    assert (folder / "output.txt").read_text().endswith("7\n")


def test_a_child_that_stays_does_not_hold_up_the_trial() -> None:
    program = f"import subprocess; subprocess.Popen([{PYTHON!r}, '-c', 'import time; time.sleep(5)']); print(3)"
    assert python(program)({}) == 3.0


def test_the_standard_input_is_empty() -> None:
    assert python("import sys; print(len(sys.stdin.read()))")({}) == 0.0


def test_bytes_that_are_no_text_do_no_harm() -> None:
    assert python("import sys; sys.stdout.buffer.write(b'\\xff\\xfe\\n5\\n')")({}) == 5.0


@pytest.mark.parametrize("arguments", [[["no-such-program"]], [["/"]], [["a\0b"]]])
def test_a_program_that_cannot_be_started_is_a_failure(arguments: Sequence[Sequence[str]]) -> None:
    with pytest.raises(TrialFailed, match="cannot be started"):
        Command(arguments)({})


def test_a_folder_that_cannot_be_made_is_a_failure(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(TrialFailed, match="a folder for the trial cannot be made"):
        python("print(1)", scratch=str(tmp_path / "file"))({})


# the line that reproduces it

ECHO = "import json, os, sys; print(json.dumps([sys.argv[1:], os.environ.get('V'), os.environ.get('W')]))"


def typed(line: str) -> Any:
    return json.loads(subprocess.run(["sh", "-c", line], check=True, capture_output=True, text=True).stdout)


def test_the_line_gives_the_same_arguments_and_variables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("W", "from outside")
    names = [f"{{{name}}}" for name in NASTY]
    command = python(ECHO, *names, env={"V": "{double} {newline}", "W": "{gone}"}, cwd=str(tmp_path))
    assert typed(command.line(NASTY)) == [list(NASTY.values()), f"{NASTY['double']} {NASTY['newline']}", None]
    assert not Path("pwned").exists()


def test_the_line_goes_where_the_command_runs(tmp_path: Path) -> None:
    there = tmp_path / "it's there"
    there.mkdir()
    assert python("print(1)", cwd=str(tmp_path)).line({}) == f"{PYTHON} -c 'print(1)'"
    command = python("import json, os; print(json.dumps(os.getcwd()))", cwd=str(there))
    assert typed(command.line({})) == str(there)


@pytest.mark.parametrize("shell", [False, True])
def test_the_line_makes_the_folder_and_the_file(shell: bool) -> None:
    program = "import json, sys; print(json.dumps([json.load(open(sys.argv[1])), sys.argv[2]]))"
    path = "{folder}/a b" if not shell else "{folder}/'a b'"
    command = python(program, "{config}", path)
    if shell:
        command = Command([[f"'{PYTHON}' -c '{program}' {{config}} {path}"]], shell=True)  # noqa: S604 - ours
    config, file = typed(command.line(NASTY))
    assert config == NASTY
    assert file.endswith("/a b") and Path(file).parent.is_dir()
