"""The guide is tested like code: its blocks run, on a real local Ray, and print what they say."""

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.adapters.ray_cluster import local_ray
from tests.test_guides_of_servers import blocks, check_said
from tests.test_guides_of_servers import test_every_link_leads_somewhere as check_links

BLOCKS = [text for _, text in blocks("ray.md", "python")]


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Of a Ray to which the blocks connect."""
    with local_ray() as there:
        yield there


@pytest.mark.heavy
@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_the_blocks_print_what_they_say(number: int, address: str, tmp_path: Path) -> None:
    command = [sys.executable, "-c", BLOCKS[number]]
    environment = {**os.environ, "RAY_ADDRESS": address, "RAY_LOG_TO_DRIVER": "0"}  # whose lines would mix with ours
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "# " in BLOCKS[number]
    check_said(BLOCKS[number], done.stdout)


def test_the_guide_is_right_in_its_language() -> None:
    for block in BLOCKS:
        ast.parse(block)
    check_links("ray.md")
