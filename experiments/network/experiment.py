"""The whole experiment: stages on the small network, algorithms on the big one, then data and figures."""

import csv
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from experiments.frame import Options, save
from experiments.network.algorithms import Algorithm, again, compared, control, hand_tuned, variants
from experiments.network.data import load
from experiments.network.figures import draw
from experiments.network.findings import degrees, important, problems, stable_ranges
from experiments.network.laboratory import Run, laboratory
from experiments.network.plan import N_STAGES
from overtone import Stage

Row = dict[str, Any]


def run(options: Options) -> None:
    """Trainings that are in the ledgers are not made again. Then network.json, network-samples.csv and the figures."""
    with laboratory(options) as lab:
        samples, stages = lab.learned()
        costs = [sum(each.seconds) for each in samples]
        algorithms = compared(lab, stages, costs)
        moved = Algorithm("Best of the small network", (control(lab, samples[0]),), costs[0])
        others = variants(lab, stages, costs)
        seeds_again = again(lab, [*algorithms, moved, *others])
        epochs = round(lab.full)
        data = {
            "plan": asdict(lab.plan),
            "images": load(options.data).name,
            "layers": [lab.plan.small.n_layers, lab.plan.big.n_layers],
            "stages": [stage.to_dict() for stage in stages],
            "drops": [_drop(each) for each in samples],
            **_found(samples, stages, lab.plan.l1_penalty),
            "algorithms": [each.to_dict(epochs) for each in algorithms],
            "variants": [each.to_dict(epochs) for each in others],
            "control": moved.to_dict(epochs),
            "again": seeds_again,
            "hand": hand_tuned(lab),
        }
        save(options, "network", data, seeds=range(lab.plan.n_seeds))
    _write_samples(options, samples)
    draw(options, data)


def _drop(run: Run) -> Row:
    """Of the errors of a stage's samples."""
    quantiles = np.quantile(run.errors, [0, 0.25, 0.5, 0.75, 1]).tolist()
    return {"mean": float(np.mean(run.errors)), "quantiles": quantiles, "seconds": sum(run.seconds)}


def _found(samples: Sequence[Run], stages: Sequence[Stage], l1_penalty: float) -> Row:
    rows = [{"bits": run.bits, "errors": run.errors} for run in samples]
    each = problems(rows, stages)
    return {
        "features": important(stages),
        "stable": [stable_ranges(problem, l1_penalty) for problem in each[:N_STAGES]],
        "degrees": [degrees(problem, l1_penalty) for problem in each],
    }


def _write_samples(options: Options, samples: Sequence[Run]) -> None:
    """All samples of the stages, so that every fit can be made again."""
    with (options.results / "network-samples.csv").open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["stage", "bits", "error", "seconds"])
        for number, run in enumerate(samples, start=1):
            for bits, error, seconds in zip(run.bits, run.errors, run.seconds, strict=True):
                writer.writerow([number, bits, f"{error:.6g}", f"{seconds:.3f}"])
