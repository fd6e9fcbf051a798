"""synthetic.json as blocks and claims of docs/paper.md."""

from pathlib import Path

from benchmarks.measure import table
from experiments.frame import Claim, Row, Verdict, load, provenance
from experiments.synthetic.stages import EXAMPLE, FEW, KINDS, MANY, H
from experiments.synthetic.times import GAUSSIAN, HARMONICA, OPTUNA, OURS

SECTION = "section 5.4"
LINEAR = 0.95  # R2 from which on we call it a line
SMALL = 0.1  # an intercept is small if it is no more than this share of the error at the largest A
MAGNITUDES, SOME = 1000.0, 100.0  # "several magnitudes", and what we call partly so
CUBIC, CURVED = 2.5, 1.2  # powers from which on we call growth cubic, or at least more than linear
DAY = 86400.0
LASSO = 300.0  # seconds: the paper's "less than 5 minutes"


def blocks(results: Path) -> dict[str, str]:
    data = load(results, "synthetic")
    return {
        "synthetic-about": provenance(results, "synthetic"),
        "synthetic-time": _times(data["times"]),
        "synthetic-lines": _lines(data["lines"]),
        "synthetic-reached": _cases(data["cases"]),
        "synthetic-examples": f"{_examples(data['sparse'])}\n\n{_dummies(data['dummies'])}",
    }


def _times(times: list[Row]) -> str:
    sizes = sorted({row["n"] for row in times})
    cell = {(row["optimizer"], row["n"]): _time(row) for row in times}
    rows = [[name, *(cell[name, n] for n in sizes)] for name in (*OURS, *OPTUNA)]
    return table(["optimizer time, CPU s", *(f"n = {n}" for n in sizes)], rows)


def _time(row: Row) -> str:
    if row["n_done"] >= row["evaluations"]:
        return f"{row['cpu']:.3g}"
    power = "" if row["power"] is None else f"; as k^{row['power']:.1f}: {row['all']:.2g}"
    return f"{row['cpu']:.3g} for {row['n_done']}{power}"


def _lines(lines: list[Row]) -> str:
    rows = [
        [r["function"], r["n"], r["settings"], f"{r['slope']:.3f}", f"{r['intercept']:.2g}", f"{r['r2']:.4f}"]
        for r in lines
    ]
    return table(["function", "n", "settings", "slope", "intercept", "R2"], rows)


def _cases(cases: list[Row]) -> str:
    header = ["function", "n", "settings", "noise A", "stages", "error", "error <= A", "best", "random", "better"]
    return table(header, [_case(row) for row in cases])


def _case(row: Row) -> list[str]:
    first = [row["function"], row["n"], row["settings"], f"{row['noise']:g}", f"{row['stages']:.1f}"]
    return [*first, f"{row['error']:.2g}", *(f"{row[key]:.0%}" for key in ("within", "best", "random", "better"))]


def _examples(rows: list[Row]) -> str:
    exact, reached = (sum(row[key] for row in rows) for key in ("exact", "reached"))
    return (
        "The authors' first example, five features of weight 10, from 100 samples: features exact in "
        f"{exact}, the minimum -50 reached in {reached} of {len(rows)} runs."
    )


def _dummies(rows: list[Row]) -> str:
    words = []
    for kind in KINDS:
        fixed, false = (sum(row[key] for row in rows if row["kind"] == kind) for key in ("fixed", "dummies"))
        runs = sum(row["kind"] == kind for row in rows)
        words.append(f"{kind}: {false} dummies among {fixed} variables fixed in {runs} runs")
    return f"Dummies, 39 real variables and 21 that do nothing, all settings automatic. {'; '.join(words)}."


# claims


def claims(results: Path) -> list[Claim]:
    data = load(results, "synthetic")
    speed = [_magnitudes(data["times"]), _day(data["times"]), _cubic(data["times"]), _lasso(data["times"])]
    return [*speed, *(_linear(data, *case) for case in ((H, FEW), (H, MANY), (EXAMPLE, FEW))), _no_dummies(data)]


def _row(times: list[Row], name: str) -> Row:
    """Of the paper's n = 60, or the smallest there is."""
    mine = [row for row in times if row["optimizer"] == name]
    return next((row for row in mine if row["n"] == 60), mine[0])


def _magnitudes(times: list[Row]) -> Claim:
    ours, theirs = _row(times, HARMONICA), _row(times, GAUSSIAN)
    seen = theirs["cpu"] / ours["cpu"]
    ratio = (theirs["all"] or theirs["cpu"]) / ours["cpu"]
    verdict: Verdict = "holds" if ratio >= MAGNITUDES else "partly" if ratio >= SOME else "does not hold here"
    return Claim(
        "Harmonica is several magnitudes faster than Spearmint (optimization time, 500 samples)",
        SECTION,
        f"n = {ours['n']}: {ours['cpu']:.2g} CPU s for {ours['n_done']} evaluations; Optuna's Gaussian process took "
        f"{seen:.0f} times that for its first {theirs['n_done']}, extrapolated {ratio:.0f} times for 500",
        verdict,
    )


def _day(times: list[Row]) -> Claim:
    row = _row(times, GAUSSIAN)
    says = "a Gaussian process (Spearmint) takes more than one day for 500 samples of n = 60"
    if row["all"] is None:
        return Claim(says, SECTION, "too few evaluations to extrapolate", "not tested here")
    how = "measured" if row["n_done"] >= row["evaluations"] else f"extrapolated from {row['n_done']} evaluations"
    measured = f"Optuna's GPSampler of today: {row['all'] / 3600:.1f} CPU hours, {how}"
    return Claim(says, SECTION, measured, "holds" if row["all"] >= DAY else "does not hold here")


def _cubic(times: list[Row]) -> Claim:
    row = _row(times, GAUSSIAN)
    says, where = "the running time of Bayesian optimization is cubic in the number of evaluations", "section 4.1"
    power = row["power"]
    if power is None:
        return Claim(says, where, "too few evaluations to say", "not tested here")
    verdict: Verdict = "holds" if power >= CUBIC else "partly" if power >= CURVED else "does not hold here"
    return Claim(says, where, f"evaluations^{power:.1f} within the first {row['n_done']}", verdict)


def _lasso(times: list[Row]) -> Claim:
    """All of a run's time is an upper bound for that of its three Lassos."""
    row = max((row for row in times if row["optimizer"] == HARMONICA), key=lambda row: float(row["cpu"]))
    return Claim(
        "the Lasso takes less than 5 minutes",
        "section 5.3, on the degree of features",
        f"a whole run of Harmonica, three stages of degree 3, takes {row['cpu']:.2g} CPU s at n = {row['n']}",
        "holds" if row["cpu"] < LASSO else "does not hold here",
    )


def _linear(data: Row, function: str, settings: str) -> Claim:
    says = f"the estimation error is linear in the noise level: {function}, {settings}"
    mine = [line for line in data["lines"] if (line["function"], line["settings"]) == (function, settings)]
    if not mine:
        return Claim(says, SECTION, "not run at this size", "not tested here")
    line = mine[0]
    keys = ("function", "n", "settings")
    cases = [case for case in data["cases"] if all(case[key] == line[key] for key in keys)]
    worst, within = max(case["error"] for case in cases), min(case["within"] for case in cases)
    straight = line["r2"] >= LINEAR and abs(line["intercept"]) <= SMALL * worst
    return Claim(
        says,
        SECTION,
        f"error = {line['slope']:.3f} A {line['intercept']:+.2g}, R2 = {line['r2']:.3f} (medians); "
        f"within the noise in at least {within:.0%} of the runs",
        "holds" if straight else "does not hold here",
    )


def _no_dummies(data: Row) -> Claim:
    fixed, false = (sum(row[key] for row in data["dummies"]) for key in ("fixed", "dummies"))
    return Claim(
        "no dummy variable is ever selected (here: synthetic functions of 39 variables among 60)",
        "appendix",
        f"{false} dummies among {fixed} variables fixed, in {len(data['dummies'])} runs",
        "holds" if not false else "partly" if false <= 0.01 * fixed else "does not hold here",
    )
