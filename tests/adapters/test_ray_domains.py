"""Ray's domains as parameters, against what Ray itself draws from them."""

from typing import Any

import numpy as np
import pytest

from overtone.errors import InputError
from overtone.space import Space, choice, ordinal, real

pytestmark = pytest.mark.heavy


def of(given: Any) -> Any:
    from overtone.adapters.ray.domains import Domains

    return Domains.of(given)


def stepped() -> list[Any]:
    from ray import tune

    return [
        tune.randint(-3, 5),
        tune.randint(0, 100),
        tune.qrandint(1, 10, 3),
        tune.qrandint(0, 1000, 5),
        tune.qrandint(2, 6, 1),
        tune.lograndint(1, 12),
        tune.lograndint(2, 300),
        tune.qlograndint(4, 300, 4),
        tune.quniform(0.0, 1.0, 0.25),
        tune.quniform(-1.0, 2.0, 0.01),
        tune.qloguniform(0.1, 10.0, 0.1),
    ]


@pytest.mark.parametrize("number", range(11))
def test_stepped_ranges_have_the_values_that_ray_draws(number: int) -> None:
    domain = stepped()[number]
    drawn = np.array(domain.sample(size=10_000, random_state=np.random.default_rng(1)))
    domains, rng = of({"x": domain}), np.random.default_rng(0)
    mine = [domains.config(domains.space.decode(domains.space.draw(rng)))["x"] for _ in range(10_000)]
    assert {type(value) for value in mine} == {type(domain.cast(1))}
    odd = set(np.round(mine, 9)) ^ set(np.round(drawn, 9))
    assert len(odd) <= len(set(drawn)) / 20  # drawn by one and not by the other, by chance
    assert (min(mine), max(mine)) == pytest.approx((min(drawn), max(drawn)))
    assert np.quantile(mine, [0.3, 0.7]) == pytest.approx(np.quantile(drawn, [0.3, 0.7]), abs=0.02 * np.ptp(drawn))


def test_ranges_and_choices_become_parameters() -> None:
    from ray import tune

    given = {
        "flag": tune.choice([False, True]),
        "kind": tune.choice(["a", "b", "c"]),
        "rate": tune.loguniform(1e-4, 1e-1),
        "share": tune.uniform(0.0, 2.0),
        "few": tune.randint(0, 4),
        "half": tune.quniform(0.0, 1.0, 0.5),
    }
    expected = {
        "flag": choice([False, True]),
        "kind": choice(["a", "b", "c"]),
        "rate": real(1e-4, 1e-1, log=True),
        "share": real(0.0, 2.0),
        "few": ordinal([0, 1, 2, 3]),
        "half": ordinal([0.0, 0.5, 1.0]),
    }
    assert of(given).space == Space(expected)


def test_nested_dicts_lists_and_constants_keep_their_places() -> None:
    from ray import tune

    given = {
        "model": {"depth": tune.choice([2, 4]), "name": "net", "layers": [tune.choice([8, 16]), 32]},
        "pair": (tune.choice([1, 2]), "b"),
        "constant": {"deep": [1, 2]},
        "one": tune.choice(["only"]),
        "same": tune.uniform(2, 2),
        "single": tune.randint(3, 4),
    }
    domains = of(given)
    assert list(domains.space.parameters) == ["model/depth", "model/layers/0", "pair/0"]
    assert domains.config({"model/depth": 4, "model/layers/0": 8, "pair/0": 2}) == {
        "model": {"depth": 4, "name": "net", "layers": [8, 32]},
        "pair": (2, "b"),
        "one": "only",
        "same": 2.0,
        "single": 3,
    }
    assert isinstance(given["model"]["layers"][0], type(given["one"]))  # what the user gave is as it was


def test_a_choice_may_be_among_any_objects_and_weighted() -> None:
    from ray import tune

    sizes = [[64, 64], [128], None, 1, 1, print]
    domains = of({"sizes": tune.choice(sizes)})
    levels = domains.space.parameters["sizes"].levels
    assert levels == ("0: [64, 64]", "1: [128]", "2: None", "3: 1", "4: 1", "5: print")
    assert [domains.config({"sizes": level})["sizes"] for level in levels] == sizes


def test_names_do_not_depend_on_the_process() -> None:
    from ray import tune

    assert "0x" not in str(of({"x": tune.choice([object(), lambda: 1])}).space.parameters["x"].levels)


def test_a_space_is_taken_as_it_is() -> None:
    space = Space({"a": choice([1, 2]), "b": real(0, 1, when={"a": 1})})
    assert of(space).space is space
    assert of(space).config({"a": 2}) == {"a": 2}


def test_what_cannot_be_searched_is_refused() -> None:
    from ray import tune

    two = tune.choice([1, 2])
    for given, words in [
        ({"x": tune.grid_search([1, 2])}, "'x' is a grid_search: use tune.choice"),
        ({"m": {"x": tune.sample_from(lambda: 1)}}, "'m/x' is a Function"),
        ({"x": {"eval": "1 + 1"}}, "'x' is a Function"),
        ({"x": tune.randn(0, 1)}, "sampled by _Normal"),
        ({"x": tune.choice([two, 2])}, "'x' holds domains"),
        ({"x": tune.randint(3, 3)}, "'x' has none"),
        ({"x": tune.qrandint(1, 2, 5)}, "'x' has none"),
        ({"x": tune.choice([])}, "'x': there must be at least two levels"),
        ({"x": tune.uniform(2, 1)}, "'x': `low < high` must hold"),
        ({"a/b": two, "a": {"b": two}}, "names must differ"),
        ({"x": 1}, "constants only"),
        (3, "`space` must be a Space, or a dict with Ray's domains, but got 3"),
    ]:
        with pytest.raises(InputError) as refused:
            of(given)
        assert words in str(refused.value)
