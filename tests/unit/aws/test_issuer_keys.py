"""The keys of issuers in the bucket: who puts them there, and who reads them."""

import json
from collections.abc import Iterator
from contextlib import closing

import pytest

from sigla import keys
from sigla.auth.tokens import issuers
from sigla.auth.tokens.bearer import BearerTokens
from sigla.auth.tokens.published import AT_ONCE, KEPT_MS, Published
from sigla.errors import IssuerSilent
from sigla.functions.issuers import IssuersSilent, IssuerTurns
from sigla.stores.s3.issuer_keys import RENEWED_MS, AwsIssuerKeys
from sigla.stores.s3.objects import Objects
from tests.build import FixedClock
from tests.contract.engines import BUCKET, in_process
from tests.issuer import Issuer


class World:
    """A bucket, two issuers, the function that reads them, and a registry that reads the bucket."""

    def __init__(self, objects: Objects) -> None:
        self.clock, self.objects = FixedClock(), objects
        self.first, self.second = Issuer("https://first.test"), Issuer("https://second.test")
        self.known = issuers.read(json.dumps([self.first.setting(), self.second.setting()]))
        self.kept = AwsIssuerKeys(objects)
        self.lines: list[object] = []
        self.silent: set[str] = set()
        self.turn = IssuerTurns(self.known, self.document, self.kept.put, self.clock, tell=self.lines.append)
        published = {each.issuer: Published(each, self.kept, self.clock, AT_ONCE) for each in self.known}
        self.tokens = BearerTokens(self.known, published, self.clock, waits=False)

    def document(self, issuer: issuers.Issuer) -> bytes:
        """What an issuer publishes; one that is silent is raised, one whose name says so answers nonsense."""
        if issuer.issuer in self.silent:
            raise IssuerSilent("it does not answer")
        found = self.first if issuer.issuer == self.first.url else self.second
        return json.dumps(found.jwks).encode()

    def accepts(self, issuer: Issuer, kid: str = "ec") -> bool:
        token = issuer.token(kid, self.clock.now() / 1000)
        return self.tokens(f"Bearer {token}".encode()) is not None


@pytest.fixture
def world() -> Iterator[World]:
    with in_process() as clients, closing(Objects(clients.s3, BUCKET, clock=FixedClock())) as objects:
        yield World(objects)


def test_functions_read_what_one_of_them_has_put_into_the_bucket(world: World) -> None:
    """Zones have no way to an issuer."""
    with pytest.raises(IssuerSilent, match="not put them into the bucket yet"):
        world.accepts(world.first)
    assert world.turn({}) == {"event": "issuers", "issuers": 2, "written": 2, "failing": 0}
    world.clock.sleep(5)
    assert world.accepts(world.first)
    assert world.accepts(world.second)


def test_keys_that_have_not_changed_are_written_again_every_six_hours(world: World) -> None:
    """Each write keeps a version; whoever reads them believes them for a day."""
    world.turn({})
    world.clock.sleep(RENEWED_MS / 1000 - 1)
    assert world.turn({})["written"] == 0
    world.clock.sleep(1)
    assert world.turn({})["written"] == 2
    world.first.kids.append("ec-2")
    assert world.turn({})["written"] == 1
    assert world.accepts(world.first, "ec-2")


def test_an_issuer_that_fails_keeps_its_keys_and_holds_up_no_other(world: World) -> None:
    """They go on for a day; the alarm tells of it long before."""
    world.turn({})
    assert world.accepts(world.first)
    world.silent = {world.first.url}
    world.second.kids.append("ec-2")
    with pytest.raises(IssuersSilent, match="1 of 2 issuers"):
        world.turn({})
    assert world.lines[-2:] == [
        {
            "event": "issuer-silent",
            "issuer": "https://first.test",
            "message": "The keys of the issuer https://first.test cannot be read: it does not answer.",
        },
        {"event": "issuers", "issuers": 2, "written": 1, "failing": 1},
    ]
    world.clock.sleep(KEPT_MS / 1000 - 1)
    assert world.accepts(world.first)
    world.clock.sleep(1)
    with pytest.raises(IssuerSilent):
        world.accepts(world.first)


@pytest.mark.parametrize("nonsense", [b"<html>", b'{"keys": []}', b'{"keys": [{"kty": "oct", "kid": "a", "k": "aa"}]}'])
def test_nonsense_takes_the_place_of_no_key(world: World, nonsense: bytes) -> None:
    """What an issuer's maintenance page says is not what it signs with."""
    world.turn({})
    turn = IssuerTurns(world.known, lambda _: nonsense, world.kept.put, world.clock, tell=world.lines.append)
    with pytest.raises(IssuersSilent):
        turn({})
    assert world.accepts(world.first)


@pytest.mark.parametrize(
    "content, why",
    [
        (b"{", "is damaged"),
        (b"[]", "is damaged"),
        (b'{"form": 1, "issuer": "https://other.test", "read": 1, "jwks": {}}', "is damaged"),
        (b'{"form": 1, "issuer": "https://first.test", "read": "now", "jwks": {}}', "is damaged"),
        (b'{"form": 2, "issuer": "https://first.test"}', "has form 2, written by a newer release"),
    ],
)
def test_what_is_damaged_or_newer_is_told_and_not_guessed(world: World, content: bytes, why: str) -> None:
    """And the next turn puts the keys there again."""
    name = keys.issuer_keys_object("default", world.first.url)
    assert world.objects.create(name, content)
    with pytest.raises(IssuerSilent, match=why):
        world.accepts(world.first)
    world.turn({})
    world.clock.sleep(5)
    assert world.accepts(world.first)
