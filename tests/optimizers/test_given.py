"""What the user gives comes first, as it is."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from overtone.errors import InputError
from overtone.optimizers import Harmonica, Optimizer, RandomSearch, SpectralDescent, Trial
from overtone.optimizers.automatic import Automatic
from overtone.optimizers.given import Given, GivenFirst, checked_config
from overtone.space import Config, Space, boolean, ordinal
from tests.optimizers.driving import asked, booleans, drive, lowest

SPACE = Space(
    {"a": boolean(), "b": ordinal([1, 2, 3, 4]), "c": boolean(when={"a": True})}, forbid=[{"a": False, "b": 4}]
)


def test_the_given_come_first_and_then_the_optimizer() -> None:
    given: list[Config] = [{"a": True, "b": 2, "c": False}, {"a": False, "b": 1}]
    optimizer = GivenFirst(Given(SPACE, given), RandomSearch(SPACE, 0, n_evaluations=3))
    trials = optimizer.ask(10)
    assert [(trial.config, trial.stage) for trial in trials] == [(config, "default") for config in given]
    for trial in trials:
        optimizer.tell(trial, 1.0)
    assert [trial.stage for trial in optimizer.ask(10)] == ["random search"] * 3
    assert optimizer.stages == ()


def test_the_stages_are_those_of_the_optimizer() -> None:
    harmonica = Harmonica(SPACE, 0, n_samples=4, n_stages=1, base=partial(RandomSearch, n_evaluations=1))
    optimizer = GivenFirst(Given(SPACE, [{"a": False, "b": 1}]), harmonica)
    while not optimizer.done:
        for trial in optimizer.ask(3):
            optimizer.tell(trial, float(trial.number))
    assert [stage.n_samples for stage in optimizer.stages] == [4]


@pytest.mark.parametrize(
    "make", [partial(SpectralDescent, n_evaluations=90), partial(Automatic, n_evaluations=90)], ids=["descent", "auto"]
)
def test_descent_may_start_from_the_default(make: Callable[[Space], Optimizer]) -> None:
    """A default that is far better than all else, and can be improved: nothing but its value leads there."""
    space = booleans(30)
    default: Config = {name: int(name[1:]) % 2 == 1 for name in space.parameters}

    def apart(trial: Trial) -> int:
        return sum(trial.config[name] != on for name, on in default.items())

    def value(trial: Trial) -> float:
        return min(5.0, apart(trial)) - 2 * bool(trial.config["x0"])

    events = drive(GivenFirst(Given(space, [default]), make(space)), value)
    times = [apart(trial) for trial in asked(events)].count(0)
    assert times <= 2  # known: at most once again, to see whether there is noise
    assert lowest(events) < 0 < lowest(drive(make(space), value))


def test_what_is_not_active_is_left_out() -> None:
    assert checked_config(SPACE, {"a": False, "b": 1, "c": True}) == {"a": False, "b": 1}


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({"a": False}, "b is missing"),
        ({"a": True}, "b, c are missing"),
        ({"a": False, "b": 4}, "`forbid` rules it out"),
        ({"a": False, "b": 9}, "9"),
        ({"a": False, "b": 1, "d": 1}, "'d' is no parameter"),
        (3, "must be a dict of names and values, but got 3"),
    ],
)
def test_a_bad_default_is_refused(config: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        Given(SPACE, [config])
