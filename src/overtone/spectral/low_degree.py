"""The "low-degree" algorithm of Linial, Mansour and Nisan, with which section 3.1 of the paper compares.

Every coefficient of degree <= d is estimated on its own, a_S = 1/T sum_i f(x_i) chi_S(x_i), and those of magnitude
theta or larger make the answer. No estimate knows of the others: what they explain is noise to it. That is why
`recover` needs fewer samples and bears more noise, and why this is the baseline.

Letters: T samples, y values, N monomials, theta the threshold.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from overtone.errors import InputError
from overtone.spectral.columns import Columns, as_samples, check_degree
from overtone.spectral.correlation import BLOCK, Candidates, Dictionary
from overtone.spectral.monomials import FloatArray, Monomial
from overtone.spectral.polynomial import Polynomial

MOST = 200_000  # monomials in an answer


@dataclass(frozen=True)
class LowDegreeFit:
    """The polynomial of the estimated coefficients."""

    polynomial: Polynomial
    threshold: float  # theta: given, or what follows from the noise
    n_monomials: int  # N, how many coefficients were estimated beside the constant


def low_degree(
    points: ArrayLike | Columns,
    values: ArrayLike,
    degree: int = 2,
    *,
    threshold: float | None = None,
    sparsity: int | None = None,
) -> LowDegreeFit:
    """Estimate each coefficient of degree <= `degree` by an empirical mean, and keep the large ones.

    threshold: theta. 0 keeps all, which is the pure algorithm; eps/s is the paper's Fact; by default what the largest
        of N estimates reaches by chance, sqrt(2 log N / T) times the root mean square of the values. Then an estimate
        must also be sqrt(2 log N) of its own standard errors: with families beyond parity some are very rough.
    sparsity: keep at most so many, the largest.

    Values are taken as they are: subtract their mean if that is large, it is noise to every other coefficient.
    """
    columns, y = as_samples(points, values)
    dictionary = Dictionary(columns, check_degree(columns, degree))
    unit, N = _unit(y), sum(dictionary.counts[1:])
    theta = _chance(y / unit, N) if threshold is None else _checked_threshold(threshold) / unit
    most = N if sparsity is None else min(N, _checked_sparsity(sparsity))
    estimates = _largest(dictionary, y / unit, theta, most, own_errors=threshold is None) if y.any() else {}
    terms = {(): float(y.mean()), **{monomial: a * unit for monomial, a in estimates.items()}}
    return LowDegreeFit(Polynomial(terms, columns.n).top(most), theta * unit, N)


def _largest(
    dictionary: Dictionary, y: FloatArray, theta: float, most: int, *, own_errors: bool
) -> dict[Monomial, float]:
    """The estimates that reach theta, largest first; there must be room for them if so many are asked for."""
    if most > MOST and theta == 0:
        raise _too_many(f"threshold=0 keeps {most}")
    found = dictionary.strongest(y / len(y), level=theta, limit=MOST if own_errors else min(MOST, most))
    if most > MOST and not found.complete:
        raise _too_many("more reach the threshold")
    kept = _significant(dictionary, y, found) if own_errors else np.ones(len(found.monomials), dtype=np.bool_)
    pairs = zip(found.monomials, found.correlations.tolist(), kept, strict=True)
    return {monomial: a for monomial, a, keep in pairs if keep}


def _unit(y: FloatArray) -> float:
    """A power of two about as large as the values: with it divided out, which is exact, nothing leaves the range."""
    _, exponent = np.frexp(np.abs(y).max())
    return float(np.ldexp(1.0, exponent - 1))


def _chance(y: FloatArray, N: int) -> float:
    """sqrt(2 log N / T) rms(y)."""
    return _surprise(N) * float(np.linalg.norm(y)) / len(y)


def _surprise(N: int) -> float:
    """sqrt(2 log N): how many standard errors the largest of N estimates of zero is off."""
    return float(np.sqrt(2 * np.log(max(2, N))))


def _significant(dictionary: Dictionary, y: FloatArray, found: Candidates) -> NDArray[np.bool_]:
    """Which estimates are surprising given their own standard errors, the deviation of f chi_S over sqrt(T).  # (k,)"""
    width = max(1, BLOCK // len(y))
    errors = np.empty(len(found.monomials))
    for low in range(0, len(errors), width):
        block = dictionary.columns.products(found.monomials[low : low + width])
        errors[low : low + width] = (y[:, np.newaxis] * block).std(axis=0) / np.sqrt(len(y))
    return np.abs(found.correlations) >= _surprise(sum(dictionary.counts[1:])) * errors


def _checked_threshold(threshold: float) -> float:
    if not (np.isfinite(threshold) and threshold >= 0):
        raise InputError(f"`threshold >= 0` must hold and be finite, but got {threshold!r}: 0 keeps all coefficients")
    return float(threshold)


def _checked_sparsity(sparsity: int) -> int:
    if isinstance(sparsity, bool) or not isinstance(sparsity, int | np.integer) or sparsity < 1:
        raise InputError(f"`sparsity` must be a whole number >= 1, or None for no limit, but got {sparsity!r}")
    return int(sparsity)


def _too_many(what: str) -> InputError:
    return InputError(
        f"an answer may have at most {MOST} monomials, but {what}: "
        "raise `threshold`, lower `degree`, or keep the largest by `sparsity`"
    )
