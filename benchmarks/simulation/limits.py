"""On paper: how many workers the coordinator, the ledger and a barrier can feed."""

import math
from functools import cache

import numpy as np
from scipy.special import betaln, ndtr

from benchmarks.simulation.model import Costs


@cache
def expected_maximum(tail: str, n: int) -> float:
    """Of n durations of mean 1: the integral of 1 - F(x)^n; for Pareto in closed form, x_m n B(n, 1 - 1/a)."""
    if tail == "equal":
        return 1.0
    if tail == "Pareto":
        a = 1.5
        return float((a - 1) / a * n * math.exp(betaln(n, 1 - 1 / a)))
    x = np.exp(np.linspace(-8, 8, 40_001))
    survival = -np.expm1(n * np.log(np.maximum(ndtr(np.log(x) + 0.5), 1e-300)))  # log x is normal, mean -1/2
    return float(x[0] + np.trapezoid(survival, x))


def barrier_workers(tail: str, n: int) -> float:
    """More workers than this do not make n trials with a barrier after them faster: the longest one binds.

    n/W is what the work takes, E max what the longest trial does; they are equal at W = n / E max.
    """
    return n / expected_maximum(tail, n)


def trial_seconds(costs: Costs, together: int = 1) -> float:
    """Of the coordinator for one trial, if `together` share each of the two transactions."""
    return costs.ask + costs.tell + costs.dispatch + 2 * (costs.event + costs.append / together)


def coordinator_workers(costs: Costs, seconds: float) -> float:
    """Workers that it keeps busy with trials of so many seconds.

    A loop of k trials takes k e + c, where e is what each costs and c what the loop does (two transactions, a look at
    what is out). Meanwhile W / seconds trials a second come back, so k grows until the loop keeps up: if W e < seconds.
    """
    return seconds / (costs.ask + costs.tell + costs.dispatch + 2 * costs.event)


def ledger_workers(costs: Costs, seconds: float, together: int) -> float:
    """Workers for which the ledger alone is fast enough, with so many trials in a transaction."""
    return seconds / (2 * (costs.event + costs.append / together))
