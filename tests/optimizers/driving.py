"""Spaces, objectives and a loop of workers for the tests of optimizers."""

from collections.abc import Callable, Mapping
from functools import cache
from itertools import product
from typing import Any

import numpy as np

from overtone.optimizers import Optimizer, Trial
from overtone.space import Config, Point, Space, boolean, choice, integer, ordinal, real

Objective = Callable[[Trial], Any]
Event = tuple[str, Trial, Any]  # ("ask", trial, None) or ("tell", trial, value)


def booleans(n: int) -> Space:
    return Space({f"x{i}": boolean() for i in range(n)})


def mixed() -> Space:
    return Space(
        {
            "flag": boolean(),
            "color": choice(["red", "green", "blue"]),
            "shape": choice([1, 2.5, "three", None, True]),
            "depth": ordinal([2, 4, 8, 16]),
            "width": integer(1, 6),
            "rate": real(1e-4, 1e-1, log=True),
            "drop": ordinal([0.1, 0.2, 0.3], when={"flag": False}),
        },
        forbid=[{"color": "red", "flag": True}, {"depth": [2, 4], "width": 6}],
    )


@cache
def spaces() -> Mapping[str, Space]:
    few = Space({"a": boolean(), "b": choice(["p", "q", "r"]), "c": boolean(when={"a": True})}, [{"a": True, "b": "q"}])
    return {
        "booleans": booleans(12),
        "mixed": mixed(),
        "tiny": few,  # 7 configurations
        "restricted": mixed().restrict([{0: -1.0, 2: 4.0, 6: (0.0, 0.5)}, {0: 1.0, 2: 0.0, 6: (-1.0, -0.5)}]),
        "one left": booleans(2).restrict([{0: 1.0, 1: -1.0}]),
        "continuous": Space({"u": real(-1, 1), "v": real(1, 100, log=True)}),
    }


def inside(space: Space, point: Point) -> bool:
    """It is what some choice of one minimizer of every stage leaves, the last one on top."""
    return any(
        all(_meets(point[unit], code) for unit, code in {u: c for each in chosen for u, c in each.items()}.items())
        for chosen in product(*space.mixtures)
    )


def _meets(code: float, wanted: float | tuple[float, float]) -> bool:
    return wanted[0] <= code <= wanted[1] if isinstance(wanted, tuple) else code == wanted


def score(trial: Trial) -> float:
    """A smooth function of any configuration, with an interaction; less at a larger budget."""
    numbers = [_number(value) / (1 + place) for place, value in enumerate(trial.config.values())]
    return sum(numbers) - 2 * numbers[0] * numbers[-1] + 1 / (trial.budget or 10)


def _number(value: object) -> float:
    if isinstance(value, str) or value is None:
        return float(len(str(value)))
    return float(value)  # type: ignore[arg-type]


def drive(
    optimizer: Optimizer, objective: Objective = score, workers: int = 1, shuffle: int | None = None, stop: int = 10**9
) -> list[Event]:
    """Keep so many workers busy; with `shuffle`, they come back in a random order. Ends when done, or after `stop`."""
    rng = np.random.default_rng(shuffle)
    events: list[Event] = []
    flight: list[Trial] = []
    while not optimizer.done and len(events) < stop:
        asked = optimizer.ask(workers - len(flight)) if len(flight) < workers else []
        events += [("ask", trial, None) for trial in asked]
        flight += asked
        if not flight:
            assert optimizer.done, "nothing is out, nothing is asked for, but it is not done"
            break
        trial = flight.pop(int(rng.integers(len(flight))) if shuffle is not None else 0)
        value = objective(trial)
        optimizer.tell(trial, value)
        events.append(("tell", trial, value))
    return events


def asked(events: list[Event]) -> list[Trial]:
    return [trial for what, trial, _ in events if what == "ask"]


def told(events: list[Event]) -> list[tuple[Trial, Any]]:
    return [(trial, value) for what, trial, value in events if what == "tell"]


def lowest(events: list[Event]) -> float:
    return float(min(value for _, value in told(events)))


def signs(config: Config) -> np.ndarray[Any, np.dtype[np.float64]]:
    """-1 and +1 for a space of booleans."""
    return np.array([1.0 if value else -1.0 for value in config.values()])
