"""theorems.json as blocks and claims of docs/paper.md."""

from pathlib import Path

import numpy as np

from benchmarks.measure import table
from experiments.frame import Claim, Row, Verdict, load, provenance
from experiments.theorems.cells import AUTOMATIC, LASSO
from experiments.theorems.planting import KINDS, SMALL
from experiments.theorems.summary import constants, growth

LINEAR = 1.25  # the largest power of s log N that we call linear but for logarithms
BOUNDED = 2.0  # the constant that "O(gamma)" may have before we say that it does not hold


def blocks(results: Path) -> dict[str, str]:
    data = load(results, "theorems")
    return {
        "theorems-about": provenance(results, "theorems"),
        "theorems-enough": _enough(data["enough"]),
        "theorems-noise": _noise(data["noisy"]),
        "theorems-covered": _covered(data),
    }


def _enough(enough: list[Row]) -> str:
    sparsities = sorted({row["s"] for row in enough})
    cell = {(r["n"], r["degree"], r["method"], r["s"]): "-" if r["T"] is None else r["T"] for r in enough}
    cases = list(dict.fromkeys((row["n"], row["degree"], row["method"]) for row in enough))
    rows = [[*case, *(cell[*case, s] for s in sparsities)] for case in sorted(cases)]
    return table(["n", "d", "method", *(f"s = {s}" for s in sparsities)], rows)


def _noise(noisy: list[Row]) -> str:
    epsilons = sorted({row["eps"] for row in noisy})
    cell = {(r["kind"], r["T"], r["eps"]): f"{r['error'] / r['eps']:.2f}" for r in noisy}
    cases = [(kind, T) for kind in KINDS for T in sorted({row["T"] for row in noisy})]
    rows = [[*case, *(cell[*case, eps] for eps in epsilons)] for case in cases]
    return table(["what disturbs", "T", *(f"noise {eps:g}" for eps in epsilons)], rows)


def _covered(data: Row) -> str:
    ours = {row["s"]: row["T"] for row in _hardest(data["enough"]) if row["method"] == AUTOMATIC}
    rows = [[r["s"], 2 ** r["s"], f"{r['draws']:.0f}", ours.get(r["s"]) or "-"] for r in data["covered"]]
    return table(["s", "2^s", "random search, median", "recover: samples enough"], rows)


def _hardest(enough: list[Row]) -> list[Row]:
    """Of the largest degree at the smallest n: what random search is compared at."""
    n = min(row["n"] for row in enough)
    degree = max(row["degree"] for row in enough if row["n"] == n)
    return [row for row in enough if (row["n"], row["degree"]) == (n, degree)]


# claims


def claims(results: Path) -> list[Claim]:
    data = load(results, "theorems")
    return [
        _exact(data, AUTOMATIC),
        _exact(data, LASSO),
        _minimum(data),
        _lemma(data),
        _adversarial(data),
        _random(data),
    ]


def _exact(data: Row, method: str) -> Claim:
    p, found = growth(data["enough"], method), constants(data["enough"])[method]
    reached = f"{len(found)} of {sum(row['method'] == method for row in data['enough'])}"
    says = "an s-sparse f of degree d is recovered exactly from ~O(s d log n) samples"
    where = "Theorem 1"
    if p is None:
        return Claim(says, where, f"{method}: not reached with the samples tried", "not tested here")
    verdict: Verdict = "holds" if p <= LINEAR else "partly" if p < 2 else "does not hold here"
    measured = (
        f"{method}: exact in 90 % of the seeds from T = {min(found):.1f} to {max(found):.1f} times s ln N, "
        f"T ~ (s ln N)^{p:.2f}; reached in {reached} cases of (n, d, s)"
    )
    return Claim(says, where, measured, verdict)


def _minimum(data: Row) -> Claim:
    """Of the exact ones; that g is then f is the theorem's own argument, and the minimizers are proven ones."""
    cells = [row for row in data["phase"] if row["method"] == AUTOMATIC]
    exact, minimum = (float(np.mean([row[key] for row in cells])) for key in ("exact", "minimum"))
    return Claim(
        "then the minimizer of g is one of f",
        "Theorem 1",
        f"g = f in {exact:.0%} of the runs of the diagram, so the same minimizer; it was found in "
        f"{minimum - exact:.1%} more, where g was not f",
        "holds" if all(row["minimum"] >= row["exact"] for row in cells) else "does not hold here",
    )


def _ratio(data: Row, kinds: list[str]) -> float:
    """The largest error / noise at the largest number of samples."""
    T = max(row["T"] for row in data["noisy"])
    return max(float(row["error"] / row["eps"]) for row in data["noisy"] if row["T"] == T and row["kind"] in kinds)


def _lemma(data: Row) -> Claim:
    ratio, T = _ratio(data, [SMALL]), max(row["T"] for row in data["noisy"])
    return Claim(
        "an (eps/4, d, s)-bounded f is found up to a squared error of eps",
        "Lemma 1",
        f"T = {T}: error at most {ratio:.2f} eps (medians)",
        "holds" if ratio <= 1 else "partly" if ratio <= BOUNDED else "does not hold here",
    )


def _adversarial(data: Row) -> Claim:
    T = max(row["T"] for row in data["noisy"])
    ratios = {kind: _ratio(data, [kind]) for kind in KINDS if kind != SMALL}
    return Claim(
        "with adversarial noise ||v||^2 <= gamma m the squared error is at most eps + O(gamma)",
        "remark after Lemma 1",
        f"T = {T}: at most " + ", ".join(f"{ratio:.2f} gamma ({kind})" for kind, ratio in ratios.items()),
        "holds" if max(ratios.values()) <= BOUNDED else "does not hold here",
    )


def _random(data: Row) -> Claim:
    """Random search: does the median grow as 2^s? Its power of 2 is the slope of log2(draws) in s."""
    rows = data["covered"]
    slope = float(np.polyfit([row["s"] for row in rows], np.log2([row["draws"] for row in rows]), 1)[0])
    last = rows[-1]
    ours = {row["s"]: row["T"] for row in _hardest(data["enough"]) if row["method"] == AUTOMATIC}.get(last["s"])
    return Claim(
        "random search, SH and Hyperband need Omega(2^s) samples to meet the optimum of an s-sparse function",
        "section 4.1",
        f"random search: 2^({slope:.2f} s); s = {last['s']}: {last['draws']:.0f} draws, recovery "
        + (f"{ours} samples" if ours else "not reached"),
        "holds" if slope > 0.75 else "does not hold here",
    )
