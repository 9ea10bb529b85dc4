"""Clients at work while one release of `sigla serve` ends and the next one starts, and what they saw of it."""

import json
import random
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from confluent_kafka.schema_registry import Schema, SchemaRegistryClient
from confluent_kafka.schema_registry.common._httpx_compat import httpx  # whichever of two that client has found

from sigla import __version__
from tests.protocol.clients.server import Server, environment
from tests.waiting import eventually

ROOT = Path(__file__).parents[2]
OURS = ROOT / "layers" / "sigla" / "python"

AS_SYSTEMD = (
    "import os, sys; os.dup2(int(sys.argv[1]), 3); "
    "os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS='1'); os.execv(sys.executable, sys.argv[2:])"
)
"""Hands over a socket as systemd does: as descriptor 3, to the process that the next program is."""

WRITERS, READERS = 2, 2
ENOUGH = 20
"""What each client has done before the old release ends, and once more after the new one began."""

PAUSE_S = 0.01
"""After a failure: an application that has to go on asks again."""

T = TypeVar("T")


@dataclass
class Seen:
    """What all clients saw together.

    written: what was acknowledged, the text by its id. failed: calls that ended without an answer. refused_s: the
    longest time in which a client had nothing but failures. longest_s: the longest call that was answered.
    """

    written: dict[int, str] = field(default_factory=dict)
    reads: int = 0
    changed: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    refused_s: float = 0.0
    longest_s: float = 0.0
    broken: list[BaseException] = field(default_factory=list)

    def __str__(self) -> str:
        return (
            f"{len(self.written)} ids, {self.reads} reads, {len(self.failed)} failures within "
            f"{self.refused_s * 1000:.0f} ms, the longest call {self.longest_s * 1000:.0f} ms"
        )


@contextmanager
def clients_at_work(url: str, known: dict[int, str]) -> Iterator[tuple[Seen, Callable[[], None]]]:
    """Confluent's own clients, which do not try again by themselves, and a function that waits until each did enough.

    known: what can be read before anything was written.
    """
    seen, end = Seen(written=dict(known)), threading.Event()
    works = [*(_writer(number) for number in range(WRITERS)), *[_reader] * READERS]
    done = [0] * len(works)

    def work(number: int) -> None:
        try:
            with SchemaRegistryClient({"url": url, "max.retries": 0}) as client:
                while not end.is_set():
                    works[number](client, seen, end)
                    done[number] += 1
        except BaseException as failure:  # noqa: BLE001 - told to the test, which is another thread
            seen.broken.append(failure)

    def enough() -> None:
        before = [*done]
        eventually(lambda: seen.broken or all(now >= then + ENOUGH for now, then in zip(done, before, strict=True)))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(len(works))]
    for thread in threads:
        thread.start()
    try:
        yield seen, enough
    finally:
        end.set()
        for thread in threads:
            thread.join()
    assert not seen.broken, seen.broken


Work = Callable[[SchemaRegistryClient, Seen, threading.Event], None]


def _writer(number: int) -> Work:
    """Registers a schema that is new, and then the same again, as a producer does at its next start."""
    written = 0

    def write(client: SchemaRegistryClient, seen: Seen, end: threading.Event) -> None:
        nonlocal written
        written += 1
        name = f"Load{number}x{written}"
        text = json.dumps({"type": "record", "name": name, "fields": []}, separators=(",", ":"))
        ids = {
            _answered(lambda: client.register_schema(f"{name}-value", Schema(text)), seen, end),
            _answered(lambda: client.register_schema(f"{name}-value", Schema(text)), seen, end),
        } - {None}
        client.clear_caches()  # type: ignore[no-untyped-call]  # it has no types
        if len(ids) > 1:
            seen.changed.append(f"{name} was given {ids}")
        for id in ids:
            if id is not None and seen.written.setdefault(id, text) != text:
                seen.changed.append(f"{id} was given twice")

    return write


def _reader(client: SchemaRegistryClient, seen: Seen, end: threading.Event) -> None:
    id, text = random.choice([*seen.written.copy().items()])
    client.clear_caches()  # type: ignore[no-untyped-call]  # it has no types
    read = _answered(lambda: client.get_schema(id), seen, end)
    if read is not None:
        seen.reads += 1
        if read.schema_str != text:
            seen.changed.append(f"{id} was {text} and is {read.schema_str}")


def _answered(call: Callable[[], T], seen: Seen, end: threading.Event) -> T | None:
    """What a call comes to, asked again until there is an answer; None if the end comes first."""
    first, failed = time.monotonic(), False
    while not end.is_set():
        begun = time.monotonic()
        try:
            answer = call()
        except httpx.TransportError as failure:
            seen.failed.append(repr(failure))
            failed = True
            time.sleep(PAUSE_S)
            continue
        now = time.monotonic()
        seen.longest_s = max(seen.longest_s, now - begun)
        if failed:
            seen.refused_s = max(seen.refused_s, now - first)
        return answer
    return None


# --- releases ---------------------------------------------------------------------------------------------------------


def released(version: str, folder: Path) -> Path | None:
    """The code of a tagged release, from git; None where this clone does not know the tag, or is that version."""
    archive = ["git", "archive", "--format=tar", f"v{version}", "layers/sigla/python"]
    if version == __version__:
        return None
    packed = subprocess.run(archive, cwd=ROOT, capture_output=True, check=False)
    if packed.returncode:
        return None
    subprocess.run(["tar", "--extract", "--directory", str(folder)], input=packed.stdout, check=True)
    return folder / "layers" / "sigla" / "python"


class Machine:
    """One on which `sigla serve` runs, always on the same port: as a service whose socket systemd keeps, or alone."""

    def __init__(self, data: Path, *, keeps_socket: bool) -> None:
        self._data = data
        self._socket = socket.create_server(("127.0.0.1", 0), backlog=2048)
        self._keeps_socket = keeps_socket
        self.port = int(self._socket.getsockname()[1])
        self.url = f"http://127.0.0.1:{self.port}"
        if not keeps_socket:
            self._socket.close()

    def close(self) -> None:
        self._socket.close()

    def start(self, code: Path = OURS) -> Server:
        """A server that answers, of this code."""
        serve = [sys.executable, "-m", "sigla", "serve", "--data", str(self._data), "--port", str(self.port)]
        given: Sequence[int] = ()
        if self._keeps_socket:
            given = [self._socket.fileno()]
            serve = [sys.executable, "-S", "-E", "-c", AS_SYSTEMD, str(given[0]), *serve]
        process = subprocess.Popen(
            serve,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(PYTHONPATH=str(code)),
            pass_fds=given,
            start_new_session=True,
        )
        server = Server(process)
        server.wait_until_ready()
        return server


@dataclass(frozen=True)
class Upgraded:
    """seen: by the clients. gap_s: from the order to end until the first answer of the new release."""

    seen: Seen
    gap_s: float


def upgraded(machine: Machine, old: Path, known: dict[int, str]) -> Upgraded:
    """Has the old release replaced by this one while clients write and read. The new one is stopped at the end."""
    with ExitStack() as opened:
        opened.enter_context(closing(machine))
        server = machine.start(old)
        opened.callback(_kill, server)
        with clients_at_work(machine.url, known) as (seen, enough):
            enough()
            begun = time.monotonic()
            server.stop()
            server = machine.start()
            opened.callback(_kill, server)
            gap_s = time.monotonic() - begun
            enough()
        _read_all(machine.url, seen)
        server.stop()
    return Upgraded(seen, gap_s)


def _kill(server: Server) -> None:
    if server.alive():
        server.kill()


def _read_all(url: str, seen: Seen) -> None:
    """Looks once at each id that was acknowledged."""
    with SchemaRegistryClient({"url": url, "max.retries": 0}) as client:
        for id, text in seen.written.items():
            if (read := client.get_schema(id).schema_str) != text:
                seen.changed.append(f"in the end {id} was {text} and is {read}")
