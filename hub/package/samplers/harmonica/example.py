"""Thirty switches, of which five matter, three of them only together: Harmonica says which."""

import optuna
import optunahub

harmonica = optunahub.load_module("samplers/harmonica")


def objective(trial: optuna.Trial) -> float:
    """5 x1 + 3 x2 - 2 x3 x4 x5, with x = -1 or 1."""
    x = [1 if trial.suggest_categorical(f"x{i:02d}", [False, True]) else -1 for i in range(30)]
    return 5 * x[1] + 3 * x[2] - 2 * x[3] * x[4] * x[5]


if __name__ == "__main__":
    sampler = harmonica.HarmonicaSampler(seed=0, n_stages=1)
    study = optuna.create_study(sampler=sampler)
    study.optimize(objective, n_trials=160)
    print(study.best_value)
    for stage in sampler.stages(study):
        print(stage)
