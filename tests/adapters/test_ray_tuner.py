"""Runs on a real local Ray: failures, a killed tuner, early stopping, and Harmonica through Ray's own OptunaSearch."""

import json
import math
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import overtone as ot
from overtone.running.journal import read_history
from tests.adapters.ray_cluster import local_ray

pytestmark = pytest.mark.heavy
DRIVER = Path(__file__).with_name("ray_driver.py")


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with local_ray() as there:
        yield there


def tuned(folder: Path, train: Any, search: Any, space: Any = None, **settings: Any) -> Any:
    from ray import tune

    config = tune.TuneConfig(
        **{"search_alg": search, "num_samples": -1, "max_concurrent_trials": 2, "reuse_actors": True, **settings}
    )
    run = tune.RunConfig(name="run", storage_path=str(folder), verbose=0)
    return tune.Tuner(train, param_space=space or {}, tune_config=config, run_config=run).fit()


@pytest.mark.usefixtures("address")
def test_trials_that_fail_or_are_no_number_and_maximize(tmp_path: Path) -> None:
    from ray import tune

    from overtone.adapters.ray import HarmonicaSearch

    def train(config: dict[str, Any]) -> dict[str, float]:
        if config["x2"] and config["x3"]:
            raise RuntimeError("together they do not work")
        return {"score": math.nan if config["x2"] else 3.0 * config["x0"] - 2.0 * config["m"]["x1"]}

    space = {f"x{i}": tune.choice([False, True]) for i in (0, 2, 3)} | {"m": {"x1": tune.choice([False, True])}}
    search = HarmonicaSearch(optimizer=partial(ot.RandomSearch, n_evaluations=12))
    results = tuned(tmp_path, train, search, space, metric="score", mode="max")
    assert len(results) == 12
    assert results.get_best_result().metrics["score"] == search.result.best.value == 3.0
    for record in search.result.trials:
        assert (record.outcome.value is None) == record.trial.config["x2"]
    reasons = [record.outcome.reason for record in search.result.trials]
    assert results.num_errors == reasons.count("it raised an error") > 0
    assert reasons.count("its last score is nan") > 0


def evaluated(folder: Path) -> int:
    return len((folder / "log").read_text().splitlines())


def test_a_killed_tuner_is_restored_and_the_run_is_the_same(address: str, tmp_path: Path) -> None:
    from ray import tune

    from overtone.adapters.ray.domains import Domains
    from tests.adapters import ray_driver

    environment = {**os.environ, "TUNE_GLOBAL_CHECKPOINT_S": "0", "KILLED_AFTER": "8"}
    driver = subprocess.run([sys.executable, str(DRIVER), address, str(tmp_path)], env=environment, timeout=300)
    assert driver.returncode == -signal.SIGKILL
    assert evaluated(tmp_path) >= 8
    train = ray_driver.trainable(tmp_path)
    results = tune.Tuner.restore(str(tmp_path / "run"), train, param_space=ray_driver.param_space()).fit()
    saved = sorted((tmp_path / "run").glob("searcher-state-*.json"))[-1]
    state = json.loads(saved.read_text())
    history = read_history([state["start"], *state["events"]])
    told = [(record.trial.config, record.outcome.value) for record in history.records]
    optimizer, expected = ray_driver.HARMONICA(Domains.of(ray_driver.param_space()).space, 0), list[Any]()
    while trials := optimizer.ask(1):
        config: dict[str, Any] = trials[0].config
        value = 3.0 * config["a"] - 2.0 * config["m/b"] + 0.03 * config["n"]
        expected.append((config, pytest.approx(value)))
        optimizer.tell(trials[0], value)
    assert told == expected
    assert len(results) == len(expected) > 11
    assert not results.errors
    assert evaluated(tmp_path) < len(expected) + 8  # what had come back was not evaluated again


@pytest.mark.usefixtures("address")
def test_asha_stops_the_base_early_but_no_stage(tmp_path: Path) -> None:
    from ray import tune
    from ray.tune.schedulers import ASHAScheduler

    from overtone.adapters.ray import FullStages, HarmonicaSearch

    def train(config: dict[str, Any]) -> None:
        while True:  # ends only because it is stopped
            tune.report({"loss": 3.0 * config["x0"] - 2.0 * config["x1"] + config["x2"] + 0.3 * config["r"]})

    space = ot.Space({f"x{i}": ot.boolean() for i in range(4)} | {"r": ot.real(0, 1)})
    make = partial(
        ot.Harmonica, n_samples=10, n_stages=1, n_minimizers=1, base=partial(ot.RandomSearch, n_evaluations=8)
    )
    search = HarmonicaSearch(space, optimizer=make, metric="loss", mode="min")
    asha = ASHAScheduler(metric="loss", mode="min", max_t=6, grace_period=1, reduction_factor=4)
    results = tuned(tmp_path, train, search, scheduler=FullStages(asha, search))
    frame = results.get_dataframe()
    samples = frame.trial_id.map(search.is_sample)
    assert list(frame.training_iteration[samples]) == [6] * 10
    assert len(frame.training_iteration[~samples]) == 8
    assert min(frame.training_iteration[~samples]) == 1
    assert max(frame.training_iteration[~samples]) == 6
    assert not any(record.outcome.value is None for record in search.result.trials)


@pytest.mark.usefixtures("address")
def test_the_sampler_for_optuna_in_rays_own_search(tmp_path: Path) -> None:
    import optuna
    from ray import tune
    from ray.tune.search.optuna import OptunaSearch

    from overtone.adapters.optuna import HarmonicaSampler

    def train(config: dict[str, Any]) -> dict[str, float]:
        if config["x3"] and config["x2"]:
            raise RuntimeError("together they do not work")
        return {"loss": 3.0 * config["x0"] - 2.0 * config["m"]["x1"] + 0.01 * config["k"]}

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    space = {f"x{i}": tune.choice([False, True]) for i in (0, 2, 3)} | {"m": {"x1": tune.choice([False, True])}}
    storage = optuna.storages.InMemoryStorage()
    sampler = HarmonicaSampler(n_samples=32, n_stages=1, seed=0)
    search = OptunaSearch(sampler=sampler, storage=storage, study_name="tuned")
    results = tuned(
        tmp_path, train, search, {**space, "k": tune.randint(0, 4)}, metric="loss", mode="min", num_samples=38
    )
    assert len(results) == 38
    study = optuna.load_study(study_name="tuned", storage=storage)
    (stage,) = sampler.stages(study)
    assert any("m/x1" in each for each in stage.fixed)
    assert results.get_best_result().metrics["loss"] < -1.95
