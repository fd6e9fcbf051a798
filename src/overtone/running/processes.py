"""Processes of the operating system: how one ended, in words; ending one with all that it started; its memory."""

import os
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress

import psutil

FRESH = 0.25  # seconds for which a look at all processes counts


def kill_tree(pid: int, before: Callable[[], None] = lambda: None) -> None:
    """End the leader of a process group at once, with its group and with descendants that left the group.

    before: here the leader may be asked to end by itself. Its descendants are noted first: later, nobody knows them.
    """
    descendants = _descendants(pid)
    before()
    for process in descendants:
        with suppress(psutil.Error):
            process.kill()
    with suppress(ProcessLookupError, PermissionError):  # it is gone, or (macOS) only waits to be collected
        os.killpg(pid, signal.SIGKILL)


def _descendants(pid: int) -> list[psutil.Process]:
    found: list[psutil.Process] = []
    with suppress(psutil.Error):
        found += psutil.Process(pid).children(recursive=True)
    return found


def ending(code: int) -> str:
    """How a process ended, in words; code: as subprocess gives it, negative for a signal."""
    if code >= 0:
        return f"ended with exit code {code}"
    name = signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"
    hint = ", perhaps because the machine ran out of memory" if -code == signal.SIGKILL else ""
    return f"was killed by {name} ({signal.strsignal(-code)}){hint}"


class MemoryWatch:
    """The memory of processes with all that they started. One look at the machine serves every worker for a while."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._at = -FRESH
        self._resident: dict[int, int] = {}
        self._children: dict[int, list[int]] = {}

    def used(self, pid: int) -> int:
        """Resident bytes of a process and its descendants."""
        with self._lock:
            if time.monotonic() - self._at > FRESH:
                self._look()
            return self._sum(pid)

    def _look(self) -> None:
        self._resident, self._children = {}, {}
        for process in psutil.process_iter(["ppid", "memory_info"]):
            known = process.info["memory_info"]  # None where we may not look
            self._resident[process.pid] = known.rss if known is not None else 0
            self._children.setdefault(process.info["ppid"], []).append(process.pid)
        self._at = time.monotonic()

    def _sum(self, pid: int) -> int:
        total, left, seen = 0, [pid], set[int]()
        while left:
            each = left.pop()
            if each not in seen:  # pids that were reused during the look could make a circle
                seen.add(each)
                total += self._resident.get(each, 0)
                left += self._children.get(each, [])
        return total
