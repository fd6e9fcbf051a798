"""Optuna's own tests of samplers, and what they do not ask: stages, several processes, kills, failures."""

import json
import pickle
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from overtone import report
from overtone.errors import InputError
from overtone.space import Space, boolean, choice, ordinal, real
from tests.adapters.optuna_storages import address_at, opened
from tests.postgresql import Server

try:  # Optuna's classes are needed when this file is read; without it, each test says what is missing
    import optuna
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
    from optuna.samplers import CmaEsSampler, RandomSampler, TPESampler
    from optuna.storages import RetryHeartbeatStaleTrialCallback
    from optuna.testing.pytest_samplers import (
        BasicSamplerTestCase,
        RelativeSamplerTestCase,
        SingleOnlySamplerTestCase,
    )
    from optuna.trial import TrialState

    from overtone.adapters.optuna import HarmonicaSampler, distributions, suggest
    from overtone.adapters.optuna.sampler import BASE, GIVEN, TAG
    from tests.adapters import optuna_worker as worker
except ModuleNotFoundError as error:
    if error.name != "optuna":
        raise
    names = ("BasicSamplerTestCase", "RelativeSamplerTestCase", "SingleOnlySamplerTestCase")
    BasicSamplerTestCase, RelativeSamplerTestCase, SingleOnlySamplerTestCase = (type(name, (), {}) for name in names)

pytestmark = pytest.mark.heavy
NAMES = [f"x{i}" for i in range(10)]
SWITCHES = Space({name: boolean() for name in NAMES})
Trial = Any


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    yield
    optuna.logging.set_verbosity(optuna.logging.INFO)


# ---- Optuna's own suite ----


class TestInTheFirstStage(BasicSamplerTestCase, RelativeSamplerTestCase, SingleOnlySamplerTestCase):  # type: ignore[misc]
    @pytest.fixture
    def sampler(self) -> Callable[[], Any]:
        return HarmonicaSampler


class TestThroughAllStages(BasicSamplerTestCase, RelativeSamplerTestCase, SingleOnlySamplerTestCase):  # type: ignore[misc]
    @pytest.fixture
    def sampler(self) -> Callable[[], Any]:
        return lambda: HarmonicaSampler(n_samples=3, n_stages=2)


# ---- stages ----


def signs(trial: Trial) -> list[int]:
    return [1 if trial.suggest_categorical(name, [False, True]) else -1 for name in NAMES]


def planted(trial: Trial) -> float:
    x = signs(trial)
    return float(5 * x[1] - 3 * x[2] * x[4] + x[7])


def make(**more: Any) -> Any:
    return HarmonicaSampler(**{"n_samples": 40, "n_stages": 2, "degree": 2, "base": RandomSampler, **more})


def study_of(sampler: Any, objective: Callable[[Trial], Any] = planted, n: int = 60, **more: Any) -> Any:
    study = optuna.create_study(sampler=sampler, **more)
    study.optimize(objective, n_trials=n, catch=ZeroDivisionError)
    return study


def params(study: Any) -> list[dict[str, Any]]:
    return [trial.params for trial in study.trials]


def tags(study: Any) -> list[str]:
    return [trial.system_attrs.get(TAG, "") for trial in study.trials]


@pytest.mark.parametrize("given", ["nothing", "distributions", "space"])
def test_a_stage_finds_what_matters_and_fixes_it(given: str) -> None:
    space = {"nothing": None, "distributions": distributions(SWITCHES), "space": SWITCHES}[given]
    sampler = make(space=space)
    study = study_of(sampler)
    first = sampler.stages(study)[0]
    assert {tuple(first.names[c] for c in monomial): round(a) for monomial, a in first.polynomial} == {
        ("x1",): 5,
        ("x2", "x4"): -3,
        ("x7",): 1,
    }
    assert tags(study)[:40] == ["1"] * 40
    assert all(tag.startswith("2 ") for tag in tags(study)[40:])
    assert all(not p["x1"] and not p["x7"] and p["x2"] == p["x4"] for p in params(study)[40:])
    assert len({tuple(p.values()) for p in params(study)[:40]}) > 35  # of 1,024, each drawn on its own
    assert study.best_value == -9


def test_maximize_is_minimize_of_the_negative() -> None:
    low, high = make(), make()
    study = study_of(low, n=90)
    mirrored = study_of(high, lambda trial: -planted(trial), n=90, direction="maximize")
    assert params(study) == params(mirrored)
    assert low.stages(study) == high.stages(mirrored)
    assert BASE in tags(study)


def test_nothing_is_kept_between_trials() -> None:
    """A new sampler, or one that was pickled, for each trial: the same trials."""
    straight = study_of(make(base=TPESampler), n=95)
    study = optuna.create_study(sampler=make(base=TPESampler))
    for number in range(95):
        study.sampler = make(base=TPESampler) if number % 2 else pickle.loads(pickle.dumps(study.sampler))  # noqa: S301
        study.optimize(planted, n_trials=1)
    assert params(study) == params(straight)
    assert tags(study) == tags(straight)
    assert tags(study)[-1] == BASE


def test_one_sampler_for_two_studies() -> None:
    sampler = make()
    one = study_of(sampler)
    study_of(sampler, lambda trial: -planted(trial))
    assert sampler.stages(one) == make().stages(one)


@pytest.mark.parametrize("name", ["random", "tpe", "cmaes"])
def test_any_base_stays_in_what_is_left(name: str) -> None:
    cmaes = partial(CmaEsSampler, warn_independent_sampling=False)
    base = {"random": RandomSampler, "tpe": TPESampler, "cmaes": cmaes}[name]
    kinds = {**distributions(SWITCHES), "k": IntDistribution(1, 300, log=True), "u": FloatDistribution(0, 1)}
    sampler = make(space=kinds, base=base, n_stages=1, n_minimizers=3, n_samples=60)
    study = optuna.create_study(sampler=sampler)
    for _ in range(90):
        trial = study.ask(kinds)
        x = {name: 1 if trial.params[name] else -1 for name in NAMES}
        study.tell(trial, 5 * x["x1"] - 3 * x["x2"] * x["x4"] + 2 * (trial.params["u"] - 0.3) ** 2)
    (stage,) = sampler.stages(study)
    restricted = stage.apply(sampler.history(study).space)
    late = [trial for trial in sampler.history(study).records if trial.trial.stage == "base"]
    assert len(late) == 30
    assert len(stage.minimizers) == 3
    assert all(any(_fits(record.trial.point, each) for each in restricted.mixtures[0]) for record in late)


def _fits(point: tuple[float, ...], restriction: Any) -> bool:
    return all(
        wanted[0] - 1e-9 <= point[unit] <= wanted[1] + 1e-9 if isinstance(wanted, tuple) else point[unit] == wanted
        for unit, wanted in restriction.items()
    )


def test_without_stages_it_is_the_base() -> None:
    sampler = make(n_stages=0)
    study = study_of(sampler, n=5)
    assert tags(study) == [BASE] * 5
    assert sampler.stages(study) == []


@pytest.mark.parametrize("base", ["tpe", 3])
def test_a_base_is_what_makes_a_sampler(base: Any) -> None:
    with pytest.raises(InputError, match="`base` must be what makes a sampler"):
        HarmonicaSampler(base=TPESampler() if base == "tpe" else base)


def test_a_space_is_one_of_ours_or_of_optunas() -> None:
    with pytest.raises(InputError, match="'a' is 3"):
        HarmonicaSampler({"a": 3})


# ---- spaces ----


def test_conditions_and_forbidden_combinations_of_a_space() -> None:
    space = Space(
        {
            "kind": choice(["sgd", "adam", "rms"]),
            "momentum": ordinal([0.0, 0.5, 0.9, 0.99], when={"kind": "sgd"}),
            "rate": real(1e-4, 1e-1, log=True),
            **{name: boolean() for name in NAMES[:4]},
        },
        forbid=[{"x0": True, "x1": True}],
    )

    def objective(trial: Trial) -> float:
        config: dict[str, Any] = suggest(trial, space)
        assert space.allows(config)
        assert ("momentum" in config) == (config["kind"] == "sgd")
        return float(3 * config["x2"] + 2 * (config["kind"] == "adam") + 2 * (config.get("momentum") == 0.9))

    sampler = make(space=space, n_samples=80)
    study = study_of(sampler, objective, n=120)
    assert len(study.get_trials(states=[TrialState.COMPLETE])) == 120
    assert "x2 = False" in sampler.stages(study)[0].fixed


def test_conditional_suggestions_are_drawn_and_the_rest_is_staged() -> None:
    def objective(trial: Trial) -> float:
        x = signs(trial)
        depth = trial.suggest_int("depth", 1, 1000) if x[0] > 0 else trial.suggest_float("rate", 0.1, 0.9, step=0.1)
        return float(5 * x[1] + 3 * x[2] + depth / 1e4)

    sampler = make()
    study = study_of(sampler, objective, n=90)
    assert set(sampler.infer_relative_search_space(study, study.trials[-1])) == set(NAMES)
    assert {"x1 = False", "x2 = False"} <= set(sampler.stages(study)[0].fixed)
    assert len({trial.params["depth"] for trial in study.trials if "depth" in trial.params}) > 12


def test_a_space_that_shrinks_keeps_its_samples() -> None:
    """The first trials all have `late`; then one has not."""
    sampler = make(n_samples=30)

    def objective(trial: Trial) -> float:
        extra = trial.suggest_float("late", 0, 1) if trial.number < 29 else 0.0
        return planted(trial) + 0.01 * extra

    study = study_of(sampler, objective, n=40)
    assert Counter(tag.split()[0] for tag in tags(study)) == {"1": 30, "2": 10}


def test_choices_of_any_kind() -> None:
    """Optuna lets objects be choices, and equal ones; numbers get levels or a range."""
    kinds = {
        "object": CategoricalDistribution([None, 1, "1", float("nan")]),
        "few": FloatDistribution(0.1, 0.5, step=0.1),
        "many": IntDistribution(0, 1000, step=10),
        "log": IntDistribution(1, 5, log=True),
        "one": IntDistribution(3, 3),
    }
    sampler = make(space=kinds, n_samples=20, n_stages=1)
    study = optuna.create_study(sampler=sampler)
    for _ in range(40):
        trial = study.ask(kinds)
        study.tell(trial, trial.params["few"] + trial.params["many"] / 100 + (trial.params["object"] == "1"))
    seen = {name: {str(p[name]) for p in params(study)} for name in kinds}
    assert seen["object"] == {"None", "1", "nan"}
    assert seen["log"] == {"1", "2", "3", "4", "5"}
    assert seen["one"] == {"3"}
    assert all(p["many"] % 10 == 0 and type(p["many"]) is int for p in params(study))
    assert len(sampler.stages(study)) == 1


AFTER_A_STAGE = """
import optuna
from optuna.samplers import RandomSampler
from overtone.adapters.optuna import HarmonicaSampler

def objective(trial):
    return sum(trial.suggest_int(name, 0, 9) for name in "abcdef")

study = optuna.create_study(sampler=HarmonicaSampler(n_samples=10, n_stages=1, base=RandomSampler))
study.optimize(objective, n_trials=20)
print([trial.params for trial in study.trials])
"""


def test_a_base_draws_the_same_in_every_process() -> None:
    """Whatever order sets have there."""
    command = [sys.executable, "-W", "ignore", "-c", AFTER_A_STAGE]
    runs = [subprocess.run(command, env={"PYTHONHASHSEED": h}, capture_output=True, check=True).stdout for h in "123"]
    assert runs[0] == runs[1] == runs[2] != b""


# ---- trials of every state ----


def test_a_stage_learns_what_fails() -> None:
    def objective(trial: Trial) -> float:
        x = signs(trial)
        return 1 / 0 if x[3] > 0 and x[5] > 0 else 3.0 * x[0]

    sampler = make(n_samples=80)
    study = study_of(sampler, objective, n=110)
    assert sampler.stages(study)[0].n_failed == sum(t.state == TrialState.FAIL for t in study.trials[:80])
    assert sampler.stages(study)[0].crashes == ({"x3": True, "x5": True},)
    assert all(trial.state == TrialState.COMPLETE for trial in study.trials[80:])


def test_infinite_values_are_failures_and_pruned_trials_have_their_last_value() -> None:
    def objective(trial: Trial) -> float:
        value = planted(trial)
        if trial.number in (3, 4):
            return float("inf")
        trial.report(value, step=1)
        if value > 6 or trial.number == 9:
            raise optuna.TrialPruned
        return value

    sampler = make()
    study = study_of(sampler, objective)
    assert any(trial.state == TrialState.PRUNED for trial in study.trials[:40])
    assert sampler.stages(study)[0].n_failed == 2
    assert "x1 = False" in sampler.stages(study)[0].fixed


def test_enqueued_trials_are_evaluated_but_are_no_samples() -> None:
    sampler = make()
    study = optuna.create_study(sampler=sampler)
    study.enqueue_trial({"x0": False, "x5": True})
    study.enqueue_trial(dict.fromkeys(NAMES, True))
    study.optimize(planted, n_trials=1)
    study.enqueue_trial({"x9": True})
    study.optimize(planted, n_trials=61)
    assert params(study)[0]["x5"]
    assert params(study)[1] == dict.fromkeys(NAMES, True)  # nothing was left to sample
    assert Counter(tag.partition(" ")[0] for tag in tags(study)) == {GIVEN: 2, "": 1, "1": 40, "2": 19}
    assert sampler.stages(study)[0].n_samples == 40


@pytest.mark.filterwarnings("ignore:RetryHeartbeatStaleTrialCallback is experimental")
def test_a_trial_that_is_tried_again_counts_once() -> None:
    """As Optuna does when the heartbeat of a worker stops."""
    sampler = make(n_samples=20)
    study = study_of(sampler, n=5)
    trial = study.ask()
    planted(trial)
    study.tell(trial, state=TrialState.FAIL)
    RetryHeartbeatStaleTrialCallback()(study, study.trials[5])
    study.optimize(planted, n_trials=15)
    assert params(study)[6] == params(study)[5]
    (stage,) = sampler.stages(study)
    assert (stage.n_samples, stage.n_failed) == (20, 0)


def test_trials_of_others_are_no_samples() -> None:
    study = study_of(TPESampler(seed=0), n=10)
    study.sampler = make()
    study.optimize(planted, n_trials=45)
    assert study.sampler.stages(study)[0].n_samples == 40
    assert sum(tag.startswith("2 ") for tag in tags(study)) == 5


def test_threads() -> None:
    sampler = make()
    study = optuna.create_study(sampler=sampler)
    study.optimize(planted, n_trials=80, n_jobs=4)
    assert len({tuple(sorted(t.params.items())) for t in study.trials if t.system_attrs[TAG] == "1"}) > 35
    assert {"x1 = False", "x7 = False"} <= set(sampler.stages(study)[0].fixed)


def test_the_study_as_a_report() -> None:
    sampler = make()
    study = study_of(sampler, lambda trial: -planted(trial), n=90, direction="maximize")
    history = sampler.history(study)
    assert history.best is not None
    assert history.best.outcome.value == study.best_value == 9
    assert "x1" in report.text(history)
    assert "spectrum_1" in report.figures(history)
    with pytest.raises(InputError, match="parameters that all its trials share"):
        make().history(optuna.create_study())


# ---- several processes on one storage, one of them killed ----


def test_processes_on_sqlite(tmp_path: Path) -> None:
    processes_agree(f"sqlite:///{tmp_path}/study.db")


def test_processes_on_postgresql(postgresql: Server) -> None:
    processes_agree(address_at(postgresql))


def processes_agree(address: str) -> None:
    with opened(address) as storage:
        _processes_agree(address, optuna.create_study(study_name="shared", storage=storage))


def _processes_agree(address: str, study: Any) -> None:
    with start(address, 1000) as victim:
        while len(study.get_trials(deepcopy=False)) < 5 and victim.poll() is None:
            time.sleep(0.02)
        victim.kill()
    known = len(study.get_trials(deepcopy=False))
    with ExitStack() as stack:
        others = [stack.enter_context(start(address, 30)) for _ in range(3)]
        for process in others:
            stack.callback(process.kill)
        said = [json.loads(process.communicate(timeout=500)[0]) for process in others]
    sampler = worker.make_sampler()
    stages = sampler.stages(study)
    assert len(study.trials) == known + 90
    assert all(trial.state == TrialState.COMPLETE for trial in study.trials[known:])
    assert len(stages) == 2
    assert {name for name in stages[0].fixed if "x1" in name or "x7" in name} == {"x1 = False", "x7 = False"}
    last = json.loads(json.dumps([stage.to_dict() for stage in stages]))
    assert all(each == last[: len(each)] for each in said)  # who ended early knew less, but nothing else
    first = [tuple(trial.params.items()) for trial in study.trials if trial.system_attrs.get(TAG) == "1"]
    assert len(set(first)) > 0.9 * len(first)  # 2**10 configurations: a few come twice by chance
    assert study.best_value == -9


def start(address: str, n_trials: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.adapters.optuna_worker", address, str(n_trials)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2])
