"""`sigla serve` under a supervisor that waits until it is ready, as systemd does for a unit of `Type=notify`."""

import signal
import socket
from contextlib import closing
from pathlib import Path

import pytest

from tests.protocol.clients.server import serving
from tests.waiting import PATIENCE_S

STRING = {"schema": '"string"'}


@pytest.mark.parametrize("abstract", [False, True])
def test_a_supervisor_is_told_when_requests_are_answered_and_when_it_stops(tmp_path: Path, abstract: bool) -> None:
    """What is ordered after a registry must find it there."""
    name = f"@sigla-{tmp_path.name}" if abstract else str(tmp_path / "notify")
    with closing(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)) as told:
        told.settimeout(PATIENCE_S)
        told.bind(name.replace("@", "\0"))
        with serving(None, settings={"NOTIFY_SOCKET": name}) as server:
            assert told.recv(100) == b"READY=1"
            server.stop()
            assert told.recv(100) == b"STOPPING=1"


def test_a_supervisor_that_has_gone_keeps_no_registry_from_serving(tmp_path: Path) -> None:
    with serving(None, settings={"NOTIFY_SOCKET": str(tmp_path / "nobody")}) as server:
        assert server.ask("GET", "/health").status == 200


def test_a_request_that_crosses_the_end_is_answered_and_told_that_it_is_the_last(tmp_path: Path) -> None:
    """A connection that ends under a request is an error for most clients, which a restart need not cause."""
    name = str(tmp_path / "notify")
    with closing(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)) as told:
        told.settimeout(PATIENCE_S)
        told.bind(name)
        with serving(None, settings={"NOTIFY_SOCKET": name}) as server, server.kept() as ask, server.kept() as other:
            assert told.recv(100) == b"READY=1"
            assert ask("GET", "/subjects").status == other("GET", "/subjects").status == 200
            server.process.send_signal(signal.SIGTERM)
            assert told.recv(100) == b"STOPPING=1"
            answers = [each("POST", "/subjects/late/versions", STRING) for each in (ask, other)]
            assert [(each.status, each.headers.get("connection")) for each in answers] == [(200, "close")] * 2
            assert server.wait() == 0
