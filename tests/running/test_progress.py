import io
import sys
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console

from overtone.running.progress import LiveLine, LogLines, Quiet, Status, duration, make_progress

STATUS = Status("stage 1", n_done=3, n_failed=1, n_running=2, best=0.123456789, n_evaluations=50, seconds=65)


@pytest.mark.parametrize(
    ("status", "text"),
    [
        (Status(), "[0 s] start: 0 trials done, no value yet"),
        (STATUS, "[1 min 5 s] stage 1: 3 of 50 trials done, 1 failed, 2 running, best 0.123457"),
        (
            replace(STATUS, n_evaluations=None, n_failed=0, n_running=0, seconds_left=90061.0),
            "[1 min 5 s] stage 1: 3 trials done, best 0.123457, 1 d 1 h left",
        ),
    ],
)
def test_a_status_reads_well(status: Status, text: str) -> None:
    assert str(status) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-1, "0 s"),
        (0.9, "0 s"),
        (59.9, "59 s"),
        (60, "1 min"),
        (61, "1 min 1 s"),
        (3600, "1 h"),
        (3660, "1 h 1 min"),
        (86400 * 2 + 3599, "2 d"),
    ],
)
def test_durations_have_two_units_at_most(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def lines_of(*updates: Status, stopped: str = "done") -> list[str]:
    stream = io.StringIO()
    progress = LogLines(stream)
    for status in updates:
        progress.update(status)
    progress.end(stopped)
    return stream.getvalue().splitlines()


def at(seconds: float, **known: Any) -> Status:
    return replace(STATUS, seconds=seconds, **known)


def test_a_log_has_a_line_for_each_stage_and_one_for_the_end() -> None:
    said = lines_of(at(0), at(1), at(2, stage="stage 2"), at(3, stage="stage 2"), stopped="interrupted")
    assert [line.split(":")[0] for line in said] == ["[0 s] stage 1", "[2 s] stage 2", "[3 s] stage 2"]
    assert said[-1].endswith(": interrupted")


def test_a_log_has_new_best_values_but_not_too_often() -> None:
    said = lines_of(*(at(second, best=100.0 - second) for second in range(12)))
    assert [line.split("]")[0] for line in said] == ["[0 s", "[5 s", "[10 s", "[11 s"]


def test_a_log_has_a_line_once_in_a_while_even_without_news() -> None:
    said = lines_of(*(at(second) for second in range(0, 150, 10)))
    assert [line.split("]")[0] for line in said] == ["[0 s", "[1 min", "[2 min", "[2 min 20 s"]


def test_the_live_line_is_drawn_and_left_on_the_screen() -> None:
    screen = io.StringIO()
    progress = LiveLine(Console(file=screen, force_terminal=True, width=60))
    for n in range(30):
        progress.update(at(n, n_done=n, stage="[bold]stage[/nonsense]", seconds_left=30.0 - n))
    progress.end("time is up")
    assert "[bold]stage[/nonsense]: 29 of 50 trials done" in screen.getvalue()  # texts are no markup
    assert screen.getvalue().rstrip().endswith("1 s left: time is up")


def test_a_live_line_that_never_began_can_end() -> None:
    screen = io.StringIO()
    LiveLine(Console(file=screen, force_terminal=True)).end("failed")
    assert "failed" in screen.getvalue()


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_stream_decides_what_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(make_progress(stream=Terminal()), LiveLine)
    assert isinstance(make_progress(stream=io.StringIO()), LogLines)
    quiet = make_progress(False, stream=Terminal())
    assert isinstance(quiet, Quiet)
    quiet.update(STATUS)
    quiet.end("done")
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    make_progress().update(STATUS)
    assert stream.getvalue() == f"{STATUS}\n"
