"""The help of the command line is a part of docs/commands.md; `python -m tests.test_cli_help` writes it there."""

import subprocess
import sys
from pathlib import Path

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from overtone.cli.app import app

PAGE = Path(__file__).parent.parent / "docs" / "commands.md"
MARK = "<!-- help: written by `python -m tests.test_cli_help`, compared by the tests -->\n"
HEAVY = ("matplotlib", "pandas", "plotly", "pydantic", "scipy", "sklearn")


def verbs() -> list[str]:
    return list(get_command(app).commands)  # type: ignore[attr-defined]


def shown_help(*words: str) -> str:
    result = CliRunner().invoke(app, [*words, "--help"], prog_name="overtone", env={"COLUMNS": "100"})
    assert result.exit_code == 0
    return result.output.strip()


def reference() -> str:
    parts = [f"\n### overtone {verb}\n\n```text\n{shown_help(verb)}\n```\n" for verb in verbs()]
    return "".join(parts)


def test_the_reference_is_what_help_says() -> None:
    assert PAGE.read_text().partition(MARK)[2] == reference(), "write it again: python -m tests.test_cli_help"


def test_every_verb_is_there() -> None:
    assert verbs() == ["run", "check", "status", "best", "report", "export", "init"]


@pytest.mark.parametrize("verb", [[], ["run"], ["check"], ["status"], ["best"], ["report"], ["export"], ["init"]])
def test_every_help_has_an_example(verb: list[str]) -> None:
    assert "Example:\n    overtone" in shown_help(*verb).replace("\n      ", "\n    ")


def test_help_is_shown_without_loading_what_is_heavy() -> None:
    program = (
        "import sys\nfrom overtone.cli import main\n"
        "sys.argv = ['overtone', '--help']\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert end.code == 0\n"
        f"print([name for name in {HEAVY} if name in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert result.stdout.splitlines()[-1] == "[]"


if __name__ == "__main__":
    PAGE.write_text(PAGE.read_text().partition(MARK)[0] + MARK + reference())
