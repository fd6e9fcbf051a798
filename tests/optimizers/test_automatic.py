from itertools import islice

import numpy as np
import pytest

from overtone.errors import InputError
from overtone.optimizers.automatic import WHY, Automatic
from overtone.optimizers.sampling import key
from overtone.optimizers.trial import Trial, Value
from overtone.space import Space, boolean
from tests.optimizers.driving import asked, booleans, drive, score


def value(trial: Trial) -> float:
    """x0 and x1 must differ, x2 be on; the others hardly matter."""
    x = np.array([1.0 if on else -1.0 for on in trial.config.values()])
    return float(3 * x[0] * x[1] - 2 * x[2] + 0.05 * x.sum())


def run(optimizer: Automatic, objective: object, n: int) -> list[tuple[Trial, Value]]:
    told: list[tuple[Trial, Value]] = []
    while len(told) < n and (trials := optimizer.ask(n - len(told))):
        for trial in trials:
            told.append((trial, objective(trial)))  # type: ignore[operator]
            optimizer.tell(*told[-1])
    return told


def test_a_fifth_is_uniform_and_a_stage_is_learned_from_it() -> None:
    optimizer = Automatic(booleans(20), n_evaluations=200)
    told = run(optimizer, value, 200)
    assert [trial.stage for trial, _ in told] == ["stage 1"] * 40 + ["spectral descent"] * 160
    (stage,) = optimizer.stages
    assert (stage.n_samples, stage.verdict, stage.restricts, stage.fixed) == (40, "ok", False, ())
    assert set(stage.polynomial.terms) - {()} == {(0, 1), (2,)}
    assert WHY in stage.reason
    assert optimizer.done


def test_it_finds_the_best_and_goes_on_from_the_samples() -> None:
    optimizer = Automatic(booleans(20), n_evaluations=150)
    told = run(optimizer, value, 150)
    assert min(v for _, v in told if v is not None) == pytest.approx(-3 - 2 - 0.05 * (18 - 2))
    assert len({key(trial.config) for trial, _ in told}) >= 149


def test_what_crashes_is_avoided_after_the_samples() -> None:
    def crashing(trial: Trial) -> Value:
        return None if trial.config["x3"] and trial.config["x4"] else value(trial)

    told = run(Automatic(booleans(20), n_evaluations=300), crashing, 300)
    assert any(v is None for _, v in told[:60])
    assert all(v is not None for _, v in told[60:])


def test_asked_for_more_it_goes_on() -> None:
    short, long = (Automatic(booleans(12), n_evaluations=50, goes_on=goes_on) for goes_on in (False, True))
    few, many = run(short, value, 200), run(long, value, 200)
    assert len(few) == 50 and short.done
    assert many[:50] == few
    assert len(many) == 200
    assert (
        len({key(trial.config) for trial, _ in many}) >= 196
    )  # one repetition a descent, to see whether there is noise


def test_it_ends_with_the_space() -> None:
    optimizer = Automatic(booleans(3), n_evaluations=5, goes_on=True)
    trials = asked(drive(optimizer, score))
    assert len({key(trial.config) for trial in trials}) == 8
    assert len(trials) <= 10
    assert optimizer.done


def test_a_few_evaluations() -> None:
    for n in range(1, 8):
        assert len(run(Automatic(booleans(10), n_evaluations=n), value, 99)) == n


def test_in_a_large_space_the_stage_looks_at_what_it_can() -> None:
    space = Space({f"x{i}": boolean() for i in range(1000)})
    optimizer = Automatic(space, n_evaluations=500)
    run(optimizer, value, 100)
    assert set(optimizer.stages[0].polynomial.terms) - {()} == {(0, 1), (2,)}


def test_noise_is_noticed_and_the_best_judged() -> None:
    rng = np.random.default_rng(0)
    optimizer = Automatic(booleans(15), n_evaluations=200)
    told = run(optimizer, lambda trial: value(trial) + 2 * rng.standard_normal(), 200)
    assert len({key(trial.config) for trial, _ in told}) < 190
    assert optimizer.judged in [trial for trial, _ in told]
    assert optimizer.judged is not None and value(optimizer.judged) < -4


def test_without_noise_the_lowest_value_is_the_best() -> None:
    optimizer = Automatic(booleans(15), n_evaluations=100)
    assert optimizer.judged is None
    run(optimizer, value, 100)
    assert optimizer.judged is None


def test_the_batch_is_known_before() -> None:
    optimizer = Automatic(booleans(20), n_evaluations=300)
    run(optimizer, value, 60)
    assert len(list(islice(optimizer.ask(1000), 1000))) == optimizer.batch == 15


def test_what_is_known_is_checked_at_once() -> None:
    with pytest.raises(InputError, match="5 codes"):
        Automatic(booleans(5)).know([((1.0, -1.0), 0.0)])
