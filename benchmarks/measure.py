"""Time and peak memory of a function, in a fresh process so that nothing else counts."""

import json
import multiprocessing
import platform
import resource
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True)
class Measured:
    seconds: float  # best of the repeats: other programs can only slow it down
    peak_mb: float  # growth of the process's resident memory, inputs not counted
    answer: Any


def measure(function: Callable[..., Any], *arguments: Any, repeats: int = 1) -> Measured:
    """`function(*arguments)` returns a thunk (its set-up is not counted); the thunk is timed."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as executor:
        return executor.submit(_measure, function, arguments, repeats).result()


def _measure(function: Callable[..., Any], arguments: tuple[Any, ...], repeats: int) -> Measured:
    thunk = function(*arguments)
    before = _peak_mb()
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        answer = thunk()
        seconds.append(time.perf_counter() - start)
    return Measured(min(seconds), _peak_mb() - before, answer)


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def machine() -> dict[str, str]:
    """What the numbers were measured on."""
    packages = ["numpy", "scipy", "scikit-learn", "celer", "optuna", "torch", "overtone"]
    cpu = next(
        (line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in line),
        platform.processor(),
    )
    cores = multiprocessing.cpu_count()
    return {
        "date": time.strftime("%Y-%m-%d"),
        "cpu": f"{cpu}, {cores} cores",
        "python": platform.python_version(),
        **{package: version(package) for package in packages},
    }


def save(name: str, rows: object) -> None:
    """Results as data, beside the machine they came from."""
    RESULTS.mkdir(exist_ok=True)
    text = json.dumps({"machine": machine(), "rows": rows}, indent=1)
    (RESULTS / f"{name}.json").write_text(text + "\n")


def table(header: list[str], rows: list[list[Any]]) -> str:
    """A Markdown table."""
    lines: list[list[Any]] = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)
