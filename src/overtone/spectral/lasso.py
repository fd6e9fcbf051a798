"""Step 3 of Procedure 2 (PSR): the Lasso over all monomials of degree <= d, certified by its duality gap.

    minimize over b, w:  P(b, w) = 1/(2T) ||y - b - A w||^2 + sum_S p_S |w_S|,   p_S = l1_penalty * factors[|S| - 1]

The matrix A is never built. A working set of columns is solved by a library solver on its Gram matrix; a full scan
finds the monomials that violate optimality and joins them to the set; until the gap over *all* monomials is small.

Letters: T samples, y values, b intercept, w coefficients, r = y - b - A w residual (its mean is 0), p penalties.
"""

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from overtone.errors import InputError, NotConvergedWarning
from overtone.spectral.columns import Columns, as_numbers, as_samples, centred, check_degree
from overtone.spectral.correlation import Candidates, Dictionary, single_threaded_blas
from overtone.spectral.monomials import FloatArray, Monomial
from overtone.spectral.polynomial import Polynomial

POOL = 200  # monomials that one scan may add to the working set
POOL_LARGE = 600  # the same where scans are dear
NEAR = 0.8  # a scan also brings what is nearly violating: it may become so before the next scan


@dataclass(frozen=True)
class LassoFit:
    """The solution with its certificate."""

    polynomial: Polynomial
    l1_penalty: float
    gap: float  # duality gap over the whole dictionary, as a share of the objective at w = 0
    n_scans: int  # how many times all monomials were looked at
    objective: float  # P(b, w)
    converged: bool  # the gap is within the tolerance


def solve_lasso(
    points: ArrayLike | Columns,
    values: ArrayLike,
    degree: int = 3,
    l1_penalty: float | None = None,
    *,
    factors: Sequence[float] | None = None,
    tolerance: float = 1e-6,
    max_scans: int = 100,
    start: Iterable[Monomial] = (),
) -> LassoFit:
    """The certified Lasso at one penalty (automatic: the noise level, see `noise_penalty`).

    `factors` multiplies the penalty of each degree; `start` names monomials that are probably in the solution.
    """
    columns, y = as_samples(points, values)
    dictionary = Dictionary(columns, check_degree(columns, degree))
    penalty = noise_penalty(dictionary, y) if l1_penalty is None else check_penalty(l1_penalty)
    return LassoSolver(dictionary, y, factors, start).solve(penalty, tolerance, max_scans)


def solve_lasso_path(
    points: ArrayLike | Columns,
    values: ArrayLike,
    degree: int,
    l1_penalties: Sequence[float],
    *,
    factors: Sequence[float] | None = None,
    tolerance: float = 1e-6,
    max_scans: int = 100,
) -> list[LassoFit]:
    """The certified Lasso at several penalties, each started from the one before: give them from large to small."""
    columns, y = as_samples(points, values)
    solver = LassoSolver(Dictionary(columns, check_degree(columns, degree)), y, factors)
    return [solver.solve(check_penalty(penalty), tolerance, max_scans) for penalty in l1_penalties]


def largest_penalty(
    points: ArrayLike | Columns, values: ArrayLike, degree: int, factors: Sequence[float] | None = None
) -> float:
    """The smallest penalty at which nothing is selected: max_S |A_S' y| / (T factor_S)."""
    columns, y = as_samples(points, values)
    dictionary = Dictionary(columns, check_degree(columns, degree))
    weights = _checked_factors(factors, dictionary.degree).tolist()
    if np.ptp(y) == 0:
        return 0.0
    found = dictionary.strongest(centred(y), factors=weights, limit=1)
    return float(found.scores[0] / len(y))


def noise_penalty(dictionary: Dictionary, residual: FloatArray) -> float:
    """sigma sqrt(2 log N / T): what the strongest of N monomials reaches if all that is left is noise of size sigma."""
    N = max(2, sum(dictionary.counts[1:]))
    return float(np.std(residual) * np.sqrt(2 * np.log(N) / len(residual)))


def honest_factors(dictionary: Dictionary) -> list[float]:
    """A penalty factor a degree, sqrt(log N_k / log N): the few monomials of low degree need no high threshold."""
    N = max(2, sum(dictionary.counts[1:]))
    return [float(np.sqrt(np.log(max(2, N_k)) / np.log(N))) for N_k in dictionary.counts[1:]]


def check_penalty(l1_penalty: float) -> float:
    """A finite number > 0: at 0 this is least squares, which has no single answer with more monomials than samples."""
    number = isinstance(l1_penalty, float | int | np.number)
    if not (number and np.isfinite(l1_penalty) and l1_penalty > 0):
        raise InputError(
            f"`l1_penalty > 0` must hold and be finite, but got {l1_penalty!r}: leave it out for an automatic one"
        )
    return float(l1_penalty)


def _checked_factors(factors: Sequence[float] | None, degree: int) -> FloatArray:
    f = np.ones(degree) if factors is None else as_numbers(factors, "`factors`")
    if f.shape != (degree,) or not (np.isfinite(f) & (f > 0)).all():
        raise InputError(f"`factors` must be {degree} positive numbers, one a degree, but got {factors!r}")
    return f


class LassoSolver:
    """The working set and its matrices: they only grow, and serve the next penalty of a path too."""

    def __init__(
        self,
        dictionary: Dictionary,
        values: FloatArray,
        factors: Sequence[float] | None = None,
        start: Iterable[Monomial] = (),
    ) -> None:
        self.dictionary = dictionary
        self.degree_factors = _checked_factors(factors, dictionary.degree)
        self.mean = float(values.mean() if np.ptp(values) else values[0])
        self.y = centred(values)
        self.null_objective = float(self.y @ self.y) / (2 * len(self.y))  # P at w = 0
        self.monomials: list[Monomial] = []  # the working set
        self.A = np.zeros((len(self.y), 0))  # its columns, centred, divided by their penalty factors
        self.factors = np.zeros(0)
        self.gram = np.zeros((0, 0))
        self.w = np.zeros(0)  # in units of the scaled columns
        self.n_scans = 0
        self.add(dict.fromkeys(self._checked_start(start)))

    def _checked_start(self, start: Iterable[Monomial]) -> list[Monomial]:
        """Monomials of the dictionary: of its degree at most, one column of a group at most."""
        given = list(Polynomial(dict.fromkeys(start, 1.0), self.dictionary.columns.n).terms)
        groups = self.dictionary.columns.groups
        for monomial in given:
            if len(monomial) > self.dictionary.degree or len(set(groups[list(monomial)])) < len(monomial):
                raise InputError(
                    f"`start` must name monomials of degree <= {self.dictionary.degree}, with at most one column of a "
                    f"group, but got {monomial}"
                )
        return given

    def add(self, monomials: Iterable[Monomial]) -> None:
        """Join new columns to the working set and border its Gram matrix."""
        known = set(self.monomials)
        new = [monomial for monomial in monomials if monomial and monomial not in known]
        if not new:
            return
        factors = self.degree_factors[[len(monomial) - 1 for monomial in new]]
        B = self.dictionary.columns.products(new) / factors
        B -= B.mean(axis=0)
        cross = self.A.T @ B  # (old, new)
        self.gram = np.block([[self.gram, cross], [cross.T, B.T @ B]])
        self.A = np.asfortranarray(np.hstack([self.A, B]))
        self.factors = np.concatenate([self.factors, factors])
        self.w = np.concatenate([self.w, np.zeros(len(new))])
        self.monomials += new

    def solve(self, penalty: float, tolerance: float = 1e-6, max_scans: int = 100, *, warn: bool = True) -> LassoFit:
        """Solve on the working set, scan everything, add the violators; repeat until the gap is small."""
        self.n_scans, gap = 0, 0.0
        with single_threaded_blas():
            r = self._solve_working_set(penalty, tolerance)
            while self.null_objective > 0:  # else the values are constant, and w = 0 is exact
                violators = self._scan(r, penalty)
                gap = self._gap(r, penalty, violators) / self.null_objective
                if gap <= tolerance or self.n_scans >= max_scans:
                    break
                self.add(violators.monomials)
                r = self._solve_working_set(penalty, tolerance)
        if gap > tolerance and warn:
            _warn_not_converged(self.n_scans, gap, tolerance)
        return LassoFit(self._polynomial(), penalty, gap, self.n_scans, self._objective(r, penalty), gap <= tolerance)

    def _scan(self, r: FloatArray, penalty: float) -> Candidates:
        """A full scan; scores come in units of the penalty, |A_S' r| / (T factor_S).

        A penalty deep in the noise is violated by nearly all: then the level is what noise reaches `limit` times.
        """
        limit = POOL_LARGE if self.dictionary.is_large else POOL
        factors = self.degree_factors.tolist()
        theta = r / len(r)
        noise = self.dictionary.noise_level(theta, limit) / max(factors)
        found = self.dictionary.strongest(theta, factors=factors, level=max(noise, NEAR * penalty), limit=limit)
        self.n_scans += 1
        if len(found.scores) == 0 and noise > NEAR * penalty:  # less than noise: look at all that may violate
            found = self.dictionary.strongest(theta, factors=factors, level=NEAR * penalty, limit=limit)
            self.n_scans += 1
        return found

    def _gap(self, r: FloatArray, penalty: float, violators: Candidates) -> float:
        """P(w) - D(theta) at the best multiple theta = s r that is feasible: |A_S' theta| / T <= p_S for all S."""
        T, y = len(r), self.y
        largest = float(violators.scores[0]) if len(violators.scores) else 0.0
        feasible = 1.0 if largest <= penalty else penalty / largest
        norm = float(r @ r)
        s = min(feasible, float(y @ r) / norm) if norm > 0 else 0.0
        dual = (2 * s * float(y @ r) - s * s * norm) / (2 * T)
        return max(0.0, self._objective(r, penalty) - dual)

    def _objective(self, r: FloatArray, penalty: float) -> float:
        return float(r @ r) / (2 * len(r)) + penalty * float(np.abs(self.w).sum())

    def _polynomial(self) -> Polynomial:
        active = np.flatnonzero(self.w)
        a = self.w[active] / self.factors[active]
        chosen = [self.monomials[i] for i in active]
        means = self.dictionary.columns.products(chosen).mean(axis=0)
        constant = self.mean - float(means @ a)
        return Polynomial({(): constant, **dict(zip(chosen, a.tolist(), strict=True))}, self.dictionary.columns.n)

    def _solve_working_set(self, penalty: float, tolerance: float) -> FloatArray:
        """Coordinate descent on the Gram matrix, then the exact solution for the signs it found. Returns r."""
        y = self.y
        if not self.monomials:
            return y
        from sklearn import config_context
        from sklearn.linear_model import lasso_path

        Xy = self.A.T @ y
        with warnings.catch_warnings(), config_context(skip_parameter_validation=True):
            warnings.simplefilter("ignore")  # the gap over the whole dictionary decides, below
            _, coefficients, _ = lasso_path(
                self.A,
                y,
                alphas=[penalty],
                precompute=self.gram,
                Xy=Xy,
                coef_init=self.w,
                tol=1e-2 * tolerance,
                max_iter=10_000,
                check_input=False,
            )
        self.w = self._polished(np.ascontiguousarray(coefficients[:, 0]), Xy, penalty)
        return np.asarray(y - self.A @ self.w)

    def _polished(self, w: FloatArray, Xy: FloatArray, penalty: float) -> FloatArray:
        """Given the right signs z, the solution is G_AA w_A = A_A' y - T p z_A; kept only if the signs hold."""
        active = np.flatnonzero(w)
        if len(active) == 0:
            return w
        z = np.sign(w[active])
        right = Xy[active] - len(self.y) * penalty * z
        try:
            exact = np.linalg.solve(self.gram[np.ix_(active, active)], right)
        except np.linalg.LinAlgError:
            return w
        if not (np.sign(exact) == z).all():
            return w
        polished = np.zeros_like(w)
        polished[active] = exact
        return polished


def _warn_not_converged(n_scans: int, gap: float, tolerance: float) -> None:
    warnings.warn(
        f"the Lasso stopped after {n_scans} scans at a gap of {gap:.2g}, not {tolerance:.2g}: "
        "raise `l1_penalty` or `max_scans`",
        NotConvergedWarning,
        stacklevel=4,
    )
