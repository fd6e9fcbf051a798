"""The paper's two figures: optimizer time against samples, and estimation error against the noise level."""

from itertools import product

import numpy as np

from experiments.frame import Options, Row, figure
from experiments.synthetic.stages import FEW
from experiments.synthetic.times import GAUSSIAN, HARMONICA, OPTUNA, OURS

STYLES = dict(zip((*OURS, *OPTUNA), ("C0", "C2", "C4", "C1", "C3"), strict=True))


def draw(options: Options, data: Row) -> None:
    _times(options, data["times"])
    _errors(options, data["cases"], data["lines"])


def _times(options: Options, times: list[Row]) -> None:
    """Left, the paper's figure: Harmonica for every n, and the Gaussian process; right, all optimizers against n."""
    sizes = sorted({row["n"] for row in times})
    with figure(options, "synthetic-time", 1, 2, (11, 4.8), sharey=True) as (drawing, axes):
        left, right = axes[0]
        for (number, n), name in product(enumerate(sizes), (HARMONICA, GAUSSIAN)):
            row = next(row for row in times if (row["n"], row["optimizer"]) == (n, name))
            fade = 1 - 0.7 * number / len(sizes)
            at, seconds = [int(k) for k in row["readings"]], list(row["readings"].values())
            if at:
                left.plot(at, seconds, color=STYLES[name], alpha=fade, label=f"{name}, n = {n}")
        left.set(xlabel="evaluations", ylabel="optimizer time, CPU seconds", yscale="log", title="against evaluations")
        for name in STYLES:
            mine = sorted((row for row in times if row["optimizer"] == name), key=lambda row: int(row["n"]))
            done = [row for row in mine if row["n_done"] >= row["evaluations"]]
            if done:
                right.plot([r["n"] for r in done], [r["cpu"] for r in done], color=STYLES[name], marker="o", label=name)
            rest = [row for row in mine if row not in done and row["all"] is not None]
            label = f"{name}, extrapolated from {'/'.join(str(row['n_done']) for row in rest)} evaluations"
            if rest:
                at = [row["n"] for row in rest]
                right.plot(at, [r["all"] for r in rest], color=STYLES[name], ls="--", marker="o", mfc="w", label=label)
        right.set(xlabel="variables n", title=f"{times[0]['evaluations']} evaluations", xticks=sizes)
        for axis in (left, right):
            axis.grid(alpha=0.3)
            axis.legend(fontsize=7)
        drawing.suptitle("Optimizer time on h(x): what each spends beside the evaluations")


def _errors(options: Options, cases: list[Row], lines: list[Row]) -> None:
    """A panel for each function, points with quartiles and the fitted line for each setting."""
    functions = list(dict.fromkeys(line["function"] for line in lines))
    with figure(options, "synthetic-noise", 1, len(functions), (5.4 * len(functions), 4.6)) as (drawing, axes):
        for axis, function in zip(axes[0], functions, strict=True):
            for line in (line for line in lines if line["function"] == function):
                keys = ("function", "n", "settings")
                mine = [row for row in cases if all(row[key] == line[key] for key in keys)]
                A, error = (np.array([row[key] for row in mine]) for key in ("noise", "error"))
                low, high = (np.array([row[key] for row in mine]) for key in ("low", "high"))
                color = "C1" if line["settings"] == FEW else "C0"
                axis.errorbar(A, error, [error - low, high - error], fmt="o", color=color, capsize=3)
                fit = f"{line['slope']:.3f} A {line['intercept']:+.2g}, R² = {line['r2']:.3f}"
                ends = np.array([A.min(), A.max()])
                shown = f"{line['settings']}: {fit}"
                axis.plot(ends, line["slope"] * ends + line["intercept"], color=color, label=shown)
            axis.set(xlabel="noise level A (uniform in [-A, A])", title=f"{function}, n = {mine[0]['n']}")
            axis.set_ylabel("estimation error (root mean square)")
            axis.grid(alpha=0.3)
            axis.legend(fontsize=8)
        drawing.suptitle("Estimation error against noise (medians, quartiles, fitted line)")
