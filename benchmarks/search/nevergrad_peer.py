"""Nevergrad: NGOpt and the discrete (1+1)."""

import warnings
from collections.abc import Callable, Sequence
from typing import Any

from benchmarks.search.foreign import RETRIES, Failures, active_only, is_ordered
from benchmarks.search.player import Move, Result
from benchmarks.search.problem import Problem
from overtone.space import Config


class Nevergrad:
    """An optimizer of its registry; forbidden combinations are cheap constraints, as it recommends.

    Parameters with equal levels are one repeated choice: a hundred times faster than as many choices.
    """

    def __init__(self, problem: Problem, seed: int, W: int, name: str) -> None:
        import nevergrad as ng

        self._space = problem.space
        self._groups: dict[Any, list[str]] = {}
        for each, p in self._space.parameters.items():
            self._groups.setdefault(each if p.is_continuous else (is_ordered(p), p.levels), []).append(each)
        parts = {str(i): self._part(ng, names) for i, names in enumerate(self._groups.values())}
        parametrization = ng.p.Dict(**parts)
        parametrization.random_state.seed(seed)
        if self._space.forbid:
            parametrization.register_cheap_constraint(lambda value: self._space.allows(self._config(value)))
        make = ng.optimizers.registry[name]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._optimizer = make(parametrization, budget=problem.n_evaluations, num_workers=W)
        self._failures = Failures()

    def _part(self, ng: Any, names: list[str]) -> Any:
        parameter = self._space.parameters[names[0]]
        if parameter.is_continuous:
            kind = ng.p.Log if parameter.log else ng.p.Scalar
            return kind(lower=parameter.low, upper=parameter.high)
        kind = ng.p.TransitionChoice if is_ordered(parameter) else ng.p.Choice
        return kind(list(range(len(parameter.levels))), repetitions=len(names))

    def _config(self, value: dict[str, Any]) -> Config:
        whole: dict[str, Any] = {}
        for i, names in enumerate(self._groups.values()):
            levels = self._space.parameters[names[0]].levels
            found = value[str(i)]
            whole |= (
                {names[0]: float(found)}
                if not levels
                else {name: levels[int(place)] for name, place in zip(names, found, strict=True)}
            )
        return active_only(self._space, whole)

    def ask(self, n: int) -> list[Move]:
        return [self._move() for _ in range(n)]

    def _move(self) -> Move:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for tries in range(1, RETRIES + 1):
                candidate = self._optimizer.ask()
                config = self._config(candidate.value)
                if self._space.allows(config) or tries == RETRIES:
                    return Move(config, handle=candidate)
                self._told([(candidate, None)])
        raise AssertionError("not reached")

    def tell(self, results: Sequence[Result]) -> None:
        """A failure is as bad as the worst so far."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._told([(move.handle, value) for move, value in results])

    def _told(self, results: list[tuple[Any, float | None]]) -> None:
        for candidate, number, _ in self._failures.numbers(results):
            self._optimizer.tell(candidate, number)

    def best(self) -> Config | None:
        return None


def nevergrad(name: str) -> Callable[[Problem, int, int], Nevergrad]:
    return lambda problem, seed, W: Nevergrad(problem, seed, W, name)
