"""The guides to PostgreSQL and Dask are tested like code: their blocks run, on a real server and a real cluster."""

import ast
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.postgresql import PASSWORD, USER, Server, program

GUIDES = Path(__file__).parent.parent / "docs" / "guides"
FOREIGN = ("dask_jobqueue", "dask_kubernetes")  # no SLURM and no Kubernetes here: their blocks are only parsed


def blocks(guide: str, *kinds: str) -> list[tuple[str, str]]:
    """(kind, text) of each block of these kinds, in the order of the guide."""
    found = re.findall(r"```(\w+)\n(.*?)```", (GUIDES / guide).read_text(), re.DOTALL)
    return [(kind, text) for kind, text in found if kind in kinds]


def follow(guide: str, words: dict[str, str], folder: Path, groups: list[int]) -> Iterator[tuple[str, str, str]]:
    """Do what the guide says, one block after another: (kind, text, output). Blocks that name a file are that file.

    groups: the process groups of the blocks so far, for what they leave in the background.
    """
    for kind, original in blocks(guide, "toml", "python", "sh", "sql"):
        text = original
        for word, real in words.items():
            text = text.replace(word, real)
        named = re.match(r"# ([\w.]+)\n", text)
        if named:
            (folder / named[1]).write_text(text)
        elif kind in ("python", "sh") and not any(name in text for name in FOREIGN) and "pip install" not in text:
            start = [sys.executable, "-c"] if kind == "python" else ["bash", "-e", "-c"]
            with (folder / "output").open("w+") as output:  # not a pipe: what stays in the background would hold it
                process = subprocess.Popen(
                    [*start, text], stdout=output, stderr=output, cwd=folder, start_new_session=True
                )
                groups.append(process.pid)
                code = process.wait(timeout=300)
            assert code == 0, text + (folder / "output").read_text()
            yield kind, text, (folder / "output").read_text()
        else:
            yield kind, text, ""


def check_said(text: str, output: str) -> None:
    """What a block prints is what stands behind its prints."""
    for said in re.findall(r"^print\(.*\)\s+# (.*)$", text, re.MULTILINE):
        assert said in output.splitlines()


@pytest.fixture
def on_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """`overtone`, `python` and `dask` are those of this environment."""
    places = [str(Path(sys.executable).parent), str(Path(program("createdb")).parent), os.environ["PATH"]]
    monkeypatch.setenv("PATH", os.pathsep.join(places))


@pytest.mark.heavy
@pytest.mark.usefixtures("on_path")
def test_the_guide_to_postgresql(postgresql: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    monkeypatch.setenv("PGPORT", str(postgresql.port))
    words = {"me@db.example": f"{USER}@127.0.0.1", "db.example": "127.0.0.1", "username me": f"username {USER}"}
    outputs = []
    for kind, text, output in follow("postgresql.md", words, tmp_path, []):
        if kind == "sql":
            rows = postgresql.ask(text, "tuning")
            assert "SELECT run" not in text or {row[0] for row in rows} <= {"tune", "second", "python"}
            assert "SELECT run" not in text or len(rows) == 5
        check_said(text, output)
        outputs.append(output)
    assert "12 trials, 0 failed" in "".join(outputs)
    assert "12 done" in "".join(outputs)
    assert len((tmp_path / "trials.csv").read_text().splitlines()) == 13
    assert {name for (name,) in postgresql.ask("SELECT name FROM overtone.runs", "tuning")} == {"tune", "python"}


@pytest.mark.heavy
@pytest.mark.usefixtures("on_path")
def test_the_guide_to_dask(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = {
        "scheduler.example:8786": f"127.0.0.1:{port}",
        "--port 8786": f"--host 127.0.0.1 --port {port} --no-dashboard",
    }
    outputs, groups = list[str](), list[int]()
    try:
        for _, text, output in follow("dask.md", words, tmp_path, groups):
            check_said(text, output)
            outputs.append(output)
    finally:
        for group in groups:
            with suppress(ProcessLookupError):
                os.killpg(group, signal.SIGKILL)
    assert "12 trials, 0 failed" in "".join(outputs)


@pytest.mark.parametrize("guide", ["postgresql.md", "dask.md"])
def test_every_block_of_the_guides_is_right_in_its_language(guide: str) -> None:
    for _, text in blocks(guide, "python"):
        ast.parse(text)
    for _, text in blocks(guide, "sh", "bash"):
        subprocess.run(["bash", "-n"], input=text, text=True, check=True)


def test_nothing_but_slurm_and_kubernetes_is_left_out() -> None:
    assert sum(any(name in text for name in FOREIGN) for _, text in blocks("dask.md", "python")) == 2
    assert [kind for kind, _ in blocks("dask.md", "bash")] == ["bash"]  # the job script of SLURM


@pytest.mark.parametrize("guide", ["postgresql.md", "dask.md"])
def test_every_link_leads_somewhere(guide: str) -> None:
    for target in re.findall(r"\]\(([^)]+)\)", (GUIDES / guide).read_text()):
        assert target.startswith("https://") or (GUIDES / target).exists(), target
