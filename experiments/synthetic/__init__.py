"""Synthetic functions (section 5.4): optimizer time against others, and estimation error against the noise level."""

from experiments.frame import Options, compute, save
from experiments.synthetic.figures import draw
from experiments.synthetic.report import blocks, claims
from experiments.synthetic.stages import dummies, dummies_grid, seeds, sparse, sparse_grid, staged, staged_grid
from experiments.synthetic.summary import cases, growth, lines
from experiments.synthetic.times import grid, timed

__all__ = ["blocks", "claims", "run"]


def run(options: Options) -> None:
    """Cells, then synthetic.json and two figures."""
    summary = cases(compute(options, "synthetic-staged", staged, staged_grid(options)))
    data = {
        "times": growth(compute(options, "synthetic-times", timed, grid(options))),
        "cases": summary,
        "lines": lines(summary),
        "sparse": compute(options, "synthetic-sparse", sparse, sparse_grid(options)),
        "dummies": compute(options, "synthetic-dummies", dummies, dummies_grid(options)),
    }
    save(options, "synthetic", data, seeds=seeds(options))
    draw(options, data)
