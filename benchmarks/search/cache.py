"""Values of slow problems on disk, so that a rerun is cheap: a SQLite file a problem, in a folder git ignores."""

import hashlib
import sqlite3
from pathlib import Path

from benchmarks.search.problem import Problem, Value, key
from overtone.space import Config

FOLDER = Path(__file__).parent / ".cache"


class Cached:
    """A problem's `value` and `true`, remembered; new ones are written by `close`."""

    def __init__(self, name: str, problem: Problem) -> None:
        self._problem = problem
        self._new: dict[str, Value] = {}
        self._stamp = hashlib.blake2b(problem.stamp.encode(), digest_size=8).hexdigest()
        self._file: sqlite3.Connection | None = None
        if problem.is_slow:
            private_folder(FOLDER)
            self._file = sqlite3.connect(FOLDER / f"{name}.db", timeout=60, isolation_level=None)
            self._file.execute("PRAGMA journal_mode = WAL")
            self._file.execute("CREATE TABLE IF NOT EXISTS known (name TEXT PRIMARY KEY, value REAL) WITHOUT ROWID")

    def value(self, config: Config, budget: float | None, draw: int) -> Value:
        """What an optimizer sees; a problem without noise has the same value at every draw."""
        if self._file is None:
            return self._problem.value(config, budget, draw)
        name = f"{self._stamp} {key(config)} {budget} {draw if self._problem.is_noisy else 0}"
        if (known := self._known(name)) is None:
            known = (self._problem.value(config, budget, draw),)
            self._new[name] = known[0]
        return known[0]

    def true(self, config: Config) -> Value:
        """What it is judged by."""
        if self._file is None or not self._problem.is_noisy:
            return self.value(config, None, 0) if self._file else self._problem.true(config)
        name = f"{self._stamp} {key(config)} true"
        if (known := self._known(name)) is None:
            known = (self._problem.true(config),)
            self._new[name] = known[0]
        return known[0]

    def _known(self, name: str) -> tuple[Value] | None:
        if name in self._new:
            return (self._new[name],)
        assert self._file is not None  # noqa: S101 - asked for only if there is one
        row: tuple[Value] | None = self._file.execute("SELECT value FROM known WHERE name = ?", (name,)).fetchone()
        return row

    def close(self) -> None:
        """Write what is new, all at once."""
        if self._file is not None:
            self._file.execute("BEGIN IMMEDIATE")
            self._file.executemany("INSERT OR IGNORE INTO known VALUES (?, ?)", self._new.items())
            self._file.execute("COMMIT")
            self._file.close()


def private_folder(folder: Path) -> None:
    """A folder that git does not see."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / ".gitignore").write_text("*\n")
