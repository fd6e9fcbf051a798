"""The guide is tested like code: its blocks run, and print what they say."""

import re
from pathlib import Path

import pytest

from tests.test_guides_of_servers import GUIDES, blocks, check_said

GUIDE = "scikit-learn.md"


@pytest.mark.heavy
@pytest.mark.parametrize("block", [text for _, text in blocks(GUIDE, "python")])
def test_the_blocks_print_what_they_say(
    block: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    exec(compile(block, GUIDE, "exec"), {"__name__": "guide"})  # noqa: S102
    printed = capsys.readouterr().out
    assert printed
    check_said(block, printed)


def test_every_link_leads_somewhere() -> None:
    for target in re.findall(r"\]\(([^)]+)\)", (GUIDES / GUIDE).read_text()):
        assert (GUIDES / target).exists(), target
