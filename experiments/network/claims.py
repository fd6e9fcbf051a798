"""What the paper claims about the network, and what network.json says to it: each verdict follows from a rule here."""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from experiments.frame import Claim, Verdict, load
from experiments.network.figures import small_big
from experiments.network.options import irrelevant
from experiments.network.plan import DEGREE, N_STAGES

Row = dict[str, Any]
CLOSE = 1.0  # points of test error that are no difference: about the standard error with 2,000 test images


def claims(results: Path) -> list[Claim]:
    """In the paper's order; only those whose runs were made."""
    data = load(results, "network")
    rows = named(data)
    found: list[Claim | None] = [_compared(*each, rows) for each in COMPARISONS if each[2] in rows]
    found += [_more_stages(rows), _by_hand(data, rows), _drops(data), _variants(data), _longer(rows)]
    found += [_ranges(data), _degree(data), _important(data), _no_dummies(data), _fourth(data)]
    found += [_carry_over(data), _control(data)]
    return [each for each in found if each is not None]


def named(data: Row) -> dict[str, Row]:
    """The algorithms by name."""
    return {row["name"]: row for row in [*data["algorithms"], *data["variants"], data["control"]]}


def best(row: Row) -> float:
    """The best result of a run, the mean over the runs."""
    return float(np.mean([top[0] for top in row["tops"]]))


def seconds(row: Row) -> float:
    """Of a run, the mean over the runs."""
    return float(np.mean(row["seconds"]))


def judged(*parts: bool) -> Verdict:
    """All, some or none of the parts of a claim."""
    return "holds" if all(parts) else "partly" if any(parts) else "does not hold here"


# section 5.1: (what it says, where, ours, theirs, share of their time)
COMPARISONS = (
    (
        "Harmonica-1 beats random search 8x in less than 1/8 of its time",
        "5.1",
        "Harmonica-1",
        "Random search 8x",
        1 / 8,
    ),
    ("Harmonica-1 beats Hyperband in less than 1/7 of its time", "5.1", "Harmonica-1", "Hyperband", 1 / 7),
    (
        "Harmonica-2 is as good as Spearmint, which takes 4.5 times longer",
        "5.1",
        "Harmonica-2",
        "Bayesian (GP)",
        1 / 4.5,
    ),
)


def _compared(says: str, where: str, ours: str, theirs: str, share: float, rows: dict[str, Row]) -> Claim:
    a, b = rows[ours], rows[theirs]
    margin = CLOSE if "as good as" in says else 0.0
    measured = f"best {best(a):.1f} % against {best(b):.1f} %, in {seconds(a):.0f} s against {seconds(b):.0f} s"
    is_better = best(a) < best(b) + margin
    return Claim(says, where, measured, _in_time(is_better, seconds(a) / seconds(b), share))


def _in_time(is_better: bool, spent: float, share: float) -> Verdict:
    """Better with more time than the other had says nothing; better with less, but not as little, is a part."""
    if not is_better or spent > 1:
        return "does not hold here"
    return "holds" if spent < share else "partly"


def _more_stages(rows: dict[str, Row]) -> Claim | None:
    ours = [rows[name] for name in (f"Harmonica-{q}" for q in range(1, N_STAGES + 1)) if name in rows]
    if len(ours) < N_STAGES:
        return None
    errors = [best(row) for row in ours]
    means = [float(np.average(row["means"], weights=row["n_full"])) for row in ours]
    return Claim(
        "more stages give better results",
        "5.1",
        f"best of a run with 1, 2, 3 stages: {_listed(errors)} %; mean of all full trainings: {_listed(means)} %",
        judged(errors[1] < errors[0], errors[2] < errors[1], means[1] < means[0], means[2] < means[1]),
    )


def _by_hand(data: Row, rows: dict[str, Row]) -> Claim | None:
    name = f"Harmonica-{N_STAGES}"
    if name not in rows:
        return None
    hand, again = float(np.mean(data["hand"])), float(np.mean(data["again"][name]))
    return Claim(
        "Harmonica-3 beats the settings that people tuned by hand (6.58 % against 6.97 %)",
        "5.1",
        f"its best configuration with new seeds: {again:.1f} %; the ResNet paper's settings, as far as the options "
        f"have them: {hand:.1f} %",
        judged(again < hand),
    )


def _drops(data: Row) -> Claim:
    means = [row["mean"] for row in data["drops"]]
    steps = -np.diff(means[: N_STAGES + 1])
    return Claim(
        "the mean error of random samples drops from 60.2 to 33.3 after stage 1, and less after the others",
        "5.2",
        f"means before and after each stage: {_listed(means)} %",
        judged(bool((steps > 0).all()), bool(steps[0] > steps[1:].max(initial=0.0))),
    )


def _variants(data: Row) -> Claim:
    rows = named(data)
    alone = rows["Successive halving"]
    ours = [row for name, row in rows.items() if name.startswith("Harmonica")]
    better, faster = ({row["name"] for row in ours if f(row) < f(alone)} for f in (best, seconds))
    both = len(better & faster)
    return Claim(
        "most variants give better results than successive halving in less time",
        "5.3",
        f"of {len(ours)} variants {len(better)} are better, {len(faster)} faster, {both} both",
        "holds" if 2 * both > len(ours) else "partly" if both else "does not hold here",
    )


def _longer(rows: dict[str, Row]) -> Claim | None:
    pairs = [(rows[name], rows[f"{name}-Long"]) for name in ("Harmonica-2", "Harmonica-3") if f"{name}-Long" in rows]
    if not pairs:
        return None
    spreads = [(_spread(short), _spread(long)) for short, long in pairs]
    return Claim(
        "a longer run of the base gives results that vary less",
        "5.3",
        "range of the three best full trainings, base as usual and long: "
        + "; ".join(f"{short:.1f} and {long:.1f} points" for short, long in spreads),
        judged(*(long < short for short, long in spreads)),
    )


def _spread(row: Row) -> float:
    """The range of the three best of a run, the mean over the runs."""
    return float(np.mean([top[:3][-1] - top[0] for top in row["tops"]]))


PAPER_PENALTIES = ((0.01, 4.5), (0.1, 2.5), (0.5, 1.1))
PAPER_SAMPLES = (250, 180, 150)


def _ranges(data: Row) -> Claim:
    rows = data["stable"]
    wide = [row["penalties"][1] / row["penalties"][0] for row in rows]
    return Claim(
        "the top five and their signs stay the same for a wide range of penalties, and from 250, 180, 150 samples on",
        "5.3",
        f"largest over smallest penalty: {_listed(wide)} (the paper: 450, 25, 2.2); samples from: "
        + ", ".join(str(row["n_samples"]) for row in rows),
        judged(
            *(ours >= 2 for ours in wide),
            *(row["n_samples"] <= n * row["T"] / 300 for row, n in zip(rows, PAPER_SAMPLES, strict=False)),
        ),
    )


def _degree(data: Row) -> Claim:
    rows = data["degrees"][:N_STAGES]
    high = [name for row in rows for name, _ in row["top"] if name.count(" * ") >= DEGREE]
    chance = [name for name in high if any(map(irrelevant, name.split(" * ")))]
    return Claim(
        "no important feature has a degree above three, and the degree can be chosen automatically",
        "5.3",
        f"with degree {DEGREE + 1} allowed, {len(high)} of the {sum(len(row['top']) for row in rows)} largest of the "
        f"Lasso have it, {len(chance)} of these with an irrelevant option; automatic degrees are "
        + ", ".join(str(row["automatic"]) for row in rows),
        judged(not high, *(row["automatic"] <= DEGREE for row in rows)),
    )


def _important(data: Row) -> Claim:
    first = [row["names"] for row in data["features"] if row["stage"] == 1]
    names = [name for each in first for name in each]
    return Claim(
        "batch norm matters most, then the activation, then the learning rate",
        "appendix",
        "stage 1: " + "; ".join(" * ".join(each) for each in first),
        judged(
            first[:1] == [["24. Batch norm"]],
            any(name.startswith(("19.", "20.")) for name in names),
            any(name.startswith(("04.", "05.")) for name in names),
        ),
    )


def _no_dummies(data: Row) -> Claim:
    used = [row for row in data["features"] if row["stage"] <= N_STAGES]
    bad = [f"{row['stage']}-{row['rank']} ({', '.join(row['irrelevant'])})" for row in used if row["irrelevant"]]
    return Claim(
        "no dummy and no irrelevant option (backend, cudnn, nthreads) is ever selected",
        "appendix",
        f"of {len(used)} features in three stages {len(bad) or 'none'}" + (f": {'; '.join(bad)}" if bad else ""),
        "holds" if not bad else "partly" if not any(each.startswith("1-") for each in bad) else "does not hold here",
    )


def _fourth(data: Row) -> Claim:
    last = data["degrees"][-1]
    return Claim(
        "a fourth stage finds nothing",
        "appendix",
        f"{data['plan']['n_after']} samples of what three stages leave: at the same penalty {last['n_selected']} "
        f"features or more; by automatic settings {len(last['features']) or 'none'}",
        judged(not last["n_selected"], not last["features"]),
    )


def _carry_over(data: Row) -> Claim:
    random, _, *stages = small_big(data)
    return Claim(
        "features of the small network carry over to the big one",
        "appendix",
        f"mean of full trainings of the big network: random {random['mean']:.1f} %, "
        + ", ".join(f"{row['name']} {row['mean']:.1f} %" for row in stages),
        judged(*(after["mean"] < before["mean"] for before, after in pairwise([random, *stages]))),
    )


def _control(data: Row) -> Claim:
    random, moved, *stages = small_big(data)
    best = min((row["mean"], row["name"]) for row in stages) if stages else (0.0, "")
    return Claim(
        "the best configurations of the small network, perturbed, do worse than random search on the big one",
        "appendix",
        f"best and mean: control {_pair(moved)}, random search {_pair(random)}; mean of {best[1]}: {best[0]:.1f} %",
        judged(moved["best"] > random["best"]),
    )


def _pair(row: Row) -> str:
    return f"{row['best']:.1f} and {row['mean']:.1f} %"


def _listed(numbers: Sequence[float]) -> str:
    return ", ".join(f"{number:.1f}" for number in numbers)
