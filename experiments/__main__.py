"""`python -m experiments [NAME ...] [--tiny | --full] [--docs]`: run them, or fill docs/paper.md; --help says more."""

import argparse
import sys
from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

from experiments.frame import DOCS, RESULTS, Claim, Options, Size, claim_table, fill_docs
from overtone.tuning import cores

NAMES = ("synthetic", "trees", "theorems", "network")


class Experiment(Protocol):
    """See `frame`."""

    def run(self, options: Options) -> None: ...
    def blocks(self, results: Path) -> dict[str, str]: ...
    def claims(self, results: Path) -> list[Claim]: ...


def experiment(name: str) -> Experiment:
    return cast(Experiment, import_module(f"experiments.{name}"))


def main(arguments: list[str]) -> int:
    given = _parsed(arguments)
    size: Size = "tiny" if given.tiny else "full" if given.full else "default"
    options = Options(size, given.data, given.results, given.workers, given.seeds)
    if given.docs:
        fill_docs(parts(options.results), given.page)
        return 0
    for name in given.names or NAMES:
        print(f"{name} ({size})", flush=True)
        experiment(name).run(options)
    return 0


def parts(results: Path) -> dict[str, str]:
    """What the page is made of, from whatever was measured; an experiment without results leaves its part alone."""
    found: dict[str, str] = {}
    claims: list[Claim] = []
    for name in NAMES:
        try:
            found |= experiment(name).blocks(results)
            claims += experiment(name).claims(results)
        except FileNotFoundError as error:
            print(f"{name}: no results yet ({error.filename})", file=sys.stderr)
    return {"claims": claim_table(claims), **found}


def _parsed(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m experiments", description="The paper's experiments; all if none named.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(NAMES))
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--tiny", action="store_true", help="seconds: to see that it runs")
    size.add_argument("--full", action="store_true", help="hours: larger grids, more seeds")
    parser.add_argument("--data", type=Path, help="images for the network: CIFAR-10 as batches, or an .npz")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where results go, and are taken up again")
    parser.add_argument("--workers", type=int, default=cores(), help="processes")
    parser.add_argument("--seeds", type=int, help="how many, instead of what belongs to the size")
    parser.add_argument("--docs", action="store_true", help="run nothing, fill docs/paper.md from the results")
    parser.add_argument("--page", type=Path, default=DOCS, help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    unknown = [name for name in given.names if name not in NAMES]
    if unknown:
        parser.error(f"there is no {', '.join(unknown)}; choose from {', '.join(NAMES)}")
    for name in ("workers", "seeds"):
        if (number := getattr(given, name)) is not None and number < 1:
            parser.error(f"--{name} must be 1 or more, but got {number}")
    if given.data is not None and not given.data.exists():
        parser.error(f"--data must be there, but nothing is at {given.data}; leave it out to use scikit-learn's digits")
    return given


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
