import functools
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from overtone.errors import InputError, RunFailed
from overtone.optimizers import Harmonica, Hyperband, LocalSearch, Optimizer, RandomSearch, Trial
from overtone.optimizers.stage import Stage
from overtone.running.journal import read_history
from overtone.running.ledger import Event, MemoryLedger
from overtone.running.progress import Status
from overtone.running.record import History
from overtone.running.runner import HOPELESS, Limits, run
from overtone.running.sqlite_ledger import SqliteLedger
from overtone.running.workers import InProcess, Workers
from overtone.space import Space, boolean
from tests.running import objectives
from tests.running.objectives import PATIENCE, count, eventually, interaction, restless

SPACE = Space({f"x{i}": boolean() for i in range(8)})


def harmonica(space: Space) -> Harmonica:
    """Two stages and a base; with automatic values it takes ten times as long."""
    base = functools.partial(RandomSearch, n_evaluations=9)
    return Harmonica(space, n_samples=24, n_stages=2, base=base, degree=2, sparsity=3, l1_penalty=0.3)


OPTIMIZERS: dict[str, Callable[[Space], Optimizer]] = {
    "random search": functools.partial(RandomSearch, n_evaluations=40),
    "harmonica": harmonica,
    "local search": functools.partial(LocalSearch, n_evaluations=40),
    "hyperband": functools.partial(Hyperband, max_budget=27),
}


def go(optimizer: Optimizer | None = None, objective: Callable[..., Any] = count, **options: Any) -> History:
    """A run in this process, unless told otherwise."""
    options = {"executor": InProcess(), "n_workers": 1, "ledger": MemoryLedger(), **options}
    return run(
        RandomSearch(SPACE, n_evaluations=20) if optimizer is None else optimizer, objective, space=SPACE, **options
    )


def ledger_of(events: Sequence[Event]) -> MemoryLedger:
    ledger = MemoryLedger()
    ledger.append(*events)
    return ledger


def facts(history: History) -> tuple[Any, ...]:
    """All but the time it took."""
    told = [(r.trial, r.outcome.value, r.outcome.reason, r.outcome.attempts) for r in history.records]
    return history.space.to_dict(), told, history.stages, history.goal, history.default, history.stopped


# ---- the same run, however it is run ----


@pytest.mark.parametrize("name", OPTIMIZERS)
@pytest.mark.parametrize("limit", [None, 31])
def test_any_number_of_workers_and_any_order_give_the_same_run(name: str, limit: int | None) -> None:
    alone = go(OPTIMIZERS[name](SPACE), interaction, limits=Limits(n_evaluations=limit))
    assert alone.stopped == ("done" if limit is None else "evaluations used up")
    assert limit is None or len(alone.records) == limit
    for n_workers in (2, 5):
        with ThreadPoolExecutor(n_workers) as executor:
            options = {"executor": executor, "n_workers": n_workers, "limits": Limits(n_evaluations=limit)}
            assert facts(go(OPTIMIZERS[name](SPACE), restless, **options)) == facts(alone)


def test_worker_processes_give_the_same_run_as_this_process() -> None:
    alone = go(harmonica(SPACE), interaction)
    assert [stage.number for stage in alone.stages] == [1, 2]
    with Workers(2) as executor:
        assert facts(go(harmonica(SPACE), restless, executor=executor, n_workers=2)) == facts(alone)


def test_the_ledger_tells_the_same_story() -> None:
    for n_workers, executor in ((1, InProcess()), (5, ThreadPoolExecutor(5))):
        ledger = MemoryLedger()
        settings = {"seed": 0, "n_evaluations": 50}
        default = dict.fromkeys(SPACE.parameters, True)
        with executor:
            options: dict[str, Any] = {"executor": executor, "n_workers": n_workers, "ledger": ledger}
            history = go(harmonica(SPACE), restless, **options, settings=settings, default=default)
        assert read_history(ledger.read()) == history
        assert (history.settings, history.default, history.stopped) == (settings, default, "done")


# ---- going on ----


@pytest.mark.parametrize("name", OPTIMIZERS)
@pytest.mark.parametrize("n_workers", [1, 3])
def test_a_run_that_was_cut_anywhere_goes_on_as_if_it_had_not(name: str, n_workers: int) -> None:
    whole = MemoryLedger()
    with ThreadPoolExecutor(n_workers) as executor:
        options: dict[str, Any] = {"executor": executor, "n_workers": n_workers, "ledger": whole}
        wanted = go(OPTIMIZERS[name](SPACE), restless, **options, limits=Limits(n_evaluations=40))
    events = list(whole.read())
    kinds = [event["kind"] for event in events]
    near = [at for at, kind in enumerate(kinds) if kind in ("start", "stage", "end")]
    cuts = {*range(0, len(events) + 1, 9), *(at + step for at in near for step in (0, 1))}
    for cut in sorted(cuts):
        calls: list[Any] = []

        def counted(config: Any, budget: float | None = None, calls: list[Any] = calls) -> float:
            calls.append((config, budget))
            return interaction(config)

        ledger = ledger_of(events[:cut])
        history = go(OPTIMIZERS[name](SPACE), counted, ledger=ledger, limits=Limits(n_evaluations=40))
        assert facts(history) == facts(wanted)
        assert len(calls) == len(wanted.records) - kinds[:cut].count("tell")
        assert facts(read_history(ledger.read())) == facts(wanted)


def test_a_run_can_go_on_beyond_its_limit_and_end_where_a_longer_one_does() -> None:
    ledger = MemoryLedger()
    for n in (7, 30, 30, 33):
        history = go(harmonica(SPACE), interaction, ledger=ledger, limits=Limits(n_evaluations=n))
        assert (len(history.records), history.stopped) == (n, "evaluations used up")
    assert facts(go(harmonica(SPACE), interaction, ledger=ledger)) == facts(go(harmonica(SPACE), interaction))


def test_a_run_goes_on_from_a_file(tmp_path: Path) -> None:
    for n in (1, 30, None):
        with SqliteLedger(tmp_path / "run.db") as ledger, Workers(2) as executor:
            options: dict[str, Any] = {"executor": executor, "n_workers": 2, "ledger": ledger}
            history = go(harmonica(SPACE), interaction, **options, limits=Limits(n_evaluations=n))
            assert facts(read_history(ledger.read())) == facts(history)
    assert facts(history) == facts(go(harmonica(SPACE), interaction))


def test_another_space_or_goal_is_refused() -> None:
    ledger = MemoryLedger()
    go(ledger=ledger, limits=Limits(n_evaluations=3))
    with pytest.raises(InputError, match="goal"):
        go(ledger=ledger, goal="maximize")


# ---- the order in which things are done ----


class Spy(MemoryLedger):
    """Notes what happens, and when."""

    def __init__(self) -> None:
        super().__init__()
        self.story: list[str] = []

    def append(self, *events: Event) -> None:
        self.story += [f"{event['kind']} {event.get('number', '')}".strip() for event in events]
        super().append(*events)


class Noted(RandomSearch):
    story: list[str]

    def tell(self, trial: Trial, value: float | None) -> None:
        self.story.append(f"told {trial.number}")
        super().tell(trial, value)


def test_the_ledger_knows_everything_first() -> None:
    ledger = Spy()
    optimizer = Noted(SPACE, n_evaluations=2)
    optimizer.story = ledger.story

    def objective(_: Any) -> float:
        ledger.story.append("called")
        return 1.0

    go(optimizer, objective, ledger=ledger)
    one, two = (["ask N", "called", "tell N", "told N"] for _ in range(2))
    expected = [line.replace("N", "0") for line in one] + [line.replace("N", "1") for line in two]
    assert ledger.story == ["start", *expected, "end"]


class Given(RandomSearch):
    """Has stages from the start, and learns one more."""

    def __init__(self, stages: list[Stage]) -> None:
        super().__init__(SPACE, n_evaluations=3)
        self.stages = stages[:1]
        self._more_stages = stages[1:]

    def tell(self, trial: Trial, value: float | None) -> None:
        super().tell(trial, value)
        self.stages += self._more_stages
        self._more_stages = []


def test_stages_that_were_given_are_not_learned() -> None:
    learned = list(go(harmonica(SPACE), interaction).stages)
    ledger = MemoryLedger()
    assert go(Given(learned), ledger=ledger).stages == (learned[1],)
    assert [event["kind"] for event in ledger.read()].count("stage") == 1
    assert go(Given(learned), ledger=ledger).stages == (learned[1],)


def test_the_cost_of_a_trial_does_not_grow() -> None:
    calls = dict.fromkeys((100, 200, 600, 700), 0)
    n_calls = 0

    def profile(_frame: Any, event: str, _what: Any) -> None:
        nonlocal n_calls
        n_calls += event in ("call", "c_call")

    class Watch:
        def update(self, status: Status) -> None:
            if status.n_done in calls:
                calls[status.n_done] = n_calls

        def end(self, stopped: str) -> None:
            assert stopped == "done"

    space = Space({f"x{i}": boolean() for i in range(20)})
    sys.setprofile(profile)
    try:
        run(
            RandomSearch(space, n_evaluations=800),
            count,
            space=space,
            executor=InProcess(),
            n_workers=1,
            ledger=MemoryLedger(),
            progress=Watch(),
        )
    finally:
        sys.setprofile(None)
    assert calls[700] - calls[600] <= 1.1 * (calls[200] - calls[100])


# ---- limits ----


def test_a_target_ends_the_run_as_soon_as_it_is_met() -> None:
    history = go(RandomSearch(SPACE, n_evaluations=200), limits=Limits(target=2))
    assert history.stopped == "target reached"
    values = [record.outcome.value for record in history.records]
    assert values[-1] is not None and values[-1] <= 2
    assert all(value is not None and value > 2 for value in values[:-1])


def test_a_target_of_something_to_be_maximized_is_met_from_below() -> None:
    ledger = MemoryLedger()
    optimizer = functools.partial(RandomSearch, SPACE, n_evaluations=200)
    history = go(optimizer(), goal="maximize", limits=Limits(target=6), ledger=ledger)
    assert history.stopped == "target reached"
    assert history.best is not None and history.best.outcome.value == 6
    again = go(optimizer(), goal="maximize", limits=Limits(target=6), ledger=ledger)
    assert again.records == history.records  # it is met already


def test_optimizers_are_told_the_opposite_of_what_is_to_be_maximized() -> None:
    upwards = go(harmonica(SPACE), lambda config: -interaction(config), goal="maximize")
    downwards = go(harmonica(SPACE), interaction)
    assert upwards.stages == downwards.stages
    assert [r.outcome.value for r in upwards.records] == [-(r.outcome.value or 0) for r in downwards.records]


def test_time_ends_a_run_and_what_is_running() -> None:
    ledger = MemoryLedger()
    with Workers(2) as executor:
        executor.submit(count, {}).result(PATIENCE)
        options: dict[str, Any] = {"executor": executor, "n_workers": 2, "ledger": ledger}
        history = go(None, objectives.hang, **options, limits=Limits(seconds=0.5))
        assert (history.stopped, history.records) == ("time is up", ())
        resumed = go(None, count, **options)  # the workers are free again, and what was out is evaluated now
    assert facts(resumed) == facts(go())


def test_time_is_up_between_trials_too() -> None:
    def slow(_: Any) -> float:
        time.sleep(0.02)
        return 1.0

    history = go(RandomSearch(SPACE), slow, limits=Limits(seconds=0.1))
    assert history.stopped == "time is up"
    assert len(history.records) < 100


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"n_evaluations": 0}, "n_evaluations"),
        ({"n_evaluations": 1.5}, "n_evaluations"),
        ({"seconds": 0}, "seconds"),
        ({"seconds": "5"}, "seconds"),
        ({"target": float("nan")}, "target"),
        ({"target": True}, "target"),
    ],
)
def test_limits_that_make_no_sense_are_refused(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=f"`{said}` must be"):
        Limits(**wrong)


# ---- failures ----

FAILURES: list[tuple[Callable[..., Any], str]] = [
    (objectives.segfault, "the worker was killed by SIGSEGV"),
    (objectives.leave, "the worker ended with exit code 3"),
    (objectives.kill_itself, "the worker was killed by SIGKILL"),
    (objectives.system_exit, "SystemExit: 4"),
    (objectives.broken, "ValueError: no good"),
    (objectives.not_a_number, "the objective must give a finite number, at most 1e+50, but gave float nan"),
    (objectives.text, "the objective must give a finite number, at most 1e+50, but gave str '0.5'"),
    (objectives.nothing, "the objective must give a finite number, at most 1e+50, but gave None"),
    (objectives.hang, "it took longer than 4 s and was killed"),
]


def test_no_failure_of_a_trial_ends_the_run() -> None:
    optimizer = RandomSearch(SPACE, n_evaluations=len(FAILURES) + 4)
    configs = [trial.config for trial in RandomSearch(SPACE, n_evaluations=len(FAILURES)).ask(len(FAILURES))]
    bad = [(config, objective) for config, (objective, _) in zip(configs, FAILURES, strict=True)]

    def objective(config: Any) -> Any:
        return next((each(config) for wrong, each in bad if wrong == config), 1.0)

    with Workers(2, timeout=4) as executor:
        history = go(optimizer, objective, executor=executor, n_workers=2, retries=0)
    outcomes = [record.outcome for record in history.records]
    for outcome, (_, reason) in zip(outcomes, FAILURES, strict=False):
        assert outcome.value is None
        assert outcome.reason.startswith(reason)
    assert "in broken" in outcomes[4].detail
    assert "in segfault" in outcomes[0].detail
    assert "in hang" in outcomes[-5].detail
    assert all(outcome.seconds > 0 for outcome in outcomes)
    assert [outcome.value for outcome in outcomes[-4:]] == [1.0] * 4


def test_a_trial_whose_worker_died_is_tried_again(tmp_path: Path) -> None:
    objective = functools.partial(objectives.crash_once, folder=str(tmp_path))
    with Workers(2) as executor:
        history = go(RandomSearch(SPACE, n_evaluations=6), objective, executor=executor, n_workers=2)
    assert [record.outcome.attempts for record in history.records] == [2] * 6
    assert facts(history)[1] == [(t, v, r, 2) for t, v, r, _ in facts(go(RandomSearch(SPACE, n_evaluations=6)))[1]]


def test_retries_end_and_a_timeout_has_none() -> None:
    crash, hang = (trial.config for trial in RandomSearch(SPACE, n_evaluations=2).ask(2))

    def objective(config: Any) -> float:
        if config == crash:
            os._exit(3)
        return objectives.hang(config) if config == hang else 1.0

    with Workers(2, timeout=4) as executor:
        history = go(RandomSearch(SPACE, n_evaluations=4), objective, executor=executor, n_workers=2, retries=2)
    assert [record.outcome.attempts for record in history.records] == [3, 1, 1, 1]
    assert [record.outcome.value for record in history.records] == [None, None, 1.0, 1.0]


def test_a_run_in_which_every_trial_fails_stops_early_with_the_reason_on_top() -> None:
    ledger = MemoryLedger()
    optimizer = functools.partial(RandomSearch, SPACE, n_evaluations=100)
    with pytest.raises(RunFailed) as caught:
        go(optimizer(), objectives.broken, ledger=ledger)
    lines = str(caught.value).splitlines()
    assert lines[0].startswith("every trial failed (10 of 10), 10 times: ValueError: no good")
    assert "in broken" in str(caught.value)
    history = read_history(ledger.read())
    assert len(history.records) == HOPELESS
    assert history.stopped == lines[0]
    assert len(go(optimizer(), count, ledger=ledger).records) == 100  # the cause is mended: it goes on


def test_with_many_workers_it_takes_more_failures_to_give_up() -> None:
    ledger = MemoryLedger()
    with pytest.raises(RunFailed):
        go(RandomSearch(SPACE), objectives.broken, n_workers=8, ledger=ledger)
    assert len(read_history(ledger.read()).records) == 16


def test_one_success_is_hope_enough_and_few_failures_are_too_many_if_that_is_all() -> None:
    first = RandomSearch(SPACE).ask(1)[0].config
    history = go(RandomSearch(SPACE, n_evaluations=40), lambda config: 1.0 if config == first else None)
    assert sum(record.outcome.value is None for record in history.records) == 39
    ledger = MemoryLedger()
    with pytest.raises(RunFailed, match=r"every trial failed \(3 of 3\)"):
        go(objective=objectives.broken, ledger=ledger, limits=Limits(n_evaluations=3))
    assert go(objective=objectives.broken, ledger=ledger, limits=Limits(n_evaluations=3)).best is None


def test_an_objective_that_cannot_travel_ends_the_run_with_advice() -> None:
    with Workers(1) as executor, pytest.raises(InputError, match="must be picklable"):
        go(objective=objectives.Locked(), executor=executor)
    assert go(objective=objectives.Locked()).stopped == "done"


def test_workers_that_cannot_start_end_the_run_and_no_trial_is_blamed(monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = MemoryLedger()
    monkeypatch.setattr(sys, "executable", "/not/there/python")
    with Workers(2) as executor, pytest.raises(RunFailed, match="/not/there/python"):
        go(executor=executor, n_workers=2, ledger=ledger)
    assert read_history(ledger.read()).records == ()
    assert facts(go(ledger=ledger)) == facts(go())


class Stuck(RandomSearch):
    def ask(self, n: int = 1) -> list[Trial]:  # noqa: ARG002
        return []


def test_an_optimizer_that_is_stuck_does_not_hang_the_run() -> None:
    with pytest.raises(RunFailed, match="stuck"):
        go(Stuck(SPACE))


# ---- executors of others ----


def test_threads_and_processes_of_python_work() -> None:
    wanted = facts(go(harmonica(SPACE), interaction))
    spawn = multiprocessing.get_context("spawn")
    for executor in (ThreadPoolExecutor(3), ProcessPoolExecutor(2, mp_context=spawn)):
        with executor:
            assert facts(go(harmonica(SPACE), interaction, executor=executor, n_workers=3)) == wanted


def test_a_pool_of_others_that_breaks_ends_the_run_and_no_trial_is_blamed() -> None:
    ledger = MemoryLedger()
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=spawn) as executor, pytest.raises(RunFailed, match="BrokenProcessPool"):
        go(objective=objectives.leave, executor=executor, n_workers=2, ledger=ledger)
    with executor, pytest.raises(RunFailed, match="executor must be able to go on"):
        go(executor=_Dead(), ledger=ledger)
    assert facts(go(ledger=ledger)) == facts(go())


class _Dead(Executor):
    """As a pool is after it broke."""

    def submit(self, *_: Any, **__: Any) -> "Future[Any]":
        from concurrent.futures.process import BrokenProcessPool

        raise BrokenProcessPool("it is broken")


class Odd(Executor):
    """Loses the first task by cancelling it, and gives an error of its own for the second."""

    def __init__(self) -> None:
        self.n = 0

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> "Future[Any]":
        self.n += 1
        future: Future[Any] = Future()
        if self.n == 1:
            future.cancel()
            future.set_running_or_notify_cancel()
        elif self.n == 3:  # the second attempt of the first is the second
            future.set_exception(LookupError("the cluster lost it"))
        else:
            future.set_result(fn(*args, **kwargs))
        return future


def test_what_other_executors_do_to_a_trial_is_a_failure_with_its_reason() -> None:
    records = go(executor=Odd()).records
    assert [record.outcome.attempts for record in records[:3]] == [2, 1, 1]
    assert [record.outcome.reason for record in records[:3]] == ["", "LookupError: the cluster lost it", ""]
    lost = go(executor=Odd(), retries=0).records[0].outcome
    assert (lost.reason, lost.attempts) == ("the executor cancelled it", 1)


# ---- progress ----


class Heard:
    def __init__(self) -> None:
        self.said: list[Status] = []
        self.stopped: list[str] = []

    def update(self, status: Status) -> None:
        self.said.append(status)

    def end(self, stopped: str) -> None:
        self.stopped.append(stopped)


def test_progress_is_told_how_it_goes() -> None:
    heard, ledger = Heard(), MemoryLedger()
    go(ledger=ledger, limits=Limits(n_evaluations=5))
    flaky = lambda config: None if config["x0"] else count(config)  # noqa: E731
    history = go(objective=flaky, ledger=ledger, limits=Limits(n_evaluations=20), progress=heard)
    first, last = heard.said[0], heard.said[-1]
    assert (first.n_done, first.n_running, first.n_evaluations, first.seconds_left) == (5, 1, 20, None)
    assert (last.n_done, last.n_running, last.stage) == (20, 0, "random search")
    assert last.n_failed == sum(record.outcome.value is None for record in history.records) > 0
    assert history.best is not None and last.best == history.best.outcome.value
    assert heard.said[-2].seconds_left is not None
    assert heard.stopped == ["done"]


def test_progress_is_ended_after_an_error_too() -> None:
    heard = Heard()
    with pytest.raises(RunFailed):
        go(objective=objectives.broken, progress=heard)
    assert heard.stopped == ["failed"]


# ---- Ctrl-C ----

SCRIPT = f"""
import sys, time
from pathlib import Path
sys.path.insert(0, {str(Path(__file__).parents[2])!r})
from overtone.optimizers import RandomSearch
from overtone.running.ledger import MemoryLedger
from overtone.running.runner import run
from overtone.running.workers import InProcess, Workers
from overtone.space import Space, boolean
from tests.running.objectives import start_children

class Ledger(MemoryLedger):
    def append(self, *events):
        super().append(*events)
        for event in events:
            if event["kind"] == "end":
                print("ended:", event["reason"], flush=True)
                while SLOW:
                    time.sleep(0.01)

def objective(config):
    if len(list(Path(".").glob("*.done"))) >= 3:
        start_children(".")
        time.sleep(1_000_000)
    Path(f"{{time.monotonic_ns()}}.done").touch()
    return 1.0

space = Space({{f"x{{i}}": boolean() for i in range(8)}})
with EXECUTOR as executor:
    history = run(RandomSearch(space), objective, space=space, executor=executor, n_workers=N, ledger=Ledger())
print(history.stopped, len(history.records))
"""


@pytest.fixture
def start(tmp_path: Path) -> "Iterator[Callable[..., subprocess.Popen[str]]]":
    processes: list[subprocess.Popen[str]] = []

    def started(n_workers: int, slow: bool = False) -> "subprocess.Popen[str]":
        executor = f"Workers({n_workers})" if n_workers > 1 else "InProcess()"
        code = SCRIPT.replace("EXECUTOR", executor).replace("=N,", f"={n_workers},").replace("SLOW", str(slow))
        (tmp_path / "script.py").write_text(code)
        process = subprocess.Popen(
            [sys.executable, str(tmp_path / "script.py")],
            cwd=tmp_path,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        processes.append(process)
        assert eventually(lambda: len(objectives.pids(tmp_path)) == 3 * n_workers)
        return process

    yield started
    for process in processes:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("n_workers", [1, 2])
def test_ctrl_c_ends_a_run_with_what_it_has(
    n_workers: int, tmp_path: Path, start: "Callable[..., subprocess.Popen[str]]"
) -> None:
    process = start(n_workers)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    out, errors = process.communicate(timeout=PATIENCE)
    n_done = len(list(tmp_path.glob("*.done")))
    assert (out, errors) == (f"ended: interrupted\ninterrupted {n_done}\n", "")
    assert process.returncode == 0
    in_workers = objectives.pids(tmp_path) if n_workers > 1 else []
    assert eventually(lambda: all(map(objectives.is_gone, in_workers)))
    for pid in objectives.pids(tmp_path):  # in this process, what the objective has started is its own affair
        if not objectives.is_gone(pid):
            os.kill(pid, signal.SIGKILL)


def test_a_second_ctrl_c_ends_it_at_once(tmp_path: Path, start: "Callable[..., subprocess.Popen[str]]") -> None:
    process = start(2, slow=True)
    os.killpg(process.pid, signal.SIGINT)
    assert process.stdout is not None
    assert process.stdout.readline() == "ended: interrupted\n"  # and there it stays
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == -signal.SIGINT
    assert "KeyboardInterrupt" in errors
    assert eventually(lambda: all(map(objectives.is_gone, objectives.pids(tmp_path))))
