"""Executors: `Workers`, processes that may crash, hang or eat memory, and `InProcess`, which works at once and here."""

import math
import os
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from contextlib import suppress
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any, ParamSpec, TypeVar

import cloudpickle

from overtone.errors import InputError, RunFailed, WorkerDied
from overtone.optimizers.trial import check_whole
from overtone.running.processes import MemoryWatch
from overtone.running.worker_process import Packed, TaskLimits, WorkerProcess

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True)
class _Item:
    """A call that waits for a worker."""

    future: Future[Any]
    function: Packed
    arguments: bytes
    stopped: threading.Event  # set: it is not wanted any more


class _Seat:
    """A place for one worker after another, and the thread that hands it its work."""

    def __init__(self, items: "SimpleQueue[_Item | None]", limits: TaskLimits, watch: MemoryWatch) -> None:
        self._items, self._limits, self._watch = items, limits, watch
        self._lock = threading.Lock()
        self._process: WorkerProcess | None = None
        self._busy = False
        self.thread = threading.Thread(target=self._run, name="overtone-worker", daemon=True)
        self.thread.start()

    def _run(self) -> None:
        while (item := self._items.get()) is not None:
            if item.future.set_running_or_notify_cancel():
                self._work(item)
            del item  # else its result stays until the next one
        if self._process is not None:
            self._process.retire()

    def _work(self, item: _Item) -> None:
        try:
            result = self._ready(item).call(item.function, item.arguments)
        except BaseException as error:  # noqa: BLE001 - whatever it is, it is the future's
            self._rest()
            item.future.set_exception(error)
        else:
            self._rest()
            item.future.set_result(result)

    def _ready(self, item: _Item) -> WorkerProcess:
        """The worker of this seat; a new one if there is none, or none any more."""
        with self._lock:  # so that `kill` either is seen here, or sees the process
            if item.stopped.is_set():
                raise WorkerDied("the worker was stopped")
            self._busy = True
            if self._process is not None:
                return self._process
            try:
                process = self._process = WorkerProcess(self._limits, self._watch)
            except OSError as error:
                raise RunFailed(f"workers must be able to start, but {error}") from error
        process.greet()
        return process

    def _rest(self) -> None:
        with self._lock:
            self._busy = False
            if self._process is not None and self._process.ended:
                self._process = None

    def kill(self) -> None:
        """End what it is doing."""
        with self._lock:
            if self._busy and self._process is not None:
                self._process.kill()


class Workers(Executor):
    """Worker processes as an executor: a task that crashes or is killed costs its own future and nothing else.

    Each worker is a fresh interpreter that does not run the caller's script again, so scripts need no
    `if __name__ == "__main__"`; closures, lambdas and functions of notebooks travel, too. A function is sent to each
    worker once, not with every call: what it carries is that of its first submission.
    timeout: seconds for a task; then its worker is killed with all that it started, and replaced (WorkerTimeout).
    memory: bytes for a worker and all that it started; beyond, allocations fail or it is killed (WorkerDied).
    """

    def __init__(self, n_workers: int, *, timeout: float | None = None, memory: int | None = None) -> None:
        if os.name != "posix":
            raise InputError(
                f"worker processes need a POSIX system (Linux, macOS), but this is {os.name!r}: "
                "use n_workers=1 without limits, or an executor of your own"
            )
        if timeout is not None and not (isinstance(timeout, int | float) and 0 < timeout < math.inf):
            raise InputError(f"`timeout` must be a number of seconds > 0, or None for no limit, but got {timeout!r}")
        limits = TaskLimits(timeout, None if memory is None else check_whole("memory", memory))
        self._items: SimpleQueue[_Item | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._closed = False
        self._stopped = threading.Event()  # of the items so far
        self._function: tuple[Callable[..., Any], Packed] | None = None  # the last one: a run has but one
        watch = MemoryWatch()
        self._seats = [_Seat(self._items, limits, watch) for _ in range(check_whole("n_workers", n_workers))]

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """A call, to be made by the first worker that is free."""
        future: Future[T] = Future()
        with self._lock:
            if self._closed:
                raise RuntimeError("cannot submit: these workers are shut down")
            arguments = _pickled("arguments", (args, kwargs))
            self._items.put(_Item(future, self._packed(fn), arguments, self._stopped))
        return future

    def _packed(self, function: Callable[..., Any]) -> Packed:
        if self._function is None or self._function[0] is not function:
            number = 0 if self._function is None else self._function[1].number + 1
            self._function = function, Packed(number, _pickled("objective", function))
        return self._function[1]

    def kill(self) -> None:
        """End what is running and forget what waits; new work can be submitted."""
        with self._lock:
            self._stopped.set()
            self._stopped = threading.Event()
        for seat in self._seats:
            seat.kill()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """No more work; with `cancel_futures`, what is running is killed, too."""
        with self._lock:
            self._closed = True
        if cancel_futures:
            self._cancel()
            self.kill()
        for _ in self._seats:
            self._items.put(None)
        if wait:
            for seat in self._seats:
                seat.thread.join()

    def _cancel(self) -> None:
        with suppress(Empty):
            while True:
                item = self._items.get_nowait()
                if item is not None and item.future.cancel():
                    item.future.set_running_or_notify_cancel()

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Wait for what is out; but after an error, nobody will ask for it."""
        self.shutdown(cancel_futures=kind is not None)


class InProcess(Executor):
    """Does the work at once, in this process and thread: nothing has to travel. Ctrl-C comes through."""

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """The result, in a future that is done."""
        future: Future[T] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:  # noqa: BLE001 - it is the future's
            future.set_exception(error)
        return future


def _pickled(what: str, value: object) -> bytes:
    try:
        return bytes(cloudpickle.dumps(value))
    except Exception as error:
        raise InputError(
            f"the {what} must be picklable to travel to a worker process, but {type(error).__name__}: {error}. "
            "Make what cannot travel (locks, open files, connections) inside of the objective, or use n_workers=1"
        ) from error
