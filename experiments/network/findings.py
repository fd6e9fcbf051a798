"""What the samples of the stages say: how stable the top features are, of what degree, and whether dummies are in."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from experiments.network.laboratory import as_points
from experiments.network.options import irrelevant, space
from experiments.network.plan import DEGREE, SPARSITY
from overtone import Stage
from overtone.optimizers.features import Features
from overtone.optimizers.stage import tame
from overtone.spectral import Columns, Polynomial, recover, solve_lasso
from overtone.spectral.lasso import largest_penalty
from overtone.spectral.monomials import FloatArray, Monomial

PENALTIES = tuple(float(f"{each:.3g}") for each in np.geomspace(0.01, 5.0, 36))
TOLERANCE = 1e-4  # of the Lasso's gap: the top five need no more
Row = dict[str, Any]


@dataclass(frozen=True)
class Problem:
    """What the Lasso of a stage sees: columns that vary, and the values less what earlier stages explain."""

    columns: Columns
    y: FloatArray  # (T,)
    names: tuple[str, ...]  # of the columns

    def first(self, n: int) -> "Problem":
        """The same with the first n samples only."""
        return Problem(self.columns.rows(np.arange(n)), self.y[:n], self.names)

    def top(self, l1_penalty: float, degree: int = DEGREE) -> dict[Monomial, float]:
        """The five largest monomials of the Lasso, with their weights."""
        fit = solve_lasso(self.columns, self.y, degree, l1_penalty, tolerance=TOLERANCE)
        return dict(fit.polynomial.top(SPARSITY))

    def name(self, monomial: Monomial) -> str:
        """As the paper writes it."""
        return " * ".join(self.names[column] for column in monomial)


def problems(samples: Sequence[Row], stages: Sequence[Stage]) -> list[Problem]:
    """One a stage, from the samples as they are saved, as `learn` makes them."""
    return [_problem(rows, stages[:number]) for number, rows in enumerate(samples)]


def _problem(rows: Row, earlier: Sequence[Stage]) -> Problem:
    features = Features(space())
    points = [tuple(point) for point in as_points(rows["bits"]).tolist()]
    y = tame(np.array(rows["errors"]))
    for stage in earlier:
        y = y - stage.polynomial(features.values(points))
    which = features.usable(points)
    names = tuple(name for name, is_in in zip(features.names, which, strict=True) if is_in)
    return Problem(features.columns(points, which), y, names)


# stable ranges


def stable_ranges(problem: Problem, l1_penalty: float) -> Row:
    """Where the top five and their signs are those at the penalty of the run with all samples."""
    wanted = _signs(problem.top(l1_penalty))
    penalties = sorted({*PENALTIES, l1_penalty})
    same = _around(penalties, l1_penalty, lambda each: _signs(problem.top(each)) == wanted)
    T = len(problem.y)
    counts = range(T - T % 10, 9, -10)
    shared = {n: len(wanted.items() & _signs(problem.first(n).top(l1_penalty)).items()) for n in counts}
    least = T
    for n in counts:
        if shared[n] < len(wanted):
            break
        least = n
    return {
        "penalties": [same[0], same[-1]],
        "tried": [penalties[0], penalties[-1]],
        "largest": largest_penalty(problem.columns, problem.y, DEGREE),
        "n_samples": least,
        "T": T,
        "shared": {str(n): count for n, count in shared.items()},
        "n_features": len(wanted),
    }


def _signs(top: Mapping[Monomial, float]) -> dict[Monomial, bool]:
    return {monomial: weight > 0 for monomial, weight in top.items()}


def _around(penalties: Sequence[float], middle: float, holds: Any) -> list[float]:
    """The run of penalties around the middle one for which something holds."""
    place = penalties.index(middle)
    found = [middle]
    for each in penalties[place + 1 :]:
        if not holds(each):
            break
        found.append(each)
    for each in reversed(penalties[:place]):
        if not holds(each):
            break
        found.insert(0, each)
    return found


# degree


def degrees(problem: Problem, l1_penalty: float) -> Row:
    """The top five if degree 4 is allowed, and what automatic settings choose."""
    four = problem.top(l1_penalty, min(DEGREE + 1, problem.columns.n_groups))
    found = recover(problem.columns, problem.y)
    return {
        "top": [[problem.name(monomial), weight] for monomial, weight in four.items()],
        "largest": max(map(len, four), default=0),
        "n_selected": len(problem.top(l1_penalty)),
        "automatic": found.degree,
        "held_out": {str(degree): r2 for degree, r2 in found.held_out.items()},
        "verdict": found.verdict,
        "features": [
            [problem.name(each.monomial), each.coefficient, each.stability, each.evidence] for each in found.features
        ],
    }


# important features


def important(stages: Sequence[Stage]) -> list[Row]:
    """The paper's table: a row a feature, largest weight first."""
    rows: list[Row] = []
    for stage in stages:
        polynomial: Polynomial = stage.polynomial
        shares = polynomial.shares()
        for rank, ((monomial, weight), stable) in enumerate(zip(polynomial, stage.stability, strict=True), start=1):
            names = [stage.names[column] for column in monomial]
            rows.append(
                {
                    "stage": stage.number,
                    "rank": rank,
                    "names": names,
                    "weight": weight,
                    "share": shares[monomial],
                    "stability": stable,
                    "irrelevant": [name for name in names if irrelevant(name)],
                }
            )
    return rows
