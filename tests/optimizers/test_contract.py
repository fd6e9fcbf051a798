"""What every optimizer promises, over spaces of every kind."""

import json
import pickle
from collections.abc import Callable
from dataclasses import asdict
from functools import cache, partial
from typing import Any

import pytest

from overtone.errors import InputError
from overtone.optimizers import (
    Harmonica,
    Hyperband,
    LocalSearch,
    Optimizer,
    RandomSearch,
    Stage,
    SuccessiveHalving,
    Trial,
)
from overtone.optimizers.automatic import Automatic
from overtone.optimizers.given import Given, GivenFirst
from overtone.optimizers.sampling import key
from overtone.optimizers.spectral_descent import SpectralDescent
from overtone.space import Space
from tests.optimizers.driving import Event, asked, drive, inside, score, spaces, told

harmonica = partial(Harmonica, n_stages=2, n_samples=24, degree=2)


def given_first(space: Space, seed: int) -> Optimizer:
    """Two configurations that a user gives, then random search."""
    wanted = [trial.config for trial in RandomSearch(space, 1, n_evaluations=2).ask(2)]
    return GivenFirst(Given(space, wanted), RandomSearch(space, seed, n_evaluations=10))


OPTIMIZERS: dict[str, Callable[[Space, int], Optimizer]] = {
    "random": partial(RandomSearch, n_evaluations=30),
    "halving": partial(SuccessiveHalving, n_configurations=20, max_budget=9.0),
    "hyperband": partial(Hyperband, max_budget=9.0),
    "local": partial(LocalSearch, n_evaluations=60),
    "harmonica-random": partial(harmonica, base=partial(RandomSearch, n_evaluations=10)),
    "harmonica-hyperband": partial(harmonica, base=partial(Hyperband, max_budget=3.0), n_minimizers=2),
    "harmonica-local": partial(harmonica, base=partial(LocalSearch, n_evaluations=20), budget=1.0),
    "descent": partial(SpectralDescent, n_evaluations=60),
    "descent-sequential": partial(SpectralDescent, n_evaluations=20, batch=1, budget=1.0),
    "descent-lagged": partial(SpectralDescent, n_evaluations=60, batch=3, lag=7),
    "automatic": partial(Automatic, n_evaluations=60),
    "given": given_first,
    "harmonica-halving": partial(harmonica, n_stages=1, base=partial(SuccessiveHalving, n_configurations=9)),
}
every_optimizer = pytest.mark.parametrize("name", OPTIMIZERS)
every_space = pytest.mark.parametrize("where", spaces())
BAD: list[Any] = [None, float("nan"), float("inf"), -float("inf"), "1.0", b"1", 10**400, 1e51, [1.0], 1j, object()]


def make(name: str, where: str, seed: int = 0) -> Optimizer:
    return OPTIMIZERS[name](spaces()[where], seed)


@cache
def reference(name: str, where: str) -> tuple[Optimizer, list[Event]]:
    """One worker, a trial at a time."""
    optimizer = make(name, where)
    return optimizer, drive(optimizer)


def stages(optimizer: Optimizer) -> list[Stage]:
    return optimizer.stages if isinstance(optimizer, Harmonica) else []


def reloaded(trial: Trial) -> Trial:
    """As a ledger gives it back."""
    data = json.loads(json.dumps(asdict(trial)))
    return Trial(**{**data, "point": tuple(data["point"])})


# ---- what is asked for ----


@every_space
@every_optimizer
def test_asks_lie_in_the_space(name: str, where: str) -> None:
    space, trials = spaces()[where], asked(reference(name, where)[1])
    assert trials
    for number, trial in enumerate(trials):
        assert trial.number == number
        assert space.decode(trial.point) == trial.config
        assert space.allows(trial.config)
        assert inside(space, trial.point) or trial.stage == "default"  # what a user gives is taken as it is


@every_space
@every_optimizer
def test_no_configuration_comes_twice_in_a_part(name: str, where: str) -> None:
    """Random search, the stages together, a descent; a rung of a bracket: the same budget may come in another one."""
    trials = asked(reference(name, where)[1])
    for part in ("random search", "stage", "local search"):
        keys = [key(trial.config) for trial in trials if trial.stage.startswith(part)]
        assert len(keys) == len(set(keys))


@pytest.mark.parametrize("name", ["random", "local"])
def test_a_small_space_is_exhausted(name: str) -> None:
    """8 points with c, of which 1 is not active for a = False: 3 + 2 * 2 configurations."""
    assert len(asked(reference(name, "tiny")[1])) == 7
    assert len(asked(reference(name, "one left")[1])) == 1


@every_optimizer
def test_seeds(name: str) -> None:
    assert asked(drive(make(name, "mixed", 0))) == asked(reference(name, "mixed")[1])
    assert asked(drive(make(name, "mixed", 1))) != asked(reference(name, "mixed")[1])


@every_optimizer
@pytest.mark.parametrize("n", [0, -1, True, 1.5, None])
def test_only_whole_numbers_of_trials(name: str, n: Any) -> None:
    with pytest.raises(InputError, match="whole number >= 1"):
        make(name, "booleans").ask(n)


@every_optimizer
@pytest.mark.parametrize("seed", [-1, 0.5, "0"])
def test_seeds_are_whole_numbers(name: str, seed: Any) -> None:
    with pytest.raises(InputError, match="`seed`"):
        make(name, "booleans", seed)


# ---- any number of workers, any order ----


@every_space
@every_optimizer
def test_one_ask_of_many_is_many_asks_of_one(name: str, where: str) -> None:
    one, many = make(name, where), make(name, where)
    assert [trial for _ in range(17) for trial in one.ask()] == many.ask(17)


@every_space
@every_optimizer
def test_workers_and_the_order_of_their_answers_change_nothing(name: str, where: str) -> None:
    optimizer, events = reference(name, where)
    for workers in (3, 50):
        other = make(name, where)
        assert asked(drive(other, workers=workers, shuffle=workers)) == asked(events)  # numbers too
        assert stages(other) == stages(optimizer)


@every_space
@every_optimizer
def test_ask_is_empty_rather_than_blocking(name: str, where: str) -> None:
    optimizer = make(name, where)
    out = optimizer.ask(1000)
    assert out
    assert not optimizer.done
    assert optimizer.ask(1000) == []
    for trial in out[:-1]:
        optimizer.tell(trial, score(trial))
    assert not optimizer.done
    optimizer.tell(out[-1], score(out[-1]))
    assert optimizer.ask(1) or optimizer.done


@every_space
@every_optimizer
def test_the_end(name: str, where: str) -> None:
    optimizer, events = reference(name, where)
    assert optimizer.done
    assert optimizer.ask(3) == []
    assert optimizer.done
    assert len(asked(events)) == len(told(events))


# ---- state is replay ----


@every_optimizer
@pytest.mark.parametrize("where", ["mixed", "tiny"])
def test_replay_gives_the_same_state(name: str, where: str) -> None:
    _, straight = reference(name, where)
    whole = len(straight)
    for stop in (1, whole // 3, whole // 2 + 1, whole):
        first, second = make(name, where), make(name, where)
        history = drive(first, workers=4, shuffle=1, stop=stop)
        for what, trial, value in history:
            if what == "ask":
                assert second.ask(1) == [trial]
            else:
                second.tell(reloaded(trial), value)
        assert second.ask(40) == first.ask(40)
        assert stages(second) == stages(first)
        assert second.done == first.done


@every_optimizer
def test_trials_are_plain_data(name: str) -> None:
    for trial in asked(reference(name, "mixed")[1]):
        assert reloaded(trial) == trial == pickle.loads(pickle.dumps(trial))  # noqa: S301
        assert hash(reloaded(trial)) == hash(trial)


@every_optimizer
def test_configurations_may_be_emptied_by_the_objective(name: str) -> None:
    def greedy(trial: Trial) -> float:
        value = score(trial)
        trial.config.clear()
        return value

    events = drive(make(name, "mixed"), greedy)
    assert [trial.point for trial in asked(events)] == [trial.point for trial in asked(reference(name, "mixed")[1])]


# ---- failures ----


@every_space
@every_optimizer
def test_some_fail(name: str, where: str) -> None:
    optimizer = make(name, where)
    drive(optimizer, lambda trial: BAD[trial.number % len(BAD)] if trial.number % 3 == 0 else score(trial), workers=3)
    assert optimizer.done
    if isinstance(optimizer, Harmonica) and optimizer.best is not None:
        assert optimizer.best[0].number % 3 != 0


@every_space
@every_optimizer
def test_all_fail(name: str, where: str) -> None:
    optimizer = make(name, where)
    events = drive(optimizer, lambda trial: BAD[trial.number % len(BAD)])
    assert optimizer.done
    assert asked(events)
    assert not any(stage.restricts for stage in stages(optimizer))
    assert not isinstance(optimizer, Harmonica) or optimizer.best is None
    assert [Stage.from_dict(json.loads(json.dumps(s.to_dict(), allow_nan=False))) for s in stages(optimizer)] == (
        stages(optimizer)
    )


@every_optimizer
def test_constant_objectives_and_huge_ones(name: str) -> None:
    for objective in (lambda _: 1.0, lambda t: 1e50 * (-1) ** t.number, lambda t: 1e-200 * t.number):
        optimizer = make(name, "booleans")
        drive(optimizer, objective, workers=5)
        assert optimizer.done


# ---- what may be told ----


@every_optimizer
def test_each_trial_is_told_once(name: str) -> None:
    optimizer = make(name, "booleans")
    (trial,) = optimizer.ask(1)
    optimizer.tell(trial, 1.0)
    with pytest.raises(InputError, match="told already"):
        optimizer.tell(trial, 1.0)
    (stranger,) = make(name, "booleans", 5).ask(1)
    with pytest.raises(InputError, match="told already"):
        optimizer.tell(stranger, 1.0)
    strangers: list[Any] = [Trial(10**6, {}, ()), Trial(-1, trial.config, trial.point), None, 0]
    for stranger in strangers:
        with pytest.raises(InputError, match="never asked for"):
            optimizer.tell(stranger, 1.0)
