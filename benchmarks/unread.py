"""What clients cost in memory that send and do not read, or begin and do not end.

One `sigla serve` meets them one after the other, with 200 connections each. Beside it stands the same server with as
many connections that ask once and then keep still. Each line is what the process took at its peak beyond what it had.

It may mislead: memory that an attack took is not always given back, so that the next one needs less; and the buffers
that the kernel keeps for connections are not the process's.
"""

import json
import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

from benchmarks.harness import Goal, Line, Lines, Server, ask, get, main, serving, sigla

CONNECTIONS = 200
GOAL = Goal(100e6, "B")
PIECE = 65_536
STILL = 3
"""Rounds in which no connection takes a byte: then all are full."""

GET = b"GET %b HTTP/1.1\r\nHost: localhost\r\n\r\n"
POST = b"POST /subjects/unread/versions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
LONG = "/subjects/long/versions/latest"

WITHOUT_READING = {
    "small answers that no client reads": GET % b"/subjects",
    "answers of 1 MB that no client reads": GET % LONG.encode(),
    "refusals that no client reads": POST + b"Content-Length: 2\r\n\r\n{}",
}
WITHOUT_END = {
    "bodies of 3.9 MB without their last byte": POST + b"Content-Length: 3900000\r\n\r\n" + b"a" * 3_899_999,
    "bodies in chunks of one byte": POST + b"Transfer-Encoding: chunked\r\n\r\n" + b"1\r\na\r\n" * 100_000,
    "heads without end": POST + b"a:b\r\n" * 13_000,
}


def lines(*, quick: bool = False) -> Lines:
    connections = 5 if quick else CONNECTIONS
    with serving(sigla("--memory"), SIGLA_LOG_REQUESTS="false") as server:
        _register_a_long_schema(server)
        with connected(server, connections) as sockets:
            server.forget_peak()
            had = server.memory()
            for each in sockets:
                each.sendall(GET % b"/subjects")
            time.sleep(0.5)
            still = max(server.memory_peak() - had, 1)
        for what, asked in WITHOUT_READING.items():
            many = asked * (1 + 200_000 // len(asked))
            yield _line(what, _peak(server, connections, many, repeats=True), still)
        for what, begun in WITHOUT_END.items():
            yield _line(what, _peak(server, connections, begun, repeats=False), still)


def _line(what: str, peak: int, still: int) -> Line:
    return Line(f"{what}: memory at its peak", peak, "B", still, "connections that keep still", GOAL)


def _register_a_long_schema(server: Server) -> None:
    """Raises RuntimeError."""
    schema = {"type": "record", "name": "Long", "doc": "d" * 900_000, "fields": []}
    answered = ask(server.port, "POST", "/subjects/long/versions", json.dumps({"schema": json.dumps(schema)}).encode())
    if answered.status != 200:
        raise RuntimeError(f"the long schema was refused: {answered.body.decode()}")
    get(server.port, LONG)


@contextmanager
def connected(server: Server, connections: int) -> Iterator[Sequence[socket.socket]]:
    with ExitStack() as opened:
        yield [opened.enter_context(socket.create_connection(("127.0.0.1", server.port))) for _ in range(connections)]


def _peak(server: Server, connections: int, data: bytes, *, repeats: bool) -> int:
    """The bytes that the server took while all connections sent as much as it took of them."""
    with connected(server, connections) as sockets:
        server.forget_peak()
        had = server.memory()
        for each in sockets:
            each.settimeout(0)
        sent = dict.fromkeys(sockets, 0)
        still = 0
        while still < STILL:
            taken = sum(_send(each, data, sent, repeats=repeats) for each in sockets)
            still = 0 if taken else still + 1
            if get(server.port, "/schemas/types").status != 200:
                raise RuntimeError("a client that reads was refused")
        return max(0, server.memory_peak() - had)


def _send(client: socket.socket, data: bytes, sent: dict[socket.socket, int], *, repeats: bool) -> int:
    try:
        taken = client.send(data[sent[client] : sent[client] + PIECE])
    except OSError:  # full, or closed
        return 0
    sent[client] += taken
    if repeats and sent[client] == len(data):
        sent[client] = 0
    return taken


if __name__ == "__main__":
    main(lines, __doc__)
