"""What each part of spectral descent is worth: the same problems without it, and with other things in its place.

A problem is a family of functions, one for each seed. Its score is the way from what random search finds to what a
variant finds, summed over the seeds, in per cent of that to the best that any variant finds: not a mean of shares,
for where random search finds the best on a seed, there is no way to have a share of.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import product
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks.measure import save, table
from overtone.optimizers import Harmonica, Optimizer, RandomSearch, SpectralDescent
from overtone.optimizers.binary_walk import BinaryWalk
from overtone.optimizers.proposals import Walk
from overtone.optimizers.surrogate import Surrogate
from overtone.space import Config, Point, Space, boolean, choice, real
from overtone.spectral.monomials import FloatArray

SEEDS = 10
NEVER = 10**9
OTHER_PRICE = 1.5
Objective = Callable[[Config], float | None]
Problem = tuple[Space, Objective, int, float]  # evaluations, and the noise


# problems


def _bits(config: Config) -> FloatArray:
    return np.array([1.0 if value else -1.0 for value in config.values()])


def _booleans(n: int) -> Space:
    return Space({f"x{i}": boolean() for i in range(n)})


def planted(seed: int, noise: float = 0.0) -> Problem:
    """12 monomials of degree 1 to 3 over 50 bits."""
    rng = np.random.default_rng([1, seed])
    terms = [(rng.choice(50, int(rng.integers(1, 4)), replace=False), float(rng.normal())) for _ in range(12)]
    scale = noise * float(np.sqrt(sum(a * a for _, a in terms)))
    return _booleans(50), lambda c: float(sum(a * _bits(c)[s].prod() for s, a in terms)), 200, scale


def near_linear(seed: int) -> Problem:
    """50 main effects, 25 weaker pairs."""
    rng = np.random.default_rng([2, seed])
    a, pairs, b = rng.normal(size=50), rng.integers(50, size=(25, 2)), 0.3 * rng.normal(size=25)
    return _booleans(50), lambda c: float(a @ _bits(c) + b @ _bits(c)[pairs].prod(axis=1)), 150, 0.0


def nk(seed: int) -> Problem:
    """An NK landscape: 30 bits, each with 3 others."""
    rng = np.random.default_rng([3, seed])
    wheel = np.array([[i, *rng.choice(np.delete(np.arange(30), i), 3, replace=False)] for i in range(30)])
    tables = rng.random((30, 16))
    return (
        _booleans(30),
        lambda c: float(tables[np.arange(30), (_bits(c) > 0)[wheel] @ (1, 2, 4, 8)].mean()),
        200,
        0.0,
    )


def max_sat(seed: int) -> Problem:
    """Weighted clauses of three over 40 bits."""
    rng = np.random.default_rng([4, seed])
    variables = np.array([rng.choice(40, 3, replace=False) for _ in range(180)])
    wanted, weights = rng.choice([-1.0, 1.0], (180, 3)), rng.exponential(size=180)
    return _booleans(40), lambda c: float(weights @ ~(_bits(c)[variables] == wanted).any(axis=1)), 200, 0.0


def stand_ins(seed: int) -> Problem:
    """10 needs, each met by either of two switches at other costs; 10 switches more that only cost."""
    rng = np.random.default_rng([6, seed])
    costs, prices, place = rng.random((10, 2)), rng.random(30), rng.permutation(30)

    def value(c: Config) -> float:
        on = (_bits(c) > 0)[place]
        met = np.where(on[:20].reshape(10, 2), costs, 20.0).min(axis=1)
        return float(met.sum() + prices @ on)

    return _booleans(30), value, 200, 0.0


def mixed(seed: int) -> Problem:
    """Choices, switches and continuous parameters; some combinations are forbidden, some crash."""
    rng = np.random.default_rng([5, seed])
    names = [f"c{i}" for i in range(6)]
    space = Space(
        {
            **{name: choice(list("abcd")) for name in names},
            **{f"b{i}": boolean() for i in range(12)},
            **{f"r{i}": real(0, 1) for i in range(3)},
        },
        forbid=[{"b0": True, "b1": True}, {"c0": "a", "c1": "b"}],
    )
    tables, pair, center, effects = (rng.normal(size=size) for size in ((6, 4), (4, 4), 3, 12))

    def value(c: Any) -> float | None:
        levels = ["abcd".index(c[name]) for name in names]
        if c["b2"] == c["b3"] and levels[5] == 0:
            return None
        switches = sum(effects[i] * c[f"b{i}"] for i in range(12))
        bowls = sum(4 * (c[f"r{i}"] - abs(np.tanh(center[i]))) ** 2 for i in range(3))
        return float(tables[np.arange(6), levels].sum() + pair[levels[2], levels[3]] + switches + bowls)

    return space, value, 200, 0.0


def branches(seed: int) -> Problem:
    """Five models, each with four parameters of its own, and eight switches for all of them."""
    rng = np.random.default_rng([7, seed])
    own = {f"{model}{i}": choice([0, 1, 2, 3], when={"model": model}) for model in "abcde" for i in range(4)}
    shared = {f"s{i}": boolean() for i in range(8)}
    bases, effects, switches = rng.normal(size=5), rng.normal(size=(5, 4, 4)), rng.normal(size=8)
    of_model = 0.5 * rng.normal(size=(5, 8))

    def value(c: Any) -> float:
        model = "abcde".index(c["model"])
        levels = [c[f"{c['model']}{i}"] for i in range(4)]
        on = np.array([c[name] for name in shared])
        return float(bases[model] + effects[model, np.arange(4), levels].sum() + (switches + of_model[model]) @ on)

    return Space({"model": choice(list("abcde")), **shared, **own}), value, 150, 0.0


PROBLEMS: dict[str, Callable[[int], Problem]] = {
    "planted": planted,
    "planted, 30 % noise": partial(planted, noise=0.3),
    "near-linear": near_linear,
    "NK": nk,
    "MaxSAT": max_sat,
    "stand-ins": stand_ins,
    "mixed": mixed,
    "branches": branches,
}


# variants

Make = Callable[[Space, int, int, list[tuple[Point, float | None]]], Optimizer]  # of the evaluations, and what is told
Patch = tuple[object, str, Any]


def _descent(space: Space, seed: int, n: int, _: object, **settings: Any) -> Optimizer:
    return SpectralDescent(space, seed, n_evaluations=n, **settings)


def _after_stages(n_stages: int) -> Make:
    """Harmonica's stages on a fifth of the evaluations each, then descent of what is left, knowing them."""

    def make(space: Space, seed: int, n: int, told: list[tuple[Point, float | None]]) -> Optimizer:
        def base(restricted: Space, seed: int) -> Optimizer:
            left = max(1, n - len(told))
            return SpectralDescent(restricted, seed, n_evaluations=left, seen=told)

        return Harmonica(space, seed, n_stages=n_stages, n_samples=n // 5, base=base)

    return make


_covariance = Surrogate.covariance


def _doubtful(self: Surrogate, columns: FloatArray) -> FloatArray:
    """Twice the standard deviation."""
    return 4 * _covariance(self, columns)


def _constant(module: str, name: str, value: object) -> Patch:
    return f"overtone.optimizers.{module}", name, value


_NO_NEIGHBORS: list[Patch] = [(kind, "neighbors", lambda self, *_: self.points[:0]) for kind in (Walk, BinaryWalk)]
_NO_DESCENTS = [_constant("proposals", "SWEEPS", 0), _constant("binary_walk", "LONGEST", 0)]
_NO_SYMMETRIES = [
    _constant("spectral_descent", "MIRRORED", NEVER),
    _constant("spectral_descent", "keeping", lambda *given: given[2]),
]
_NO_PAIRS = [_constant("pairs", "SINGLES", 0), _constant("spectral_descent", "PAIRED", NEVER)]

VARIANTS: dict[str, tuple[Make, list[Patch]]] = {
    "random search": (lambda space, seed, n, _: RandomSearch(space, seed, n_evaluations=n), []),
    "as it is": (_descent, []),
    "8 trials a round": (partial(_descent, batch=8), []),
    "50 trials a round": (partial(_descent, batch=50), []),
    "no remainder": (_descent, [_constant("surrogate", "BETAS", (0.0,))]),
    "nothing named": (_descent, [_constant("forward", "MOST", 0)]),
    "degree 1 and 2 only": (_descent, [_constant("forward", "TRIPLES", 0)]),
    "named at a higher price": (_descent, [_constant("forward", "PRICE", OTHER_PRICE)]),
    "no doubt: least mean": (_descent, [(Surrogate, "covariance", lambda _, columns: np.zeros((len(columns),) * 2))]),
    "doubt doubled": (_descent, [(Surrogate, "covariance", _doubtful)]),
    "values not clipped": (_descent, [_constant("findings", "CEILING", 1.0)]),
    "values not bent": (_descent, [_constant("surrogate", "BENDS", (0.0,))]),
    "no repetitions": (_descent, [_constant("spectral_descent", "N_CONTENDERS", 0)]),
    "nothing drawn": (_descent, [_constant("spectral_descent", "DRAWN", 0.0)]),
    "all drawn": (_descent, [_constant("spectral_descent", "DRAWN", 1.0)]),
    "nothing stirred": (_descent, [_constant("spectral_descent", "STIRRED", NEVER)]),
    "no uniform trials later": (_descent, [_constant("spectral_descent", "UNIFORM", NEVER)]),
    "uniform and stirred trials to the end": (_descent, [_constant("spectral_descent", "WILD", 2.0)]),
    "no pairs": (_descent, _NO_PAIRS),
    "no symmetries": (_descent, _NO_SYMMETRIES),
    "no other branches": (_descent, [_constant("spectral_descent", "ELSEWHERE", (0.0, 0.0))]),
    "neighbors only": (_descent, _NO_DESCENTS),
    "descents only": (_descent, _NO_NEIGHBORS),
    "after two stages of Harmonica": (_after_stages(2), []),
}


@contextmanager
def _patched(patches: list[Patch]) -> Iterator[None]:
    patchers = [
        patch(f"{where}.{name}", value) if isinstance(where, str) else patch.object(where, name, value)
        for where, name, value in patches
    ]
    for each in patchers:
        each.start()
    try:
        yield
    finally:
        for each in patchers:
            each.stop()


def solve(make: Make, problem: Problem, seed: int) -> tuple[float, float]:
    """The true value of the best configuration, as the optimizer judges it, and the optimizer's CPU seconds."""
    space, value, n, noise = problem
    rng = np.random.default_rng(seed)
    told: list[tuple[Point, float | None]] = []
    found: list[tuple[float, float, Config]] = []
    start = time.process_time()
    optimizer, spent = make(space, seed, n, told), 0.0
    while len(told) < n and (trials := optimizer.ask(n - len(told))):
        before = time.process_time()
        values = [value(trial.config) for trial in trials]
        spent += time.process_time() - before
        for trial, true in zip(trials, values, strict=True):
            seen = None if true is None else true + noise * float(rng.standard_normal())
            told.append((trial.point, seen))
            found += [] if seen is None or true is None else [(seen, true, trial.config)]
            optimizer.tell(trial, seen)
    seconds = time.process_time() - start - spent
    judged = getattr(getattr(optimizer, "current", None) or optimizer, "best", None) if noise else None
    true = (
        next(t for _, t, config in found if config == judged[0].config) if judged else min(found, key=lambda f: f[0])[1]
    )
    return true, seconds


def measure(seeds: Sequence[int]) -> tuple[FloatArray, FloatArray]:
    """True values of the answers, and the optimizer's CPU seconds.  # each (variants, problems, seeds)"""
    values = np.zeros((len(VARIANTS), len(PROBLEMS), len(seeds)))
    seconds = np.zeros_like(values)
    for v, (make, patches) in enumerate(VARIANTS.values()):
        with _patched(patches):
            for (p, problem), (i, seed) in product(enumerate(PROBLEMS.values()), enumerate(seeds)):
                values[v, p, i], seconds[v, p, i] = solve(make, problem(seed), seed)
    return values, seconds


def scores_of(values: FloatArray) -> FloatArray:
    """Per cent of the way from random search, the first variant, to the best of all.  # (variants, problems)"""
    random, best = values[0], values.min(axis=0)  # of each instance
    return np.asarray(100 * (random - values).sum(axis=2) / (random - best).sum(axis=1))


def report(values: FloatArray, seconds: FloatArray) -> None:
    """A table, and the same as data."""
    scores = scores_of(values)
    rows = [
        [name, *(f"{each:.0f}" for each in scores[v]), f"{scores[v].mean():.1f}", f"{seconds[v].mean():.2f}"]
        for v, name in enumerate(VARIANTS)
    ]
    header = ["variant", *PROBLEMS, "mean", "CPU s"]
    print(table(header, rows))
    save("ablation", [dict(zip(header, row, strict=True)) for row in rows])


def main(seeds: int = SEEDS) -> None:
    report(*measure(range(seeds)))


if __name__ == "__main__":
    main()
