"""What every optimizer promises, for those that Optuna's samplers make; and the paper's Bayesian optimization."""

import inspect
from collections.abc import Callable
from functools import partial
from statistics import mean
from typing import Any

import pytest

from overtone.errors import InputError
from overtone.optimizers import Harmonica
from overtone.space import Space, ordinal, real
from tests.optimizers import test_contract as contract
from tests.optimizers.driving import asked, booleans, drive, inside, lowest, signs, spaces, told

pytestmark = pytest.mark.heavy
PROMISES = [test for name, test in vars(contract).items() if name.startswith("test_")]
NAMES = ["tpe", "tpe-batch", "harmonica-tpe"]


def make(name: str, space: Space, seed: int) -> Any:
    from overtone.adapters.optuna import OptunaSearch

    if name == "harmonica-tpe":
        base = partial(OptunaSearch, n_evaluations=8, batch=4)
        return Harmonica(space, seed, n_stages=2, n_samples=24, degree=2, n_minimizers=2, base=base)
    return OptunaSearch(space, seed, n_evaluations=24, batch=1 if name == "tpe" else 7)


def cases() -> list[Any]:
    """Each promise, with the arguments that its own marks give it, for each of our optimizers."""
    found = []
    for test in PROMISES:
        wanted = inspect.signature(test).parameters
        marks = {mark.args[0]: list(mark.args[1]) for mark in getattr(test, "pytestmark", [])}
        if "name" not in marks or "random" not in marks["name"]:
            continue
        rest = {argument: marks[argument] for argument in wanted if argument != "name"}
        for name in NAMES:
            if marks["name"] != list(contract.OPTIMIZERS) and name == "harmonica-tpe":
                continue  # a promise of single optimizers only
            combinations: list[dict[str, Any]] = [{"name": name}]
            for argument, values in rest.items():
                combinations = [{**one, argument: value} for one in combinations for value in values]
            found += [
                pytest.param(test, one, id=f"{test.__name__[5:]}-{'-'.join(map(str, one.values()))}")
                for one in combinations
            ]
    return found


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in NAMES:
        monkeypatch.setitem(contract.OPTIMIZERS, name, partial(make, name))


@pytest.mark.parametrize(("promise", "arguments"), cases())
def test_the_promises_of_every_optimizer(promise: Any, arguments: dict[str, Any]) -> None:
    promise(**arguments)


# ---- what is its own ----


def planted(trial: Any) -> float:
    x = signs(trial.config)
    return float(5 * x[1] - 3 * x[2] * x[4] + 2 * x[7])


@pytest.mark.parametrize("kind", ["tpe", "gp", "cmaes", "univariate", "random"])
@pytest.mark.filterwarnings("ignore:.*GPSampler is experimental")
def test_any_sampler(kind: str) -> None:
    """The better ones beat chance: 1,024 configurations, 128 of them best."""
    from optuna import samplers

    from overtone.adapters.optuna import OptunaSearch

    made: dict[str, Callable[..., Any]] = {
        "tpe": samplers.TPESampler,
        "univariate": partial(samplers.TPESampler, multivariate=False),
        "gp": partial(samplers.GPSampler, n_startup_trials=10),
        "cmaes": samplers.CmaEsSampler,
        "random": samplers.RandomSampler,
    }
    optimizer = OptunaSearch(booleans(10), sampler=made[kind], n_evaluations=30)
    events = drive(optimizer, planted)
    assert len({tuple(trial.config.values()) for trial in asked(events)}) == 30
    assert lowest(events) == -10
    late = [value for trial, value in told(events) if trial.number >= 20]
    early = [value for trial, value in told(events) if trial.number < 10]
    assert kind in ("random", "cmaes") or mean(late) < mean(early)


def test_the_papers_bayesian_optimization_on_what_the_stages_left() -> None:
    """Harmonica, then a Gaussian process: it stays within the restriction, and finds the rest."""
    from optuna.samplers import GPSampler

    from overtone.adapters.optuna import OptunaSearch

    def objective(trial: Any) -> float:
        return planted(trial) + 0.2 * float(trial.config["x9"] != trial.config["x8"])

    base = partial(OptunaSearch, sampler=partial(GPSampler, n_startup_trials=5), n_evaluations=12)
    optimizer = Harmonica(booleans(10), n_stages=1, n_samples=60, sparsity=3, degree=2, n_minimizers=1, base=base)
    events = drive(optimizer, objective)
    late = [trial for trial in asked(events) if trial.stage == "optuna"]
    assert len(late) == 12
    assert all(inside(optimizer.restricted, trial.point) for trial in late)
    assert lowest(events) == -10


def test_forbidden_proposals_are_replaced() -> None:
    """All but one in 64 is forbidden: still every trial is allowed, and all allowed ones come."""
    from overtone.adapters.optuna import OptunaSearch

    space = Space(dict(booleans(10).parameters), forbid=[{f"x{i}": True} for i in range(6)])
    trials = asked(drive(OptunaSearch(space, n_evaluations=40), planted))
    assert len(trials) == 16
    assert all(space.allows(trial.config) for trial in trials)


def test_a_knob_for_every_parameter_or_what_is_left_of_it() -> None:
    from overtone.adapters.optuna.search import Knobs

    assert {name: str(kind)[:3] for name, kind in Knobs(spaces()["mixed"]).distributions.items()} == {
        **{"flag": "Int", "color": "Cat", "shape": "Cat", "depth": "Int", "width": "Int", "rate": "Flo", "drop": "Int"}
    }
    assert list(Knobs(spaces()["restricted"]).distributions) == [
        *("color", "depth", "width", "rate", "drop", "minimizer of stage 1")
    ]
    halved = Space({"depth": ordinal([1, 2, 4, 8]), "u": real(0, 1)}).restrict([{0: 1.0, 2: (0.5, 1.0)}])
    knobs = Knobs(halved)
    assert list(knobs.distributions) == ["depth: unit 1", "u"]
    assert halved.decode(knobs.point({"depth: unit 1": 0, "u": -1.0})) == {"depth": 4, "u": 0.75}


def test_a_sampler_is_given_by_what_makes_it() -> None:
    from optuna.samplers import TPESampler

    from overtone.adapters.optuna import OptunaSearch

    with pytest.raises(InputError, match="`sampler` must be what makes a sampler"):
        OptunaSearch(booleans(3), sampler=TPESampler())


def test_it_says_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    from overtone.adapters.optuna import OptunaSearch

    drive(OptunaSearch(booleans(3), n_evaluations=3))
    assert capfd.readouterr() == ("", "")
