"""The cases of the simulation: time to the answer and worker use for 1 to 10,000 workers, by seeds."""

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from benchmarks.simulation.contestants import CONTESTANTS, LIVE, OURS, PEERS, REMEDIES, Contestant
from benchmarks.simulation.costs import costs, fit_seconds
from benchmarks.simulation.events import Run, simulate
from benchmarks.simulation.model import Drawn, Trials
from benchmarks.simulation.objective import Objective
from benchmarks.simulation.traces import Follower, record

WORKERS = (1, 3, 10, 30, 100, 300, 1000, 3000, 10_000)
LIVE_WORKERS = (1, 10, 100, 1000)
SPARSITY = {500: 20, 5000: 40}
SCENARIOS = {
    "equal": Trials("equal"),
    "lognormal": Trials("lognormal"),
    "Pareto": Trials("Pareto"),
    "lognormal, failures": Trials("lognormal", crashes=0.05, hangs=0.01, limit=10.0),
    "Pareto, time limit": Trials("Pareto", limit=4.0),
}
MINUTE, SECOND = 60.0, 1.0
TPE_ASK = 25e-3  # seconds: the mean over 500 trials, as in optuna_sampler.json
MOST = 10  # trials of asynchronous halving for each full evaluation: 9, if nothing is promoted
Row = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """Some contestants, on some kinds of trials."""

    evaluations: int
    names: tuple[str, ...]
    scenarios: tuple[str, ...]
    seeds: int
    means: tuple[float, ...] = (MINUTE,)


WHOLE_ROUNDS = tuple(name for name in REMEDIES if "." not in name)
CASES = {
    "main": Case(500, (*OURS, *PEERS), tuple(SCENARIOS), 12),
    "remedies": Case(500, tuple(REMEDIES), ("lognormal", "Pareto"), 12),
    "live": Case(500, ("ASHA",), ("lognormal", "lognormal, failures"), 12),
    "tpe": Case(500, ("Optuna TPE",), ("lognormal",), 3),
    "large": Case(5000, (*OURS, *PEERS), ("lognormal", "Pareto"), 4, (MINUTE, SECOND)),
    "large remedies": Case(5000, WHOLE_ROUNDS, ("lognormal", "Pareto"), 4),
}


def outcomes(case: Case) -> Iterator[Row]:
    """One row for each seed, contestant, kind of trials, number of workers and length of a trial."""
    for seed in range(case.seeds):
        objective = Objective(SPARSITY[case.evaluations], seed)
        for name in case.names:
            known: dict[tuple[float, float, float], Any] = {}  # traces, by what decides which trials fail
            for scenario in case.scenarios:
                trials = SCENARIOS[scenario]
                drawn = trials.drawn((MOST if name in LIVE else 6) * case.evaluations, seed)
                key = trials.crashes, trials.hangs, trials.limit
                run = live if name in LIVE else followed
                yield from run(case, name, objective, drawn, seed, scenario, known.setdefault(key, {}))


def followed(
    case: Case, name: str, objective: Objective, drawn: Drawn, seed: int, scenario: str, known: dict[str, Any]
) -> Iterator[Row]:
    contestant = CONTESTANTS[name]
    if "trace" not in known:
        known["trace"] = recorded(contestant, objective, drawn, seed, case.evaluations)
    trace = known["trace"]
    kind = "spectral descent" if name in REMEDIES else name
    fit = fit_seconds(kind, case.evaluations)
    good = np.flatnonzero(trace.counted & (trace.values <= objective.answer))
    for mean in case.means:
        for n_workers in WORKERS:
            run = simulate(Follower(trace, fit, contestant.n_fits), drawn, n_workers, costs(), mean)
            best = float(trace.values[trace.counted].min() / objective.least)
            yield row(case, name, scenario, seed, n_workers, mean, run, good, best)


def recorded(contestant: Contestant, objective: Objective, drawn: Drawn, seed: int, n: int) -> Any:
    most = 6 * n if contestant.full else n
    measure = partial(objective.measure, full=contestant.full)
    return record(contestant.make(objective.space, seed, n), measure, drawn, most, contestant.full)


def live(
    case: Case, name: str, objective: Objective, drawn: Drawn, seed: int, scenario: str, _: dict[str, Any]
) -> Iterator[Row]:
    for n_workers in LIVE_WORKERS:
        plan = LIVE[name](objective, drawn, case.evaluations, seed)
        asks = replace(costs(), ask=TPE_ASK) if name == "Optuna TPE" else costs()
        run = simulate(plan, drawn, n_workers, asks, MINUTE)
        values, full = np.array(plan.values), np.array(getattr(plan, "work", np.ones(len(plan.values)))) >= 1
        told = full & np.array([not drawn.failed(k) for k in range(len(values))])
        good = np.flatnonzero(told & (values <= objective.answer))
        best = float(values[told].min() / objective.least) if told.any() else 0.0
        yield row(case, name, scenario, seed, n_workers, MINUTE, run, good, best)


def row(
    case: Case, name: str, scenario: str, seed: int, n_workers: int, mean: float, run: Run, good: Any, best: float
) -> Row:
    answer = min((run.ends[int(k)] for k in good), default=math.inf)
    return {
        "evaluations": case.evaluations, "mean": mean, "scenario": scenario, "what": name, "workers": n_workers,
        "seed": seed, "best": best, "answer": answer, "seconds": run.seconds, "use": run.use(n_workers),
        "coordinator": run.working / run.seconds,
    }  # fmt: skip


GROUP = ("evaluations", "mean", "scenario", "what", "workers")


def summarized(rows: Sequence[Row]) -> list[Row]:
    """Quartiles over the seeds; times in means of a trial; None: not reached by that many."""
    groups: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for each in rows:
        groups[tuple(each[name] for name in GROUP)].append(each)
    return [
        dict(zip(GROUP, key, strict=True))
        | {"seeds": len(group), "solved": float(np.mean([math.isfinite(r["answer"]) for r in group]))}
        | {"best": round(float(np.mean([r["best"] for r in group])), 4)}
        | {name: quartiles([r[name] / key[1] for r in group]) for name in ("answer", "seconds")}
        | {name: round(float(np.median([r[name] for r in group])), 4) for name in ("use", "coordinator")}
        for key, group in groups.items()
    ]


def quartiles(values: Sequence[float]) -> list[float | None]:
    found = np.quantile(np.array(values), (0.25, 0.5, 0.75), method="higher")
    return [round(float(x), 3) if math.isfinite(x) else None for x in found]
