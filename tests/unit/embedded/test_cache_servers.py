"""Cache servers beside us: ready when they are there, and gone when we are."""

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from sigla.cache import servers as cache_servers
from sigla.cache.servers import CacheServer, ServerMissing
from tests.waiting import PATIENCE_S, eventually

pytestmark = pytest.mark.process

KINDS = tuple(cache_servers.KINDS)


def started(kind: str, *arguments: str) -> CacheServer:
    try:
        cache_servers.program(kind)
    except ServerMissing as missing:
        pytest.skip(str(missing))
    return cache_servers.start(kind, *arguments)


def gone(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


@pytest.mark.parametrize("kind", KINDS)
def test_a_server_takes_connections_until_it_is_stopped(kind: str) -> None:
    """At once, on the port it was told, from this machine alone; stopped again it stays so."""
    server = started(kind)
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE_S):
        assert {each.laddr.ip for each in psutil.Process(server.pid).net_connections("tcp")} == {"127.0.0.1"}
    server.stop()
    assert gone(server.pid)
    server.stop()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", server.port))


def test_one_that_hears_nothing_is_stopped_as_well() -> None:
    """A suspended process keeps a polite signal for later."""
    server = started("valkey")
    os.kill(server.pid, signal.SIGSTOP)
    server.stop()
    assert gone(server.pid)


@pytest.mark.parametrize("ended_by", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT], ids=lambda number: number.name)
def test_no_server_outlives_its_starter(ended_by: signal.Signals) -> None:
    """However the starter ends; in a terminal, Ctrl-C is for its whole group."""
    started("valkey").stop()
    code = "from sigla.cache.servers import start; print(start('valkey').pid, flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as starter:
        assert starter.stdout
        pid = int(starter.stdout.readline())
        assert not gone(pid)
        os.killpg(starter.pid, ended_by)
    eventually(lambda: gone(pid))


def test_one_that_does_not_come_up_says_why(tmp_path: Path) -> None:
    """Its own last words; nothing of it is left."""
    before = {child.pid for child in psutil.Process().children(recursive=True)}
    with pytest.raises(ServerMissing, match=r"does not come up: \w"):
        started("valkey", "--nonsense")
    assert {child.pid for child in psutil.Process().children(recursive=True)} <= before


def test_where_there_is_no_server_its_names_are_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Whoever reads it knows what to install."""
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ServerMissing, match="valkey-server or redis-server"):
        cache_servers.start("valkey")


def test_a_free_port_is_none_that_somebody_has() -> None:
    """Nor one that the system may give to another process a moment later."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", cache_servers.free_port()))
        assert not cache_servers._is_free(taken.getsockname()[1]), "a look inside: a draw would nearly never meet it"
    port = cache_servers.free_port()
    assert port in cache_servers.PORTS
