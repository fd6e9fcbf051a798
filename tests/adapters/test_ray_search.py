"""`HarmonicaSearch` as Ray calls it, without a cluster: the same run as the optimizer alone, whatever the order."""

import copy
import json
import math
import pickle
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import overtone as ot
from overtone.errors import InputError, LedgerError

pytestmark = pytest.mark.heavy
SPACE = ot.Space({f"x{i}": ot.boolean() for i in range(6)} | {"k": ot.ordinal([1, 2, 3, 4]), "r": ot.real(0, 1)})
HARMONICA = partial(ot.Harmonica, n_samples=30, n_stages=2, base=partial(ot.LocalSearch, n_evaluations=12))


def loss(config: dict[str, Any]) -> float:
    return float(3 * config["x1"] - 2 * config["x2"] * config["x3"] + 0.5 * config["k"] + 0.1 * config["r"])


def search(**settings: Any) -> Any:
    from overtone.adapters.ray import HarmonicaSearch

    return HarmonicaSearch(**{"space": SPACE, "optimizer": HARMONICA, "metric": "loss", "mode": "min", **settings})


def driven(
    searcher: Any, value: Callable[[dict[str, Any]], Any] = loss, at_once: int = 1, most: int = 10_000, first: int = 0
) -> list[dict[str, Any]]:
    """As Ray's controller does it: fill up, then let one come back; the one asked for last is the first."""
    configs, out, finished = list[dict[str, Any]](), dict[str, dict[str, Any]](), False
    while not finished or out:
        while not finished and len(out) < at_once:
            config = searcher.suggest(f"trial {first + len(configs)}")
            finished = config == searcher.FINISHED or len(configs) == most
            if config is None or finished:
                break
            out[f"trial {first + len(configs)}"] = config
            configs.append(config)
        assert out or finished, "Ray would wait forever"
        if len(configs) >= most:
            return configs
        if out:
            trial_id, config = out.popitem()
            try:
                searcher.on_trial_result(trial_id, {"loss": -1e6})  # what is reported on the way does not count
                searcher.on_trial_complete(trial_id, {"loss": value(config), "time_total_s": 0.5})
            except ZeroDivisionError:
                searcher.on_trial_complete(trial_id, error=True)
    return configs


def alone(value: Callable[[dict[str, Any]], Any] = loss, make: Any = HARMONICA) -> tuple[Any, list[dict[str, Any]]]:
    """The optimizer without Ray."""
    optimizer, configs = make(SPACE, 0), list[dict[str, Any]]()
    while trials := optimizer.ask(1):
        configs.append(dict(trials[0].config))
        try:
            optimizer.tell(trials[0], value(trials[0].config))
        except ZeroDivisionError:
            optimizer.tell(trials[0], None)
    return optimizer, configs


@pytest.mark.parametrize("at_once", [1, 5, 200])
def test_the_run_is_that_of_the_optimizer_for_any_number_of_trials_at_once(at_once: int) -> None:
    searcher = search()
    assert driven(searcher, at_once=at_once) == alone()[1]
    assert list(searcher.result.stages) == alone()[0].stages
    assert searcher.result.best.value == loss(searcher.result.best.config)
    assert {record.outcome.seconds for record in searcher.result.trials} == {0.5}
    assert "What matters" in searcher.result.report()


@pytest.mark.parametrize("make", [ot.RandomSearch, ot.LocalSearch, partial(ot.SpectralDescent, n_evaluations=40)])
def test_any_optimizer_will_do(make: Any) -> None:
    assert driven(search(optimizer=make), at_once=3) == alone(make=make)[1]


def test_a_trial_waits_for_the_stage_before_it() -> None:
    searcher = search()
    configs = [searcher.suggest(f"{i}") for i in range(31)]
    assert None not in configs[:30]
    assert configs[30] is None
    for i in range(30):
        searcher.on_trial_complete(f"{i}", {"loss": loss(configs[i])})
    assert searcher.suggest("next")["x1"] is False


def test_maximize() -> None:
    searcher = search(mode="max")
    assert driven(searcher, lambda config: -loss(config)) == alone()[1]
    assert searcher.result.history.goal == "maximize"
    assert searcher.result.best.value == -alone()[0].best[1]


def test_what_failed_or_is_no_number_is_told_as_failed() -> None:
    def value(config: dict[str, Any]) -> Any:
        if config["x4"]:
            return {True: math.nan, False: "none"}[config["x5"]]
        return loss(config) / (0 if config["x5"] else 1)

    def plain(config: dict[str, Any]) -> Any:
        return None if config["x4"] or config["x5"] else loss(config)

    searcher = search()
    assert driven(searcher, value, at_once=4) == alone(plain)[1]
    reasons = {record.outcome.reason for record in searcher.result.trials}
    assert reasons == {"", "it raised an error", "its last loss is nan", "its last loss is 'none'"}
    assert json.loads(json.dumps(searcher._events, allow_nan=False)) == searcher._events


def test_a_trial_that_never_reported_or_comes_twice() -> None:
    searcher = search()
    searcher.suggest("a")
    searcher.on_trial_complete("a")
    searcher.on_trial_complete("a", {"loss": 1.0})
    searcher.on_trial_complete("unknown", {"loss": 1.0})
    assert [record.outcome.value for record in searcher.result.trials] == [None]


def test_budgets_are_handed_over() -> None:
    searcher = search(optimizer=partial(ot.Hyperband, max_budget=9), budget="epochs")
    configs = driven(searcher, lambda config: loss(config) / config["epochs"], at_once=3)
    assert {config["epochs"] for config in configs} == {1.0, 3.0, 9.0}
    assert searcher.result.history.settings["full_budget"] == 9
    with pytest.raises(InputError, match="no parameter's name"):
        search(optimizer=ot.Hyperband, budget="k").suggest("a")


# ---- save and restore ----


@pytest.mark.parametrize("done", [0, 17, 30, 45, 65])
def test_a_restored_search_goes_on_as_if_nothing_had_happened(done: int, tmp_path: Path) -> None:
    whole = driven(search())
    before = search()
    assert driven(before, most=done + 1) == whole[: done + 1]  # the last one is out
    before.save(str(tmp_path / "state"))
    after = search()
    after.restore(str(tmp_path / "state"))
    assert driven(after, first=1000) == whole[done:]  # and is handed out again
    assert after.result.best.config == min(whole, key=loss)
    assert after.result.stopped == "done"
    after.save(str(tmp_path / "again"))
    third = search()
    third.restore(str(tmp_path / "again"))
    assert driven(third, first=2000) == []


def test_restored_by_ray_itself_the_trials_that_were_out_keep_their_ids(tmp_path: Path) -> None:
    before = search()
    configs = [before.suggest(f"{i}") for i in range(30)]
    before.on_trial_complete("3", {"loss": loss(configs[3])})
    before.save_to_dir(str(tmp_path), "2026-01-01")
    assert [path.name for path in tmp_path.iterdir()] == ["searcher-state-2026-01-01.json"]
    after = search()
    after.restore_from_dir(str(tmp_path))
    assert after.suggest("too early") is None
    for i in range(30):
        after.on_trial_complete(f"{i}", {"loss": loss(configs[i])})
    assert after.suggest("next") == driven(search())[30]


def test_a_restored_search_may_learn_its_space_later(tmp_path: Path) -> None:
    from ray import tune

    space = {"x": tune.choice([1, 2]), "y": {"z": tune.uniform(0, 1)}}
    before = search(space=None, metric=None, mode=None, optimizer=ot.RandomSearch)
    assert before.set_search_properties("loss", "min", space)
    first = before.suggest("0")
    before.save(str(tmp_path / "state"))
    after = search(space=None, metric=None, mode=None, optimizer=ot.RandomSearch)
    after.restore(str(tmp_path / "state"))
    assert after.set_search_properties("loss", "min", space)
    assert after.suggest("1") == first
    assert after.suggest("2") == before.suggest("1")


def test_the_state_of_another_run_or_no_state_is_refused(tmp_path: Path) -> None:
    before = search()
    driven(before, most=5)
    before.save(str(tmp_path / "state"))
    with pytest.raises(InputError, match="seed: was 0, is 1"):
        search(seed=1).restore(str(tmp_path / "state"))
    with pytest.raises(InputError, match="goal"):
        search(mode="max").restore(str(tmp_path / "state"))
    (tmp_path / "pickle").write_bytes(pickle.dumps({"start": 1}))
    with pytest.raises(LedgerError, match="must be what HarmonicaSearch saved"):
        search().restore(str(tmp_path / "pickle"))
    with pytest.raises(LedgerError, match="searcher-state"):
        search().restore_from_dir(str(tmp_path))


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda each: pickle.loads(pickle.dumps(each))])  # noqa: S301
def test_a_copy_goes_on_by_itself(copied: Any) -> None:
    whole = driven(search())
    before = search()
    driven(before, most=41)
    after = copied(before)
    after.on_trial_complete("trial 40", {"loss": loss(whole[40])})
    assert driven(after, first=41) == whole[41:]


# ---- what the tuner says ----


def test_what_a_tuner_was_given() -> None:
    from ray import tune

    searcher = search(space=None, metric=None, mode=None)
    with pytest.raises(InputError, match="something to search"):
        searcher.suggest("a")
    assert searcher.set_search_properties(None, "max", {"x": tune.choice([1, 2]), "c": 3}, num_samples=4)
    assert set(searcher.suggest("a")) == {"x"}
    searcher.on_trial_complete("a", {"_metric": 2.0})
    assert searcher.result.best.value == 2.0
    assert searcher.set_search_properties(None, "max", {"x": tune.choice([1, 2]), "c": 3})  # as when it is restored
    assert not searcher.set_search_properties(None, "max", {"x": tune.choice([1, 5])})
    assert search().set_search_properties("loss", "min", {"constant": 3})
    assert not search().set_search_properties("loss", "min", {"x1": tune.choice([False, True])})


def test_mistakes() -> None:
    with pytest.raises(InputError, match="`metric` and `mode` must be given"):
        search(mode=None).suggest("a")
    with pytest.raises(InputError, match="one objective"):
        search(metric=["a", "b"], mode=["min", "max"])
    with pytest.raises(InputError, match="'min' or 'max'"):
        search(mode="minimize")
    with pytest.raises(InputError, match="what makes one"):
        search(optimizer=ot.RandomSearch(SPACE))
    with pytest.raises(InputError, match="`seed`"):
        search(seed=-1)


def test_under_a_limiter() -> None:
    from ray.tune.search import ConcurrencyLimiter

    limited = ConcurrencyLimiter(search(), max_concurrent=4)
    assert driven(limited, at_once=10) == alone()[1]
    batched = ConcurrencyLimiter(search(), max_concurrent=4, batch=True)
    assert driven(batched, at_once=10) == alone()[1]


# ---- early stopping ----


def test_what_may_stop_early() -> None:
    from ray.tune.schedulers import ASHAScheduler, HyperBandScheduler
    from ray.tune.search import ConcurrencyLimiter

    from overtone.adapters.ray import FullStages

    searcher = search()
    with pytest.raises(InputError, match="only stops trials"):
        FullStages(HyperBandScheduler(), searcher)
    with pytest.raises(InputError, match="without a limiter"):
        FullStages(ASHAScheduler(), ConcurrencyLimiter(searcher, 2))
    driven(searcher)
    assert [searcher.is_sample(f"trial {i}") for i in (0, 59, 60, 71)] == [True, True, False, False]
    kept = pickle.loads(pickle.dumps((ConcurrencyLimiter(searcher, 2), FullStages(ASHAScheduler(), searcher))))  # noqa: S301
    assert kept[1]._search is kept[0].searcher  # so that they belong together after `Tuner.restore`, too
    assert kept[1]._search.is_sample("trial 59")
