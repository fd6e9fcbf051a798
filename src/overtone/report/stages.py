"""What each stage of Harmonica saw, found and fixed, with the sign of the user's goal."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from overtone.optimizers.stage import QUANTILES, Stage
from overtone.optimizers.trial import finite
from overtone.running.record import History, Record
from overtone.space import Space

Sureness = Literal["high", "medium", "low", "nothing found"]
HIGH, MEDIUM = 0.8, 0.5  # held-out r2, and stability, from which on a stage is trusted
GAP = 1e-2  # a certificate worse than this casts doubt on the fit


@dataclass(frozen=True)
class Spread:
    """How some values are spread."""

    n: int
    mean: float
    quantiles: tuple[float, ...]  # at 0, 25, 50, 75 and 100 %


@dataclass(frozen=True)
class Feature:
    """One monomial of a stage."""

    stage: int
    rank: int
    name: str
    weight: float  # of the user's value: positive means that the product of its columns raises it
    share: float  # of the variance that the stage explains
    stability: float


@dataclass(frozen=True)
class Fixed:
    """What a stage left of a parameter."""

    stage: int
    parameter: str
    kind: Literal["fixed", "narrowed"]
    left: str  # "= 0.1", "in [1, 2]", "from 0.1 to 0.2"


@dataclass(frozen=True)
class StageSummary:
    """One stage, as a reader wants it."""

    number: int
    n_samples: int
    n_failed: int
    before: Spread | None  # of its own samples; None if all failed
    after: Spread | None  # of what was sampled next; None if nothing was, or not at the same budget
    after_name: str  # where those come from
    features: tuple[Feature, ...]
    fixed: tuple[Fixed, ...]
    verdict: str
    reason: str
    warning: str  # that features may stand for one another
    sure: Sureness
    r2: float
    noise: float
    gap: float
    is_given: bool  # learned elsewhere: its samples are not in this history


def sign_of(history: History) -> float:
    """Stages are about values whose lower is better."""
    return -1.0 if history.goal == "maximize" else 1.0


def samples_of(history: History) -> dict[str, list[Record]]:
    """The records by the part of the optimizer that asked for them, in the order of their first trial."""
    parts: dict[str, list[Record]] = {}
    for record in history.records:
        parts.setdefault(record.trial.stage, []).append(record)
    return parts


def spread(values: Sequence[float]) -> Spread | None:
    """None if there are no values."""
    if not values:
        return None
    return Spread(len(values), float(np.mean(values)), tuple(np.quantile(values, QUANTILES).tolist()))


def values_of(records: Sequence[Record]) -> list[float]:
    """Without failures, and without what the optimizers take for one."""
    return [value for record in records if (value := finite(record.outcome.value)) is not None]


def stages_of(history: History) -> tuple[StageSummary, ...]:
    """All stages, in order."""
    parts = samples_of(history)
    known: frozenset[str] = frozenset()
    found = []
    for stage in history.stages:
        found.append(_stage(history, stage, parts, known))
        known = frozenset(stage.fixed)
    return tuple(found)


def _stage(
    history: History, stage: Stage, parts: Mapping[str, Sequence[Record]], known: frozenset[str]
) -> StageSummary:
    """known: what earlier stages fixed; `Stage.fixed` repeats it."""
    name, after = _after(stage, parts)
    return StageSummary(
        number=stage.number,
        n_samples=stage.n_samples,
        n_failed=stage.n_failed,
        before=_before(stage, sign_of(history)),
        after=after,
        after_name=name,
        features=features_of(stage, sign_of(history)),
        fixed=tuple(_fixed(history.space, stage.number, line) for line in stage.fixed if line not in known),
        verdict=stage.verdict,
        reason=stage.reason,
        warning=stage.warning,
        sure=sureness(stage),
        r2=stage.r2,
        noise=stage.noise,
        gap=stage.gap,
        is_given=_name(stage) not in parts,
    )


def _name(stage: Stage) -> str:
    return f"stage {stage.number}"


def _before(stage: Stage, sign: float) -> Spread | None:
    if stage.mean is None:
        return None
    quantiles = stage.quantiles if sign > 0 else tuple(-q for q in reversed(stage.quantiles))
    return Spread(stage.n_samples - stage.n_failed, sign * stage.mean, quantiles)


def _after(stage: Stage, parts: Mapping[str, Sequence[Record]]) -> tuple[str, Spread | None]:
    """The samples of the next stage, or whatever came first after this one: at the same budget, else they differ."""
    mine = parts.get(_name(stage))
    if not mine:
        return "", None
    names = [name for name in parts if name != "default"]
    for name in names[names.index(_name(stage)) + 1 :]:
        found = spread(values_of([r for r in parts[name] if r.trial.budget == mine[0].trial.budget]))
        if found is not None:
            return name, found
    return "", None


def features_of(stage: Stage, sign: float) -> tuple[Feature, ...]:
    """The paper's table of important features."""
    shares = stage.polynomial.shares()
    rows = zip(stage.polynomial, stage.stability, strict=True)
    return tuple(
        Feature(stage.number, rank, " * ".join(stage.names[c] for c in m), sign * a, shares[m], stability)
        for rank, ((m, a), stability) in enumerate(rows, start=1)
    )


def _fixed(space: Space, stage: int, line: str) -> Fixed:
    """A line of `Space.describe`, taken apart; the longest name that fits, as names may have blanks."""
    fits = [name for name in space.parameters if line.startswith((f"{name} = ", f"{name} in ", f"{name} from "))]
    name = max(fits, key=len, default="")
    left = line[len(name) :].strip()
    return Fixed(stage, name, "fixed" if left.startswith("= ") else "narrowed", left)


def sureness(stage: Stage) -> Sureness:
    """How far to trust a stage: what it predicts, whether parts of the samples agree, and whether the fit converged."""
    if not len(stage.polynomial):
        return "nothing found"
    if stage.verdict != "ok" or stage.gap > GAP:
        return "low"
    shares = stage.polynomial.shares().values()
    stable = sum(share * s for share, s in zip(shares, stage.stability, strict=True))
    least = min(stage.r2, stable)
    return "high" if least >= HIGH else "medium" if least >= MEDIUM else "low"
