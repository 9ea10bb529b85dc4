"""What clients cost who send and do not read, or begin and do not end: little, each of them and all together.

Memory is counted in bytes of the server process at its peak; nothing here looks at a clock.
"""

import json
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.protocol.clients.attacker import INT, JSON, assert_refused, chunk, request
from tests.protocol.clients.server import Server, Wire, serving
from tests.waiting import eventually

POST = b"POST /subjects/hostile/versions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
FOR_ONE_CLIENT = 100_000_000


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving(None) as server:
        tree = {"type": "record", "name": "Long", "doc": "d" * 900_000, "fields": []}
        assert server.ask("POST", "/subjects/long/versions", {"schema": json.dumps(tree)}).status == 200
        yield server


@pytest.fixture(autouse=True)
def _it_costs_little(server: Server) -> Iterator[None]:
    """Whatever a test does meanwhile: others are served, and the memory was never taken."""
    for path in ("/subjects/long/versions/latest", "/schemas/ids/1"):
        server.ask("GET", path)
    Path(f"/proc/{server.process.pid}/clear_refs").write_text("5")
    before = server.memory
    yield
    assert server.ask("POST", "/subjects/honest/versions", INT, JSON).status == 200
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    assert int(status.split("VmHWM:")[1].split()[0]) * 1024 < before + FOR_ONE_CLIENT


def pressed(wires: list[Wire], data: bytes, server: Server) -> None:
    """Sends the same again and again, on all connections, until the server takes no more of it on any."""
    at = dict.fromkeys(wires, 0)
    for wire in wires:
        wire.socket.setblocking(False)
    full = 0
    while full < 3:
        taken = sum(_sent(wire, data, at) for wire in wires)
        full = 0 if taken else full + 1
        assert server.ask("GET", "/schemas/types").status == 200, "whoever reads is answered"


def _sent(wire: Wire, data: bytes, at: dict[Wire, int]) -> int:
    try:
        sent = wire.socket.send(data[at[wire] : at[wire] + 65_536])
    except OSError:  # full, or closed
        return 0
    at[wire] = (at[wire] + sent) % len(data)
    return sent


def connected(server: Server, open_wires: ExitStack, connections: int) -> list[Wire]:
    return [open_wires.enter_context(server.connected()) for _ in range(connections)]


PIPELINES = {
    "small answers": b"GET /subjects HTTP/1.1\r\n\r\n",
    "large answers": request(b"GET", b"/subjects/long/versions/latest"),
    "large answers, the same one": request(b"GET", b"/schemas/ids/1"),
    "refused": POST + b"Content-Length: 2\r\n\r\n{}",
}


@pytest.mark.parametrize("connections", [1, 20])
@pytest.mark.parametrize("asked", PIPELINES.values(), ids=PIPELINES)
def test_requests_whose_answers_nobody_reads_cost_no_memory(server: Server, asked: bytes, connections: int) -> None:
    """What the server does not read stays where it is: with the client."""
    with ExitStack() as open_wires:
        pressed(connected(server, open_wires, connections), asked * (1 + 200_000 // len(asked)), server)


UNFINISHED = {
    "bodies with a length": POST + b"Content-Length: 3900000\r\n\r\n" + b"a" * 3_800_000,
    "bodies in one chunk": POST + b"Transfer-Encoding: chunked\r\n\r\n3B8260\r\n" + b"a" * 3_800_000,
    "bodies in chunks of a byte": POST + b"Transfer-Encoding: chunked\r\n\r\n" + chunk(b"a") * 20_000,
    "heads": POST + b"a:b\r\n" * 13_000,
    "heads of one line": POST + b"a: " + b"b" * 64_000,
    "targets": b"GET /" + b"a" * 64_000,
}


@pytest.mark.parametrize("begun", UNFINISHED.values(), ids=UNFINISHED)
def test_requests_without_an_end_cost_no_memory_however_many_they_are(server: Server, begun: bytes) -> None:
    """Each is short enough by itself."""
    with ExitStack() as open_wires:
        wires = connected(server, open_wires, 60)
        for wire in wires:
            wire.socket.setblocking(False)
        rest = dict.fromkeys(wires, begun)
        for _ in range(100):
            for wire in wires:
                try:
                    rest[wire] = rest[wire][wire.socket.send(rest[wire][:65_536]) :]
                except OSError:
                    continue
        assert server.ask("GET", "/schemas/types").status == 200


def test_bodies_that_hold_too_much_together_are_refused_until_there_is_room() -> None:
    """The refusal says that it is not for ever; small requests are answered meanwhile."""
    with serving(None, settings={"SIGLA_ARRIVING_BYTES": "4000000"}) as server, ExitStack() as open_wires:
        half = POST + b"Content-Length: 2000000\r\n\r\n" + b" " * 1_900_000
        wires = connected(server, open_wires, 3)
        for wire in wires[:2]:
            wire.send(half)
        wires[2].send(half)
        answers = [wire for wire in wires if _is_answered(wire)]
        assert len(answers) == 1
        answer = answers[0].receive()
        assert (answer.status, answer.json["error_code"]) == (503, 503)
        assert int(answer.headers["retry-after"]) > 0
        assert answers[0].left()
        assert server.ask("POST", "/subjects/small/versions", INT, JSON).status == 200
        others = [wire for wire in wires if wire not in answers]
        others[0].send(b" " * (100_000 - len(INT)), INT)
        assert others[0].receive().status == 200, "whoever was let in is served"
        others[1].socket.close()
        late = open_wires.enter_context(server.connected())
        late.send(half, b" " * (100_000 - len(INT)), INT)
        assert late.receive().status == 200, "and there is room again"


def _is_answered(wire: Wire) -> bool:
    wire.socket.settimeout(0.5)
    try:
        return bool(wire.socket.recv(1, socket.MSG_PEEK))
    except TimeoutError:
        return False
    finally:
        wire.socket.settimeout(60)


def test_a_client_that_reads_at_last_has_all_its_answers(server: Server) -> None:
    """Reading stops, nothing is lost: in order, whole, from the first to the last."""
    asked = [request(b"GET", b"/subjects/%b/versions/latest" % name) for name in (b"long", b"missing")]
    with server.connected() as wire:
        wire.send(b"".join(asked) * 30)
        for _ in range(30):
            assert wire.receive().json["subject"] == "long"
            assert_refused(wire.receive(), 40401)


def test_idle_connections_make_room_for_new_ones() -> None:
    """Descriptors are few in many places, 1,024 by default, and the database needs some, too."""
    with ExitStack() as stack:
        server = stack.enter_context(serving(None, descriptors=64 + 20))
        first = stack.enter_context(server.connected())
        first.send(request(b"GET", b"/schemas/types"))
        assert first.receive().status == 200
        many = connected(server, stack, 30)
        assert first.left(), "the one that was idle for the longest time"
        many[-1].send(request(b"GET", b"/schemas/types"))
        assert many[-1].receive().status == 200
        for wire in connected(server, stack, 20):
            wire.send(POST + b"Content-Length: 100\r\n\r\n{")
        eventually(lambda: _is_busy(server))


def _is_busy(server: Server) -> bool:
    """Whether a newcomer is told that no connection is free, where none is idle."""
    with server.connected() as wire:
        wire.send(request(b"GET", b"/schemas/types"))
        answer = wire.receive()
    return answer.status == 503 and int(answer.headers["retry-after"]) > 0 and answer.json["error_code"] == 503
