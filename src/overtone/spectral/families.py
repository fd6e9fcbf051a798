"""Orthonormal families beyond parity: the functions of one parameter, under the measure it is drawn from."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from overtone.errors import InputError
from overtone.spectral.columns import Columns, as_numbers
from overtone.spectral.monomials import FloatArray


@dataclass(frozen=True, kw_only=True)
class Family:
    """psi_1, ..., psi_q: orthonormal, and of mean 0, if x is drawn as `sample` draws it.

    With the constant 1 they are a random orthonormal family of the paper, K-bounded with K = `bound`; a product of d
    columns, one a parameter, is K^d-bounded, and the samples that recovery needs grow with the square of that.
    """

    name: str
    size: int  # q, how many functions there are
    bound: float  # K = sup |psi_i(x)| over i and all x
    points: tuple[float, ...] = field(repr=False)  # all x there are, equally likely; () if x is continuous
    functions: Callable[[FloatArray], FloatArray] = field(repr=False, compare=False)  # (T,) -> (T, q)
    contains: Callable[[FloatArray], NDArray[np.bool_]] = field(repr=False, compare=False)  # (T,) -> (T,)
    draw: Callable[[np.random.Generator, int], FloatArray] = field(repr=False, compare=False)  # T -> (T,)
    domain: str = field(repr=False)  # what every x must be
    advice: str = field(repr=False)  # what to do with other data

    def columns(self, x: ArrayLike) -> FloatArray:
        """The q functions at every x.  # (T,) -> (T, q)"""
        x = as_numbers(x, "x")
        if x.ndim != 1:
            raise InputError(f"x must have the shape (T,), but it is {x.shape}: give one parameter at a time")
        outside = np.flatnonzero(~self.contains(x))
        if len(outside):
            row = int(outside[0])
            raise InputError(f"{self.name}: x must be {self.domain}, but row {row} is {x[row]}: {self.advice}")
        return self.functions(x)

    def sample(self, rng: np.random.Generator, T: int) -> FloatArray:
        """T independent draws of x from the measure under which the family is orthonormal.  # (T,)"""
        return self.draw(rng, T)

    @property
    def levels(self) -> FloatArray:
        """The q functions at each of the k levels, in the order of `points`.  # (k, q)"""
        if not self.points:
            raise InputError(
                f"only a family of finitely many levels has a table, but x of {self.name} is continuous: "
                "give points of your choice to `columns`"
            )
        return self.functions(np.array(self.points))


def parity() -> Family:
    """x itself, for x in {-1, +1}, equally likely: K = 1."""
    points = (-1.0, 1.0)
    return Family(
        name="parity",
        size=1,
        bound=1.0,
        points=points,
        functions=_itself,
        contains=partial(np.isin, test_elements=points),
        draw=partial(_draw_points, points=points),
        domain="-1 or +1",
        advice="map 0/1 data by 2*x - 1",
    )


def contrasts(k: int) -> Family:
    """k - 1 contrasts of k unordered, equally likely levels, coded 0, ..., k-1: K <= sqrt(2)."""
    return _of_levels("contrasts", _trigonometric(_count(k)))


def ordered(k: int, degree: int) -> Family:
    """Discrete Chebyshev polynomials of the orders 1, ..., degree, of k ordered, equally likely levels 0, ..., k-1.

    What is close in order is close in value; orders 1 to k-1 together span what the contrasts do.
    """
    k = _count(k)
    degree = min(_whole("degree", degree, smallest=1, advice="degree=1 takes the number of the level, scaled"), k - 1)
    steps = [j / 2 * math.sqrt((k * k - j * j) / (4 * j * j - 1)) for j in range(1, degree + 1)]
    return _of_levels("ordered", _polynomials(np.arange(k, dtype=float) - (k - 1) / 2, steps))


def _count(k: int) -> int:
    return _whole("k", k, smallest=2, advice="leave out a parameter that has one level")


def _of_levels(name: str, table: FloatArray) -> Family:
    """Functions of levels that are equally likely, by their values there.  # (k, q)"""
    points = tuple(float(code) for code in range(len(table)))
    return Family(
        name=name,
        size=table.shape[1],
        bound=float(np.abs(table).max()),
        points=points,
        functions=partial(_look_up, table),
        contains=partial(np.isin, test_elements=points),
        draw=partial(_draw_points, points=points),
        domain=f"a whole number from 0 to {len(table) - 1}",
        advice=f"number the levels from 0, and give `{name}` their count",
    )


def legendre(degree: int) -> Family:
    """Legendre polynomials of the orders 1, ..., degree, for x uniform on [-1, 1]: K = sqrt(2*degree + 1)."""
    degree = _whole("degree", degree, smallest=1, advice="degree=1 takes x itself, scaled")
    return Family(
        name="legendre",
        size=degree,
        bound=math.sqrt(2 * degree + 1),  # attained at x = 1
        points=(),
        functions=partial(_polynomials, steps=tuple(j / math.sqrt(4 * j * j - 1) for j in range(1, degree + 1))),
        contains=_in_interval,
        draw=_draw_uniform,
        domain="a number in [-1, 1]",
        advice="map a range [a, b] by (2*x - a - b) / (b - a)",
    )


def hermite(degree: int) -> Family:
    """Probabilists' Hermite polynomials of the orders 1, ..., degree, for standard Gaussian x.

    They are unbounded, so K is infinite; on given data the bound that holds is np.abs(columns(x)).max().
    """
    degree = _whole("degree", degree, smallest=1, advice="degree=1 takes x itself")
    return Family(
        name="hermite",
        size=degree,
        bound=math.inf,
        points=(),
        functions=partial(_polynomials, steps=tuple(math.sqrt(j) for j in range(1, degree + 1))),
        contains=np.isfinite,
        draw=_draw_gaussian,
        domain="a finite number",
        advice="leave out or repair such rows",
    )


def combine(families: Sequence[Family], points: ArrayLike) -> Columns:
    """Families side by side, one for each column of `points` (T, p): all columns of one family are one group."""
    x = as_numbers(points, "x")
    if x.ndim != 2 or x.shape[1] != len(families):
        raise InputError(
            f"points must be a (T, {len(families)}) matrix, a column for each family, but the shape is {x.shape}"
        )
    if not families:
        raise InputError("there must be at least one family, but none came")
    blocks = [_block(family, parameter, x[:, parameter]) for parameter, family in enumerate(families)]
    sizes = [family.size for family in families]
    return Columns(np.concatenate(blocks, axis=1), np.repeat(np.arange(len(families)), sizes))


def _block(family: Family, parameter: int, x: FloatArray) -> FloatArray:
    try:
        return family.columns(x)
    except InputError as error:
        raise InputError(f"parameter {parameter}, {error}") from None


def _trigonometric(k: int) -> FloatArray:
    """sqrt(2) cos and sin of 2 pi j l / k + phase, by frequency j; then -1, +1, -1, ... if k is even.  # (k, k-1)"""
    level = np.arange(k)
    columns: list[FloatArray] = []
    for j in range(1, (k + 1) // 2):
        # the phase keeps cos and sin away from their peaks: K^2 < 2, and K = 1 for k = 4
        angle = 2 * np.pi * (j * level % k) / k + np.pi / math.lcm(k // math.gcd(j, k), 4)
        columns += [math.sqrt(2) * np.cos(angle), math.sqrt(2) * np.sin(angle)]
    if k % 2 == 0:  # j = k/2: the sine vanishes, and the cosine alternates; parity if k = 2
        columns.append(np.where(level % 2 == 0, -1.0, 1.0))
    table = np.stack(columns, axis=1)
    return np.where(np.abs(np.abs(table) - 1) < 1e-12, np.sign(table), table)  # +-1 exactly, where it is meant


def _polynomials(x: FloatArray, steps: Sequence[float]) -> FloatArray:
    """Orthonormal polynomials of a symmetric measure, by b_j p_j = x p_(j-1) - b_(j-1) p_(j-2).  # (T, q)

    The steps b_1, ..., b_q say which measure. Nothing but normalised values appear, so high orders do not overflow.
    """
    orders = [np.zeros_like(x), np.ones_like(x)]  # p_(-1), p_0
    for before, step in zip((0.0, *steps), steps, strict=False):
        orders.append((x * orders[-1] - before * orders[-2]) / step)
    return np.stack(orders[2:], axis=1)


def _itself(x: FloatArray) -> FloatArray:
    return x[:, np.newaxis].copy()  # never a view of the caller's array


def _look_up(table: FloatArray, codes: FloatArray) -> FloatArray:
    return table[codes.astype(np.intp)]


def _in_interval(x: FloatArray) -> NDArray[np.bool_]:
    return np.abs(x) <= 1  # False for NaN


def _draw_points(rng: np.random.Generator, T: int, points: tuple[float, ...]) -> FloatArray:
    return rng.choice(points, T)


def _draw_uniform(rng: np.random.Generator, T: int) -> FloatArray:
    return rng.uniform(-1, 1, T)


def _draw_gaussian(rng: np.random.Generator, T: int) -> FloatArray:
    return rng.standard_normal(T)


def _whole(name: str, value: int, smallest: int, advice: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise InputError(f"`{name}` must be a whole number, but got {value!r}: {advice}")
    if value < smallest:
        raise InputError(f"`{name} >= {smallest}` must hold, but got {name}={value}: {advice}")
    return int(value)
