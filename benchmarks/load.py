"""A client that keeps a server busy and itself out of the way: `python -m benchmarks.load`, a process of its own.

Reads a job as JSON from standard input: port, connections, requests (each the text of one HTTP/1.1 request), and for
TLS the file of the authority that is trusted. Every connection is kept alive and has one request on its way at a time.
Writes seconds and the number of each status.
"""

import json
import selectors
import socket
import ssl
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.harness import ROOT

MEDIA = "application/vnd.schemaregistry.v1+json"


@dataclass(frozen=True, slots=True)
class Outcome:
    seconds: float
    statuses: dict[str, int]


@dataclass(frozen=True, slots=True)
class Connection:
    """received: of the answer that is under way."""

    socket: socket.socket
    received: bytearray = field(default_factory=bytearray)


def getting(path: str) -> str:
    return f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: {MEDIA}\r\n\r\n"


def posting(path: str, body: str) -> str:
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: {MEDIA}\r\nContent-Type: {MEDIA}\r\n"
    return f"{head}Content-Length: {len(body.encode())}\r\n\r\n{body}"


def load(
    port: int, requests: Sequence[str], *, connections: int, status: str = "200", authority: Path | None = None
) -> Outcome:
    """What a client process measured. Raises RuntimeError if an answer had another status."""
    trusted = str(authority) if authority else None
    job = json.dumps({"port": port, "connections": connections, "requests": requests, "authority": trusted})
    ran = subprocess.run(
        [sys.executable, "-m", "benchmarks.load"], input=job, cwd=ROOT, capture_output=True, text=True, check=False
    )
    if ran.returncode:
        raise RuntimeError(ran.stderr)
    outcome = Outcome(**json.loads(ran.stdout))
    if set(outcome.statuses) != {status}:
        raise RuntimeError(f"expected only {status}, was answered {outcome.statuses}")
    return outcome


def drive(port: int, requests: Sequence[bytes], connections: int, authority: str | None = None) -> Outcome:
    """Sends every request once, as soon as a connection is free for it."""
    trusting = ssl.create_default_context(cafile=authority) if authority else None
    todo = iter(requests)
    statuses: Counter[str] = Counter()
    waiting = selectors.DefaultSelector()
    for _ in range(min(connections, len(requests))):
        connected = socket.create_connection(("127.0.0.1", port))
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if trusting:
            connected = trusting.wrap_socket(connected, server_hostname="127.0.0.1")
        waiting.register(connected, selectors.EVENT_READ, Connection(connected))
    begun = time.perf_counter()
    for key in list(waiting.get_map().values()):
        _send(key.data, todo)
    while waiting.get_map():
        for key, _ in waiting.select():
            status = _receive(key.data)
            if status is not None:
                statuses[status] += 1
                if not _send(key.data, todo):
                    waiting.unregister(key.fileobj)
                    key.data.socket.close()
    return Outcome(time.perf_counter() - begun, dict(statuses))


def _send(connection: Connection, todo: Iterator[bytes]) -> bool:
    request = next(todo, None)
    if request is not None:
        connection.socket.sendall(request)
    return request is not None


def _receive(connection: Connection) -> str | None:
    """The status of an answer that is complete now."""
    buffer = connection.received
    part = connection.socket.recv(1 << 20)
    if not part:
        raise ConnectionError(f"closed after {bytes(buffer)!r}")
    buffer += part
    head = buffer.find(b"\r\n\r\n")
    if head < 0:
        return None
    at = buffer.lower().find(b"\r\ncontent-length:", 0, head + 2) + 17
    if len(buffer) < head + 4 + int(buffer[at : buffer.find(b"\r\n", at)]):
        return None
    status = buffer[9:12].decode()
    buffer.clear()
    return status


if __name__ == "__main__":
    job = json.load(sys.stdin)
    outcome = drive(
        job["port"], [request.encode() for request in job["requests"]], job["connections"], job["authority"]
    )
    print(json.dumps({"seconds": outcome.seconds, "statuses": outcome.statuses}))
