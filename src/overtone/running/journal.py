"""Events as values and back, and replay: the state of a run is what its events lead to."""

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from sys import intern
from typing import Any

from overtone.errors import InputError, LedgerError
from overtone.optimizers.stage import Stage
from overtone.optimizers.trial import Optimizer, Trial, Value
from overtone.running.ledger import Event
from overtone.running.record import Goal, History, Outcome, Record
from overtone.space import Config, Space
from overtone.space.parameters import plain

# What may change when a run goes on: how it is run, how long, and on what; not what is asked for.
FREE = frozenset(
    {"executor", "memory", "n_evaluations", "n_workers", "progress", "retries", "seconds", "target", "timeout"}
    | {"max_seconds", "version", "versions"}
)
DIFFERENCES = 10  # shown at most
SHOWN = 80  # characters of a value
CAUSES = (
    "Likely causes: another version of Overtone or numpy, or an optimizer or space that changed. "
    "Go on with those the run was started with, or use another ledger for a new run."
)


# ---- values to events ----


def start_event(space: Space, settings: Mapping[str, Any], goal: Goal, default: Config | None) -> Event:
    """What was asked for; `settings` is plain data: seed, optimizer, objective, versions, ..."""
    known = None if default is None else {name: plain(value) for name, value in default.items()}
    return _through_json(
        {"kind": "start", "goal": goal, "space": space.to_dict(), "default": known, "settings": dict(settings)}
    )


def ask_event(trial: Trial) -> Event:
    """A trial is about to be evaluated."""
    event: Event = {"kind": "ask", "number": trial.number, "stage": trial.stage}
    if trial.budget is not None:
        event["budget"] = plain(trial.budget)
    return {**event, "config": dict(trial.config), "point": [_short(code) for code in trial.point]}


def tell_event(number: int, outcome: Outcome) -> Event:
    """A trial came back; what is as usual is left out."""
    told = {**asdict(outcome), "value": _finite(outcome.value), "seconds": _finite(outcome.seconds) or 0.0}
    usual = {"reason": "", "detail": "", "attempts": 1}
    return {"kind": "tell", "number": number} | {k: v for k, v in told.items() if k not in usual or v != usual[k]}


def stage_event(stage: Stage) -> Event:
    """A stage was learned."""
    return _through_json({"kind": "stage", **stage.to_dict()})


def end_event(reason: str, judged: int | None = None) -> Event:
    """The run ended; it may go on later. judged: the number of the best trial, if not simply that of the best value."""
    return {"kind": "end", "reason": reason} | ({} if judged is None else {"judged": judged})


def _finite(number: float | None) -> float | None:
    """JSON has no NaN and no infinity."""
    return float(number) if number is not None and math.isfinite(number) else None


def _short(code: float) -> float:
    """1 for 1.0: half of the length, and equal."""
    return int(code) if code.is_integer() else code


def _through_json(event: Event) -> Event:
    """As it will be read, so that events can be compared."""
    try:
        read: Event = json.loads(json.dumps(event, allow_nan=False))
    except (TypeError, ValueError) as error:
        raise InputError(f"settings must be plain data, as JSON knows it, but {error}: use texts and numbers") from None
    return read


# ---- events to values ----


def read_trial(event: Event) -> Trial:
    """The trial of an ask."""
    config = {intern(name): value for name, value in event["config"].items()}  # else every trial has its own names
    return Trial(event["number"], config, tuple(map(float, event["point"])), event.get("budget"), event["stage"])


def read_outcome(event: Event) -> Outcome:
    """What a tell says."""
    return Outcome(**{name: value for name, value in event.items() if name not in ("kind", "number")})


def read_history(events: Iterable[Event]) -> History:
    """A run as far as its events go; no optimizer is needed."""
    rest = iter(events)
    start = _started(next(rest, None))
    trials: dict[int, Trial] = {}
    records: dict[int, Record] = {}
    stages: list[Stage] = []
    stopped, judged = "", None
    for event in rest:
        kind, stopped, judged = event["kind"], "", None
        if kind == "ask":
            trials[event["number"]] = read_trial(event)
        elif kind == "tell":
            records[event["number"]] = Record(trials.pop(event["number"]), read_outcome(event))
        elif kind == "stage":
            stages.append(Stage.from_dict({name: value for name, value in event.items() if name != "kind"}))
        elif kind == "end":
            stopped, judged = event["reason"], event.get("judged")
    return History(
        Space.from_dict(start["space"]),
        tuple(records[number] for number in sorted(records)),
        tuple(stages),
        start["goal"],
        start["default"],
        start["settings"],
        stopped,
        judged,
    )


def _started(event: Event | None) -> Event:
    if event is None or event["kind"] != "start":
        came = "it is empty" if event is None else f"it starts with {event['kind']!r}"
        raise InputError(f"a ledger must begin with the start of a run, but {came}: has the run begun?")
    return event


# ---- going on ----


def check_same(start: Event, wanted: Event) -> None:
    """A run goes on only with what it was started with; what is in `FREE` may change."""
    lines = _differences(_facts(start), _facts(wanted))
    if lines:
        raise InputError(
            "a run must go on with the space and settings it was started with, but these differ:\n"
            + "\n".join(lines)
            + "\nSet them back, or use another ledger for a new run."
        )


def _differences(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """A line for each fact that changed."""
    lines = [
        f"  {name}: was {_shown(before, name)}, is {_shown(now, name)}"
        for name in dict.fromkeys([*before, *now])
        if before.get(name) != now.get(name)
    ]
    return lines[:DIFFERENCES] + [f"  and {len(lines) - DIFFERENCES} more"] * (len(lines) > DIFFERENCES)


def _facts(start: Event) -> dict[str, str]:
    """What is compared, each by its name, as JSON: there, unlike in Python, true is not 1."""
    settings = {name: value for name, value in start["settings"].items() if name not in FREE}
    facts = dict(_flat("", {"goal": start["goal"], "default": start["default"], **settings}))
    space = {name: value for name, value in start["space"].items() if name != "parameters"}
    parameters = start["space"]["parameters"]
    order = {"space: order of the parameters": json.dumps(list(parameters))}  # the points depend on it
    return {**facts, **dict(_flat("space", parameters)), **dict(_flat("space", space)), **order}


def _flat(path: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping) and value:
        for name, inner in value.items():
            yield from _flat(f"{path}.{name}" if path else name, inner)
    else:
        yield path, json.dumps(value)


def _shown(facts: Mapping[str, str], name: str) -> str:
    text = facts.get(name, "not there")
    return text if len(text) <= SHOWN else text[: SHOWN - 4] + " ..."


@dataclass(frozen=True)
class Replayed:
    """Where a run stood."""

    records: list[Record]  # by trial number
    open: list[Trial]  # asked for, not told: to be evaluated again


def replay(optimizer: Optimizer, events: Iterable[Event], goal: Goal) -> Replayed:
    """Lead a fresh optimizer to where the run stood: exact, because events stand in the order they happened in."""
    trials: dict[int, Trial] = {}
    records: dict[int, Record] = {}
    for event in events:
        if event["kind"] == "ask":
            trials[event["number"]] = _asked_again(optimizer, read_trial(event))
        elif event["kind"] == "tell":
            record = Record(trials.pop(event["number"]), read_outcome(event))
            optimizer.tell(record.trial, signed(record.outcome.value, goal))
            records[record.trial.number] = record
    return Replayed([records[number] for number in sorted(records)], [trials[number] for number in sorted(trials)])


def signed(value: Value, goal: Goal) -> Value:
    """The value as optimizers want it: lower is better."""
    return value if goal == "minimize" or value is None else -value


def _asked_again(optimizer: Optimizer, recorded: Trial) -> Trial:
    """The optimizer's next trial, which must be the recorded one."""
    came = next(iter(optimizer.ask(1)), None)
    if came == recorded:
        return came
    if came is None:
        lines = ["  the optimizer now asks for no more trials"]
    else:
        lines = _differences(dict(_flat("", ask_event(recorded))), dict(_flat("", ask_event(came))))
    raise LedgerError(
        f"the trials of a ledger must come out again, but trial {recorded.number} did not:\n"
        + "\n".join(lines)
        + f"\n{CAUSES}"
    )
