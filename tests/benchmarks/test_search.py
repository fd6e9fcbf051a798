"""The contest: its problems, its players and its bookkeeping, at a tiny size."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.search import cache, classics, command, problems, store, summary, tables
from benchmarks.search.arena import SHARES, in_flight, play
from benchmarks.search.contestants import CONTESTANTS
from benchmarks.search.contestants import missing as missing_contestant
from benchmarks.search.foreign import Failures, active_only
from benchmarks.search.player import MODES, Contestant, Scripted
from benchmarks.search.problem import Problem, key, signs, switches
from benchmarks.search.report import filled
from overtone.space import Config

OWN = [name for name, contestant in CONTESTANTS.items() if contestant.package == "overtone"]
HERE = [name for name in problems.PROBLEMS if not problems.missing(name)]


@pytest.fixture(autouse=True)
def folders(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(cache, "FOLDER", tmp_path / "cache")


# problems


@pytest.mark.parametrize("name", HERE)
def test_a_problem_has_values_and_they_do_not_change(name: str) -> None:
    problem, again = problems.problem(name), problems.PROBLEMS[name]()
    rng = np.random.default_rng(0)
    configs = [problem.space.decode(problem.space.draw(rng)) for _ in range(6)]
    values = [problem.value(config, problem.full_budget, 3) for config in configs]
    assert values == [again.value(config, again.full_budget, 3) for config in configs]
    known = [value for value in values if value is not None]
    assert len(set(known)) > 1
    best = problem.optimum if problem.optimum is not None else -np.inf
    assert all(value is None or value >= best for value in map(problem.true, configs))


def test_most_problems_are_real_also_among_those_held_out() -> None:
    assert not problems.DEVELOPMENT.keys() & problems.HELD_OUT.keys()
    for some in (problems.PROBLEMS, problems.HELD_OUT):
        real = [problems.problem(name).is_real for name in some if name in HERE]
        assert sum(real) > len(real) / 2 - 1


def test_noise_has_its_draws() -> None:
    problem = problems.problem("planted-60")
    config = problem.space.decode(problem.space.draw(np.random.default_rng(0)))
    values = [problem.value(config, None, draw) for draw in (0, 1, 0)]
    assert values[0] == values[2] != values[1]
    assert problem.true(config) not in values


def test_the_planted_optimum_is_there_and_no_default_has_it() -> None:
    problem = problems.problem("planted-30")
    assert problem.optimum is not None
    for on in (False, True):
        value = problem.true(dict.fromkeys(problem.space.parameters, on))
        assert value is not None
        assert value > problem.optimum + 0.1


def test_a_crash_is_a_failure_and_what_is_forbidden_is_never_drawn() -> None:
    problem = problems.problem("crashing-pipeline")
    rng = np.random.default_rng(0)
    configs = [problem.space.decode(problem.space.draw(rng)) for _ in range(40)]
    values = [problem.true(config) for config in configs]
    assert 0 < values.count(None) < len(values)
    assert not any(config.get("penalty") == "l1" and config.get("loss") == "hinge" for config in configs)


def test_budgets_of_the_network_cost_less_and_tell_less() -> None:
    problem = problems.problem("network")
    config = problem.space.decode(problem.space.draw(np.random.default_rng(1)))
    assert problem.full_budget == 9.0
    assert problem.value(config, 1.0, 0) != problem.value(config, 9.0, 0)


def test_values_of_a_slow_problem_are_kept(tmp_path: Path) -> None:
    calls: list[Config] = []

    def true(config: Config) -> float | None:
        calls.append(config)
        return None if len(calls) == 1 else 1.0

    slow = Problem("slow", switches(3), true, 10, is_real=False, is_slow=True)
    configs = [slow.space.decode(slow.space.draw(np.random.default_rng(i))) for i in range(2)]
    for _ in range(2):
        kept = cache.Cached("slow", slow)
        assert [kept.value(config, None, draw) for draw, config in enumerate(configs)] == [None, 1.0]
        assert kept.true(configs[1]) == 1.0
        kept.close()
    assert len(calls) == 2
    assert (tmp_path / "cache" / ".gitignore").read_text() == "*\n"


# players


def _linear(config: Config) -> float:
    return float(signs(config) @ [1, -2, 3, -4, 5, -6, 7, -8])


LINEAR = Problem("linear", switches(8), _linear, 200, is_real=False, optimum=-36.0)


def _drive(player: Scripted, n: int, W: int) -> Iterator[tuple[Config, float]]:
    for _ in range(n):
        moves = player.ask(W)
        values = [_linear(move.config) for move in moves]
        player.tell(list(zip(moves, values, strict=True)))
        yield from zip((move.config for move in moves), values, strict=True)


@pytest.mark.parametrize("W", [1, 20])
def test_hill_climbing_ends_at_the_bottom_and_repeats_nothing(W: int) -> None:
    seen = list(_drive(Scripted(classics.hill_climbing(LINEAR, 0, W)), 60 if W == 1 else 6, W))
    assert min(value for _, value in seen) == -36.0
    assert len({key(config) for config, _ in seen}) == len(seen)


@pytest.mark.parametrize("W", [1, 20])
def test_annealing_ends_at_the_bottom(W: int) -> None:
    assert min(value for _, value in _drive(Scripted(classics.annealing(LINEAR, 0, W)), 200 // W, W)) == -36.0


def test_combined_elimination_turns_off_what_is_better_off_and_ends() -> None:
    player = Scripted(classics.combined_elimination(LINEAR, 0, 1))
    seen = list(_drive(player, 30, 20))
    assert seen[0][0] == dict.fromkeys(LINEAR.space.parameters, True)
    assert min(value for _, value in seen) == -36.0
    assert player.ask(5) == []


def test_combined_elimination_has_a_coin_where_on_means_nothing() -> None:
    tossed = replace(LINEAR, is_tossed=True)
    first, second = (list(_drive(Scripted(classics.combined_elimination(tossed, seed, 1)), 30, 20)) for seed in (0, 1))
    assert first[0][0] != second[0][0]
    changed = [name for name, level in first[-1][0].items() if level != first[0][0][name]]
    assert changed
    assert any(first[0][0].values())
    assert not all(first[0][0].values())


def test_a_failure_is_as_bad_as_the_worst_and_waits_for_it() -> None:
    failures = Failures()
    assert list(failures.numbers([("a", None)])) == []
    assert list(failures.numbers([("b", 2.0), ("c", None), ("d", 5.0)])) == [
        ("b", 2.0, False), ("d", 5.0, False), ("a", 5.0, True), ("c", 5.0, True),
    ]  # fmt: skip


def test_only_active_parameters_are_in_a_configuration() -> None:
    space = problems.problem("digits-pipeline").space
    whole = {name: parameter.levels[0] if parameter.levels else 0.5 for name, parameter in space.parameters.items()}
    config = active_only(space, whole)
    assert config["model"] == "neighbors"
    assert "k" in config
    assert "kernel" not in config
    assert space.decode(space.encode(config)) == config


@pytest.mark.parametrize("contestant", OWN)
def test_own_contestants_play(contestant: str) -> None:
    names = ("network",) if CONTESTANTS[contestant].skips(problems.problem("planted-30")) else ("planted-30", "lzma")
    for name in names:
        if not CONTESTANTS[contestant].skips(problems.problem(name)):
            _check(play(name, contestant, "one at a time", 0, 60.0, 20), CONTESTANTS[contestant])


def _check(row: dict[str, object], contestant: Contestant) -> None:
    assert row["capped"] is False
    assert json.loads(json.dumps(row)) == row
    shares = row["at_share"]
    assert isinstance(shares, list)
    assert len(shares) == len(SHARES)
    assert shares[-1] is not None
    evaluations = row["evaluations"]
    assert isinstance(evaluations, int)
    assert evaluations >= 3
    if contestant.most is None and problems.problem(str(row["problem"])).full_budget is None:
        assert evaluations <= contestant.factor * 20


def test_with_noise_the_answer_is_what_the_optimizer_judges_best() -> None:
    """As `minimize` answers, not the luckiest of single values."""
    problem = problems.problem("planted-200")
    player = CONTESTANTS["overtone (automatic)"].make(problem, 0, 40)
    told: list[tuple[float, Config]] = []
    while moves := player.ask(40):
        results = [(move, problem.value(move.config, None, number)) for number, move in enumerate(moves, len(told))]
        told += [(value, move.config) for move, value in results if value is not None]
        player.tell(results)
    answer = player.best()
    assert answer is not None
    assert problem.true(answer) <= problem.true(min(told, key=lambda pair: pair[0])[1])  # type: ignore[operator]
    assert answer in [config for _, config in told]


def test_with_many_in_flight_results_are_known_when_the_round_ends() -> None:
    row = play("planted-30", "hill climbing", "100 in flight", 0, 60.0, 300)
    assert row["evaluations"] == 300
    assert len(row["at_round"]) == 4
    wide = play("planted-30", "annealing", "100 in flight", 0, 60.0, 300)
    assert wide["rounds"] == 4
    assert wide["at_share"][0] is None  # 37 evaluations: the first round, of 75, is still out
    assert wide["at_share"][1] == wide["at_round"][0]


def test_in_flight_are_a_hundred_but_at_most_a_quarter() -> None:
    assert [in_flight(B, "100 in flight") for B in (100, 400, 500)] == [25, 100, 100]
    assert in_flight(400, "one at a time") == 1


def test_what_is_the_same_in_every_mode_is_judged_for_both() -> None:
    row = play("planted-60", "random search", "any", 0, 60.0, 80)
    assert row["rounds"] == 4
    assert row["at_share"][0] is None
    assert row["at_once"][0] is not None  # after 10 evaluations
    assert row["at_once"][-1] == row["at_share"][-1]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # it may ring in a destructor
def test_a_cell_that_runs_out_of_wall_time_says_so() -> None:
    row = play("planted-30", "random search 8x", "any", 0, 0.05, 100_000)
    assert row["capped"] is True
    assert len(row["at_share"]) == len(SHARES)


# bookkeeping


def test_a_line_that_was_cut_off_is_run_again(tmp_path: Path) -> None:
    row = {"problem": "p", "contestant": "A (b)", "mode": "one at a time", "seed": 0}
    store.append(tmp_path, row)
    path = store.path_of(tmp_path, "p", "A (b)", "one at a time")
    assert path.name == "p--a-b--one-at-a-time.jsonl"
    path.write_text(path.read_text() + '{"problem": "p", "see')
    assert store.read_all(tmp_path) == [row]


def _row(contestant: str, end: float, seconds: float = 1.0, problem: str = "planted-60", seed: int = 0) -> store.Row:
    return {
        "problem": problem, "contestant": contestant, "mode": "any", "seed": seed, "budget": 400,
        "at_share": [None] + 7 * [end], "at_once": 8 * [end],
        "at_round": 4 * [end], "evaluations": 400, "failed": 0, "rounds": 4, "seconds": seconds, "capped": False,
    }  # fmt: skip


def _rows() -> list[store.Row]:
    ends = {
        "random search": -5.0, "random search 8x": -6.5, "hill climbing": -7.0, "overtone (automatic)": -8.0,
        "spectral descent (batch=W)": -8.0 + 1e-5, "Harmonica-1 (paper)": -7.5,
    }  # fmt: skip
    rows = [_row(name, end, seed=seed) for name, end in ends.items() for seed in (0, 1)]
    return [*rows, _row("Optuna TPE", -7.9, seconds=50.0)]


def test_the_summary_knows_who_is_best_and_by_how_much() -> None:
    found = summary.summarize(_rows())
    optimum = problems.problem("planted-60").optimum
    assert optimum is not None
    assert found.best_known["planted-60"] == optimum
    mode = next(iter(MODES))
    assert found.spread["planted-60", mode] == pytest.approx(-5.0 - optimum)
    assert summary.tied(found, "planted-60", mode) == ["overtone (automatic)", "spectral descent (batch=W)"]
    assert summary.shares(found, mode)["hill climbing"] == (0, 1)
    assert summary.shares(found, mode, "25%", held_out=False)["spectral descent (batch=W)"] == (1, 1)
    assert summary.shares(found, mode, held_out=True) == {}
    gap, where = summary.worst_gap(found, "random search", "hill climbing", mode)
    assert gap == pytest.approx(100 * 2.0 / (-5.0 - optimum))
    assert where == "planted-60"
    assert summary.times(found, "spectral descent (batch=W)", mode) == [("planted-60", 0.02)]
    assert summary.claim(found) == [("planted-60", -7.5, -6.5)]


def test_what_is_clear_over_the_seeds_is_told_from_luck() -> None:
    ends = {"overtone (automatic)": 0.0, "local search": -20.0, "hill climbing": 20.0, "annealing": 0.5}
    rows = [_row(name, end + seed, seed=seed) for name, end in ends.items() for seed in range(12)]
    rows += [_row("Optuna TPE", -30.0, seed=seed) for seed in range(3)]  # too few to say
    rows += [_row("random search 8x", -30.0 + seed, seed=seed) for seed in range(12)]  # no equal footing
    found = summary.summarize(rows)
    mode = next(iter(MODES))
    told = {contestant: verdict for (_, m, contestant), verdict in found.verdicts.items() if m == mode}
    assert told == {"local search": "ahead", "hill climbing": "behind", "annealing": "even"}
    assert f"| {mode} | local search | 0 | 0 | 1 | planted-60 |" in tables.clear(found)
    later = summary.with_earlier(summary.summarize(rows[:1]), json.loads(json.dumps(summary.plain(found))))
    assert later.verdicts == found.verdicts


def test_seeds_may_start_anywhere(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    order = ["--problems", "ising", "--contestants", "random search", "--run-only", "--results", str(tmp_path)]
    for first in ("7", "8"):  # of the second two, one is known already
        assert command.main([*order, "--first", first, "--seeds", "2"]) == 0
    assert sorted(row["seed"] for row in store.read_all(tmp_path)) == [7, 8, 9]
    assert "1 cells to run" in capsys.readouterr().out


def test_cells_that_are_not_here_stay_as_they_were() -> None:
    before = summary.plain(summary.summarize(_rows()))
    now = summary.summarize([_row("overtone (automatic)", -9.0, seed=seed) for seed in range(3)])
    found = summary.with_earlier(now, json.loads(json.dumps(before)))
    mode = next(iter(MODES))
    ours, theirs = (found.scores["planted-60", mode, name] for name in ("overtone (automatic)", "hill climbing"))
    assert (ours.seeds, ours.at["100%"]) == (3, -9.0)
    assert (theirs.seeds, theirs.at["100%"]) == (2, -7.0)
    assert found.spread == summary.summarize(_rows()).spread
    assert summary.tied(found, "planted-60", mode) == ["overtone (automatic)"]


def test_the_tables_show_a_dash_where_somebody_did_not_play() -> None:
    text = tables.markdown(summary.summarize(_rows()))
    assert "| planted-60 | SMAC3 | - | - | - |" in text
    assert "on 1 of 1 problems" in text
    assert "**" in text
    assert "inf" not in text.replace("infinite", "")


def test_the_page_is_filled_between_its_marks() -> None:
    text = "a\n<!-- x -->\nold\n<!-- /x -->\nb\n"
    assert filled(text, {"x": "new"}) == "a\n<!-- x -->\nnew\n<!-- /x -->\nb\n"
    with pytest.raises(ValueError, match="the page must have the marks"):
        filled(text, {"y": ""})


def test_the_page_lists_every_problem_and_contestant() -> None:
    assert all(f"| {name} |" in tables.problem_table() for name in problems.PROBLEMS)
    assert all(f"| {name} |" in tables.contestant_table() for name in CONTESTANTS)


def test_a_name_that_is_not_there_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        command.main(["--problems", "plantd"])
    assert "invalid choice: 'plantd'" in capsys.readouterr().err


def test_what_is_not_installed_is_said() -> None:
    ghost = Contestant("ghost", CONTESTANTS["random search"].make, "", package="no_such_package")
    assert "no_such_package is not installed" in missing_contestant(ghost)
