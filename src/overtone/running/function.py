"""A Python function in a file as an objective: what a TOML file names as "folder/file.py:name"."""

import json
import shlex
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING, Any

from overtone.errors import InputError
from overtone.running.evaluation import Task

if TYPE_CHECKING:  # a worker does not load the engine
    from overtone.space import Config


@dataclass(frozen=True)
class Function:
    """A function by its place, so that every worker loads it by itself; it is called like any objective."""

    file: str  # absolute
    name: str

    def __call__(self, config: "Config", budget: float | None = None) -> Any:
        """The function's value; it is given the budget if it takes one."""
        return Task(loaded(self.file, self.name)).value(config, budget)

    def line(self, config: "Config", budget: float | None = None) -> str:
        """A command line that prints the value of a configuration."""
        code = (
            "import json, sys; from overtone.running.function import Function; "
            "print(Function(*sys.argv[1:3])(*json.loads(sys.argv[3])))"
        )
        words = [sys.executable, "-c", code, self.file, self.name, json.dumps([config, budget])]
        return shlex.join(words)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for the ledger."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Function":
        """The inverse of `to_dict`."""
        return cls(data["file"], data["name"])


def parse(text: str, folder: Path) -> Function:
    """'file.py:name', the file relative to a folder; checked as far as that can be done without running it."""
    file, colon, name = text.rpartition(":")
    if not colon or not file.endswith(".py") or not name.isidentifier():
        raise InputError(f"it must be like 'train.py:error', a Python file and a function in it, but got {text!r}")
    path = folder / file
    if not path.is_file():
        raise InputError(f"there must be a file {file!r} beside the TOML file, but there is none at {path}")
    return Function(str(path.resolve()), name)


@cache
def loaded(file: str, name: str) -> Callable[..., Any]:
    """The function; its file is run once a process, with its own folder first among those to import from."""
    path = Path(file)
    if str(path.parent) not in sys.path:
        sys.path.insert(0, str(path.parent))
    spec = spec_from_file_location(path.stem, file)
    if spec is None or spec.loader is None:
        raise InputError(f"{file} must be a Python file")
    module = module_from_spec(spec)
    sys.modules.setdefault(path.stem, module)  # so that what it defines can be pickled
    spec.loader.exec_module(module)
    function = getattr(module, name, None)
    if not callable(function):
        raise InputError(f"{file} must define a function {name!r}, but has none")
    return function  # type: ignore[no-any-return]
