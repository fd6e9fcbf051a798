"""Who takes part, and where not: a slow peer plays where it ends in time, and the table shows a dash elsewhere."""

from collections.abc import Callable
from functools import partial
from importlib.util import find_spec

from benchmarks.search import classics, ours
from benchmarks.search.hyperopt_peer import Hyperopt
from benchmarks.search.nevergrad_peer import nevergrad
from benchmarks.search.optuna_peer import optuna_gp, optuna_tpe
from benchmarks.search.player import Contestant, Mode, Script, Scripted
from benchmarks.search.problem import Problem
from benchmarks.search.smac_peer import Smac

SMALL = ("planted n=30 s=12 noise 0%", "Ising sparsification", "lzma filters, bytes", "SQLite indexes, steps")
SMALLEST = ("Ising sparsification", "lzma filters, bytes")
GP_MOST, SMAC_MOST = 50, 100  # evaluations of the slowest peers: a hundred take half a minute or a minute
ONE_BY_ONE: tuple[Mode, ...] = ("one at a time",)
TPE_N = 130  # units up to which the peers with a density for each parameter end in time


def _scripted(script: Callable[[Problem, int, int], Script]) -> Callable[[Problem, int, int], Scripted]:
    return lambda problem, seed, W: Scripted(script(problem, seed, W))


def _fast_only(problem: Problem) -> str:
    return "an evaluation takes too long" if problem.is_slow else ""


def _few_units(problem: Problem) -> str:
    return f"more than {TPE_N} units: too slow" if problem.n > TPE_N else ""


def _few_and_fast(problem: Problem) -> str:
    return _few_units(problem) or _fast_only(problem)


def _small(problem: Problem) -> str:
    return "" if problem.name in SMALL else f"too slow: plays on {len(SMALL)} small problems"


def _smallest(problem: Problem) -> str:
    return "" if problem.name in SMALLEST else f"too slow: plays on {len(SMALLEST)} small problems"


def _with_budgets(problem: Problem) -> str:
    return "" if problem.full_budget is not None else "no budgets"


def _switches(problem: Problem) -> str:
    is_switch = all(p.levels == (False, True) and not p.when for p in problem.space.parameters.values())
    return "" if is_switch and not problem.space.forbid else "not only on/off parameters"


CONTESTANTS: dict[str, Contestant] = {
    contestant.name: contestant
    for contestant in (
        Contestant("overtone (automatic)", ours.automatic, "`ot.minimize` with nothing set", any_mode=True),
        Contestant(
            "spectral descent (batch=W)",
            ours.spectral_descent_filling,
            f"100 in flight: batch=100; one at a time: batch={ours.SEQUENTIAL_BATCH}",
        ),
        Contestant(
            "local search", ours.local_search, "Overtone's: all neighbors, then the better changes together; restarts"
        ),
        Contestant("random search", partial(ours.random_search, 1), "uniform, none twice", any_mode=True),
        Contestant(
            "random search 2x",
            partial(ours.random_search, 2),
            "twice the evaluations; not where an evaluation is slow",
            factor=2,
            any_mode=True,
            skips=_fast_only,
        ),
        Contestant(
            "random search 8x",
            partial(ours.random_search, 8),
            "eight times the evaluations; not where an evaluation is slow",
            factor=8,
            any_mode=True,
            skips=_fast_only,
        ),
        Contestant(
            "hill climbing",
            _scripted(classics.hill_climbing),
            "first improvement in random order, restarts; 100 in flight: the best of 100 changes of one or two",
        ),
        Contestant(
            "annealing",
            _scripted(classics.annealing),
            "first temperature: deviation of the first samples; geometric cooling to a thousandth",
        ),
        Contestant(
            "combined elimination",
            _scripted(classics.combined_elimination),
            "on/off parameters only, from all on; where on and off mean nothing, a coin says which is on",
            any_mode=True,
            skips=_switches,
        ),
        Contestant(
            "Harmonica-1 (paper)",
            partial(ours.paper, 1, 0.5),
            "s=5, d=3, t=4, one stage with half of the evaluations, then random search",
            any_mode=True,
        ),
        Contestant(
            "Harmonica-3 (paper)",
            partial(ours.paper, 3, 0.75),
            "s=5, d=3, t=4, three stages with a quarter of the evaluations each, then random search",
            any_mode=True,
        ),
        Contestant(
            "Harmonica-3 + Hyperband (paper)",
            ours.paper_hyperband,
            "stages at a third of the full budget, then Hyperband",
            skips=_with_budgets,
        ),
        Contestant("successive halving", ours.halving, "one bracket, eta=3", skips=_with_budgets),
        Contestant("Hyperband", ours.hyperband, "eta=3, again and again", skips=_with_budgets),
        Contestant(
            "Optuna TPE",
            optuna_tpe(multivariate=True),
            "the default of Optuna 5: multivariate, constant liar",
            skips=_few_units,
            package="optuna",
        ),
        Contestant(
            "Optuna TPE (independent)",
            optuna_tpe(multivariate=False),
            "multivariate=False, constant liar",
            skips=_small,
            package="optuna",
        ),
        Contestant(
            "Optuna GP",
            optuna_gp,
            f"GPSampler; the first {GP_MOST} evaluations only, then it keeps its answer; one at a time only",
            most=GP_MOST,
            modes=ONE_BY_ONE,
            skips=_smallest,
            package="optuna",
        ),
        Contestant("Nevergrad NGOpt", nevergrad("NGOpt"), "num_workers=W", skips=_few_and_fast, package="nevergrad"),
        Contestant(
            "Nevergrad (1+1)",
            nevergrad("DiscreteOnePlusOne"),
            "DiscreteOnePlusOne, num_workers=W",
            skips=_few_units,
            package="nevergrad",
        ),
        Contestant("Hyperopt TPE", Hyperopt, "tpe.suggest", skips=_small, package="hyperopt"),
        Contestant(
            "SMAC3",
            Smac,
            f"HyperparameterOptimizationFacade (random forest); the first {SMAC_MOST} evaluations, one at a time only",
            most=SMAC_MOST,
            modes=ONE_BY_ONE,
            skips=_smallest,
            package="smac",
        ),
    )
}


def missing(contestant: Contestant) -> str:
    """Why it cannot take part on this machine; nothing if it can."""
    return "" if find_spec(contestant.package) else f"{contestant.package} is not installed: `make contest` does it"
