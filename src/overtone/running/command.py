"""`Command`: a program as an objective. No shell unless asked for; a value can never become a new argument.

Like `evaluation`, it loads neither numpy nor the engine, so that a limit of memory is the program's alone.
"""

import json
import os
import secrets
import shlex
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from overtone.errors import TrialFailed
from overtone.running.command_process import Finished, execute, scratch_folder
from overtone.running.command_text import Slot, fill, parse, slots, written, written_budget
from overtone.running.command_value import Reading
from overtone.running.processes import ending

if TYPE_CHECKING:
    from overtone.space import Config

OWN = ("budget", "config", "flags", "folder")  # placeholders that are no parameters
SHOWN = 4000  # characters of the output that a failure shows: the last ones


@dataclass(frozen=True)
class Command:
    """What to run, and where the value is.

    arguments: groups of texts with placeholders; a group that needs a parameter that is not active is left out.
    shell: there is one text, for `sh -c`; values come quoted into it.
    texts: what on/off parameters say when they are on, and off; together they are {flags}.
    budget: of trials that have none. cwd: where it runs. scratch: where the trials' folders are.
    """

    arguments: Sequence[Sequence[str]]
    value: Reading = field(default_factory=Reading)
    shell: bool = False
    env: Mapping[str, str] = field(default_factory=dict)
    texts: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    repeats: int = 1
    budget: float | None = None
    cwd: str = "."
    scratch: str = ""

    def __call__(self, config: "Config", budget: float | None = None) -> float:
        """The value of a configuration: the median of the repeats, each in a fresh folder."""
        return median(self._once(config, budget) for _ in range(self.repeats))

    def _once(self, config: "Config", budget: float | None) -> float:
        with scratch_folder(self.scratch) as folder:
            (folder / "config.json").write_text(_json(config))
            arguments = self.filled(config, budget, str(folder))
            finished = execute(arguments, folder, self.cwd, self._environment(config, budget, str(folder)))
            try:
                self._check_code(finished.code)
                return self.value(finished, folder)
            except TrialFailed as error:
                raise TrialFailed(str(error), _detail(arguments, folder, finished)) from None

    def _check_code(self, code: int) -> None:
        if code < 0 or (code and self.value.source != "exit code"):
            raise TrialFailed(f"the command {ending(code)}")

    # arguments

    def filled(self, config: "Config", budget: float | None, folder: str) -> list[str]:
        """The arguments of a configuration."""
        values = self._values(config, budget, folder)
        if self.shell:
            quoted = {name: value if name == "flags" else shlex.quote(value) for name, value in values.items()}
            return ["sh", "-c", fill(self.arguments[0][0], quoted) or ""]
        return [word for group in self.arguments for word in self._words(group, config, values)]

    def _words(self, group: Sequence[str], config: "Config", values: Mapping[str, str]) -> list[str]:
        """The arguments of a group; none if something in it has no value."""
        words: list[str] = []
        for text in group:
            found = self._expanded(text, config, values)
            if found is None:
                return []
            words += found
        return words

    def _expanded(self, text: str, config: "Config", values: Mapping[str, str]) -> list[str] | None:
        """One argument; but {flags}, or an on/off parameter, that stands alone is as many as its words."""
        pieces = parse(text)
        name = pieces[0].name if len(pieces) == 1 and isinstance(pieces[0], Slot) else ""
        if name == "flags":
            return [word for each in self.texts for word in self._flag(each, config)]
        if name in self.texts and name in config:
            return self._flag(name, config)
        filled = fill(text, values)
        return None if filled is None else [filled]

    def _flag(self, name: str, config: "Config") -> list[str]:
        """What an on/off parameter adds; written by the author of the file, so it may be several arguments."""
        return shlex.split(self.texts[name][0 if config[name] else 1]) if name in config else []

    def _values(self, config: "Config", budget: float | None, folder: str) -> dict[str, str]:
        values = {
            name: self.texts[name][0 if value else 1] if name in self.texts else written(value)
            for name, value in config.items()
        }
        values["flags"] = shlex.join(word for name in self.texts for word in self._flag(name, config))
        values["folder"], values["config"] = folder, f"{folder}/config.json"
        budget = self.budget if budget is None else budget
        return values if budget is None else {**values, "budget": written_budget(budget)}

    def _environment(self, config: "Config", budget: float | None, folder: str) -> dict[str, str]:
        """That of this process, with ours; a variable whose parameter is not active is not set."""
        others = {name: value for name, value in os.environ.items() if name not in self.env}
        return {**others, **self._variables(config, budget, folder)}

    def _variables(self, config: "Config", budget: float | None, folder: str) -> dict[str, str]:
        values = self._values(config, budget, folder)
        filled = {name: fill(text, values) for name, text in self.env.items()}
        return {name: text for name, text in filled.items() if text is not None}

    def uses(self, name: str) -> bool:
        """A placeholder of this name is somewhere in it."""
        texts = [*(text for group in self.arguments for text in group), *self.env.values()]
        return any(name in slots(text) for text in texts)

    # as text

    def line(self, config: "Config", budget: float | None = None) -> str:
        """What to type into a shell to run a configuration again."""
        folder = f" {secrets.token_hex(8)} "  # the space has it quoted, so that it can be replaced in the quotes
        variables = self._variables(config, budget, folder)
        unset = [part for name in self.env if name not in variables for part in ("-u", name)]
        env = ["env", *unset, *(f"{name}={value}" for name, value in variables.items())] if self.env else []
        steps = [f"cd {shlex.quote(self.cwd)}"] if not _is_here(self.cwd) else []
        if self.uses("folder") or self.uses("config"):
            steps.append("folder=$(mktemp -d)")
        if self.uses("config"):
            steps.append(f'printf %s {shlex.quote(_json(config))} > "$folder"/config.json')
        steps.append(shlex.join([*env, *self.filled(config, budget, folder)]).replace(folder, "'\"$folder\"'"))
        return " && ".join(steps)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON; without the places, so that a run may be moved and go on."""
        return {name: value for name, value in asdict(self).items() if name not in ("cwd", "scratch")}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Command":
        """The inverse of `to_dict`, also after a trip through JSON; it runs where we are."""
        return cls(**{**data, "value": Reading(**data["value"])})


def _json(config: "Config") -> str:
    return json.dumps(config)


def _is_here(folder: str) -> bool:
    with suppress(OSError):
        return os.path.samefile(folder, ".")  # noqa: PTH121 - there is no shorter way in pathlib
    return False


def _detail(arguments: Sequence[str], folder: Path, finished: Finished) -> str:
    """What was run, where its files are, and how its output ends."""
    parts = [f"command: {shlex.join(arguments)}", f"folder: {folder}"]
    for name, text in (("errors", finished.errors), ("output", finished.output)):
        if text.strip():
            parts.append(f"--- end of its {name}\n{text.rstrip()[-SHOWN:]}")
    return "\n".join(parts)
