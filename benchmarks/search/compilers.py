"""gcc's optimization flags: which of them make a program's machine code short, on top of -Os."""

import re
import shutil
import subprocess
from functools import cache, partial
from pathlib import Path

from benchmarks.search.problem import Problem, Value
from overtone.space import Config, Space, boolean

PROGRAMS = Path(__file__).parent / "programs"
FLAGS = (
    "align-functions",
    "align-jumps",
    "align-loops",
    "branch-count-reg",
    "caller-saves",
    "code-hoisting",
    "combine-stack-adjustments",
    "compare-elim",
    "cprop-registers",
    "crossjumping",
    "cse-follow-jumps",
    "defer-pop",
    "forward-propagate",
    "gcse",
    "gcse-after-reload",
    "gcse-las",
    "guess-branch-probability",
    "if-conversion",
    "if-conversion2",
    "inline-functions",
    "inline-functions-called-once",
    "inline-small-functions",
    "ipa-cp",
    "ipa-icf",
    "ipa-ra",
    "ipa-sra",
    "ivopts",
    "jump-tables",
    "move-loop-invariants",
    "omit-frame-pointer",
    "optimize-sibling-calls",
    "partial-inlining",
    "peel-loops",
    "peephole2",
    "predictive-commoning",
    "reorder-blocks",
    "schedule-insns",
    "schedule-insns2",
    "sched-pressure",
    "shrink-wrap",
    "split-loops",
    "split-wide-types",
    "ssa-phiopt",
    "thread-jumps",
    "tree-ch",
    "tree-coalesce-vars",
    "tree-copy-prop",
    "tree-dce",
    "tree-dominator-opts",
    "tree-dse",
    "tree-fre",
    "tree-loop-distribute-patterns",
    "tree-loop-im",
    "tree-loop-vectorize",
    "tree-pre",
    "tree-slp-vectorize",
    "tree-sra",
    "tree-tail-merge",
    "tree-ter",
    "tree-vrp",
    "unroll-loops",
    "unswitch-loops",
)
INSTRUCTION = re.compile(r"^\t[a-z]", re.MULTILINE)  # labels and directives start otherwise


def is_installed() -> bool:
    """There is a gcc."""
    return shutil.which("gcc") is not None


def gcc_size(program: str, n_evaluations: int = 100) -> Problem:
    """Instructions of the assembler code of one file of `programs`; every flag is set on or off."""
    source = PROGRAMS / f"{program}.c"
    return Problem(
        f"gcc flags, {program}.c, instructions",
        Space({flag: boolean() for flag in FLAGS}),
        partial(_instructions, str(source)),
        n_evaluations,
        is_real=True,
        is_slow=True,
        stamp=_compiler()[1] + source.read_text(),
    )


def _instructions(source: str, config: Config) -> Value:
    flags = [f"-f{name}" if on else f"-fno-{name}" for name, on in config.items()]
    command = [_compiler()[0], "-quiet", "-fpreprocessed", "-Os", *flags, source, "-o", "-"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return float(len(INSTRUCTION.findall(done.stdout))) if done.returncode == 0 else None


@cache
def _compiler() -> tuple[str, str]:
    """The compiler proper, without the driver that would start it, and its version."""
    ask = ("-print-prog-name=cc1", "-dumpfullversion")
    path, version = (subprocess.check_output(["gcc", each], text=True).strip() for each in ask)  # noqa: S607
    return path, version
