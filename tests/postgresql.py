"""A real PostgreSQL server for the tests: made in a folder of its own, started, crashed and started again."""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

USER = "postgres"  # of the system, if we are root, who may not run a server; and of the server
PASSWORD = "s3cret/pass@word%"  # noqa: S105 - of this server only; with letters that a URL must not hold as they are
ENCODED = "s3cret%2Fpass%40word%25"


def program(name: str) -> str:
    """Debian keeps them apart, for several versions."""
    places = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    found = str(places[-1]) if places else shutil.which(name)
    assert found, f"there must be PostgreSQL's {name}: `make test-heavy` installs it"
    return found


class Server:
    """One server, its connections by a socket in its folder (trusted) or by TCP (with a password)."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.data, self.n_runs = folder, folder / "data", 0
        self.owner: dict[str, Any] = {"user": USER, "group": USER, "extra_groups": []} if os.getuid() == 0 else {}
        if self.owner:
            shutil.chown(folder, USER, USER)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        words = folder / "password"
        words.write_text(PASSWORD)
        words.chmod(0o644)
        self.do("initdb", "-D", self.data, "-U", USER, "--auth-local=trust", "--auth-host=scram-sha-256",
                f"--pwfile={words}", "-E", "UTF8", "--no-locale")  # fmt: skip
        self.start()

    def do(self, name: str, *arguments: str | Path) -> None:
        """As the owner, from a folder that it may enter."""
        log = self.folder / "output"
        with log.open("ab") as output:
            done = subprocess.run([program(name), *arguments], stdout=output, stderr=output, cwd="/", **self.owner)
        assert done.returncode == 0, log.read_text() + self.log()

    def log(self) -> str:
        file = self.folder / "log"
        return file.read_text()[-3000:] if file.exists() else ""

    def start(self) -> None:
        options = f"-k {self.folder} -p {self.port} -c listen_addresses=127.0.0.1 -c max_connections=50"
        self.do("pg_ctl", "start", "-w", "-D", self.data, "-l", self.folder / "log", "-o", options)

    def stop(self, mode: str = "fast") -> None:
        self.do("pg_ctl", "stop", "-w", "-D", self.data, "-m", mode)

    def crash(self) -> None:
        """The server and all its sessions, with -9; then the next one recovers."""
        postmaster = int((self.data / "postmaster.pid").read_text().split()[0])
        family = [psutil.Process(postmaster), *psutil.Process(postmaster).children()]
        for process in family:
            with suppress(psutil.NoSuchProcess):  # a child of a server that was killed may end by itself
                process.send_signal(signal.SIGKILL)
        psutil.wait_procs(family, timeout=60)
        (self.data / "postmaster.pid").unlink()

    def url(self, run: str, **more: str) -> str:
        words = {"host": str(self.folder), "port": str(self.port), **more, "run": run}
        return f"postgresql://{USER}@/{USER}?" + "&".join(f"{name}={value}" for name, value in words.items())

    def url_with_password(self, run: str, password: str = ENCODED) -> str:
        return f"postgresql://{USER}:{password}@127.0.0.1:{self.port}/{USER}?run={run}"

    def new_url(self, **more: str) -> str:
        """Of a run that nobody has had."""
        self.n_runs += 1
        return self.url(f"run-{self.n_runs}", **more)

    def new_database(self) -> str:
        """The name of one that nobody has had."""
        self.n_runs += 1
        self.ask(f"CREATE DATABASE d{self.n_runs} TEMPLATE template0")
        return f"d{self.n_runs}"

    def end_sessions(self) -> None:
        """Those that write."""
        self.ask("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'")

    def ask(self, question: str, database: str = USER) -> list[Any]:
        import psycopg

        place = {"host": str(self.folder), "port": self.port, "user": USER, "dbname": database}
        with psycopg.connect(**place, autocommit=True) as db:
            cursor = db.execute(question)
            return cursor.fetchall() if cursor.description else []


@pytest.fixture(scope="session")
def postgresql() -> Iterator[Server]:
    folder = Path(tempfile.mkdtemp(prefix="overtone-pg-"))
    server = Server(folder)
    try:
        yield server
    finally:
        server.stop("immediate")
        shutil.rmtree(folder)
