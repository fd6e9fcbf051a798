"""Optuna: TPE, multivariate or not, and Gaussian processes."""

import warnings
from collections.abc import Callable, Sequence
from typing import Any

from benchmarks.search.foreign import RETRIES, is_active, is_ordered
from benchmarks.search.player import Move, Result
from benchmarks.search.problem import Problem
from overtone.space import Config, Parameter, Value


class Optuna:
    """A study with a sampler: `ask` with the parameters that are active, `tell`."""

    def __init__(self, problem: Problem, sampler: Any) -> None:
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        warnings.filterwarnings("ignore", category=optuna.exceptions.ExperimentalWarning)
        self._failed = optuna.trial.TrialState.FAIL
        self._space = problem.space
        self._study = optuna.create_study(sampler=sampler)

    def ask(self, n: int) -> list[Move]:
        return [self._move() for _ in range(n)]

    def _move(self) -> Move:
        for tries in range(1, RETRIES + 1):
            trial = self._study.ask()
            config = self._suggested(trial)
            if self._space.allows(config) or tries == RETRIES:
                return Move(config, handle=trial)
            self._study.tell(trial, state=self._failed)
        raise AssertionError("not reached")

    def _suggested(self, trial: Any) -> Config:
        config: Config = {}
        for name in self._space._order:
            parameter = self._space.parameters[name]
            if is_active(parameter, config):
                config[name] = self._suggest(trial, name, parameter)
        return {name: config[name] for name in self._space.parameters if name in config}

    def _suggest(self, trial: Any, name: str, parameter: Parameter) -> Value:
        if parameter.is_continuous:
            return float(trial.suggest_float(name, parameter.low, parameter.high, log=parameter.log))
        if is_ordered(parameter):
            return parameter.levels[int(trial.suggest_int(name, 0, len(parameter.levels) - 1))]
        return parameter.levels[int(trial.suggest_categorical(name, range(len(parameter.levels))))]

    def tell(self, results: Sequence[Result]) -> None:
        for move, value in results:
            if value is None:
                self._study.tell(move.handle, state=self._failed)
            else:
                self._study.tell(move.handle, value)

    def best(self) -> Config | None:
        return None


def optuna_tpe(multivariate: bool) -> Callable[[Problem, int, int], Optuna]:
    """TPE; the constant liar, its default, keeps the trials of a round apart."""

    def make(problem: Problem, seed: int, _W: int) -> Optuna:
        from optuna.samplers import TPESampler

        return Optuna(problem, TPESampler(seed=seed) if multivariate else TPESampler(seed=seed, multivariate=False))

    return make


def optuna_gp(problem: Problem, seed: int, _W: int) -> Optuna:
    """Gaussian processes."""
    import torch
    from optuna.samplers import GPSampler

    torch.set_num_threads(1)
    return Optuna(problem, GPSampler(seed=seed, deterministic_objective=not problem.is_noisy))
