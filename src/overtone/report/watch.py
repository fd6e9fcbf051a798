"""The page of a run that is going on, live in a browser of this machine."""

import json
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from html import escape
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from plotly.offline import get_plotlyjs

from overtone.errors import InputError
from overtone.report.webpage import PLOTLY_PATH, policy, render, state_of
from overtone.report.words import literal
from overtone.running.record import History

HOST = "127.0.0.1"  # never another: the page shows what is tuned, to whoever asks
WAITING = """<!DOCTYPE html><html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="2">
<title>Overtone report</title><p>There is nothing to show yet. This page looks again by itself.</p><p>{}</p></html>"""


class Page:
    """What the server shows: loaded at most once an interval, rendered only if something changed."""

    def __init__(self, load: Callable[[], History], interval: float) -> None:
        self._load, self._interval = load, interval
        self._lock = threading.Lock()  # browsers ask from several threads
        self._due = 0.0
        self.html, self.state, self.problem = "", "", ""

    def current(self) -> tuple[str, str, str]:
        """The page, what it is a page of, and why it is no newer."""
        with self._lock:
            if time.monotonic() >= self._due:
                self._renew()
                self._due = time.monotonic() + self._interval
            return self.html or WAITING.format(escape(self.problem)), self.state, self.problem

    def _renew(self) -> None:
        try:
            history = self._load()
            if state_of(history) != self.state:
                self.html, self.state = render(history, refresh=self._interval), state_of(history)
            self.problem = ""
        except Exception as error:  # noqa: BLE001 - a ledger that is busy or gone for a while must not end the watch
            self.problem = literal(f"The newest state could not be read: {type(error).__name__}: {error}")


class Server(ThreadingHTTPServer):
    """Serves one page, and plotly.js beside it, which browsers keep."""

    daemon_threads = True  # Ctrl-C does not wait for a browser

    def __init__(self, page: Page, port: int) -> None:
        self.page = page
        super().__init__((HOST, port), _Handler)
        self.hosts = {f"{name}:{self.server_port}" for name in (HOST, "localhost")}

    @property
    def address(self) -> str:
        """Where a browser finds it."""
        return f"http://{HOST}:{self.server_port}/"


class _Handler(BaseHTTPRequestHandler):
    server: Server
    server_version, sys_version = "overtone", ""

    def do_GET(self) -> None:
        """The page, its state, or plotly.js; other names for this machine are refused, as they may be made up.

        A hostile site can point its own name at 127.0.0.1 (DNS rebinding), and would be let in as the same origin.
        """
        if self.headers.get("Host") not in self.server.hosts:
            self._answer(HTTPStatus.FORBIDDEN, "text/plain", "Use the address that was printed.\n")
        elif self.path == "/":
            self._answer(HTTPStatus.OK, "text/html", self.server.page.current()[0])
        elif self.path == "/state":
            _, state, problem = self.server.page.current()
            self._answer(HTTPStatus.OK, "application/json", json.dumps({"state": state, "problem": problem}))
        elif self.path == PLOTLY_PATH:
            self._answer(HTTPStatus.OK, "text/javascript", get_plotlyjs(), "max-age=31536000, immutable")
        else:
            self._answer(HTTPStatus.NOT_FOUND, "text/plain", "There is only one page: /\n")

    def _answer(self, status: HTTPStatus, kind: str, text: str, cache: str = "no-store") -> None:
        body = text.encode("utf-8")
        self.send_response(status)
        for name, value in {
            "Content-Type": f"{kind}; charset=utf-8",
            "Content-Length": str(len(body)),
            "Cache-Control": cache,
            "Content-Security-Policy": f"{policy(is_live=True)}; frame-ancestors 'none'",
            "X-Content-Type-Options": "nosniff",
            "Cross-Origin-Resource-Policy": "same-origin",
        }.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class calls it so
        """Say nothing: the terminal belongs to whoever started the server."""

    def handle(self) -> None:
        """A browser that goes away in the middle is no error."""
        try:
            super().handle()
        except ConnectionError:
            self.close_connection = True


def make_server(load: Callable[[], History], port: int = 0, interval: float = 2.0) -> Server:
    """Bound to this machine, not yet answering; port 0 takes a free one."""
    if not interval > 0:
        raise InputError(f"`interval` must be a number of seconds > 0, but got {interval!r}")
    try:
        return Server(Page(load, interval), port)
    except (OSError, OverflowError) as error:
        raise InputError(
            f"`port` must be free on {HOST}, but {port} is not ({error}): take another one, or 0 for any"
        ) from None


def serve_forever(
    load: Callable[[], History], port: int = 0, *, interval: float = 2.0, announce: Callable[[str], object] = print
) -> None:
    """Until Ctrl-C."""
    with make_server(load, port, interval) as server, suppress(KeyboardInterrupt):
        announce(server.address)
        server.serve_forever()
