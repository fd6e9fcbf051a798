# ruff: noqa: ARG001, ARG002, ARG005 - objectives take what they are given, not what they need
import functools
import subprocess
import sys
from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from overtone.errors import TrialFailed
from overtone.optimizers.trial import finite
from overtone.running.evaluation import DETAIL, LINE, Task, evaluate, number, takes_budget
from tests.running import objectives

NUMBERS = [
    1,
    -2.5,
    True,
    0,
    1e50,
    np.float32(0.5),
    np.int64(7),
    np.array(3.0),
    np.array([2.0]),
    Fraction(1, 4),
    Decimal(2),
]


class Hostile:
    """Cannot be shown, compared or converted."""

    def __float__(self) -> float:
        raise KeyError("no")

    def __repr__(self) -> str:
        raise RuntimeError("no")


NONE_OF_THEM: list[Any] = [
    *(float("nan"), float("inf"), -float("inf"), 1.1e50, 10**400, np.float64("nan"), None, "0.5", b"1", [1.0], {}),
    *(1j, object(), np.array([1.0, 2.0]), Decimal("nan"), lambda: 1.0),
]


@pytest.mark.parametrize("value", NUMBERS, ids=repr)
def test_whatever_is_a_number_becomes_a_plain_one(value: Any) -> None:
    found = evaluate(lambda config: value, {})
    assert type(found.value) is float
    assert (found.value, found.reason, found.detail) == (float(np.ravel(value)[0]), "", "")


@pytest.mark.parametrize("value", [*NONE_OF_THEM, Hostile()], ids=lambda value: type(value).__name__)
def test_whatever_is_none_is_a_failure_that_says_so(value: Any) -> None:
    found = evaluate(lambda config: value, {})
    assert found.value is None
    assert found.reason.startswith("the objective must give a finite number")
    assert ("None" if value is None else type(value).__name__) in found.reason


@pytest.mark.parametrize("value", [*NUMBERS, *NONE_OF_THEM], ids=lambda value: type(value).__name__)
def test_workers_and_optimizers_agree_on_what_a_number_is(value: Any) -> None:
    known = finite(value)
    if known is None:
        with pytest.raises(TrialFailed):
            number(value)
    else:
        assert number(value) == known


def test_an_exception_is_a_failure_with_its_traceback_from_the_objective_on() -> None:
    found = evaluate(objectives.broken, {"b": 1, "a": 2})
    assert (found.value, found.reason) == (None, "ValueError: no good: ['a', 'b']")
    assert "in broken" in found.detail
    assert "evaluation.py" not in found.detail


def test_an_objective_that_leaves_is_a_failure_and_ctrl_c_is_not() -> None:
    assert evaluate(objectives.system_exit, {}).reason == "SystemExit: 4"

    def interrupted(_: Any) -> float:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        evaluate(interrupted, {})


def test_an_objective_may_say_itself_why_it_failed() -> None:
    def fails(_: Any) -> float:
        raise TrialFailed("the compiler said no", "a.c:1: error")

    found = evaluate(fails, {})
    assert (found.value, found.reason, found.detail) == (None, "the compiler said no", "a.c:1: error")


class UnspeakableError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ValueError("first\nsecond"), "ValueError: first"),
        (ValueError(), "ValueError"),
        (ValueError("\n\n"), "ValueError:"),
        (ValueError("bad \udc80 byte"), "ValueError: bad ? byte"),
        (TrialFailed(""), "no reason given"),
        (TrialFailed("one\ntwo"), "one"),
        (UnspeakableError(), "UnspeakableError: "),
    ],
)
def test_the_reason_is_one_line_that_can_be_written(error: Exception, reason: str) -> None:
    def fails(_: Any) -> float:
        raise error

    found = evaluate(fails, {})
    assert found.reason.startswith(reason)
    assert "\n" not in found.reason
    (found.reason + found.detail).encode()


def test_long_texts_are_cut() -> None:
    def fails(_: Any) -> float:
        raise ValueError("x" * 10**6)

    found = evaluate(fails, {})
    assert len(found.reason) <= LINE
    assert len(found.detail) <= DETAIL


class Budgeted:
    def __call__(self, config: Any, budget: float) -> float:
        return budget


def keyword(config: Any, *, budget: float | None = None) -> float:
    return budget or 0.0


FORMS: list[tuple[Callable[..., Any], bool]] = [
    (lambda config: 0.0, False),
    (lambda config, verbose=False: 0.0, False),
    (lambda *args: 0.0, False),
    (lambda config, **rest: 0.0, False),
    (lambda config, epochs: epochs, True),
    (lambda config, budget=None: budget, True),
    (lambda config, verbose=False, budget=None: budget, True),
    (lambda config, epochs, /: epochs, True),
    (keyword, True),
    (Budgeted(), True),
    (functools.partial(lambda data, config, budget: budget, "data"), True),
    (functools.partial(lambda config, data: 0.0, data=1), False),
    (len, False),
    (max, False),  # has no signature
]


@pytest.mark.parametrize(("objective", "takes"), FORMS)
def test_who_takes_a_budget_gets_it(objective: Callable[..., Any], takes: bool) -> None:
    assert takes_budget(objective) is takes
    if takes:
        assert evaluate(objective, {"a": 1}, 9.0).value == 9.0


def test_an_objective_cannot_change_the_trial() -> None:
    config: Mapping[str, int] = {"a": 1}
    assert evaluate(lambda own: own.pop("a"), config).value == 1.0
    assert config == {"a": 1}


def test_a_task_measures_its_time() -> None:
    assert Task(objectives.count)({"a": True}).seconds >= 0
    assert Task(objectives.broken)({}).seconds >= 0


def test_a_worker_loads_nothing_heavy() -> None:
    code = (
        "import sys, overtone.running.worker, overtone.running.evaluation; "
        "sys.exit(str([name for name in ('numpy', 'scipy', 'psutil', 'rich') if name in sys.modules]))"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert said.stderr.strip() == "[]"
