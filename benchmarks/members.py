"""Real members of a ring, for benchmarks: servers of this machine that do not wait for its processors."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from benchmarks.harness import NotHere
from sigla.cache import servers as cache_servers
from sigla.cache.servers import CacheServer

_CONNECTIONS = {"valkey": (), "memcached": ("-c", "20000")}
"""Memcached takes 1,024 clients out of the box, Valkey 10,000."""

KINDS = tuple(_CONNECTIONS)


@contextmanager
def a_member(kind: str = "valkey", *arguments: str, port: int = 0) -> Iterator[CacheServer]:
    """One with nothing in it, which ends with the block. Raises NotHere."""
    try:
        server = cache_servers.start(kind, *_CONNECTIONS[kind], *arguments, port=port)
    except cache_servers.ServerMissing as reason:
        raise NotHere(f"a ring needs cache servers: {reason}") from reason
    try:
        # It stands for another machine: where the system lets us, what runs on this one does not keep it waiting.
        with suppress(AttributeError, OSError):
            os.sched_setscheduler(server.pid, os.SCHED_RR, os.sched_param(1))
        yield server
    finally:
        server.stop()


def address(server: CacheServer, kind: str = "valkey") -> str:
    return f"{kind}://127.0.0.1:{server.port}"
