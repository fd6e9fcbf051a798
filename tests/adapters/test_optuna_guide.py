"""The guide is tested like code: its blocks run, and print what they say."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GUIDE = ROOT / "docs" / "guides" / "optuna.md"
BLOCKS = re.findall(r"```python\n(.*?)```", GUIDE.read_text(), re.DOTALL)


@pytest.mark.heavy
@pytest.mark.filterwarnings("ignore:.*unclosed database:ResourceWarning")  # Optuna's, from Python 3.13 on
@pytest.mark.parametrize("block", BLOCKS)
def test_the_blocks_print_what_they_say(
    block: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    exec(compile(block, GUIDE.name, "exec"), {"__name__": "guide"})  # noqa: S102
    printed = capsys.readouterr().out.splitlines()
    said = re.findall(r"^print\(.*\)\s+# (.*)$", block, re.MULTILINE)
    assert said
    assert printed[-len(said) :] == said


def test_every_link_leads_somewhere() -> None:
    for target in re.findall(r"\]\(([^)]+)\)", GUIDE.read_text()):
        assert (GUIDE.parent / target).exists(), target
