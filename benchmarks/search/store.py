"""Results as files: one of JSON lines for each problem, contestant and mode; a line for each seed."""

import json
import re
from pathlib import Path
from typing import Any

from benchmarks.measure import RESULTS

Row = dict[str, Any]


def folder() -> Path:
    """Where the cells are; looked up anew, so that tests can move it."""
    return RESULTS / "search"


def path_of(where: Path, problem: str, contestant: str, mode: str) -> Path:
    return where / f"{problem}--{_plain(contestant)}--{_plain(mode)}.jsonl"


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9+]+", "-", name.lower()).strip("-")


def read(path: Path) -> list[Row]:
    """A line that was cut off is as if it were not there."""
    rows = []
    for line in path.read_text().splitlines() if path.exists() else []:
        try:
            rows.append(json.loads(line))
        except json.JSONDecodeError:
            continue
    return rows


def read_all(where: Path) -> list[Row]:
    return [row for path in sorted(where.glob("*.jsonl")) for row in read(path)]


def append(where: Path, row: Row) -> None:
    with path_of(where, row["problem"], row["contestant"], row["mode"]).open("a") as file:
        file.write(json.dumps(row) + "\n")
