"""Members that are slow, silent, gone, or no caches at all: a failure that names them, soon, and nothing worse.

Nothing is judged by how long it took but where that is the promise, and then by far.
"""

import os
import signal
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import TypeVar

import pytest
from valkey import Valkey

from sigla.cache.member import Member, MemberFailed, Swap
from sigla.cache.members import member as member_of
from sigla.cache.members import transport
from sigla.cache.servers import CacheServer, free_port
from tests.caches import Certificate, Listener, Wire, a_cache, a_certificate, frozen, with_tls, with_users

pytestmark = pytest.mark.process

LONG = 600_000
TOKEN = "a-token-of-fifteen-minutes"

KINDS = ("valkey", "memcached")

Token = Callable[[str, str], str]
T = TypeVar("T")


def a_member(address: str, token: Token = lambda _user, _group: TOKEN, *, connect_s: float | None = None) -> Member:
    return member_of(address, token=token, connect_s=connect_s)[1]


def on(kind: str, port: int) -> Member:
    return a_member(f"{kind}://127.0.0.1:{port}")


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def server(kind: str) -> Iterator[CacheServer]:
    with a_cache(kind) as running:
        yield running


@pytest.fixture
def certificate(tmp_path: Path) -> Certificate:
    return a_certificate(tmp_path)


def heard(ask: Callable[[], T]) -> T:
    """The answer to what may be asked often, once a server that shares this machine with all tests comes to give it."""
    for _ in range(20):
        with suppress(MemberFailed):
            return ask()
    return ask()


def silent(client: socket.socket) -> None:
    """Hears everything, says nothing."""
    while client.recv(65_536):
        pass


# --- silence ---------------------------------------------------------------------------------------------------------


def test_a_frozen_member_costs_one_time_out(kind: str, server: CacheServer) -> None:
    """It takes a tenth of a second: no second one, on no second connection.

    When it goes on it is as if nothing had been.
    """
    with Wire(server.port) as wire, closing(on(kind, wire.port)) as member:
        heard(lambda: member.put("key", b"body", lasts_ms=LONG))
        opened = wire.connections
        with frozen(server):
            began = time.monotonic()
            with pytest.raises(MemberFailed, match=f"127.0.0.1:{wire.port} did not answer in time"):
                member.claim(["key"], b"lease", lasts_ms=LONG)
            assert wire.connections == opened
            assert time.monotonic() - began < 100 * transport.OPERATION_S
        assert heard(lambda: member.claim(["key"], b"lease", lasts_ms=LONG)) == [b"body"]


def test_who_does_not_answer_is_asked_once(kind: str) -> None:
    """A time-out is not for trying again: the member has what it was asked already, and the request has no time."""
    heard: list[bytes] = []

    def serve(client: socket.socket) -> None:
        while data := client.recv(65_536):
            heard.append(data)

    with Listener(serve) as listener, closing(on(kind, listener.port)) as member:
        with pytest.raises(MemberFailed, match="did not answer in time"):
            member.ping()
        assert listener.connections == 1
    assert b"".join(heard).lower().count(b"ping" if kind == "valkey" else b"version") == 1


def test_a_late_answer_is_nobody_elses(kind: str, server: CacheServer) -> None:
    """The worst that a cache could do is to answer the next question with the last one's value."""
    with Wire(server.port) as wire, closing(on(kind, wire.port)) as member:
        heard(lambda: member.put("first", b"of the first", lasts_ms=LONG))
        heard(lambda: member.put("second", b"of the second", lasts_ms=LONG))
        opened = wire.connections
        with wire.answers_held(), pytest.raises(MemberFailed):
            member.claim(["first"], b"lease", lasts_ms=LONG)
        assert heard(lambda: member.claim(["second"], b"lease", lasts_ms=LONG)) == [b"of the second"]
        assert wire.connections > opened


def test_all_of_connecting_has_a_time_of_its_own(certificate: Certificate) -> None:
    """A herd that shakes hands with one member keeps it busy for longer than an operation may take."""
    slow = threading.Event()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate.chain, certificate.key)

    def serve(client: socket.socket) -> None:
        slow.wait(2 * transport.OPERATION_S)
        with context.wrap_socket(client.dup(), server_side=True) as secured:
            for answer in (b"+OK\r\n", b"+PONG\r\n"):
                secured.recv(65_536)
                if answer == b"+OK\r\n":
                    slow.wait(2 * transport.OPERATION_S)
                secured.sendall(answer)
            silent(secured)

    with Listener(serve) as listener:
        address = f"valkeys://sigla@127.0.0.1:{listener.port}?iam=group&ca={certificate.chain}"
        with closing(a_member(address, connect_s=60.0)) as member:
            member.ping()
            with pytest.raises(MemberFailed, match="did not answer in time"):
                member.ping()


@pytest.mark.parametrize("kind", ["valkeys", "memcacheds"])
def test_connecting_ends_as_well(kind: str, certificate: Certificate) -> None:
    """The other side does not shake the hand that is held out."""
    with Listener(silent) as listener:
        member = a_member(f"{kind}://127.0.0.1:{listener.port}?ca={certificate.chain}", connect_s=0.05)
        with closing(member), pytest.raises(MemberFailed, match="did not answer in time"):
            member.claim(["key"], b"lease", lasts_ms=LONG)
        assert listener.connections == 1


# --- connections that are gone ---------------------------------------------------------------------------------------


def test_a_member_that_was_started_anew_is_an_empty_one(kind: str, server: CacheServer) -> None:
    """All connections to the old one are gone, which does not count as a failure."""
    with closing(on(kind, server.port)) as member:
        member.put("key", b"body", lasts_ms=LONG)
        os.kill(server.pid, signal.SIGKILL)
        server.stop()
        with pytest.raises(MemberFailed, match=f"127.0.0.1:{server.port}"):
            member.ping()
        with a_cache(kind, port=server.port):
            assert member.claim(["key"], b"lease", lasts_ms=LONG) == [None]


def test_connections_that_were_closed_meanwhile_are_opened_anew(kind: str, server: CacheServer) -> None:
    """Between two requests of a function there may be hours, and twelve end every connection of IAM's."""
    port = server.port
    with closing(on(kind, port)) as member:
        member.put("key", b"body", lasts_ms=LONG)
        server.stop()
        with a_cache(kind, port=port):
            member.put("key", b"another body", lasts_ms=LONG)
            assert member.claim(["key"], b"lease", lasts_ms=LONG) == [b"another body"]


def test_connections_that_nobody_knows_any_more_are_opened_anew(kind: str, server: CacheServer) -> None:
    """A function that was frozen hears of it when it speaks: it is told that there is no such connection."""
    with Wire(server.port) as wire, closing(on(kind, wire.port)) as member:
        member.put("key", b"body", lasts_ms=LONG)
        wire.cut()
        assert member.claim(["key"], b"lease", lasts_ms=LONG) == [b"body"]
        assert wire.connections == 2


def test_many_connections_that_nobody_knows_are_no_failure_either(kind: str, server: CacheServer) -> None:
    """Those of as many threads as there were."""
    with closing(on(kind, server.port)) as member:
        in_use = threading.Barrier(8)

        def use() -> None:
            in_use.wait()
            member.ping()

        threads = [threading.Thread(target=use) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        port = server.port
        server.stop()
        with a_cache(kind, port=port):
            for _ in range(10):
                member.ping()


def test_a_refused_connection_is_a_failure(kind: str) -> None:
    """At once."""
    with closing(on(kind, free_port())) as member, pytest.raises(MemberFailed, match="Connection refused"):
        member.ping()


# --- invalid answers -------------------------------------------------------------------------------------------------

GARBAGE = [
    b"HTTP/1.1 400 Bad Request\r\n\r\n",
    b"220 mail.example ESMTP\r\n",
    b"\r\n",
    b":7\r\n",
    b"$x\r\n",
    b"$5\r\n",
    b"*1\r\n" * 5_000,
    b"*-2\r\n",
    b"VALUE\r\n",
    b"VALUE key 0 x\r\nEND\r\n",
    b"VALUE other 0 1\r\nx\r\nEND\r\n",
    b"VALUE key 0 5 1\r\nx\r\n",
    b"STORED\r\n",
    b"ERROR\r\n",
    b"-ERR unknown command 'SET', with args beginning with: 'key' 'schema text'\r\n",
    b"-LOADING the dataset\r\n",
    b"-NOPERM no permissions\r\n",
    b"SERVER_ERROR out of memory storing object\r\n",
    b"\x00\xff" * 100,
    b"",
]


@pytest.mark.parametrize("garbage", GARBAGE, ids=lambda garbage: repr(garbage[:20]))
def test_what_makes_no_sense_is_a_failure(kind: str, garbage: bytes) -> None:
    """Any process may have a port; what it says is repeated nowhere, as it may be a schema's text."""

    def serve(client: socket.socket) -> None:
        client.recv(65_536)
        client.sendall(garbage)
        if garbage:
            silent(client)

    with Listener(serve) as listener, closing(on(kind, listener.port)) as member:
        with pytest.raises(MemberFailed, match=f"127.0.0.1:{listener.port}") as failed:
            member.claim(["key"], b"schema text", lasts_ms=LONG)
        assert "schema text" not in str(failed.value)
        # Some of these may take it for an answer.
        asks: list[Callable[[], None]] = [
            lambda: member.swap([Swap("key", b"lease", b"schema text")], lasts_ms=LONG),
            lambda: member.put("key", b"schema text", lasts_ms=LONG),
            member.ping,
        ]
        for ask in asks:
            with suppress(MemberFailed):
                ask()


def test_what_is_no_value_is_a_failure() -> None:
    """Another program uses that Valkey, for lists."""
    with a_cache("valkey") as server, closing(on("valkey", server.port)) as member:
        with Valkey(port=server.port) as somebody:
            somebody.rpush("key", "element")
        with pytest.raises(MemberFailed, match="WRONGTYPE"):
            member.claim(["key", "another"], b"lease", lasts_ms=LONG)
        assert member.claim(["another"], b"lease", lasts_ms=LONG) == [b"lease"]


def test_a_full_member_that_may_not_forget_is_a_failure() -> None:
    """Whoever made that Valkey did not mean it to be a cache."""
    arguments = ("--maxmemory", "1", "--maxmemory-policy", "noeviction")
    with a_cache("valkey", *arguments) as server, closing(on("valkey", server.port)) as member:
        with pytest.raises(MemberFailed, match="maxmemory"):
            member.claim(["key"], b"lease", lasts_ms=LONG)
        with pytest.raises(MemberFailed, match="maxmemory"):
            member.put("key", b"body", lasts_ms=LONG)


# --- who may ask -----------------------------------------------------------------------------------------------------


@pytest.fixture
def guarded(certificate: Certificate, tmp_path: Path) -> Iterator[int]:
    """The port of a Valkey with TLS and users."""
    port = free_port()
    with a_cache("valkey", *with_tls("valkey", port, certificate), *with_users(tmp_path), port=port):
        yield port


def test_a_token_is_made_for_each_connection(guarded: int, certificate: Certificate) -> None:
    """It is good for a quarter of an hour, the connection for twelve hours."""
    made: list[tuple[str, str]] = []

    def token(user: str, group: str) -> str:
        made.append((user, group))
        return TOKEN

    with closing(a_member(f"valkeys://sigla@127.0.0.1:{guarded}?iam=a-group&ca={certificate.chain}", token)) as member:
        for _ in range(2):
            member.ping()
            member.ping()
            member.close()
    assert made == [("sigla", "a-group")] * 2


def test_a_wrong_password_is_a_failure_that_does_not_tell_it(guarded: int, certificate: Certificate) -> None:
    """It says that it is the password."""
    with closing(a_member(f"valkeys://locked@127.0.0.1:{guarded}?iam=group&ca={certificate.chain}")) as member:
        for _ in range(2):
            with pytest.raises(MemberFailed, match="invalid username-password pair") as failed:
                member.ping()
            assert TOKEN not in str(failed.value)


def test_who_does_not_say_who_he_is_is_refused(guarded: int, certificate: Certificate) -> None:
    """Where only users may ask."""
    member = a_member(f"valkeys://127.0.0.1:{guarded}?ca={certificate.chain}")
    with closing(member), pytest.raises(MemberFailed, match="Authentication required"):
        member.claim(["key"], b"lease", lasts_ms=LONG)


def test_without_credentials_nothing_is_asked(guarded: int, certificate: Certificate) -> None:
    """And when they are there it goes on."""
    credentials: list[str] = []

    def token(_user: str, _group: str) -> str:
        if not credentials:
            raise PermissionError("there are no credentials")
        return credentials[0]

    with closing(a_member(f"valkeys://sigla@127.0.0.1:{guarded}?iam=group&ca={certificate.chain}", token)) as member:
        with pytest.raises(MemberFailed, match="there are no credentials"):
            member.ping()
        credentials.append(TOKEN)
        member.ping()


def test_a_certificate_that_nobody_vouches_for_is_a_failure(guarded: int) -> None:
    """By the system's authorities, if no others are named."""
    member = a_member(f"valkeys://127.0.0.1:{guarded}")
    with closing(member), pytest.raises(MemberFailed, match="CERTIFICATE_VERIFY_FAILED"):
        member.ping()


def test_a_certificate_of_another_host_is_a_failure(guarded: int, certificate: Certificate) -> None:
    """Trust is in a name."""
    member = a_member(f"valkeys://localhost:{guarded}?ca={certificate.chain}")
    with closing(member), pytest.raises(MemberFailed, match="CERTIFICATE_VERIFY_FAILED"):
        member.ping()
