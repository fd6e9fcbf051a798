from math import comb, log

import numpy as np
import pytest

from overtone.spectral.evidence import EXACT, misfit, prices


def test_the_price_of_names_is_that_of_choosing_them() -> None:
    table = prices((1, 10, 45), 30)
    assert table.shape == (2, 31)
    for degree, N in ((0, 10), (1, 45)):
        for k in (0, 1, 2, 5):
            assert table[degree, k] == pytest.approx(log(comb(N, k)) + k / 2 * log(30))


def test_the_table_is_shared_and_cannot_be_changed() -> None:
    assert prices((1, 4), 5) is prices((1, 4), 5)
    with pytest.raises(ValueError, match="read-only"):
        prices((1, 4), 5)[0, 0] = 1.0


def test_no_monomials_and_nothing_explained_cost_nothing_but_a_constant() -> None:
    assert float(misfit(50, 0, 1.0)) == pytest.approx(49 / 2 * log(50 / 49))


def test_the_best_of_noise_gains_the_same_however_many_were_fitted_before() -> None:
    """One monomial more that takes its fair share 1/(T-1-k) of what is left: the misfit stays as it is, about."""
    for k in (0, 10, 40):
        share = 0.5
        after = share * (1 - 1 / (99 - k))
        assert float(misfit(100, k + 1, after) - misfit(100, k, share)) == pytest.approx(
            -log(share * 100 / (99 - k)) / 2, abs=0.02
        )


def test_an_exact_fit_is_as_good_as_rounding_allows() -> None:
    assert float(misfit(20, 3, 0.0)) == float(misfit(20, 3, EXACT))
    assert np.isfinite(misfit(3, 5, 0.0))
