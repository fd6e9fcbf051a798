"""Shares and medians over the seeds; where recovery begins, and how that grows."""

from collections import defaultdict
from collections.abc import Sequence
from math import comb
from typing import Any

import numpy as np

from experiments.frame import Row
from experiments.theorems.cells import METHODS

SURE = 0.9  # share of the seeds that makes a number of samples enough


def means(rows: list[Row], by: Sequence[str], of: Sequence[str]) -> list[Row]:
    """Rows with the same `by`, and the means of the others."""
    return [
        {**case, "seeds": len(mine), **{key: float(np.mean([row[key] for row in mine])) for key in of}}
        for case, mine in grouped(rows, by)
    ]


def medians(rows: list[Row], by: Sequence[str], of: str) -> list[Row]:
    """The same with medians and quartiles of one number."""
    found = []
    for case, mine in grouped(rows, by):
        low, middle, high = np.quantile([row[of] for row in mine], [0.25, 0.5, 0.75]).tolist()
        found.append({**case, "seeds": len(mine), of: middle, "low": low, "high": high})
    return found


def grouped(rows: list[Row], by: Sequence[str]) -> list[tuple[Row, list[Row]]]:
    groups: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for row in rows:
        groups[tuple(row[key] for key in by)].append(row)
    return [(dict(zip(by, case, strict=True)), groups[case]) for case in groups]


def enough(cells: list[Row]) -> list[Row]:
    """For each n, d, s and method: the least T from which on at least 90 % of the seeds are exact; None beyond."""
    found = []
    for case, mine in grouped(cells, ("n", "degree", "s", "method")):
        ordered = sorted(mine, key=lambda row: int(row["T"]))
        failing = [i for i, row in enumerate(ordered) if row["exact"] < SURE]
        first = failing[-1] + 1 if failing else 0
        found.append({**case, "T": ordered[first]["T"] if first < len(ordered) else None})
    return found


def n_monomials(n: int, degree: int) -> int:
    return sum(comb(n, k) for k in range(1, degree + 1))


def growth(table: list[Row], method: str) -> float | None:
    """p of T ~ (s log N)^p over all n, d and s; None if T is known less than twice."""
    known = [row for row in table if row["method"] == method and row["T"] is not None]
    if len({row["s"] for row in known}) < 2:
        return None
    x = [row["s"] * np.log(n_monomials(row["n"], row["degree"])) for row in known]
    return float(np.polyfit(np.log(x), np.log([row["T"] for row in known]), 1)[0])


def constants(table: list[Row]) -> dict[str, list[float]]:
    """T / (s log N) for each method."""
    return {
        method: [
            row["T"] / (row["s"] * float(np.log(n_monomials(row["n"], row["degree"]))))
            for row in table
            if row["method"] == method and row["T"] is not None
        ]
        for method in METHODS
    }
