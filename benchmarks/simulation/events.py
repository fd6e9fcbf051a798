"""The simulation: the runner's own loop against workers of which only the durations exist. No real time passes.

As in `overtone.running.runner`: ask for as many trials as workers are free, write them, hand them out; wait for the
first, take all that came by then, write them, tell them. Each step costs the coordinator its time, one after another.
"""

import heapq
from collections import deque
from dataclasses import dataclass
from typing import Protocol

from benchmarks.simulation.model import Costs, Drawn


@dataclass(frozen=True)
class Job:
    """A trial to be evaluated."""

    number: int
    work: float = 1.0  # its share of a full evaluation
    thinking: float = 0.0  # seconds that the optimizer needed before it could ask for this


class Plan(Protocol):
    """An optimizer as the coordinator sees it."""

    def ask(self, n: int) -> list[Job]:
        """Up to n trials."""

    def tell(self, job: Job) -> None:
        """It came back."""


@dataclass(frozen=True)
class Run:
    """What happened, and when."""

    ends: dict[int, float]  # seconds at which each trial was told
    seconds: float  # in all
    busy: float  # of the workers
    working: float  # of the coordinator

    def use(self, n_workers: int) -> float:
        """Share of the workers' time in which they worked."""
        return self.busy / (n_workers * self.seconds)


def simulate(plan: Plan, drawn: Drawn, n_workers: int, costs: Costs, mean: float = 60.0) -> Run:
    """To the end of the plan; `mean`: seconds of a trial."""
    now, busy, working = 0.0, 0.0, 0.0
    out: list[tuple[float, int, int, Job]] = []  # (end, number, attempt)
    waiting: deque[tuple[Job, int]] = deque()
    ends: dict[int, float] = {}

    def work(seconds: float) -> None:
        nonlocal now, working
        now += seconds
        working += seconds

    while True:
        free = n_workers - len(out) - len(waiting)
        asked = plan.ask(free) if free > 0 else []
        work(sum(job.thinking for job in asked) + len(asked) * costs.ask + costs.written(len(asked)))
        waiting.extend((job, 0) for job in asked)
        while waiting and len(out) < n_workers:
            job, attempt = waiting.popleft()
            work(costs.dispatch)
            seconds = mean * job.work * float(drawn.seconds[job.number, attempt])
            busy += seconds
            heapq.heappush(out, (now + seconds, job.number, attempt, job))
        if not out:
            return Run(ends, now, busy, working)
        work(costs.flight * len(out))
        now = max(now, out[0][0])
        told = []
        while out and out[0][0] <= now:
            _, number, attempt, job = heapq.heappop(out)
            if drawn.crashes[number, attempt] and attempt + 1 < drawn.seconds.shape[1]:
                waiting.append((job, attempt + 1))
            else:
                told.append(job)
        work(costs.written(len(told)) + len(told) * costs.tell)
        for job in sorted(told, key=lambda each: each.number):
            ends[job.number] = now
            plan.tell(job)
