"""The report as one HTML page that needs no network: tables, and plots drawn by plotly.js, which is inside."""

import base64
import hashlib
import json
from collections.abc import Mapping
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape
from plotly import __version__ as plotly_version
from plotly.graph_objects import Figure
from plotly.offline import get_plotlyjs

from overtone.report import words
from overtone.report.plots import figures_of
from overtone.report.summary import summarize
from overtone.report.verdict import sureness_words, verdict
from overtone.running.record import History

HERE = Path(__file__).parent
PLOTLY_PATH = f"/plotly-{plotly_version}.js"  # where the live server has it; a new version is a new address
LIMITS = {"few": 8, "rows": 20, "settings": 200, "detail": 4000, "setting": 300, "stages": 12}


def render(history: History, *, refresh: float | None = None) -> str:
    """The same history, the same bytes. refresh: seconds after which the page asks the server that it came from."""
    summary = summarize(history)
    figures = {name: _embedded(figure) for name, figure in figures_of(summary).items()}
    return (
        _environment()
        .get_template("page.html")
        .render(
            summary=summary,
            run=summary.overview,
            verdict=verdict(summary),
            config=Markup(escape(config_text(summary.config))),  # noqa: S704
            figures=figures,
            refresh=refresh,
            state=state_of(history),
            policy=policy(is_live=refresh is not None),
            plotly=None if refresh is not None else _plotly_js(),
            plotly_path=PLOTLY_PATH,
            script=_script(),
            css=Markup((HERE / "page.css").read_text("utf-8")),  # noqa: S704
            limits=LIMITS,
            version=version("overtone"),
        )
    )


def state_of(history: History) -> str:
    """What changes whenever the history does: it only grows."""
    last = history.records[-1] if history.records else None
    what = (len(history.records), len(history.stages), history.stopped, last and (last.trial.number, last.outcome))
    return hashlib.sha256(repr(what).encode("utf-8", "backslashreplace")).hexdigest()[:16]


def policy(*, is_live: bool) -> str:
    """The Content-Security-Policy: our two scripts by their hashes, nothing from anywhere else.

    Styles are let in as plotly.js sets them on its elements; no user's text becomes an element or attribute anyway.
    """
    scripts = f"'self' {_hash(_script())}" if is_live else f"{_hash(_plotly_js())} {_hash(_script())}"
    rules = {
        "default-src": "'none'",
        "script-src": scripts,
        "style-src": "'unsafe-inline'",
        "img-src": "data:",
        "connect-src": "'self'" if is_live else "'none'",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    return "; ".join(f"{name} {rule}" for name, rule in rules.items())


def _hash(script: str) -> str:
    digest = hashlib.sha256(script.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


@cache
def _plotly_js() -> Markup:
    return Markup(get_plotlyjs())  # noqa: S704


@cache
def _script() -> Markup:
    return Markup((HERE / "page.js").read_text("utf-8"))  # noqa: S704


@cache
def _environment() -> Environment:
    """Every text that a template shows goes through `_shown`, then through the escaping."""
    environment = Environment(
        loader=FileSystemLoader(HERE),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        number=words.number,
        percent=words.percent,
        seconds=words.seconds,
        value=words.value,
        cut=words.cut,
        sureness=sureness_words,
        block=lambda text: Markup(escape(words.lines(text))),  # noqa: S704
    )
    environment.globals.update(count=words.count)
    return environment


def _shown(given: object) -> object:
    return given if isinstance(given, Markup) else words.literal(str(given))


def _embedded(figure: Figure) -> dict[str, Any]:
    """Its JSON, in which nothing can end the element that holds it, and its height, so that the page does not jump."""
    text = json.dumps(figure.to_plotly_json(), allow_nan=False, sort_keys=True, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return {"json": Markup(text), "height": int(figure.layout.height)}  # noqa: S704


def config_text(config: Mapping[str, Any] | None) -> str:
    """JSON to copy; what cannot be seen is written as JSON's own escapes."""
    text = "" if config is None else json.dumps(config, indent=2, ensure_ascii=False, default=repr)
    return "".join(c if c == "\n" or c.isprintable() else json.dumps(c)[1:-1] for c in text)
