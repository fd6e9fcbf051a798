"""`HarmonicaSearchCV`: Harmonica over the parameters of an estimator, in the form of `RandomizedSearchCV`.

Fitting, scoring, joblib, metadata routing and refit are scikit-learn's own; what is tried next is ours.
"""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import partial
from math import inf
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import is_classifier
from sklearn.model_selection._search import BaseSearchCV
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _num_samples

from overtone.adapters.sklearn.candidates import Candidates
from overtone.adapters.sklearn.resources import DATA, Resources
from overtone.adapters.sklearn.rounds import Rounds, best_index, task
from overtone.errors import InputError
from overtone.optimizers.halving import Hyperband, SuccessiveHalving
from overtone.optimizers.harmonica import Harmonica
from overtone.optimizers.local_search import LocalSearch
from overtone.optimizers.stage import Stage
from overtone.optimizers.trial import Base, full_budget
from overtone.report.importance import importance_of
from overtone.running.record import History
from overtone.space import Parameter, Space
from overtone.tuning import ENDLESS, Recipe

if not hasattr(BaseSearchCV, "_check_input_parameters"):  # then a search cannot see its folds
    raise ImportError("HarmonicaSearchCV needs scikit-learn 1.9 or newer: pip install -U scikit-learn")

ROWS = 2  # of each class in each fold, at least: scikit-learn's rule for the fewest samples


class HarmonicaSearchCV(BaseSearchCV):  # type: ignore[misc]
    """Stages that learn from uniform candidates which parameters matter, then a base on what they leave open.

    estimator, scoring, n_jobs, refit, cv, verbose, pre_dispatch, error_score, return_train_score: as of
        `RandomizedSearchCV`. With several scores, the search goes by the one that `refit` names, or by the first.
        All candidates see the same folds, even if `cv` shuffles without a seed.
    param_distributions: a `Space`, or a dict of lists, of parameters as `real(low, high)`, or of scipy's uniform,
        loguniform and randint; or a list of such dicts.
    n_iter: candidates in all, a quarter of them for the base; automatic: four times those of a stage.
    n_stages, stage_candidates: q, T of the paper, automatic from `n_iter`. sparsity, degree, l1_penalty, n_minimizers:
        as of `Harmonica`.
    base: what searches after the stages. None: local search, or "halving" if there is a resource; "hyperband", whose
        number of candidates follows from the resources; or any (space, seed) -> Optimizer, which ends at `n_iter` or
        when it is done, and whose budget 1 is `min_resources_`.
    resource, factor, min_resources, max_resources: as of `HalvingRandomSearchCV`. None: no halving.
    stage_resources: what the candidates of the stages get; automatic: as many as the last ones of the base.
    random_state: the same number gives the same search, for any `n_jobs`.

    After `fit`, besides what `RandomizedSearchCV` has:
    history_: every trial, for `overtone.report` (None if nothing varies). stages_: what each stage found, of scores
        with the other sign. importance_: rows (stage, parameter, first, total) for `pandas.DataFrame`.
    With a resource: min_resources_, max_resources_, n_resources_, n_candidates_, n_iterations_, and the columns `iter`
        and `n_resources` of cv_results_; the best is the best of those with the most resources.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseSearchCV._parameter_constraints,
        "param_distributions": [dict, list, Space],
        "n_iter": [Interval(Integral, 1, None, closed="left"), None],
        "n_stages": [Interval(Integral, 0, None, closed="left"), None],
        "stage_candidates": [Interval(Integral, 1, None, closed="left"), None],
        "sparsity": [Interval(Integral, 1, None, closed="left"), None],
        "degree": [Interval(Integral, 1, None, closed="left"), None],
        "l1_penalty": [Interval(Real, 0, None, closed="left"), None],
        "n_minimizers": [Interval(Integral, 1, None, closed="left"), None],
        "base": [StrOptions({"halving", "hyperband"}), callable, None],
        "resource": [str, None],
        "factor": [Interval(Integral, 2, None, closed="left")],
        "min_resources": [Interval(Integral, 0, None, closed="neither"), StrOptions({"exhaust", "smallest"})],
        "max_resources": [Interval(Integral, 0, None, closed="neither"), StrOptions({"auto"})],
        "stage_resources": [Interval(Integral, 0, None, closed="neither"), None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        estimator: Any,
        param_distributions: Mapping[str, Any] | Space,
        *,
        n_iter: int | None = None,
        n_stages: int | None = None,
        stage_candidates: int | None = None,
        sparsity: int | None = None,
        degree: int | None = None,
        l1_penalty: float | None = None,
        n_minimizers: int | None = None,
        base: str | Base | None = None,
        resource: str | None = None,
        factor: int = 3,
        min_resources: int | str = "exhaust",
        max_resources: int | str = "auto",
        stage_resources: int | None = None,
        scoring: Any = None,
        n_jobs: int | None = None,
        refit: bool | str | Callable[..., Any] = True,
        cv: Any = None,
        verbose: int = 0,
        pre_dispatch: int | str = "2*n_jobs",
        random_state: Any = None,
        error_score: float | str = np.nan,
        return_train_score: bool = False,
    ) -> None:
        super().__init__(
            estimator,
            scoring=scoring,
            n_jobs=n_jobs,
            refit=refit,
            cv=cv,
            verbose=verbose,
            pre_dispatch=pre_dispatch,
            error_score=error_score,
            return_train_score=return_train_score,
        )
        self.param_distributions = param_distributions
        self.n_iter = n_iter
        self.n_stages = n_stages
        self.stage_candidates = stage_candidates
        self.sparsity = sparsity
        self.degree = degree
        self.l1_penalty = l1_penalty
        self.n_minimizers = n_minimizers
        self.base = base
        self.resource = resource
        self.factor = factor
        self.min_resources = min_resources
        self.max_resources = max_resources
        self.stage_resources = stage_resources
        self.random_state = random_state

    # ---- what scikit-learn calls ----

    def fit(self, X: Any, y: Any = None, **params: Any) -> "HarmonicaSearchCV":
        """Search, then fit the best candidate to all data; arguments as of `RandomizedSearchCV.fit`."""
        self._n_rows: int = _num_samples(X)
        counts = self.resource == DATA and isinstance(self.min_resources, str) and is_classifier(self.estimator)
        self._n_classes = len(np.unique(np.asarray(y))) if counts else 1
        super().fit(X, y, **params)
        return self

    def _run_search(self, evaluate_candidates: Callable[..., dict[str, Any]], *, callback_ctx: Any = None) -> None:
        """Rounds of candidates, as the stages and the base ask for them."""
        candidates, seed = Candidates.of(self.param_distributions), _seed(self.random_state)
        recipe, total = self._recipe(candidates.space)
        resources = self._resources(max(1, total - recipe.n_samples * recipe.n_stages))
        self._check_searched(candidates.names)
        with task(self, callback_ctx, "search", max_subtasks=None) as context:
            rounds = Rounds(self, evaluate_candidates, candidates, resources, self._n_rows, seed, context)
            if candidates.space is None:
                rounds.outcomes([{}], 0 if resources is None else resources.largest)
                self.history_: Any = None  # else a History: the usual case, so that users need not ask
            else:
                self.history_ = self._searched(rounds, candidates.space, recipe, total)
        rounds.warn()
        if resources is not None:
            self.n_candidates_, self.n_resources_ = map(list, zip(*rounds.sizes, strict=True))
            self.n_iterations_ = len(rounds.sizes)

    def _format_results(self, *args: Any, **kwargs: Any) -> Any:
        """After each round of all rounds so far: what it warns of is said once, in the end."""
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="One or more of the", category=UserWarning)
            return super()._format_results(*args, **kwargs)

    @staticmethod
    def _select_best_index(refit: Any, refit_metric: str, results: dict[str, Any]) -> Any:
        """As for every search, but among the candidates with the most resources."""
        if callable(refit):
            return BaseSearchCV._select_best_index(refit, refit_metric, results)
        return best_index(refit_metric, results)

    # ---- what was learned ----

    @property
    def stages_(self) -> tuple[Stage, ...]:
        """What each stage found and fixed."""
        return () if self.history_ is None else tuple(self.history_.stages)

    @property
    def importance_(self) -> list[dict[str, Any]]:
        """Which parameters matter, alone (`first`) and also with others (`total`): Sobol indices, a row a parameter."""
        return [] if self.history_ is None else [asdict(row) for row in importance_of(self.history_)]

    # ---- Harmonica ----

    def _recipe(self, space: Space | None) -> tuple[Recipe, int]:
        """How many candidates a stage has, how many stages there are, and how many candidates in all."""
        automatic = Recipe.automatic(space or Space({"nothing": _NOTHING}), self.n_iter)
        recipe = Recipe(
            self.stage_candidates or automatic.n_samples,
            automatic.n_stages if self.n_stages is None else int(self.n_stages),
        )
        return recipe, self.n_iter or recipe.n_evaluations or automatic.n_evaluations

    def _searched(self, rounds: Rounds, space: Space, recipe: Recipe, total: int) -> History:
        resources = rounds.resources
        budget = None if resources is None or self.stage_resources is None else resources.budget(self.stage_resources)
        base, most = self._base(resources, recipe, total)
        optimizer = Harmonica(
            space,
            rounds.seed,
            n_stages=recipe.n_stages,
            n_samples=recipe.n_samples,
            sparsity=self.sparsity,
            degree=self.degree,
            l1_penalty=self.l1_penalty,
            n_minimizers=self.n_minimizers,
            base=base,
            budget=budget,
        )
        records = tuple(rounds.run(optimizer, most))
        settings = {"seed": rounds.seed, "full_budget": full_budget(optimizer), "optimizer": "HarmonicaSearchCV"}
        return History(space, records, tuple(optimizer.stages), "maximize", settings=settings, stopped="it is done")

    def _base(self, resources: Resources | None, recipe: Recipe, total: int) -> tuple[Base, float]:
        """What searches after the stages, and how many trials there may be in all."""
        if callable(self.base):
            return self.base, self.n_iter or inf
        if resources is None:
            return partial(LocalSearch, n_evaluations=ENDLESS), total
        if self.base == "hyperband":
            return partial(Hyperband, max_budget=resources.max_budget, eta=self.factor), inf
        n = max(1, total - recipe.n_samples * recipe.n_stages)
        return partial(SuccessiveHalving, n_configurations=n, max_budget=resources.max_budget, eta=self.factor), inf

    # ---- resources ----

    def _resources(self, n: int) -> Resources | None:
        """What there is, and what "exhaust" means for a halving that starts with n candidates."""
        if self.resource is None:
            if self.base in ("halving", "hyperband"):
                raise InputError(f"`base={self.base!r}` needs a resource, but there is none: set it to 'n_samples'")
            return None
        if self.resource != DATA and self.resource not in self.estimator.get_params():
            raise InputError(
                f"Cannot use resource={self.resource} which is not supported by estimator "
                f"{type(self.estimator).__name__}: use 'n_samples', or one of its parameters"
            )
        resources = Resources(self.resource, self._smallest(), self._largest())
        if self.min_resources == "exhaust" and self.base in (None, "halving"):
            resources = resources.exhausted(n, self.factor)
        if self.stage_resources is not None and self.stage_resources > resources.largest:
            raise InputError(
                f"`stage_resources <= max_resources_` must hold, but they are {self.stage_resources} and "
                f"{resources.largest}"
            )
        self.min_resources_, self.max_resources_ = resources.smallest, resources.largest
        return resources

    def _smallest(self) -> int:
        """As scikit-learn: two rows of each class in each fold; or one of another resource."""
        if not isinstance(self.min_resources, str):
            return int(self.min_resources)
        return int(self.n_splits_) * ROWS * self._n_classes if self.resource == DATA else 1

    def _largest(self) -> int:
        if not isinstance(self.max_resources, str):
            return min(int(self.max_resources), self._n_rows) if self.resource == DATA else int(self.max_resources)
        if self.resource != DATA:
            raise InputError(
                f"resource can only be 'n_samples' when max_resources='auto', but it is {self.resource!r}: "
                "give the most that a candidate may get as `max_resources`"
            )
        return self._n_rows

    def _check_searched(self, names: set[str]) -> None:
        if self.resource in names:
            raise InputError(
                f"Cannot use parameter {self.resource} as the resource since it is part of the searched parameters: "
                "leave it out of `param_distributions`"
            )


_NOTHING = Parameter((False, True), "binary")  # stands for a space without parameters, whose recipe does not matter


def _seed(random_state: Any) -> int:
    """A number is the seed itself, as of all our optimizers."""
    if isinstance(random_state, Integral):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))
