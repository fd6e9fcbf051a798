"""Objectives that behave badly in every way, for real processes. Importable without numpy, as a worker is."""

import ctypes
import math
import os
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

Config = Mapping[str, Any]
PATIENCE = 60.0  # seconds until something that must happen has happened, on the busiest machine
FOREVER = 1_000_000


def count(config: Config) -> float:
    """How many are on; fewer is better."""
    return float(sum(bool(value) for value in config.values()))


def interaction(config: Config) -> float:
    """Two features of three and two booleans, which Harmonica finds, and a little more."""
    x = [1.0 if config[name] else -1.0 for name in sorted(config)]
    return 3 * x[0] * x[1] + 2 * x[2] - x[3] + 0.01 * sum(x)


def restless(config: Config) -> float:
    """The same, but trials come back in another order than they were started in."""
    time.sleep(hash(tuple(config.values())) % 7 / 2000)
    return interaction(config)


def segfault(_: Config) -> float:
    ctypes.string_at(0)
    return 0.0


def leave(_: Config) -> float:
    os._exit(3)


def kill_itself(_: Config) -> float:
    os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(FOREVER)
    return 0.0


def system_exit(_: Config) -> float:
    sys.exit(4)


def broken(config: Config) -> float:
    raise ValueError(f"no good: {sorted(config)}")


def not_a_number(_: Config) -> float:
    return math.nan


def text(_: Config) -> str:
    return "0.5"


def nothing(_: Config) -> None:
    return None


def hang(_: object) -> float:
    time.sleep(FOREVER)
    return 0.0


def hang_in_c(_: object) -> float:
    """Holds the interpreter's lock: no thread of this process can run."""
    ctypes.PyDLL(None).sleep(FOREVER)
    return 0.0


def hang_deaf(_: object) -> float:
    """Does not end when it is asked to."""
    signal.signal(signal.SIGABRT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    time.sleep(FOREVER)
    return 0.0


def start_children(folder: str) -> None:
    """Two programs that never end, one in a session of its own; their pids are in the folder, with ours."""
    for own_session in (False, True):
        child = subprocess.Popen(
            ["sleep", str(FOREVER)], start_new_session=own_session, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        (Path(folder) / f"{child.pid}.pid").touch()
    (Path(folder) / f"{os.getpid()}.pid").touch()


def hang_with_children(folder: str) -> float:
    start_children(folder)
    time.sleep(FOREVER)
    return 0.0


def hang_in_c_with_children(folder: str) -> float:
    start_children(folder)
    return hang_in_c(folder)


def leave_with_a_copy(folder: str) -> float:
    """A forked child keeps everything open that we have open, while we are gone."""
    child = os.fork()
    if not child:
        time.sleep(FOREVER)
    (Path(folder) / f"{child}.pid").touch()
    os._exit(3)


def close_everything(_: Config) -> float:
    """As programs do that become daemons."""
    os.closerange(3, 256)
    time.sleep(FOREVER)
    return 0.0


def write_into_everything(_: Config) -> float:
    """A message of eight bytes that nobody can read, into every connection that we have."""
    for number in range(3, 64):
        with suppress(OSError):
            if stat.S_ISSOCK(os.fstat(number).st_mode):
                os.write(number, b"\0\0\0\x08nonsense")
    time.sleep(FOREVER)
    return 0.0


def eat_memory(_: object) -> float:
    hoard = [bytearray(b"x") * 10_000_000 for _ in range(200)]  # 2 GB
    return float(len(hoard))


def ask_for_too_much(_: object) -> float:
    """At once, so that nobody can see it grow."""
    return float(len(bytearray(2_000_000_000)))


def ask_for_too_much_in_a_child(_: object) -> float:
    code = "bytearray(2_000_000_000)"
    return float(subprocess.run([sys.executable, "-c", code], stderr=subprocess.DEVNULL, check=False).returncode)


def eat_memory_in_many(_: object) -> float:
    """Each is small enough; all together they are not."""
    code = f"x = bytearray(b'x') * 60_000_000; import time; time.sleep({FOREVER})"
    children = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(8)]
    return float(sum(child.wait() for child in children))


def flood(_: Config) -> float:
    for _line in range(20_000):
        print("x" * 99)  # noqa: T201
        print("y" * 99, file=sys.stderr)  # noqa: T201
    os.write(1, b"the last words")
    return 1.0


def crash_once(config: Config, folder: str) -> float:
    """The first attempt at a configuration kills its worker."""
    mark = Path(folder) / "-".join(str(int(value)) for value in config.values())
    if not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return count(config)


class Locked:
    """Cannot travel to another process."""

    def __init__(self) -> None:
        self.lock = threading.Lock()

    def __call__(self, config: Config) -> float:
        with self.lock:
            return count(config)


class Heavy:
    """Notes each time it is packed (here) and unpacked (there)."""

    n_packed = 0

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __getstate__(self) -> dict[str, str]:
        Heavy.n_packed += 1
        return {"folder": self.folder}

    def __setstate__(self, state: dict[str, str]) -> None:
        self.folder = state["folder"]
        (Path(self.folder) / f"{os.getpid()}-{time.monotonic_ns()}").touch()

    def __call__(self, _: object) -> int:
        return os.getpid()


def pids(folder: Path) -> list[int]:
    return [int(path.stem) for path in folder.glob("*.pid")]


def is_gone(pid: int) -> bool:
    """It ended; nobody may have collected it yet."""
    import psutil

    try:
        return bool(psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True


def eventually(condition: Callable[[], bool]) -> bool:
    """It comes true within the limits of patience."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.02)
    return condition()
