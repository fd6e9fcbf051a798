"""The page as text: what browsers do with it is in test_browser.py."""

import base64
import hashlib
import json
import re
import subprocess
import sys
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overtone import report
from overtone.report.webpage import config_text
from overtone.running.record import History
from tests.report.histories import NASTY, large, nasty, record, tuned
from tests.report.test_terminal import CASES


class Parsed(HTMLParser):
    """The elements with their attributes, all text by element, and whether elements are closed in order."""

    VOID = ("meta", "link", "br")

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, tuple[tuple[str, str | None], ...]]] = []
        self.texts: dict[str, list[str]] = {}
        self.open: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, tuple(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.setdefault(self.open[-1] if self.open else "", []).append(data)


def small(history: History) -> str:
    """Without plotly.js: the page of the live server."""
    return report.page(history, refresh=2.0)


@pytest.mark.parametrize("case", CASES)
def test_every_page_is_whole(case: str) -> None:
    page = report.page(CASES[case]())
    page.encode("utf-8")
    parsed = Parsed(page)
    assert parsed.open == []
    assert not re.search(r"\b(NaN|nan|Infinity|inf|Undefined)\b", re.sub(r"(?s)<script>.*?</script>", "", page))
    figures = [dict(attrs).get("id") for tag, attrs in parsed.elements if dict(attrs).get("class") == "plot"]
    data = [dict(attrs)["id"] for tag, attrs in parsed.elements if dict(attrs).get("type") == "application/json"]
    assert data == [f"{name}-data" for name in figures]
    assert all(json.loads(text) for text in parsed.texts.get("script", []) if text.startswith('{"data"'))


def test_it_needs_no_network() -> None:
    parsed = Parsed(report.page(tuned()))
    addresses = [value for _, attrs in parsed.elements for name, value in attrs if name in ("src", "href", "action")]
    assert addresses == ["data:,"]
    assert sum("plotly.js v" in text for text in parsed.texts["script"]) == 1
    assert "@import" not in parsed.texts["style"][0]
    assert "url(" not in parsed.texts["style"][0]


def test_the_policy_lets_in_just_our_scripts() -> None:
    parsed = Parsed(report.page(tuned()))
    policy = next(dict(attrs)["content"] for _, attrs in parsed.elements if ("http-equiv" in dict(attrs)))
    assert policy is not None
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert rules["default-src"] == rules["connect-src"] == "'none'"
    scripts = [text for text in parsed.texts["script"] if not text.startswith('{"data"')]
    hashes = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in scripts]
    assert rules["script-src"] == " ".join(f"'sha256-{each}'" for each in hashes)


Element = tuple[str, tuple[tuple[str, str | None], ...]]


def vocabulary(parsed: Parsed) -> set[Element]:
    """All elements with their attributes, but for what depends on numbers: the state, and the heights of plots."""
    return {
        (tag, tuple((name, value) for name, value in attrs if name not in ("data-state", "style")))
        for tag, attrs in parsed.elements
    }


@cache
def plain() -> set[Element]:
    return vocabulary(Parsed(small(nasty(["plain", "name"]))))


texts = st.text(st.characters(), min_size=1, max_size=30) | st.sampled_from(NASTY)


@settings(max_examples=40)
@given(st.lists(texts, min_size=2, max_size=4, unique=True))
def test_no_text_becomes_an_element(names: list[str]) -> None:
    page = small(nasty(names))
    page.encode("utf-8")
    parsed = Parsed(page)
    assert parsed.open == []
    assert vocabulary(parsed) <= plain()


def test_texts_are_shown_as_they_are() -> None:
    shown = "\n".join(text for texts in Parsed(small(nasty(NASTY))).texts.values() for text in texts)
    assert "<script>alert(1)</script>" in shown
    assert "{{ 7 * 7 }}{% raw %}" in shown
    assert "\u202e" not in shown
    assert "bidi\\u202eabc" in shown
    assert "49" not in re.sub(r"(?s)\{\"data\".*", "", shown.split("Settings")[-1])


def test_the_configuration_can_be_read_back() -> None:
    config = {"a\n\u202e": "</pre>", "größe": 0.1 + 0.2, "b": None, "c": True, "\U000e0001": "\ud800"}
    text = config_text(config)
    assert json.loads(text) == config
    assert "größe" in text
    assert all(line.isprintable() for line in text.splitlines())
    pre = Parsed(small(tuned())).texts["pre"][0]
    best = tuned().best
    assert best is not None
    assert json.loads(pre) == best.trial.config


def test_the_same_history_is_the_same_page() -> None:
    page = report.page(tuned())
    assert report.page(tuned()) == page
    code = (
        "import hashlib; from overtone import report; from tests.report.histories import large\n"
        "print(hashlib.sha256(report.page(large(30, 60, 2)).encode()).hexdigest())"
    )
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert other.stdout.strip() == hashlib.sha256(report.page(large(30, 60, 2)).encode()).hexdigest()


def test_large_pages_stay_small() -> None:
    page = report.page(large(1000, 10_000, 5))
    assert len(page) < 6_000_000
    assert "and 800 more" in page  # of 1,000 parameters
    assert len(small(large(1000, 10_000, 5))) < 400_000
    assert len(small(tuned())) < 100_000


def test_the_live_page_asks_for_news() -> None:
    page = small(tuned())
    assert 'data-refresh="2.0"' in page
    assert re.search(r'<script src="/plotly-[\w.]+\.js"></script>', page)
    states = {
        re.findall(r'data-state="(\w+)"', small(history))[0]
        for history in (
            tuned(),
            replace(tuned(), stopped=""),
            replace(tuned(), records=tuned().records[:-1]),
            replace(tuned(), stages=tuned().stages[:-1]),
            replace(tuned(), records=(*tuned().records[:-1], record(561, 1.0))),
        )
    }
    assert len(states) == 5


def test_it_is_imported_only_when_used() -> None:
    code = "import sys, overtone.report; print(*{'plotly', 'jinja2', 'scipy', 'sklearn', 'numpy'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "\n"
