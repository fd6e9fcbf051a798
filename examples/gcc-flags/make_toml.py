"""Write tune.toml for the gcc that is here: one on/off parameter for every optimization flag that is safe to turn.

    python make_toml.py > tune.toml

The list is gcc's own (`gcc -Q -Os --help=optimizers`), and each flag is tried: one that this gcc does not know, or
warns about on this machine, is not in the file.
"""

import os
import re
import subprocess

LEVEL = "-Os"
LISTED = re.compile(r"^\s+-f([a-z0-9-]+)\s+\[(enabled|disabled)\]$", re.MULTILINE)

# A smaller program is of no use if it is another one. Left out, by reason:
LEFT_OUT = {
    "arithmetic: results may change, as with -ffast-math": """
        associative-math cx-fortran-rules cx-limited-range finite-math-only float-store fp-int-builtin-inexact
        math-errno reciprocal-math rounding-math signaling-nans signed-zeros single-precision-constant trapping-math
        unsafe-math-optimizations""",
    "language: they promise gcc something about the source, or change its meaning": """
        allow-store-data-races finite-loops strict-aliasing ipa-strict-aliasing trapv unconstrained-commons wrapv
        wrapv-pointer""",
    "binary interface: other files would have to be compiled alike": """
        pack-struct reg-struct-return short-enums short-wchar""",
    "protection: nobody should trade it for bytes": """
        harden-compares harden-conditional-branches stack-clash-protection stack-protector stack-protector-all
        stack-protector-explicit stack-protector-strong""",
    "dangerous by name": "sched-spec-load-dangerous",
    "unwind tables: debuggers need them; the command leaves them out for all, so that code is compared with code": """
        asynchronous-unwind-tables non-call-exceptions unwind-tables""",
    "profiles: there is none": "branch-probabilities profile-partial-training profile-reorder-functions vpt",
    "no code: reports, debug information": """
        opt-info save-optimization-record var-tracking var-tracking-assignments var-tracking-assignments-toggle
        var-tracking-uninit""",
}

HEAD = """\
# Which optimization flags make a program small? Written by make_toml.py for gcc {version}.
#     overtone check tune.toml      is it right, and what would it do?
#     overtone run tune.toml        a few minutes on two cores; again: go on where it stopped
#     overtone report tune.toml     which flags matter, and which pairs of them

[objective]
# Compile, let the program test itself (a wrong answer is a failed trial), and read the size of its code and constants.
command = '''
gcc {level} -fno-asynchronous-unwind-tables {{flags}} -o {{folder}}/toolbox program/toolbox.c &&
{{folder}}/toolbox && size {{folder}}/toolbox
'''
shell = true     # for the two &&
value = '^\\s*(\\d+)\\s.*/toolbox$'     # of what `size` prints: the first column, text
timeout = 60

# How to search is left to Overtone: three stages of 250 samples, then local search in what they leave open.
[run]
evaluations = 1000

"""


def main() -> None:
    """Print the file."""
    listed = safe_flags(gcc("-Q", LEVEL, "--help=optimizers").stdout)
    flags = {name: is_on for name, is_on in listed.items() if is_taken(name)}
    print(HEAD.format(level=LEVEL, version=gcc("-dumpfullversion").stdout.strip()), end="")
    print(f"# {len(flags)} flags\n[space]")
    for name in flags:
        print(f'{name} = {{ boolean = true, on = "-f{name}", off = "-fno-{name}" }}')
    print(f"\n# what {LEVEL} does\n[default]")
    for name, is_on in flags.items():
        print(f"{name} = {str(is_on).lower()}")


def gcc(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run it; it speaks English."""
    env = {**os.environ, "LC_ALL": "C"}
    return subprocess.run(["gcc", *arguments], capture_output=True, text=True, check=False, env=env)  # noqa: S603, S607


def safe_flags(listing: str) -> dict[str, bool]:
    """Flags that may be turned on and off, and whether they are on."""
    unsafe = {name for names in LEFT_OUT.values() for name in names.split()}
    return {name: state == "enabled" for name, state in LISTED.findall(listing) if name not in unsafe}


def is_taken(name: str) -> bool:
    """On and off, without a word of warning."""
    empty = ["-x", "c", os.devnull, "-S", "-o", os.devnull]
    tries = [gcc(LEVEL, f"-f{each}", *empty) for each in (name, f"no-{name}")]
    return not any(each.returncode or each.stderr for each in tries)


if __name__ == "__main__":
    main()
