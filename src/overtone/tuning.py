"""`minimize`: tune a Python function on any number of workers, and `Result`: what came of it."""

import logging
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

from overtone import report
from overtone.errors import InputError, RunFailed
from overtone.optimizers.automatic import Automatic
from overtone.optimizers.given import Given, GivenFirst, checked_config
from overtone.optimizers.harmonica import Harmonica, automatic_samples
from overtone.optimizers.local_search import LocalSearch
from overtone.optimizers.stage import Stage
from overtone.optimizers.trial import Base, Optimizer, check_whole, full_budget
from overtone.running.evaluation import Objective
from overtone.running.ledger import Ledger, MemoryLedger, open_ledger
from overtone.running.limits import Limits
from overtone.running.progress import Progress, make_progress
from overtone.running.record import Goal, History, Record
from overtone.running.runner import run
from overtone.running.workers import InProcess, Workers
from overtone.space import Config, Space
from overtone.space import Value as Level

logger = logging.getLogger(__name__)
STAGES_WORTH = 4  # evaluations in all if nobody says, in samples of a stage of Harmonica
N_STAGES = 3
BASE_SHARE = 0.25  # of the evaluations, for the base optimizer
ENDLESS = 10**9  # evaluations of a base that the run's own limit ends


@dataclass(frozen=True)
class Best:
    """The best configuration seen."""

    config: Config
    value: float
    number: int  # of its trial


@dataclass(frozen=True)
class Result:
    """What came of a run."""

    history: History

    @property
    def best(self) -> Best:
        """The best value at the largest budget."""
        record = self.history.best
        if record is None or record.outcome.value is None:
            raise RunFailed("there must be a trial with a value to be the best, but none has one so far")
        return Best(dict(record.trial.config), record.outcome.value, record.trial.number)

    @property
    def trials(self) -> Sequence[Record]:
        """Every trial that came back, with its outcome, by number."""
        return self.history.records

    @property
    def stages(self) -> Sequence[Stage]:
        """What the stages of Harmonica found."""
        return self.history.stages

    @property
    def stopped(self) -> str:
        """Why the run ended."""
        return self.history.stopped

    def report(self, path: str | os.PathLike[str] | None = None) -> str:
        """The report as text; with a path, also as one self-contained HTML page there."""
        if path is not None:
            report.save(self.history, Path(path))
        return report.text(self.history)

    def tables(self) -> dict[str, list[dict[str, Any]]]:
        """The report as plain tables, each ready for pandas.DataFrame."""
        return report.tables(self.history)

    def figures(self) -> dict[str, Any]:
        """The report's plots as plotly figures, for notebooks."""
        return report.figures(self.history)


def minimize(
    objective: Objective,
    space: Space,
    *,
    n_evaluations: int | None = None,
    n_workers: int | None = None,
    optimizer: Base | None = None,
    executor: Executor | None = None,
    ledger: str | os.PathLike[str] | Ledger | None = None,
    seed: int = 0,
    timeout: float | None = None,
    memory: int | None = None,
    retries: int = 1,
    seconds: float | None = None,
    target: float | None = None,
    default: Mapping[str, Level] | None = None,
    goal: Goal = "minimize",
    progress: bool | Progress = True,
    settings: Mapping[str, Any] | None = None,
) -> Result:
    """Find the configuration of the lowest value of `objective(config)`, or of `objective(config, budget)`.

    n_evaluations: trials in all; automatic: four times the samples of a stage. n_workers: processes; automatic: one a
    core. With one and no `timeout` or `memory` it runs in this process. optimizer: (space, seed) -> an optimizer, as
    `Hyperband` or `partial(Harmonica, n_samples=100)`. executor: any of `concurrent.futures`, then with `n_workers`
    trials at a time. ledger: a file, or postgresql://..., that keeps everything; run again with it to go on. timeout,
    seconds: of a trial, of the run. memory: bytes a trial may use. default: what is used today, evaluated first.
    settings: notes for the ledger.
    """
    _check_kinds(objective, space, optimizer, executor, goal)
    if not isinstance(progress, bool) and not hasattr(progress, "update"):
        raise InputError(f"`progress` must be True, False or a Progress, but got {progress!r}")
    with ExitStack() as stack:
        kept = _opened(ledger, stack)
        recipe = None if optimizer else _recipe(kept) or automatic_recipe(space, n_evaluations)
        make, usual = (optimizer, None) if optimizer else _cooked(recipe or {})
        most = usual if n_evaluations is None else n_evaluations
        optimizing = make(space, seed)
        started, today = _after_default(optimizing, space, default)
        workers, n = _workers(executor, n_workers, timeout, memory, stack)
        _say_who_waits(optimizing, n)
        about = {"seed": seed, "optimizer": described(make), "objective": described(objective)}
        history = run(
            started,
            objective,
            space=space,
            executor=workers,
            n_workers=n,
            ledger=kept,
            limits=Limits(most, seconds, target),
            retries=retries,
            goal=goal,
            default=today,
            settings={
                **about,
                "full_budget": full_budget(optimizing),
                "n_workers": n,
                "recipe": recipe,
                "version": version("overtone"),
                **(settings or {}),
            },
            progress=make_progress(progress) if isinstance(progress, bool) else progress,
        )
    return Result(history)


def _check_kinds(objective: object, space: object, optimizer: object, executor: object, goal: object) -> None:
    """What would else be noticed late, or not at all."""
    if not callable(objective):
        raise InputError(f"the objective must be a function of a configuration, but got {objective!r}")
    if not isinstance(space, Space):
        raise InputError(f"`space` must be a Space, but got {space!r}: write Space({{'name': boolean(), ...}})")
    if optimizer is not None and not callable(optimizer):
        raise InputError(
            f"`optimizer` must be what makes one, (space, seed) -> optimizer, but got {optimizer!r}: "
            "write RandomSearch, or partial(RandomSearch, n_evaluations=100)"
        )
    if executor is not None and not isinstance(executor, Executor):
        raise InputError(f"`executor` must be an Executor of concurrent.futures, but got {executor!r}")
    if goal not in ("minimize", "maximize"):
        raise InputError(f"`goal` must be 'minimize' or 'maximize', but got {goal!r}")


@dataclass(frozen=True)
class Recipe:
    """How Harmonica spends evaluations when nobody says: stages of samples first, local search on what is left."""

    n_samples: int
    n_stages: int

    @classmethod
    def automatic(cls, space: Space, n_evaluations: int | None) -> "Recipe":
        """Three stages and a quarter for the base; with few evaluations fewer stages, with many larger ones."""
        T = automatic_samples(space)
        if n_evaluations is None:
            return cls(T, N_STAGES)
        left = round((1 - BASE_SHARE) * check_whole("n_evaluations", n_evaluations))
        n_stages = min(N_STAGES, max(1, left // T))
        return cls(max(1, left // n_stages), n_stages)

    def optimizer(self) -> Base:
        """(space, seed) -> Harmonica with these settings."""
        base = partial(LocalSearch, n_evaluations=ENDLESS)
        return partial(Harmonica, n_samples=self.n_samples, n_stages=self.n_stages, base=base)

    @property
    def n_evaluations(self) -> int:
        """In all, if nobody says."""
        return round(self.n_samples * self.n_stages / (1 - BASE_SHARE))


def automatic_recipe(space: Space, n_evaluations: int | None) -> dict[str, int]:
    """What `minimize` does if nobody says, as plain data: so many evaluations of `Automatic`."""
    if n_evaluations is not None:
        return {"n_evaluations": check_whole("n_evaluations", n_evaluations)}
    return {"n_evaluations": STAGES_WORTH * automatic_samples(space)}


def _recipe(ledger: Ledger) -> dict[str, int] | None:
    """The one that a run was started with: it goes on with that, however many evaluations there are now."""
    start = next(iter(ledger.read()), None)
    known: dict[str, int] | None = None if start is None else start["settings"].get("recipe")
    return known


def _cooked(recipe: Mapping[str, int]) -> tuple[Base, int]:
    """(space, seed) -> what the recipe says, and how many evaluations it is made for."""
    if "n_samples" in recipe:  # of a time before spectral descent
        stages = Recipe(**recipe)
        return stages.optimizer(), stages.n_evaluations
    return partial(Automatic, n_evaluations=recipe["n_evaluations"], goes_on=True), recipe["n_evaluations"]


def _say_who_waits(optimizer: Optimizer, n_workers: int) -> None:
    """The answer is the same for any number of workers, so a round is no larger than the budget makes it."""
    batch = getattr(optimizer, "batch", n_workers)
    if n_workers > batch:
        logger.warning(
            "%d workers, but %s asks for %d trials at a time: the others wait. More evaluations make larger rounds; "
            "or choose them yourself, by optimizer=partial(SpectralDescent, n_evaluations=..., batch=...)",
            n_workers,
            type(optimizer).__name__,
            batch,
        )


def _after_default(
    optimizer: Optimizer, space: Space, default: Mapping[str, Level] | None
) -> tuple[Optimizer, Config | None]:
    if default is None:
        return optimizer, None
    config = checked_config(space, default)
    return GivenFirst(Given(space, [config], budget=full_budget(optimizer)), optimizer), config


def _opened(ledger: str | os.PathLike[str] | Ledger | None, stack: ExitStack) -> Ledger:
    """A ledger to append to; one that is opened here is closed in the end."""
    if ledger is None:
        return MemoryLedger()
    if isinstance(ledger, str | os.PathLike):
        opened = open_ledger(ledger)
        stack.callback(opened.close)
        return opened
    if not hasattr(ledger, "append") or not hasattr(ledger, "read"):
        raise InputError(f"`ledger` must be a path or a Ledger, or a text like postgresql://..., but got {ledger!r}")
    return ledger


def _workers(
    executor: Executor | None, n_workers: int | None, timeout: float | None, memory: int | None, stack: ExitStack
) -> tuple[Executor, int]:
    """Where trials are evaluated, and how many at a time."""
    n = cores() if n_workers is None else check_whole("n_workers", n_workers)
    if executor is not None:
        if timeout is not None or memory is not None:
            raise InputError(
                "`timeout` and `memory` are kept by Overtone's own workers, but an `executor` came, too: "
                "leave out one or the other, or set the limits in the executor"
            )
        return executor, n
    if n == 1 and timeout is None and memory is None:
        return InProcess(), 1
    return stack.enter_context(Workers(n, timeout=timeout, memory=memory)), n


def cores() -> int:
    """Those that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def described(function: Any) -> str:
    """A function and its settings as text, the same in every process: no addresses."""
    if isinstance(function, partial):
        parts = [*map(described, function.args), *(f"{k}={described(v)}" for k, v in function.keywords.items())]
        return f"{described(function.func)}({', '.join(parts)})"
    if callable(function):
        name = getattr(function, "__qualname__", type(function).__qualname__)
        return str(name).rpartition("<locals>.")[2]
    return repr(function)
