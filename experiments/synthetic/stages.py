"""Harmonica on the paper's h(x), its authors' two examples, and dummy variables: one function and one seed each."""

from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from benchmarks.hierarchy import SPARSE, Hierarchy, authors_function, paper_function
from benchmarks.overhead import PAPER  # 5 features, degree 3; the penalty of the authors' code
from experiments.frame import Options, Row
from overtone.optimizers import Harmonica, Optimizer, RandomSearch
from overtone.space import Point, Space, boolean

N, REAL, BASE = 60, 39, 100  # variables; those that matter among dummies; evaluations of the base optimizer
SETTINGS: dict[str, dict[str, Any]] = {
    "the paper's, T=100": {"n_samples": 100, **PAPER},
    "the paper's, T=300": {"n_samples": 300, **PAPER},
    "sparsity told, T=100": {"n_samples": 100, "sparsity": 5, "degree": 3},
    "automatic": {},
}
FEW, MANY = list(SETTINGS)[:2]
H, EXAMPLE = "h(x), section 5.4", "the authors' second example"
FUNCTIONS = {H: paper_function, EXAMPLE: authors_function}
KINDS = ("h(x) of 39", "planted, 6 features")
PLAIN = 2.0  # A, where the noise is not what is looked at
Objective = Callable[[Point], float]


def space_of(n: int) -> Space:
    return Space({f"x{i}": boolean() for i in range(n)})


def drive(optimizer: Optimizer, objective: Objective) -> list[Point]:
    """To the end; the points that were evaluated."""
    points: list[Point] = []
    while trials := optimizer.ask(1):
        points.append(trials[0].point)
        optimizer.tell(trials[0], objective(points[-1]))
    return points


# hierarchical functions


def staged(function: str, n: int, settings: str, noise: float, seed: int) -> Row:
    """Harmonica, and random search with as many evaluations: values as shares of what stages can reach."""
    h, rng = FUNCTIONS[function](n, seed), np.random.default_rng([seed, 7])
    base = partial(RandomSearch, n_evaluations=BASE)
    optimizer = Harmonica(space_of(n), seed, base=base, **SETTINGS[settings])
    points = drive(optimizer, lambda point: h(point) + float(rng.uniform(-noise, noise)))
    random = drive(RandomSearch(space_of(n), seed, n_evaluations=len(points)), h)
    return {
        "stages": sum(stage.restricts for stage in optimizer.stages),
        "error": estimation_error(h, optimizer),
        "best": min(map(h, points)) / h.goal,
        "random": min(map(h, random)) / h.goal,
    }


def estimation_error(h: Hierarchy, optimizer: Harmonica, n_points: int = 200) -> float:
    """How far the sum of the stages' polynomials is from h where the stages have led: root mean square."""
    points = [optimizer.restricted.draw(np.random.default_rng([i, 11])) for i in range(n_points)]
    guess = sum(stage.polynomial(np.array(points)) for stage in optimizer.stages)
    return float(np.sqrt(np.mean((guess - np.array([h(point) for point in points])) ** 2)))


# the sparse example, and dummies


def sparse(seed: int) -> Row:
    """The authors' first example with their settings but 100 samples: are the features exact, is -50 reached?"""
    base = partial(RandomSearch, n_evaluations=1)
    optimizer = Harmonica(space_of(N), seed, n_stages=1, base=base, **SETTINGS[FEW])
    points = drive(optimizer, lambda point: float(SPARSE(np.array([point]))[0]))
    exact = {monomial for monomial, _ in optimizer.stages[0].polynomial} == {monomial for monomial, _ in SPARSE}
    return {"exact": exact, "reached": float(SPARSE(np.array(points[-1:]))[0]) == -50.0}


def dummies(kind: str, seed: int) -> Row:
    """How many of 21 dummies among 60 variables the stages fix, all settings automatic."""
    rng = np.random.default_rng([seed, 3])
    order = rng.permutation(N)[:REAL]  # which variables are real
    h = paper_function(REAL, seed) if kind == KINDS[0] else _planted(rng)
    scale = 2.0 if kind == KINDS[0] else 1.0
    optimizer = Harmonica(space_of(N), seed, base=partial(RandomSearch, n_evaluations=1))
    drive(optimizer, lambda point: h(tuple(point[i] for i in order)) + scale * float(rng.normal()))
    fixed = {unit for stage in optimizer.stages for restriction, _ in stage.minimizers for unit in restriction}
    return {"fixed": len(fixed), "dummies": len(fixed - set(order.tolist()))}


def _planted(rng: np.random.Generator) -> Objective:
    """Six features of degree 1 to 3 with weights 2 to 7; a deviation of 1 is a tenth of theirs."""
    features = [(2.0 + i, rng.choice(REAL, 1 + i % 3, replace=False).tolist()) for i in range(6)]
    return lambda point: float(sum(a * np.prod([point[i] for i in feature]) for a, feature in features))


# grids


def seeds(options: Options) -> range:
    return options.seeds(1, 5, 40)


def staged_grid(options: Options) -> list[Row]:
    """The noise grows with the paper's settings; one level of it with the others, and with other numbers n."""
    noises = options.pick((0.0, 8.0), (0.0, 1.0, 2.0, 4.0, 8.0), (0.0, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0))
    n, functions = (20, [EXAMPLE]) if options.size == "tiny" else (N, list(FUNCTIONS))
    cases = [
        *product(functions, [n], options.pick((MANY,), (FEW, MANY), (FEW, MANY)), noises),
        *product(functions, [n], options.pick((), tuple(SETTINGS)[2:], tuple(SETTINGS)[2:]), [PLAIN]),
        *product(functions[:1], options.pick((), (30, 100), (30, 100, 200)), [MANY], [PLAIN]),
    ]
    return [
        {"function": function, "n": n, "settings": settings, "noise": noise, "seed": seed}
        for seed, (function, n, settings, noise) in product(seeds(options), cases)
    ]


def sparse_grid(options: Options) -> list[Row]:
    return [{"seed": seed} for seed in seeds(options)]


def dummies_grid(options: Options) -> list[Row]:
    return [{"kind": kind, "seed": seed} for kind, seed in product(KINDS, seeds(options))]
