"""`Stage`: the record of one stage of Harmonica (Algorithm 3): sampling, recovery, restriction. A value, as JSON."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from overtone.errors import InputError
from overtone.optimizers.features import Features
from overtone.optimizers.trial import Trial, Value, check_whole
from overtone.space import Restriction, Space
from overtone.space.clauses import holds
from overtone.space.restrictions import read_restriction
from overtone.spectral.lasso import check_penalty
from overtone.spectral.monomials import FloatArray, Monomial
from overtone.spectral.polynomial import Polynomial
from overtone.spectral.recovery import Recovery, recover

QUANTILES = (0.0, 0.25, 0.5, 0.75, 1.0)
ABOVE, BELOW = 1.0, 3.0  # values farther out than this many times the middle 80 % are pulled in to there
CRASHES = 4  # failures, and successes, from which on it is asked what makes trials fail
CHANCE = 1e-3  # of so many failures in a combination, were it no worse than others
FLAT = 1e-50  # a spread of values that is none
SURE = 0.9  # share of failures among the samples of a combination that makes it a crash


@dataclass(frozen=True)
class Settings:
    """The hyperparameters of one stage; None is automatic."""

    sparsity: int | None = None
    degree: int | None = None
    l1_penalty: float | None = None
    n_minimizers: int | None = None

    def __post_init__(self) -> None:
        for name in ("sparsity", "degree", "n_minimizers"):
            if getattr(self, name) is not None:
                check_whole(name, getattr(self, name))
        if self.l1_penalty is not None:
            check_penalty(self.l1_penalty)

    @property
    def as_in_the_paper(self) -> bool:
        """PSR to the letter: what the Lasso keeps at this penalty is fixed, and the verdict is for the record."""
        return self.sparsity is not None and self.l1_penalty is not None


@dataclass(frozen=True)
class Stage:
    """What was sampled, what was found, what is fixed from here on."""

    number: int
    n_samples: int
    n_failed: int
    mean: float | None  # of the values before the restriction; None if all trials failed
    quantiles: tuple[float, ...]  # at 0, 25, 50, 75 and 100 %; () if all trials failed
    names: tuple[str, ...]  # of the columns
    terms: tuple[tuple[Monomial, float], ...]  # of the polynomial
    stability: tuple[float, ...]  # of the terms, without the constant, largest first
    verdict: str
    reason: str
    r2: float
    noise: float
    gap: float  # the certificate of the Lasso
    minimizers: tuple[tuple[Mapping[int, Any], float], ...]  # restrictions of units with their predicted values
    crashes: tuple[Mapping[str, Any], ...]  # combinations that fail, as clauses
    fixed: tuple[str, ...]  # in words
    warning: str = ""  # where `forbid` bends the samples so much that features may stand for one another

    @property
    def polynomial(self) -> Polynomial:
        """g, over the columns of the space."""
        return Polynomial(dict(self.terms), len(self.names))

    @property
    def restricts(self) -> bool:
        """It fixes something."""
        return bool(self.minimizers)

    def apply(self, space: Space) -> Space:
        """The space after this stage; another one will do if its parameters are the same, as that of a big network."""
        if tuple(Features(space).names) != self.names:
            raise InputError(
                "a stage must be applied to a space of the same parameters in the same order, but its columns are "
                f"{_shown(self.names)} and those of the space {_shown(Features(space).names)}"
            )
        avoided = space
        if self.crashes:
            avoided = Space(dict(space.parameters), [*space.forbid, *self.crashes], space.mixtures)
        return avoided.restrict([restriction for restriction, _ in self.minimizers]) if self.minimizers else avoided

    def __str__(self) -> str:
        return self.polynomial.to_text(self.names)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        data = asdict(self)
        data["terms"] = [[list(monomial), a] for monomial, a in self.terms]
        data["minimizers"] = [[{str(unit): code for unit, code in r.items()}, value] for r, value in self.minimizers]
        return data

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Stage":
        """The inverse of `to_dict`, also after a trip through JSON."""
        try:
            terms = tuple((tuple(monomial), float(a)) for monomial, a in data["terms"])
            found = tuple((read_restriction(r), float(value)) for r, value in data["minimizers"])
            plain = {name: tuple(data[name]) for name in ("quantiles", "names", "stability", "crashes", "fixed")}
            return cls(**{**data, **plain, "terms": terms, "minimizers": found})
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(
                f"a stage must be what `Stage.to_dict` gives, but {type(error).__name__}: {error}"
            ) from None


def _shown(names: Sequence[str]) -> str:
    return ", ".join(names[:10]) + (f", ... ({len(names)})" if len(names) > 10 else "")


def learn(
    space: Space, trials: Sequence[tuple[Trial, Value]], earlier: Sequence[Stage], settings: Settings, number: int = 1
) -> Stage:
    """Lines 3 to 6 of Algorithm 3 on the samples of one stage, in the order of their numbers.

    earlier: the stages of the same objective; trials differ in what those fixed, if they left several minimizers.
    """
    told = sorted(trials, key=lambda pair: pair[0].number)
    features = Features(space)
    stage = replace(_blank(number, told, features), crashes=tuple(_crashes(features, told)))
    points = np.array([trial.point for trial, value in told if value is not None])
    values = tame(np.array([value for _, value in told if value is not None]))
    which = features.usable(points) if len(points) > 1 else np.array([False])
    if not which.any() or np.ptp(values) < FLAT:
        return replace(stage, reason="there are too few values, or all are the same, or nothing is left to vary")
    for before in earlier:
        values = values - before.polynomial(features.values(points))
    columns = features.columns(points, which)
    stage = replace(stage, warning=_warning(features.tied(points)))
    degree = None if settings.degree is None else min(settings.degree, columns.n_groups)
    found = recover(columns, values, degree=degree, sparsity=settings.sparsity, l1_penalty=settings.l1_penalty)
    stage = _described(stage, found, features.widen(found.polynomial, which))
    goes_on = found.features and (found.verdict == "ok" or settings.as_in_the_paper)
    return _concluded(stage, found, space, earlier, settings) if goes_on else stage


def _blank(number: int, told: Sequence[tuple[Trial, Value]], features: Features) -> Stage:
    """A stage that found nothing."""
    values = [value for _, value in told if value is not None]
    return Stage(
        number=number,
        n_samples=len(told),
        n_failed=len(told) - len(values),
        mean=float(np.mean(values)) if values else None,
        quantiles=tuple(np.quantile(values, QUANTILES).tolist()) if values else (),
        names=tuple(features.names),
        terms=(),
        stability=(),
        verdict="no signal",
        reason="",
        r2=0.0,
        noise=0.0,
        gap=0.0,
        minimizers=(),
        crashes=(),
        fixed=(),
    )


def _described(stage: Stage, found: Recovery, polynomial: Polynomial) -> Stage:
    return replace(
        stage,
        terms=tuple(polynomial.terms.items()),
        stability=tuple(feature.stability for feature in found.features),
        verdict=found.verdict,
        reason=found.reason,
        r2=found.r2,
        noise=found.noise,
        gap=found.lasso.gap,
    )


def _concluded(stage: Stage, found: Recovery, space: Space, earlier: Sequence[Stage], settings: Settings) -> Stage:
    """With its minimizers, as many as were asked for; automatic: those that the fit cannot tell from the best."""
    avoided = stage.apply(space)
    before = [each.polynomial for each in earlier]
    best = Features(avoided).minimizers(stage.polynomial, settings.n_minimizers or 4, before)
    best = [(restriction, value) for restriction, value in best if _is_possible(avoided, restriction)]
    if not best:
        return replace(stage, reason=f"{stage.reason}; but every setting of them is forbidden")
    if settings.n_minimizers is None:
        doubt = found.noise * np.sqrt(found.sparsity / max(1, stage.n_samples - stage.n_failed))
        best = [(restriction, value) for restriction, value in best if value <= best[0][1] + doubt]
    stage = replace(stage, minimizers=tuple(best))
    return replace(stage, fixed=tuple(stage.apply(space).describe()))


def _warning(tied: Sequence[str]) -> str:
    """In words, the first few."""
    if not tied:
        return ""
    more = f" and {len(tied) - 3} more" if len(tied) > 3 else ""
    return (
        f"`forbid` leaves samples in which {'; '.join(tied[:3])}{more}: features that differ in these alone look "
        "alike, so their names and weights may be exchanged, though they predict nearly as well"
    )


def _is_possible(space: Space, restriction: Restriction) -> bool:
    if not space.forbid:
        return True
    try:
        space.restrict([restriction])
    except InputError:  # all of it is forbidden
        return False
    return True


def tame(values: FloatArray) -> FloatArray:
    """Values far beyond the middle 80 % are pulled in: a diverged run at 1e30 tells no more than a very bad one.

    Good values that stand out are what is looked for, so below there is more room than above. Gaussian values stay as
    they are. Without any spread in the middle nothing is pulled in.
    """
    low, high = np.quantile(values, [0.1, 0.9]) if len(values) else (0.0, 0.0)
    spread = high - low
    return values if spread == 0 else np.clip(values, low - BELOW * spread, high + ABOVE * spread)


def _crashes(features: Features, told: Sequence[tuple[Trial, Value]]) -> list[Mapping[str, Any]]:
    """Combinations that fail, by the same engine on the failure indicator: named only if the samples are clear."""
    failed = np.array([value is None for _, value in told], dtype=np.float64)
    if failed.sum() < CRASHES or (1 - failed).sum() < CRASHES:
        return []
    points = np.array([trial.point for trial, _ in told])
    which = features.usable(points)
    found = recover(features.columns(points, which), failed) if which.any() else None
    if found is None or found.verdict != "ok":
        return []
    polynomial = features.widen(found.polynomial, which)
    opposite = Polynomial({monomial: -a for monomial, a in polynomial.terms.items()}, polynomial.n)
    _, _, best = min((value, trial.number, trial.point) for trial, value in told if value is not None)
    clauses: list[Mapping[str, Any]] = []
    for restriction, _ in features.minimizers(opposite, 8):
        clause = _shortest(features.space, restriction, points, failed)
        if clause is not None and clause not in clauses and not holds(clause, features.space.decode(best)):
            clauses.append(clause)
    return clauses


def _shortest(
    space: Space, restriction: Restriction, points: FloatArray, failed: FloatArray
) -> Mapping[str, Any] | None:
    """The restriction without the units that do not matter for failing, as a clause; None if it may work."""
    units = {unit: code for unit, code in restriction.items() if isinstance(code, float)}
    if not _fails(units, points, failed):
        return None
    for unit in sorted(units):
        fewer = {other: code for other, code in units.items() if other != unit}
        if fewer and _fails(fewer, points, failed):
            units = fewer
    return space.clause(units)


def _fails(units: Mapping[int, float], points: FloatArray, failed: FloatArray) -> bool:
    """Nearly all samples with these codes fail, and so many would hardly do so by chance."""
    match = np.all([points[:, unit] == code for unit, code in units.items()], axis=0)
    n, share = int(match.sum()), float(failed.mean())
    return n >= CRASHES and failed[match].mean() >= SURE and share**n <= CHANCE


def importance_table(stages: Sequence[Stage]) -> str:
    """The paper's table of important features: stage, feature, weight, and the share of the stage's variance."""
    lines = [f"{'stage':8}{'feature':44}{'weight':>10}{'share':>9}{'stable':>9}"]
    for stage in stages:
        shares = stage.polynomial.shares()
        for rank, ((monomial, a), stable) in enumerate(zip(stage.polynomial, stage.stability, strict=True), start=1):
            feature = " * ".join(stage.names[column] for column in monomial)
            lines.append(f"{stage.number}-{rank:<6}{feature:44}{a:10.3g}{shares[monomial]:9.1%}{stable:9.0%}")
    return "\n".join(lines)
