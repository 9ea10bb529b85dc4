"""What TLS costs `sigla serve`: reads by id on kept connections, new connections, and the start, with and without.

Servers with and without TLS run side by side and are asked in turns. Clients keep their connections, as all of Kafka's
do: reads on kept ones are what a registry is asked day by day. A new connection is what a crowd of clients costs that
restarts; the key of its certificate is one of an elliptic curve (P-256), or one of RSA (2048 bits).

It may mislead: client and server share the machine, and the client encrypts as well.
"""

import ssl
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from benchmarks import filled
from benchmarks.harness import Goal, Line, Lines, Server, ask, best_of, main, serving, sigla
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
            plain = open_servers.enter_context(serving(sigla("--memory")))
            load(plain.port, [REGISTER], connections=1)
            servers = {}
            for name, pair in pairs.items():
                server = serving(sigla("--memory", *pair), authority=str(authority.file))
                servers[name] = open_servers.enter_context(server)
                load(servers[name].port, [REGISTER], connections=1, authority=authority.file)
            yield from _reads(servers["P-256"], plain, authority.file, rounds, requests)
            yield from _connections(servers, plain, authority.file, rounds, connections)


def _starts(pair: tuple[str, ...], authority: Path, rounds: int) -> Lines:
    def starting(*options: str, authority: str = "") -> Callable[[], float]:
        def work() -> float:
            with serving(sigla("--memory", *options), authority=authority) as server:
                return server.first_answer

        return work

    secured, plain = best_of(rounds, starting(*pair, authority=str(authority)), starting())
    yield Line("start-up to first answer, TLS", secured, "s", plain, "plain HTTP", Goal(1.2))


def _reads(secured: Server, plain: Server, authority: Path, rounds: int, requests: int) -> Lines:
    asked = [getting("/schemas/ids/1")] * requests

    def reading(server: Server, authority: Path | None) -> Callable[[], float]:
        return lambda: load(server.port, asked, connections=16, authority=authority).seconds / requests

    works = [reading(secured, authority), reading(plain, None)]
    took, least = best_of(rounds, *works)
    what = "reads by id on 16 kept connections, TLS"
    yield Line(what, 1 / took, "/s", 1 / least, "plain HTTP", Goal(0.5, least=True))
    figures = best_of(rounds, *(_processor_time(*each, requests) for each in zip((secured, plain), works, strict=True)))
    yield Line("the server's processor time of such a read, TLS", figures[0], "s", figures[1], "plain HTTP", Goal(1.6))


def _connections(servers: dict[str, Server], plain: Server, authority: Path, rounds: int, connections: int) -> Lines:
    def connecting(server: Server, *, secured: bool) -> Callable[[], float]:
        trusting = ssl.create_default_context(cafile=authority) if secured else None

        def work() -> float:
            for _ in range(connections):
                ask(server.port, "GET", "/schemas/ids/1", trusting=trusting)
            return 0.0

        return _processor_time(server, work, connections)

    works = [connecting(server, secured=True) for server in servers.values()]
    *figures, least = best_of(rounds, *works, connecting(plain, secured=False))
    for name, figure in zip(servers, figures, strict=True):
        what = f"the server's processor time of a connection and a read, {name}"
        yield Line(what, figure, "s", least, "plain HTTP")


def _processor_time(server: Server, work: Callable[[], float], times: int) -> Callable[[], float]:
    """The server's own, for each of what the work does so many times: whatever else the machine does."""

    def measured() -> float:
        before = server.cpu()
        work()
        return (server.cpu() - before) / times

    return measured


if __name__ == "__main__":
    main(lines, __doc__)
