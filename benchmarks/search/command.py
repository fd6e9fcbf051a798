"""The command line of the contest, and what of it is still to be run."""

import argparse
import multiprocessing
import os
import sys
import time
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import NamedTuple

from benchmarks.search import contestants as who
from benchmarks.search import problems as what
from benchmarks.search.arena import ANY, cells_of, play
from benchmarks.search.cache import private_folder
from benchmarks.search.contestants import CONTESTANTS
from benchmarks.search.player import MODES, Mode
from benchmarks.search.problems import DEVELOPMENT, PROBLEMS
from benchmarks.search.report import fill_docs, report
from benchmarks.search.store import Row, append, folder, path_of, read

SEEDS, CAP, PROCESSES = 10, 60.0, 2
TINY_BUDGET = 20


class Cell(NamedTuple):
    """What is run at once."""

    problem: str
    contestant: str
    mode: str
    seed: int


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments or [])
    where = options.results or folder()
    private_folder(where)
    for name in options.forget:
        _forget(where, name)
    seeds = 1 if options.tiny else options.seeds
    cells = [cell for cell in chosen(options, seeds) if not _is_done(where, cell)]
    print(f"{len(cells)} cells to run", flush=True)
    run(cells, where, options.processes, options.cap, TINY_BUDGET if options.tiny else None)
    summary = None if options.run_only else report(where, keep=options.keep)
    if options.docs and summary is not None:
        fill_docs(summary)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m benchmarks.search", description="The contest; run again to go on.")
    parser.add_argument("--problems", nargs="*", default=list(PROBLEMS), choices=list(PROBLEMS), metavar="NAME")
    parser.add_argument(
        "--contestants", nargs="*", default=list(CONTESTANTS), choices=list(CONTESTANTS), metavar="NAME"
    )
    parser.add_argument("--modes", nargs="*", default=list(MODES), choices=list(MODES), metavar="MODE")
    parser.add_argument("--seeds", type=int, default=SEEDS, help="how many")
    parser.add_argument("--first", type=int, default=0, help="the first seed: others than those of a tuning")
    parser.add_argument("--cap", type=float, default=CAP, help="seconds of wall time for one cell")
    parser.add_argument("--processes", type=int, default=PROCESSES)
    parser.add_argument("--tiny", action="store_true", help=f"one seed, {TINY_BUDGET} evaluations: does all of it run?")
    parser.add_argument("--forget", nargs="*", default=[], choices=list(CONTESTANTS), metavar="NAME",
                        help="delete what these contestants did, and run it again")  # fmt: skip
    parser.add_argument("--results", type=Path, default=None, help="folder of the cells")
    parser.add_argument("--development", action="store_true", help="leave out the held-out problems: for tuning")
    parser.add_argument("--docs", action="store_true", help="fill the tables of docs/contest.md")
    parser.add_argument("--keep", action="store_true",
                        help="the last report's numbers stay where it had more seeds, as on a new machine")  # fmt: skip
    parser.add_argument("--run-only", action="store_true", help="no table, no plots")
    return parser


def chosen(options: argparse.Namespace, seeds: int) -> list[Cell]:
    """Seed by seed, so that a contest that is stopped has something of every cell; what is missing is said."""
    modes: list[Mode] = options.modes
    wanted = [name for name in options.problems if name in DEVELOPMENT or not options.development]
    problems = [name for name in wanted if not _said(name, what.missing(name))]
    names = [name for name in options.contestants if not _said(name, who.missing(CONTESTANTS[name]))]
    pairs = [(p, c) for p in problems for c in names if not CONTESTANTS[c].skips(what.problem(p))]
    numbers = range(options.first, options.first + seeds)
    return [Cell(p, c, mode, seed) for seed in numbers for p, c in pairs for mode in cells_of(c, modes)]


def _said(name: str, why: str) -> bool:
    if why:
        print(f"{name} is left out: {why}", file=sys.stderr)
    return bool(why)


def _is_done(where: Path, cell: Cell) -> bool:
    return any(row["seed"] == cell.seed for row in read(path_of(where, *cell[:3])))


def _forget(where: Path, contestant: str) -> None:
    for problem in PROBLEMS:
        for mode in (ANY, *MODES):
            path_of(where, problem, contestant, mode).unlink(missing_ok=True)


def run(cells: list[Cell], where: Path, processes: int, cap: float, n_evaluations: int | None) -> None:
    """In so many processes, each with one thread; every result is written at once."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"
    start = time.monotonic()
    with ProcessPoolExecutor(processes, mp_context=multiprocessing.get_context("spawn")) as executor:
        jobs: dict[Future[Row], Cell] = {executor.submit(play, *cell, cap, n_evaluations): cell for cell in cells}
        for number, job in enumerate(as_completed(jobs), 1):
            try:
                append(where, job.result())
            except Exception as error:  # noqa: BLE001 - one cell must not end a contest of an hour
                print(
                    f"{' / '.join(map(str, jobs[job]))}: {type(error).__name__}: {error}", file=sys.stderr, flush=True
                )
            if number % 100 == 0 or number == len(cells):
                print(f"{number} of {len(cells)} cells, {(time.monotonic() - start) / 60:.1f} min", flush=True)
