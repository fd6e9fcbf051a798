"""Dask: trials on a cluster, each in a worker process of Overtone there, with the limits that it has at home."""

import logging
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import cloudpickle

from overtone.adapters.dask_worker import evaluate
from overtone.errors import InputError, RunFailed, WorkerDied

if TYPE_CHECKING:
    from distributed import Client

P = ParamSpec("P")
T = TypeVar("T")
GONE = "the Dask scheduler is gone: start it again, with workers"
PATIENCE = 60.0  # seconds to wait for the scheduler, and for the first worker


class DaskExecutor(Executor):
    """A Dask cluster as an executor: `client.get_executor()`, with limits, and with crashes that cost one trial only.

    A trial runs in a worker process of Overtone, beside the Dask worker: it is killed after `timeout` seconds, has at
    most `memory` bytes, may crash, and ends when nobody waits for it any more. A trial whose Dask worker dies is given
    to another by Dask itself. Overtone and what the objective imports must be installed on the workers.
    """

    def __init__(self, client: "Client", *, timeout: float | None = None, memory: int | None = None) -> None:
        self._client = client
        self._executor = client.get_executor(pure=False)  # pure: equal trials would be evaluated once
        self._limits = timeout, memory
        self._function: tuple[Callable[..., Any], bytes] | None = None  # the last one: a run has but one

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """A call, to be made by the first worker that is free."""
        if self._function is None or self._function[0] is not fn:
            self._function = fn, cloudpickle.dumps(fn)
        if self._client.status != "running":
            raise BrokenExecutor(GONE)
        inner: Future[T] = self._executor.submit(evaluate, self._function[1], self._limits, args, kwargs)
        outer: Future[T] = Future()
        outer.add_done_callback(lambda _: inner.cancel())  # which does nothing to what is done
        inner.add_done_callback(lambda _: self._hand_on(inner, outer))
        return outer

    def _hand_on(self, inner: Future[T], outer: Future[T]) -> None:
        """What came of a call; Dask cancels by itself what it cannot answer for any more."""
        if not outer.set_running_or_notify_cancel():
            return
        if inner.cancelled():
            is_gone = self._client.status != "running"
            outer.set_exception(BrokenExecutor(GONE) if is_gone else WorkerDied("Dask cancelled it"))
        elif (error := inner.exception()) is not None:
            outer.set_exception(error)
        else:
            outer.set_result(inner.result())

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """No more work; with `cancel_futures`, what is running is killed. The client stays open."""
        self._executor.shutdown(wait=wait and not cancel_futures)


@contextmanager
def connected(
    address: str, *, timeout: float | None = None, memory: int | None = None
) -> Iterator[tuple[Executor, int]]:
    """An executor on the cluster of a scheduler, and the number of trials that it can run at a time."""
    if find_spec("distributed") is None:
        raise InputError("a cluster of Dask needs distributed, but it is not installed: pip install 'overtone[dask]'")
    from distributed import Client

    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)  # it shows tracebacks; what matters, we say
    try:
        client = Client(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError) as error:
        raise RunFailed(
            f"there must be a Dask scheduler at {address}, but {_line(error)}: start it with `dask scheduler`, and see "
            "the address that it prints, as tcp://HOST:8786"
        ) from None
    with client:
        try:
            client.wait_for_workers(1, timeout=PATIENCE)
        except TimeoutError:
            raise RunFailed(
                f"the Dask scheduler at {address} must have a worker, but none came in {PATIENCE:.0f} s: start some "
                f"with `dask worker {address}`"
            ) from None
        yield DaskExecutor(client, timeout=timeout, memory=memory), sum(client.nthreads().values())


def _line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)
