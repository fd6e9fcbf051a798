import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from overtone.errors import InputError
from overtone.report.watch import Server, make_server
from overtone.report.webpage import PLOTLY_PATH
from overtone.running.record import History
from tests.report.histories import large

RUN = large(20, 30, 1)


@contextmanager
def running(server: Server) -> Iterator[Server]:
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def get(server: Server, path: str = "/", host: str | None = None) -> tuple[int, dict[str, str], str]:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=30)
    try:
        connection.request("GET", path, headers={"Host": host or f"127.0.0.1:{server.server_port}"})
        answer = connection.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read().decode("utf-8")
    finally:
        connection.close()


class Loads:
    """Gives histories or raises errors in turn, then the last one for ever."""

    def __init__(self, *results: History | Exception) -> None:
        self.results, self.n = results, 0

    def __call__(self) -> History:
        result = self.results[min(self.n, len(self.results) - 1)]
        self.n += 1
        if isinstance(result, Exception):
            raise result
        return result


def test_the_page_and_what_belongs_to_it() -> None:
    with running(make_server(Loads(RUN))) as server:
        status, headers, page = get(server)
        assert (status, headers["Cache-Control"]) == (200, "no-store")
        assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
        assert f'<script src="{PLOTLY_PATH}">' in page
        assert len(page) < 500_000
        status, headers, script = get(server, PLOTLY_PATH)
        assert "immutable" in headers["Cache-Control"]
        assert "plotly.js v" in script[:100]
        assert get(server, "/etc/passwd")[0] == get(server, "/../")[0] == get(server, "/?x")[0] == 404


def test_other_names_for_this_machine_are_refused() -> None:
    with running(make_server(Loads(RUN))) as server:
        port = server.server_port
        assert get(server, host=f"localhost:{port}")[0] == 200
        for host in (
            f"evil.example:{port}",
            "127.0.0.1",
            "127.0.0.1:1",
            f"127.0.0.1.evil.example:{port}",
            f"0.0.0.0:{port}",
        ):
            assert get(server, host=host)[0] == 403
            assert get(server, PLOTLY_PATH, host=host)[0] == 403


def test_it_is_bound_to_this_machine_only() -> None:
    with make_server(Loads(RUN)) as server:
        assert server.socket.getsockname()[0] == "127.0.0.1"
        assert server.address == f"http://127.0.0.1:{server.server_port}/"


def test_the_page_is_renewed_when_the_run_goes_on() -> None:
    load = Loads(replace(RUN, records=RUN.records[:10]), replace(RUN, records=RUN.records[:10]), RUN)
    with running(make_server(load, interval=1e-6)) as server:
        state = json.loads(get(server, "/state")[2])["state"]
        assert json.loads(get(server, "/state")[2]) == {"state": state, "problem": ""}
        assert json.loads(get(server, "/state")[2])["state"] != state
        assert "30 trials" in get(server)[2]


def test_it_loads_at_most_once_an_interval() -> None:
    load = Loads(RUN)
    with running(make_server(load, interval=3600)) as server:
        for _ in range(5):
            assert get(server)[0] == 200
    assert load.n == 1


def test_a_ledger_that_cannot_be_read_for_a_while() -> None:
    load = Loads(OSError("<b>locked</b>"), RUN, OSError("database is locked"), RUN)
    with running(make_server(load, interval=1e-6)) as server:
        waiting = get(server)[2]
        assert "nothing to show yet" in waiting
        assert "&lt;b&gt;locked" in waiting
        assert "30 trials" in get(server)[2]
        late = json.loads(get(server, "/state")[2])
        assert "OSError: database is locked" in late["problem"]
        assert json.loads(get(server, "/state")[2]) == {"state": late["state"], "problem": ""}


def test_a_port_in_use_and_a_strange_interval() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(InputError, match=f"must be free on 127.0.0.1, but {port} is not"):
            make_server(Loads(RUN), port)
    with pytest.raises(InputError, match="port"):
        make_server(Loads(RUN), 70_000)
    with pytest.raises(InputError, match="interval"):
        make_server(Loads(RUN), interval=0)


def test_ctrl_c_ends_it_without_a_word() -> None:
    code = (
        "from overtone import report; from tests.report.histories import large\n"
        "report.serve(lambda: large(3, 5, 0), announce=lambda address: print(address, flush=True))"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline().startswith("http://127.0.0.1:")
        os.kill(child.pid, signal.SIGINT)
        output, errors = child.communicate(timeout=60)
    assert (child.returncode, output, errors) == (0, "", "")
