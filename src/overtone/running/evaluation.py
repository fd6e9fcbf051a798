"""One evaluation, wherever the work is done: a number, or why there is none. Never an exception.

A worker imports this module and nothing else of ours, so it needs neither numpy nor the engine: workers start at once,
and a limit of memory is the objective's alone.
"""

import inspect
import math
import reprlib
import time
import traceback
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from overtone.errors import TrialFailed

if TYPE_CHECKING:
    from overtone.running.record import Outcome

Objective = Callable[..., Any]  # (config) or (config, budget) -> a number, lower is better unless told otherwise
LARGEST = 1e50  # as in optimizers.trial.finite, which a worker does not load; a test compares the two
LINE, DETAIL = 300, 20_000  # characters that are kept


class Measured(NamedTuple):
    """What a worker sends back: the first fields of an `Outcome`."""

    value: float | None
    reason: str
    detail: str
    seconds: float


class Task:
    """An objective that is ready to travel: called with a trial's config and budget, it gives a `Measured`."""

    def __init__(self, objective: Objective) -> None:
        self.objective, self.form = objective, _form(objective)

    def __call__(self, config: Mapping[str, Any], budget: float | None = None) -> Measured:
        """Evaluate; only Ctrl-C comes through."""
        start = time.perf_counter()
        try:
            value, reason, detail = number(self.value(dict(config), budget)), "", ""
        except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever an objective does is the trial's failure
            value, (reason, detail) = None, explained(error)
        return Measured(value, reason, detail, time.perf_counter() - start)

    def value(self, config: dict[str, Any], budget: float | None) -> Any:
        """What the objective gives, or raises; it gets the budget if it takes one."""
        if self.form == "plain":
            return self.objective(config)
        return self.objective(config, budget) if self.form == "second" else self.objective(config, budget=budget)


def evaluate(objective: Objective, config: Mapping[str, Any], budget: float | None = None) -> "Outcome":
    """The outcome of one evaluation in this process."""
    from overtone.running.record import Outcome  # here, because it loads the engine

    return Outcome(*Task(objective)(config, budget))


def takes_budget(objective: Objective) -> bool:
    """It has a second parameter that must be given, or one named `budget`."""
    return _form(objective) != "plain"


def _form(objective: Objective) -> Literal["plain", "second", "keyword"]:
    """How the objective wants its budget."""
    try:
        parameters = list(inspect.signature(objective).parameters.values())
    except (TypeError, ValueError):  # some functions written in C have no signature
        return "plain"
    if any(each.name == "budget" and each.kind is not each.POSITIONAL_ONLY for each in parameters):
        return "keyword"
    placed = [each for each in parameters if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]
    return "second" if len(placed) > 1 and placed[1].default is inspect.Parameter.empty else "plain"


def number(value: Any) -> float:
    """A plain finite number, whatever kind of number came; else TrialFailed says what came instead."""
    try:
        plain = value.item() if hasattr(value, "item") else value  # numpy's and others' numbers
        found = math.nan if isinstance(plain, str | bytes) else float(plain)
    except Exception:  # noqa: BLE001 - foreign types raise what they like
        found = math.nan
    if abs(found) <= LARGEST:
        return found
    hint = ": does it return its result?" if value is None else ""
    raise TrialFailed(f"the objective must give a finite number, at most {LARGEST:g}, but gave {_shown(value)}{hint}")


def explained(error: BaseException) -> tuple[str, str]:
    """The reason in one line, and the traceback from the objective on."""
    if isinstance(error, TrialFailed):
        return _line(error.reason), _clean(error.detail)
    inner = error.__traceback__
    while inner is not None and inner.tb_frame.f_code.co_filename == __file__:
        inner = inner.tb_next
    try:
        text = "".join(traceback.format_exception(type(error), error, inner))
        said = str(error)
    except Exception:  # noqa: BLE001 - an error that cannot even be shown
        text, said = "", "(an error that cannot be shown)"
    return _line(f"{type(error).__name__}: {said}" if said else type(error).__name__), _clean(text)


def _line(text: str) -> str:
    """The first line that says something, within bounds."""
    line = next((line.strip() for line in _clean(text).splitlines() if line.strip()), "no reason given")
    return line if len(line) <= LINE else line[: LINE - 4] + " ..."


def _clean(text: str) -> str:
    """The end of a text, with nothing in it that cannot be written to a file."""
    return str(text)[-DETAIL:].encode("utf-8", "replace").decode()


def _shown(value: Any) -> str:
    try:
        return f"{type(value).__name__} {reprlib.repr(value)}" if value is not None else "None"
    except Exception:  # noqa: BLE001 - a value that cannot even be shown
        return f"a {type(value).__name__}"
