"""One run of a program: its own folder, its output captured within bounds, nothing left running."""

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import IO

import psutil

from overtone.errors import TrialFailed
from overtone.running.processes import kill_tree

LIMIT = 10_000_000  # bytes of a stream that are kept: the last ones
KEPT = 20  # folders of failed trials that a worker keeps: the newest
GRACE = 1.0  # seconds for the rest of the output, if a child of a program that ended holds the pipe


@dataclass(frozen=True)
class Finished:
    """What a program left behind."""

    code: int
    seconds: float
    output: str  # of stdout, the last 10 MB
    errors: str  # of stderr, the same


class _Tail(Thread):
    """Reads a stream to its end, so that the program never waits, and keeps the last of it in memory and in a file."""

    def __init__(self, stream: IO[bytes], path: Path) -> None:
        super().__init__(daemon=True)
        self._stream, self._path, self._kept = stream, path, bytearray()
        self.start()

    def run(self) -> None:
        """Until the other end is closed."""
        with self._stream, self._path.open("wb", buffering=0) as file:
            while chunk := os.read(self._stream.fileno(), 65536):
                self._kept += chunk
                with suppress(OSError):  # a full disk: go on reading, the end is in memory
                    file.write(chunk)
                    if len(self._kept) > 2 * LIMIT:
                        del self._kept[:-LIMIT]
                        file.seek(0)
                        file.truncate()
                        file.write(self._kept)

    def text(self) -> str:
        """What came, if need be cut at the front."""
        return bytes(self._kept[-LIMIT:]).decode(errors="replace")


def execute(arguments: Sequence[str], folder: Path, cwd: str, env: Mapping[str, str]) -> Finished:
    """Run a program to its end. It stays in this session and process group, so that whoever ends us ends it, too."""
    start = time.monotonic()
    try:
        process = subprocess.Popen(  # noqa: S603 - running the user's program is what this is for
            list(arguments), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=cwd, env=env
        )
    except (OSError, ValueError) as error:
        raise TrialFailed(f"the command cannot be started: {error}") from None
    assert process.stdout is not None and process.stderr is not None  # noqa: S101
    try:
        tails = [_Tail(process.stdout, folder / "output.txt"), _Tail(process.stderr, folder / "errors.txt")]
        code = process.wait()
    except BaseException:  # Ctrl-C: take what it started along
        kill_tree(process.pid)
        process.kill()
        raise
    seconds = time.monotonic() - start
    for tail in tails:
        tail.join(GRACE)
    return Finished(code, seconds, tails[0].text(), tails[1].text())


@contextmanager
def scratch_folder(parent: str) -> Iterator[Path]:
    """A fresh folder; gone after a success, kept after a failure. parent: where; "": where temporary files are."""
    folder = _new_folder(parent)
    try:
        yield folder
    except Exception:
        if parent:
            _drop_oldest(Path(parent), folder)
        raise
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    shutil.rmtree(folder, ignore_errors=True)


def _new_folder(parent: str) -> Path:
    """Its name begins with our process: whether that lives tells a trial that is running from one that was killed."""
    try:
        if parent:
            Path(parent).mkdir(parents=True, exist_ok=True)
        prefix = f"{os.getpid()}-" if parent else "overtone-"
        return Path(tempfile.mkdtemp(prefix=prefix, dir=parent or None))
    except OSError as error:
        raise TrialFailed(f"a folder for the trial cannot be made: {error}") from None


def _drop_oldest(parent: Path, current: Path) -> None:
    """Of the folders that failed trials left, keep the newest."""
    ended = [folder for folder in parent.iterdir() if folder != current and _is_ended(folder)]
    for folder in sorted(ended, key=_age)[KEPT - 1 :]:
        shutil.rmtree(folder, ignore_errors=True)


def _is_ended(folder: Path) -> bool:
    pid = folder.name.partition("-")[0]
    return pid.isdigit() and (int(pid) == os.getpid() or not psutil.pid_exists(int(pid)))


def _age(folder: Path) -> float:
    try:
        return -folder.stat().st_mtime
    except OSError:  # another worker was faster
        return 0.0
