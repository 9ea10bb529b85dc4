"""A follower behind a link that is cut or slow, and servers that die or stand still at any step of following."""

import json
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from time import monotonic

import pytest

from tests.protocol.clients.link import BACK, THERE, Link
from tests.protocol.clients.server import Answer, Server, ask, serving, start
from tests.protocol.test_following import INT, LONG, _free_port, _journal, registered
from tests.waiting import eventually

NOT_KNOWN = "whether it was carried out is not known"


def schema(name: str) -> dict[str, str]:
    return {"schema": json.dumps({"type": "fixed", "name": name, "size": 1})}


@contextmanager
def linked(tmp_path: Path) -> Iterator[tuple[Server, Server, Link]]:
    """A primary, its follower, and what is between them."""
    with ExitStack() as opened:
        primary = opened.enter_context(serving(tmp_path / "a"))
        link = opened.enter_context(Link(primary.port))
        follower = opened.enter_context(serving(tmp_path / "b", "--follow", link.url))
        eventually(lambda: primary.ask("GET", "/regions").json["role"]["peer"])
        yield primary, follower, link
        link.cut()


def timed(server: Server, *asked: object) -> tuple[Answer, float]:
    since = monotonic()
    return server.ask(*asked), monotonic() - since  # type: ignore[arg-type]  # as `ask`


@pytest.mark.soak
@pytest.mark.parametrize("directions", [(THERE,), (BACK,), (THERE, BACK)], ids="-".join)
def test_behind_a_link_that_is_cut_one_write_waits_and_no_other_one(
    directions: tuple[str, ...], tmp_path: Path
) -> None:
    """Nothing that was acknowledged is lost, and what is late is carried out once, or never."""
    with linked(tmp_path) as (primary, follower, link):
        known = registered(follower, "known", INT)
        eventually(lambda: follower.ask("GET", "/subjects").json == ["known"])
        link.cut(*directions)
        answer, took_s = timed(follower, "POST", "/subjects/first/versions", schema("First"))
        assert (answer.status, answer.json["error_code"]) == (500, 50003)
        assert NOT_KNOWN in answer.json["message"]
        assert took_s < 26
        since = monotonic()
        for number in range(20):
            answer = follower.ask("POST", f"/subjects/next{number}/versions", schema(f"Next{number}"))
            assert (answer.status, answer.json["error_code"]) == (500, 50003)
            assert NOT_KNOWN not in answer.json["message"], "it was not sent"
        assert monotonic() - since < 5
        assert follower.ask("GET", f"/schemas/ids/{known}").status == 200, "it answers what it has"
        assert follower.ask("GET", "/schemas/ids/77").json["error_code"] == 50003, "and concludes nothing"
        assert registered(primary, "there", LONG) > known, "the primary goes on"
        link.cut()
        eventually(lambda: follower.ask("POST", "/subjects/later/versions", schema("Later")).status == 200)
        check_equal(primary, follower)
        subjects = primary.ask("GET", "/subjects").json
        assert {"known", "there", "later"} <= set(subjects) <= {"known", "there", "later", "first"}
        if THERE not in directions:
            assert "first" in subjects, "it was carried out, and only the answer was lost"


@pytest.mark.soak
def test_ids_beyond_the_block_wait_for_the_link(tmp_path: Path) -> None:
    """What the follower cannot hear of is not given, and the writer is told so in time."""
    with linked(tmp_path) as (primary, follower, link):
        assert primary.ask("PUT", "/mode", {"mode": "IMPORT"}).status == 200
        eventually(lambda: follower.ask("GET", "/mode").json == {"mode": "IMPORT"})
        for direction in (THERE, BACK):
            link.cut(direction)
            brought = {**schema("Far"), "id": 250_000, "version": 1}
            answer, took_s = timed(primary, "POST", "/subjects/far/versions", brought)
            assert answer.json["error_code"] == 50002, answer
            assert took_s < 5
        link.cut()
        eventually(lambda: primary.ask("POST", "/subjects/far/versions", brought).status == 200)
        check_equal(primary, follower)


@pytest.mark.soak
def test_behind_a_slow_link_all_goes_on(tmp_path: Path) -> None:
    with linked(tmp_path) as (primary, follower, link):
        link.slow_s = 0.2
        for number in range(5):
            id = registered(follower, f"s{number}", schema(f"S{number}"))
            answer = follower.ask("GET", f"/schemas/ids/{id}")
            assert answer.status == 200, "whoever wrote it reads it"
            assert follower.ask("GET", f"/subjects/s{number}/versions").json == [1]
        check_equal(primary, follower)


def check_equal(primary: Server, follower: Server) -> None:
    def ends() -> list[object]:
        return [each.ask("GET", "/regions").json["journal"] for each in (primary, follower)]

    eventually(lambda: ends()[0] == ends()[1])


# --- killed, or stopped, at every step -------------------------------------------------------------------------------


STEPS = 14
"""Pieces of the link after which a server ends: of the copy, of what comes next, of writes that are sent on."""


@pytest.mark.soak
@pytest.mark.parametrize("victim", ["primary", "follower"])
@pytest.mark.parametrize("way", [signal.SIGKILL, signal.SIGSTOP], ids=["killed", "stopped"])
def test_whichever_server_ends_at_whichever_step_both_have_the_same_in_the_end(
    victim: str, way: signal.Signals, tmp_path: Path
) -> None:
    """A killed one is started again with the same words. One that stood still goes on a second later."""
    for step in range(STEPS):
        with ExitStack() as opened:
            Story(tmp_path / str(step), victim, way, step, opened).run()
        assert _journal(tmp_path / str(step) / "primary") == _journal(tmp_path / str(step) / "follower")


class Story:
    """A registry that gets a follower while clients write at both. The victim ends at one step."""

    def __init__(self, folder: Path, victim: str, way: signal.Signals, step: int, opened: ExitStack) -> None:
        folder.mkdir()
        self.folder, self.victim, self.way, self.left, self.opened = folder, victim, way, step, opened
        self.ports = {"primary": _free_port(), "follower": _free_port()}
        self.link = opened.enter_context(Link(self.ports["primary"], on_piece=self.piece))
        self.servers: dict[str, Server] = {}
        self.lock = threading.Lock()
        self.happened, self.over = threading.Event(), threading.Event()
        self.acknowledged: dict[int, str] = {}

    def run(self) -> None:
        self.begin("primary")
        self.opened.callback(self.end)
        self.servers["primary"].wait_until_ready()
        self.write("primary", 0)
        self.begin("follower")
        writers = [threading.Thread(target=self.write_on, args=(which,)) for which in self.ports]
        for each in writers:
            each.start()
        try:
            eventually(self.happened.is_set)
            eventually(lambda: all(self.is_up(which) for which in self.ports))
            written = len(self.acknowledged)
            eventually(lambda: len(self.acknowledged) > written + 4)
        finally:
            self.over.set()
            for each in writers:
                each.join()
        primary, follower = self.servers["primary"], self.servers["follower"]
        eventually(lambda: primary.ask("GET", "/regions").json["role"]["peer"])
        check_equal(primary, follower)
        for id, text in self.acknowledged.items():
            for server in (primary, follower):
                assert json.loads(server.ask("GET", f"/schemas/ids/{id}").json["schema"]) == json.loads(text)

    def begin(self, which: str) -> None:
        more = ("--follow", self.link.url) if which == "follower" else ()
        self.servers[which] = start("--port", str(self.ports[which]), "--data", str(self.folder / which), *more)

    def is_up(self, which: str) -> bool:
        """Started again where it has ended: it was killed, or the other one was while it joined."""
        server = self.servers[which]
        if server.process.poll() is not None:
            server.wait()
            self.begin(which)
            return False
        with suppress(AssertionError):
            server.wait_until_ready()
            return True
        return False

    def piece(self) -> None:
        with self.lock:
            self.left -= 1
            if self.left != -1 or "follower" not in self.servers:
                return
        self.signal(self.way)
        if self.way == signal.SIGSTOP:
            threading.Timer(1.0, self.signal, [signal.SIGCONT]).start()
        self.happened.set()

    def signal(self, number: int) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.servers[self.victim].process.pid, number)

    def write_on(self, which: str) -> None:
        number = 1
        while not self.over.wait(0.02):
            self.write(which, number)
            number += 1

    def write(self, which: str, number: int) -> None:
        body = schema(f"{which.title()}{number}")
        with (
            suppress(OSError, ValueError, HTTPException),
            closing(HTTPConnection("127.0.0.1", self.ports[which], timeout=30)) as asked,
        ):
            answer = ask(asked, "POST", f"/subjects/{which}-{number}/versions", body)
            if answer.status == 200:
                assert self.acknowledged.setdefault(int(answer.json["id"]), body["schema"]) == body["schema"]

    def end(self) -> None:
        for server in self.servers.values():
            if server.alive():
                server.kill()
