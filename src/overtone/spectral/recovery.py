"""`recover()`: Procedure 2 of the paper, Polynomial Sparse Recovery (PSR), with everything automatic by default.

Given the samples (step 2 of the procedure is the caller's), sparse regression over all monomials of degree <= d
(step 3), the largest ones kept (step 4), and how far to trust the answer.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial
from math import inf
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from overtone.errors import InputError
from overtone.spectral.columns import Columns, as_samples, check_degree
from overtone.spectral.correlation import Dictionary, single_threaded_blas
from overtone.spectral.evidence import EXACT
from overtone.spectral.lasso import LassoFit, LassoSolver, check_penalty, honest_factors, noise_penalty
from overtone.spectral.leftover import Leftover, leftover_signal
from overtone.spectral.monomials import FloatArray, IntArray, Monomial, count_monomials
from overtone.spectral.polynomial import Polynomial
from overtone.spectral.selection import Model, refit, select
from overtone.spectral.stepwise import BoolArray, stepwise

Models = Sequence[tuple[Monomial, ...]]
Fits = list[tuple[tuple[Monomial, ...], FloatArray]]  # with the coefficients
Fit = Callable[[Dictionary, FloatArray, BoolArray, Models], Fits]
Verdict = Literal["ok", "no signal", "not sparse at this sample size"]
LADDER = 3  # degrees that are always tried; higher ones only if a scan of what is left asks for them
AFFORDABLE = 1e12  # operations in a scan up to which a rung of the ladder is tried: about ten seconds
CHEAP = 2e10  # the same for the scan that looks beyond the ladder
STABLE = 0.4  # share of the folds that must agree on a monomial...
CLEAR = 3.0  # ...unless it brings this many nats of evidence
CERTAIN = 5.0  # nats from which on all samples overrule the folds in the choice of the degree
BETTER = 0.5  # nats by which a model of all samples must be better for the folds to be fitted with the same care
SETTLED = 0.2  # share of the variance left by a model on which all sets of samples agree, that needs no more care
N_FOLDS = 5
ROUNDING = 1e-6  # share of an error that is none
SMALLEST_PENALTY = 0.02  # of the penalty at which everything is taken for noise


@dataclass(frozen=True)
class Feature:
    """One monomial of the answer, and how far to trust it."""

    monomial: Monomial
    coefficient: float
    stability: float  # share of the fits on 4/5 of the samples that found it too
    evidence: float  # nats by which the samples speak for it, all candidates counted


@dataclass(frozen=True)
class Recovery:
    """g, and how far to trust it."""

    polynomial: Polynomial
    verdict: Verdict
    reason: str  # the verdict in plain words
    r2: float  # share of the variance that is predicted on held-out samples
    noise: float  # standard deviation of what is left
    degree: int  # d: given, or the rung of the ladder that predicts best
    l1_penalty: float  # lambda: given, or what follows from the noise
    features: tuple[Feature, ...]  # largest coefficient first
    lasso: LassoFit  # the certified Lasso at `l1_penalty`
    held_out: dict[int, float] = field(default_factory=dict)  # r2 for every degree tried

    @property
    def sparsity(self) -> int:
        """s: how many monomials there are."""
        return len(self.polynomial)

    def __str__(self) -> str:
        return f"{self.polynomial}\n{self.verdict}: {self.reason}"


@dataclass(frozen=True)
class _Task:
    """What is fixed by the caller; None is automatic."""

    sparsity: int | None
    l1_penalty: float | None

    @property
    def is_automatic(self) -> bool:
        return self.sparsity is None and self.l1_penalty is None

    def fit(self, dictionary: Dictionary, y: FloatArray, starts: Sequence[Sequence[Monomial]]) -> Model:
        """Steps 3 and 4: regress, keep the largest; the refit takes away the Lasso's shrinkage."""
        if self.l1_penalty is None:
            return select(dictionary, y, starts, self.sparsity)
        found = LassoSolver(dictionary, y).solve(self.l1_penalty).polynomial
        top = found if self.sparsity is None else found.top(self.sparsity)
        return refit(dictionary, y, [monomial for monomial, _ in top], prune=self.sparsity is None)

    def penalty(self, dictionary: Dictionary, y: FloatArray, model: Model) -> float:
        """lambda: given, or the noise level of what the model leaves, but never quite 0."""
        if self.l1_penalty is not None:
            return self.l1_penalty
        return max(noise_penalty(dictionary, model.residual), SMALLEST_PENALTY * noise_penalty(dictionary, y))


def recover(
    points: ArrayLike | Columns,
    values: ArrayLike,
    *,
    degree: int | None = None,
    sparsity: int | None = None,
    l1_penalty: float | None = None,
) -> Recovery:
    """Recover a sparse polynomial of low degree from values at random points.

    With `degree`, `sparsity` and `l1_penalty` given this is the paper's PSR to the letter, and a least-squares refit.
    Left out, the degree is the rung of a ladder that predicts held-out samples best, the penalty follows the noise
    level, and the sparsity ends where monomials are no longer backed by the evidence or stable under resampling.
    """
    columns, y = as_samples(points, values)
    degree = None if degree is None else check_degree(columns, degree)
    task = _Task(_checked_sparsity(sparsity), None if l1_penalty is None else check_penalty(l1_penalty))
    if np.ptp(y) == 0:
        return _constant(columns, y, degree or 1)
    with single_threaded_blas():
        rungs = _climb(columns, y, task, degree)
        return _conclude(columns, y, task, rungs)


def _checked_sparsity(sparsity: int | None) -> int | None:
    whole = isinstance(sparsity, int | np.integer) and not isinstance(sparsity, bool)
    if sparsity is not None and not (whole and sparsity >= 1):
        raise InputError(f"`sparsity` must be a whole number >= 1, or None for automatic, but got {sparsity!r}")
    return sparsity


# the ladder of degrees


@dataclass(frozen=True)
class _Rung:
    """The fits of one degree, on all samples and on all folds but one, and what those predict for that one."""

    dictionary: Dictionary  # of all samples
    y: FloatArray  # (T,)
    found: tuple[Monomial, ...]  # on all samples
    folds: tuple[tuple[Monomial, ...], ...]  # the monomials found without each fold
    predicted: FloatArray  # (T,)

    @cached_property
    def model(self) -> Model:
        """On all samples; that of a lower degree is seldom asked for."""
        return refit(self.dictionary, self.y, self.found)

    @cached_property
    def error(self) -> float:
        return float(((self.y - self.predicted) ** 2).mean())

    @property
    def r2(self) -> float:
        return 1 - self.error / float(self.y.var())


def _climb(columns: Columns, y: FloatArray, task: _Task, degree: int | None) -> list[_Rung]:
    """Degrees 1, 2, 3, and on as long as a scan of the next one finds more to explain."""
    fit = _fit_at_once if task.is_automatic else partial(_fit_one_by_one, task)
    if degree is not None:
        return [_rung(columns, y, fit, degree, None)]
    rungs: list[_Rung] = []
    counts = count_monomials(columns.groups, min(LADDER, columns.n_groups))
    top = max(1, sum(2 * len(y) * count <= AFFORDABLE for count in counts[1:]))
    while len(rungs) < top or (top == LADDER and _more_above(columns, y, rungs)):
        rungs.append(_rung(columns, y, fit, len(rungs) + 1, rungs[-1] if rungs else None))
    return rungs


def _rung(columns: Columns, y: FloatArray, fit: Fit, degree: int, below: _Rung | None) -> _Rung:
    """Fit on all folds but one, predict that one; and fit on all samples."""
    fold = _folds(len(y))
    sets = np.array([*(fold != f for f in range(int(fold.max()) + 1)), fold >= 0])  # (folds + 1, T)
    starts = [()] * len(sets) if below is None else [*below.folds, below.found]
    dictionary = Dictionary(columns, degree)
    *folds, (found, _) = fit(dictionary, y, sets, starts)
    place = {m: i for i, m in enumerate(dict.fromkeys(m for monomials, _ in folds for m in monomials))}
    P = columns.products(list(place)).T  # (monomials of all folds, T)
    predicted = np.empty(len(y))
    for seen, (monomials, w) in zip(sets, folds, strict=False):
        A = P[[place[m] for m in monomials]].T if monomials else np.zeros((len(y), 0))
        predicted[~seen] = y[seen].mean() + (A[~seen] - A[seen].mean(axis=0)) @ w
    return _Rung(dictionary, y, found, tuple(monomials for monomials, _ in folds), predicted)


def _fit_at_once(dictionary: Dictionary, y: FloatArray, sets: BoolArray, starts: Models) -> Fits:
    """Automatic settings: step by step in all sets together; at the end of the ladder with more care.

    Steps from below can end in a dead end. Where steps from above find a clearly better model of all samples, all sets
    take them.
    """
    found = stepwise(dictionary, y, sets, starts)
    agreed = len({frozenset(each.monomials) for each in found}) == 1 and found[-1].left < SETTLED
    if dictionary.degree >= LADDER and not agreed:
        above = stepwise(dictionary, y, sets[-1:], [()], from_above=True)
        if above[0].cost < found[-1].cost - BETTER:
            above = stepwise(dictionary, y, sets[:-1], [()] * (len(sets) - 1), from_above=True) + above
        found[-len(above) :] = [
            min(pair, key=lambda each: each.cost) for pair in zip(found[-len(above) :], above, strict=True)
        ]
    return [(each.monomials, each.weights) for each in found]


def _fit_one_by_one(task: _Task, dictionary: Dictionary, y: FloatArray, sets: BoolArray, starts: Models) -> Fits:
    """Some settings are given: one set after the other, the last one starting from what the others found, too."""
    found: Fits = []
    for seen, start in zip(sets, starts, strict=True):
        own = dictionary if seen.all() else Dictionary(dictionary.columns.rows(np.flatnonzero(seen)), dictionary.degree)
        known = [monomials for monomials, _ in found]
        model = task.fit(own, y[seen], [start, *known] if seen.all() else [start])
        found.append((model.monomials, model.coefficients))
    return found


@lru_cache(maxsize=16)
def _folds(T: int) -> IntArray:
    """The fold of each sample: shuffled, as rows may come in some order, but always the same way.  # (T,)"""
    fold: IntArray = np.random.default_rng(0).permutation(T) % max(2, min(N_FOLDS, T // 4))
    fold.flags.writeable = False  # the same one for all who ask
    return fold


def _best(rungs: Sequence[_Rung], y: FloatArray) -> _Rung:
    """The lowest rung that no other one predicts better than, by more than rounding."""
    least = min(rung.error for rung in rungs)
    most = least + ROUNDING * (least + float(y.var()) * EXACT)
    return next(rung for rung in rungs if rung.error <= most)


def _more_above(columns: Columns, y: FloatArray, rungs: Sequence[_Rung]) -> bool:
    """Does one scan of the next degree find a monomial that pays for itself in what the best rung leaves?"""
    degree, model = len(rungs) + 1, _best(rungs, y).model
    if degree > columns.n_groups or 2 * len(y) * count_monomials(columns.groups, degree)[-1] > CHEAP:
        return False
    if not model.residual.any():
        return False
    dictionary = Dictionary(columns, degree)
    only_highest = [inf] * (degree - 1) + [1.0]  # lower degrees had their chance
    level = dictionary.noise_level(model.residual, 1)  # what is weaker does not pay
    found = dictionary.strongest(model.residual, factors=only_highest, level=level, limit=1).monomials
    if not found:
        return False
    return refit(dictionary, y, (*model.monomials, *found)).cost < refit(dictionary, y, model.monomials).cost


# the answer


def _conclude(columns: Columns, y: FloatArray, task: _Task, rungs: Sequence[_Rung]) -> Recovery:
    """The fit on all samples at the best degree, its stable part, its certificate and the verdict."""
    rung = _best(rungs, y)
    if rungs[-1].model.cost < rung.model.cost - CERTAIN:  # all samples show what four fifths of them did not
        rung = rungs[-1]
    dictionary, model = rung.dictionary, rung.model
    if task.sparsity is None:
        trusted = tuple(m for m in model.monomials if _is_trusted(m, model, rung))
        model = model if trusted == model.monomials else refit(dictionary, y, trusted)
    factors = honest_factors(dictionary) if task.l1_penalty is None else None
    lasso = LassoSolver(dictionary, y, factors, model.monomials).solve(task.penalty(dictionary, y, model))
    polynomial = _polynomial(columns, y, model)
    left = leftover_signal(columns, model.residual)
    features = tuple(_feature(monomial, a, model, rung) for monomial, a in polynomial)
    verdict, reason = _judge(features, rung.r2, left, float(y.var()))
    return Recovery(
        polynomial=polynomial,
        verdict=verdict,
        reason=reason,
        r2=rung.r2,
        noise=float(np.sqrt(model.residual @ model.residual / max(1, len(y) - 1 - len(features)))),
        degree=dictionary.degree,
        l1_penalty=lasso.l1_penalty,
        features=features,
        lasso=lasso,
        held_out={each.dictionary.degree: each.r2 for each in rungs},
    )


def _polynomial(columns: Columns, y: FloatArray, model: Model) -> Polynomial:
    """The model with its intercept: the mean of the values less that of the monomials."""
    means = columns.products(model.monomials).mean(axis=0)
    constant = float(y.mean() - means @ model.coefficients)
    return Polynomial({(): constant, **dict(zip(model.monomials, model.coefficients.tolist(), strict=True))}, columns.n)


def _stability(monomial: Monomial, rung: _Rung) -> float:
    return sum(monomial in fold for fold in rung.folds) / len(rung.folds)


def _feature(monomial: Monomial, coefficient: float, model: Model, rung: _Rung) -> Feature:
    evidence = float(model.evidence[model.monomials.index(monomial)])
    return Feature(monomial, coefficient, _stability(monomial, rung), evidence)


def _is_trusted(monomial: Monomial, model: Model, rung: _Rung) -> bool:
    evidence = model.evidence[model.monomials.index(monomial)]
    return bool(_stability(monomial, rung) >= STABLE or evidence >= CLEAR)


def _judge(features: Sequence[Feature], r2: float, left: Leftover, total: float) -> tuple[Verdict, str]:
    """The verdict, from what is predicted and what is left: more may be left than was found, or not."""
    if not features and not left.is_clear:
        return "no signal", (
            "no monomial stands out from the noise, and nothing says that these columns matter at all; "
            "more samples or less noise may show more"
        )
    most = (left.variance + left.spread) / total
    if not features or most > r2:
        return "not sparse at this sample size", (
            f"the {len(features)} monomials found predict {max(r2, 0.0):.0%} of the variance of samples not seen, but "
            f"up to {min(most, 1.0):.0%} may hang on others, too many or too weak to tell which: take more samples"
        )
    return "ok", f"{len(features)} monomials predict {r2:.0%} of the variance of samples not seen"


def _constant(columns: Columns, y: FloatArray, degree: int) -> Recovery:
    """All values are the same: there is nothing to recover."""
    polynomial = Polynomial({(): float(y[0])}, columns.n)
    lasso = LassoFit(polynomial, 0.0, 0.0, 0, 0.0, True)
    reason = f"all {len(y)} values are {y[0]:g}"
    return Recovery(polynomial, "no signal", reason, 0.0, 0.0, degree, 0.0, (), lasso, {})
