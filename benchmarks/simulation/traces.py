"""Real optimizers in the simulation.

Ours ask for the same trials whatever the number of workers and the order in which they finish. So each is run once,
and what it asks for is kept with what it had to know for it; any number of workers then follow that trace. What does
not have this property (TPE, asynchronous halving) is driven live.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from benchmarks.simulation.events import Job
from benchmarks.simulation.model import Drawn
from overtone.optimizers import Optimizer
from overtone.optimizers.trial import Trial
from overtone.spectral.monomials import FloatArray

Measure = Callable[[Trial], tuple[float, float]]  # the true value, and what is measured


@dataclass(frozen=True)
class Trace:
    """All trials of a run, by number."""

    values: FloatArray  # true ones
    counted: np.ndarray  # which came back with a value of the full budget
    needs: np.ndarray  # trials that had to be told before this one was asked for: all with a lower number than this
    work: FloatArray
    pauses: FloatArray  # CPU seconds of the optimizer at each opening, as measured here: not part of the simulation

    def __len__(self) -> int:
        return len(self.values)

    @property
    def openings(self) -> np.ndarray:
        """The first trials after the optimizer was told what it waited for."""
        return np.flatnonzero(np.diff(self.needs, prepend=0))


def record(optimizer: Optimizer, measure: Measure, drawn: Drawn, n: int, full: float | None = None) -> Trace:
    """Told one at a time, in the order of their numbers, and asked after each for all that it can say."""
    trials: list[Trial] = []
    needs: list[int] = []
    pauses: list[float] = []
    values: list[float] = []
    n_told, pause = 0, 0.0
    while True:
        start = time.process_time()
        came = optimizer.ask(n - len(trials)) if len(trials) < n else []
        pause += time.process_time() - start
        if came:
            if n_told:
                pauses.append(pause)
            trials += came
            needs += [n_told] * len(came)
            pause = 0.0
        if n_told == len(trials):
            break
        trial = trials[n_told]
        true, measured = measure(trial)
        start = time.process_time()
        optimizer.tell(trial, None if drawn.failed(n_told) else measured)
        pause += time.process_time() - start
        values.append(true)
        n_told += 1
    budgets = [trial.budget for trial in trials]
    work = np.array([1.0 if full is None or budget is None else budget / full for budget in budgets])
    counted = np.array([work[k] >= 1 and not drawn.failed(k) for k in range(len(trials))])
    return Trace(np.array(values), counted, np.array(needs), work, np.array(pauses))


class Follower:
    """A plan that follows a trace: a trial can be asked for once all that it needs are told.

    fit_seconds: the optimizer's own time at an opening; n_fits: how many of the first ones are fits.
    """

    def __init__(self, trace: Trace, fit_seconds: float = 0.0, n_fits: int | None = None) -> None:
        self.trace = trace
        self._thinking = dict.fromkeys(trace.openings[:n_fits].tolist(), fit_seconds)
        self._next = 0
        self._told = np.zeros(len(trace) + 1, dtype=bool)
        self._prefix = 0  # trials 0 .. prefix-1 are told

    def ask(self, n: int) -> list[Job]:
        """Up to n trials."""
        first, trace = self._next, self.trace
        while self._next < min(len(trace), first + n) and trace.needs[self._next] <= self._prefix:
            self._next += 1
        return [Job(k, float(trace.work[k]), self._thinking.get(k, 0.0)) for k in range(first, self._next)]

    def tell(self, job: Job) -> None:
        """It came back."""
        self._told[job.number] = True
        while self._told[self._prefix]:
            self._prefix += 1
