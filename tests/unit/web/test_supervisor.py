"""What a supervisor hands over: sockets that are open already, and for this process."""

import os
import socket
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from sigla.web.local import server, supervisor
from sigla.web.local.server import CannotListen
from sigla.web.local.supervisor import NoTcpSocket


@pytest.fixture
def listening() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as opened:
        yield opened


def said(opened: socket.socket, monkeypatch: pytest.MonkeyPatch, pid: int | None = None) -> dict[str, str]:
    """The environment of a process whose first socket is this one: a test has others at number 3."""
    monkeypatch.setattr(supervisor, "FIRST_SOCKET", os.dup(opened.fileno()))
    return {"LISTEN_FDS": "1", "LISTEN_PID": str(os.getpid() if pid is None else pid)}


def test_a_socket_that_is_handed_over_is_listened_on(listening: socket.socket, monkeypatch: pytest.MonkeyPatch) -> None:
    (found,) = supervisor.handed_over(said(listening, monkeypatch))
    with server.listening("127.0.0.1", [0], [found]) as (taken,):
        assert server.port(taken) == server.port(listening)
        assert server.reached_at([taken]) == "127.0.0.1"
        assert not os.get_inheritable(taken.fileno()), "what we start is given none of it"


@pytest.mark.parametrize("environment", [{}, {"LISTEN_FDS": "1"}, {"LISTEN_FDS": "1", "LISTEN_PID": "1"}])
def test_sockets_of_another_process_are_left_alone(environment: dict[str, str]) -> None:
    """A shell that was started by a socket passes its variables on."""
    assert supervisor.handed_over(environment) == []


@pytest.mark.parametrize("count", ["", "x", "-1", "²"])
def test_a_count_that_is_not_a_number_is_none(count: str) -> None:
    assert supervisor.handed_over({"LISTEN_FDS": count, "LISTEN_PID": str(os.getpid())}) == []


@pytest.mark.parametrize("family, kind", [(socket.AF_UNIX, socket.SOCK_STREAM), (socket.AF_INET, socket.SOCK_DGRAM)])
def test_a_socket_of_another_kind_is_refused_in_a_sentence(
    family: int, kind: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket(family, kind) as opened, pytest.raises(NoTcpSocket, match="ListenStream=ADDRESS:PORT"):
        supervisor.handed_over(said(opened, monkeypatch))


def test_as_many_sockets_are_needed_as_there_are_zones(listening: socket.socket) -> None:
    with pytest.raises(CannotListen, match="hands over 1 sockets, and 3 are needed"):
        server.listening("127.0.0.1", [0, 0, 0], [listening]).__enter__()


def test_a_registry_that_one_socket_opens_to_others_is_open_to_them() -> None:
    """It asks for keys, then, or does not start."""
    with ExitStack() as opened:
        sockets = [opened.enter_context(socket.create_server((host, 0))) for host in ("127.0.0.1", "0.0.0.0")]
        assert server.reached_at(sockets) == "0.0.0.0"
