"""What runs inside of a worker: a fresh interpreter that loads one function and calls it as often as it is told to.

A second, tiny process stands by: when the coordinator is gone, however it went, it ends the worker with all that the
worker has started, even one that hangs in a C function and cannot run a thread of its own.
"""

import faulthandler
import io
import os
import pickle
import resource
import signal
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any


def main(channel: int, lifeline: int, output: int) -> None:
    """Work until the coordinator closes the channel. The arguments are file descriptors.

    Until all is set up, stderr is a file which the coordinator reads if we do not make it; then, it is `output`.
    """
    _stand_by(lifeline, {channel, output})
    for each in (channel, lifeline, output):
        os.set_inheritable(each, False)  # what the objective starts must not hold them
    os.close(lifeline)
    connection: Connection[Any, Any] = Connection(channel)
    sys.argv[:], memory = connection.recv()
    _limit(memory)
    _redirect(output)
    connection.send(("done", pickle.dumps(None)))
    _serve(connection)


def _stand_by(lifeline: int, others: set[int]) -> None:
    """Start the process that waits for the coordinator's end: a grandchild, so that the objective never sees it."""
    worker, child = os.getpid(), os.fork()
    if child:
        os.waitpid(child, 0)
        return
    try:
        if not os.fork():
            _wait_for_the_end(worker, lifeline, others)
    finally:
        os._exit(0)


def _wait_for_the_end(worker: int, lifeline: int, others: set[int]) -> None:
    nowhere = os.open(os.devnull, os.O_RDWR)
    for each in (0, 1, 2, *others):  # a pipe that we hold would never end for those who read from it
        os.dup2(nowhere, each)
    while os.read(lifeline, 1):  # nothing is ever written: the read ends when the coordinator does
        pass
    from overtone.running.processes import kill_tree  # only now, so that standing by costs next to nothing

    kill_tree(worker)


def _limit(memory: int | None) -> None:
    """What Linux counts as data is what a program writes to; macOS counts less, there the coordinator watches."""
    with suppress(ValueError, OSError):  # a crash must not fill the disk with a core file
        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    if memory is not None:
        with suppress(ValueError, OSError):  # a lower limit is set already
            resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))


def _redirect(output: int) -> None:
    """Prints go where the coordinator's errors go; the file keeps where Python was when it crashed."""
    faulthandler.enable(os.dup(2))
    for stream in (1, 2):
        os.dup2(output, stream)
    os.close(output)
    for text in (sys.stdout, sys.stderr):
        if isinstance(text, io.TextIOWrapper):
            text.reconfigure(line_buffering=True)  # else the last lines die with us
    for number in (signal.SIGINT, signal.SIGTERM):  # also if the coordinator ignores them, as under nohup
        signal.signal(number, signal.SIG_DFL)


def _serve(channel: "Connection[Any, Any]") -> None:
    function: Callable[..., Any] | None = None
    while True:
        try:
            kind, data = channel.recv()
        except (EOFError, OSError):  # there is no more to do
            return
        try:
            loaded = pickle.loads(data)  # noqa: S301 - from the coordinator, over a socket that nobody else has
            if kind == "load":
                function, reply = loaded, ("done", pickle.dumps(None))
            else:
                reply = "done", _pickled(_call(function, *loaded))
        except BaseException as error:  # noqa: BLE001 - it is raised again in the coordinator
            reply = "failed", _pickled_error(error)
        loaded = None  # else a large argument stays until the next one
        channel.send(reply)


def _call(function: Callable[..., Any] | None, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
    assert function is not None  # noqa: S101 - the coordinator sends it first
    return function(*arguments, **named)


def _pickled(value: object) -> bytes:
    try:
        return pickle.dumps(value)
    except Exception:  # noqa: BLE001 - functions and classes of the user's script: slower, but possible
        import cloudpickle

        return bytes(cloudpickle.dumps(value))


def _pickled_error(error: BaseException) -> bytes:
    """The error with its traceback as a note; one that cannot travel is described instead."""
    note = "in the worker: " + "".join(traceback.format_exception(error))
    try:
        error.add_note(note)
        data = _pickled(error)
        pickle.loads(data)  # noqa: S301 - our own; some errors cannot be made from what they are pickled to
    except Exception:  # noqa: BLE001 - any error is possible here, and none may end the worker
        return pickle.dumps(RuntimeError(f"{type(error).__name__}\n{note}"))
    return data
