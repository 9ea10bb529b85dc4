"""Cache servers of this machine: Valkey (or Redis, which it was) and Memcached, each on a free port of the loopback.

A server is on a leash: beside it a shell waits for the end of a pipe whose other end we hold, and then ends the server.
So no server outlives the process that started it, however that ends. Valkey's parameter for that is not the same in
every release, Memcached has none, and Linux's own (a signal when the parent dies) means the thread that started it.

Imports the standard library alone: LocalStack's interpreter has nothing else of ours.
"""

import os
import random
import select
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

LEASH = '"$@" </dev/null >&2 & exec 2>/dev/null; echo $!; read -r _; kill -KILL $!; wait $!'
"""Says the server's process id. What the server says goes to standard error, which no other process keeps open."""

READY_WITHIN_S = 20.0
"""It takes a hundredth of that at most; a very busy machine may be slow."""

MEMORY_MB = 64

PORTS = range(20_000, 30_000)
"""Below the ports that a system gives to processes that ask for any: between our look and a server's none is drawn."""


class ServerMissing(Exception):
    """There is no such server here, or it does not come up; the message says which."""


@dataclass(frozen=True, slots=True)
class ServerKind:
    """programs: any of them does. arguments: from a port."""

    programs: Sequence[str]
    arguments: Callable[[int], Sequence[str]]


KINDS: Mapping[str, ServerKind] = {
    "valkey": ServerKind(
        ("valkey-server", "redis-server"),
        # Nothing on disk; full means that something else goes.
        lambda port: (
            *("--bind", "127.0.0.1", "--port", f"{port}", "--save", "", "--appendonly", "no"),
            *("--maxmemory", f"{MEMORY_MB}mb", "--maxmemory-policy", "allkeys-lru"),
        ),
    ),
    "memcached": ServerKind(
        ("memcached",),
        # Values up to 4 MiB, as in AWS. It refuses to be root, and says so; other users may not choose, and need not.
        lambda port: ("-l", "127.0.0.1", "-p", f"{port}", "-U", "0", "-m", f"{MEMORY_MB}", "-I", "4m", "-u", "nobody"),
    ),
}


class CacheServer:
    """One that runs. pid: of the server itself, not of its leash."""

    def __init__(self, port: int, leash: "subprocess.Popen[bytes]") -> None:
        assert leash.stdout  # noqa: S101 - it was asked for
        self.port = port
        self.pid = int(leash.stdout.readline())
        self._leash = leash

    def stop(self) -> None:
        """Returns when it is gone; a second call does nothing."""
        with self._leash:  # whose pipes are closed by that, and who is waited for
            pass


def program(kind: str) -> str:
    """Where the server is. Raises Missing."""
    names = KINDS[kind].programs
    found = next(filter(None, map(shutil.which, names)), None)
    if found is None:
        raise ServerMissing(f"{' or '.join(names)} is not on the PATH")
    return found


def start(kind: str, *arguments: str, port: int = 0) -> CacheServer:
    """One with nothing in it, once it takes connections. Raises Missing.

    arguments: further ones, of its own; later ones count. port: where it will listen then; 0 for a free one.
    """
    port = port or free_port()
    command = [program(kind), *KINDS[kind].arguments(port), *arguments]
    leash = subprocess.Popen(  # noqa: S603 - a path that was found, and what we were told
        ["/bin/sh", "-c", LEASH, "leash", *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd="/",
        start_new_session=True,  # Ctrl-C in a terminal is for us, who then have something to finish
    )
    server = CacheServer(port, leash)
    assert leash.stderr  # noqa: S101 - it was asked for
    try:
        _wait_until_ready(port, leash.stderr.fileno())
        leash.stderr.close()  # nothing reads what it says later, and it must not wait for that
    except ServerMissing as problem:
        server.stop()
        raise ServerMissing(f"{command[0]} does not come up: {problem}") from None
    except BaseException:
        server.stop()
        raise
    return server


def free_port() -> int:
    """A port on which no process listens now."""
    return next(filter(_is_free, random.sample(PORTS, len(PORTS))))


def _is_free(port: int) -> bool:
    with socket.socket() as trial:
        try:
            trial.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def _wait_until_ready(port: int, log: int) -> None:
    """log: where it can be heard, until it ends. Raises Missing, with its last words."""
    deadline, said = time.monotonic() + READY_WITHIN_S, b""
    while not _takes_connections(port):
        readable, _, _ = select.select([log], [], [], 0.005)
        news = os.read(log, 65_536) if readable else b""
        said += news
        if (readable and not news) or time.monotonic() > deadline:
            raise ServerMissing(said.decode(errors="replace").strip().rpartition("\n")[2] or "it says nothing")


def _takes_connections(port: int) -> bool:
    with socket.socket() as trial:
        return trial.connect_ex(("127.0.0.1", port)) == 0
