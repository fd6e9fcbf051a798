"""`HarmonicaSearchCV` on real data: what it has of `RandomizedSearchCV`, and what is its own."""

import pickle
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import loguniform
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.exceptions import FitFailedWarning
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold, ShuffleSplit, cross_val_score
from sklearn.naive_bayes import ComplementNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

import overtone as ot
from overtone.adapters.sklearn import HarmonicaSearchCV
from overtone.optimizers.given import Given, GivenFirst

X, Y = (part[::4] for part in load_breast_cancer(return_X_y=True))
TREE = DecisionTreeClassifier(random_state=0)
TREES: dict[str, Any] = {
    "criterion": ["gini", "entropy"],
    "splitter": ["best", "random"],
    "max_depth": [1, 2, 4, 8],
    "min_samples_leaf": [1, 3, 10, 30],
    "ccp_alpha": loguniform(1e-5, 1e-1),
}


def search(estimator: Any = TREE, params: Any = None, **kwargs: Any) -> HarmonicaSearchCV:
    known = {"n_iter": 60, "stage_candidates": 40, "n_stages": 1, "cv": 3, "random_state": 0}
    return HarmonicaSearchCV(estimator, TREES if params is None else params, **{**known, **kwargs})


class Planted(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Its score is a sparse function of ten switches; with `broken`, some of them cannot be fitted."""

    def __init__(
        self,
        a: int = 0,
        b: int = 0,
        c: int = 0,
        d: int = 0,
        e: int = 0,
        f: int = 0,
        g: int = 0,
        h: int = 0,
        i: int = 0,
        j: int = 0,
        broken: bool = False,
    ) -> None:
        self.a, self.b, self.c, self.d, self.e, self.f, self.g, self.h, self.i, self.j = a, b, c, d, e, f, g, h, i, j
        self.broken = broken

    def fit(self, X: Any, y: Any) -> "Planted":
        """Nothing to learn but the classes."""
        if self.broken and self.a and self.b:
            raise ValueError("a and b do not go together")
        self.classes_ = np.unique(y)
        self.n_features_in_ = np.shape(X)[1]
        return self

    def predict(self, X: Any) -> Any:
        """The first class."""
        return np.full(len(X), self.classes_[0])

    def score(self, X: Any, y: Any) -> float:  # noqa: ARG002
        """Higher is better: c on, and d unlike e."""
        return 2.0 * self.c + float(self.d != self.e) + 0.01 * self.f


SWITCHES = {name: [0, 1] for name in "abcdefghij"}


def test_it_finds_what_matters_and_says_so() -> None:
    found = HarmonicaSearchCV(Planted(), SWITCHES, cv=2, n_iter=120, random_state=0).fit(X, Y)
    assert found.best_score_ > 2.9
    assert found.best_params_["c"] == 1
    assert found.best_params_["d"] != found.best_params_["e"]
    assert found.stages_[0].verdict == "ok"
    rows = pd.DataFrame(found.importance_).query("stage == 1").set_index("parameter")
    assert {"c", "d", "e"} <= set(rows.index)
    assert rows.loc["c", "first"] > 0.7
    assert rows.loc["d", "first"] == 0
    assert rows.loc["d", "total"] > 0.1
    assert "What matters  c" in ot.Result(found.history_).report()


def test_the_attributes_of_a_search() -> None:
    found = search(return_train_score=True).fit(X, Y)
    results = found.cv_results_
    assert len(results["params"]) == 60
    assert {"mean_test_score", "std_test_score", "rank_test_score", "split2_test_score", "mean_train_score"} <= {
        *results
    }
    assert {f"param_{name}" for name in TREES} <= {*results}
    assert "iter" not in results
    assert found.best_index_ == results["rank_test_score"].argmin()
    assert found.best_score_ == results["mean_test_score"].max()
    assert found.best_params_ == results["params"][found.best_index_]
    again = cross_val_score(clone(TREE).set_params(**found.best_params_), X, Y, cv=3)
    assert found.best_score_ == pytest.approx(again.mean())
    assert found.score(X, Y) == found.best_estimator_.score(X, Y) > 0.9
    assert found.n_features_in_ == 30
    assert found.n_splits_ == 3


def test_the_history_is_the_search() -> None:
    found = search().fit(X, Y)
    scores = [record.outcome.value for record in found.history_.records]
    assert scores == found.cv_results_["mean_test_score"].tolist()
    assert found.history_.best.outcome.value == found.best_score_
    assert {record.trial.stage for record in found.history_.records} == {"stage 1", "local search"}
    assert found.stages_ == found.history_.stages
    assert found.stages_[0].n_samples == 40
    trials = ot.Result(found.history_).tables()["trials"]
    assert [row["config.max_depth"] for row in trials] == [each["max_depth"] for each in found.cv_results_["params"]]


def test_nothing_is_there_before_fit() -> None:
    assert not any(hasattr(search(), name) for name in ("history_", "stages_", "importance_", "best_params_"))


def test_clone_and_parameters() -> None:
    space = ot.Space({"max_depth": ot.integer(1, 8), "splitter": ot.choice(["best", "random"])})
    one = search(params=space, n_iter=20)
    other = clone(one)
    assert other.get_params()["n_iter"] == 20
    assert other.param_distributions == space
    assert other.set_params(estimator__criterion="entropy", n_iter=30).estimator.criterion == "entropy"
    assert one.estimator.criterion == "gini"


def test_the_same_for_any_number_of_jobs() -> None:
    one, two = search(n_jobs=1).fit(X, Y), search(n_jobs=2).fit(X, Y)
    assert one.cv_results_["params"] == two.cv_results_["params"]
    np.testing.assert_array_equal(one.cv_results_["mean_test_score"], two.cv_results_["mean_test_score"])
    assert one.stages_ == two.stages_


def test_random_states() -> None:
    params = [
        search(n_iter=10, random_state=state).fit(X, Y).cv_results_["params"]
        for state in (1, 1, 2, np.random.RandomState(1), np.random.RandomState(1), None)
    ]
    assert params[0] == params[1]
    assert params[3] == params[4]
    assert params[0] != params[2]
    assert params[5] != params[0]


def test_it_can_be_pickled() -> None:
    found = search(n_iter=20).fit(X, Y)
    again = pickle.loads(pickle.dumps(found))  # noqa: S301
    np.testing.assert_array_equal(found.predict(X), again.predict(X))
    assert again.stages_ == found.stages_
    assert again.importance_ == found.importance_


def test_a_pipeline_with_steps_to_choose() -> None:
    pipeline = make_pipeline(StandardScaler(), KNeighborsClassifier())
    scalers = [StandardScaler(), MinMaxScaler(), "passthrough"]
    params = {"standardscaler": scalers, "kneighborsclassifier__n_neighbors": range(1, 9)}
    wine, kinds = load_wine(return_X_y=True)
    found = HarmonicaSearchCV(pipeline, params, cv=3, random_state=0).fit(wine, kinds)
    assert len(found.cv_results_["params"]) == 24  # the whole space, each candidate once
    assert found.best_score_ > 0.94
    assert found.best_params_["standardscaler"] in scalers[:2]
    assert found.best_estimator_[0] is not found.best_params_["standardscaler"]


def test_levels_that_are_tuples() -> None:
    words = ["one", "two", "three", "four", "five", "six"]
    pipeline = make_pipeline(TfidfVectorizer(), ComplementNB())
    grid = {"tfidfvectorizer__ngram_range": [(1, 1), (1, 2)], "tfidfvectorizer__norm": ["l1", "l2"]}
    search = HarmonicaSearchCV(pipeline, grid, n_iter=4, random_state=0, cv=3).fit(words, [0, 0, 1, 0, 1, 1])
    ranges = search.cv_results_["param_tfidfvectorizer__ngram_range"]
    assert ranges.dtype == object
    assert sorted(ranges.data) == [(1, 1), (1, 1), (1, 2), (1, 2)]


def test_a_space_with_conditions_and_forbidden_combinations() -> None:
    space = ot.Space(
        {
            "solver": ot.choice(["lbfgs", "liblinear"]),
            "C": ot.real(1e-3, 1e3, log=True),
            "intercept_scaling": ot.real(0.1, 10.0, when={"solver": "liblinear"}),
            "fit_intercept": ot.boolean(),
        },
        forbid=[{"solver": "lbfgs", "fit_intercept": False}],
    )
    iris = load_iris()
    two = iris.target < 2
    found = HarmonicaSearchCV(LogisticRegression(), space, n_iter=30, cv=2, random_state=0)
    params = found.fit(iris.data[two], iris.target[two]).cv_results_["params"]
    assert all(("intercept_scaling" in each) == (each["solver"] == "liblinear") for each in params)
    assert not any(each["solver"] == "lbfgs" and not each["fit_intercept"] for each in params)
    masked = found.cv_results_["param_intercept_scaling"].mask
    assert masked.tolist() == [each["solver"] == "lbfgs" for each in params]


def test_data_frames() -> None:
    frame = load_iris(as_frame=True)
    found = search(params={"max_depth": [1, 2, 3, 4], "splitter": ["best", "random"]}).fit(frame.data, frame.target)
    assert list(found.feature_names_in_) == list(frame.data.columns)
    assert len(pd.DataFrame(found.cv_results_)) == 8
    assert found.predict(frame.data).shape == (150,)


@pytest.mark.parametrize("refit", ["recall", "accuracy"])
def test_with_several_scores_the_search_goes_by_the_one_of_refit(refit: str) -> None:
    found = search(scoring=["accuracy", "recall"], refit=refit).fit(X, Y)
    values = [record.outcome.value for record in found.history_.records]
    assert values == found.cv_results_[f"mean_test_{refit}"].tolist()
    assert found.best_score_ == max(values)
    assert found.multimetric_


def test_with_several_scores_and_no_name_it_goes_by_the_first() -> None:
    found = search(scoring={"r": "recall", "a": "accuracy"}, refit=False).fit(X, Y)
    assert [record.outcome.value for record in found.history_.records] == found.cv_results_["mean_test_r"].tolist()
    assert not hasattr(found, "best_params_")


def simplest(results: dict[str, Any]) -> int:
    """The smallest depth within one percent of the best."""
    good = results["mean_test_score"] > results["mean_test_score"].max() - 0.01
    return int(np.argmin(np.where(good, results["param_max_depth"], 99)))


def test_refit_by_a_function() -> None:
    found = search(refit=simplest).fit(X, Y)
    assert found.best_index_ == simplest(found.cv_results_)
    assert not hasattr(found, "best_score_")
    assert found.best_estimator_.max_depth == found.best_params_["max_depth"]


def test_fits_that_fail_are_told_and_avoided() -> None:
    with pytest.warns(FitFailedWarning), pytest.warns(UserWarning, match="test scores are non-finite"):
        found = HarmonicaSearchCV(Planted(broken=True), SWITCHES, cv=2, n_iter=200, random_state=0).fit(X, Y)
    failed = [record for record in found.history_.records if record.outcome.value is None]
    assert failed
    assert all(record.trial.config["a"] and record.trial.config["b"] for record in failed)
    assert all("error_score='raise'" in record.outcome.reason for record in failed)
    assert (
        found.stages_[0].n_failed == np.isnan(found.cv_results_["mean_test_score"][: found.stages_[0].n_samples]).sum()
    )
    assert {"a": 1, "b": 1} in [dict(crash) for crash in found.stages_[0].crashes]
    assert {record.trial.stage for record in failed} == {"stage 1"}


@pytest.mark.filterwarnings("ignore")
def test_a_later_round_in_which_all_fits_fail_does_not_end_the_search() -> None:
    def two_rounds(space: ot.Space, seed: int) -> Any:
        """A base whose first round fails as a whole."""
        bad = dict.fromkeys(SWITCHES, 1)
        return GivenFirst(Given(space, [bad]), ot.RandomSearch(space, seed, n_evaluations=10))

    kwargs: dict[str, Any] = {"n_stages": 1, "stage_candidates": 5, "sparsity": 1, "cv": 2, "random_state": 3}
    found = HarmonicaSearchCV(Planted(broken=True), SWITCHES, base=two_rounds, **kwargs).fit(X, Y)
    assert len(found.history_.records) == 16
    assert len(found.cv_results_["params"]) == 15
    with pytest.raises(ValueError, match="a and b do not go together"):
        HarmonicaSearchCV(Planted(broken=True), SWITCHES, base=two_rounds, **kwargs, error_score="raise").fit(X, Y)


def test_if_all_fits_fail_scikit_learn_says_so() -> None:
    with pytest.raises(ValueError, match=r"All the .* fits failed"):
        HarmonicaSearchCV(Planted(1, 1, broken=True), {"c": [0, 1]}, cv=2).fit(X, Y)


@pytest.mark.filterwarnings("ignore")
def test_a_number_for_failed_fits_is_a_score() -> None:
    found = HarmonicaSearchCV(Planted(broken=True), SWITCHES, cv=2, n_iter=40, error_score=-1.0, random_state=0).fit(
        X, Y
    )
    assert min(record.outcome.value for record in found.history_.records) == -1
    assert found.stages_[0].n_failed == 0


@pytest.mark.parametrize("cv", [KFold(3, shuffle=True), ShuffleSplit(2)])
def test_all_candidates_see_the_same_folds(cv: Any) -> None:
    """Even if the splitter would shuffle anew in each round: here a candidate is as good as its folds."""
    found = search(Ridge(), {"copy_X": [True, False], "positive": [True, False]}, cv=cv, n_stages=2, scoring="r2")
    scores = found.fit(X, Y).cv_results_
    by_copy: dict[bool, set[float]] = {}
    for params, score in zip(scores["params"], scores["mean_test_score"], strict=True):
        by_copy.setdefault(params["positive"], set()).add(round(score, 12))
    assert all(len(values) == 1 for values in by_copy.values())


def test_nothing_to_vary() -> None:
    found = search(params={"max_depth": [3]}).fit(X, Y)
    assert found.best_params_ == {"max_depth": 3}
    assert (found.history_, found.stages_, found.importance_) == (None, (), [])


def test_other_optimizers_as_base() -> None:
    base = partial(ot.RandomSearch, n_evaluations=15)
    found = search(n_iter=None, base=base).fit(X, Y)
    assert len(found.cv_results_["params"]) == 55
    assert len(search(n_iter=50, base=base).fit(X, Y).cv_results_["params"]) == 50


def test_a_base_that_repeats_itself_comes_to_an_end() -> None:
    class Stubborn(ot.RandomSearch):
        def __init__(self, space: ot.Space, seed: int) -> None:
            super().__init__(space, seed, n_evaluations=10**9)

        def ask(self, n: int = 1) -> list[ot.Trial]:
            self._sampler.seen.clear()
            self._sampler.index = 0
            return super().ask(min(n, 1))

    found = search(params={"max_depth": [1, 2, 3, 4]}, n_stages=0, base=Stubborn, n_iter=3).fit(X, Y)
    assert len(found.cv_results_["params"]) == 1


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"params": "max_depth"}, "'param_distributions' parameter of HarmonicaSearchCV"),
        ({"params": [["max_depth"]]}, "must be a dict, a list of dicts or a Space"),
        ({"n_iter": 0}, "'n_iter' parameter of HarmonicaSearchCV"),
        ({"n_stages": -1}, "'n_stages' parameter of HarmonicaSearchCV"),
        ({"base": "random"}, "'base' parameter of HarmonicaSearchCV"),
        ({"base": "halving"}, "needs a resource"),
        ({"base": ot.Hyperband}, "set `resource`"),
    ],
)
def test_mistakes(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        search(**settings).fit(X, Y)


CHECKED = [
    HarmonicaSearchCV(KNeighborsClassifier(), {"n_neighbors": [2, 3]}, cv=2, error_score="raise", random_state=0),
    HarmonicaSearchCV(SVR(), {"C": [0.1, 1.0]}, cv=2, error_score="raise", random_state=0),
]


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(CHECKED)  # type: ignore[untyped-decorator]
def test_the_checks_of_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)
