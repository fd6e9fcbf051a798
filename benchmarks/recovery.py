"""Which planted features are found: `recover()` against LassoCV and matching pursuit that is told the sparsity."""

import json
import os
from concurrent.futures import ProcessPoolExecutor, as_completed
from itertools import product
from multiprocessing import get_context
from typing import Any

import numpy as np

from benchmarks.measure import RESULTS, save, table
from benchmarks.peers import lasso_cv, matching_pursuit
from benchmarks.planted import PAPER_STAGE_1, Problem, paper_stage_1, planted
from overtone.spectral.columns import Columns
from overtone.spectral.correlation import Dictionary
from overtone.spectral.monomials import Monomial
from overtone.spectral.selection import select

SEEDS = 20
GRID = [
    {"n": n, "s": s, "noise": noise, "T": T}
    for n, s, noise, T in product((60, 200), (5, 20), (0.0, 0.1, 0.5), (100, 150, 200, 300, 400))
]
PAPER = [{"paper": True, "T": T} for T in (100, 150, 200, 300)]
DONE = RESULTS / "recovery.jsonl"  # one line a finished instance: running again goes on where it stopped


def instance(case: dict[str, Any], seed: int) -> dict[str, Any]:
    """One problem, all methods: the share of the planted weight (paper) or features found, and the false ones."""
    from overtone.spectral import recover

    paper = "paper" in case
    problem = paper_stage_1(case["T"], seed) if paper else planted(case["n"], case["T"], case["s"], case["noise"], seed)
    s = len(PAPER_STAGE_1) if paper else case["s"]
    answer = recover(problem.points, problem.values)
    told = select(Dictionary(Columns.parity(problem.points), 3), problem.values, sparsity=s)
    lasso = lasso_cv(problem.points, problem.values)
    found = {
        "recover": list(answer.polynomial.terms),
        "recover told s": list(told.monomials),
        "LassoCV": list(lasso.terms),
        "LassoCV top s": [monomial for monomial, _ in lasso.top(s)],
        "OMP told s": matching_pursuit(problem.points, problem.values, s),
    }
    rows = {name: _score(problem, monomials, paper) for name, monomials in found.items()}
    return {**case, "seed": seed, "verdict": answer.verdict, "r2": answer.r2, "methods": rows}


def _score(problem: Problem, monomials: list[Monomial], paper: bool) -> dict[str, float]:
    wanted = {m: abs(a) if paper else 1.0 for m, a in (PAPER_STAGE_1 if paper else problem.truth).items()}
    chosen = {monomial for monomial in monomials if monomial}
    return {
        "found": sum(weight for monomial, weight in wanted.items() if monomial in chosen) / sum(wanted.values()),
        "false": float(len(chosen - problem.truth.keys())),
    }


def main(seeds: int = SEEDS) -> None:
    RESULTS.mkdir(exist_ok=True)
    rows = [json.loads(line) for line in DONE.read_text().splitlines()] if DONE.exists() else []
    have = {_key(row) for row in rows}
    todo = [(case, seed) for seed in range(seeds) for case in PAPER + GRID if _key({**case, "seed": seed}) not in have]
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as executor, DONE.open("a") as file:
        for future in as_completed([executor.submit(instance, case, seed) for case, seed in todo]):
            rows.append(future.result())
            file.write(json.dumps(rows[-1]) + "\n")
            file.flush()
            print(f"\r{len(rows)} of {len(have) + len(todo)} problems", end="", flush=True)
    report(rows)


def _key(row: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(row.get(name) for name in ("paper", "n", "s", "noise", "T", "seed"))


def report(rows: list[dict[str, Any]]) -> None:
    """Medians over the seeds, with quartiles in the data file."""
    names = list(rows[0]["methods"])
    summary = []
    for case in PAPER + GRID:
        mine = [row for row in rows if _key(row)[:5] == _key(case)[:5]]
        if mine:
            summary.append({**case, "seeds": len(mine), **{name: _summary(mine, name) for name in names},
                            "ok": sum(row["verdict"] == "ok" for row in mine) / len(mine),
                            "wrongly_ok": _wrongly_ok(mine)})  # fmt: skip
    save("recovery", summary)
    print("\nThe paper's first-stage features among smaller ones, n=60, noise 10 %: share of the weight found (false)")
    print(table(["T", *names], [[c["T"], *(_cell(c[name]) for name in names)] for c in summary if "paper" in c]))
    print(
        "\nShare of the planted features found, median over seeds (mean number of false ones); share of verdicts 'ok'"
    )
    print(table(["n", "s", "noise", "T", *names, "verdict ok"],
                [[c["n"], c["s"], f"{c['noise']:.0%}", c["T"], *(_cell(c[name]) for name in names), f"{c['ok']:.0%}"]
                 for c in summary if "paper" not in c]))  # fmt: skip
    wrong = [c["wrongly_ok"] for c in summary if "paper" not in c]
    print(f"\nVerdict 'ok' with less than half of the features found: {np.mean(wrong):.2%} of all runs")


def _summary(rows: list[dict[str, Any]], name: str) -> dict[str, float]:
    found = [row["methods"][name]["found"] for row in rows]
    low, median, high = np.quantile(found, [0.25, 0.5, 0.75]).tolist()
    false = float(np.mean([row["methods"][name]["false"] for row in rows]))
    return {"found": median, "mean": float(np.mean(found)), "low": low, "high": high, "false": false}


def _wrongly_ok(rows: list[dict[str, Any]]) -> float:
    wrong = [row["verdict"] == "ok" and row["methods"]["recover"]["found"] < 0.5 for row in rows]
    return float(np.mean(wrong))


def _cell(summary: dict[str, float]) -> str:
    return f"{summary['found']:.2f} ({summary['false']:.1f})"
