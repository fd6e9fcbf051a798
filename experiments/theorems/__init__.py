"""Theorem 1 and Lemma 1 as experiments: the probability of exact recovery over (s, T), and the error under noise."""

from experiments.frame import Options, compute, save
from experiments.theorems.cells import covered, covered_grid, noisy, noisy_grid, phase, phase_grid, seeds
from experiments.theorems.figures import draw
from experiments.theorems.report import blocks, claims
from experiments.theorems.summary import enough, means, medians

__all__ = ["blocks", "claims", "run"]


def run(options: Options) -> None:
    """Cells, then theorems.json and two figures."""
    cells = compute(options, "theorems-phase", phase, phase_grid(options))
    diagram = means(cells, ("n", "degree", "s", "T", "method"), ("exact", "minimum"))
    data = {
        "phase": diagram,
        "enough": enough(diagram),
        "noisy": medians(compute(options, "theorems-noisy", noisy, noisy_grid(options)), ("kind", "eps", "T"), "error"),
        "covered": medians(compute(options, "theorems-covered", covered, covered_grid(options)), ("s",), "draws"),
    }
    save(options, "theorems", data, seeds=seeds(options))
    draw(options, data)
