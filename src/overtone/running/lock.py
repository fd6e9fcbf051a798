"""One writer a ledger: a lock that the system frees when its process dies, however it dies."""

import fcntl
import os
import socket
import threading
from pathlib import Path

from overtone.errors import LedgerError

_held: set[tuple[int, int]] = set()  # files locked by this process, which the system would let lock again
_guard = threading.Lock()


class Lock:
    """The right to write to the file at `path`, held through a small file beside it that says who holds it.

    SQLite's own locks will not do: they last a transaction. A record lock, unlike flock(2), is not handed on to forked
    children, who might outlive us. But it is freed when its process closes the file, opened as often as may be: so
    this process opens it once only, and never to read it.
    """

    def __init__(self, path: Path) -> None:
        self._file = Path(f"{path}-lock")
        self._fd = -1
        while self._fd < 0:
            self._fd = self._taken(path)

    def _taken(self, path: Path) -> int:
        """An open file with the lock on it; -1 if whoever let go has removed it meanwhile."""
        with _guard:
            if self._identity() in _held:
                raise refused(path, f"this very one, {me()}")
            fd = os.open(self._file, os.O_RDWR | os.O_CREAT, 0o666)
            try:
                fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except (BlockingIOError, PermissionError):
                holder = os.pread(fd, 200, 0).decode(errors="replace")
                os.close(fd)
                raise refused(path, holder or "another process") from None
            if self._identity() != _identity(os.fstat(fd)):
                os.close(fd)
                return -1
            _held.add(_identity(os.fstat(fd)))
        os.truncate(fd, 0)
        os.pwrite(fd, me().encode(), 0)
        return fd

    def _identity(self) -> tuple[int, int] | None:
        try:
            return _identity(self._file.stat())
        except FileNotFoundError:
            return None

    def release(self) -> None:
        """Let others write."""
        with _guard:
            if self._fd >= 0:
                _held.discard(_identity(os.fstat(self._fd)))
                self._file.unlink(missing_ok=True)  # while it is locked: whoever opened it before will notice
                os.close(self._fd)
                self._fd = -1


def me() -> str:
    """This process, as others are told of it."""
    return f"process {os.getpid()} on {socket.gethostname()}"


def refused(path: object, holder: str) -> LedgerError:
    """There is a writer already."""
    return LedgerError(
        f"a ledger must have one writer at a time, but {path} is in use by {holder}: "
        "wait for that run, stop it, or use another ledger"
    )


def _identity(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino
