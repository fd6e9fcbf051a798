"""What a lag, or larger rounds, cost in answers: the problems and the score of the ablation."""

from typing import Any

import numpy as np

from benchmarks.ablation import PROBLEMS, scores_of, solve
from benchmarks.measure import save, table
from benchmarks.simulation.contestants import REMEDIES
from overtone.optimizers import RandomSearch
from overtone.space import Space

SEEDS = 12


def main(seeds: int = SEEDS, names: tuple[str, ...] = tuple(REMEDIES)) -> None:
    values = np.zeros((1 + len(names), len(PROBLEMS), seeds))
    for p, problem in enumerate(PROBLEMS.values()):
        for seed in range(seeds):
            values[0, p, seed], _ = solve(_random, problem(seed), seed)
            for v, name in enumerate(names, start=1):
                make = REMEDIES[name].make
                values[v, p, seed], _ = solve(lambda *a, make=make: make(*a[:3]), problem(seed), seed)
    scores = scores_of(values)[1:]
    rows = [
        [name, *(round(each, 1) for each in row), round(row.mean(), 1)] for name, row in zip(names, scores, strict=True)
    ]
    header = ["rounds", *PROBLEMS, "mean"]
    save("simulation-quality", {"seeds": seeds, "scores": [dict(zip(header, row, strict=True)) for row in rows]})
    print(quality_table(header, rows))


def _random(space: Space, seed: int, n: int, _: Any) -> RandomSearch:
    return RandomSearch(space, seed, n_evaluations=n)


def quality_table(header: list[str], rows: list[list[Any]]) -> str:
    return table(header, [[row[0], *(f"{each:.0f}" for each in row[1:-1]), f"{row[-1]:.1f}"] for row in rows])
