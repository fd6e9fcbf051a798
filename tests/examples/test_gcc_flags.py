"""examples/gcc-flags works with the gcc that is here: the program, the file for it, and a short run from end to end."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "gcc-flags"
SHIPPED = (EXAMPLE / "tune.toml").read_text()
pytestmark = pytest.mark.skipif(
    shutil.which("gcc") is None and "CI" not in os.environ, reason="there is no gcc (in CI that is a failure)"
)


@pytest.fixture(scope="module")
def made() -> str:
    """The file for this gcc: another version has other flags than the one that the example ships for."""
    script = [sys.executable, str(EXAMPLE / "make_toml.py")]
    return subprocess.run(script, capture_output=True, text=True, check=True).stdout


def gcc_version() -> str:
    return subprocess.run(["gcc", "-dumpfullversion"], capture_output=True, text=True, check=True).stdout.strip()


def overtone(*arguments: str, folder: Path = EXAMPLE) -> str:
    command = [sys.executable, "-m", "overtone", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_the_program_is_right(level: str, tmp_path: Path) -> None:
    built = [str(tmp_path / "toolbox")]
    source = str(EXAMPLE / "program" / "toolbox.c")
    subprocess.run(["gcc", "-Wall", "-Wextra", "-Werror", level, "-o", *built, source], check=True)
    assert subprocess.run(built, capture_output=True, text=True, check=True).stdout == "toolbox: all is well\n"
    packed = subprocess.run([*built, "compress"], input=SHIPPED.encode(), capture_output=True, check=True).stdout
    assert len(packed) < len(SHIPPED) / 2
    assert subprocess.run([*built, "expand"], input=packed, capture_output=True, check=True).stdout == SHIPPED.encode()


def test_the_shipped_file_is_right() -> None:
    assert "tune.toml is right" in overtone("check", "tune.toml", "--no-trial")
    assert len(tomllib.loads(SHIPPED)["space"]) >= 100


def test_the_made_file_is_right_and_its_default_is_the_plain_level(made: str, tmp_path: Path) -> None:
    copy = copied(made, tmp_path)
    checked = overtone("check", copy.name, folder=copy.parent)
    found = re.search(r"^its value: (\d+)", checked, re.MULTILINE)
    assert found is not None
    assert float(found[1]) == plain_size("-Os", tmp_path)


def test_the_shipped_file_is_the_one_that_is_made(made: str) -> None:
    shipped_for = re.search(r"for gcc ([\d.]+\d)", SHIPPED)
    assert shipped_for is not None
    if shipped_for[1] != gcc_version():
        pytest.skip(f"the file is for gcc {shipped_for[1]}, this is {gcc_version()}")
    assert made == SHIPPED


def test_a_short_run_leaves_a_best_that_can_be_run_again(made: str, tmp_path: Path) -> None:
    short = re.sub(r"^evaluations = \d+", "evaluations = 16", made, flags=re.MULTILINE)
    copy = copied(short, tmp_path)
    said = overtone("run", "--quiet", copy.name, folder=copy.parent)
    assert "16 trials, 0 failed" in said
    best = json.loads(overtone("best", "--json", copy.name, folder=copy.parent))
    again = subprocess.run(["sh", "-c", best["command"]], cwd=copy.parent, capture_output=True, text=True, check=True)
    assert int(again.stdout.splitlines()[-1].split()[0]) == best["value"]
    assert "Stages" in overtone("report", "--text", copy.name, folder=copy.parent)


def copied(text: str, folder: Path) -> Path:
    """The example somewhere else, so that a run leaves nothing behind."""
    shutil.copytree(EXAMPLE / "program", folder / "program")
    file = folder / "tune.toml"
    file.write_text(text)
    return file


def plain_size(level: str, folder: Path) -> int:
    built, source = str(folder / "plain"), str(EXAMPLE / "program" / "toolbox.c")
    subprocess.run(["gcc", level, "-fno-asynchronous-unwind-tables", "-o", built, source], check=True)
    listed = subprocess.run(["size", built], capture_output=True, text=True, check=True).stdout
    return int(listed.splitlines()[-1].split()[0])
