"""The phase diagram of exact recovery, and error against noise."""

from itertools import product
from typing import Any

import numpy as np

from experiments.frame import Options, Row, figure
from experiments.theorems.cells import METHODS
from experiments.theorems.planting import DEGREE, KINDS, SMALL, SPARSITY, N
from experiments.theorems.summary import n_monomials


def draw(options: Options, data: Row) -> None:
    _phase(options, data["phase"])
    _noise(options, data["noisy"])


def _phase(options: Options, cells: list[Row]) -> None:
    """Share of the seeds that are exact, as color over (s, T): a panel for each n, d (columns) and method (rows)."""
    panels = list(dict.fromkeys((row["n"], row["degree"]) for row in cells))
    sparsities, samples = (sorted({row[key] for row in cells}) for key in ("s", "T"))
    share = {(r["n"], r["degree"], r["s"], r["T"], r["method"]): r["exact"] for r in cells}
    size = (3.6 * len(panels) + 1.2, 7.6)
    with figure(options, "theorems-phase", len(METHODS), len(panels), size, sharex=True, sharey=True) as (
        drawing,
        axes,
    ):
        for (i, method), (j, (n, degree)) in product(enumerate(METHODS), enumerate(panels)):
            grid = np.array([[share[n, degree, s, T, method] for s in sparsities] for T in samples])
            image = axes[i][j].imshow(grid, origin="lower", vmin=0, vmax=1, cmap="viridis", aspect="auto")
            _bound(axes[i][j], n, degree, sparsities, samples)
            axes[i][j].set_title(f"{method}\nn = {n}, d = {degree}", fontsize=10)
            axes[i][j].set_xticks(range(len(sparsities)), sparsities)
            axes[i][j].set_yticks(range(len(samples)), samples)
        for axis in axes[-1]:
            axis.set_xlabel("sparsity s")
        for axis in axes[:, 0]:
            axis.set_ylabel("samples T")
        axes[0][0].legend(fontsize=8, loc="lower right")
        drawing.suptitle("Exact recovery without noise")
        drawing.colorbar(image, ax=axes, label="share of random functions that are recovered exactly", shrink=0.8)


def _bound(axis: Any, n: int, degree: int, sparsities: list[int], samples: list[int]) -> None:
    """T = s log N, with constant 1, between the rows of the picture."""
    T = [s * np.log(n_monomials(n, degree)) for s in sparsities]
    at = np.interp(T, samples, range(len(samples)), left=np.nan, right=np.nan)
    axis.plot(range(len(sparsities)), at, "r.-", linewidth=1.2, label="T = s ln N")


def _noise(options: Options, rows: list[Row]) -> None:
    """Error against eps for every kind of disturbance; the line is what the lemma promises."""
    samples = sorted({row["T"] for row in rows})
    with figure(options, "theorems-noise", 2, 2, (9.5, 8), sharex=True, sharey=True) as (drawing, axes):
        for axis, kind in zip(axes.ravel(), KINDS, strict=True):
            for T in samples:
                mine = sorted((r for r in rows if (r["kind"], r["T"]) == (kind, T)), key=lambda row: float(row["eps"]))
                at = [row["eps"] for row in mine]
                axis.plot(at, [row["error"] for row in mine], marker="o", markersize=4, label=f"T = {T}")
                axis.fill_between(at, [row["low"] for row in mine], [row["high"] for row in mine], alpha=0.15)
            axis.plot(at, at, "k--", linewidth=1, label="error = noise")
            axis.set(xscale="log", yscale="log", title=kind)
            axis.grid(alpha=0.3)
        for axis in axes[-1]:
            axis.set_xlabel(r"noise: $\epsilon$ (small coefficients), $\gamma = ||v||^2/T$ (the others)")
        for axis in axes[:, 0]:
            axis.set_ylabel("squared error E[(f - g)²], Var f = 1")
        axes[0][0].legend(fontsize=8)
        drawing.suptitle(
            f"Error against noise: {SPARSITY} features of degree ≤ {DEGREE}, n = {N} (medians, quartiles)\n"
            f"'{SMALL}': ε/4 of the variance in many of degree ≤ {DEGREE}, ε/4 in many of degree {DEGREE + 1}",
            fontsize=11,
        )
