"""What a Dask worker does: it hands a trial to a worker process of Overtone, and kills it if nobody wants it any more.

A worker process imports this module, so it loads neither Dask nor the engine before they are needed.
"""

import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import wait
from contextlib import suppress
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import cloudpickle

from overtone.errors import WorkerDied

if TYPE_CHECKING:
    from overtone.running.workers import Workers

POLL = 1.0  # seconds between two looks whether the trial is still wanted
IDLE = 60.0  # seconds after which a process that has nothing to do ends: it may hold much memory, or a GPU
Limits = tuple[float | None, int | None]  # timeout, memory


class Sent:
    """A function that is loaded where it is first called: in the worker process, not in the Dask worker."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    @cached_property
    def _function(self) -> Any:
        return cloudpickle.loads(self.data)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What the function gives."""
        return self._function(*args, **kwargs)


@lru_cache(maxsize=8)
def _sent(data: bytes) -> Sent:
    """The same object for the same function, so that it goes to each process only once."""
    return Sent(data)


def evaluate(data: bytes, limits: Limits, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """The task that Dask runs: a call of a pickled function in a process of its own."""
    function = _sent(data)
    workers = _taken(function, limits)
    try:
        future = workers.submit(function, *args, **kwargs)
        while not wait([future], POLL).done:
            if not _is_wanted():
                raise WorkerDied("nobody waits for this trial any more")
    except BaseException:
        workers.shutdown(wait=False, cancel_futures=True)
        raise
    _given_back(workers, function, limits)
    return future.result()


def _is_wanted() -> bool:
    """Dask cannot stop a thread; but it knows that a task was cancelled, or that its client is gone."""
    from distributed import get_worker

    worker = get_worker()
    task = worker.state.tasks.get(worker.get_current_task())
    return task is not None and task.state != "cancelled"


# ---- processes that wait for work; one for each thread of this Dask worker ----

_resting: dict[tuple[Sent, Limits], list[tuple["Workers", threading.Timer]]] = {}
_lock = threading.Lock()


def _taken(function: Sent, limits: Limits) -> "Workers":
    from overtone.running.workers import Workers

    with _lock, suppress(KeyError, IndexError):
        workers, timer = _resting[function, limits].pop()
        timer.cancel()
        return workers
    return Workers(1, timeout=limits[0], memory=limits[1])


def _given_back(workers: "Workers", function: Sent, limits: Limits) -> None:
    timer = threading.Timer(IDLE, _retire, (workers, function, limits))
    timer.daemon = True
    with _lock:
        _resting.setdefault((function, limits), []).append((workers, timer))
    timer.start()


def _retire(workers: "Workers", function: Sent, limits: Limits) -> None:
    """Nothing came for a while."""
    with _lock:
        before = _resting.get((function, limits), [])
        left = [pair for pair in before if pair[0] is not workers]
        if len(left) == len(before):
            return  # it was taken in this very moment
        _resting[function, limits] = left
        if not left:
            del _resting[function, limits]
    workers.shutdown(wait=False)
