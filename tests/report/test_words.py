from hypothesis import given
from hypothesis import strategies as st

from overtone.report import words


def test_numbers_are_short_and_whole_ones_stand_in_full() -> None:
    shown = {
        0.0: "0",
        3.0: "3",
        1234567.0: "1,234,567",
        60.163: "60.16",
        -0.37: "-0.3700",
        12345.6: "12,346",
    }
    assert {x: words.number(x) for x in shown} == shown
    assert words.number(1.5e-7) == "1.5e-07"
    assert words.number(2.5e30) == "2.5e+30"
    assert words.number(-0.0) == "0"
    assert words.number(None) == "-"
    assert [words.exact(x) for x in (55.155, 0.25, 1e-9, 100.0, 123456.75)] == [
        "55.155",
        "0.25",
        "1e-09",
        "100",
        "123,457",
    ]


def test_shares_never_read_as_nothing_or_as_all() -> None:
    assert [words.percent(x) for x in (0.0, 0.001, 0.126, 0.999, 1.0, None)] == [
        "0%",
        "<1%",
        "13%",
        ">99%",
        "100%",
        "-",
    ]


def test_durations() -> None:
    assert [words.seconds(x) for x in (0.0, 0.25, 12.4, 200.0, 7500.0, 273600.0)] == [
        "0 s",
        "0.25 s",
        "12 s",
        "3 min 20 s",
        "2 h 5 min",
        "3 d 4 h",
    ]


def test_lists_and_counts() -> None:
    assert [words.listing("abcd"[:n], 2) for n in range(5)] == [
        "",
        "a",
        "a and b",
        "a, b and 1 more",
        "a, b and 2 more",
    ]
    assert [words.count(n, "trial") for n in (0, 1, 2000)] == ["0 trials", "1 trial", "2,000 trials"]
    assert words.clause({"a": True, "b": [1, "x"]}) == "a = True and b in [1, 'x']"


@given(st.text(), st.integers(5, 60))
def test_what_is_cut_keeps_its_ends(text: str, most: int) -> None:
    short = words.cut(text, most)
    assert len(short) <= most
    assert short == text or (text.startswith(short.split("…")[0]) and text.endswith(short.rsplit("…", 1)[1]))


@given(st.text(st.characters()))
def test_nothing_is_hidden(text: str) -> None:
    assert words.literal(text).isprintable()
    assert words.literal(words.literal(text)) == words.literal(text)


def test_escapes_are_readable() -> None:
    assert words.literal("a\n\u202eb\ud800\x00é👍") == "a\\n\\u202eb\\ud800\\x00é👍"
    assert words.lines("a\n\tb\x1b[31m") == "a\n    b\\x1b[31m"
    assert [words.value(v) for v in (True, "True", 1, 0.1 + 0.2, None)] == ["True", "'True'", "1", "0.3", "None"]
