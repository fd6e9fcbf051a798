"""What failed, why, and which combinations make it fail."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from overtone.report import words
from overtone.report.stages import samples_of
from overtone.running.record import History, Record
from overtone.space.clauses import holds

NUMBERS = re.compile(r"0x[0-9a-fA-F]+|\d+(\.\d+)?([eE][-+]?\d+)?")


@dataclass(frozen=True)
class FailureGroup:
    """Trials that failed for the same reason, but for the numbers in it."""

    reason: str  # of the first of them
    n: int
    example: int  # its trial number
    detail: str  # its traceback, or the end of its output


@dataclass(frozen=True)
class Crash:
    """A combination that a stage found to fail, and that is avoided from there on."""

    stage: int
    combination: str
    n: int  # samples of the stage with it; 0 if those are not in this history
    n_failed: int


def failures_of(history: History) -> tuple[FailureGroup, ...]:
    """By reason, the most frequent first."""
    groups: dict[str, list[Record]] = {}
    for record in history.records:
        if record.outcome.value is None:
            groups.setdefault(NUMBERS.sub("#", record.outcome.reason), []).append(record)
    found = [_group(records) for records in groups.values()]
    return tuple(sorted(found, key=lambda group: (-group.n, group.example)))


def _group(records: Sequence[Record]) -> FailureGroup:
    first = records[0]
    return FailureGroup(
        first.outcome.reason or "no reason given", len(records), first.trial.number, first.outcome.detail
    )


def crashes_of(history: History) -> tuple[Crash, ...]:
    """In the order of the stages."""
    parts = samples_of(history)
    crashes = []
    for stage in history.stages:
        samples = parts.get(f"stage {stage.number}", [])
        for clause in stage.crashes:
            failed = [r.outcome.value is None for r in samples if holds(clause, r.trial.config)]
            crashes.append(Crash(stage.number, words.clause(clause), len(failed), sum(failed)))
    return tuple(crashes)
