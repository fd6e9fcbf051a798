from collections.abc import Callable
from dataclasses import replace

import pytest

from overtone import report
from overtone.running.record import History
from tests.report.histories import NASTY, large, nasty, stage, tuned

WORST = "not sparse at this sample size"
CASES: dict[str, Callable[[], History]] = {
    "tuned": lambda: tuned(),
    "maximize": lambda: tuned("maximize"),
    "empty": lambda: large(3, 0, 0),
    "no stages": lambda: large(3, 50, 0),
    "one stage": lambda: large(50, 50, 1),
    "large": lambda: large(1000, 2000, 5),
    "nasty": lambda: nasty(NASTY),
    "not sparse": lambda: replace(
        large(3, 5, 0), stages=(stage(large(3, 5, 0).space, {}, verdict=WORST, mean=-1.5e-7),)
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_it_fits_a_terminal(case: str) -> None:
    text = report.text(CASES[case]())
    assert text.isascii() or case == "nasty"
    assert all(line.isprintable() and len(line) <= 100 for line in text.splitlines()), text
    assert len(text.splitlines()) < 150


def test_it_says_what_matters_first() -> None:
    text = report.text(tuned())
    assert text.startswith("Overtone: minimize over 40 parameters\nResult ")
    order = [
        text.index(word) for word in ("Result", "How sure", "What matters", "Best conf", "Stages", "Importance in")
    ]
    assert order == sorted(order)
    assert "optnet = True and share_gradInput = True" in text
    assert "and 7 more" in text  # of 12 features


def test_signs_are_those_of_the_goal() -> None:
    def weight(history: History) -> float:
        line = next(
            line for line in report.text(history).splitlines() if line.startswith("  batch_norm  ") and "." in line
        )
        return float(line.split()[1])

    assert weight(tuned()) == pytest.approx(-weight(tuned("maximize")), rel=1e-3)
    assert weight(tuned()) < 0
