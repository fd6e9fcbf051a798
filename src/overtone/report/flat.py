"""Tables as lists of flat dicts, for scripts: names and values are the user's own."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from overtone.report.stages import Spread
from overtone.report.summary import Summary, summarize
from overtone.running.record import History

Row = dict[str, Any]


def tables_of(history: History) -> dict[str, list[Row]]:
    """All tables; each can be empty."""
    summary = summarize(history)
    return {
        "summary": [asdict(summary.overview)],
        "best": list(_best(summary)),
        "trials": list(_trials(history, summary)),
        "stages": list(_stages(summary)),
        "features": [asdict(feature) for stage in summary.stages for feature in stage.features],
        "fixed": [asdict(fixed) for stage in summary.stages for fixed in stage.fixed],
        "importance": [asdict(row) for row in summary.importance],
        "interactions": [asdict(pair) for pair in summary.pairs if pair.is_pair],
        "parts": [
            {"part": part.name, "n": part.n, "n_failed": part.n_failed, **_spread("", part.spread)}
            for part in summary.parts
        ],
        "failures": [asdict(group) for group in summary.failures],
        "crashes": [asdict(crash) for crash in summary.crashes],
    }


def _best(summary: Summary) -> Iterator[Row]:
    for setting in summary.settings:
        row = {name: getattr(setting, name) for name in ("parameter", "value", "is_active", "default", "differs")}
        yield {**row, "decided_by_stage": setting.decided and setting.decided.stage}


def _trials(history: History, summary: Summary) -> Iterator[Row]:
    """A row a trial; its configuration under "config.<name>", so that no parameter hides a column."""
    best = {step.trial: step.best for step in summary.steps}
    for record in history.records:
        trial, outcome = record.trial, record.outcome
        yield {
            "trial": trial.number,
            "stage": trial.stage,
            "budget": trial.budget,
            "value": outcome.value,
            "best_so_far": best.get(trial.number),
            "reason": outcome.reason,
            "seconds": outcome.seconds,
            "attempts": outcome.attempts,
            **{f"config.{name}": trial.config.get(name) for name in history.space.parameters},
        }


def _stages(summary: Summary) -> Iterator[Row]:
    plain = (
        "number",
        "n_samples",
        "n_failed",
        "verdict",
        "reason",
        "warning",
        "sure",
        "r2",
        "noise",
        "gap",
        "is_given",
    )
    for stage in summary.stages:
        yield {
            **{name: getattr(stage, name) for name in plain},
            "n_features": len(stage.features),
            "n_fixed": len(stage.fixed),
            **_spread("before_", stage.before),
            "after": stage.after_name,
            **_spread("after_", stage.after),
        }


def _spread(prefix: str, spread: Spread | None) -> Row:
    names = ("mean", "min", "q25", "median", "q75", "max")
    values = [None] * len(names) if spread is None else [spread.mean, *spread.quantiles]
    return {f"{prefix}{name}": value for name, value in zip(names, values, strict=True)}
