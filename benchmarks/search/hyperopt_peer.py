"""Hyperopt: its TPE."""

import logging
import math
from collections.abc import Sequence
from typing import Any

from benchmarks.search.foreign import RETRIES, active_only, is_ordered
from benchmarks.search.player import Move, Result
from benchmarks.search.problem import Problem
from overtone.space import Config, Parameter


class Hyperopt:
    """Its TPE, one proposal at a time; those that are out are known to it as running."""

    def __init__(self, problem: Problem, seed: int, _W: int) -> None:
        import hyperopt

        logging.getLogger("hyperopt").setLevel(logging.ERROR)
        self._hyperopt, self._seed = hyperopt, seed
        self._space = problem.space
        dimensions = {name: self._dimension(name, p) for name, p in self._space.parameters.items()}
        self._domain = hyperopt.Domain(lambda _: 0.0, dimensions)
        self._trials = hyperopt.Trials()

    def _dimension(self, name: str, parameter: Parameter) -> Any:
        hp = self._hyperopt.hp
        if parameter.is_continuous and parameter.log:
            return hp.loguniform(name, math.log(parameter.low), math.log(parameter.high))
        if parameter.is_continuous:
            return hp.uniform(name, parameter.low, parameter.high)
        if is_ordered(parameter):
            return hp.uniformint(name, 0, len(parameter.levels) - 1)
        return hp.choice(name, list(range(len(parameter.levels))))

    def ask(self, n: int) -> list[Move]:
        return [self._move() for _ in range(n)]

    def _move(self) -> Move:
        trials = self._trials
        for tries in range(1, RETRIES + 1):
            new = trials.new_trial_ids(1)
            self._seed += 1_000_003
            found = self._hyperopt.tpe.suggest(new, self._domain, trials, self._seed % 2**31, verbose=False)
            trials.insert_trial_docs(found)
            trials.refresh()
            doc = trials._dynamic_trials[-1]
            config = active_only(self._space, self._read(doc))
            if self._space.allows(config) or tries == RETRIES:
                return Move(config, handle=doc)
            self._note(doc, None)
        raise AssertionError("not reached")

    def _read(self, doc: Any) -> dict[str, Any]:
        values = {name: vals[0] for name, vals in doc["misc"]["vals"].items()}
        return {
            name: float(values[name]) if p.is_continuous else p.levels[int(values[name])]
            for name, p in self._space.parameters.items()
        }

    def _note(self, doc: Any, value: float | None) -> None:
        h = self._hyperopt
        doc["state"] = h.JOB_STATE_DONE
        doc["result"] = {"status": h.STATUS_FAIL} if value is None else {"status": h.STATUS_OK, "loss": value}

    def tell(self, results: Sequence[Result]) -> None:
        for move, value in results:
            self._note(move.handle, value)
        self._trials.refresh()

    def best(self) -> Config | None:
        return None
