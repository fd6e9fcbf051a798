"""`Encoding`: data as it comes, turned into the columns of orthonormal families that are learned from it.

A feature is one column of the data matrix X (T, p). What it becomes depends on the distinct values seen:

    1                                   nothing: a constant feature is left out
    2                                   parity: the smaller is -1, the larger +1
    3 to 8, five samples for each       contrasts of unordered levels
    otherwise, flat (kurtosis < 2.4)    Legendre polynomials, the seen range mapped to [-1, 1]
    otherwise                           Hermite polynomials, standardised, and cut at 3 standard deviations

2.4 lies midway between the kurtosis of the uniform (1.8) and of the normal distribution (3). Kurtosis, location and
scale are taken without outliers: what is farther from the middle 90 % of the samples than these are wide, which for
the normal distribution begins at 4.9 standard deviations. The cut keeps Hermite polynomials small where there is hardly
any data (|He3| <= 7.4); it costs He2 5 % and He3 20 % of its mean square, so that much of a share of variance.

One rule for values that were not seen: they count as the nearest one that was (the nearest level; the end of the
range). So every finite number is encoded, and a level so rare that a fold of a cross-validation misses it is no error.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from overtone.errors import InputError
from overtone.spectral.columns import Columns, as_numbers
from overtone.spectral.families import Family, contrasts, hermite, legendre, parity
from overtone.spectral.monomials import FloatArray

ORDER = 3  # of the polynomials of a continuous feature
MOST_LEVELS = 8  # more distinct values than this are a continuous feature
SAMPLES_A_LEVEL = 5  # and so are few values seen in too few samples
FLAT = 2.4  # kurtosis
MIDDLE = (0.05, 0.95)  # quantiles: an outlier is farther from them than they are apart
TAIL = 3.0  # standard deviations: as far as Hermite polynomials are followed
TINY = float(np.finfo(np.float64).tiny)  # no scale is smaller: to divide by it is safe
SYMBOLS = {"legendre": "P", "hermite": "He"}


@dataclass(frozen=True)
class Levels:
    """A feature of a few values: the family takes their numbers, or -1 and +1 if there are two."""

    family: Family
    levels: tuple[float, ...]  # rising

    @classmethod
    def of(cls, levels: FloatArray) -> Self:
        """Parity for two levels, contrasts for more."""
        return cls(parity() if len(levels) == 2 else contrasts(len(levels)), tuple(levels.tolist()))

    def place(self, x: FloatArray) -> FloatArray:
        """The x of the family: that of the nearest level, of the smaller one in the middle between two.  # (T,)"""
        levels = np.array(self.levels)
        above = np.clip(np.searchsorted(levels, x), 1, len(levels) - 1)
        with np.errstate(over="ignore"):
            nearest = np.where(x - levels[above - 1] <= levels[above] - x, above - 1, above)
        return np.array(self.family.points)[nearest]

    def names(self, feature: str) -> list[str]:
        """'smoker' for two levels, 'color~1', 'color~2', ... for the contrasts of more."""
        if len(self.levels) == 2:
            return [feature]
        return [f"{feature}~{number}" for number in range(1, self.family.size + 1)]

    def legend(self, feature: str) -> str:
        """What the names mean."""
        if len(self.levels) == 2:
            return f"{feature}: -1 if {self.levels[0]:g}, +1 if {self.levels[1]:g}"
        return f"{feature}: contrasts of the {len(self.levels)} levels " + ", ".join(f"{x:g}" for x in self.levels)


@dataclass(frozen=True)
class Interval:
    """A continuous feature: the family takes (x - center) / scale, cut at +-limit."""

    family: Family
    center: float
    scale: float
    limit: float

    @classmethod
    def of(cls, x: FloatArray, order: int) -> Self:
        """Legendre over the range if x is flat, else Hermite. x has at least three distinct values."""
        x = _without_outliers(x)
        middle, half = x.min() / 2 + x.max() / 2, max(x.max() / 2 - x.min() / 2, TINY)
        u = (x - middle) / half  # in [-1, 1], so that no number is too large to be squared
        mean, deviation = u.mean(), u.std()
        if (((u - mean) / deviation) ** 4).mean() < FLAT:
            return cls(legendre(order), float(middle), float(half), 1.0)
        return cls(hermite(order), float(middle + half * mean), max(float(half * deviation), TINY), TAIL)

    def place(self, x: FloatArray) -> FloatArray:
        """The x of the family.  # (T,)"""
        with np.errstate(over="ignore"):
            return np.clip((x - self.center) / self.scale, -self.limit, self.limit)

    def names(self, feature: str) -> list[str]:
        """'age', 'P2(age)', 'P3(age)'; He for Hermite: orthonormal polynomials are no powers."""
        symbol = SYMBOLS[self.family.name]
        return [feature, *(f"{symbol}{order}({feature})" for order in range(2, self.family.size + 1))]

    def legend(self, feature: str) -> str:
        """What the names mean."""
        low, high = self.center - self.limit * self.scale, self.center + self.limit * self.scale
        return f"{feature}: {self.family.name.capitalize()} polynomials, {low:.4g} to {high:.4g}"


@dataclass(frozen=True)
class Encoding:
    """How each feature of a data matrix becomes the columns of a family; None for one that is constant."""

    features: tuple[Levels | Interval | None, ...]

    @classmethod
    def fit(cls, X: ArrayLike, order: int = ORDER) -> Self:
        """Learn a family for each feature of X (T, p); `order` is that of the polynomials of continuous ones."""
        values = _checked(X)
        features = tuple(_learn(x, _checked_order(order)) for x in values.T)
        if all(feature is None for feature in features):
            raise InputError(
                f"at least one feature of X must take more than one value, but all {len(features)} are constant "
                f"in the {len(values)} samples: there is nothing to learn from, take samples that differ"
            )
        return cls(features)

    @cached_property
    def groups(self) -> tuple[int, ...]:
        """The feature that each column belongs to."""
        return tuple(number for number, f in enumerate(self.features) if f is not None for _ in range(f.family.size))

    def columns(self, X: ArrayLike) -> Columns:
        """The learned families at X (T, p): the columns of one feature are one group, which has its number."""
        values = _checked(X, len(self.features))
        blocks = [f.family.columns(f.place(x)) for f, x in zip(self.features, values.T, strict=True) if f is not None]
        return Columns(np.concatenate(blocks, axis=1), np.array(self.groups))

    def names(self, feature_names: Sequence[str] | None = None) -> list[str]:
        """A readable name for each column; the features are x0, x1, ... if they have no names."""
        named = self._named(feature_names)
        return [name for feature, f in named if f is not None for name in f.names(feature)]

    def legend(self, feature_names: Sequence[str] | None = None) -> list[str]:
        """A line for each feature: what the names of its columns stand for."""
        named = self._named(feature_names)
        return [f"{feature}: constant, left out" if f is None else f.legend(feature) for feature, f in named]

    def _named(self, feature_names: Sequence[str] | None) -> list[tuple[str, Levels | Interval | None]]:
        p = len(self.features)
        names = [f"x{number}" for number in range(p)] if feature_names is None else list(feature_names)
        if len(names) != p:
            raise InputError(f"there must be one name a feature ({p}) in `feature_names`, but got {len(names)}")
        return list(zip(names, self.features, strict=True))


def _checked(X: ArrayLike, p: int | None = None) -> FloatArray:
    """A finite (T, p) matrix."""
    values = as_numbers(X, "X")
    if values.ndim != 2 or 0 in values.shape or values.shape[1] != (p or values.shape[1]):
        width = f"{p} features as the fitted data had" if p else "T, p >= 1"
        raise InputError(f"X must be a (T, p) matrix with {width}, but the shape is {values.shape}")
    if not np.isfinite(values).all():
        row, feature = np.argwhere(~np.isfinite(values))[0]
        raise InputError(
            f"every entry of X must be finite, but row {row}, feature {feature} is {values[row, feature]}: "
            "leave out or repair such rows"
        )
    return values


def _checked_order(order: int) -> int:
    if isinstance(order, bool) or not isinstance(order, int | np.integer) or order < 1:
        raise InputError(f"`order` must be a whole number >= 1, but got {order!r}: 1 takes a feature as it is, scaled")
    return int(order)


def _learn(x: FloatArray, order: int) -> Levels | Interval | None:
    """The table at the top of this file."""
    levels = np.unique(x)
    if len(levels) == 1:
        return None
    if len(levels) == 2 or (len(levels) <= MOST_LEVELS and SAMPLES_A_LEVEL * len(levels) <= len(x)):
        return Levels.of(levels)
    return Interval.of(x, min(order, len(levels) - 1))  # k points carry k - 1 polynomials and the constant


def _without_outliers(x: FloatArray) -> FloatArray:
    """The samples that may decide on location and scale; all, if the middle of them is a single value."""
    low, _ = np.quantile(x, MIDDLE, method="higher")
    _, high = np.quantile(x, MIDDLE, method="lower")  # inwards: a single outlier among few samples is outside
    with np.errstate(over="ignore"):
        width = high - low
        return x[(low - width <= x) & (x <= high + width)] if width > 0 else x
