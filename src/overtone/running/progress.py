"""How far a run is: one live line on a terminal, a few plain lines in a log file."""

import math
import sys
import time
from dataclasses import dataclass, replace
from typing import Protocol, TextIO

from rich.console import Console
from rich.live import Live
from rich.text import Text

from overtone.optimizers.trial import Value

OFTEN = 5.0  # seconds between lines about a new best value, at least
RARELY = 60.0  # seconds after which a line comes anyway


@dataclass(frozen=True)
class Status:
    """Where a run stands."""

    stage: str = ""  # that of the last trial
    n_done: int = 0  # with those that failed
    n_failed: int = 0
    n_running: int = 0
    best: Value = None  # the objective's own number
    n_evaluations: int | None = None  # the limit, if there is one
    seconds: float = 0.0  # since the start
    seconds_left: float | None = None  # at most; None: nobody knows

    def __str__(self) -> str:
        total = "" if self.n_evaluations is None else f" of {self.n_evaluations}"
        parts = [
            f"{self.n_done}{total} trials done",
            f"{self.n_failed} failed" if self.n_failed else "",
            f"{self.n_running} running" if self.n_running else "",
            "no value yet" if self.best is None else f"best {self.best:.6g}",
            "" if self.seconds_left is None else f"{duration(self.seconds_left)} left",
        ]
        return f"[{duration(self.seconds)}] {self.stage or 'start'}: " + ", ".join(part for part in parts if part)


class Progress(Protocol):
    """What is told how a run goes; `end` also after an error."""

    def update(self, status: Status) -> None:
        """Something came back."""

    def end(self, stopped: str) -> None:
        """The run ended, and why."""


class Quiet:
    """Says nothing."""

    def update(self, status: Status) -> None:
        """Nothing."""

    def end(self, stopped: str) -> None:
        """Nothing."""


class LogLines:
    """Plain lines: at each new stage, at a new best value unless one just came, once in a while, and at the end."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._status = Status()
        self._said = self._status  # the last one that was written

    def update(self, status: Status) -> None:
        """Write a line if there is news."""
        self._status = status
        waited = status.seconds - self._said.seconds
        if status.stage != self._said.stage or (status.best != self._said.best and waited >= OFTEN) or waited >= RARELY:
            self._said = status
            self._write(str(status))

    def end(self, stopped: str) -> None:
        """The last line."""
        self._write(f"{self._status}: {stopped}")

    def _write(self, line: str) -> None:
        self._stream.write(f"{line}\n")
        self._stream.flush()


class LiveLine:
    """One line on a terminal that moves with the clock."""

    def __init__(self, console: Console) -> None:
        self._status, self._at = Status(), time.monotonic()
        self._live = Live(console=console, get_renderable=self._line, refresh_per_second=4)

    def update(self, status: Status) -> None:
        """Drawn at the next refresh, so this costs next to nothing."""
        self._status, self._at = status, time.monotonic()
        if not self._live.is_started:
            self._live.start()

    def end(self, stopped: str) -> None:
        """Leave the last line on the screen."""
        if self._live.is_started:
            self._live.stop()
        self._live.console.print(Text(f"{self._status}: {stopped}"), soft_wrap=True)

    def _line(self) -> Text:
        status, passed = self._status, time.monotonic() - self._at
        left = None if status.seconds_left is None else max(0.0, status.seconds_left - passed)
        now = replace(status, seconds=status.seconds + passed, seconds_left=left)
        return Text(str(now), no_wrap=True, overflow="ellipsis")


def make_progress(show: bool = True, stream: TextIO | None = None) -> Progress:
    """What fits the stream, by default stderr; quiet if not to be shown."""
    stream = sys.stderr if stream is None else stream
    if not show:
        return Quiet()
    return LiveLine(Console(file=stream)) if stream.isatty() else LogLines(stream)


def duration(seconds: float) -> str:
    """5 s, 2 min 5 s, 3 h 20 min, 2 d 3 h: two units, so that it is short and still says something."""
    left = math.floor(max(0.0, seconds))
    units = [(left // 86400, "d"), (left // 3600 % 24, "h"), (left // 60 % 60, "min"), (left % 60, "s")]
    first = next((place for place, (number, _) in enumerate(units) if number), 3)
    shown = [(number, unit) for number, unit in units[first : first + 2] if number or first == 3]
    return " ".join(f"{number} {unit}" for number, unit in shown)
