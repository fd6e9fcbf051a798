"""The network's part of docs/paper.md: tables and sentences from network.json."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import table
from experiments.frame import load, provenance
from experiments.network.claims import PAPER_PENALTIES, PAPER_SAMPLES, best, seconds
from experiments.network.figures import small_big
from experiments.network.options import KINDS, OPTIONS, irrelevant
from experiments.network.plan import DEGREE, LONG, N_STAGES, SPARSITY

Row = dict[str, Any]
PICTURES = "../experiments/results"


def blocks(results: Path) -> dict[str, str]:
    """Mark -> Markdown."""
    data = load(results, "network")
    return {
        "network-about": f"{_about(data)}\n\n{provenance(results, 'network')}\n\n{_options()}",
        "network-best": _best(data),
        "network-drops": _drops(data),
        "network-features": _features(data),
        "network-variants": _variants(data),
        "network-stable": _stable(data),
        "network-degree": _degree(data),
        "network-small-big": _small_big(data),
    }


def _about(data: Row) -> str:
    plan, (small, big) = data["plan"], data["layers"]
    epochs = plan["epochs"]
    return f"""\
The paper tunes a residual network on CIFAR-10: it learns stages on 8 layers with 30 epochs, {SPARSITY} features from
300 samples each, and applies them to 56 layers with 160 epochs. Here everything is smaller, so that it fits two
cores: images `{data["images"]}` at 16 x 16 pixels or less, {plan["n_train"]:,} to train on and {plan["n_test"]:,} to
test; stages on {small} layers with {epochs[0]} epochs, from {plan["n_samples"]} samples each; then {big} layers with
{epochs[1]} epochs. Errors are therefore far from the paper's; what can be compared is which options matter and which
algorithm does better.

- The objective is the test error itself, as in the paper. The best of many is then partly luck, so the best
  configuration of each algorithm, over all its runs, is also trained with {plan["n_again"]} new seeds. The test images
  are the same, so some of the luck stays.
- Time is the processor's seconds of all trainings, on one core each. A training that diverges ends early, as an error
  of {100 * (1 - 1 / 10):.0f} %.
- What is repeated: the base optimizers and Hyperband with {plan["n_seeds"]} seeds, the other variants and halving
  alone with {plan["n_long_seeds"]}, random search 1x with 8 (2x and 8x are made of the same trainings). What is not:
  the stages, which all versions of Harmonica share, Bayesian optimization, and the control.
- The penalty of the Lasso is {plan["l1_penalty"]} in all stages, on the scale of `docs/decisions/0001`. Degree
  {DEGREE}, sparsity {SPARSITY} and 4 minimizers are the paper's."""


def _options() -> str:
    """All options, in the paper's words, and what each is here."""
    rows = [
        [option.name, " or ".join(option.levels).replace("|", "/"), KINDS[option.kind], option.note]
        for option in OPTIONS
        if option.kind != "dummy"
    ]
    first = next(option.number for option in OPTIONS if option.kind == "dummy")
    rows.append([f"{first}-{OPTIONS[-1].number}. Dummy variables", "first or second", KINDS["dummy"], "none"])
    counts = {kind: sum(option.kind == kind for option in OPTIONS) for kind in KINDS}
    return f"""\
The 60 binary options: {counts["real"]} as in the paper's table, {counts["nearest"]} by the nearest real thing,
{counts["nothing"]} that do nothing on a machine without a graphics card, {counts["dummy"]} dummies. The paper's text
counts 39 options and 21 dummies, its table 38 and 22; we follow the table. "a / b": which of the two depends on the
option before. The table has no data augmentation, so there is none.

{table(["option", "levels: -1 or +1", "here", "what it does here"], rows)}"""


# the figures


def _best(data: Row) -> str:
    rows = [_algorithm(row, data) for row in data["algorithms"]]
    hand = data["hand"]
    rows.append(["the ResNet paper's settings", "", "", "", f"{np.mean(hand):.1f} ({_span(hand)})", "", ""])
    return f"""\
Up to ten best results of each run, as in the paper's figure, and what a run costs.

![Best results and running time]({PICTURES}/network-best.png)

{_table(rows)}

How to read it: by the number of test images alone, a single result has a standard error of
{_standard_error(data):.1f} points, and the best of many is lower than its configuration deserves; means over many
configurations are firmer.

Why the times differ from the paper's: its big network is dear. A full training of it costs 12 times one of the small
network (27 GPU days for 100 against 7 for 300, by its appendix); here {_ratio(data):.1f} times. So the stages weigh
more here, and no share of another algorithm's time can be as small as the paper's. Against random search with about
the same time:

{_equal_time(data)}

The settings by hand are those of a training of 160 epochs on 50,000 images, not of this one; to beat them here says
less than it did in the paper."""


def _ratio(data: Row) -> float:
    """What a full training of the big network costs, in trainings of the small one; both of random configurations."""
    random = next(row for row in data["algorithms"] if row["name"] == "Random search 8x")
    small = data["drops"][0]["seconds"] / data["plan"]["n_samples"]
    return float(random["seconds"][0] / random["n_full"][0] / small)


def _equal_time(data: Row) -> str:
    """Each Harmonica beside the random search whose time is nearest."""
    random = [row for row in data["algorithms"] if row["name"].startswith("Random")]
    lines = []
    for row in data["algorithms"]:
        if row["name"].startswith("Harmonica"):
            other = min(random, key=lambda each: abs(seconds(each) - seconds(row)))
            lines.append(f"- {_in_time(row, data)}; {_in_time(other, data)}")
    return "\n".join(lines)


def _in_time(row: Row, data: Row) -> str:
    again = np.mean(data["again"][row["name"]])
    return f"{row['name']}, {seconds(row):.0f} s: {best(row):.1f} %, with new seeds {again:.1f} %"


def _standard_error(data: Row) -> float:
    """Of an error of p %: sqrt(p (100 - p) / n)."""
    p = best(data["algorithms"][0])
    return float(np.sqrt(p * (100 - p) / data["plan"]["n_test"]))


def _variants(data: Row) -> str:
    rows = [row for row in data["algorithms"] if row["name"].startswith("Harmonica")]
    alone = [row for row in data["algorithms"] if row["name"] == "Successive halving"]
    return f"""\
"Random": random search as the base, with as many epochs as halving has; "Long": halving with {LONG} times the
configurations, as many as halving alone has.

![Variants]({PICTURES}/network-variants.png)

{_table([_algorithm(row, data) for row in [*rows, *data["variants"], *alone]])}"""


def _table(rows: list[list[str]]) -> str:
    head = ["algorithm", "runs", "best of a run, %", "mean of full trainings, %", "best with new seeds, %"]
    return table([*head, "trainings", "time, s"], rows)


def _algorithm(row: Row, data: Row) -> list[str]:
    tops = [top[0] for top in row["tops"]]
    again = data["again"][row["name"]]
    return [
        row["name"],
        str(len(tops)),
        f"{best(row):.1f}" + (f" ({_span(tops)})" if len(tops) > 1 else ""),
        f"{np.average(row['means'], weights=row['n_full']):.1f}",
        f"{np.mean(again):.1f} ({_span(again)})",
        f"{np.mean(row['n_trainings']):.0f}, full {np.mean(row['n_full']):.0f}",
        f"{seconds(row):.0f}" + (f", stages {row['before']:.0f}" if row["before"] else ""),
    ]


def _span(numbers: Sequence[float]) -> str:
    return f"{min(numbers):.1f} to {max(numbers):.1f}"


def _drops(data: Row) -> str:
    rows = [
        ["before" if not number else f"after stage {number}", f"{row['mean']:.1f}", *_quantiles(row["quantiles"])]
        for number, row in enumerate(data["drops"])
    ]
    return f"""\
The paper: from 60.16 % to 33.3 % after stage 1, less after that. Here, the samples of each
stage ({data["plan"]["n_samples"]}), and {data["plan"]["n_after"]} of what the last one leaves, on the small network:

![Average test error]({PICTURES}/network-drops.png)

{table(["", "mean, %", "best", "middle half", "worst"], rows)}"""


def _quantiles(five: Sequence[float]) -> list[str]:
    return [f"{five[0]:.1f}", f"{five[1]:.1f} to {five[3]:.1f}", f"{five[4]:.1f}"]


# the tables


def _features(data: Row) -> str:
    rows = [
        [
            f"{row['stage']}-{row['rank']}",
            " * ".join(row["names"]) + (" **(irrelevant)**" if row["irrelevant"] else ""),
            f"{row['weight']:.2f}",
            f"{row['stability']:.0%}",
        ]
        for row in data["features"]
    ]
    used = [row for row in data["features"] if row["stage"] <= N_STAGES]
    bad = [row for row in used if row["irrelevant"]]
    count = f"{len(bad)} of the {len(used)}" if bad else f"None of the {len(used)}"
    relevant = sum(not irrelevant(option.name) for option in OPTIONS) / len(OPTIONS)
    by_chance = sum(1 - relevant ** len(row["names"]) for row in used)
    return f"""\
Weights are in points of test error; -1 is the first level of an option, so a positive weight of a single option says
that its first level is better. "stable": the share of fits on 4/5 of the samples that find the feature, too.

{table(["stage", "feature", "weight", "stable"], rows)}

{count} features of stages 1 to {N_STAGES} contain a dummy or an option that does nothing; of features of these
degrees taken by chance, {by_chance:.1f} would. (The paper says that it never selects one, though feature 1-8 of its own
table has dummy 52.) Features that few folds find are the weak ones: these trainings are short, so that the options
explain less of the error than in the paper, and the last of five features in a stage is near the noise. What the
stages fix:

{chr(10).join(_fixed(stage) for stage in data["stages"][:N_STAGES])}

With all settings automatic, the same samples give, and the rest is left alone:

{table(["stage", "verdict", "features"], [_automatic(n, row) for n, row in enumerate(data["degrees"], start=1)])}"""


def _fixed(stage: Row) -> str:
    return f"- after stage {stage['number']}: {'; '.join(stage['fixed']) or 'nothing'}"


def _automatic(number: int, row: Row) -> list[str]:
    found = "; ".join(f"{name} ({weight:.2f})" for name, weight, *_ in row["features"])
    return [str(number), row["verdict"], found or "none"]


def _stable(data: Row) -> str:
    rows = []
    for number, row in enumerate(data["stable"]):
        low, high = row["penalties"]
        paper = PAPER_PENALTIES[number]
        n_half = row["shared"].get(str(row["T"] // 2 - row["T"] // 2 % 10), 0)
        rows.append(
            [
                str(number + 1),
                f"[{low:g}, {high:g}]" + (" (all tried)" if [low, high] == row["tried"] else ""),
                f"{low / row['largest']:.2f} to {high / row['largest']:.2f}",
                f"[{paper[0]:g}, {paper[1]:g}]",
                f">= {row['n_samples']} of {row['T']}",
                f">= {PAPER_SAMPLES[number]} of 300",
                f"{n_half} of {row['n_features']}",
            ]
        )
    head = ["stage", "penalty", "share of the largest", "paper", "samples", "paper", "kept by half of the samples"]
    return f"""\
Where the top {SPARSITY} features and their signs stay what they are at the run's penalty with all samples. The Lasso
was fitted again to the recorded samples (`network-samples.csv`), with other penalties, and with the first samples
only. "Share of the largest": of the penalty from which on nothing is selected; the paper's penalties belong to other
errors.

{table(head, rows)}

Outside of the ranges, some of the five change places with others near the noise; in the paper one or two did."""


def _degree(data: Row) -> str:
    rows = [
        [
            str(number),
            str(row["largest"]),
            str(row["automatic"]),
            ", ".join(f"{degree}: {r2:.0%}" for degree, r2 in row["held_out"].items()),
        ]
        for number, row in enumerate(data["degrees"], start=1)
    ]
    head = [f"largest degree in the top {SPARSITY}, {DEGREE + 1} allowed", "automatic", "held-out variance by degree"]
    return f"""\
The paper stops at degree three, because it finds nothing above. Here the Lasso of each stage was fitted with degree
{DEGREE + 1} allowed, and the degree was left to `recover`, which takes the one that predicts samples not seen best.

{table(["stage", *head], rows)}

Stage {N_STAGES + 1} is what the three stages leave. With degree {DEGREE + 1} there are half a million candidates, and
at this penalty the Lasso takes some that fit the noise: {_by_chance(data)}. Held-out samples judge better."""


def _by_chance(data: Row) -> str:
    """Features of the highest degree that cannot be real."""
    names = [name.split(" * ") for row in data["degrees"] for name, _ in row["top"]]
    high = [each for each in names if len(each) > DEGREE]
    bad = sum(any(map(irrelevant, each)) for each in high)
    return f"of {len(high)} features of degree {DEGREE + 1} in the table's top fives, {bad} have an irrelevant option"


def _small_big(data: Row) -> str:
    rows = [[row["name"], str(row["n"]), f"{row['mean']:.1f}", f"{row['best']:.1f}"] for row in small_big(data)]
    n_best, n_more = data["plan"]["n_control"]
    return f"""\
Configurations for the big network, fully trained: at random; the {n_best} best of {data["plan"]["n_samples"]} random
ones of the small network with {n_more} that differ from them in one option (the appendix's control); at random in
what the stages of the small network leave. In the paper the control does worse than random search, 11.1 %.

![Small to big]({PICTURES}/network-small-big.png)

{table(["configurations", "how many", "mean, %", "best, %"], rows)}

{_than_control(data)} The two networks are more alike here than the paper's of 8 and 56 layers, so what is good for the
one is good for the other; and the control has looked at the big network {sum(data["plan"]["n_control"])} times."""


def _than_control(data: Row) -> str:
    _, moved, *stages = small_big(data)
    if not stages:
        return "No stage found anything."
    last = stages[-1]
    words = "lower than" if last["mean"] < moved["mean"] else "no lower than"
    return f"The mean of {last['name']}, {last['mean']:.1f} %, is {words} the control's, {moved['mean']:.1f} %."
