"""A worker as the coordinator sees it: started, called within limits, killed with all that it has started."""

import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Pipe
from typing import Any

from overtone.errors import RunFailed, TrialFailed, WorkerDied, WorkerTimeout
from overtone.running.processes import MemoryWatch, ending, kill_tree

# Not `-m`: modules must be found where the coordinator finds them, and the current folder may hide some of them.
BOOT = (
    "import sys; sys.path[:] = sys.argv[4:]; from overtone.running.worker import main; main(*map(int, sys.argv[1:4]))"
)
START = 300.0  # seconds to start and to load a function; generous, it only must not be forever
PAUSE = 0.5  # seconds between looks at a worker whose channel says nothing
GRACE = 2.0  # seconds for what should end by itself
SHOWN = 20_000  # bytes of a worker's last words


@dataclass(frozen=True)
class TaskLimits:
    """What one task may use."""

    timeout: float | None = None  # seconds
    memory: int | None = None  # bytes, of the worker and what it has started


@dataclass(frozen=True)
class Packed:
    """A function as bytes; the number tells a worker's own copy from another."""

    number: int
    data: bytes


class WorkerProcess:
    """One worker process. All methods but `kill` belong to one thread."""

    def __init__(self, limits: TaskLimits, watch: MemoryWatch) -> None:
        self._limits, self._watch = limits, watch
        self._loaded = -1  # the number of the function that it has
        self.ended = self._killed = False
        self._lock = threading.Lock()
        self._words = tempfile.TemporaryFile()  # noqa: SIM115 - its stderr while it starts, its traceback if it crashes
        self._last = ""
        self._channel, theirs = Pipe()
        end, self._lifeline = os.pipe()  # nothing is written; it closes when this process ends, even by kill -9
        output = _own_stderr()
        try:
            self._popen = _start((theirs.fileno(), end, output), self._words.fileno())
        except OSError:
            self._close()
            raise
        finally:
            theirs.close()
            os.close(end)
            os.close(output)

    def greet(self) -> None:
        """Wait until it is up; RunFailed with its own words if it does not get there."""
        try:
            self._exchange((sys.argv, self._limits.memory), START)
        except TrialFailed as error:
            if self._killed:
                raise
            raise RunFailed(f"workers must be able to start, but {error.reason}:\n{error.detail}") from None

    def call(self, function: Packed, arguments: bytes) -> Any:
        """The result of a call; the time for loading the function does not count."""
        if self._loaded != function.number:
            _opened(self._exchange(("load", function.data), START))
            self._loaded = function.number
        return _opened(self._exchange(("call", arguments), self._limits.timeout))

    def _exchange(self, message: object, seconds: float | None) -> tuple[str, bytes]:
        try:
            self._channel.send(message)
            self._wait(seconds)
            reply: tuple[str, bytes] = self._channel.recv()
        except TrialFailed:
            raise
        except Exception:  # noqa: BLE001 - no end, or (an objective wrote into the channel) garbage: never to be used again
            raise WorkerDied(f"the worker {self._collected()}", self._last) from None
        return reply

    def _wait(self, seconds: float | None) -> None:
        """Until something comes; in between, see whether it is alive, small, and in time."""
        deadline = None if seconds is None else time.monotonic() + seconds
        while not self._channel.poll(PAUSE if deadline is None else min(PAUSE, max(0.0, deadline - time.monotonic()))):
            if self._popen.poll() is not None and not self._channel.poll():  # a child of it may hold the channel
                raise EOFError
            self._check_memory()
            if deadline is not None and time.monotonic() >= deadline:
                self.end(self._abort)
                where = self._last.removeprefix("Fatal Python error: Aborted").strip()
                raise WorkerTimeout(f"it took longer than {seconds:g} s and was killed", where)

    def _check_memory(self) -> None:
        limit = self._limits.memory
        if limit is not None and (used := self._watch.used(self._popen.pid)) > limit:
            self.end()
            raise WorkerDied(f"the worker used {used >> 20} MB of memory, more than the limit of {limit >> 20} MB")

    def _collected(self) -> str:
        """How it ended; one that lives on without its channel is of no use."""
        with suppress(subprocess.TimeoutExpired):
            self._popen.wait(GRACE)
        code = self._popen.poll()
        self.end()
        return "lost its connection" if code is None else ending(code)

    def _abort(self) -> None:
        """Have it write where it is: that works even from within a C function."""
        with suppress(subprocess.TimeoutExpired):
            self._popen.send_signal(signal.SIGABRT)
            self._popen.wait(GRACE)

    def retire(self) -> None:
        """There is no more work: it may end by itself."""
        self._channel.close()
        with suppress(subprocess.TimeoutExpired):
            self._popen.wait(GRACE)
        self.end()

    def kill(self) -> None:
        """End what it does, from any thread; who waits for it will notice."""
        with self._lock:
            self._killed = True
            if not self.ended:
                kill_tree(self._popen.pid)

    def end(self, before: Callable[[], None] = lambda: None) -> None:
        """Kill it, with all that it has started."""
        with self._lock:
            kill_tree(self._popen.pid, before)
            self._popen.wait()
            self.ended = True
        self._close()

    def _close(self) -> None:
        """Keep its last words, and nothing else."""
        self._channel.close()
        os.close(self._lifeline)
        with self._words as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - SHOWN))
            self._last = file.read().decode(errors="replace").strip()


def _start(passed: tuple[int, int, int], stderr: int) -> subprocess.Popen[bytes]:
    """A fresh interpreter in a session of its own: the terminal's Ctrl-C is for the coordinator alone."""
    paths = [path for path in sys.path if isinstance(path, str)]
    return subprocess.Popen(  # noqa: S603 - our own interpreter and code
        [sys.executable, "-P", "-c", BOOT, *map(str, passed), *paths],
        stdin=subprocess.DEVNULL,
        stdout=stderr,
        stderr=stderr,
        pass_fds=passed,
        start_new_session=True,
    )


def _own_stderr() -> int:
    try:
        return os.dup(2)
    except OSError:  # there is none, as in a daemon
        return os.open(os.devnull, os.O_WRONLY)


def _opened(reply: tuple[str, bytes]) -> Any:
    """The result; or the worker's error, raised here."""
    kind, data = reply
    value = pickle.loads(data)  # noqa: S301 - from our own worker, over a socket that nobody else has
    if kind == "failed":
        raise value
    return value
