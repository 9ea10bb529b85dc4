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


# --- a region that comes back ----------------------------------------------------------------------------------------


def cut_off_rejoining(folder: Path, number: int, victim: str, *, after: bool) -> bool:
    """As `cut_off`, while a region rejoins that was passed over and has what its primary lacks."""
    with serving(folder / "a") as first, serving(folder / "b", "--follow", first.url) as second:
        ports = {"a": str(first.port), "b": str(second.port)}
        assert first.ask("POST", "/subjects/orders/versions", INT).json["id"] == 1
        eventually(lambda: _end(second) == _end(first))
        second.kill()
        assert first.ask("POST", "/subjects/orders/versions", LONG).json["id"] == 2
        assert first.ask("POST", "/subjects/lost/versions", LONG).json["id"] == 2
        first.kill()
    with serving(folder / "b", "--port", ports["b"]) as b:
        assert run("promote", b.url, "--force", "--yes").returncode == 0
        assert b.ask("POST", "/subjects/orders/versions", DOUBLE).json["id"] == rules.BLOCK + 1
        with serving(folder / "a", "--port", ports["a"]) as a:
            words = ["--primary", b.url, "--url", b.url, "--report", str(folder / "report"), "--yes"]
            dies = {"a": a, "b": b}[victim]
            with linked(a, dies.kill, number, after=after) as link:
                ended = run("rejoin", link.url, *words)
                was_cut = link.asked > number
            assert "Traceback" not in ended.stderr
            if not was_cut:
                assert "begins anew" in ended.stdout, ended.stderr
                _check_rejoined(a, b)
                return False
            with serving(folder / victim, "--port", ports[victim]) as again:
                servers = {"a": a, "b": b} | {victim: again}
                eventually(lambda: _rejoins(servers["a"].url, words))  # it does not answer while it is copying
                _check_rejoined(servers["a"], servers["b"])
    return True


def _rejoins(url: str, words: list[str]) -> bool:
    ended = run("rejoin", url, *words)
    return "begins anew" in ended.stdout or "already: nothing to do" in ended.stdout


def _end(server: Server) -> int:
    return int(server.ask("GET", "/regions").json["journal"]["position"])


def _check_rejoined(a: Server, b: Server) -> None:
    eventually(lambda: _kind(a) == "follower")
    assert _kind(b) == "primary"
    assert a.ask("POST", "/subjects/after/versions", INT).json["id"] == 1
    for server in (a, b):
        assert server.ask("GET", "/schemas/ids/2").json["schema"] == LONG["schema"]
        assert server.ask("GET", f"/schemas/ids/{rules.BLOCK + 1}").json["schema"] == DOUBLE["schema"]
        assert server.ask("GET", "/subjects").json == ["after", "lost", "orders"]
        assert server.ask("GET", "/subjects/orders/versions").json == [1, 2]
        assert server.ask("GET", "/subjects/orders/versions/2").json["id"] == rules.BLOCK + 1


def _kind(server: Server) -> str:
    with suppress(OSError, ValueError):
        return str((server.ask("GET", "/regions").json["role"] or {}).get("kind"))
    return ""


@pytest.mark.soak
@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("victim", ["a", "b"])
def test_whichever_server_is_killed_at_any_request_the_region_rejoins_once_it_is_run_again(
    tmp_path: Path, victim: str, after: bool
) -> None:
    for number in count():
        if not cut_off_rejoining(tmp_path / str(number), number, victim, after=after):
            break
    assert number >= LAST


def test_who_dies_once_what_was_missing_has_come_leaves_it_to_be_run_again(tmp_path: Path) -> None:
    """One of the cases above, with each change."""
    assert cut_off_rejoining(tmp_path, 9, "b", after=True)
