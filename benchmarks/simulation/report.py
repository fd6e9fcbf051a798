"""Tables and figures of the simulation, and the page that they stand in."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks import measure
from benchmarks.measure import table
from benchmarks.simulation.contestants import OURS, PEERS, REMEDIES, round_size
from benchmarks.simulation.costs import costs, measured
from benchmarks.simulation.limits import (
    barrier_workers,
    coordinator_workers,
    expected_maximum,
    ledger_workers,
    trial_seconds,
)
from benchmarks.simulation.study import SCENARIOS
from benchmarks.throughput import throughput_table

DOCS = Path(__file__).parents[2] / "docs" / "scale.md"
SHOWN = (1, 10, 30, 100, 1000, 10_000)
Row = dict[str, Any]


def loaded(name: str) -> Any:
    return json.loads((measure.RESULTS / f"{name}.json").read_text())["rows"]


def chosen(rows: Sequence[Row], **wanted: Any) -> list[Row]:
    return [row for row in rows if all(row[key] == value for key, value in wanted.items())]


def cell(row: Row | None) -> str:
    """Time to the answer, its quartiles, and worker use."""
    if row is None:
        return ""
    low, middle, high = map(_time, row["answer"])
    return f"{middle}{'' if low == '-' else f' ({low} to {high})'}, {row['use']:.0%}"


def by_workers(rows: Sequence[Row], names: Sequence[str]) -> str:
    lines = []
    for name in names:
        own = {row["workers"]: row for row in chosen(rows, what=name)}
        if own:
            first = next(iter(own.values()))
            lines.append([name, f"{first['solved']:.0%}", *(cell(own.get(n)) for n in SHOWN)])
    return table(["optimizer", "found", *(f"W={n:,}" for n in SHOWN)], lines)


def scenario_table(rows: Sequence[Row], name: str) -> str:
    lines = []
    for scenario in SCENARIOS:
        own = {row["workers"]: row for row in chosen(rows, what=name, scenario=scenario)}
        spent = [f"{_time(own[n]['seconds'][1])}, {own[n]['use']:.0%}" if n in own else "" for n in SHOWN]
        lines.append([scenario, *spent])
    return table(["trials", *(f"W={n:,}" for n in SHOWN)], lines)


def remedy_table(rows: Sequence[Row], quality: dict[str, Row]) -> str:
    """quality: scores, if they are to be shown."""
    lines = []
    for name in REMEDIES:
        own = {row["workers"]: row for row in chosen(rows, what=name)}
        if own:
            spent = [f"{_time(own[n]['seconds'][1])}, {own[n]['use']:.0%}" for n in (10, 30, 100)]
            answers = [_time(own[n]["answer"][1]) for n in (10, 30, 100)]
            score = [f"{quality[name]['mean']:.1f}"] if name in quality else []
            lines.append([name, *score, f"{own[10]['solved']:.0%}", f"{own[10]['best']:.3f}", *answers, *spent])
    header = ["rounds", *["score"] * bool(quality), "found", "best", *(f"answer, W={n}" for n in (10, 30, 100))]
    return table([*header, *(f"all, W={n}" for n in (10, 30, 100))], lines)


def limit_table() -> str:
    """Workers at which each binds."""
    lines = []
    for seconds in (0.1, 1.0, 60.0, 3600.0):
        row = [f"{seconds:g} s", _count(coordinator_workers(costs(), seconds))]
        for ledger in ("SQLite", "PostgreSQL"):
            row += [_count(ledger_workers(costs(ledger), seconds, together)) for together in (1, 100)]
        lines.append(row)
    header = ["trial", "coordinator", "SQLite, 1 a transaction", "100 a transaction"]
    return table([*header, "PostgreSQL, 1 a transaction", "100 a transaction"], lines)


def barrier_table() -> str:
    sizes = {
        "a round, B=500": round_size(500),
        "the samples, B=500": 100,
        "a stage of Harmonica": 164,
        "a round, B=5,000": round_size(5000),
        "the samples, B=5,000": 1000,
        "a round, B=100,000": round_size(100_000),
    }
    lines = [
        [what, f"{n:,}"]
        + [f"{expected_maximum(t, n):.3g}, {_count(barrier_workers(t, n))}" for t in ("lognormal", "Pareto")]
        for what, n in sizes.items()
    ]
    return table(["barrier after", "trials", "lognormal: longest, workers", "Pareto: longest, workers"], lines)


def cost_tables() -> dict[str, str]:
    rows, now = measured(), costs()
    ledger = [[r["ledger"], r["events"], f"{r['ms']:.3g}", f"{r['cpu_ms']:.3g}"] for r in rows["ledger"]]
    parts = {
        "ask": now.ask, "tell": now.tell, "hand to Dask and take back": now.dispatch,
        "a transaction of the ledger (SQLite)": now.append, "one event of it (two a trial)": now.event,
        "look at a trial that is out, each loop": now.flight, "in all, one trial a transaction": trial_seconds(now),
        "in all, 100 trials a transaction": trial_seconds(now, 100),
    }  # fmt: skip
    fits = [
        [r["what"], f"{r['evaluations']:,}", r["fits"], f"{r['cpu_s']:.3g}", f"{r['most_cpu_s']:.3g}"]
        for r in rows["fits"]
    ]
    stages = [[r["n"], f"{r['T']:,}", f"{r['cpu_s']:.3g}"] for r in rows["stages"]]
    return {
        "parts": table(["the coordinator's work", "ms"], [[k, f"{1e3 * v:.3g}"] for k, v in parts.items()]),
        "ledger": table(["ledger", "events in a transaction", "ms", "CPU ms"], ledger),
        "fits": table(["optimizer", "evaluations", "fits", "CPU s a fit, mean", "most"], fits),
        "stages": table(["units n", "samples T", "CPU s"], stages),
    }


def _time(number: float | None) -> str:
    if number is None:
        return "-"
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


def _count(number: float) -> str:
    return f"{int(float(f'{number:.2g}')):,}" if number >= 1 else f"{number:.1g}"


def fill_docs(page: Path = DOCS) -> None:
    from benchmarks.search.report import filled  # knows all contestants: seconds to import

    rows, quality = loaded("simulation"), loaded("simulation-quality")
    scores = {row["rounds"]: row for row in quality["scores"]}
    small, large = chosen(rows, evaluations=500), chosen(rows, evaluations=5000)
    everyone = (*OURS, *PEERS, "ASHA", "Optuna TPE")
    parts = {
        "throughput": throughput_table(loaded("throughput")),
        **{f"cost-{name}": text for name, text in cost_tables().items()},
        "small": by_workers(chosen(small, scenario="lognormal"), everyone),
        "failures": by_workers(chosen(small, scenario="lognormal, failures"), everyone),
        "scenarios": scenario_table(small, "automatic"),
        "large": by_workers(chosen(large, scenario="lognormal", mean=60.0), everyone),
        "fast": by_workers(chosen(large, scenario="lognormal", mean=1.0), everyone),
        "limits": limit_table(),
        "barriers": barrier_table(),
        "remedies": remedy_table(chosen(small, scenario="lognormal"), scores),
        "remedies-pareto": remedy_table(chosen(small, scenario="Pareto"), scores),
        "remedies-large": remedy_table(chosen(large, scenario="lognormal", mean=60.0), {}),
    }
    page.write_text(filled(page.read_text(), parts))


def draw(rows: Sequence[Row], path: Path) -> None:
    """Above times, below worker use; a column for few evaluations, for many, and for the remedies."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    remedies = [f"rounds of {batch}, lag {lag}" for batch, lag in ((1, 0), (1, 0.5), (1, 1), (1, 2), (2, 0), (4, 0))]
    panels = {
        "500 evaluations: time to the answer": (500, (*OURS, *PEERS, "ASHA", "Optuna TPE"), "answer"),
        "5,000 evaluations: time to the answer": (5000, (*OURS, *PEERS), "answer"),
        "spectral descent, 500 evaluations: the whole run": (500, remedies, "seconds"),
    }
    figure, axes = plt.subplots(2, len(panels), figsize=(16, 8), sharex=True)
    for (above, below), (title, (n, names, times)) in zip(axes.T, panels.items(), strict=True):
        for number, name in enumerate(names):
            own = chosen(rows, evaluations=n, scenario="lognormal", mean=60.0, what=name)
            own = sorted(own, key=lambda row: int(row["workers"]))
            reached = [row for row in own if row[times][1] is not None]
            x = [row["workers"] for row in reached]
            low, middle = ([row[times][i] for row in reached] for i in (0, 1))
            high = [row[times][2] or row["seconds"][2] for row in reached]
            if x:
                above.plot(x, middle, f"C{number}o-", markersize=3, label=name)
                above.fill_between(x, low, high, color=f"C{number}", alpha=0.1)
            use = [100 * row["use"] for row in own]
            below.plot([row["workers"] for row in own], use, f"C{number}o-", markersize=3, label=name)
        above.set(title=title, xscale="log", yscale="log")
        below.set(xlabel="workers", ylim=(0, 102))
        for axis in (above, below):
            axis.grid(alpha=0.3)
        below.legend(fontsize=8)
    axes[0][0].set_ylabel("mean durations of a trial\n(median and quartiles over the seeds)")
    axes[1][0].set_ylabel("worker use over the whole run, % (median)")
    figure.suptitle("Trials of lognormal duration, mean 60 s; not drawn: where fewer than half of the runs got there")
    figure.tight_layout()
    figure.savefig(path, dpi=90)
    plt.close(figure)
