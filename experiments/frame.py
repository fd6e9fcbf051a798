"""What all experiments share: sizes, cells that are computed once, results as data, figures, blocks of docs/paper.md.

An experiment is a module (or package) of three functions:
    run(options)     measure, and `save` results and figures under options.results; run again: go on
    blocks(results)  mark -> Markdown, for docs/paper.md, from saved results alone (`load`)
    claims(results)  what the paper claims, and what the saved results say to it
"""

import json
import os
import platform
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Literal, TypeVar

from benchmarks.measure import table
from benchmarks.search.store import read
from overtone.tuning import cores

RESULTS = Path(__file__).parent / "results"
DOCS = Path(__file__).parents[1] / "docs" / "paper.md"
PACKAGES = ("matplotlib", "numpy", "optuna", "overtone", "scikit-learn", "scipy", "torch")
Size = Literal["tiny", "default", "full"]
Verdict = Literal["holds", "partly", "does not hold here", "not tested here"]
Row = dict[str, Any]
T = TypeVar("T")


@dataclass(frozen=True)
class Options:
    """How large, on what, and where to."""

    size: Size = "default"
    data: Path | None = None  # of images, for the network
    results: Path = RESULTS
    workers: int = cores()  # processes
    n_seeds: int | None = None  # instead of what belongs to the size

    def pick(self, tiny: T, default: T, full: T) -> T:
        """What belongs to the size."""
        return {"tiny": tiny, "default": default, "full": full}[self.size]

    def seeds(self, tiny: int, default: int, full: int) -> range:
        """As many as asked for, or as belong to the size."""
        return range(self.n_seeds or self.pick(tiny, default, full))

    @property
    def ledgers(self) -> Path:
        """Where runs and cells are kept to go on from; not in git."""
        folder = self.results / "ledgers"
        folder.mkdir(parents=True, exist_ok=True)
        return folder


# results as data


def save(options: Options, name: str, data: Row, *, seeds: Sequence[int]) -> None:
    """`data` as NAME.json, with what it takes to measure it again; the experiment is NAME up to its first hyphen."""
    size = f" --{options.size}" * (options.size != "default")
    others = f" --seeds {options.n_seeds}" * bool(options.n_seeds) + " --data PATH" * (options.data is not None)
    about = {
        "command": f"python -m experiments {name.partition('-')[0]}{size}{others}",
        "date": time.strftime("%Y-%m-%d"),
        "size": options.size,
        "seeds": list(seeds),
        "cores": cores(),
        "versions": {"python": platform.python_version(), **_versions()},
    }
    options.results.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"about": about, **data}, indent=1)
    (options.results / f"{name}.json").write_text(text + "\n")


def load(results: Path, name: str) -> Row:
    """What was saved, with "about"; FileNotFoundError if nothing was."""
    saved: Row = json.loads((results / f"{name}.json").read_text())
    return saved


def provenance(results: Path, name: str) -> str:
    """One line for the docs: how, when and with what it was measured."""
    about = load(results, name)["about"]
    versions = ", ".join(f"{package} {number}" for package, number in about["versions"].items())
    seeds = len(about["seeds"])
    return f"`{about['command']}`, {about['date']}, {seeds} seeds, {about['cores']} cores; {versions}."


def _versions() -> dict[str, str]:
    """Of the packages that are there."""
    found = {}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


# cells


def compute(options: Options, name: str, function: Callable[..., Row], cells: Iterable[Row]) -> list[Row]:
    """`{**cell, **function(**cell)}` for every cell, in their order; those in ledgers/NAME.jsonl are not done again.

    The function is one of a module, and must be a function of the cell alone.
    """
    path, wanted = options.ledgers / f"{name}.jsonl", list(cells)
    keys = {_key(cell): cell for cell in wanted}
    done = {_key(line["cell"]): line["answer"] for line in read(path)}
    todo = [cell for key, cell in keys.items() if key not in done]
    with path.open("a") as file:
        for cell, answer in _computed(options.workers, function, todo):
            done[_key(cell)] = answer
            file.write(json.dumps({"cell": cell, "answer": answer}) + "\n")
            file.flush()
    return [{**cell, **done[_key(cell)]} for cell in wanted]


def _key(cell: Row) -> str:
    return json.dumps(cell, sort_keys=True)


def _computed(workers: int, function: Callable[..., Row], cells: list[Row]) -> Iterator[tuple[Row, Row]]:
    """As they come; with one worker in this process."""
    if workers == 1 or len(cells) <= 1:
        yield from ((cell, function(**cell)) for cell in cells)
        return
    os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"  # of the workers: a core each
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as executor:
        futures = {executor.submit(function, **cell): cell for cell in cells}
        yield from ((futures[future], future.result()) for future in as_completed(futures))


# figures


@contextmanager
def figure(
    options: Options, name: str, rows: int = 1, columns: int = 1, size: tuple[float, float] = (8, 5), **shared: Any
) -> Iterator[tuple[Any, Any]]:
    """A figure and its (rows, columns) axes to draw on; afterwards it is NAME.png."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    drawing, axes = plt.subplots(rows, columns, figsize=size, squeeze=False, layout="constrained", **shared)
    try:
        yield drawing, axes
        options.results.mkdir(parents=True, exist_ok=True)
        drawing.savefig(options.results / f"{name}.png", dpi=100)
    finally:
        plt.close(drawing)


# docs/paper.md


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper beside our measurement."""

    says: str
    where: str  # in the paper
    measured: str
    verdict: Verdict


def claim_table(claims: Iterable[Claim]) -> str:
    """All claims, as Markdown."""
    rows = [[claim.says, claim.where, claim.measured, f"**{claim.verdict}**"] for claim in claims]
    escaped = [[cell.replace("|", r"\|") for cell in row] for row in rows]  # a bar would end the cell
    return table(["the paper says", "where", "measured here", "verdict"], escaped)


def fill_docs(parts: dict[str, str], page: Path = DOCS) -> None:
    """Put each part between `<!-- MARK -->` and `<!-- /MARK -->` of the page: no number is copied by hand."""
    from benchmarks.search.report import filled  # knows all contestants: seconds to import

    page.write_text(filled(page.read_text(), parts))
