"""A real Dask cluster for the tests: a scheduler and workers, each a process of its own, that can be killed."""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil


class Cluster:
    """Workers of one thread each, without a nanny: what is killed stays dead."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        file = folder / "scheduler.json"
        self.scheduler = self._start("scheduler", "--port", "0", "--scheduler-file", str(file))
        while not file.exists() or not file.read_text().strip():
            assert self.scheduler.poll() is None, "the scheduler did not start"
            time.sleep(0.05)
        self.address = str(json.loads(file.read_text())["address"])
        self.workers: list[subprocess.Popen[bytes]] = []

    def _start(self, what: str, *words: str) -> "subprocess.Popen[bytes]":
        command = [
            sys.executable,
            "-m",
            f"distributed.cli.dask_{what}",
            "--host",
            "127.0.0.1",
            "--no-dashboard",
            *words,
        ]
        output = (self.folder / f"{what}.log").open("ab")
        with output:
            return subprocess.Popen(command, stdout=output, stderr=output, cwd=self.folder)

    def add_worker(self) -> "subprocess.Popen[bytes]":
        where = str(self.folder / f"worker-{len(self.workers)}")
        words = ("--nthreads", "1", "--no-nanny", "--memory-limit", "0", "--local-directory", where)
        self.workers.append(self._start("worker", self.address, *words))
        return self.workers[-1]

    def close(self) -> None:
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()


@contextmanager
def cluster(folder: Path, n_workers: int) -> Iterator[Cluster]:
    made = Cluster(folder)
    try:
        for _ in range(n_workers):
            made.add_worker()
        yield made
    finally:
        made.close()


def wait_until(what: str, is_so: Callable[[], bool], seconds: float = 120.0) -> None:
    """Generous: the test is about whether, not when."""
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end, f"{what} did not happen"
        time.sleep(0.05)


def is_alive(pid: int) -> bool:
    return psutil.pid_exists(pid) and bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
