"""What was acknowledged is there, whatever happens to the process: killed, told to stop, or out of disk.

Clients write as fast as they can and keep an account of what they were told. Then the process dies at a random moment,
and the next one on the same data has to agree with every account.
"""

import json
import resource
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.protocol.clients.server import Asks, Server, ask, serving
from tests.waiting import PATIENCE_S, eventually

CLIENTS = 8
SHARED = "shared"


def text(name: str) -> str:
    return json.dumps({"type": "record", "name": name, "fields": []}, separators=(",", ":"))


@dataclass
class Account:
    """What one client asked for, and what it was told."""

    asked: set[str] = field(default_factory=set)
    versions: dict[tuple[str, int], tuple[int, str]] = field(default_factory=dict)
    """(subject, version) to (id, text), acknowledged and not touched since."""
    hidden: set[tuple[str, int]] = field(default_factory=set)
    """Acknowledged to be soft-deleted."""
    purged: dict[tuple[str, int], str] = field(default_factory=dict)
    """Acknowledged to be deleted for good, with its text."""
    unknown: set[tuple[str, int]] = field(default_factory=set)
    """A deletion was asked for and never answered: either way is right."""
    groups: dict[str, str] = field(default_factory=dict)
    """Config acknowledged last; missing once a change was never answered."""
    failures: list[str] = field(default_factory=list)


class Crowd:
    """Clients who write until their server is gone."""

    def __init__(self, server: Server, round: int) -> None:
        self.accounts = [Account() for _ in range(CLIENTS)]
        self.refused: list[tuple[int, bytes]] = []
        self._told = 0
        self._news = threading.Condition()
        self._server = server
        self._over = False
        self._threads = [
            threading.Thread(target=self._work, args=(f"r{round}c{number}", self.accounts[number]))
            for number in range(CLIENTS)
        ]

    def start(self) -> "Crowd":
        for thread in self._threads:
            thread.start()
        return self

    def wait_until(self, acknowledged: int) -> None:
        with self._news:
            assert self._news.wait_for(lambda: self._told >= acknowledged, PATIENCE_S)

    def stop(self) -> None:
        self._over = True
        for thread in self._threads:
            thread.join(PATIENCE_S)
            assert not thread.is_alive()

    def _work(self, name: str, account: Account) -> None:
        connection = HTTPConnection(self._server.host, self._server.port, timeout=PATIENCE_S)
        step = 0
        try:
            while not self._over:
                step += 1
                self._one(connection, f"{name}s{step}", step, name, account)
                with self._news:
                    self._told += 1
                    self._news.notify_all()
        except (OSError, HTTPException):
            pass  # the server is gone, and with it the answer
        finally:
            connection.close()

    def _one(self, connection: HTTPConnection, record: str, step: int, name: str, account: Account) -> None:
        own = f"own-{name}"
        subject = SHARED if step % 3 == 0 else own
        account.asked.add(text(record))
        answer = ask(connection, "POST", f"/subjects/{subject}/versions", {"schema": text(record)})
        if not self._fine(answer.status, answer.body):
            return
        key = (subject, answer.json["version"])
        account.versions[key] = (answer.json["id"], answer.json["schema"])
        if step % 5 == 0:
            self._delete(connection, account, key)
        if step % 7 == 0:
            account.groups.pop(own, None)
            answer = ask(connection, "PUT", f"/config/{own}", {"compatibility": "NONE", "compatibilityGroup": record})
            if self._fine(answer.status, answer.body):
                account.groups[own] = record

    def _delete(self, connection: HTTPConnection, account: Account, key: tuple[str, int]) -> None:
        """Softly, and every other time for good."""
        subject, version = key
        _, schema = account.versions.pop(key)
        account.unknown.add(key)
        if not self._fine(*_told(ask(connection, "DELETE", f"/subjects/{subject}/versions/{version}"))):
            return
        account.hidden.add(key)
        account.unknown.discard(key)
        if version % 2:
            account.hidden.discard(key)
            account.unknown.add(key)
            path = f"/subjects/{subject}/versions/{version}?permanent=true"
            if self._fine(*_told(ask(connection, "DELETE", path))):
                account.purged[key] = schema
                account.unknown.discard(key)

    def _fine(self, status: int, body: bytes) -> bool:
        if status == 200:
            return True
        self.refused.append((status, body))
        return False


def _told(answer: Any) -> tuple[int, bytes]:
    return answer.status, answer.body


def assert_agrees(server: Server, accounts: list[Account]) -> None:
    """The server knows what every client was told, and nothing that no client asked for."""
    with server.kept() as asks:
        for account in accounts:
            assert_agrees_with(asks, account)
        assert_whole(asks, set().union(*(account.asked for account in accounts)))


def assert_agrees_with(asks: Asks, account: Account) -> None:
    for (subject, version), (id, schema) in account.versions.items():
        found = asks("GET", f"/subjects/{subject}/versions/{version}")
        assert found.status == 200, (subject, version, found.body)
        assert (found.json["id"], found.json["schema"]) == (id, schema)
        assert asks("GET", f"/schemas/ids/{id}/schema").body.decode() == schema
    for subject, version in account.hidden:
        assert asks("GET", f"/subjects/{subject}/versions/{version}").json["error_code"] in (40401, 40402)
        assert asks("GET", f"/subjects/{subject}/versions/{version}?deleted=true").status == 200
    for (subject, version), schema in account.purged.items():
        found = asks("GET", f"/subjects/{subject}/versions/{version}?deleted=true")
        # A number that was the highest is given again, perhaps to a write whose answer the kill swallowed.
        assert found.status == 404 or found.json["schema"] != schema
    for subject, group in account.groups.items():
        assert asks("GET", f"/config/{subject}").json["compatibilityGroup"] == group


def assert_whole(asks: Asks, asked: set[str]) -> None:
    """Nothing is half done: every version has its text under its id, every text one id, and numbers have no holes."""
    told = [each for page in pages(asks) for each in page]
    ids: dict[str, set[int]] = {}
    for version in told:
        assert version["schema"] in asked, "nobody asked for this"
        ids.setdefault(version["schema"], set()).add(version["id"])
    assert all(len(numbers) == 1 for numbers in ids.values()), "one text, one id"
    assert len({number for numbers in ids.values() for number in numbers}) == len(ids), "one id, one text"
    highest = max((version["id"] for version in told), default=0)
    for number in range(1, highest + 1):
        assert asks("GET", f"/schemas/ids/{number}").status in (200, 404)


def pages(asks: Asks) -> Iterator[list[dict[str, Any]]]:
    """Every version that is stored, deleted ones too."""
    offset = 0
    while page := asks("GET", f"/schemas?subjectPrefix=:*:&deleted=true&offset={offset}").json:
        yield page
        offset += len(page)


def assert_no_gaps(server: Server, accounts: list[Account]) -> None:
    """The numbers of each subject from 1 up, without those that a client purged or may have purged."""
    gone: set[tuple[str, int]] = set().union(*(account.purged.keys() | account.unknown for account in accounts))
    for subject in server.ask("GET", "/subjects?deleted=true").json:
        listed = server.ask("GET", f"/subjects/{subject}/versions?deleted=true").json
        missing = set(range(1, max(listed) + 1)) - set(listed)
        assert missing <= {version for name, version in gone if name == subject}


def with_free_levels(server: Server) -> None:
    assert server.ask("PUT", "/config", {"compatibility": "NONE"}).status == 200


ROUNDS = [120, 5, 250, 40]
"""How much is acknowledged before each kill: early, late, and in between."""


def kill_again_and_again(data: Path, rounds: list[int]) -> None:
    accounts: list[Account] = []
    for number, acknowledged in enumerate(rounds):
        with serving(data) as server:
            with_free_levels(server)
            crowd = Crowd(server, number).start()
            crowd.wait_until(acknowledged)
            server.kill()
            crowd.stop()
            assert crowd.refused == [], "a write was refused while nothing was wrong"
            accounts += crowd.accounts
    with serving(data) as server:
        assert_agrees(server, accounts)
        assert_no_gaps(server, accounts)
        answer = server.ask("POST", f"/subjects/{SHARED}/versions", {"schema": text("AfterAll")})
        assert answer.status == 200, "and it goes on"


def test_kill_9_under_load_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    kill_again_and_again(tmp_path / "data", ROUNDS)


@pytest.mark.soak
def test_kill_9_a_hundred_times(tmp_path: Path) -> None:
    kill_again_and_again(tmp_path / "data", [20 + 37 * number % 400 for number in range(100)])


def test_stopped_under_load_it_ends_well_and_keeps_all_it_said(tmp_path: Path) -> None:
    accounts: list[Account] = []
    for number in range(2):
        with serving(tmp_path / "data") as server:
            with_free_levels(server)
            crowd = Crowd(server, number).start()
            crowd.wait_until(100)
            server.stop()
            crowd.stop()
            assert crowd.refused == [], "a request that had begun was refused instead of answered"
            accounts += crowd.accounts
    with serving(tmp_path / "data") as server:
        assert_agrees(server, accounts)
        assert_no_gaps(server, accounts)


def test_a_request_that_has_begun_is_answered_before_the_end(tmp_path: Path) -> None:
    """The client has sent a head and is told to go on; then the server is told to stop; then the body comes."""
    body = json.dumps({"schema": text("Last")}).encode()
    head = b"POST /subjects/last/versions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    with serving(tmp_path / "data") as server, server.connected() as wire:
        wire.send(head + b"Expect: 100-continue\r\nContent-Length: %d\r\n\r\n" % len(body))
        assert wire.receive().status == 100, "the server waits for the body"
        server.process.terminate()
        eventually(lambda: not accepts(server))
        wire.send(body)
        answer = wire.receive()
        assert answer.status == 200
        assert server.wait() == 0
        assert not server.alive()
    with serving(tmp_path / "data") as server:
        assert server.ask("GET", "/subjects/last/versions/1").json["id"] == answer.json["id"]


def accepts(server: Server) -> bool:
    try:
        with server.connected():
            return True
    except ConnectionError:
        return False


def test_a_second_signal_ends_it_at_once_and_loses_nothing(tmp_path: Path) -> None:
    """A client that never finishes its request may hold up the end; whoever is in a hurry says so twice."""
    with serving(tmp_path / "data") as server, server.connected() as wire:
        told = server.ask("POST", "/subjects/kept/versions", {"schema": text("Kept")})
        wire.send(b"POST /subjects/x/versions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{")
        server.process.terminate()
        eventually(lambda: not accepts(server))
        server.process.send_signal(2)
        server.wait()
        assert not server.alive()
    with serving(tmp_path / "data") as server:
        assert server.ask("GET", f"/schemas/ids/{told.json['id']}").status == 200


# --- a disk that is full ---------------------------------------------------------------------------------------------


def limit_files(server: Server, size: int) -> None:
    """No file of the server may grow beyond this: a disk that is full, as far as a write can tell."""
    process = psutil.Process(server.process.pid)
    _, hard = process.rlimit(resource.RLIMIT_FSIZE)
    process.rlimit(resource.RLIMIT_FSIZE, (size if size > 0 else hard, hard))


def largest_file(data: Path) -> int:
    return max(path.stat().st_size for path in data.rglob("*") if path.is_file())


def until_refused(server: Server, name: str, told: dict[str, tuple[int, int]]) -> tuple[int, bytes]:
    """Registers until that fails; `told` gets what was acknowledged."""
    for number in range(100_000):
        schema = json.dumps({"type": "record", "name": f"{name}{number}", "doc": "d" * 2_000, "fields": []})
        answer = server.ask("POST", "/subjects/full/versions", {"schema": schema})
        if answer.status != 200:
            return answer.status, answer.body
        told[answer.json["schema"]] = (answer.json["id"], answer.json["version"])
    raise AssertionError("the disk never was full")


@pytest.mark.skipif(not hasattr(psutil.Process, "rlimit"), reason="Limits of another process can only be set on Linux")
@pytest.mark.parametrize("room", [0, 10_000, 100_000], ids=lambda room: f"{room} bytes left")
def test_a_full_disk_refuses_writes_and_loses_nothing(tmp_path: Path, room: int) -> None:
    """What fails says so, in the envelope; what was acknowledged is there; with room again, it goes on."""
    told: dict[str, tuple[int, int]] = {}
    with serving(tmp_path / "data") as server:
        with_free_levels(server)
        first = server.ask("POST", "/subjects/full/versions", {"schema": text("First")})
        told[first.json["schema"]] = (first.json["id"], first.json["version"])
        limit_files(server, largest_file(tmp_path / "data") + room)
        status, body = until_refused(server, "Full", told)
        assert 500 <= status < 600
        assert set(json.loads(body)) == {"error_code", "message"}
        assert_told(server.ask, told)
        limit_files(server, -1)
        server.kill()
    with serving(tmp_path / "data") as server:
        assert_told(server.ask, told)
        versions = server.ask("GET", "/subjects/full/versions").json
        assert versions == list(range(1, len(versions) + 1))
        assert len(versions) - len(told) in (0, 1), "at most the write of which nobody knows"
        again = server.ask("POST", "/subjects/full/versions", {"schema": text("Again")})
        assert (again.status, again.json["version"]) == (200, versions[-1] + 1)


def assert_told(asks: Asks, told: dict[str, tuple[int, int]]) -> None:
    for schema, (id, version) in told.items():
        found = asks("GET", f"/subjects/full/versions/{version}")
        assert (found.status, found.json["id"], found.json["schema"]) == (200, id, schema)


@pytest.mark.skipif(not hasattr(psutil.Process, "rlimit"), reason="Limits of another process can only be set on Linux")
def test_with_room_again_a_server_that_still_runs_recovers(tmp_path: Path) -> None:
    """There is room again: writes succeed, or the server says plainly that it wants to be started again."""
    told: dict[str, tuple[int, int]] = {}
    with serving(tmp_path / "data") as server:
        with_free_levels(server)
        limit_files(server, largest_file(tmp_path / "data"))
        until_refused(server, "Full", told)
        limit_files(server, -1)
        answer = server.ask("POST", "/subjects/full/versions", {"schema": text("Again")})
        if answer.status != 200:
            assert 500 <= answer.status < 600
            ready = server.ask("GET", "/health/ready")
            assert ready.status == 503, "a registry that cannot write must not say that it is ready"
        assert_told(server.ask, told)
        server.stop()
    with serving(tmp_path / "data") as server:
        assert_told(server.ask, told)
        assert server.ask("POST", "/subjects/full/versions", {"schema": text("Again")}).status == 200
