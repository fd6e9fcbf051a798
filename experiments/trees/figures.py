"""Three pictures: error against samples, error against noise, and samples against s and 1/eps beside the bound."""

from itertools import product
from typing import Any

import numpy as np

from experiments.frame import Options, Row, figure
from experiments.trees.cells import EPSILONS, N
from experiments.trees.labels import DECOY, NONE, RANDOM
from experiments.trees.learners import LEARNERS, OURS

KINDS = {NONE: "no noise", RANDOM: "labels flipped at random", DECOY: "labels flipped for a decoy"}
COLORS = {learner: f"C{number}" for number, learner in enumerate(LEARNERS)}
PLAIN_EPS, PLAIN_LEAVES = 0.1, 8  # what the third picture holds fixed
TICKS = (20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000)


def draw(options: Options, data: Row) -> None:
    _curves(options, data["errors"])
    _noise(options, data["errors"])
    _needed(options, data["needed"])


def _curves(options: Options, errors: list[Row]) -> None:
    """A panel for each size and kind of noise, a line with quartiles for each learner."""
    sizes = sorted({row["leaves"] for row in errors})
    shares = {kind: _share(errors, kind) for kind in KINDS}
    panels, size = (len(KINDS), len(sizes)), (9.6, 7.6)
    with figure(options, "trees-errors", *panels, size, sharex=True, sharey=True) as (drawing, axes):
        for (i, kind), (j, leaves) in product(enumerate(KINDS), enumerate(sizes)):
            case = {"leaves": leaves, "kind": kind, "share": shares[kind]}
            _lines(axes[i][j], _select(errors, case), "T")
            share = f" ({shares[kind]:.0%})" if kind != NONE else ""
            axes[i][j].set(xscale="log", ylim=(0, 1.25))
            axes[i][j].set_title(f"{leaves} leaves, {KINDS[kind]}{share}", fontsize=9)
        for axis in axes[-1]:
            axis.set_xlabel("training samples T")
            axis.set_xticks(*_plain(errors, "T"))
            axis.minorticks_off()
        for axis in axes[:, 0]:
            axis.set_ylabel("squared error E[(f - g)²]")
        axes[0][-1].legend(fontsize=7)
        drawing.suptitle(f"Learning random decision trees over {N} variables (medians and quartiles over the trees)")


def _noise(options: Options, errors: list[Row]) -> None:
    """Error against gamma, beside the line error = gamma: a panel for each adversary."""
    levels = fixed(errors)
    with figure(options, "trees-noise", 1, 2, (10, 4.4), sharey=True) as (drawing, axes):
        for axis, kind in zip(axes[0], (RANDOM, DECOY), strict=True):
            rows = [row for row in levels if row["kind"] in (NONE, kind)]
            _lines(axis, rows, "gamma")
            top = max(row["gamma"] for row in rows)
            axis.plot([0, top], [0, top], "k--", linewidth=1, label="error = $\\gamma$")
            axis.set(title=KINDS[kind], xlabel="noise $\\gamma = ||v||^2/T$: 4 times the share of flipped labels")
        axes[0][0].set_ylabel("squared error E[(f - g)²]")
        axes[0][0].legend(fontsize=8)
        drawing.suptitle(f"Trees of {levels[0]['leaves']} leaves, {levels[0]['T']} samples: error against noise")


def _needed(options: Options, table: list[Row]) -> None:
    """Samples against s at one eps, and against 1/eps at one s; dashed, the shapes of the bounds."""
    sizes = sorted({row["leaves"] for row in table})
    leaves = PLAIN_LEAVES if PLAIN_LEAVES in sizes else sizes[0]
    with figure(options, "trees-samples", 1, 2, (10, 4.6)) as (drawing, axes):
        left, right = axes[0]
        _growth(left, [row for row in table if row["eps"] == PLAIN_EPS], lambda row: row["leaves"])
        _shape(left, "s", (1, 2))
        left.set(xlabel="leaves s", title=f"squared error ≤ {PLAIN_EPS}", xticks=sizes, xticklabels=sizes)
        _growth(right, [row for row in table if row["leaves"] == leaves], lambda row: 1 / row["eps"])
        _shape(right, "1/ε", (1, 2))
        inverse = [1 / eps for eps in EPSILONS]
        right.set(xlabel="1/ε", title=f"{leaves} leaves", xticks=inverse, xticklabels=[f"{x:.3g}" for x in inverse])
        for axis in (left, right):
            low, high = axis.get_ylim()
            ticks = [T for T in TICKS if low <= T <= high]
            axis.set_yticks(ticks, ticks)
            axis.set_ylabel("samples needed, median")
            axis.minorticks_off()
            axis.legend(fontsize=7.5)
        drawing.suptitle("Samples needed for squared error ε; dashed: slopes of the bounds, through our first point")


def _growth(axis: Any, rows: list[Row], x: Any) -> None:
    axis.set(xscale="log", yscale="log")
    for learner in LEARNERS:
        points = sorted((x(row), row["T"]) for row in rows if row["learner"] == learner and row["T"] is not None)
        if points:
            axis.plot(*zip(*points, strict=True), color=COLORS[learner], marker="o", markersize=4, label=learner)
    axis.grid(alpha=0.3)


def _shape(axis: Any, letter: str, powers: tuple[int, ...]) -> None:
    """x^p through the first point of our line."""
    ours = [line for line in axis.get_lines() if line.get_label() == OURS]
    if not ours:
        return
    x, y = ours[0].get_xdata()[0], ours[0].get_ydata()[0]
    ends = np.array([x, max(line.get_xdata().max() for line in map(_as_arrays, axis.get_lines()))])
    for power, style in zip(powers, (":", "--"), strict=True):
        name = letter if power == 1 else f"({letter})²" if "/" in letter else f"{letter}²"
        axis.plot(ends, y * (ends / x) ** power, "k" + style, linewidth=1, label=f"∝ {name}")


def _as_arrays(line: Any) -> Any:
    line.set_data(np.asarray(line.get_xdata(), dtype=float), np.asarray(line.get_ydata(), dtype=float))
    return line


def _lines(axis: Any, rows: list[Row], x: str) -> None:
    for learner in LEARNERS:
        mine = sorted((row for row in rows if row["learner"] == learner), key=lambda row: float(row[x]))
        at = [row[x] for row in mine]
        axis.plot(at, [row["squared"] for row in mine], color=COLORS[learner], marker="o", markersize=3, label=learner)
        axis.fill_between(
            at, [row["low"] for row in mine], [row["high"] for row in mine], color=COLORS[learner], alpha=0.15
        )
    axis.grid(alpha=0.3)


def fixed(errors: list[Row]) -> list[Row]:
    """The rows of the one size and number of samples at which the noise grows: the case with most levels of it."""
    counts: dict[tuple[int, int], int] = {}
    for row in errors:
        counts[row["leaves"], row["T"]] = counts.get((row["leaves"], row["T"]), 0) + 1
    leaves, T = max(counts, key=lambda case: counts[case])
    return [row for row in errors if (row["leaves"], row["T"]) == (leaves, T)]


def _plain(rows: list[Row], key: str) -> tuple[list[int], list[str]]:
    """Every other number of a geometric row as a tick."""
    at = sorted({row[key] for row in rows})[::2]
    return at, [str(each) for each in at]


def _share(errors: list[Row], kind: str) -> float:
    """That of the curves: the one that most rows have."""
    shares = [row["share"] for row in errors if row["kind"] == kind]
    return float(max(set(shares), key=shares.count))


def _select(rows: list[Row], case: Row) -> list[Row]:
    return [row for row in rows if all(row[key] == value for key, value in case.items())]
