"""What TLS costs `sigla serve`: reads by id on kept connections, new connections, and the start, with and without.

Servers with and without TLS run side by side and are asked in turns. Clients keep their connections, as all of Kafka's
do, so the first line is what a registry is asked day by day; a new connection is what a crowd of clients costs that
restarts. The certificate has a key of an elliptic curve (P-256), and one of RSA (2048 bits) for comparison.

It may mislead: client and server share the machine, and the client encrypts as well.
"""

import ssl
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from time import perf_counter

from benchmarks import filled
from benchmarks.harness import Goal, Line, Lines, ask, best_of, main, serving, sigla
from benchmarks.load import getting, load, posting
from tests.certificates import Authority, elliptic_key, rsa_key

REGISTER = posting("/subjects/orders/versions", '{"schema": "\\"string\\""}')


def lines(*, quick: bool = False) -> Lines:
    rounds, requests, connections = (1, 20, 5) if quick else (5, 5_000, 200)
    with filled.workspace() as path:
        authority = Authority.made(path)
        pairs = {}
        for name, key in (("P-256", elliptic_key()), ("RSA", rsa_key())):
            (path / name).mkdir()
            files = authority.pair(path / name, key=key)
            pairs[name] = ("--tls-cert", str(files.cert), "--tls-key", str(files.key))
        yield from _starts(pairs["P-256"], authority.file, rounds)
        with ExitStack() as open_servers:
            plain = open_servers.enter_context(serving(sigla("--memory"))).port
            load(plain, [REGISTER], connections=1)
            ports = {}
            for name, pair in pairs.items():
                server = serving(sigla("--memory", *pair), authority=str(authority.file))
                ports[name] = open_servers.enter_context(server).port
                load(ports[name], [REGISTER], connections=1, authority=authority.file)
            yield from _reads(ports["P-256"], plain, authority.file, rounds, requests)
            yield from _connections(ports, plain, authority.file, rounds, connections)


def _starts(pair: tuple[str, ...], authority: Path, rounds: int) -> Lines:
    def starting(*options: str, authority: str = "") -> Callable[[], float]:
        def work() -> float:
            with serving(sigla("--memory", *options), authority=authority) as server:
                return server.first_answer

        return work

    secured, plain = best_of(rounds, starting(*pair, authority=str(authority)), starting())
    yield Line("start-up to first answer, TLS", secured, "s", plain, "plain HTTP", Goal(1.2))


def _reads(port: int, plain: int, authority: Path, rounds: int, requests: int) -> Lines:
    asked = [getting("/schemas/ids/1")] * requests

    def reading(port: int, authority: Path | None) -> Callable[[], float]:
        return lambda: load(port, asked, connections=16, authority=authority).seconds / requests

    secured, least = best_of(rounds, reading(port, authority), reading(plain, None))
    what = "reads by id on 16 kept connections, TLS"
    yield Line(what, 1 / secured, "/s", 1 / least, "plain HTTP", Goal(0.6, least=True))


def _connections(ports: dict[str, int], plain: int, authority: Path, rounds: int, connections: int) -> Lines:
    def connecting(port: int, *, secured: bool) -> Callable[[], float]:
        trusting = ssl.create_default_context(cafile=authority) if secured else None

        def work() -> float:
            begun = perf_counter()
            for _ in range(connections):
                ask(port, "GET", "/schemas/ids/1", trusting=trusting)
            return (perf_counter() - begun) / connections

        return work

    works = [connecting(port, secured=True) for port in ports.values()]
    *figures, least = best_of(rounds, *works, connecting(plain, secured=False))
    for name, figure in zip(ports, figures, strict=True):
        yield Line(f"a new connection and one read, TLS with a key of {name}", figure, "s", least, "plain HTTP")


if __name__ == "__main__":
    main(lines, __doc__)
