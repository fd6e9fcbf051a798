"""How the tests drive the command line: in a process of its own, or in this one, which is faster."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from overtone.cli.app import app

PYTHON = sys.executable
SQUARE = """
optimizer = "random_search"
[objective]
command = ["PYTHON", "-c", "import sys; a, b = map(int, sys.argv[1:]); print((a - 2) ** 2 + b)", "{a}", "{b}"]
[space]
a = { integer = [0, 3] }
b = { integer = [0, 1] }
[run]
workers = 1
"""


def write(text: str, name: str = "tune.toml") -> Path:
    path = Path(name)
    path.write_text(text.replace("PYTHON", PYTHON))
    return path


def overtone(*words: str, code: int = 0, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """In a process of its own."""
    command = [PYTHON, "-W", "error", "-m", "overtone", *words]
    result = subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=300)
    assert result.returncode == code, result.stdout + result.stderr
    assert "Traceback" not in result.stdout + result.stderr
    return result


def called(*words: str, code: int = 0, stdin: str | None = None) -> str:
    """In this process, which is faster: what it printed, errors and all."""
    result = CliRunner().invoke(app, words, prog_name="overtone", input=stdin)
    assert result.exit_code == code, result.output
    if code == 0 and result.exception is not None:
        raise result.exception
    return result.output


def best() -> Any:
    return json.loads(called("best", "tune.toml", "--json"))


def started(*words: str) -> subprocess.Popen[str]:
    command = [PYTHON, "-m", "overtone", *words]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
