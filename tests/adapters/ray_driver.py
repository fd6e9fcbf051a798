"""A tuner that kills itself, so it needs a process of its own: KILLED_AFTER=8 python ray_driver.py ADDRESS FOLDER."""

import os
import signal
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import ray
from ray import tune

import overtone as ot
from overtone.adapters.ray import HarmonicaSearch

HARMONICA = partial(ot.Harmonica, n_samples=12, n_stages=1, base=partial(ot.RandomSearch, n_evaluations=4))


def param_space() -> dict[str, Any]:
    return {"a": tune.choice([False, True]), "m": {"b": tune.choice([False, True])}, "n": tune.randint(0, 4), "c": 3}


def trainable(folder: Path) -> Callable[[dict[str, Any]], dict[str, float]]:
    """By its value, not by its name, so that Ray's workers need not find this file."""

    def train(config: dict[str, Any]) -> dict[str, float]:
        time.sleep(0.2)
        with (folder / "log").open("a") as log:
            log.write("trial\n")
        return {"loss": 3.0 * config["a"] - 2.0 * config["m"]["b"] + 0.01 * config["n"] * config["c"]}

    return train


class Killed(tune.Callback):  # type: ignore[misc]
    """The end after some trials, while Ray writes nothing: it does not survive a file that is half written."""

    def __init__(self) -> None:
        self._n_done = 0

    def on_trial_complete(self, iteration: int, trials: list[Any], trial: Any, **info: Any) -> None:  # noqa: ARG002
        self._n_done += 1
        if str(self._n_done) == os.environ.get("KILLED_AFTER"):
            time.sleep(3)  # for the copy of the last state, which a thread makes
            os.kill(os.getpid(), signal.SIGKILL)


def tuner(folder: Path) -> tune.Tuner:
    return tune.Tuner(
        trainable(folder),
        param_space=param_space(),
        tune_config=tune.TuneConfig(
            search_alg=HarmonicaSearch(optimizer=HARMONICA),
            metric="loss",
            mode="min",
            num_samples=-1,
            max_concurrent_trials=2,
            reuse_actors=True,
        ),
        run_config=tune.RunConfig(name="run", storage_path=str(folder), verbose=0, callbacks=[Killed()]),
    )


if __name__ == "__main__":
    ray.init(address=sys.argv[1], log_to_driver=False)
    tuner(Path(sys.argv[2])).fit()
