"""How much `forbid` hurts recovery: clauses of several kinds reject a share of the uniform samples."""

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from multiprocessing import get_context
from typing import Any

import numpy as np

from benchmarks.measure import save, table
from overtone.optimizers import RandomSearch
from overtone.optimizers.stage import Settings, Stage, learn
from overtone.space import Space, boolean
from overtone.spectral.monomials import FloatArray, Monomial, products

N, NOISE, SEEDS, SAMPLES = 60, 0.1, 20, (150, 300)
DRAWS = 1000  # to count what is kept, and to measure the error of the polynomial
Clause = dict[str, bool]


def clauses(kind: str, columns: Sequence[int], k: int) -> list[Clause]:
    """k clauses, or groups of them, over columns in this order.

    pairs: two together; triples: three together; hub: one column with each of k others; equal: x_i = -x_j.
    """
    if kind == "hub":
        return [_clause(columns[0], other) for other in columns[1 : k + 1]]
    size = 3 if kind == "triples" else 2
    groups = [columns[size * i : size * (i + 1)] for i in range(k)]
    if kind == "equal":
        return [{f"x{i}": value, f"x{j}": value} for i, j in groups for value in (False, True)]
    return [_clause(*group) for group in groups]


def _clause(*columns: int) -> Clause:
    return {f"x{i}": True for i in columns}


CASES: list[dict[str, Any]] = [
    {"kind": "none", "where": "-", "k": 0},
    *({"kind": "pairs", "where": "irrelevant", "k": k} for k in (1, 8)),
    *({"kind": "pairs", "where": "relevant", "k": k} for k in (1, 3, 6)),
    {"kind": "triples", "where": "irrelevant", "k": 14},
    {"kind": "triples", "where": "relevant", "k": 4},
    {"kind": "hub", "where": "irrelevant", "k": 8},
    *({"kind": "hub", "where": "relevant", "k": k} for k in (2, 4, 5, 6, 8)),
    {"kind": "equal", "where": "irrelevant", "k": 3},
    *({"kind": "equal", "where": "relevant", "k": k} for k in (1, 3)),
]


def truth_of(rng: np.random.Generator) -> dict[Monomial, float]:
    """Four single columns, three pairs and a triple over 13 columns, 0 to 12 before they are shuffled."""
    features = [(0,), (1,), (2,), (3,), (4, 5), (6, 7), (8, 9), (10, 11, 12)]
    place = rng.permutation(N)
    weights = rng.uniform(0.5, 1.5, len(features)) * rng.choice([-1, 1], len(features))
    return {tuple(sorted(int(place[i]) for i in s)): float(a) for s, a in zip(features, weights, strict=True)}


def instance(case: Mapping[str, Any], T: int, seed: int) -> dict[str, Any]:
    """One function, one set of clauses: a stage of Harmonica on T samples of what is allowed."""
    rng = np.random.default_rng([seed, T])
    truth = truth_of(rng)
    relevant = rng.permutation(sorted({i for s in truth for i in s})).tolist()
    others = rng.permutation([i for i in range(N) if i not in relevant]).tolist()
    columns = relevant if case["where"] == "relevant" else others
    space = Space({f"x{i}": boolean() for i in range(N)}, clauses(case["kind"], columns, case["k"]))
    scale = NOISE * float(np.sqrt(sum(a**2 for a in truth.values())))
    search = RandomSearch(space, seed, n_evaluations=T, stage=1)
    for trial in search.ask(T):
        search.tell(trial, float(_values(truth, np.array([trial.point]))[0] + scale * rng.standard_normal()))
    stage = learn(space, search.results(), [], Settings())
    return {**case, "T": T, "seed": seed, "verdict": stage.verdict, "warned": bool(stage.warning),
            **_measures(space), **_scores(space, stage, truth)}  # fmt: skip


def _values(truth: Mapping[Monomial, float], points: FloatArray) -> FloatArray:
    return np.asarray(products(points, list(truth)) @ np.array(list(truth.values())))


def _measures(space: Space) -> dict[str, float]:
    """The share of uniform draws that is kept, and the largest mean of a monomial of degree <= 2 among those."""
    rng = np.random.default_rng(0)
    drawn = space.draw_unchecked(rng, DRAWS)
    kept = np.mean([space.allows(space.decode(point)) for point in drawn])
    points = np.array([space.draw(rng) for _ in range(DRAWS)])
    pairs = points.T @ points / DRAWS
    np.fill_diagonal(pairs, points.mean(axis=0))
    return {"kept": float(kept), "bent": float(np.abs(pairs).max())}


def _scores(space: Space, stage: Stage, truth: Mapping[Monomial, float]) -> dict[str, float]:
    """Share of the weight found, false features, errors of the coefficients and of the values, relative."""
    found = dict(stage.polynomial)
    weight = sum(map(abs, truth.values()))
    wrong = [found.get(s, 0.0) - truth.get(s, 0.0) for s in found.keys() | truth.keys()]
    rng = np.random.default_rng(1)
    points = np.array([space.draw(rng) for _ in range(DRAWS)])
    values = _values(truth, points)
    return {
        "found": sum(abs(a) for s, a in truth.items() if s in found) / weight,
        "false": float(len(found.keys() - truth.keys())),
        "coefficients": float(np.linalg.norm(wrong) / np.linalg.norm(list(truth.values()))),
        "values": float(np.std(stage.polynomial(points) - values) / values.std()),
    }


def main(seeds: int = SEEDS) -> None:
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    jobs = product(CASES, SAMPLES, range(seeds))
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as executor:
        rows = [future.result() for future in [executor.submit(instance, *job) for job in jobs]]
    report(rows)


def report(rows: Sequence[Mapping[str, Any]]) -> None:
    """Means over the seeds."""
    cases = [(row["T"], row["kind"], row["where"], row["k"]) for row in rows]
    summary = [_summary(rows, *case) for case in sorted(set(cases), key=lambda case: (case[0], cases.index(case)))]
    save("forbidden", summary)
    print(f"\nRecovery under `forbid`: 8 features of {N} switches, noise {NOISE:.0%}")
    header = ["T", "clauses", "on columns", "kept", "bent", "found", "false", "coefficients", "values", "ok", "warned"]
    print(table(header, [_cells(row) for row in summary]))


def _summary(rows: Sequence[Mapping[str, Any]], T: int, kind: str, where: str, k: int) -> dict[str, Any]:
    case = {"T": T, "kind": kind, "where": where, "k": k}
    mine = [row for row in rows if all(row[key] == value for key, value in case.items())]
    names = ("kept", "bent", "found", "false", "coefficients", "values", "warned")
    means = {name: float(np.mean([row[name] for row in mine])) for name in names}
    return {**case, "seeds": len(mine), **means, "ok": float(np.mean([row["verdict"] == "ok" for row in mine]))}


def _cells(row: Mapping[str, Any]) -> list[Any]:
    which = f"{row['k']} {row['kind']}" if row["k"] else "none"
    shares = [f"{row[name]:.0%}" for name in ("coefficients", "values", "ok", "warned")]
    numbers = [f"{row['kept']:.0%}", f"{row['bent']:.2f}", f"{row['found']:.0%}", f"{row['false']:.1f}"]
    return [row["T"], which, row["where"], *numbers, *shares]
