"""`overtone init`: a commented file to start from. It passes `overtone check` as it is."""

import re
import shlex
import shutil
import sys
from pathlib import Path

import typer

from overtone.cli.messages import say
from overtone.errors import InputError
from overtone.running.command import OWN
from overtone.settings.problems import key_path, toml_text

# flags of compilers that have an opposite: -fgcse and -fno-gcse, -mavx and -mno-avx, -Wall and -Wno-all
_SWITCH = re.compile(r"-([fmW])(no-)?([A-Za-z0-9][\w+.-]*)")
_LEVEL = re.compile(r"-O\w*")  # of optimization: the last one on a command line counts
_PLAIN = "import sys; lr, batch = map(float, sys.argv[1:3]); print((lr - 0.01) ** 2 + batch / 1000)"
_COUNT = "import sys; print(len(sys.argv))"
_HEAD = """\
# What to tune, and how: see docs/commands.md for every key.
#   overtone check {name}     is it right, and what would it do?
#   overtone run {name}       tune; again: go on where it stopped
#   overtone best {name}      the best found, and the command for it

[objective]
"""
_OBJECTIVE = """\
# The value is read from the last line of the output. Also: 'error=([0-9.]+)' (a regular expression), "wall time",
# "exit code", { json = "a.b" }, { json = "a.b", file = "metrics.json" } (a file in {folder}).
value = "last line"
goal = "minimize"     # or "maximize"
# timeout = 3600      # seconds a trial may take
# memory = "2GB"      # that a trial may use
# repeats = 3         # the median of so many runs, for noisy commands
"""
_TAIL = """\
[run]
evaluations = {evaluations}       # at most
# workers = 8         # without it: all cores
# seconds = 36000     # time for the whole run
# seed = 0
# ledger = "tune.db"  # without it: this file's name, with .db
"""
_PLAIN_SPACE = """\
[space]
lr = { real = [1e-4, 1e-1], levels = 8, log = true }
batch = { ordinal = [16, 32, 64, 128] }      # ordered levels
activation = { choice = ["relu", "tanh"] }   # unordered ones
batch_norm = { boolean = true }
dropout = { ordinal = [0.1, 0.2, 0.3, 0.5], when = { batch_norm = false } }   # there only if batch_norm is off

# What is used today; it is evaluated first. All that is active, each with one of its levels:
# [default]
# lr = 0.1

# Combinations that must not be tried:
# [[forbid]]
# activation = "tanh"
# batch = 128

"""


def write_starter(file: Path, flags: Path | None, *, force: bool) -> None:
    """Never over a file that is there, unless told so."""
    text = _plain_file(file) if flags is None else _flags_file(file, _read(flags))
    try:
        with file.open("w" if force else "x", encoding="utf-8") as opened:
            opened.write(text)
    except FileExistsError:
        raise InputError(f"{file} exists: take another name, or --force to overwrite it") from None
    say(f"wrote {file}: now put in your command, then `overtone check {file}`")


def _read(flags: Path) -> str:
    data = sys.stdin.buffer.read() if str(flags) == "-" else flags.read_bytes()
    return data.decode(errors="replace")


def _plain_file(file: Path) -> str:
    words = ["{lr}", "{batch}", "{activation}", "{batch_norm}", "--dropout={dropout}"]
    objective = "# Your program: {name} is the value of a parameter, and always within one argument.\n"
    objective += f"command = {_command(_PLAIN, words)}\n{_OBJECTIVE}\n"
    return _HEAD.format(name=file.name) + objective + _PLAIN_SPACE + _TAIL.format(evaluations=300)


def _flags_file(file: Path, text: str) -> str:
    found, left_out = read_flags(text)
    if not found:
        raise InputError("the list must have flags, one a line, as in -fgcse, but has none")
    levels = [flag for flag in left_out if _LEVEL.fullmatch(flag)]
    valued = [flag for flag in left_out if flag not in levels]
    for flags, why in ((valued, "need a value"), (levels, "are levels of one option")):
        if flags:
            typer.echo(f"left out, because they {why}: {' '.join(flags)}", err=True)
    lines = [
        f"{key_path([name])} = {{ boolean = true, on = {toml_text(on)}, off = {toml_text(off)} }}"
        for name, (on, off) in found.items()
    ]
    objective = "# Your program: {flags} is all flags, each as its `on` or its `off` text. This one only counts them.\n"
    objective += f"command = {_command(_COUNT, ['{flags}'])}\n{_OBJECTIVE}\n"
    space = "[space]\n" + "\n".join(lines) + "\n\n"
    return _HEAD.format(name=file.name) + objective + space + _TAIL.format(evaluations=1000)


def _command(program: str, words: list[str]) -> str:
    """A small program that is surely there, so that the file can be tried at once."""
    python = "python3" if shutil.which("python3") else sys.executable
    return "[" + ", ".join(map(toml_text, [python, "-c", program, *words])) + "]"


def read_flags(text: str) -> tuple[dict[str, tuple[str, str]], list[str]]:
    """Names with their on and off texts, and flags that are no switches; words that do not begin with - are skipped."""
    found: dict[str, tuple[str, str]] = {}
    left_out: list[str] = []
    for line in text.splitlines():
        for flag in [word for word in line.partition("#")[0].split() if word.startswith("-") and word.strip("-")]:
            if re.search(r"=?[<\[]|=$", flag) or _LEVEL.fullmatch(flag):
                left_out.append(flag)
            else:
                name, texts = _texts(flag)
                found[name if found.get(name, texts) == texts and name not in OWN else flag] = texts
    return found, left_out


def _texts(flag: str) -> tuple[str, tuple[str, str]]:
    """-fno-plt is the switch plt, on as -fplt and off as -fno-plt; another flag is there, or not."""
    switch = _SWITCH.fullmatch(flag)
    if switch is None:
        return flag.lstrip("-"), (shlex.quote(flag), "")
    kind, _, name = switch.groups()
    return name if kind == "f" else f"{kind}{name}", (f"-{kind}{name}", f"-{kind}no-{name}")
