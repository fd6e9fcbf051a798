"""Learning decision trees (section 3.1 of the paper): error against the number of samples, beside other methods."""

from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import product
from multiprocessing import get_context
from typing import Any

import numpy as np

from benchmarks.measure import RESULTS, save, table
from overtone.spectral.monomials import FloatArray

N, TEST = 50, 4000
LEAVES, SAMPLES, NOISES, SEEDS = (8, 16, 32), (100, 200, 400, 800), (0.0, 0.1), 5
Predictor = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True)
class Tree:
    """A leaf with a label, or a variable and two subtrees."""

    label: float = 0.0
    variable: int = -1
    low: "Tree | None" = None
    high: "Tree | None" = None

    def __call__(self, points: FloatArray) -> FloatArray:
        if self.low is None or self.high is None:
            return np.full(len(points), self.label)
        return np.where(points[:, self.variable] < 0, self.low(points), self.high(points))


def random_tree(leaves: int, rng: np.random.Generator, free: frozenset[int], label: float = 1.0) -> Tree:
    """A tree of the given size: random variables, random splits of the size, labels that differ between siblings."""
    if leaves == 1:
        return Tree(label=label)
    variable = int(rng.choice(sorted(free)))
    left = leaves // 2 if leaves <= 3 else int(rng.integers(leaves // 4 + 1, leaves - leaves // 4))
    sign = float(rng.choice([-1.0, 1.0]))
    rest = free - {variable}
    return Tree(0.0, variable, random_tree(left, rng, rest, sign), random_tree(leaves - left, rng, rest, -sign))


def sparse_fourier(X: FloatArray, y: FloatArray) -> Predictor:
    from overtone.spectral import recover

    return recover(X, y).polynomial


def low_degree(X: FloatArray, y: FloatArray) -> Predictor:
    from overtone.spectral.estimators import LowDegreeRegressor

    return _fitted(LowDegreeRegressor(degree=3), X, y)


def decision_tree(X: FloatArray, y: FloatArray) -> Predictor:
    from sklearn.model_selection import GridSearchCV
    from sklearn.tree import DecisionTreeRegressor

    return _fitted(GridSearchCV(DecisionTreeRegressor(random_state=0), {"max_leaf_nodes": [4, 8, 16, 32, 64]}), X, y)


def boosting(X: FloatArray, y: FloatArray) -> Predictor:
    from sklearn.ensemble import GradientBoostingRegressor

    return _fitted(GradientBoostingRegressor(random_state=0), X, y)


def _fitted(model: Any, X: FloatArray, y: FloatArray) -> Predictor:
    fitted = model.fit(X, y)
    return lambda points: np.asarray(fitted.predict(points))


METHODS = {
    "sparse Fourier (recover)": sparse_fourier,
    "low degree": low_degree,
    "decision tree (CV size)": decision_tree,
    "gradient boosting": boosting,
}


def instance(leaves: int, noise: float, seed: int) -> list[dict[str, Any]]:
    """One tree, growing samples: a share `noise` of the labels is flipped in training, none in the test."""
    rng = np.random.default_rng([leaves, seed])
    tree = random_tree(leaves, rng, frozenset(range(N)))
    test = rng.choice([-1.0, 1.0], size=(TEST, N))
    X = rng.choice([-1.0, 1.0], size=(max(SAMPLES), N))
    y = tree(X) * np.where(rng.random(len(X)) < noise, -1.0, 1.0)
    rows = []
    for T, (name, fit) in product(SAMPLES, METHODS.items()):
        g = np.clip(fit(X[:T], y[:T])(test), -1, 1)
        truth = tree(test)
        rows.append({"leaves": leaves, "noise": noise, "seed": seed, "T": T, "method": name,
                     "squared": float(((g - truth) ** 2).mean()),
                     "wrong": float((np.where(g >= 0, 1.0, -1.0) != truth).mean())})  # fmt: skip
    return rows


def main(seeds: int = SEEDS) -> None:
    jobs = list(product(LEAVES, NOISES, range(seeds)))
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as executor:
        futures = [executor.submit(instance, *job) for job in jobs]
        rows = [row for future in futures for row in future.result()]
    summary = summarize(rows)
    save("trees", summary)
    print("\nRandom decision trees over 50 variables: squared error / classification error, medians over the seeds")
    cases = list(dict.fromkeys((r["leaves"], r["noise"], r["T"]) for r in summary))
    cell = {(r["leaves"], r["noise"], r["T"], r["method"]): f"{r['squared']:.2f} / {r['wrong']:.1%}" for r in summary}
    print(table(["leaves", "label noise", "T", *METHODS],
                [[s, f"{v:.0%}", T, *(cell[s, v, T, m] for m in METHODS)] for s, v, T in cases]))  # fmt: skip
    plot(summary)


def summarize(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Medians and quartiles over the seeds."""
    summary = []
    for leaves, noise, T, method in product(LEAVES, NOISES, SAMPLES, METHODS):
        case = {"leaves": leaves, "noise": noise, "T": T, "method": method}
        mine = [row for row in rows if all(row[key] == value for key, value in case.items())]
        low, middle, high = np.quantile([row["squared"] for row in mine], [0.25, 0.5, 0.75]).tolist()
        wrong = float(np.median([row["wrong"] for row in mine]))
        summary.append({**case, "squared": middle, "low": low, "high": high, "wrong": wrong, "seeds": len(mine)})
    return summary


def plot(summary: list[dict[str, Any]]) -> None:
    """Squared error against samples: a panel for each size and noise, a line with quartiles for each method."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(len(NOISES), len(LEAVES), figsize=(11, 6), sharex=True, sharey=True, squeeze=False)
    for (row, noise), (column, leaves) in product(enumerate(NOISES), enumerate(LEAVES)):
        axis = axes[row][column]
        for method in METHODS:
            points = [r for r in summary if (r["leaves"], r["noise"], r["method"]) == (leaves, noise, method)]
            T = [r["T"] for r in points]
            axis.plot(T, [r["squared"] for r in points], marker="o", markersize=3, label=method)
            axis.fill_between(T, [r["low"] for r in points], [r["high"] for r in points], alpha=0.15)
        axis.set(xscale="log", title=f"{leaves} leaves, {noise:.0%} of the labels flipped")
        axis.grid(alpha=0.3)
        if row == len(NOISES) - 1:
            axis.set_xlabel("training samples")
        if column == 0:
            axis.set_ylabel("squared error")
    axes[0][0].set(xticks=SAMPLES, xticklabels=[str(T) for T in SAMPLES], ylim=(0, 1))
    axes[0][0].minorticks_off()
    axes[0][-1].legend(fontsize=8)
    figure.suptitle(f"Learning random decision trees over {N} variables (median and quartiles over {SEEDS} trees)")
    figure.tight_layout()
    figure.savefig(RESULTS / "trees.png", dpi=110)
