"""The contest in three pictures: gaps over the evaluations, gaps of every cell, optimizer time."""

from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.search.arena import SHARES
from benchmarks.search.contestants import CONTESTANTS
from benchmarks.search.player import MODES
from benchmarks.search.problems import HELD_OUT, problem
from benchmarks.search.summary import Summary

MAIN = (
    "overtone (automatic)", "spectral descent (batch=W)", "hill climbing", "annealing", "random search", "Optuna TPE",
    "Nevergrad (1+1)", "Harmonica-3 (paper)",
)  # fmt: skip
MOST = 100.0  # percent of the spread: what is worse is drawn as this


def draw(summary: Summary, folder: Path) -> None:
    """search-curves.png, search-gaps.png, search-seconds.png"""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    for name, picture in (("curves", _curves), ("gaps", _gaps), ("seconds", _seconds)):
        figure = picture(plt, summary)
        figure.savefig(folder / f"search-{name}.png", dpi=110)
        plt.close(figure)


def _curves(plt: Any, summary: Summary) -> Any:
    """The median over the problems of the gap, against the share of the evaluations: a panel a mode."""
    figure, axes = plt.subplots(1, len(MODES), figsize=(12, 5), sharey=True, squeeze=False)
    for axis, mode in zip(axes[0], MODES, strict=True):
        for number, name in enumerate(MAIN):
            curve = _curve(summary, mode, name)
            if curve:  # a contestant has its color in both panels
                axis.plot([100 * s for s in SHARES], curve, color=f"C{number}", marker="o", markersize=3, label=name)
        axis.set(title=mode, xlabel="evaluations, % of the budget B")
        axis.grid(alpha=0.3)
        axis.legend(fontsize=8)
    axes[0][0].set_ylim(0, 2 * MOST)
    axes[0][0].set_ylabel("gap to the best known, % of random search's\n(median over the problems)")
    figure.suptitle("What is reached with how many evaluations")
    figure.tight_layout()
    return figure


def _curve(summary: Summary, mode: str, name: str) -> list[float]:
    scores = [score for (_, m, c), score in summary.scores.items() if (m, c) == (mode, name)]
    gaps = [[min(4 * MOST, summary.gap(score, value)) for value in score.curve] for score in scores]
    return [float(x) for x in np.median(gaps, axis=0)] if gaps else []


def _gaps(plt: Any, summary: Summary) -> Any:
    """Every cell as a color, a panel a mode; white: did not take part."""
    figure, axes = plt.subplots(len(MODES), 1, figsize=(13, 14), squeeze=False)
    for axis, mode in zip(axes[:, 0], MODES, strict=True):
        problems = summary.cells(mode)
        names = [name for name in CONTESTANTS if any((m, c) == (mode, name) for _, m, c in summary.scores)]
        cells = np.array([[_shown(summary, p, mode, c) for p in problems] for c in names])
        image = axis.imshow(np.ma.masked_invalid(cells), cmap="viridis_r", vmin=0, vmax=MOST, aspect="auto")
        axis.set_xticks(range(len(problems)), [p + " (held out)" * (p in HELD_OUT) for p in problems], rotation=60)
        for label in axis.get_xticklabels():
            label.set(ha="right", fontsize=8)
        axis.set_yticks(range(len(names)), names, fontsize=8)
        axis.set_title(mode)
        figure.colorbar(image, ax=axis, label="gap to the best known, % of random search's")
    figure.suptitle("Gap to the best known at 100 % of the budget (white: did not take part)")
    figure.tight_layout(rect=(0, 0, 1, 0.98))
    return figure


def _shown(summary: Summary, name: str, mode: str, contestant: str) -> float:
    score = summary.scores.get((name, mode, contestant))
    if score is None:
        return np.nan
    gap = summary.gap(score, score.at["100%"])
    return min(MOST, gap) if isfinite(gap) else MOST


def _seconds(plt: Any, summary: Summary) -> Any:
    """Optimizer time for one evaluation against the size of the problem."""
    figure, axis = plt.subplots(figsize=(8, 5))
    mode = next(iter(MODES))
    for name in CONTESTANTS:
        scores = [score for (_, m, c), score in summary.scores.items() if (m, c) == (mode, name) and not score.capped]
        points = [(problem(s.problem).n, 1e3 * s.seconds / problem(s.problem).n_evaluations) for s in scores]
        if points and CONTESTANTS[name].factor == 1:
            axis.plot(*zip(*sorted(points), strict=True), "o-", markersize=3, linewidth=0.7, label=name)
    axis.set(xscale="log", yscale="log", xlabel="units n of the problem", ylabel="optimizer CPU time, ms an evaluation")
    axis.set_title(f"What the optimizers cost ({mode})")
    axis.grid(alpha=0.3)
    axis.legend(fontsize=7, loc="center left", bbox_to_anchor=(1, 0.5))
    figure.tight_layout()
    return figure
