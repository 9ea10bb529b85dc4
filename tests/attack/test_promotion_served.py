"""Two servers, one of which is killed at a request of a promotion: it is started again, and so is the promotion."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path

import pytest

from sigla.regions import rules
from tests.protocol.clients.server import Server, run, serving
from tests.waiting import PATIENCE_S, eventually

pytestmark = pytest.mark.process

INT, LONG, DOUBLE = ({"schema": json.dumps(kind)} for kind in ("int", "long", "double"))
LAST = 7
"""Requests of a promotion by plan, at least."""


class Link:
    """The way from the follower to its primary, for a promotion alone. strike: is called before or after a request."""

    def __init__(self, behind: Server, strike: Callable[[], object], number: int, *, after: bool) -> None:
        self.asked = 0
        link = self

        class Request(BaseHTTPRequestHandler):
            def _any(self) -> None:
                at, link.asked = link.asked, link.asked + 1
                if at == number and not after:
                    strike()
                    return
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                connection = HTTPConnection(behind.host, behind.port, timeout=PATIENCE_S)
                connection.request(self.command, self.path, body, {"Content-Type": "application/json"})
                answer = connection.getresponse()
                found = answer.read()
                connection.close()
                if at == number:
                    strike()
                    return
                self.send_response(answer.status)
                self.send_header("Content-Length", str(len(found)))
                self.end_headers()
                self.wfile.write(found)

            def do_GET(self) -> None:
                with suppress(OSError):
                    self._any()

            do_PUT = do_POST = do_GET  # noqa: N815 - as above

            def log_message(self, *_: object) -> None: ...

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Request)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@contextmanager
def linked(behind: Server, strike: Callable[[], object], number: int, *, after: bool) -> Iterator[Link]:
    link = Link(behind, strike, number, after=after)
    try:
        yield link
    finally:
        link.close()


def cut_off(folder: Path, number: int, victim: str, *, after: bool, undo: bool) -> bool:
    """Kills one of two servers at a request. Whether there was such a request; in the end all is as it should be."""
    with serving(folder / "a") as a, serving(folder / "b", "--follow", a.url) as b:
        servers = {"a": a, "b": b}
        dies = servers[victim]
        assert a.ask("POST", "/subjects/orders/versions", INT).json["id"] == 1
        with linked(a, dies.kill, number, after=after) as link:
            ended = run("promote", b.url, "--primary", link.url, "--yes")
            was_cut = link.asked > number
        if not was_cut:
            _check_promoted(a, b)
            return False
        assert "Traceback" not in ended.stderr
        with serving(folder / victim, "--port", str(dies.port)) as again:
            servers[victim] = again
            if undo and _taken_back(servers["b"]):
                assert servers["b"].ask("POST", "/subjects/orders/versions", LONG).json["id"] == 2
                return True
            told = run("promote", b.url, "--yes")
            assert told.returncode == 0, told.stderr
            _check_promoted(servers["a"], servers["b"])
    return True


def _taken_back(b: Server) -> bool:
    told = run("promote", b.url, "--undo", "--yes")
    if told.returncode == 0:
        return True
    assert (told.returncode, "nothing to take back" in told.stderr) == (2, True), told.stderr
    return False


def _check_promoted(a: Server, b: Server) -> None:
    found = [server.ask("GET", "/regions").json["role"] for server in (a, b)]
    assert [(each["kind"], each["epoch"]) for each in found] == [("follower", 2), ("primary", 2)]
    assert b.ask("POST", "/subjects/orders/versions", LONG).json["id"] == rules.BLOCK + 1
    eventually(lambda: a.ask("POST", "/subjects/orders/versions", DOUBLE).status == 200)
    assert b.ask("GET", "/subjects/orders/versions").json == [1, 2, 3]
    assert a.ask("GET", "/subjects/orders/versions").json == [1, 2, 3]


@pytest.mark.soak
@pytest.mark.parametrize("undo", [False, True])
@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("victim", ["a", "b"])
def test_whichever_server_is_killed_at_any_request_the_promotion_is_run_again(
    tmp_path: Path, victim: str, after: bool, undo: bool
) -> None:
    for number in count():
        if not cut_off(tmp_path / str(number), number, victim, after=after, undo=undo):
            break
    assert number >= LAST


@pytest.mark.parametrize("victim, number, after", [("b", 3, True), ("a", LAST - 1, False)])
def test_who_dies_once_the_primary_is_closed_or_before_it_follows_leaves_a_promotion_to_be_run_again(
    tmp_path: Path, victim: str, number: int, after: bool
) -> None:
    """A few of the cases above, with each change."""
    assert cut_off(tmp_path, number, victim, after=after, undo=False)
