"""Events and values, and replay: a run that goes on is the run that never stopped."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

from overtone.errors import InputError, LedgerError
from overtone.optimizers import Harmonica, Hyperband, LocalSearch, Optimizer, RandomSearch, Trial
from overtone.optimizers.stage import Stage
from overtone.running.journal import (
    FREE,
    ask_event,
    check_same,
    end_event,
    read_history,
    read_outcome,
    read_trial,
    replay,
    stage_event,
    start_event,
    tell_event,
)
from overtone.running.ledger import Event
from overtone.running.record import Goal, Outcome, Record
from overtone.space import Space, boolean, choice, ordinal, real
from tests.optimizers.driving import booleans, drive, mixed, score

MIXED = mixed()
OPTIMIZERS: dict[str, Callable[[], Optimizer]] = {
    "random search": partial(RandomSearch, MIXED, 3, n_evaluations=30),
    "local search": partial(LocalSearch, MIXED, 3),
    "hyperband": partial(Hyperband, MIXED, 3),
    "harmonica": partial(Harmonica, MIXED, 3, n_stages=1, n_samples=30, degree=1),
}


def through_json(events: list[Event]) -> list[Event]:
    return [json.loads(json.dumps(event, allow_nan=False)) for event in events]


def journal(optimizer: Optimizer, goal: Goal = "minimize", workers: int = 3, stop: int = 10**9) -> list[Event]:
    """The events of a run; a seventh of the trials fail."""
    sign = 1 if goal == "minimize" else -1
    values = lambda trial: None if trial.number % 7 == 3 else score(trial)  # noqa: E731
    made = drive(optimizer, values, workers=workers, shuffle=1, stop=stop)
    tells = {trial.number: Outcome(None if value is None else sign * value) for _, trial, value in made}
    return through_json([ask_event(t) if w == "ask" else tell_event(t.number, tells[t.number]) for w, t, _ in made])


# ---- values and events ----


def test_trials_come_back_as_they_were() -> None:
    trials = RandomSearch(MIXED, n_evaluations=50, budget=3.0).ask(50)
    trials.append(replace(trials[0], budget=np.float64(1.5), stage="stage 1"))
    for trial, event in zip(trials, through_json(list(map(ask_event, trials))), strict=True):
        assert read_trial(event) == trial
        assert {name: type(value) for name, value in read_trial(event).config.items()} == {
            name: type(value) for name, value in trial.config.items()
        }


def test_the_event_of_a_trial_is_short() -> None:
    trial = Trial(7, {"x": True, "u": 0.25}, (1.0, -1.0, 0.5), stage="stage 1")
    assert json.dumps(ask_event(trial)) == (
        '{"kind": "ask", "number": 7, "stage": "stage 1", "config": {"x": true, "u": 0.25}, "point": [1, -1, 0.5]}'
    )
    assert tell_event(7, Outcome(0.5, seconds=2.0)) == {"kind": "tell", "number": 7, "value": 0.5, "seconds": 2.0}


@pytest.mark.parametrize(
    "outcome",
    [
        Outcome(0.5),
        Outcome(-1e50, seconds=1e-9),
        Outcome(None, "killed", "line\nline", 3.5, 2),
        Outcome(None, "\ud800", "\0\x1b"),
    ],
)
def test_outcomes_come_back_as_they_were(outcome: Outcome) -> None:
    (event,) = through_json([tell_event(3, outcome)])
    assert event["number"] == 3
    assert read_outcome(event) == outcome


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_what_json_does_not_know_is_never_written(value: float) -> None:
    event = tell_event(3, Outcome(value, seconds=value))
    assert (event["value"], event["seconds"]) == (None, 0.0)


def test_settings_that_are_no_plain_data_are_refused() -> None:
    for bad in (object(), float("nan"), {1, 2}):
        with pytest.raises(InputError, match="settings must be plain data"):
            start_event(MIXED, {"objective": bad}, "minimize", None)


def test_numbers_of_numpy_in_the_default_are_plain() -> None:
    event = start_event(MIXED, {}, "minimize", {"width": np.int64(3)})  # type: ignore[dict-item]
    assert event["default"] == {"width": 3}


# ---- history ----


def test_a_history_needs_nothing_but_events() -> None:
    optimizer = Harmonica(booleans(8), 3, n_stages=1, n_samples=30, degree=1)
    start = start_event(optimizer.space, {"seed": 3, "nested": {"x": [1, 2]}}, "maximize", {"x0": True})
    body = journal(optimizer, "maximize")
    stages = [stage_event(stage) for stage in optimizer.stages]
    assert stages
    history = read_history(iter(through_json([start, *body, *stages, end_event("done")])))
    assert history.space == optimizer.space
    assert history.settings == {"seed": 3, "nested": {"x": [1, 2]}}
    assert (history.goal, history.default, history.stopped) == ("maximize", {"x0": True}, "done")
    assert list(history.stages) == optimizer.stages
    assert [record.trial.number for record in history.records] == list(range(len(history.records)))
    assert len(history.records) == sum(event["kind"] == "tell" for event in body)
    assert history.best is not None
    values = [record.outcome.value for record in history.records if record.outcome.value is not None]
    assert history.best.outcome.value == max(values)


def test_a_run_that_goes_on_is_not_stopped() -> None:
    start, body = start_event(MIXED, {}, "minimize", None), journal(OPTIMIZERS["random search"]())
    half = len(body) // 2
    assert read_history([start, *body[:half], end_event("interrupted")]).stopped == "interrupted"
    going = read_history([start, *body[:half], end_event("interrupted"), *body[half:]])
    assert going.stopped == ""
    assert len(going.records) == 30


def test_trials_that_are_out_are_no_records() -> None:
    body = journal(OPTIMIZERS["random search"]())
    asks = [event for event in body if event["kind"] == "ask"]
    assert read_history([start_event(MIXED, {}, "minimize", None), *asks]).records == ()


def test_events_of_a_kind_that_is_not_known_are_passed_over() -> None:
    start = start_event(MIXED, {}, "minimize", None)
    assert read_history([start, {"kind": "note", "text": "from a later version"}]).records == ()


def test_a_history_without_a_start_is_refused() -> None:
    with pytest.raises(InputError, match="it is empty: has the run begun"):
        read_history([])
    with pytest.raises(InputError, match="it starts with 'end'"):
        read_history([end_event("done")])


# ---- the same run ----


def started(parameters: Any = None, goal: Any = "minimize", **settings: Any) -> Event:
    known = {"lr": ordinal([0.1, 0.2]), "flag": boolean(), **(parameters or {})}
    return start_event(Space(known), {"seed": 0, "objective": "train", **settings}, goal, None)


def test_what_may_change_is_not_compared() -> None:
    check_same(started(), started())
    for name in FREE:
        one, other = dict[str, Any]({name: 1}), dict[str, Any]({name: {"x": 2}})
        check_same(started(**one), started(**other))
        check_same(started(), started(**one))


@pytest.mark.parametrize(
    ("wanted", "line"),
    [
        (started(seed=1), "seed: was 0, is 1"),
        (started(objective="other"), 'objective: was "train", is "other"'),
        (started(goal="maximize"), 'goal: was "minimize", is "maximize"'),
        (started(options={"n": 3}), "options.n: was not there, is 3"),
        (started({"lr": ordinal([0.1, 0.3])}), "space.lr.levels: was [0.1, 0.2], is [0.1, 0.3]"),
        (started({"flag": choice([0, 1])}), "space.flag.levels: was [false, true], is [0, 1]"),
        (started({"flag": boolean(when={"lr": 0.1})}), "space.flag.when.lr: was not there, is 0.1"),
        (started({"x": real(0, 1)}), "space.x.high: was not there, is 1.0"),
    ],
)
def test_a_difference_is_shown_by_its_name(wanted: Event, line: str) -> None:
    with pytest.raises(InputError) as caught:
        check_same(started(), wanted)
    assert f"  {line}\n" in str(caught.value)
    assert "Set them back, or use another ledger" in str(caught.value)


def test_the_order_of_the_parameters_counts() -> None:
    one, other = ({"a": boolean(), "b": boolean()}, {"b": boolean(), "a": boolean()})
    with pytest.raises(InputError, match=r'order of the parameters: was \["a", "b"\], is \["b", "a"\]'):
        check_same(start_event(Space(one), {}, "minimize", None), start_event(Space(other), {}, "minimize", None))


def test_many_and_long_differences_are_cut_short() -> None:
    wanted = start_event(booleans(40), {"text": "long " * 100}, "minimize", None)
    with pytest.raises(InputError) as caught:
        check_same(started(), wanted)
    lines = str(caught.value).splitlines()
    assert len(lines) == 13
    assert max(map(len, lines)) < 220
    assert lines[-2].startswith("  and ")


# ---- replay ----


@pytest.mark.parametrize(("name", "goal"), [*((name, "maximize") for name in OPTIMIZERS), ("hyperband", "minimize")])
def test_a_run_that_goes_on_is_the_run_that_never_stopped(name: str, goal: Goal) -> None:
    make = OPTIMIZERS[name]
    whole = journal(make(), goal, stop=110)
    for cut in (37, 90):  # among the samples of Harmonica's stage, and after it
        optimizer = make()
        replayed = replay(optimizer, whole[:cut], goal)
        told = {event["number"] for event in whole[:cut] if event["kind"] == "tell"}
        asked = {event["number"] for event in whole[:cut] if event["kind"] == "ask"}
        assert [record.trial.number for record in replayed.records] == sorted(told)
        assert [trial.number for trial in replayed.open] == sorted(asked - told)
        assert list(rest(optimizer, replayed.open, whole[cut:], goal)) == whole[cut:]


def rest(optimizer: Optimizer, out: list[Trial], events: list[Event], goal: Goal) -> Iterator[Event]:
    """What happens if the optimizer goes on: its own trials, the same values."""
    trials = {trial.number: trial for trial in out}
    for event in events:
        if event["kind"] == "ask":
            (trial,) = optimizer.ask()
            trials[trial.number] = trial
            yield from through_json([ask_event(trial)])
        else:
            outcome = read_outcome(event)
            known = outcome.value is not None and goal == "maximize"
            optimizer.tell(trials[event["number"]], -outcome.value if known else outcome.value)  # type: ignore[operator]
            yield tell_event(event["number"], outcome)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_replay_gives_the_records_of_the_history(name: str) -> None:
    make = OPTIMIZERS[name]
    start, events = start_event(MIXED, {}, "minimize", None), journal(make(), workers=5, stop=100)
    assert tuple(replay(make(), events, "minimize").records) == read_history([start, *events]).records


def test_a_trial_that_comes_out_different_is_told() -> None:
    events = journal(OPTIMIZERS["random search"]())
    asks = [i for i, event in enumerate(events) if event["kind"] == "ask"]
    events[asks[5]]["config"]["width"] = 99
    with pytest.raises(LedgerError, match=r"trial 5 did not:\n  config.width: was 99, is \d\nLikely causes: another"):
        replay(OPTIMIZERS["random search"](), events, "minimize")


def test_a_point_that_comes_out_different_is_told() -> None:
    """Several points can stand for one configuration, and optimizers learn from the points."""
    events = journal(OPTIMIZERS["random search"]())
    events[0]["point"][0] *= -1
    with pytest.raises(LedgerError, match=r"trial 0 did not:\n  point: was \[-?1, .*, is \["):
        replay(OPTIMIZERS["random search"](), events, "minimize")


def test_trials_that_do_not_come_out_any_more_are_told() -> None:
    events = journal(OPTIMIZERS["random search"]())
    with pytest.raises(LedgerError, match="trial 10 did not:\n  the optimizer now asks for no more trials"):
        replay(RandomSearch(MIXED, 3, n_evaluations=10), events, "minimize")


def test_what_is_replayed_are_the_trials_of_the_optimizer() -> None:
    """An optimizer may know its trials by identity, and wants them back."""
    optimizer = OPTIMIZERS["random search"]()
    trial = optimizer.ask()[0]
    replayed = replay(OPTIMIZERS["random search"](), [ask_event(trial), tell_event(0, Outcome(1.0))], "minimize")
    assert replayed.records == [Record(trial, Outcome(1.0))]


def test_stages_come_back_as_they_were() -> None:
    optimizer = Harmonica(MIXED, 3, n_stages=1, n_samples=30, degree=1)
    drive(optimizer, workers=2)
    for stage in optimizer.stages:
        (event,) = through_json([stage_event(stage)])
        assert Stage.from_dict({name: value for name, value in event.items() if name != "kind"}) == stage
