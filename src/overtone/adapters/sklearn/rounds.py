"""`Rounds`: an optimizer of ours, with scikit-learn's own function that fits and scores candidates as its objective."""

import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any

import numpy as np
from sklearn.exceptions import FitFailedWarning

from overtone.adapters.sklearn.candidates import Candidates
from overtone.adapters.sklearn.resources import DATA, Once, Resources
from overtone.errors import InputError
from overtone.optimizers.sampling import key
from overtone.optimizers.trial import Optimizer, Trial, finite, full_budget
from overtone.running.record import Outcome, Record
from overtone.space import Config

MANY = 1000  # candidates of a round, at most
IDLE = 1000  # trials without a new candidate, after which there are no more
FAILED = "a fit or its score failed: see the warnings, or set error_score='raise'"
ALL_FAILED = "All the "  # how scikit-learn's refusal of a round without any fit begins


@dataclass
class Rounds:
    """Evaluates candidates, as many at a time as the optimizer gives, and each of them once."""

    search: Any  # the estimator, for its settings and for callbacks
    evaluate: Callable[..., dict[str, Any]]  # (candidates, cv, more_results) -> cv_results_ of all candidates so far
    candidates: Candidates
    resources: Resources | None
    n_rows: int
    seed: int
    context: Any = None  # scikit-learn's, for callbacks; None before 1.9
    sizes: list[tuple[int, int]] = field(default_factory=list)  # (candidates, resources) of each round
    _known: dict[object, Outcome] = field(default_factory=dict)
    _results: dict[str, Any] = field(default_factory=dict)  # `cv_results_` so far
    _cv: Once = field(init=False)

    def __post_init__(self) -> None:
        self._cv = Once(self.search._checked_cv_orig)

    def run(self, optimizer: Optimizer, most: float) -> list[Record]:
        """Until the optimizer is done, or the most candidates were evaluated, or nothing new comes."""
        full = full_budget(optimizer)
        records: list[Record] = []
        idle, n = 0, 0
        while n < most and idle < IDLE and (trials := optimizer.ask(int(min(MANY, most - n)))):
            for budget, same in groupby(trials, key=lambda trial: trial.budget):
                group = list(same)
                for trial, record in zip(group, self._records(group, full if budget is None else budget), strict=True):
                    value = record.outcome.value  # a score: higher is better
                    optimizer.tell(trial, None if value is None else -value)
                    records.append(record)
            idle = idle + len(trials) if len(self._known) == n else 0
            n = len(self._known)
        return records

    def _number(self, budget: float | None) -> int:
        if self.resources is not None:
            return self.resources.number(budget)
        if budget is not None:
            raise InputError(
                "a base must have no budgets unless there is a resource, but it asked for "
                f"{budget=}: set `resource`, e.g. to 'n_samples'"
            )
        return 0

    def _records(self, asked: Sequence[Trial], budget: float | None) -> list[Record]:
        """Those that are known at this number of resources are not evaluated again."""
        n = self._number(budget)
        trials = [replace(trial, config=self.candidates.settled(trial.config)) for trial in asked]
        keys = [(key(trial.config), n) for trial in trials]
        new = {each: trial.config for each, trial in zip(keys, trials, strict=True) if each not in self._known}
        if new:
            self._known.update(zip(new, self.outcomes(list(new.values()), n), strict=True))
        return [Record(trial, self._known[each]) for each, trial in zip(keys, trials, strict=True)]

    def outcomes(self, configs: Sequence[Config], n: int = 0) -> list[Outcome]:
        """One round: each configuration with n resources."""
        params = [self.candidates.params(config) for config in configs]
        cv: Any = self._cv
        more: dict[str, list[int]] = {}
        if self.resources is not None:
            cv = self.resources.splits(cv, n, self.n_rows, self.seed)
            more = {"iter": [len(self.sizes)] * len(params), "n_resources": [n] * len(params)}
            if self.resources.name != DATA:
                params = [{**each, self.resources.name: n} for each in params]
        n_fits = len(params) * self.search.n_splits_
        with task(self.search, self.context, "round", max_subtasks=n_fits, sequential_subtasks=False) as context:
            contexts = {} if context is None else {"callback_ctx": context}
            try:
                self._results = self.evaluate(params, cv, more_results=more, **contexts)
            except ValueError as error:
                if not self.sizes or not str(error).strip().startswith(ALL_FAILED):
                    raise
                warnings.warn(f"{error}\nThese candidates are not in `cv_results_`.", FitFailedWarning, stacklevel=2)
                return [Outcome(None, FAILED)] * len(params)
        self.sizes.append((len(params), n))
        return self._read(self._results, len(params))

    def warn(self) -> None:
        """Scores that are no numbers, as scikit-learn says it after a search of one round."""
        for name, scores in self._results.items():
            known = re.fullmatch("mean_(test|train)_.*", name)
            failed = int(np.sum(~np.isfinite(scores))) if known else 0
            if known and failed:
                text = f"One or more of the {known[1]} scores are non-finite: {failed} of {len(scores)} in `{name}`"
                warnings.warn(text, UserWarning, stacklevel=2)

    def _read(self, results: dict[str, Any], n: int) -> list[Outcome]:
        """The last n candidates."""
        scores = results[f"mean_test_{metric(self.search.refit, results)}"][-n:]
        seconds = self.search.n_splits_ * (results["mean_fit_time"] + results["mean_score_time"])[-n:]
        found = map(finite, scores)
        return [
            Outcome(value, "" if value is not None else FAILED, seconds=float(spent))
            for value, spent in zip(found, seconds, strict=True)
        ]


def metric(refit: Any, results: dict[str, Any]) -> str:
    """The score that is searched by: the one that `refit` names, or the first."""
    prefix = "mean_test_"
    names = [name.removeprefix(prefix) for name in results if name.startswith(prefix)]
    return refit if isinstance(refit, str) and refit in names else names[0]


def best_index(score: str, results: dict[str, Any]) -> int:
    """The best of those with the most resources; scores of different resources do not compare."""
    scores = np.asarray(results[f"mean_test_{score}"], dtype=np.float64)
    ranks = np.asarray(results[f"rank_test_{score}"])
    if "n_resources" in results and np.isfinite(scores).any():
        resources = np.where(np.isfinite(scores), results["n_resources"], 0)
        ranks = np.where(resources == resources.max(), ranks, ranks.max() + 1)
    return int(ranks.argmin())


@contextmanager
def task(search: Any, parent: Any, name: str, **about: Any) -> Iterator[Any]:
    """A task as scikit-learn's callbacks see it; None before 1.9."""
    if parent is None:
        yield None
        return
    context = parent.subcontext(task_name=name, **about).call_on_fit_task_begin(estimator=search)
    yield context
    context.call_on_fit_task_end(estimator=search)
