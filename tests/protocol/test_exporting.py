"""Exporters of `sigla serve`: what is registered in one registry is soon in the next, and nothing is held up by it."""

import json
import socket
import threading
import time
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest

from tests.protocol.clients.server import Server, run, serving
from tests.waiting import eventually

pytestmark = pytest.mark.process

AVRO = '{"type":"record","name":"R","fields":[{"name":"f%s","type":"string"}]}'


def export(source: Server, url: str, name: str = "line", **config: str) -> None:
    """Creates an exporter of everything into the same contexts."""
    config = {"schema.registry.url": url, **config}
    form = {"name": name, "subjects": [":*:*"], "contextType": "NONE", "config": config}
    answer = source.ask("POST", "/exporters", form)
    assert answer.status == 200, answer.body


def register(server: Server, subject: str, number: int) -> int:
    answer = server.ask("POST", f"/subjects/{subject}/versions", {"schema": AVRO % number})
    assert answer.status == 200, answer.body
    return int(answer.json["id"])


def status(server: Server, name: str = "line") -> Mapping[str, Any]:
    found: Mapping[str, Any] = server.ask("GET", f"/exporters/{name}/status").json
    return found


def listed(server: Server) -> list[Any]:
    """Every version, without its time."""
    answer = server.ask("GET", "/schemas?subjectPrefix=:*:&deleted=true").json
    return [{name: said for name, said in each.items() if name != "ts"} for each in answer]


def config(server: Server) -> list[Any]:
    return [server.ask("GET", path).json for path in ("/config", "/config/s1", "/contexts")]


def are_equal(*servers: Server) -> bool:
    first = servers[0]
    return all((listed(each), config(each)) == (listed(first), config(first)) for each in servers[1:])


def test_what_is_registered_is_soon_in_a_chain_of_registries() -> None:
    """Each writes to the next one: a registry that is written to by an exporter has a journal as all others."""
    with serving() as first, serving() as second, serving() as third:
        for number in range(3):
            register(first, f"s{number}", number)
        export(second, third.url)
        export(first, second.url)
        eventually(lambda: are_equal(first, second, third))
        first.ask("PUT", "/config/s1", {"compatibility": "NONE"})
        register(first, "s1", 10)
        first.ask("DELETE", "/subjects/s0")
        first.ask("DELETE", "/subjects/s0?permanent=true")
        first.ask("DELETE", "/subjects/s2/versions/1")
        register(first, ":.c:s", 11)
        eventually(lambda: are_equal(first, second, third))
        eventually(lambda: status(first)["state"] == "RUNNING" and not status(first)["trace"])
        assert 'sigla_exporter_running{exporter="line"} 1' in first.ask("GET", "/metrics").body.decode()
        first.wait_for(lambda server: '"event":"exporter-started"' in server.output)
        first.wait_for(lambda server: '"event":"exporter-running"' in server.output)


def test_a_commit_is_at_the_destination_within_a_second() -> None:
    """A consumer over there reads a record soon after it was written with a new schema here."""
    with serving() as source, serving() as target:
        export(source, target.url)
        eventually(lambda: status(source)["state"] == "RUNNING")
        begun = time.monotonic()
        id = register(source, "s", 1)
        eventually(lambda: target.ask("GET", f"/schemas/ids/{id}").status == 200)
        took_s = time.monotonic() - begun
        assert took_s < 10, "a busy machine may be slow; nothing polls, so that it is a tenth of a second as a rule"


def test_a_killed_source_goes_on_where_it_was(tmp_path: Path) -> None:
    """Nothing is lost with a process, and nothing is missing at the destination afterwards."""
    with serving() as target:
        with serving(tmp_path / "data") as source:
            export(source, target.url)
            for number in range(20):
                register(source, f"s{number}", number)
            source.kill()
        with serving(tmp_path / "data") as source:
            register(source, "last", 100)
            eventually(lambda: are_equal(source, target))


def test_a_destination_that_was_away_gets_what_it_missed(tmp_path: Path) -> None:
    """Its trace says so in a sentence meanwhile, and is empty again when it goes on."""
    with ExitStack() as opened:
        source = opened.enter_context(serving())
        with serving(tmp_path / "data") as target:
            port = target.port
            export(source, target.url)
            register(source, "s1", 1)
            eventually(lambda: are_equal(source, target))
        register(source, "s2", 2)
        eventually(lambda: "does not answer" in status(source)["trace"])
        source.wait_for(lambda server: '"event":"exporter-waits"' in server.output)
        again = opened.enter_context(serving(tmp_path / "data", "--port", str(port)))
        eventually(lambda: are_equal(source, again))
        eventually(lambda: status(source)["trace"] == "")
        source.wait_for(lambda server: '"event":"exporter-goes-on"' in server.output)


DRIPS = b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n"


def full(silent: socket.socket, opened: ExitStack) -> None:
    """From now on nothing connects to it: as many as it keeps wait already."""
    with suppress(TimeoutError):
        while True:
            opened.enter_context(socket.create_connection(silent.getsockname(), 0.2))


def drip(connection: socket.socket, head: bytes) -> None:
    with connection, suppress(OSError):
        connection.sendall(head)
        while connection.recv(1) or head:
            connection.sendall(b" ")


@pytest.mark.parametrize("way", ["silent", "full", "dripping"])
def test_a_registry_ends_at_once_whatever_its_exporters_wait_for(way: str) -> None:
    """A deployment must not take longer because another registry hangs: several exporters wait for one."""
    with ExitStack() as opened:
        silent = opened.enter_context(socket.create_server(("127.0.0.1", 0), backlog=0 if way == "full" else 128))
        source = opened.enter_context(serving())
        if way == "full":
            full(silent, opened)
        for number in range(20):
            register(source, f"s{number}", number)
        for number in range(4):
            export(source, f"http://127.0.0.1:{silent.getsockname()[1]}", f"line{number}")
        if way != "full":
            for asked in [silent.accept()[0] for _ in range(4)]:
                opened.enter_context(asked)
                if way == "dripping":
                    threading.Thread(target=drip, args=(asked, DRIPS), daemon=True).start()
        for number in range(20, 40):  # none of them waits
            register(source, f"s{number}", number)
        begun = time.monotonic()
        source.stop()
        assert time.monotonic() - begun < 5, "two seconds, on a machine that has nothing else to do"


def test_a_paused_exporter_writes_nothing_and_a_resumed_one_all_of_it() -> None:
    with serving() as source, serving() as target:
        export(source, target.url)
        eventually(lambda: status(source)["state"] == "RUNNING")
        assert source.ask("PUT", "/exporters/line/pause", {}).status == 200
        source.wait_for(lambda server: '"event":"exporter-stopped"' in server.output)
        register(source, "s", 1)
        assert listed(target) == []
        assert source.ask("PUT", "/exporters/line/resume", {}).status == 200
        eventually(lambda: are_equal(source, target))


def test_credentials_of_a_destination_are_used_and_never_told(tmp_path: Path) -> None:
    """Not in answers, not in the log, whatever becomes of them."""
    data = tmp_path / "target"
    made = json.loads(run("keys", "create", "copy", "--role", "admin", "--data", str(data), "--json").stdout)
    user, secret = f"{made['key']}:{made['secret']}", made["secret"]
    with serving() as source, serving(data, "--auth") as target:
        export(source, target.url, **{"basic.auth.credentials.source": "USER_INFO", "basic.auth.user.info": user})
        register(source, "s", 1)
        eventually(lambda: status(source)["state"] == "RUNNING" and status(source)["trace"] == "")
        wrong = {"bearer.auth.credentials.source": "STATIC_TOKEN", "bearer.auth.token": f"not-{secret}"}
        export(source, target.url, "wrong", **wrong)
        eventually(lambda: "credentials" in status(source, "wrong")["trace"])
        told = [
            source.ask("GET", f"/exporters/{name}{path}").body.decode()
            for name in ("line", "wrong")
            for path in ("", "/config", "/status")
        ]
        assert secret not in "".join([*told, source.said])
