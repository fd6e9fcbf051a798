"""A process that works on a study of `test_optuna_sampler`: `python -m tests.adapters.optuna_worker ADDRESS TRIALS`."""

import json
import sys
import time
from typing import Any

import optuna

from overtone.adapters.optuna import HarmonicaSampler
from tests.adapters.optuna_storages import opened

N = 10  # switches


def make_sampler() -> HarmonicaSampler:
    return HarmonicaSampler(seed=3, n_samples=36, n_stages=2, degree=2, base=optuna.samplers.RandomSampler)


def value(params: dict[str, Any]) -> float:
    signs = [1 if params[f"x{i}"] else -1 for i in range(N)]
    return float(5 * signs[1] - 3 * signs[2] * signs[4] + signs[7])


def objective(trial: optuna.Trial) -> float:
    params = {f"x{i}": trial.suggest_categorical(f"x{i}", [False, True]) for i in range(N)}
    time.sleep(0.02)
    return value(params)


def main(address: str, n_trials: int) -> None:
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    sampler = make_sampler()
    with opened(address) as storage:
        study = optuna.load_study(study_name="shared", storage=storage, sampler=sampler)
        study.optimize(objective, n_trials=n_trials)
        print(json.dumps([stage.to_dict() for stage in sampler.stages(study)]))  # noqa: T201


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
