"""Real caches for tests, with TLS and users, and a wire in front of one that can be cut. All on loopback, all end."""

import datetime as dt
import ipaddress
import os
import select
import signal
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from sigla.cache import servers as cache_servers
from sigla.cache.servers import CacheServer, ServerMissing
from tests.waiting import eventually

USERS = """\
user default off
user sigla on nopass ~* -@all +ping +get +set +eval
user locked on >secret ~* -@all +ping +get +set +eval
"""
"""Who may do what in a Valkey `with_users`: `sigla` has the permissions that a zone's user has, whatever its token."""


def _needs(kind: str) -> pytest.MarkDecorator:
    try:
        cache_servers.program(kind)
    except ServerMissing as problem:
        return pytest.mark.skip(f"no cache to test with: {problem}")
    return pytest.mark.skipif(condition=False, reason="there is one")


needs_valkey, needs_memcached = _needs("valkey"), _needs("memcached")
"""Marks of tests that start such a server themselves."""


@contextmanager
def a_cache(kind: str, *arguments: str, port: int = 0) -> Iterator[CacheServer]:
    """A server of that kind, with nothing in it; the test is left out where the machine has none."""
    try:
        server = cache_servers.start(kind, *arguments, port=port)
    except ServerMissing as problem:
        pytest.skip(f"no cache to test with: {problem}")
    try:
        yield server
    finally:
        server.stop()


@contextmanager
def frozen(server: CacheServer) -> Iterator[None]:
    """It takes connections, as the kernel does that for it, and answers nothing."""
    os.kill(server.pid, signal.SIGSTOP)
    # The last of its threads to hear of it may answer until it does.
    threads = Path(f"/proc/{server.pid}/task")
    eventually(lambda: all(_stopped(each) for each in threads.glob("*/stat")))
    try:
        yield
    finally:
        os.kill(server.pid, signal.SIGCONT)


def _stopped(stat: Path) -> bool:
    """Linux tells the state behind the name, which is in parentheses. Where there is no such file, all are."""
    return stat.read_text().rpartition(")")[2].split()[0] == "T"


def with_tls(kind: str, port: int, certificate: "Certificate") -> list[str]:
    """Arguments by which a server speaks TLS on that port, and nothing else."""
    if kind == "memcached":
        return ["-Z", "-o", f"ssl_chain_cert={certificate.chain},ssl_key={certificate.key}"]
    files = ["--tls-cert-file", f"{certificate.chain}", "--tls-key-file", f"{certificate.key}"]
    return ["--port", "0", "--tls-port", f"{port}", *files, "--tls-auth-clients", "no"]


def with_users(folder: Path) -> list[str]:
    """Arguments by which a Valkey knows USERS and no others."""
    file = folder / "users.acl"
    file.write_text(USERS)
    return ["--aclfile", f"{file}"]


@dataclass(frozen=True)
class Certificate:
    """chain: of a server on loopback; whoever trusts it trusts that server."""

    chain: Path
    key: Path


def a_certificate(folder: Path) -> Certificate:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "a cache on loopback")])
    now = dt.datetime.now(dt.UTC)
    signed = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    certificate = Certificate(folder / "chain.pem", folder / "key.pem")
    certificate.chain.write_bytes(signed.public_bytes(serialization.Encoding.PEM))
    certificate.key.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return certificate


# --- what is not a cache ---------------------------------------------------------------------------------------------


class Listener:
    """Takes connections on loopback; each is served by `serve` in a thread of its own, and closed after it."""

    def __init__(self, serve: Callable[[socket.socket], None]) -> None:
        self._serve = serve
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        self._open: list[socket.socket] = []
        self._threads = [threading.Thread(target=self._accept, name="listener")]

    @property
    def connections(self) -> int:
        """How many there were."""
        return len(self._open)

    def __enter__(self) -> Self:
        self._threads[0].start()
        return self

    def __exit__(self, *_: object) -> None:
        for each in (self._listening, *self._open):
            hang_up(each)
        for thread in self._threads:
            thread.join()
        for each in (self._listening, *self._open):
            each.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                self._open.append(client)
                self._threads.append(threading.Thread(target=self._run, args=(client,), name="connection"))
                self._threads[-1].start()

    def _run(self, client: socket.socket) -> None:
        with suppress(OSError):
            self._serve(client)
        hang_up(client)


def hang_up(sock: socket.socket) -> None:
    """Ends it, also for a thread that waits for it; it is closed by whoever owns it."""
    with suppress(OSError):
        sock.shutdown(socket.SHUT_RDWR)


class Wire(Listener):
    """Passes on what is said between those who connect to its port and a server."""

    def __init__(self, server_port: int) -> None:
        super().__init__(self._pass_on)
        self._server_port = server_port
        self._answers_pass = threading.Event()
        self._answers_pass.set()
        self._cut = False

    @contextmanager
    def answers_held(self) -> Iterator[None]:
        """They come late, but they come."""
        self._answers_pass.clear()
        try:
            yield
        finally:
            self._answers_pass.set()

    def cut(self) -> None:
        """The next caller that uses an open connection hears that it was closed: as after a long sleep."""
        self._cut = True

    def _pass_on(self, client: socket.socket) -> None:
        self._cut = False
        with socket.create_connection(("127.0.0.1", self._server_port)) as server:
            while True:
                readable, _, _ = select.select([client, server], [], [])
                data = readable[0].recv(65_536)
                if not data:
                    return
                if readable[0] is server:
                    self._answers_pass.wait()
                    client.sendall(data)
                elif self._cut:
                    # Closed at once and without a farewell: with a reset.
                    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    client.close()
                    return
                else:
                    server.sendall(data)
