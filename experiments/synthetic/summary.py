"""Over the seeds: medians of errors with a line through them, what is reached, and how times grow."""

from typing import Any

import numpy as np

from experiments.frame import Row
from experiments.synthetic.times import EVALUATIONS

CASE = ("function", "n", "settings", "noise")
BEGIN = 20  # evaluations from which on a power is fitted: before, the samples are random


def cases(rows: list[Row]) -> list[Row]:
    """Means over the seeds, but the median and quartiles of the error."""
    found = []
    for case in dict.fromkeys(tuple(row[key] for key in CASE) for row in rows):
        mine = [row for row in rows if tuple(row[key] for key in CASE) == case]
        low, middle, high = np.quantile([row["error"] for row in mine], [0.25, 0.5, 0.75]).tolist()
        named = dict(zip(CASE, case, strict=True))
        within = float(np.mean([row["error"] <= max(named["noise"], 1e-6) for row in mine]))
        better = float(np.mean([row["best"] > row["random"] for row in mine]))
        means = {key: float(np.mean([row[key] for row in mine])) for key in ("stages", "best", "random")}
        numbers = {"error": middle, "low": low, "high": high, "within": within, "better": better, **means}
        found.append({**named, "seeds": len(mine), **numbers})
    return found


def lines(summary: list[Row]) -> list[Row]:
    """error = slope A + intercept through the medians, and its R2, for each function, n and settings with >= 2 A."""
    found = []
    for case in dict.fromkeys(tuple(row[key] for key in CASE[:3]) for row in summary):
        mine = [row for row in summary if tuple(row[key] for key in CASE[:3]) == case]
        if len(mine) < 2:
            continue
        A, error = (np.array([row[key] for row in mine]) for key in ("noise", "error"))
        slope, intercept = np.polyfit(A, error, 1)
        left = float(((error - slope * A - intercept) ** 2).sum())
        spread = float(((error - error.mean()) ** 2).sum())
        fit = {"slope": float(slope), "intercept": float(intercept), "r2": 1 - left / spread if spread else 0.0}
        found.append({**dict(zip(CASE[:3], case, strict=True)), **fit, "levels": len(mine)})
    return found


def growth(times: list[Row]) -> list[Row]:
    """Each row of times with p of seconds ~ evaluations^p, and the seconds of 500, extrapolated by p if not reached."""
    return [{**row, **_power(row["readings"], row["n_done"], row["cpu"])} for row in times]


def _power(readings: dict[str, float], done: int, seconds: float) -> dict[str, Any]:
    """Through the later half of the readings: the power still grows at first."""
    known = [(int(k), s) for k, s in readings.items() if int(k) >= max(BEGIN, done / 2)]
    if len(known) < 2:
        return {"power": None, "all": seconds if done >= EVALUATIONS else None}
    k, s = np.log(np.array(known)).T
    power = float(np.polyfit(k, s, 1)[0])
    return {"power": power, "all": seconds * max(1.0, EVALUATIONS / done) ** power}
