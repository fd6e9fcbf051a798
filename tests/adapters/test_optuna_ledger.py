"""A run in a real Optuna storage: live, complete after a kill, and shown by the real optuna-dashboard."""

import json
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

import overtone as ot
from overtone.running.ledger import SqliteLedger
from tests.adapters.optuna_storages import address_at, opened
from tests.postgresql import Server

pytestmark = pytest.mark.heavy
SPACE = ot.Space(
    {
        "kind": ot.choice(["sgd", "adam", None]),
        "momentum": ot.ordinal([0.5, 0.9, 0.99], when={"kind": "sgd"}),
        "rate": ot.real(1e-4, 1e-1, levels=4, log=True),
        "width": ot.integer(1, 4),
        **{f"x{i}": ot.boolean() for i in range(4)},
    }
)


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    yield
    optuna.logging.set_verbosity(optuna.logging.INFO)


def value(config: dict[str, Any]) -> float:
    if config["x0"] and config["width"] == 4:
        raise ValueError("out of memory")
    return float(3 * config["x1"] + 2 * (config["rate"] < 1e-3) - config["width"] / 10)


def run(ledger: Any, **more: Any) -> ot.Result:
    settings: dict[str, Any] = {"n_evaluations": 60, "n_workers": 1, "progress": False, **more}
    return ot.minimize(value, SPACE, ledger=ledger, **settings)


def load(storage: Any) -> Any:
    import optuna

    return optuna.load_study(study_name="run", storage=storage)


def test_every_trial_is_there_with_what_is_known_of_it() -> None:
    from optuna.storages import InMemoryStorage
    from optuna.trial import TrialState

    from overtone.adapters.optuna import OptunaLedger

    with OptunaLedger(storage := InMemoryStorage(), "run") as ledger:
        result = run(ledger, goal="maximize")
        study = load(storage)  # complete when `minimize` returns
    assert [trial.params for trial in study.trials] == [record.trial.config for record in result.trials]
    assert [trial.number for trial in study.trials] == list(range(60))
    for trial, record in zip(study.trials, result.trials, strict=True):
        assert trial.user_attrs["stage"] == record.trial.stage
        if record.outcome.value is None:
            assert (trial.state, trial.user_attrs["reason"]) == (TrialState.FAIL, "ValueError: out of memory")
        else:
            assert (trial.state, trial.value) == (TrialState.COMPLETE, record.outcome.value)
    assert study.best_value == result.best.value
    assert study.direction.name == "MAXIMIZE"
    kinds = next(trial.distributions for trial in study.trials if "momentum" in trial.params)
    assert {name: type(kind).__name__[:3] for name, kind in kinds.items()} == {
        **{"kind": "Cat", "momentum": "Flo", "rate": "Flo", "width": "Int"},
        **{f"x{i}": "Cat" for i in range(4)},
    }
    assert kinds["rate"].log
    assert not kinds["width"].log


def test_optunas_own_plots() -> None:
    from optuna import importance, visualization
    from optuna.storages import InMemoryStorage

    from overtone.adapters.optuna import OptunaLedger

    with OptunaLedger(storage := InMemoryStorage(), "run") as ledger:
        run(ledger)
    study = load(storage)
    for plot in ("plot_optimization_history", "plot_slice", "plot_parallel_coordinate", "plot_contour", "plot_edf"):
        figure = getattr(visualization, plot)(study)
        assert figure.data
    assert importance.get_param_importances(study)


def test_small_budgets_are_pruned_trials() -> None:
    from optuna.storages import InMemoryStorage

    from overtone.adapters.optuna import OptunaLedger

    with OptunaLedger(storage := InMemoryStorage(), "run") as ledger:
        result = ot.minimize(
            lambda config, budget: config["width"] + 1 / budget,
            SPACE,
            optimizer=partial(ot.SuccessiveHalving, n_configurations=9, max_budget=9.0),
            n_workers=1,
            ledger=ledger,
            progress=False,
        )
    study = load(storage)
    assert Counter(trial.state.name for trial in study.trials) == {"PRUNED": 12, "COMPLETE": 1}
    assert study.best_value == result.best.value
    assert study.trials[0].intermediate_values == {1: result.trials[0].outcome.value}


def test_it_is_live_and_the_run_does_not_wait() -> None:
    """While trials are out, those before are there, and these are running."""
    from optuna.storages import InMemoryStorage

    from overtone.adapters.optuna import OptunaLedger

    storage, seen = InMemoryStorage(), list[str]()

    def slow(config: dict[str, Any]) -> float:
        trials: list[Any] = []
        if len(seen) < 5:
            while len(trials) <= len(seen) or trials[len(seen)].state.name != "RUNNING":
                trials = load(storage).trials
            seen.append(trials[-1].state.name)
            assert all(trial.state.is_finished() for trial in trials[:-1])
        return float(config["width"])

    with OptunaLedger(storage, "run") as ledger:
        ot.minimize(slow, SPACE, n_evaluations=10, n_workers=1, ledger=ledger, progress=False)
    assert seen == ["RUNNING"] * 5


def test_what_a_crash_left_out_is_made_up_for(tmp_path: Path) -> None:
    """The ledger knows more than the study: a run without the copy, then one with it that goes on."""
    from overtone.adapters.optuna import OptunaLedger

    address = f"sqlite:///{tmp_path}/study.db"
    with OptunaLedger(address, "run", SqliteLedger(tmp_path / "tune.db")) as ledger:
        run(ledger, n_evaluations=12)
    run(tmp_path / "tune.db", n_evaluations=20)
    with OptunaLedger(address, "run", SqliteLedger(tmp_path / "tune.db")) as ledger:
        result = run(ledger, n_evaluations=26)
    with opened(address) as storage:
        trials = load(storage).trials
    assert [trial.params for trial in trials] == [record.trial.config for record in result.trials]
    assert all(trial.state.is_finished() for trial in trials)
    assert len(trials) == 26


def test_a_study_of_something_else_is_refused(tmp_path: Path) -> None:
    import optuna

    from overtone.adapters.optuna import OptunaLedger

    storage = optuna.storages.InMemoryStorage()
    optuna.create_study(study_name="run", storage=storage)
    with OptunaLedger(storage, "run") as ledger, pytest.raises(ot.InputError, match="must be new"):
        run(ledger)
    with OptunaLedger(storage, "mine", SqliteLedger(tmp_path / "tune.db")) as ledger:
        run(ledger, n_evaluations=3)
    with OptunaLedger(storage, "mine") as ledger, pytest.raises(ot.InputError, match="must be new"):
        run(ledger)  # another run, though it looks the same
    optuna.create_study(study_name="third", storage=storage)
    with SqliteLedger(tmp_path / "tune.db") as kept, pytest.raises(ot.InputError, match="'third' is another"):
        OptunaLedger(storage, "third", kept)


def test_a_storage_that_fails_does_not_end_the_run(tmp_path: Path) -> None:
    import optuna

    from overtone.adapters.optuna import OptunaLedger

    storage = optuna.storages.InMemoryStorage()
    with SqliteLedger(tmp_path / "tune.db") as kept:
        ledger = OptunaLedger(storage, "run", kept)

        def value_without_study(config: dict[str, Any]) -> float:
            if storage.get_all_studies():
                storage.delete_study(load(storage)._study_id)
            return float(config["width"])

        with pytest.warns(RuntimeWarning, match="no longer copied"):
            result = ot.minimize(
                value_without_study, SPACE, n_evaluations=10, n_workers=1, ledger=ledger, progress=False
            )
        ledger.close()
    assert len(result.trials) == 10
    assert not [thread for thread in threading.enumerate() if "copies" in thread.name]


def test_postgresql(postgresql: Server) -> None:
    from overtone.adapters.optuna import OptunaLedger

    address = address_at(postgresql)
    with OptunaLedger(address, "run") as ledger:
        result = run(ledger, n_evaluations=20)
    with opened(address) as storage:
        assert [trial.params for trial in load(storage).trials] == [record.trial.config for record in result.trials]


# ---- the dashboard ----


@pytest.fixture
def port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def ask(port: int, path: str) -> Any:
    with urlopen(f"http://127.0.0.1:{port}{path}", timeout=60) as answer:
        return json.loads(answer.read())


def test_the_dashboard_shows_the_run_and_our_plots(tmp_path: Path, port: int) -> None:
    from overtone.adapters.optuna import OptunaLedger

    address = f"sqlite:///{tmp_path}/study.db"
    with OptunaLedger(address, "run") as ledger:
        result = run(ledger, n_evaluations=80)
    dashboard = Path(sys.executable).parent / "optuna-dashboard"
    command = [str(dashboard), address, "--port", str(port)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        (study,) = wait_for(port)
        detail = ask(port, f"/api/studies/{study['study_id']}?after=0")
    finally:
        server.terminate()
        server.wait(timeout=60)
    assert study["study_name"] == "run"
    assert len(detail["trials"]) == 80
    assert "x1" in detail["note"]["body"]
    plots = {each["id"]: each["graph_object"] for each in detail["plotly_graph_objects"]}
    shown = {name: json.loads(text) if isinstance(text, str) else text for name, text in plots.items()}
    assert shown.keys() == {f"overtone_{name}" for name in result.figures()}
    assert {"overtone_spectrum_1", "overtone_values"} <= shown.keys()
    spectrum = shown["overtone_spectrum_1"]["data"][0]
    assert spectrum["x"] == pytest.approx([a for _, a in result.stages[0].polynomial][: len(spectrum["x"])])


def wait_for(port: int) -> Any:
    end = time.monotonic() + 60
    while True:
        try:
            return ask(port, "/api/studies")["study_summaries"]
        except OSError:
            assert time.monotonic() < end, "optuna-dashboard does not answer"
            time.sleep(0.2)
