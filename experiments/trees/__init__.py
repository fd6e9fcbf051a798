"""Learning decision trees (section 3.1): error against samples, label noise, and how samples grow with s and eps."""

from experiments.frame import Options, compute, save
from experiments.trees.cells import grid, learn, seeds, structure, trees
from experiments.trees.figures import draw
from experiments.trees.report import blocks, claims
from experiments.trees.summary import errors, exponents, needed

__all__ = ["blocks", "claims", "run"]


def run(options: Options) -> None:
    """Cells, then trees.json and three figures."""
    rows = compute(options, "trees", learn, grid(options))
    table = needed(rows)
    data = {
        "errors": errors(rows),
        "needed": table,
        "exponents": exponents(table),
        "structure": compute(options, "trees-structure", structure, trees(options)),
    }
    save(options, "trees", data, seeds=seeds(options))
    draw(options, data)
