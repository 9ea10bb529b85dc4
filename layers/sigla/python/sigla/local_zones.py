"""The zones of one machine, put together: for each a ring of two members, and a few instances that share it.

In AWS a zone is a function with its environments, and a few caches; here it is registries beside each other in one
process, over one store, and cache servers beside it, or caches within it without such servers.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from string import ascii_lowercase

from sigla.cache import servers as cache_servers
from sigla.cache.counts import Counts
from sigla.cache.member import Member, MemberFailed
from sigla.cache.members import member
from sigla.cache.members.local import LocalMember
from sigla.cache.ring import Ring
from sigla.cache.servers import ServerMissing
from sigla.ports.zones import Zones as Directory
from sigla.registry import Registry
from sigla.stores.clock import SystemClock
from sigla.stores.sqlite.zones import EmbeddedZones
from sigla.web.console.live import Watched
from sigla.web.local.heartbeat import heartbeat
from sigla.web.local.zones import LocalZone, Zones

INSTANCES, MEMBERS = 4, 2
"""How many of them each zone has."""

Instance = tuple[Registry, Counts]
Connect = Callable[[], Mapping[str, Member]]
"""Members by name; each call yields other connections, but the same caches."""


@contextmanager
def played(urls: Sequence[str], build: Callable[[Ring, Directory], Instance]) -> Iterator[Zones]:
    """A zone for each of the addresses, told in the directory.

    build: makes an instance, which reads through a ring and tells of the zones in a directory.
    """
    clock, directory = SystemClock(), EmbeddedZones()
    with ExitStack() as opened:
        connects, made_of = _ring_members(opened, len(urls))

        def ring(connect: Connect) -> Ring:
            return opened.enter_context(closing(Ring(connect(), clock)))

        def zone(at: int, url: str, connect: Connect) -> LocalZone:
            rings = [ring(connect) for _ in range(INSTANCES)]
            registries, counts = zip(*(build(each, directory) for each in rings), strict=True)
            watched = Watched(
                f"local-az{at + 1}",
                f"local-{ascii_lowercase[at]}",
                url,
                counts,
                failures=lambda: sum(each.failures for each in rings),
                probe=ring(connect).probe,
            )
            return LocalZone(registries, watched)

        made = [zone(at, url, connect) for at, (url, connect) in enumerate(zip(urls, connects, strict=True))]

        def beat() -> None:
            for each in made:
                directory.beat(each.watched.beat(clock.now()))

        with heartbeat(beat):
            yield Zones(made, made_of)


def _ring_members(opened: ExitStack, count: int) -> tuple[list[Connect], str]:
    """For so many zones what connects to the members of their rings; and what those are, in words."""
    try:
        with ExitStack() as started:
            servers = [[_server(started) for _ in range(MEMBERS)] for _ in range(count)]
            opened.push(started.pop_all())
    except (ServerMissing, MemberFailed, ImportError) as problem:
        return [_caches_of(number) for number in range(1, count + 1)], f"caches within this process ({problem})"
    name = cache_servers.program("valkey").rpartition("/")[2]
    return [_beside(addresses) for addresses in servers], f"{name}, {MEMBERS} processes for each zone"


def _server(started: ExitStack) -> str:
    """The address of one. Raises Missing, or MemberFailed if it is too old for us."""
    server = cache_servers.start("valkey")
    started.callback(server.stop)
    address = f"valkey://127.0.0.1:{server.port}"
    with closing(_connected(address)[1]) as trial:
        _try(trial)
    return address


def _try(trial: Member, times: int = 5) -> None:
    """More than once: on a busy machine a member may be late, which does not make it useless."""
    try:
        trial.claim(["trial"], b"", lasts_ms=1)
    except MemberFailed:
        if times == 1:
            raise
        _try(trial, times - 1)


def _beside(addresses: Sequence[str]) -> Connect:
    return lambda: dict(map(_connected, addresses))


def _caches_of(zone: int) -> Connect:
    clock = SystemClock()
    caches = {f"cache {number} of zone {zone}": LocalMember(clock) for number in range(1, MEMBERS + 1)}
    return lambda: caches


def _connected(address: str) -> tuple[str, Member]:
    return member(address, token=_no_token)


def _no_token(_user: str, _group: str) -> str:
    """Members ask for no credentials."""
    return ""
