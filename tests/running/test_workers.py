"""Real processes that crash, hang, eat and flood. No test depends on how fast this machine is."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest

from overtone.errors import InputError, RunFailed, WorkerDied, WorkerTimeout
from overtone.running import workers as module
from overtone.running.workers import InProcess, Workers
from tests.running import objectives as bad
from tests.running.objectives import PATIENCE, eventually, is_gone, pids

MB = 2**20


@pytest.fixture
def pool() -> Iterator[Workers]:
    with Workers(2) as executor:
        yield executor


def error_of(future: "Future[Any]") -> BaseException | None:
    return future.exception(PATIENCE)


# ---- what works ----


def test_results_come_back_by_whatever_function(pool: Workers) -> None:
    shift = 10
    assert pool.submit(lambda x: x + shift, 1).result(PATIENCE) == 11
    assert pool.submit(bad.count, {"a": True, "b": True}).result(PATIENCE) == 2
    assert pool.submit(int, "12", base=3).result(PATIENCE) == 5
    assert sorted(pool.map(abs, range(-20, 0), timeout=PATIENCE)) == list(range(1, 21))
    assert pool.submit(lambda: lambda: shift).result(PATIENCE)() == 10


def test_work_is_done_by_so_many_other_processes(pool: Workers) -> None:
    seen = {future.result(PATIENCE) for future in [pool.submit(os.getpid) for _ in range(50)]}
    assert os.getpid() not in seen
    assert 1 <= len(seen) <= 2


def test_workers_see_the_callers_folder_modules_and_arguments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "of_the_user.py").write_text("def answer(): return 42\n")
    (tmp_path / "pickle.py").write_text("raise ImportError('a file of the user hides a module of Python')\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    monkeypatch.setattr(sys, "argv", ["tune", "--fast"])
    import of_the_user  # type: ignore[import-not-found]

    with Workers(1) as pool:
        assert pool.submit(of_the_user.answer).result(PATIENCE) == 42
        assert Path(pool.submit(os.getcwd).result(PATIENCE)) == tmp_path.resolve()
        assert pool.submit(lambda: sys.argv).result(PATIENCE) == ["tune", "--fast"]


def test_a_function_is_packed_once_and_sent_once_to_a_worker(tmp_path: Path, pool: Workers) -> None:
    heavy = bad.Heavy(str(tmp_path))
    before = bad.Heavy.n_packed
    seen = {future.result(PATIENCE) for future in [pool.submit(heavy, number) for number in range(50)]}
    assert bad.Heavy.n_packed == before + 1
    assert len(list(tmp_path.iterdir())) == len(seen)
    assert pool.submit(os.getpid).result(PATIENCE) in seen
    assert pool.submit(heavy, 0).result(PATIENCE) in seen


# ---- what goes wrong ----

DEATHS: list[tuple[Callable[[Any], Any], str]] = [
    (bad.segfault, "the worker was killed by SIGSEGV"),
    (bad.leave, "the worker ended with exit code 3"),
    (bad.kill_itself, "the worker was killed by SIGKILL"),
    (bad.close_everything, "the worker lost its connection"),
    (bad.write_into_everything, "the worker lost its connection"),
]


def test_a_worker_that_dies_costs_its_own_task_and_says_how() -> None:
    with Workers(2) as pool:
        futures = [(pool.submit(objective, {}), said) for objective, said in DEATHS]
        good = [pool.submit(bad.count, {"a": True}) for _ in range(5)]
        for future, said in futures:
            error = error_of(future)
            assert isinstance(error, WorkerDied)
            assert error.reason.startswith(said)
        assert [future.result(PATIENCE) for future in good] == [1.0] * 5


def test_a_crash_says_where_python_was(pool: Workers) -> None:
    error = error_of(pool.submit(bad.segfault, {}))
    assert isinstance(error, WorkerDied)
    assert "in segfault" in error.detail
    assert "Segmentation fault" in error.detail


def test_an_error_is_raised_again_with_its_traceback(pool: Workers) -> None:
    error = error_of(pool.submit(bad.broken, {"a": 1}))
    assert isinstance(error, ValueError)
    assert "in broken" in error.__notes__[0]
    assert isinstance(error_of(pool.submit(bad.system_exit, {})), SystemExit)


class OddError(Exception):
    """Cannot be made from what it is pickled to."""

    def __init__(self, one: int, two: int) -> None:
        super().__init__(f"{one} and {two}")


def test_errors_and_results_that_cannot_travel_are_described(pool: Workers) -> None:
    def odd() -> None:
        raise OddError(1, 2)

    assert "OddError: 1 and 2" in str(error_of(pool.submit(odd)))
    assert "cannot pickle" in str(error_of(pool.submit(threading.Lock)))
    assert pool.submit(bad.count, {}).result(PATIENCE) == 0


def test_a_function_that_cannot_travel_is_refused_with_advice(pool: Workers) -> None:
    with pytest.raises(InputError, match=r"objective must be picklable .*lock.*n_workers=1"):
        pool.submit(bad.Locked(), {})
    with pytest.raises(InputError, match="arguments must be picklable"):
        pool.submit(bad.count, {"a": threading.Lock()})
    assert pool.submit(bad.count, {}).result(PATIENCE) == 0


def test_a_module_that_is_not_there_is_the_error_of_the_task(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pool: Workers
) -> None:
    (tmp_path / "only_here.py").write_text("def answer(): return 42\n")
    assert pool.submit(bad.count, {}).result(PATIENCE) == 0
    with monkeypatch.context() as patch:
        patch.setattr(sys, "path", [*sys.path, str(tmp_path)])
        import only_here  # type: ignore[import-not-found]
    assert "only_here" in str(error_of(pool.submit(only_here.answer)))
    assert pool.submit(bad.count, {}).result(PATIENCE) == 0


def test_a_worker_that_cannot_start_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    without = [path for path in sys.path if not (Path(path) / "overtone").is_dir()]
    with Workers(1) as pool:
        with monkeypatch.context() as patch:
            patch.setattr(sys, "path", without)
            for _ in range(2):
                error = error_of(pool.submit(bad.count, {}))
                assert isinstance(error, RunFailed)
                assert "No module named 'overtone'" in str(error)
        assert pool.submit(bad.count, {}).result(PATIENCE) == 0  # once the cause is gone, it works


def test_a_program_that_is_not_there_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/not/there/python")
    with Workers(1) as pool:
        error = error_of(pool.submit(bad.count, {}))
    assert isinstance(error, RunFailed)
    assert "/not/there/python" in str(error)


# ---- limits ----


def test_tasks_that_hang_are_killed_and_say_where_they_were() -> None:
    hangs = (bad.hang, bad.hang_in_c, bad.hang_deaf)
    with Workers(3, timeout=4) as pool:
        for hang, future in [(hang, pool.submit(hang, {})) for hang in hangs]:
            error = error_of(future)
            assert isinstance(error, WorkerTimeout)
            assert error.reason == "it took longer than 4 s and was killed"
            assert hang is bad.hang_deaf or f"in {hang.__name__}" in error.detail
        assert pool.submit(bad.count, {}).result(PATIENCE) == 0


def test_what_a_hanging_task_has_started_is_killed_with_it(tmp_path: Path) -> None:
    with Workers(2, timeout=6) as pool:
        futures = [pool.submit(hang, str(tmp_path)) for hang in (bad.hang_with_children, bad.hang_in_c_with_children)]
        assert all(isinstance(error_of(future), WorkerTimeout) for future in futures)
        assert len(pids(tmp_path)) == 6
        assert eventually(lambda: all(map(is_gone, pids(tmp_path))))


def test_a_death_is_noticed_even_if_a_copy_holds_the_connection(tmp_path: Path, pool: Workers) -> None:
    error = error_of(pool.submit(bad.leave_with_a_copy, str(tmp_path)))
    assert isinstance(error, WorkerDied)
    assert "exit code 3" in error.reason
    assert eventually(lambda: all(map(is_gone, pids(tmp_path))))
    assert len(pids(tmp_path)) == 1


def test_memory_is_limited_in_a_worker_and_in_what_it_starts() -> None:
    with Workers(1, memory=400 * MB) as pool:
        assert isinstance(error_of(pool.submit(bad.eat_memory, {})), MemoryError | WorkerDied)
        error = error_of(pool.submit(bad.eat_memory_in_many, {}))
        assert isinstance(error, WorkerDied)
        assert "MB of memory, more than the limit of 400 MB" in error.reason
        assert pool.submit(bad.count, {"a": True}).result(PATIENCE) == 1


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the coordinator watches instead")
def test_an_allocation_beyond_the_limit_fails_where_it_is_made() -> None:
    with Workers(1, memory=400 * MB) as pool:
        assert isinstance(error_of(pool.submit(bad.ask_for_too_much, {})), MemoryError)
        assert pool.submit(bad.ask_for_too_much_in_a_child, {}).result(PATIENCE) == 1  # the child's own exit code


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"n_workers": 0}, "n_workers"),
        ({"n_workers": 1, "timeout": 0}, "timeout"),
        ({"n_workers": 1, "timeout": float("nan")}, "timeout"),
        ({"n_workers": 1, "timeout": "5"}, "timeout"),
        ({"n_workers": 1, "memory": 1.5}, "memory"),
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=f"`{said}` must be"):
        Workers(**options)


def test_other_systems_are_told_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "os", SimpleNamespace(name="nt"))
    with pytest.raises(InputError, match="POSIX"):
        Workers(1)


# ---- the end ----


def test_shutdown_waits_for_work_unless_it_is_to_be_cancelled() -> None:
    pool = Workers(1)
    futures = [pool.submit(bad.count, {"a": True}) for _ in range(5)]
    pool.shutdown()
    assert [future.result(0) for future in futures] == [1.0] * 5
    with pytest.raises(RuntimeError, match="shut down"):
        pool.submit(bad.count, {})
    pool.shutdown(cancel_futures=True)  # again does no harm


def test_cancelled_work_is_killed_with_all_that_it_started(tmp_path: Path) -> None:
    pool = Workers(1)
    running, waiting = pool.submit(bad.hang_in_c_with_children, str(tmp_path)), pool.submit(bad.hang, {})
    assert eventually(lambda: len(pids(tmp_path)) == 3)
    pool.shutdown(cancel_futures=True)
    assert isinstance(error_of(running), WorkerDied)
    with pytest.raises(CancelledError):
        waiting.result(PATIENCE)
    assert eventually(lambda: all(map(is_gone, pids(tmp_path))))


def test_after_a_kill_the_workers_can_be_used_again() -> None:
    with Workers(2) as pool:
        for _ in range(3):
            futures = [pool.submit(bad.hang, {}) for _ in range(4)]
            assert eventually(lambda futures=futures: any(future.running() for future in futures))  # type: ignore[misc]
            pool.kill()
            assert all(isinstance(error_of(future), WorkerDied) for future in futures)
            assert pool.submit(bad.count, {"a": True}).result(PATIENCE) == 1


def test_an_error_in_a_with_block_does_not_wait_for_a_hanging_task() -> None:
    with pytest.raises(KeyboardInterrupt), Workers(1) as pool:
        future = pool.submit(bad.hang, {})
        raise KeyboardInterrupt
    assert future.done()


def test_nothing_is_left_behind() -> None:
    with Workers(1) as pool:
        pool.submit(bad.count, {}).result(PATIENCE)
    n_files, n_threads = psutil.Process().num_fds(), threading.active_count()
    for _ in range(3):
        with Workers(2, timeout=PATIENCE, memory=1000 * MB) as pool:
            for objective in (bad.segfault, bad.count, bad.leave):
                error_of(pool.submit(objective, {}))
    assert psutil.Process().num_fds() <= n_files
    assert threading.active_count() <= n_threads


def run_script(code: str, tmp_path: Path, **options: Any) -> "subprocess.Popen[str]":
    script = tmp_path / "script.py"
    script.write_text(code)
    return subprocess.Popen([sys.executable, str(script)], cwd=tmp_path, text=True, **options)


PLAIN_SCRIPT = """
from overtone.running.workers import Workers

print("this script runs")
offset = 5

class Helper:
    def shift(self, x):
        return x + offset

def objective(config):
    return Helper().shift(config["a"])

with Workers(2) as pool:  # no `if __name__ == "__main__"`
    print([f.result() for f in [pool.submit(objective, {"a": n}) for n in range(4)]])
"""


def test_a_script_needs_no_guard_and_is_not_run_again(tmp_path: Path) -> None:
    process = run_script(PLAIN_SCRIPT, tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    out, errors = process.communicate(timeout=PATIENCE)
    assert (out, errors) == ("this script runs\n[5, 6, 7, 8]\n", "")


FLOOD_SCRIPT = f"""
import sys
sys.path.insert(0, {str(Path(bad.__file__).parents[2])!r})
from overtone.running.workers import Workers
from tests.running.objectives import flood

with Workers(2) as pool:
    print([f.result() for f in [pool.submit(flood, {{}}) for _ in range(2)]])
"""


def test_what_an_objective_prints_goes_to_stderr_and_garbles_nothing(tmp_path: Path) -> None:
    with (tmp_path / "errors").open("wb") as errors:
        process = run_script(FLOOD_SCRIPT, tmp_path, stdout=subprocess.PIPE, stderr=errors)
        out, _ = process.communicate(timeout=PATIENCE)
    assert out == "[1.0, 1.0]\n"
    said = (tmp_path / "errors").read_bytes()
    assert said.count(b"x") == said.count(b"y") == 2 * 20_000 * 99
    assert said.count(b"the last words") == 2


KILLED_SCRIPT = f"""
import sys, time
sys.path.insert(0, {str(Path(bad.__file__).parents[2])!r})
from overtone.running.workers import Workers
from tests.running.objectives import hang_in_c_with_children, hang_with_children

pool = Workers(2)
pool.submit(hang_with_children, ".")
pool.submit(hang_in_c_with_children, ".")
time.sleep(1_000_000)
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM], ids=lambda how: how.name)
def test_workers_die_with_the_coordinator_however_it_dies(tmp_path: Path, how: signal.Signals) -> None:
    process = run_script(KILLED_SCRIPT, tmp_path)
    assert eventually(lambda: len(pids(tmp_path)) == 6)
    process.send_signal(how)
    process.wait(PATIENCE)
    assert eventually(lambda: all(map(is_gone, pids(tmp_path))))


def test_a_script_that_forgets_to_shut_down_ends_anyway(tmp_path: Path) -> None:
    code = KILLED_SCRIPT.replace("time.sleep(1_000_000)", "time.sleep(0.5)")
    process = run_script(code, tmp_path)
    assert process.wait(PATIENCE) == 0
    assert eventually(lambda: all(map(is_gone, pids(tmp_path))))


# ---- in this process ----


def test_in_process_works_at_once_and_here() -> None:
    locked = bad.Locked()
    with InProcess() as executor:
        future = executor.submit(locked, {"a": True})
        assert future.done()
        assert future.result() == 1
        assert executor.submit(os.getpid).result() == os.getpid()
        assert isinstance(executor.submit(bad.broken, {}).exception(), ValueError)


def test_in_process_lets_ctrl_c_through() -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        InProcess().submit(interrupted)


def test_the_helpers_of_these_tests_know_the_dead_from_the_living() -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    assert not is_gone(child.pid)
    child.kill()
    assert eventually(lambda: is_gone(child.pid))
    child.communicate()
