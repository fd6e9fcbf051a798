"""The paper's synthetic function, its authors' two examples, dummy variables: what Harmonica reaches, over seeds."""

import os
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from typing import Any

import numpy as np

from benchmarks.hierarchy import SPARSE, Hierarchy, authors_function, paper_function
from benchmarks.measure import save, table
from overtone.optimizers import Harmonica, Optimizer, RandomSearch
from overtone.space import Point, Space, boolean

N, REAL, SEEDS, BASE = 60, 39, 24, 100
PAPER = {"sparsity": 5, "degree": 3, "l1_penalty": 3.0}  # 5 features, degree 3; the penalty of the authors' code
SETTINGS: dict[str, dict[str, Any]] = {
    "the paper's, T=100": {"n_samples": 100, **PAPER},
    "the paper's, T=300": {"n_samples": 300, **PAPER},
    "sparsity told, T=100": {"n_samples": 100, "sparsity": 5, "degree": 3},
    "automatic (T=164)": {},
}
NOISES = {name: (0.0, 1.0, 2.0, 4.0, 8.0) if "T=300" in name else (2.0,) for name in SETTINGS}  # A: uniform in [-A, A]
FUNCTIONS = {"h(x), section 5.4": paper_function, "the authors' second example": authors_function}
Objective = Callable[[Point], float]


def space_of(n: int) -> Space:
    return Space({f"x{i}": boolean() for i in range(n)})


def drive(optimizer: Optimizer, objective: Objective) -> list[Point]:
    """To the end; the points that were evaluated."""
    points: list[Point] = []
    while trials := optimizer.ask(1):
        points.append(trials[0].point)
        optimizer.tell(trials[0], objective(points[-1]))
    return points


# hierarchical functions


def staged(h: Hierarchy, seed: int, noise: float, settings: dict[str, Any]) -> dict[str, Any]:
    """Harmonica, and random search with as many evaluations: values as shares of what stages can reach."""
    rng = np.random.default_rng([seed, 7])
    optimizer = Harmonica(space_of(N), seed, base=partial(RandomSearch, n_evaluations=BASE), **settings)
    points = drive(optimizer, lambda point: h(point) + float(rng.uniform(-noise, noise)))
    random = drive(RandomSearch(space_of(N), seed, n_evaluations=len(points)), h)
    return {
        "stages": sum(stage.restricts for stage in optimizer.stages),
        "error": estimation_error(h, optimizer),
        "best": min(map(h, points)) / h.goal,
        "random": min(map(h, random)) / h.goal,
    }


def estimation_error(h: Hierarchy, optimizer: Harmonica, n: int = 200) -> float:
    """How far the sum of the stages' polynomials is from h where the stages have led: root mean square."""
    points = [optimizer.restricted.draw(np.random.default_rng([i, 11])) for i in range(n)]
    guess = sum(stage.polynomial(np.array(points)) for stage in optimizer.stages)
    return float(np.sqrt(np.mean((guess - np.array([h(point) for point in points])) ** 2)))


def hierarchical(function: str, name: str, noise: float, seed: int) -> dict[str, Any]:
    """One function, one seed."""
    found = staged(FUNCTIONS[function](N, seed), seed, noise, SETTINGS[name])
    return {"function": function, "settings": name, "noise": noise, **found}


# the sparse example, and dummies


def sparse(seed: int) -> dict[str, Any]:
    """The authors' first example with their settings but 100 samples: are the features exact, is -50 reached?"""
    settings = SETTINGS["the paper's, T=100"]
    optimizer = Harmonica(space_of(N), seed, n_stages=1, base=partial(RandomSearch, n_evaluations=1), **settings)
    points = drive(optimizer, lambda point: float(SPARSE(np.array([point]))[0]))
    exact = {monomial for monomial, _ in optimizer.stages[0].polynomial} == {monomial for monomial, _ in SPARSE}
    return {"exact": exact, "reached": float(SPARSE(np.array(points[-1:]))[0]) == -50.0}


def dummies(kind: str, seed: int) -> dict[str, Any]:
    """How many of 21 dummies among 60 variables the stages fix, all settings automatic."""
    rng = np.random.default_rng([seed, 3])
    order = rng.permutation(N)[:REAL]  # which variables are real
    h = paper_function(REAL, seed) if kind == "h(x) of 39" else _planted(rng)
    scale = 2.0 if kind == "h(x) of 39" else 1.0
    optimizer = Harmonica(space_of(N), seed, base=partial(RandomSearch, n_evaluations=1))
    drive(optimizer, lambda point: h(tuple(point[i] for i in order)) + scale * float(rng.normal()))
    fixed = {unit for stage in optimizer.stages for restriction, _ in stage.minimizers for unit in restriction}
    return {"kind": kind, "fixed": len(fixed), "dummies": len(fixed - set(order.tolist()))}


def _planted(rng: np.random.Generator) -> Objective:
    """Six features of degree 1 to 3 with weights 2 to 7; a deviation of 1 is a tenth of theirs."""
    features = [(2.0 + i, rng.choice(REAL, 1 + i % 3, replace=False).tolist()) for i in range(6)]
    return lambda point: float(sum(a * np.prod([point[i] for i in feature]) for a, feature in features))


# all of it


CASES = [(function, name, noise) for function in FUNCTIONS for name in SETTINGS for noise in NOISES[name]]
KINDS = ("h(x) of 39", "planted, 6 features")


def main(seeds: int = SEEDS) -> None:
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as executor:
        staged_jobs = [executor.submit(hierarchical, *case, seed) for case in CASES for seed in range(seeds)]
        sparse_jobs = [executor.submit(sparse, seed) for seed in range(seeds)]
        dummy_jobs = [executor.submit(dummies, kind, seed) for kind in KINDS for seed in range(seeds)]
        report(*([job.result() for job in jobs] for jobs in (staged_jobs, sparse_jobs, dummy_jobs)))


def report(rows: list[dict[str, Any]], examples: list[dict[str, Any]], chosen: list[dict[str, Any]]) -> None:
    """Over the seeds: of hierarchical functions, of the sparse example, of dummies."""
    summary = [_summary(rows, *case) for case in dict.fromkeys(map(_case, rows))]
    counts = [_counts(chosen, kind) for kind in dict.fromkeys(row["kind"] for row in chosen)]
    exact, reached = (sum(row[key] for row in examples) for key in ("exact", "reached"))
    totals = {"seeds": len(examples), "exact": exact, "reached": reached}
    save("paper", {"hierarchical": summary, "sparse": totals, "dummies": counts})
    print(f"\nHierarchical functions of {N} variables")
    print(table(["function", "settings", "noise A", "stages", "error", "error <= A", "best", "random", "better"],
                [_cells(row) for row in summary]))  # fmt: skip
    print(f"\nThe authors' first example: features exact in {exact}, minimum reached in {reached} of {len(examples)}")
    for row in counts:
        print(
            f"Dummies, {row['kind']}: {row['dummies']} of {row['fixed']} fixed, in {row['runs']} of {row['seeds']} runs"
        )


def _case(row: dict[str, Any]) -> tuple[str, str, float]:
    return row["function"], row["settings"], row["noise"]


def _summary(rows: list[dict[str, Any]], function: str, name: str, noise: float) -> dict[str, Any]:
    """Means over the seeds, but the median of the error."""
    mine = [row for row in rows if _case(row) == (function, name, noise)]
    return {
        "function": function,
        "settings": name,
        "noise": noise,
        "seeds": len(mine),
        "error": float(np.median([row["error"] for row in mine])),
        "within": float(np.mean([row["error"] <= max(noise, 1e-6) for row in mine])),
        "better": float(np.mean([row["best"] > row["random"] for row in mine])),
        **{key: float(np.mean([row[key] for row in mine])) for key in ("stages", "best", "random")},
    }


def _counts(rows: list[dict[str, Any]], kind: str) -> dict[str, Any]:
    mine = [row for row in rows if row["kind"] == kind]
    totals = {key: sum(row[key] for row in mine) for key in ("fixed", "dummies")}
    return {"kind": kind, "seeds": len(mine), "runs": sum(row["dummies"] > 0 for row in mine), **totals}


def _cells(row: dict[str, Any]) -> list[Any]:
    cells = [row["function"], row["settings"], f"{row['noise']:g}", f"{row['stages']:.1f}", f"{row['error']:.2g}"]
    return [*cells, *(f"{row[key]:.0%}" for key in ("within", "best", "random", "better"))]
