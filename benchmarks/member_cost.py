"""What a member's one thread pays for a new connection, and for a question: with TLS, and beside it without.

The server is the real one, asked by the member that the function uses; what counts is its processor time by the
system's own account, so that neither this machine's other work nor the client is in it. The certificate has an RSA key
of 2,048 bits, as ElastiCache's have. docs/scale.md computes with these figures.

It may mislead: ElastiCache's nodes have other processors than this machine, and larger ones shake hands on several.
"""

import datetime as dt
import ipaddress
import sys
import time
from contextlib import closing, suppress
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.x509.oid import NameOID

from benchmarks import filled
from benchmarks.harness import Line, Lines, NotHere, main
from benchmarks.members import a_member, address
from sigla.cache import servers as cache_servers
from sigla.cache.member import MemberFailed
from sigla.cache.members import member
from sigla.cache.servers import CacheServer

KEYS = [f"default:_:{number:010}" for number in range(50)]
BODY = b"x" * 800
KEY, CHAIN = "key.pem", "chain.pem"


def lines(*, quick: bool = False) -> Lines:
    connections, questions = (20, 200) if quick else (500, 20_000)
    with filled.workspace() as path:
        chain = _certified(path)
        port = cache_servers.free_port()
        with a_member() as plain, a_member("valkey", *_with_tls(path, port), port=port) as secured:
            ways = (secured, f"valkeys://127.0.0.1:{port}?ca={chain}"), (plain, address(plain))
            opened = [_connections(server, where, connections) for server, where in ways]
            asked = [_questions(server, where, questions) for server, where in ways]
    yield Line(
        "a new connection with TLS and its first question, of a member", opened[0], "s", opened[1], "without TLS"
    )
    yield Line("a question with TLS, of a member", asked[0], "s", asked[1], "without TLS")


def _connections(server: CacheServer, where: str, count: int) -> float:
    """Seconds of the server's processor for one connection, on which one key is claimed."""
    before = _cpu(server)
    for _ in range(count):
        _, asked = member(where, token=lambda _user, _group: "")
        # Who is kept waiting by this machine's other work has cost the server what the others do.
        with closing(asked), suppress(MemberFailed):
            asked.claim(KEYS[:1], BODY, lasts_ms=600_000)
    return (_cpu(server) - before) / count


def _questions(server: CacheServer, where: str, count: int) -> float:
    """Seconds of the server's processor for a key that it has, claimed on an open connection."""
    _, asked = member(where, token=lambda _user, _group: "")
    with closing(asked):
        before = _cpu(server)
        for number in range(count):
            with suppress(MemberFailed):
                asked.claim([KEYS[number % len(KEYS)]], BODY, lasts_ms=600_000)
        return (_cpu(server) - before) / count


def _cpu(server: CacheServer) -> float:
    if sys.platform != "linux":
        raise NotHere("only Linux tells the processor time of another process")
    # The clock of another process (clock_getcpuclockid).
    return time.clock_gettime(~server.pid << 3 | 2)


def _with_tls(path: Path, port: int) -> list[str]:
    files = ["--tls-cert-file", f"{path / CHAIN}", "--tls-key-file", f"{path / KEY}"]
    return ["--port", "0", "--tls-port", f"{port}", *files, "--tls-auth-clients", "no"]


def _certified(path: Path) -> Path:
    """Makes a key and a certificate of the loopback; where that is."""
    key = rsa.generate_private_key(65_537, 2_048)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "a member on loopback")])
    now = dt.datetime.now(dt.UTC)
    builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    builder = builder.not_valid_before(now - dt.timedelta(days=1)).not_valid_after(now + dt.timedelta(days=1))
    address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    builder = builder.add_extension(x509.SubjectAlternativeName([address]), critical=False)
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    plain = serialization.NoEncryption()
    (path / KEY).write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain),
    )
    certificate = builder.sign(key, hashes.SHA256())
    (path / CHAIN).write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    return path / CHAIN


if __name__ == "__main__":
    main(lines, __doc__)
