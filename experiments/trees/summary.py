"""Medians over the seeds, and how many samples an error takes."""

from collections import defaultdict
from itertools import product
from typing import Any

import numpy as np

from experiments.frame import Row
from experiments.trees.cells import EPSILONS
from experiments.trees.labels import NONE, gamma
from experiments.trees.learners import LEARNERS

CASE = ("leaves", "kind", "share", "T", "learner")


def errors(rows: list[Row]) -> list[Row]:
    """Median and quartiles of the squared error, median of the classification error."""
    groups: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for row in {tuple(row[key] for key in (*CASE, "seed")): row for row in rows}.values():
        groups[tuple(row[key] for key in CASE)].append(row)
    summary = []
    for case, mine in sorted(groups.items()):
        low, middle, high = np.quantile([row["squared"] for row in mine], [0.25, 0.5, 0.75]).tolist()
        wrong = float(np.median([row["wrong"] for row in mine]))
        named = dict(zip(CASE, case, strict=True))
        summary.append(
            {**named, "gamma": gamma(named["share"]), "squared": middle, "low": low, "high": high, "wrong": wrong}
        )
    return summary


def needed(rows: list[Row]) -> list[Row]:
    """T(s, eps) without noise: the fewest samples from which on the error stays <= eps, median over the trees.

    Between two numbers of samples, log T is interpolated along the error. None: not reached by most of the trees.
    """
    clean = [row for row in rows if row["kind"] == NONE]
    found = []
    for leaves, eps, learner in product(sorted({row["leaves"] for row in clean}), EPSILONS, LEARNERS):
        curves: dict[int, list[tuple[int, float]]] = defaultdict(list)
        for row in clean:
            if (row["leaves"], row["learner"]) == (leaves, learner):
                curves[row["seed"]].append((row["T"], row["squared"]))
        middle = float(np.median([reaching(sorted(curve), eps) for curve in curves.values()]))
        T = middle if np.isfinite(middle) else None
        found.append({"leaves": leaves, "eps": eps, "learner": learner, "T": T})
    return found


def reaching(curve: list[tuple[int, float]], eps: float) -> float:
    """Where a curve of (T, error) falls to eps for good; infinity if its end is above."""
    above = [i for i, (_, error) in enumerate(curve) if error > eps]
    if not above:
        return float(curve[0][0])
    if above[-1] == len(curve) - 1:
        return float("inf")
    (T0, e0), (T1, e1) = curve[above[-1]], curve[above[-1] + 1]
    return float(np.exp(np.interp(e0 - eps, [0.0, e0 - e1], [np.log(T0), np.log(T1)])))


def exponent(x: list[float], T: list[float | None]) -> float | None:
    """p of T ~ x^p by least squares in logarithms, where T is known; None if that is less than twice."""
    known = [(a, b) for a, b in zip(x, T, strict=True) if b is not None]
    if len(known) < 2:
        return None
    a, b = np.log(np.array(known)).T
    return float(np.polyfit(a, b, 1)[0])


def exponents(table: list[Row]) -> list[Row]:
    """For each learner: p of T ~ s^p at each eps, and of T ~ (1/eps)^p at each s."""
    found = []
    for learner in LEARNERS:
        mine = [row for row in table if row["learner"] == learner]
        for key, other in (("leaves", "eps"), ("eps", "leaves")):
            for fixed in sorted({row[other] for row in mine}):
                line = [row for row in mine if row[other] == fixed]
                x = [float(row[key]) if key == "leaves" else 1 / row[key] for row in line]
                p = exponent(x, [row["T"] for row in line])
                found.append({"learner": learner, "in": "s" if key == "leaves" else "1/eps", other: fixed, "p": p})
    return found
