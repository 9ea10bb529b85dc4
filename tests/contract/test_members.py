"""What every member of a ring promises: one suite for caches in this process and for real ones."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import count
from threading import Barrier

import pytest
from valkey import Valkey

from sigla import keys
from sigla.cache.member import Member, Swap
from sigla.cache.members import member as member_of
from sigla.cache.members.local import LocalMember
from sigla.cache.servers import free_port
from sigla.model import BodyKey, SchemaId
from sigla.stores.clock import SystemClock
from tests.caches import Certificate, a_cache, a_certificate, with_tls, with_users
from tests.waiting import eventually

pytestmark = pytest.mark.process

LONG = 600_000
"""In ms: it does not end while a test runs."""

MIB = 2**20
TOKEN = "a token of fifteen minutes"
EVERY_BYTE = bytes(range(256)) + b"\r\nEND\r\nVALUE k 0 1\r\n$-1\r\n"

_numbers = count(1)


def a_member(address: str) -> Member:
    return member_of(address, token=lambda _user, _group: TOKEN)[1]


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    return a_certificate(tmp_path_factory.mktemp("certificate"))


@pytest.fixture(scope="module", params=["local", "valkey", "valkey of AWS", "memcached", "memcached with TLS"])
def member(
    request: pytest.FixtureRequest, certificate: Certificate, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Member]:
    """Of AWS: with TLS, and a user who may do no more than a zone's user may."""
    kind, _, manner = request.param.partition(" ")
    if kind == "local":
        yield LocalMember(SystemClock())
        return
    port = free_port()
    address = f"{kind}://127.0.0.1:{port}"
    arguments = []
    if manner:
        arguments += with_tls(kind, port, certificate)
        address = f"{kind}s://127.0.0.1:{port}?ca={certificate.chain}"
    if kind == "valkey" and manner:
        arguments += with_users(tmp_path_factory.mktemp("users"))
        address = address.replace("//", "//sigla@") + "&iam=a-group"
    with a_cache(kind, *arguments, port=port), closing(a_member(address)) as made:
        yield made


@pytest.fixture
def key() -> str:
    return a_key()


def a_key() -> str:
    """A key that was never used."""
    return keys.ring_key("default", BodyKey(".", SchemaId(next(_numbers))))


def stands(member: Member, key: str) -> bytes | None:
    """What stood there, by the only question there is; after it something does."""
    return member.claim([key], b"asked", lasts_ms=LONG)[0]


# --- what it keeps ---------------------------------------------------------------------------------------------------


def test_who_comes_first_has_the_claim_and_others_see_it(member: Member, key: str) -> None:
    """One of all that want a body reads it."""
    assert member.claim([key], b"mine", lasts_ms=LONG) == [None]
    assert member.claim([key], b"yours", lasts_ms=LONG) == [b"mine"]
    assert member.claim([key], b"mine", lasts_ms=LONG) == [b"mine"]


def test_whatever_stands_ends_in_its_own_time(member: Member) -> None:
    """And not when what stood there before would have, nor later because a reader looked: a claimer may have died."""
    claimed, swapped, put = a_key(), a_key(), a_key()
    member.put(swapped, b"lease", lasts_ms=LONG)
    member.put(put, b"body", lasts_ms=LONG)
    member.claim([claimed], b"short", lasts_ms=1)
    member.swap([Swap(swapped, b"lease", b"short")], lasts_ms=1)
    member.put(put, b"short", lasts_ms=1)
    for key in (claimed, swapped, put):
        eventually(lambda: member.claim([key], b"next", lasts_ms=LONG) == [None])  # noqa: B023 - called at once
    assert member.claim([claimed, swapped, put], b"-", lasts_ms=LONG) == [b"next"] * 3


def test_many_keys_are_asked_for_at_once(member: Member) -> None:
    """In the order of the question, whatever stands under each."""
    wanted = [a_key() for _ in range(50)]
    for number, name in enumerate(wanted):
        if number % 3:
            member.put(name, b"%d" % number, lasts_ms=LONG)
    expected = [b"%d" % number if number % 3 else None for number in range(50)]
    assert member.claim(wanted, b"mine", lasts_ms=LONG) == expected
    assert member.claim(wanted, b"yours", lasts_ms=LONG) == [each or b"mine" for each in expected]


def test_a_swap_needs_what_was_expected(member: Member) -> None:
    """Else nothing happens, and no caller is told."""
    same, other, nothing = a_key(), a_key(), a_key()
    member.put(same, b"lease", lasts_ms=LONG)
    member.put(other, b"another's lease", lasts_ms=LONG)
    member.swap([Swap(name, b"lease", b"body") for name in (same, other, nothing)], lasts_ms=LONG)
    assert [stands(member, name) for name in (same, other, nothing)] == [b"body", b"another's lease", None]


def test_of_many_swaps_one_wins(member: Member) -> None:
    """What a thread sees after its swap stays: no thread that had looked before puts another value over it."""
    threads = 16
    start = Barrier(threads)

    def swap_and_look(name: str, number: int) -> bytes | None:
        start.wait()
        member.swap([Swap(name, b"lease", b"%d" % number)], lasts_ms=LONG)
        return stands(member, name)

    with ThreadPoolExecutor(threads) as pool:
        for _ in range(20):
            name = a_key()
            member.put(name, b"lease", lasts_ms=LONG)
            seen = set(pool.map(swap_and_look, [name] * threads, range(threads)))
            assert len(seen) == 1
            assert seen != {b"lease"}


def test_of_many_claims_one_wins(member: Member) -> None:
    """And all others see whose it is."""
    threads = 16
    start = Barrier(threads)

    def claim(name: str, number: int) -> bytes | None:
        start.wait()
        return member.claim([name], b"%d" % number, lasts_ms=LONG)[0]

    with ThreadPoolExecutor(threads) as pool:
        for _ in range(20):
            name = a_key()
            answers = list(pool.map(claim, [name] * threads, range(threads)))
            winner = answers.index(None)
            assert [each for each in answers if each is not None] == [b"%d" % winner] * (threads - 1)


def test_put_does_not_ask_what_stands(member: Member, key: str) -> None:
    """It closes an entry, whoever is at it."""
    member.claim([key], b"lease", lasts_ms=LONG)
    member.put(key, b"closed", lasts_ms=LONG)
    assert stands(member, key) == b"closed"


@pytest.mark.parametrize("value", [EVERY_BYTE, b"", b"x" * MIB], ids=["every byte", "no byte", "1 MiB"])
def test_values_come_back_byte_for_byte(member: Member, key: str, value: bytes) -> None:
    """Also those that look like the protocol."""
    member.put(key, value, lasts_ms=LONG)
    assert stands(member, key) == value
    member.swap([Swap(key, value, value + b"!")], lasts_ms=LONG)
    assert stands(member, key) == value + b"!"


def test_keys_of_any_body_are_keys(member: Member) -> None:
    """Whatever a context and a registry are called."""
    contexts = (".", ".a b\r\nc", "." + "é" * 250)
    bodies = [BodyKey(context, SchemaId(7)) for context in contexts]
    spaces = [keys.ring_namespace(registry, bucket="bodies") for registry in ("default", "ä" * 60)]
    names = [keys.ring_key(space, body) for space in spaces for body in bodies]
    for name in names:
        member.put(name, name.encode(), lasts_ms=LONG)
    assert [stands(member, name) for name in names] == [name.encode() for name in names]


def test_it_answers(member: Member) -> None:
    """Or says so: a heartbeat asks."""
    member.ping()


def test_it_is_used_again_after_it_was_closed(member: Member, key: str) -> None:
    """A function closes its connections before it is frozen."""
    member.put(key, b"body", lasts_ms=LONG)
    member.close()
    assert stands(member, key) == b"body"


# --- what it is as a cache -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind, limit", [("valkey", ("--maxmemory", "8mb")), ("memcached", ("-m", "8"))])
def test_a_full_one_forgets(kind: str, limit: tuple[str, str]) -> None:
    """What is new is kept, something else goes, which does not count as a failure."""
    with a_cache(kind, *limit) as server, closing(a_member(f"{kind}://127.0.0.1:{server.port}")) as member:
        names = [a_key() for _ in range(200)]
        for name in names:
            member.put(name, b"x" * (MIB // 8), lasts_ms=LONG)
            assert stands(member, name)
        assert None in [member.claim([name], b"-", lasts_ms=LONG)[0] for name in names]


def test_a_value_that_does_not_fit_into_memcached_is_not_kept(key: str) -> None:
    """Nor what it should have taken the place of; the member is as well as before."""
    with (
        a_cache("memcached", "-I", "1m") as server,
        closing(a_member(f"memcached://127.0.0.1:{server.port}")) as member,
    ):
        member.put(key, b"lease", lasts_ms=LONG)
        member.swap([Swap(key, b"lease", b"x" * MIB)], lasts_ms=LONG)
        assert stands(member, key) is None
        member.put(key, b"x" * MIB, lasts_ms=LONG)
        assert stands(member, key) is None


def test_a_hit_in_valkey_writes_nothing_and_counts_as_a_use(key: str) -> None:
    """What is read stays, and a member that is read all day has nothing to copy elsewhere."""
    with (
        a_cache("valkey", "--maxmemory-policy", "allkeys-lfu") as server,
        closing(a_member(f"valkey://127.0.0.1:{server.port}")) as member,
        Valkey(port=server.port) as looking,
    ):
        member.put(key, b"body", lasts_ms=LONG)
        writes, uses = looking.info("persistence")["rdb_changes_since_last_save"], looking.object("freq", key)
        assert stands(member, key) == b"body"
        assert looking.info("persistence")["rdb_changes_since_last_save"] == writes
        assert looking.object("freq", key) > uses  # it counts logarithmically, by chance
