"""scikit-learn's own tests of `GridSearchCV`, `RandomizedSearchCV` and the halving searches, run against ours.

Nothing is copied: the installed modules are loaded again, with our class under those names (see `sklearn_suite`). What
is left out is listed here, with the reason.
"""

import pytest

from tests.adapters.sklearn_suite import OURS, only, suite, with_ours

pytestmark = [
    pytest.mark.heavy,  # for its time alone
    pytest.mark.filterwarnings("ignore"),  # scikit-learn's estimators warn in them
]

SEARCH = suite(with_ours("sklearn.model_selection.tests.test_search"))
HALVING = suite(with_ours("sklearn.model_selection.tests.test_successive_halving"))

LEFT_OUT = {
    # not about searches
    "test_validate_parameter_input": "of ParameterGrid",
    "test_parameter_grid": "of ParameterGrid",
    "test_param_sampler": "of ParameterSampler",
    "test_parameters_sampler_replacement": "of ParameterSampler",
    "test_yield_masked_array_for_each_param": "of a helper",
    "test_yield_masked_array_no_runtime_warning": "of a helper",
    "test__custom_fit_no_run_search": "of BaseSearchCV",
    "test_subsample_splitter_shapes": "of a helper",
    "test_subsample_splitter_determinism": "of a helper",
    "test_top_k": "of a helper",
    # what ours does otherwise
    "test_grid_search_bad_param_grid": "the words of the errors; ours are in test_sklearn_candidates",
    "test_custom_run_search": "the order of candidates of a list of grids",
    "test_search_cv_results_rank_tie_breaking": "the order of candidates of RandomizedSearchCV",
    "test_search_with_2d_array": "the order of candidates of RandomizedSearchCV; ours is in test_sklearn_search",
    "test_search_cv_timing": "the order of candidates of RandomizedSearchCV",
    "test_random_search_cv_results": "exponential distributions",
    "test_search_callbacks_with_partial_fit_failures": "ours has one more task a round",
    "test_aggressive_elimination": "ours has none",
    "test_random_search": "normal distributions, and n_candidates='exhaust'",
    "test_random_search_discrete_distributions": "n_candidates='exhaust'",
    "test_input_errors_randomized": "n_candidates='exhaust'",
    "test_select_best_index": "calls it without a score",
    "test_halving_random_search_list_of_dicts": "exponential distributions",
    # what pytest refuses
    "test_array_api_search_cv_classifier": "parametrized by a generator",
}
# of these, some cases: not those that look at the order, or at the tasks of a search with one round, nor folds that
# are shuffled without a seed, which ours takes
only(SEARCH["test_search_default_iid"], "SearchCV, specialized_params", lambda case: "param_grid" in case[1])
for callbacks in SEARCH.keys() & {"test_search_callbacks_no_propagation", "test_search_callbacks_propagation"}:
    only(SEARCH[callbacks], "search", lambda case: "Halving" in type(case).__name__)
only(HALVING["test_input_errors"], "params, expected_error_message", lambda case: "folds" not in case[1])

globals().update({name: test for name, test in {**SEARCH, **HALVING}.items() if name not in LEFT_OUT})

ROUTING = suite(with_ours("sklearn.tests.test_metaestimators_metadata_routing"))
for name in [name for name, test in ROUTING.items() if "metaestimator" in str(getattr(test, "pytestmark", ""))]:
    globals()[name] = pytest.mark.heavy(
        only(ROUTING[name], "metaestimator", lambda case: case["metaestimator"] in OURS)
    )
