"""The package for OptunaHub: laid out as it wants, loaded by it, and its example runs."""

import re
import runpy
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
REGISTRY = ROOT / "hub" / "package"
PACKAGE = REGISTRY / "samplers" / "harmonica"


def test_the_layout() -> None:
    names = {path.name for path in PACKAGE.iterdir() if path.name != "__pycache__"}
    assert names == {"LICENSE", "README.md", "__init__.py", "example.py", "requirements.txt"}
    assert (PACKAGE / "LICENSE").read_text() == (ROOT / "LICENSE").read_text()
    head = re.match(r"---\n(.*?)\n---\n", (PACKAGE / "README.md").read_text(), re.DOTALL)
    assert head
    keys = [line.partition(":")[0] for line in head[1].splitlines()]
    assert keys == ["author", "title", "description", "tags", "optuna_versions", "license"]
    assert "tags: [sampler, " in head[1]
    sections = re.findall(r"^## (.*)$", (PACKAGE / "README.md").read_text(), re.MULTILINE)
    assert sections == ["Abstract", "Class or Function Names", "Installation", "APIs", "Example", "Others"]


def here(package: str, **_: Any) -> Any:
    """`load_module` as if the registry were this folder."""
    import optunahub

    return optunahub.load_local_module(package, registry_root=str(REGISTRY))


@pytest.mark.heavy
@pytest.mark.parametrize("which", ["example.py", "README.md"])
def test_the_examples_run(which: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    import optunahub

    monkeypatch.setattr(optunahub, "load_module", here)
    if which == "example.py":
        runpy.run_path(str(PACKAGE / which), run_name="__main__")
    else:
        (code,) = re.findall(r"```python\n(.*?)```", (PACKAGE / which).read_text(), re.DOTALL)
        exec(compile(code, which, "exec"), {})  # noqa: S102
    assert "5*x01 + 3*x02 - 2*x03*x04*x05" in capsys.readouterr().out
