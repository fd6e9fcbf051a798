"""scikit-learn's own tests of its searches, with `HarmonicaSearchCV` in the place of what they test."""

import importlib.util
import itertools
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import sklearn.model_selection
from sklearn.experimental import enable_halving_search_cv  # noqa: F401

from overtone.adapters.sklearn import HarmonicaSearchCV
from overtone.optimizers.given import Given
from overtone.optimizers.halving import halving_schedule
from overtone.space import Space

# They have the names and the signatures of scikit-learn's classes, because tests look at both.


def in_order(space: Space, seed: int) -> Given:  # noqa: ARG001 - a base has a seed
    """All of a space without continuous parameters, in the order of scikit-learn's grids: by name, the last fastest."""
    names = sorted(space.parameters)
    levels = itertools.product(*(space.parameters[name].levels for name in names))
    return Given(space, [dict(zip(names, each, strict=True)) for each in levels])


class GridSearchCV(HarmonicaSearchCV):
    """No stages, and a base that tries all: tests of grids look at the order of candidates."""

    def __init__(
        self,
        estimator: Any,
        param_grid: Any,
        *,
        scoring: Any = None,
        n_jobs: Any = None,
        refit: Any = True,
        cv: Any = None,
        verbose: Any = 0,
        pre_dispatch: Any = "2*n_jobs",
        error_score: Any = np.nan,
        return_train_score: Any = False,
    ) -> None:
        super().__init__(
            estimator,
            param_grid,
            n_stages=0,
            base=in_order,
            scoring=scoring,
            n_jobs=n_jobs,
            refit=refit,
            cv=cv,
            verbose=verbose,
            pre_dispatch=pre_dispatch,
            random_state=0,
            error_score=error_score,
            return_train_score=return_train_score,
        )
        self.param_grid = param_grid


class RandomizedSearchCV(HarmonicaSearchCV):
    """The same arguments, but not ours."""

    def __init__(
        self,
        estimator: Any,
        param_distributions: Any,
        *,
        n_iter: Any = 10,
        scoring: Any = None,
        n_jobs: Any = None,
        refit: Any = True,
        cv: Any = None,
        verbose: Any = 0,
        pre_dispatch: Any = "2*n_jobs",
        random_state: Any = None,
        error_score: Any = np.nan,
        return_train_score: Any = False,
    ) -> None:
        super().__init__(
            estimator,
            param_distributions,
            n_iter=n_iter,
            scoring=scoring,
            n_jobs=n_jobs,
            refit=refit,
            cv=cv,
            verbose=verbose,
            pre_dispatch=pre_dispatch,
            random_state=0 if random_state is None else random_state,
            error_score=error_score,
            return_train_score=return_train_score,
        )


class HalvingRandomSearchCV(HarmonicaSearchCV):
    """Without stages: our successive halving alone."""

    def __init__(
        self,
        estimator: Any,
        param_distributions: Any,
        *,
        n_candidates: Any = "exhaust",
        factor: Any = 3,
        resource: Any = "n_samples",
        max_resources: Any = "auto",
        min_resources: Any = "smallest",
        aggressive_elimination: Any = False,
        cv: Any = 5,
        scoring: Any = None,
        refit: Any = True,
        error_score: Any = np.nan,
        return_train_score: Any = True,
        random_state: Any = None,
        n_jobs: Any = None,
        verbose: Any = 0,
    ) -> None:
        super().__init__(
            estimator,
            param_distributions,
            n_iter=None if n_candidates == "exhaust" else n_candidates,
            n_stages=0,
            factor=factor,
            resource=resource,
            max_resources=max_resources,
            min_resources=min_resources,
            cv=cv,
            scoring=scoring,
            refit=refit,
            error_score=error_score,
            return_train_score=return_train_score,
            random_state=0 if random_state is None else random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.n_candidates = n_candidates
        self.aggressive_elimination = aggressive_elimination  # ours has none: tests with it do not apply

    def _run_search(self, evaluate_candidates: Callable[..., dict[str, Any]], *, callback_ctx: Any = None) -> None:
        if self.n_candidates != "exhaust":  # set by set_params, after __init__
            self.n_iter = self.n_candidates
        super()._run_search(evaluate_candidates, callback_ctx=callback_ctx)

    @property
    def n_required_iterations_(self) -> int:
        """Until few are left."""
        return len(halving_schedule(self.n_candidates_[0], 1.0, self.factor, np.inf))

    @property
    def n_possible_iterations_(self) -> int:
        """Until the resources end."""
        most = self.max_resources_ / self.min_resources_
        return len(halving_schedule(10**9, 1.0, self.factor, most))


class HalvingGridSearchCV(HalvingRandomSearchCV):
    """Starts with the whole grid."""

    def __init__(
        self,
        estimator: Any,
        param_grid: Any,
        *,
        factor: Any = 3,
        resource: Any = "n_samples",
        max_resources: Any = "auto",
        min_resources: Any = "exhaust",
        aggressive_elimination: Any = False,
        cv: Any = 5,
        scoring: Any = None,
        refit: Any = True,
        error_score: Any = np.nan,
        return_train_score: Any = True,
        random_state: Any = None,
        n_jobs: Any = None,
        verbose: Any = 0,
    ) -> None:
        super().__init__(
            estimator,
            param_grid,
            aggressive_elimination=aggressive_elimination,
            n_candidates=int(np.prod([len(values) for values in param_grid.values()])),
            factor=factor,
            resource=resource,
            max_resources=max_resources,
            min_resources=min_resources,
            cv=cv,
            scoring=scoring,
            refit=refit,
            error_score=error_score,
            return_train_score=return_train_score,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.param_grid = param_grid


OURS = (GridSearchCV, RandomizedSearchCV, HalvingRandomSearchCV, HalvingGridSearchCV)


def with_ours(name: str) -> ModuleType:
    """A copy of a module of scikit-learn's tests that imports our classes under the names of scikit-learn's."""
    spec = importlib.util.find_spec(name)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    module.__name__ = f"{name}_with_ours"  # so that what is defined there can be pickled
    sys.modules[module.__name__] = module
    with pytest.MonkeyPatch.context() as patch:
        for each in OURS:
            patch.setattr(sklearn.model_selection, each.__name__, each)
        spec.loader.exec_module(module)
    return module


def suite(module: ModuleType) -> dict[str, Any]:
    """By name."""
    return {name: test for name, test in vars(module).items() if name.startswith("test_") and callable(test)}


def only(test: Any, names: str, wanted: Callable[[Any], bool]) -> Any:
    """A test with some of its cases: `names` is the parametrization that they are of."""
    test.pytestmark = [
        pytest.mark.parametrize(names, list(filter(wanted, mark.args[1]))).mark if mark.args[:1] == (names,) else mark
        for mark in test.pytestmark
    ]
    return test
