"""`make demo` finds what it hides."""

import pytest

from overtone import demo


def test_the_demo_recovers_the_hidden_polynomial(capsys: pytest.CaptureFixture[str]) -> None:
    demo.main()
    text = capsys.readouterr().out
    assert "missed" not in text
    assert "ok: 8 monomials" in text
    assert "proven: x4=+1, x5=-1" in text
