from collections import Counter

import numpy as np
import pytest

from overtone.errors import InputError
from overtone.optimizers import RandomSearch
from overtone.optimizers.sampling import BLOCK, Sampler, key
from overtone.space import Config, Space, boolean, choice, real
from tests.optimizers.driving import asked, booleans, drive, mixed


def test_it_asks_for_so_many_at_its_budget() -> None:
    trials = asked(drive(RandomSearch(mixed(), n_evaluations=13, budget=5.0)))
    assert [(trial.budget, trial.stage) for trial in trials] == [(5.0, "random search")] * 13


def test_samples_are_uniform() -> None:
    space = Space({"a": choice(["p", "q", "r"]), "b": boolean(), "u": real(0, 1)})
    trials = asked(drive(RandomSearch(space, n_evaluations=1500), workers=100))
    counts = Counter((trial.config["a"], trial.config["b"]) for trial in trials)
    assert len(counts) == 6
    assert all(200 < count < 300 for count in counts.values())
    assert np.quantile([float(str(trial.config["u"])) for trial in trials], [0.25, 0.5, 0.75]) == pytest.approx(
        [0.25, 0.5, 0.75], abs=0.05
    )


def test_a_sample_is_a_function_of_seed_stage_and_index() -> None:
    sampler = Sampler(booleans(40), 3, 2)
    drawn = [sampler.next() for _ in range(5)]
    later = Sampler(booleans(40), 3, 2)
    later.index = 4
    assert later.next() == drawn[4]
    assert Sampler(booleans(40), 3, 1).next() != drawn[0] != Sampler(booleans(40), 4, 2).next()


def test_what_was_seen_is_not_drawn() -> None:
    space = booleans(3)
    seen: set[object] = {key(space.decode(point)) for point in list(space.points())[:5]}
    trials = asked(drive(RandomSearch(space, seen=seen, stage=2)))
    assert {trial.point for trial in trials} == set(list(space.points())[5:])
    assert {trial.stage for trial in trials} == {"stage 2"}


def test_every_configuration_of_a_space_comes_once() -> None:
    trials = asked(drive(RandomSearch(booleans(7), n_evaluations=1000), workers=9))
    assert {trial.point for trial in trials} == set(booleans(7).points())
    assert len(trials) == 2**7


def test_true_is_not_one() -> None:
    assert len(asked(drive(RandomSearch(Space({"a": choice([True, 1, 1.5])}))))) == 3


@pytest.mark.parametrize("n_evaluations", [0, -3, 2.0, True])
def test_bad_settings(n_evaluations: int) -> None:
    with pytest.raises(InputError, match="`n_evaluations`"):
        RandomSearch(booleans(3), n_evaluations=n_evaluations)


def test_a_space_is_a_space() -> None:
    with pytest.raises(InputError, match=r"`space` must be a Space, but got \{'a': 1\}"):
        RandomSearch({"a": 1})  # type: ignore[arg-type]


def test_samples_are_those_of_the_seed_the_stage_and_the_index() -> None:
    """Drawn a block at a time: a run of this version goes on with the same samples in the next ones."""
    space = booleans(40)
    for seed in (0, 7, 2**32 + 5):
        points = [trial.point for trial in RandomSearch(space, seed, n_evaluations=BLOCK + 3, stage=2).ask(BLOCK + 3)]
        blocks = [space.draw_unchecked(np.random.default_rng([seed, 2, block]), BLOCK) for block in (0, 1)]
        assert points == [*blocks[0], *blocks[1][:3]]


def test_what_is_forbidden_is_drawn_anew() -> None:
    """One of three is forbidden: the others are equally likely, and a sample does not hang on those before it."""
    space = Space({"a": choice(["p", "q", "r"]), "u": real(0, 1)}, forbid=[{"a": "q"}])
    trials = RandomSearch(space, 1, n_evaluations=600).ask(600)
    counts = Counter(trial.config["a"] for trial in trials)
    assert set(counts) == {"p", "r"}
    assert 250 < counts["p"] < 350
    later = Sampler(space, 1)
    later.index = 400
    assert later.next() == (trials[400].point, trials[400].config)


def test_keys_tell_all_configurations_apart() -> None:
    configs: list[Config] = [{}, {"a": 1}, {"a": True}, {"b": 1}, {"a": "b"}, {"a": 1, "b": 2}, {"b": 2, "a": 1}]
    configs += [{"a": 1, "b": "c"}, {"a": 1, "b": 2, "c": 3}, {"a": "b", "c": 1}, {"a": "c", "b": 1}]
    assert len(set(map(key, configs))) == len(configs)
