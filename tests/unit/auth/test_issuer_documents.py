"""The documents of an issuer, as it sends them over HTTPS: whatever it does, a reading ends, and in a sentence."""

import json
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from socket import create_server, socket
from threading import Event, Thread
from time import monotonic

import pytest

from sigla.auth.tokens import issuers
from sigla.errors import IssuerSilent
from sigla.remote.issuer_keys import IssuerKeys
from sigla.stores.clock import SystemClock
from tests.certificates import Authority
from tests.issuer import AUDIENCE

PATIENCE_MS = 300
HEADS = {
    "of a length": b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n",
    "in chunks": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3e8\r\n",
    "to the end of the connection": b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n",
    "of HTTP 1.0": b"HTTP/1.0 200 OK\r\n\r\n",
    "of a head without end": b"HTTP/1.1 200 OK\r\nX: ",
    "of nothing": b"",
}

Handler = Callable[[socket], None]


@pytest.fixture
def authority(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Authority:
    made = Authority.made(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(made.file))
    return made


@contextmanager
def answering(authority: Authority, folder: Path, handle: Handler) -> Iterator[str]:
    """Where an issuer listens that answers one request in its own way."""
    files = authority.pair(folder)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(files.cert, files.key)
    with create_server(("127.0.0.1", 0)) as listening:

        def answer() -> None:
            with suppress(OSError), context.wrap_socket(listening.accept()[0], server_side=True) as connected:
                connected.recv(2**16)
                handle(connected)

        thread = Thread(target=answer, daemon=True)
        thread.start()
        yield f"https://localhost:{listening.getsockname()[1]}/keys"
        thread.join(5)
        assert not thread.is_alive(), "the connection was left open"


def issuer_at(jwks: str) -> issuers.Issuer:
    row = {"when": {"sub": "etl"}, "role": "reader"}
    setting = {"issuer": "https://issuer.test", "audience": AUDIENCE, "jwks": jwks, "map": [row]}
    return issuers.read(json.dumps([setting]))[0]


@pytest.mark.parametrize("head", HEADS.values(), ids=HEADS)
def test_an_answer_that_drips_is_ended(authority: Authority, tmp_path: Path, head: bytes) -> None:
    """Else the keys of this issuer would never be read again, and none of the issuers that come after it."""
    stopped = Event()

    def drip(connected: socket) -> None:
        connected.sendall(head)
        while not stopped.wait(0.05):
            connected.sendall(b" ")

    with answering(authority, tmp_path, drip) as url:
        began = monotonic()
        try:
            with pytest.raises(IssuerSilent, match="its answer goes on for too long"):
                IssuerKeys(SystemClock(), patience_ms=PATIENCE_MS).document(issuer_at(url))
            assert monotonic() - began < 3
        finally:
            stopped.set()


def test_an_answer_that_ends_with_its_connection_is_read(authority: Authority, tmp_path: Path) -> None:
    def answer(connected: socket) -> None:
        connected.sendall(HEADS["of HTTP 1.0"] + b'{"keys": []}')

    with answering(authority, tmp_path, answer) as url:
        assert IssuerKeys(SystemClock()).document(issuer_at(url)) == b'{"keys": []}'


@pytest.mark.parametrize("host", ["a..b", "a" * 64 + ".test"])
def test_a_host_that_dns_cannot_have_is_one_that_does_not_answer(host: str) -> None:
    """An issuer's own document may name it, and must not end the turn of the function that reads for all."""
    with pytest.raises(IssuerSilent, match=f"https://{host}/keys does not answer"):
        IssuerKeys(SystemClock()).document(issuer_at(f"https://{host}/keys"))
