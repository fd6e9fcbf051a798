"""SMAC3: its facade for hyperparameters."""

import shutil
import tempfile
import warnings
import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.search.foreign import Failures, is_ordered
from benchmarks.search.player import Move, Result
from benchmarks.search.problem import Problem
from overtone.space import Config, Parameter


def _unused(config: Any, seed: int = 0) -> float:
    """The facade wants an objective, too; with ask and tell it is never called."""
    raise NotImplementedError


class Smac:
    """SMAC3's facade for hyperparameters: a random forest; conditions and forbidden combinations are its own."""

    def __init__(self, problem: Problem, seed: int, _W: int) -> None:
        from smac import HyperparameterOptimizationFacade, Scenario

        self._space = problem.space
        self._failures = Failures()  # at an infinite cost its model gets no number
        folder = tempfile.mkdtemp()
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        scenario = Scenario(
            self._configspace(seed),
            output_directory=folder,  # type: ignore[arg-type,unused-ignore]
            deterministic=not problem.is_noisy,
            n_trials=problem.n_evaluations,
            seed=seed,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._smac = HyperparameterOptimizationFacade(scenario, _unused, overwrite=True, logging_level=False)

    def _configspace(self, seed: int) -> Any:
        import ConfigSpace as cs  # noqa: N813

        space = cs.ConfigurationSpace(seed=seed)
        allowed = self._space.decode(self._space.draw(np.random.default_rng(seed)))  # its default must be allowed
        kinds = {name: self._dimension(cs, name, p, allowed.get(name)) for name, p in self._space.parameters.items()}
        space.add(*kinds.values())
        for name, parameter in self._space.parameters.items():
            terms = [
                cs.InCondition(kinds[name], kinds[other], self._codes(other, wanted))
                for other, wanted in parameter.when.items()
            ]
            if terms:
                space.add(cs.AndConjunction(*terms) if len(terms) > 1 else terms[0])
        for clause in self._space.forbid:
            parts = [cs.ForbiddenInClause(kinds[other], self._codes(other, wanted)) for other, wanted in clause.items()]
            space.add(cs.ForbiddenAndConjunction(*parts) if len(parts) > 1 else parts[0])
        return space

    def _codes(self, name: str, wanted: Any) -> list[int]:
        """Levels as places."""
        values = wanted if isinstance(wanted, tuple | list) else (wanted,)
        places = [self._space.parameters[name].number(value) for value in values]
        return [place for place in places if place is not None]

    @staticmethod
    def _dimension(cs: Any, name: str, parameter: Parameter, default: Any) -> Any:
        if parameter.is_continuous:
            low, high = parameter.low, parameter.high
            return cs.UniformFloatHyperparameter(name, low, high, log=parameter.log, default_value=default)
        places, default = list(range(len(parameter.levels))), parameter.number(default) or 0
        if is_ordered(parameter):
            return cs.UniformIntegerHyperparameter(name, 0, places[-1], default_value=default)
        return cs.CategoricalHyperparameter(name, places, default_value=default)

    def ask(self, n: int) -> list[Move]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return [self._move() for _ in range(n)]

    def _move(self) -> Move:
        info = self._smac.ask()
        found = dict(info.config)
        config = {
            name: float(found[name]) if p.is_continuous else p.levels[int(found[name])]
            for name, p in self._space.parameters.items()
            if name in found
        }
        return Move(config, handle=info)

    def tell(self, results: Sequence[Result]) -> None:
        from smac.runhistory import StatusType, TrialValue

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for info, cost, failed in self._failures.numbers((move.handle, value) for move, value in results):
                status = StatusType.CRASHED if failed else StatusType.SUCCESS
                self._smac.tell(info, TrialValue(cost=cost, status=status))

    def best(self) -> Config | None:
        return None
