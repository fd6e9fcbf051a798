"""What came back of a run, counted as it comes: the cost of a record does not grow with their number."""

import math
from collections import Counter
from collections.abc import Sequence

from overtone.errors import RunFailed
from overtone.optimizers.trial import Value
from overtone.running.journal import signed
from overtone.running.record import Goal, Outcome, Record, budget_of


class Tally:
    """The records, the best of them, and whether there is hope."""

    def __init__(self, goal: Goal, target: Value = None, full_budget: float | None = None) -> None:
        self.records: list[Record] = []
        self.best: Record | None = None  # as in History.best: at the largest budget
        self.n_failed = 0
        self.reached = False  # a value at least as good as the target came
        self._goal, self._target, self._full = goal, signed(target, goal), full_budget
        self._failures: list[Outcome] = []  # as long as nothing ever worked

    def add(self, record: Record) -> None:
        """Count a record."""
        self.records.append(record)
        value = signed(record.outcome.value, self._goal)
        if value is not None:
            is_full = self._full is None or budget_of(record.trial, self._full) >= self._full
            self.reached = self.reached or (self._target is not None and is_full and value <= self._target)
            self.best = min(self.best or record, record, key=self._rank)
            return
        self.n_failed += 1
        if self.best is None:
            self._failures.append(record.outcome)

    def _rank(self, record: Record) -> tuple[float, float, int]:
        value = signed(record.outcome.value, self._goal)
        return -budget_of(record.trial, self._full), math.inf if value is None else value, record.trial.number

    def forgive(self) -> None:
        """Failures so far are no reason not to go on: what caused them may be mended."""
        self._failures.clear()

    def check_hope(self, least: int) -> None:
        """Nothing ever worked, in at least so many trials: stop, with the reason on top."""
        if self.best is None and len(self._failures) >= least:
            raise RunFailed(_complaint(self._failures))


def _complaint(failures: Sequence[Outcome]) -> str:
    reasons = Counter(outcome.reason for outcome in failures).most_common(4)
    others = [f"  {_times(count)}: {reason}" for reason, count in reasons[1:]]
    detail = next(outcome.detail for outcome in failures if outcome.reason == reasons[0][0])
    lines = [
        f"every trial failed ({len(failures)} of {len(failures)}), {_times(reasons[0][1])}: {reasons[0][0]}",
        *others,
        *([detail] if detail else []),
        "Mend the cause, and run again: with a ledger it goes on, but what failed stays failed.",
    ]
    return "\n".join(lines)


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"
