"""Overtone's own optimizers as contestants, and the paper's recipe."""

from functools import partial
from typing import Any

from benchmarks.search.player import Asked
from benchmarks.search.problem import Problem
from overtone.optimizers import (
    Harmonica,
    Hyperband,
    LocalSearch,
    Optimizer,
    RandomSearch,
    SpectralDescent,
    SuccessiveHalving,
)
from overtone.optimizers.automatic import Automatic

SEQUENTIAL_BATCH = 8  # of spectral descent when one trial runs at a time: a fit for each single one costs too much
ETA = 3
PAPER: dict[str, Any] = {"sparsity": 5, "n_minimizers": 4}  # s and t of the paper
LARGE = 200  # units from which on the paper's degree of 3 is lowered to 2


def automatic(problem: Problem, seed: int, _W: int) -> Asked:
    """What `ot.minimize` does when nothing is set. The one place to change when that changes."""
    return Asked(Automatic(problem.space, seed, n_evaluations=problem.n_evaluations))


def random_search(factor: int, problem: Problem, seed: int, _W: int) -> Asked:
    return Asked(RandomSearch(problem.space, seed, n_evaluations=factor * problem.n_evaluations))


def local_search(problem: Problem, seed: int, _W: int) -> Asked:
    return Asked(LocalSearch(problem.space, seed, n_evaluations=problem.n_evaluations))


def spectral_descent_filling(problem: Problem, seed: int, W: int) -> Asked:
    """Its batch fills every worker."""
    batch = W if W > 1 else SEQUENTIAL_BATCH
    return Asked(SpectralDescent(problem.space, seed, n_evaluations=problem.n_evaluations, batch=batch))


def paper(n_stages: int, share: float, problem: Problem, seed: int, _W: int) -> Asked:
    """Harmonica-q: this share of the evaluations for the stages, random search for the rest."""
    n_samples = max(1, round(share * problem.n_evaluations / n_stages))
    base = partial(RandomSearch, n_evaluations=max(1, problem.n_evaluations - n_stages * n_samples))
    return Asked(_harmonica(problem, seed, n_stages, n_samples, base))


def paper_hyperband(problem: Problem, seed: int, _W: int) -> Asked:
    """The paper's own base: stages at a third of the full budget, then Hyperband."""
    full = _full(problem)
    n_samples = round(0.2 * problem.n_evaluations * ETA)
    base = partial(Repeated, full)
    return Asked(_harmonica(problem, seed, 3, n_samples, base, budget=full / ETA))


def _harmonica(problem: Problem, seed: int, n_stages: int, n_samples: int, base: Any, **more: Any) -> Harmonica:
    degree = 3 if problem.n < LARGE else 2
    return Harmonica(
        problem.space, seed, n_stages=n_stages, n_samples=n_samples, degree=degree, base=base, **PAPER, **more
    )


def halving(problem: Problem, seed: int, _W: int) -> Asked:
    """One bracket whose rungs, from a ninth of the full budget on, cost all evaluations together: 3 rungs of n/9."""
    full = _full(problem)
    return Asked(
        SuccessiveHalving(
            problem.space,
            seed,
            n_configurations=3 * problem.n_evaluations,
            min_budget=full / ETA**2,
            max_budget=full,
            eta=ETA,
        )
    )


def hyperband(problem: Problem, seed: int, _W: int) -> Asked:
    return Asked(Repeated(_full(problem), problem.space, seed))


def _full(problem: Problem) -> float:
    if problem.full_budget is None:
        raise ValueError(f"{problem.name} must have budgets")
    return problem.full_budget


class Repeated:
    """Hyperband again and again, with other random numbers, until the evaluations are used up."""

    def __init__(self, full: float, space: Any, seed: int) -> None:
        self.full_budget, self._space, self._seed = full, space, seed
        self._current: Optimizer = self._next()

    def _next(self) -> Optimizer:
        self._seed += 1000
        return Hyperband(self._space, self._seed, max_budget=self.full_budget, eta=ETA)

    def ask(self, n: int = 1) -> list[Any]:
        if self._current.done:
            self._current = self._next()
        return self._current.ask(n)

    def tell(self, trial: Any, value: Any) -> None:
        self._current.tell(trial, value)

    @property
    def done(self) -> bool:
        return False
