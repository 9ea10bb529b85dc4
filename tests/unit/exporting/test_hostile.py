"""A destination that does its worst: what it says is told in a sentence, and is neither followed nor believed."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from types import SimpleNamespace
from typing import Any

import pytest

from sigla.exporters.destination import DestinationAway, DestinationRefused
from sigla.exporters.nouns import Credentials, Exporter
from sigla.model import GLOBAL, Subject
from sigla.ports.secrets import SecretName
from sigla.remote import destination
from sigla.remote.connections import RemoteLimits, may_reach_all, may_reach_others
from sigla.remote.destination import HttpDestination
from sigla.stores.clock import SystemClock
from tests.attack.ports import Call
from tests.unit.exporting.places import AVRO, Line, places

USER, PASSWORD = "orders", "correct horse"
SETTINGS = {"basic.auth.user.info": f"{USER}:{PASSWORD}"}
SUBJECT = Subject(".", "s")


class Known:
    """Secrets of which all are the same."""

    def get(self, _: SecretName) -> Credentials:
        return Credentials(SETTINGS)


@contextmanager
def entered(url: str, may_reach: Callable[[str], bool] = may_reach_all) -> Iterator[HttpDestination]:
    exporter = Exporter("e", config={"schema.registry.url": url}, hidden=tuple(SETTINGS), credentials="n")
    secrets: Any = Known()
    with closing(destination.destination(exporter, secrets, SystemClock(), may_reach=may_reach)) as found:
        yield found


@contextmanager
def hostile(behave: Callable[[socket.socket, bytes], None]) -> Iterator[str]:
    """The URL of something that does with each connection what it wants. behave: is given the request as well."""

    def one(connection: socket.socket) -> None:
        with connection, suppress(OSError):
            behave(connection, connection.recv(2**16))

    def accept() -> None:
        with suppress(OSError):
            while True:
                threading.Thread(target=one, args=(server.accept()[0],), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=accept, daemon=True).start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}"
        server.shutdown(socket.SHUT_RDWR)


def answered(head: str, body: bytes = b"") -> bytes:
    return f"HTTP/1.1 {head}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


# --- what it says ----------------------------------------------------------------------------------------------------


def test_credentials_that_a_destination_repeats_are_not_told() -> None:
    """Readers see the trace, and logs have it: neither is to know the password because a proxy over there is chatty."""

    def repeat(connection: socket.socket, request: bytes) -> None:
        proof = request.partition(b"Authorization: Basic ")[2].partition(b"\r\n")[0].decode()
        said = f'{{"error_code": 40101, "message": "no {USER}:{PASSWORD}, {PASSWORD} or {proof}"}}'
        connection.sendall(answered("401 No", said.encode()))

    with hostile(repeat) as url, entered(url) as there, pytest.raises(DestinationAway) as told:
        there.config(GLOBAL)
    assert str(told.value).endswith("credentials: 40101: no [hidden], [hidden] or [hidden].")


def test_what_does_not_speak_http_is_not_shown() -> None:
    """The greetings of a mail server or a database in the registry's network are not for who may write exporters."""

    def greet(connection: socket.socket, _: bytes) -> None:
        connection.sendall(b"-ERR this is a database called top-secret\r\n")

    with hostile(greet) as url, entered(url) as there, pytest.raises(DestinationAway, match="not as HTTP has it"):
        there.config(GLOBAL)


@pytest.mark.parametrize(
    "status, body, told",
    [
        (422, b'{"error_code": 42201, "message": "\\ud800 \\u001b[31m\\n"}', "42201: [31m"),
        (500, b'{"a":' + b"[" * 100_000, "500: status 500"),
        (200, b"[" * 100_000, "not as a schema registry does"),
        (200, b"<html>", "not as a schema registry does"),
        (200, b'[{"subject": "s", "version": "../../x", "id": 1, "schema": ""}]', "not as a schema registry does"),
        (200, b'[{"subject": "s", "version": 1, "id": 1.5, "schema": ""}]', "not as a schema registry does"),
        (307, b"", "answers with a redirect (status 307), and none is followed"),
    ],
)
def test_whatever_a_destination_says_is_told_in_a_sentence(status: int, body: bytes, told: str) -> None:
    """A status that cannot be stored, or a traceback at each try, would not say what is wrong."""

    def say(call: Call, carry_out: Callable[[], Any]) -> Any:
        return SimpleNamespace(status=status, headers={}, body=body) if "/schemas" in call.name else carry_out()

    with places() as (source, target):
        source.register("s", AVRO % 1)
        line = Line(source, target, between=say).begin()
        line.turn()
        assert told in " ".join(line.progress.trace.split())
        assert line.progress.trace.isprintable()


def test_a_destination_without_pages_is_read_once() -> None:
    """It answers with everything, whatever page is asked for."""
    pages: list[str] = []

    def say_all(call: Call, carry_out: Callable[[], Any]) -> Any:
        if "/schemas" in call.name:
            pages.append(call.name)
            standing = [f'{{"subject": "s", "version": {each}, "id": {each}, "schema": ""}}' for each in range(1, 100)]
            return SimpleNamespace(status=200, headers={}, body=f"[{','.join(standing)}]".encode())
        return carry_out()

    with places() as (source, target):
        source.register("s", AVRO % 1)
        Line(source, target, between=say_all).begin().turn()
        assert len(pages) == 2


# --- how long it takes -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("head", [b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n", b"HTTP/1.1 200 OK\r\n"])
def test_an_answer_in_small_pieces_ends_in_time(head: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each piece comes soon enough, and the last one never: on AWS all exporters would end with the invocation."""
    monkeypatch.setattr(destination, "LIMITS", RemoteLimits(patience_s=60.0, whole_s=0.2))
    over = threading.Event()

    def drip(connection: socket.socket, _: bytes) -> None:
        connection.sendall(head)
        while not over.wait(0.01):
            connection.sendall(b"x")

    with hostile(drip) as url, entered(url) as there, pytest.raises(DestinationAway, match=r"not within 0 s|timed out"):
        there.config(GLOBAL)
    over.set()


def test_an_answer_without_an_end_is_read_no_further_than_there_is_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """One subject that is too long over there waits; the registry keeps its memory, and the others go on."""
    monkeypatch.setattr(destination, "LIMITS", RemoteLimits(patience_s=10.0, longest=2**20))

    def go_on(connection: socket.socket, _: bytes) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            connection.sendall(b" " * 2**16)

    with hostile(go_on) as url, entered(url) as there, pytest.raises(DestinationRefused, match="more than 1 MiB"):
        there.versions(SUBJECT)


# --- where it is -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "address, may",
    [
        ("127.0.0.1", False),
        ("127.8.8.8", False),
        ("169.254.169.254", False),
        ("0.0.0.0", False),
        ("::1", False),
        ("::", False),
        ("::ffff:127.0.0.1", False),
        ("fe80::1%eth0", False),
        ("224.0.0.1", False),
        ("10.0.0.1", True),
        ("192.0.2.1", True),
        ("2001:db8::1", True),
    ],
)
def test_in_lambda_an_exporter_reaches_others_alone(address: str, may: bool) -> None:
    """The runtime's own API is there, and on other machines whoever gives a role its credentials."""
    assert may_reach_others(address) is may


@pytest.mark.parametrize("host", ["localhost", "127.1", "2130706433", "[::ffff:127.0.0.1]"])
def test_an_address_is_looked_at_after_its_name_was_resolved(host: str) -> None:
    """There are many ways to write one, and a name may lead anywhere; nothing is sent before that is known."""
    asked: list[bytes] = []
    with hostile(lambda _, request: asked.append(request)) as url:
        port = url.rpartition(":")[2]
        with entered(f"http://{host}:{port}", may_reach_others) as there:
            with pytest.raises(DestinationAway, match="must not be reached from here"):
                there.config(GLOBAL)
            assert not asked


def test_a_redirect_to_a_forbidden_address_is_not_followed() -> None:
    asked: list[bytes] = []
    with hostile(lambda _, request: asked.append(request)) as forbidden:

        def lead_there(connection: socket.socket, _: bytes) -> None:
            connection.sendall(answered(f"307 There\r\nLocation: {forbidden}/config"))

        with hostile(lead_there) as url, entered(url) as there, pytest.raises(DestinationAway, match="redirect"):
            there.config(GLOBAL)
        assert not asked


def test_a_name_that_is_none_is_told_as_what_it_is() -> None:
    with entered("http://a..b") as there, pytest.raises(DestinationAway, match="cannot be looked up"):
        there.config(GLOBAL)
