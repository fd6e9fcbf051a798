"""The paper's figures of the network, drawn from the saved data."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from experiments.frame import Options, figure

Row = dict[str, Any]
OURS, THEIRS, AGAIN = "#c0392b", "#34495e", "#e67e22"


def draw(options: Options, data: Row) -> None:
    """network-best.png, network-drops.png, network-variants.png and network-small-big.png"""
    ours = [row for row in data["algorithms"] if row["name"].startswith("Harmonica")]
    alone = [row for row in data["algorithms"] if row["name"] == "Successive halving"]
    _best(options, "network-best", data["algorithms"], data)
    _best(options, "network-variants", [*ours, *data["variants"], *alone], data)
    _drops(options, data)
    _small_big(options, data)


def _best(options: Options, name: str, rows: Sequence[Row], data: Row) -> None:
    """Results of each algorithm on the left, running time on the right."""
    with figure(options, name, 1, 2, (11, 0.45 * len(rows) + 1.9), width_ratios=[3, 2], sharey=True) as (_, axes):
        left, right = axes[0]
        for place, row in enumerate(rows):
            color = OURS if row["name"].startswith("Harmonica") else THEIRS
            _dots(left, place, row, data["again"][row["name"]], color, is_first=not place)
            seconds, before = float(np.mean(row["seconds"])), row["before"]
            right.barh(place, before, color=color, alpha=0.4, label=None if place else "stages, small network")
            right.barh(place, seconds - before, left=before, color=color, label=None if place else "big network")
            right.text(seconds, place, f" {seconds:.0f} s", va="center", fontsize=8)
        left.set_yticks(range(len(rows)), [row["name"] for row in rows])
        left.invert_yaxis()
        left.set_xlabel("test error of the big network, %")
        left.set_title("up to ten best results of each run", fontsize=10)
        left.grid(axis="x", alpha=0.3)
        left.legend(fontsize=8, loc="best")
        right.set_xlabel("training time of a run, seconds of one core")
        right.set_title("running time", fontsize=10)
        right.margins(x=0.18)
        right.legend(fontsize=8, loc="best")


def _dots(axis: Any, place: int, row: Row, again: Sequence[float], color: str, *, is_first: bool) -> None:
    """A line of dots a run, a mark for its best; a cross for the best configuration with new seeds."""
    n = len(row["tops"])
    for number, top in enumerate(row["tops"]):
        y = place + 0.5 * ((number + 0.5) / n - 0.5)
        labelled = is_first and not number
        axis.plot(top, [y] * len(top), ".", color=color, alpha=0.4, ms=5, label="result" if labelled else None)
        axis.plot(top[:1], [y], "D", color=color, ms=4, label="best of a run" if labelled else None)
    middle, ends = float(np.mean(again)), [[float(np.mean(again)) - min(again)], [max(again) - float(np.mean(again))]]
    axis.errorbar(
        middle,
        place + 0.38,
        xerr=ends,
        fmt="x",
        color=AGAIN,
        capsize=2,
        lw=1,
        label="best configuration, new seeds" if is_first else None,
    )


def _drops(options: Options, data: Row) -> None:
    """The errors of random samples before the first and after each stage."""
    drops = data["drops"]
    with figure(options, "network-drops", size=(6.5, 4.2)) as (_, axes):
        axis, x = axes[0, 0], np.arange(len(drops))
        quantiles = np.array([row["quantiles"] for row in drops])  # (stages, 5)
        axis.fill_between(x, quantiles[:, 1], quantiles[:, 3], color=OURS, alpha=0.2, label="middle half")
        axis.plot(x, quantiles[:, 0], ":", color=OURS, label="best")
        axis.plot(x, [row["mean"] for row in drops], "o-", color=OURS, label="mean")
        for place, row in zip(x, drops, strict=True):
            axis.annotate(
                f"{row['mean']:.1f}", (place, row["mean"]), (0, 7), textcoords="offset points", ha="center", fontsize=9
            )
        axis.set_xticks(x, ["before", *(f"after stage {number}" for number in x[1:])])
        axis.set_ylabel("test error of the small network, %")
        plan = data["plan"]
        axis.set_title(f"{plan['n_samples']} random samples each, the last {plan['n_after']}", fontsize=10)
        axis.grid(axis="y", alpha=0.3)
        axis.legend(fontsize=8)


def _small_big(options: Options, data: Row) -> None:
    """Full trainings of the big network, by where their configurations come from."""
    rows = small_big(data)
    with figure(options, "network-small-big", size=(7.5, 0.5 * len(rows) + 1.6)) as (_, axes):
        axis = axes[0, 0]
        for place, row in enumerate(rows):
            color = OURS if row["name"].startswith("stage") else THEIRS
            axis.plot(row["mean"], place, "o", color=color, label=None if place else "mean of the configurations")
            axis.plot(row["best"], place, "D", color=color, ms=5, label=None if place else "best of them")
            axis.plot([row["best"], row["mean"]], [place, place], "-", color=color, alpha=0.4)
        axis.set_yticks(range(len(rows)), [f"{row['name']} ({row['n']})" for row in rows])
        axis.invert_yaxis()
        axis.margins(y=0.15)
        axis.set_xlabel("test error of the big network, %")
        axis.grid(axis="x", alpha=0.3)
        axis.legend(fontsize=8)


def small_big(data: Row) -> list[Row]:
    """Mean and best of configurations at random: of the whole space, the control, and what the stages leave."""
    named = {row["name"]: row for row in [*data["algorithms"], *data["variants"]]}
    rows = [_pooled("random", named["Random search 8x"]), _pooled("best of the small network", data["control"])]
    return rows + [
        _pooled(f"stages 1 to {q}" if q > 1 else "stage 1", named[name])
        for q in (1, 2, 3)
        if (name := f"Harmonica-{q}-Random") in named
    ]


def _pooled(name: str, row: Row) -> Row:
    mean = float(np.average(row["means"], weights=row["n_full"]))
    return {"name": name, "n": sum(row["n_full"]), "mean": mean, "best": min(min(top) for top in row["tops"])}
