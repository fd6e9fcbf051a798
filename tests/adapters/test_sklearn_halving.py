"""Halving as the base of `HarmonicaSearchCV`: resources, their columns, and what is the best then."""

from functools import partial
from typing import Any

import numpy as np
import pytest
from scipy.stats import loguniform, randint
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import KFold
from sklearn.tree import DecisionTreeClassifier

import overtone as ot
from overtone.adapters.sklearn import HarmonicaSearchCV
from overtone.adapters.sklearn.resources import Once, Resources

X, Y = load_digits(return_X_y=True)
X, Y = X[:900], Y[:900]
TREES = {"max_depth": [2, 4, 8, 16], "min_samples_leaf": randint(1, 30), "ccp_alpha": loguniform(1e-5, 1e-2)}


def search(**kwargs: Any) -> HarmonicaSearchCV:
    known = {"n_iter": 47, "n_stages": 1, "stage_candidates": 20, "resource": "n_samples", "cv": 2, "random_state": 0}
    tree = DecisionTreeClassifier(random_state=0)
    return HarmonicaSearchCV(tree, TREES, **{**known, **kwargs})


def test_stages_then_halving() -> None:
    found = search().fit(X, Y)
    assert (found.min_resources_, found.max_resources_) == (40, 900)  # 2 folds, 10 classes, twice
    assert found.n_resources_ == [360, 40, 120, 360]
    assert found.n_candidates_ == [20, 27, 9, 3]
    assert found.n_iterations_ == 4
    results = found.cv_results_
    assert results["iter"].tolist() == [0] * 20 + [1] * 27 + [2] * 9 + [3] * 3
    assert results["n_resources"].tolist() == [360] * 20 + [40] * 27 + [120] * 9 + [360] * 3
    assert found.stages_[0].n_samples == 20


def test_the_best_of_a_rung_go_on() -> None:
    results = search().fit(X, Y).cv_results_
    for number in (1, 2):
        rung, following = results["iter"] == number, results["iter"] == number + 1
        params = np.array(results["params"])
        best = params[rung][np.argsort(-results["mean_test_score"][rung], kind="stable")][: following.sum()]
        assert list(best) == list(params[following])


def test_the_best_has_the_most_resources() -> None:
    found = search(stage_resources=90).fit(X, Y)
    results = found.cv_results_
    most = results["n_resources"] == 360
    assert results["n_resources"][0] == 90
    assert results["n_resources"][found.best_index_] == 360
    assert found.best_score_ == results["mean_test_score"][most].max()
    assert found.history_.best.outcome.value == found.best_score_


def test_exhaust_ends_with_all_there_is() -> None:
    found = search(max_resources=360, min_resources="exhaust", n_iter=29).fit(X, Y)
    assert found.n_resources_[1:] == [40, 120, 360]
    assert search(n_iter=24, factor=2).fit(X, Y).n_resources_[1:] == [225, 450, 900]
    assert search(n_iter=24, factor=2, min_resources="smallest").fit(X, Y).n_resources_[1:] == [40, 80, 160]


def test_hyperband() -> None:
    found = search(base="hyperband", min_resources=100).fit(X, Y)
    assert found.n_resources_ == [900, 100, 300, 900, 300, 900, 900]
    assert found.n_candidates_ == [20, 9, 3, 1, 5, 1, 3]


def test_a_parameter_as_resource() -> None:
    forest = RandomForestClassifier(random_state=0)
    space = {"max_depth": [2, 4, 8, 16], "max_features": ot.real(0.05, 0.5)}
    found = HarmonicaSearchCV(
        forest, space, resource="n_estimators", max_resources=9, n_iter=18, stage_candidates=9, n_stages=1, cv=2
    ).fit(X[:300], Y[:300])
    assert found.n_resources_ == [9, 1, 3, 9]
    assert found.cv_results_["param_n_estimators"].tolist() == found.cv_results_["n_resources"].tolist()
    assert found.best_params_["n_estimators"] == found.best_estimator_.n_estimators == 9


def test_a_base_of_the_user_counts_in_the_fewest_resources() -> None:
    base = partial(ot.SuccessiveHalving, n_configurations=4, min_budget=1, max_budget=4, eta=2)
    assert search(base=base, min_resources=100).fit(X, Y).n_resources_ == [400, 100, 200, 400]
    with pytest.raises(ot.InputError, match=r"a budget must be from 1 to 2\.25"):
        search(base=base, min_resources=400).fit(X, Y)


def test_several_scores() -> None:
    scores = {"accuracy": "accuracy", "f1": "f1_macro"}
    found = search(scoring=scores, refit="f1").fit(X, Y)
    most = found.cv_results_["n_resources"] == 360
    assert found.best_score_ == found.cv_results_["mean_test_f1"][most].max()


@pytest.mark.heavy
def test_the_same_for_any_number_of_jobs() -> None:
    one, two = search().fit(X, Y), search(n_jobs=2).fit(X, Y)
    assert one.cv_results_["params"] == two.cv_results_["params"]
    np.testing.assert_array_equal(one.cv_results_["mean_test_score"], two.cv_results_["mean_test_score"])


def test_smaller_shares_of_the_folds_are_in_larger_ones() -> None:
    resources, cv = Resources("n_samples", 100, 900), Once(KFold(3, shuffle=True))
    few = list(resources.splits(cv, 300, 900, 0).split(X, Y))
    more = list(resources.splits(cv, 600, 900, 0).split(X, Y))
    whole = list(resources.splits(cv, 900, 900, 0).split(X, Y))
    for small, large, full in zip(few, more, whole, strict=True):
        assert [len(part) for part in small] == [200, 100]
        assert all(set(a) < set(b) < set(c) for a, b, c in zip(small, large, full, strict=True))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"resource": "n_trees"}, "Cannot use resource=n_trees"),
        ({"resource": "max_depth", "max_resources": 9}, "it is part of the searched parameters"),
        ({"resource": "max_leaf_nodes"}, "give the most that a candidate may get"),
        ({"min_resources": 1000}, "min_resources_=1000 is greater than max_resources_=900"),
        ({"stage_resources": 1000}, "`stage_resources <= max_resources_` must hold"),
        ({"factor": 1.5}, "'factor' parameter of HarmonicaSearchCV"),
    ],
)
def test_mistakes(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        search(**settings).fit(X, Y)
