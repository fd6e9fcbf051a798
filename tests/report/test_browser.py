"""The page in a real browser: plots are drawn, nothing is blocked or fetched, and a phone need not scroll sideways."""

import json
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from overtone import report
from overtone.report.watch import make_server
from overtone.running.record import History
from tests.report.histories import NASTY, large, nasty, tuned

if TYPE_CHECKING:
    from selenium.webdriver import Chrome

pytestmark = pytest.mark.heavy

SIZES = {"phone": (390, 844), "desktop": (1280, 900)}
INSIDE = ("file:", "data:", "chrome:")  # chrome: is its own start page, which may still be loading
QUIET = (  # the browser's own traffic
    "disable-quic",
    "no-first-run",
    "disable-background-networking",
    "disable-component-update",
    "disable-sync",
)
PAGES: dict[str, Callable[[], History]] = {
    "tuned": tuned,
    "maximize": lambda: tuned("maximize"),
    "empty": lambda: large(3, 0, 0),
    "nasty": lambda: nasty(NASTY),
    "large": lambda: large(1000, 10_000, 5),
}


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> "Iterator[Chrome]":
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not chromium or not driver:
        pytest.fail("these tests need a browser: apt-get install chromium chromium-driver")
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    # root, as in containers, has no sandbox
    profile = f"user-data-dir={tmp_path_factory.mktemp('profile')}"
    for flag in ("headless", "no-sandbox", "disable-gpu", "disable-dev-shm-usage", *QUIET, profile):
        options.add_argument(f"--{flag}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    chrome = webdriver.Chrome(options, webdriver.ChromeService(driver))
    yield chrome
    chrome.quit()


def resize(browser: "Chrome", size: str) -> None:
    width, height = SIZES[size]
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": size == "phone"}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)


def show(browser: "Chrome", history: History, folder: Path) -> int:
    """Open the page from a file; how many plots there are, once all are drawn."""
    path = folder / "report.html"
    path.write_text(report.page(history), "utf-8")
    drain(browser)
    browser.get(path.as_uri())
    wait(browser, "return [...document.querySelectorAll('.plot')].every(plot => plot.querySelector('svg.main-svg'))")
    return int(browser.execute_script("return document.querySelectorAll('.plot').length"))


def wait(browser: "Chrome", condition: str, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not browser.execute_script(condition):
        assert time.monotonic() < end, f"still not: {condition}\n{browser.get_log('browser')}"
        time.sleep(0.05)


def drain(browser: "Chrome") -> None:
    for name in ("browser", "performance"):
        browser.get_log(name)


def requests(browser: "Chrome") -> list[str]:
    """Every address that was asked for."""
    events: list[dict[str, Any]] = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    return [e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("page", PAGES)
def test_a_page(browser: "Chrome", page: str, size: str, tmp_path: Path) -> None:
    resize(browser, size)
    history = PAGES[page]()
    assert show(browser, history, tmp_path) == len(report.figures(history))
    drawn = (
        "return [...document.querySelectorAll('.plot .main-svg')].every(svg => svg.getBoundingClientRect().width > 200)"
    )
    assert browser.execute_script(drawn)
    assert browser.execute_script("document.querySelectorAll('details').forEach(d => d.open = true); return 1")
    inner, scroll = browser.execute_script("return [innerWidth, document.documentElement.scrollWidth]")
    assert scroll <= inner == SIZES[size][0], "it scrolls sideways"
    assert browser.get_log("browser") == []  # errors, and what the policy blocks
    assert [url for url in requests(browser) if not url.startswith(INSIDE)] == []
    assert len(browser.get_screenshot_as_png()) > 15_000, "a blank page has about 3,000 bytes"


def test_plots_show_what_they_should(browser: "Chrome", tmp_path: Path) -> None:
    resize(browser, "desktop")
    show(browser, tuned(), tmp_path)
    count = "return document.querySelectorAll(arguments[0]).length"
    features = len(report.tables(tuned())["features"])
    assert browser.execute_script(count, "#spectrum_1 .bars .point") == min(15, features)
    assert browser.execute_script(count, "#values .boxes") == 1
    assert browser.execute_script(count, "#interactions .heatmaplayer image, #interactions .hm") >= 1
    assert browser.execute_script(count, "#best_so_far .scatterlayer .trace") == 2
    assert "batch_norm" in browser.execute_script("return document.getElementById('importance').textContent")


def test_names_are_shown_literally(browser: "Chrome", tmp_path: Path) -> None:
    resize(browser, "desktop")
    show(browser, nasty(NASTY), tmp_path)
    text = browser.execute_script("return document.getElementById('importance').textContent")
    for name in ("<b>bold</b><br>", "\"quoted\" 'twice'", "$x^2$ %{x} &amp; &lt;", "bidi\\u202eabc", "2020-01-01"):
        assert name in text
    assert (
        browser.execute_script("return document.querySelectorAll('main a, main img, main b, main iframe').length") == 0
    )


def test_dark_and_copy(browser: "Chrome", tmp_path: Path) -> None:
    show(browser, tuned(), tmp_path)
    colors = (
        "return [getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color,"
        " getComputedStyle(document.querySelector('#best_so_far .xtick text')).fill]"
    )
    _, text, ticks = browser.execute_script(colors)
    assert ticks == text
    dark = {"features": [{"name": "prefers-color-scheme", "value": "dark"}]}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", dark)
    wait(browser, f"return (() => {{ {colors} }})()[2] !== '{ticks}'")
    back, text, ticks = browser.execute_script(colors)
    assert ticks == text
    assert back == "rgb(20, 23, 26)"
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    browser.execute_script("document.querySelectorAll('details').forEach(d => d.open = true)")
    browser.execute_script("document.getElementById('copy').click()")
    wait(browser, "return ['Copied', 'Selected'].includes(document.getElementById('copy').textContent)")


def test_the_live_page_renews_itself_where_it_stands(browser: "Chrome") -> None:
    resize(browser, "phone")
    now = [replace(tuned(), records=tuned().records[:150], stages=(), stopped="")]
    server = make_server(lambda: now[0], interval=0.2)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        drain(browser)
        browser.get(server.address)
        wait(browser, "return document.querySelectorAll('.plot .main-svg').length > 0")
        assert browser.execute_script("return document.getElementById('importance')") is None
        browser.execute_script("scrollTo(0, 700)")
        now[0] = tuned()
        wait(browser, "return document.querySelector('#importance .main-svg') !== null")
        assert browser.execute_script("return scrollY") == 700
        assert browser.get_log("browser") == []
        assert all(url.startswith((server.address, *INSIDE)) for url in requests(browser))
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    wait(browser, "return document.getElementById('notice').textContent.includes('does not answer')")
