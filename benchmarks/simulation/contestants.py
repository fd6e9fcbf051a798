"""Who is simulated: our optimizers, and peers."""

from bisect import insort
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.simulation.events import Job
from benchmarks.simulation.model import Drawn
from benchmarks.simulation.objective import Objective
from overtone.optimizers import LocalSearch, Optimizer, RandomSearch, SpectralDescent, SuccessiveHalving
from overtone.optimizers.automatic import Automatic
from overtone.optimizers.halving import Rung
from overtone.optimizers.spectral_descent import ROUNDS, START
from overtone.optimizers.trial import Trial
from overtone.space import Space
from overtone.tuning import Recipe

FULL, ETA = 9.0, 3  # the largest budget of halving, and how it grows
Make = Callable[[Space, int, int], Optimizer]  # (space, seed, evaluations)


@dataclass(frozen=True)
class Contestant:
    """One of those whose trials do not depend on the workers."""

    make: Make
    n_fits: int | None = 0  # openings at which it computes; None: at all
    full: float | None = None  # the full budget, if it has budgets


def _harmonica(space: Space, seed: int, n: int) -> Optimizer:
    """Stages, then hill climbing: what `minimize` did before spectral descent."""
    return Recipe.automatic(space, n).optimizer()(space, seed)


def _halving(space: Space, seed: int, n: int) -> Optimizer:
    """Three rungs; they cost n full evaluations in all."""
    first = 3 * n
    rungs = [Rung(first // ETA**i, FULL / ETA ** (2 - i)) for i in range(3)]
    return SuccessiveHalving(space, seed, schedule=rungs)


def round_size(n: int) -> int:
    """Trials of a round of spectral descent, if nobody says."""
    return int(np.ceil((n - np.ceil(START * n)) / ROUNDS))


def _lagged(batch: float, lag: float) -> Make:
    """Both in rounds as they are usually."""

    def make(space: Space, seed: int, n: int) -> Optimizer:
        size = round_size(n)
        return SpectralDescent(space, seed, n_evaluations=n, batch=max(1, round(batch * size)), lag=round(lag * size))

    return make


OURS = {
    "automatic": Contestant(lambda space, seed, n: Automatic(space, seed, n_evaluations=n), None),
    "spectral descent": Contestant(lambda space, seed, n: SpectralDescent(space, seed, n_evaluations=n), None),
    "Harmonica, then hill climbing": Contestant(_harmonica, 3),
}
PEERS = {
    "hill climbing": Contestant(lambda space, seed, n: LocalSearch(space, seed, n_evaluations=n)),
    "random search": Contestant(lambda space, seed, n: RandomSearch(space, seed, n_evaluations=n)),
    "successive halving": Contestant(_halving, full=FULL),
}
REMEDIES = {
    f"rounds of {batch:g}, lag {lag:g}": Contestant(_lagged(batch, lag), None)
    for batch, lag in (
        (1, 0),
        (0.5, 0.5),
        (0.25, 0.75),
        (1, 0.5),
        (1, 1),
        (0.25, 1),
        (0.25, 1.75),
        (1, 2),
        (2, 0),
        (4, 0),
    )
}
CONTESTANTS = OURS | PEERS | REMEDIES


class Tpe:
    """Optuna's TPE, live: what it asks for depends on what came back by then."""

    def __init__(self, objective: Objective, drawn: Drawn, n: int, seed: int) -> None:
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self._study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed))
        self._objective, self._drawn, self._n = objective, drawn, n
        self._out: dict[int, Any] = {}
        self.values: list[float] = []

    def ask(self, n: int) -> list[Job]:
        jobs = []
        for _ in range(min(n, self._n - len(self.values))):
            trial = self._study.ask()
            on = [trial.suggest_categorical(name, [False, True]) for name in self._objective.space.parameters]
            point = tuple(2.0 * each - 1 for each in on)
            self._out[trial.number] = trial, self._objective.measure(Trial(trial.number, {}, point))
            self.values.append(self._out[trial.number][1][0])
            jobs.append(Job(trial.number))
        return jobs

    def tell(self, job: Job) -> None:
        import optuna

        trial, (_, measured) = self._out.pop(job.number)
        if self._drawn.failed(job.number):
            self._study.tell(trial, state=optuna.trial.TrialState.FAIL)
        else:
            self._study.tell(trial, measured)


class Asha:
    """Asynchronous successive halving (Li et al. 2020), live: promote whenever something can be, else draw anew."""

    def __init__(self, objective: Objective, drawn: Drawn, n: int, seed: int) -> None:
        self._objective, self._drawn, self._left = objective, drawn, float(n)  # full evaluations
        self._new = RandomSearch(objective.space, seed, n_evaluations=10**9)
        self._rungs: list[list[tuple[float, int]]] = [[], [], []]  # (value, number) of what came back, sorted
        self._promoted: list[set[int]] = [set(), set(), set()]
        self._trials: list[tuple[Trial, int]] = []  # and its rung
        self.values: list[float] = []
        self.work: list[float] = []

    def ask(self, n: int) -> list[Job]:
        jobs: list[Job] = []
        while len(jobs) < n and self._left > 1e-9:
            source, rung = self._candidate()
            number, budget = len(self._trials), FULL / ETA ** (2 - rung)
            self._trials.append((Trial(number, source.config, source.point, budget), rung))
            self.values.append(self._objective.measure(self._trials[-1][0], FULL)[0])
            self.work.append(budget / FULL)
            self._left -= self.work[-1]
            jobs.append(Job(number, self.work[-1]))
        return jobs

    def _candidate(self) -> tuple[Trial, int]:
        for rung in (1, 0):
            told = self._rungs[rung]
            for _, number in told[: len(told) // ETA]:
                if number not in self._promoted[rung]:
                    self._promoted[rung].add(number)
                    return self._trials[number][0], rung + 1
        return self._new.ask(1)[0], 0

    def tell(self, job: Job) -> None:
        trial, rung = self._trials[job.number]
        if not self._drawn.failed(job.number):
            insort(self._rungs[rung], (self._objective.measure(trial, FULL)[1], job.number))


Live = Callable[[Objective, Drawn, int, int], Tpe | Asha]
LIVE: dict[str, Live] = {"Optuna TPE": Tpe, "ASHA": Asha}
