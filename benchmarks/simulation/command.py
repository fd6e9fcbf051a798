"""`python -m benchmarks simulation`: costs, all cases, tables and figure; it wants the results of `throughput`."""

from benchmarks import measure
from benchmarks.simulation import costs, quality, report, study

FIGURE = "simulation.png"


def main() -> None:
    costs.main()
    quality.main()
    simulated()
    report.fill_docs()


def simulated() -> None:
    """Every case, as quartiles over its seeds."""
    rows = [row for case in study.CASES.values() for row in study.summarized(list(study.outcomes(case)))]
    measure.save("simulation", rows)
    report.draw(rows, measure.RESULTS / FIGURE)
    lognormal = report.chosen(rows, evaluations=500, scenario="lognormal")
    print("\nTime to the answer in mean durations of a trial, with its quartiles, and worker use: 500 evaluations")
    print(report.by_workers(lognormal, sorted({row["what"] for row in lognormal})))
