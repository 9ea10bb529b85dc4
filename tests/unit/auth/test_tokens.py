"""A token, from the header to a principal."""

import base64
import json
import threading
from collections.abc import Callable
from typing import Any

import pytest

from sigla.auth.credentials import Slow
from sigla.auth.permissions import READ, WRITE
from sigla.auth.tokens import issuers
from sigla.auth.tokens.bearer import BearerTokens
from sigla.auth.tokens.key_sets import KeySet, parse
from sigla.auth.tokens.presented import LONGEST, TokenRefused
from sigla.auth.tokens.published import AGAIN_MS, AT_ONCE, KEPT_MS, RETRY_MS, Manner, Published
from sigla.auth.tokens.signatures import SMALL_ORDER
from sigla.auth.tokens.signatures import _opened as opened
from sigla.errors import IssuerSilent
from sigla.model import Subject
from tests.build import NOW, FixedClock
from tests.issuer import SIGNS, Issuer


class Source:
    """What an issuer publishes, without a way there. silent: why it is not told."""

    def __init__(self, issuer: Issuer, clock: FixedClock) -> None:
        self.issuer, self.clock = issuer, clock
        self.reads = 0
        self.silent = ""

    def read(self, _: issuers.Issuer) -> KeySet:
        self.reads += 1
        if self.silent:
            raise IssuerSilent(self.silent)
        return KeySet(parse(json.dumps(self.issuer.jwks).encode()), self.clock.now())


class World:
    """An issuer, and a registry that believes it."""

    def __init__(self, *rows: dict[str, Any], manner: Manner = AT_ONCE, waits: bool = False) -> None:
        self.issuer, self.clock = Issuer(), FixedClock()
        self.source = Source(self.issuer, self.clock)
        self.silences: list[str] = []
        known = issuers.read(json.dumps([self.issuer.setting(*rows)]))
        self.published = Published(
            known[0], self.source, self.clock, manner, tell=lambda _, why: self.silences.append(str(why))
        )
        self.tokens = BearerTokens(known, {self.issuer.url: self.published}, self.clock, waits=waits)

    def ask(self, token: str) -> Any:
        return self.tokens(f"Bearer {token}".encode())

    def token(self, kid: str = "rsa", **changed: Any) -> str:
        return self.issuer.token(kid, self.clock.now() / 1000, **changed)


@pytest.fixture
def world() -> World:
    return World()


@pytest.mark.parametrize("kid", SIGNS)
def test_a_token_of_a_known_issuer_is_accepted_whatever_its_key_is_made_of(world: World, kid: str) -> None:
    """RSA, both curves and Edwards: what Okta, Entra, Keycloak, Cognito and IAM sign with."""
    found = world.ask(world.token(kid))
    assert (found.name, found.may, found.reach) == ("etl@issuer.test", (READ,), None)


def test_the_first_row_of_the_map_that_holds_says_what_a_token_may() -> None:
    """As an operator reads it: from the top."""
    rows = (
        {"when": {"groups": "data-eng", "tenant": "a"}, "role": "admin", "subjects": ["a-"]},
        {"when": {"groups": "data-eng"}, "role": "writer", "subjects": ["orders-", ":.team:"]},
        {"when": {"sub": "arn:aws:iam::1:role/*"}, "role": "reader"},
    )
    world = World(*rows)
    found = world.ask(world.token(groups=["ops", "data-eng"]))
    assert found.may == (READ, WRITE)
    assert [found.reach.includes(Subject(".", name)) for name in ("orders-value", "a-one")] == [True, False]
    assert world.ask(world.token(groups="data-eng", tenant="a")).reach.includes(Subject(".", "a-one"))
    assert world.ask(world.token(sub="arn:aws:iam::1:role/etl")).may == (READ,)
    assert world.ask(world.token(sub="arn:aws:iam::2:role/etl")).may == (), "valid, and good for nothing"


@pytest.mark.parametrize(
    "claim, wanted, holds",
    [
        ("eng", "eng", True),
        ("eng", "en", False),
        ("eng", "en*", True),
        ("ENG", "eng", False),
        (["ops", "eng"], "eng", True),
        (["ops", "engine"], "eng", False),
        (["ops", "engine"], "eng*", True),
        ([["eng"]], "eng", False),
        ([], "*", False),
        ("eng ops", "ops", False),
        (1, "1", False),
        (True, "*", False),
        (None, "*", False),
        ({"eng": 1}, "eng", False),
    ],
)
def test_a_claim_is_a_text_that_is_equal_or_a_list_that_has_it(claim: object, wanted: str, holds: bool) -> None:
    """Nothing is converted: what an issuer means by a number is not known here."""
    assert (issuers.Row({"c": wanted}, "reader").unmet({"c": claim}) == "") is holds


def test_scopes_are_words_in_one_text() -> None:
    """RFC 8693 says so, and Cognito has nothing else to tell machines apart by."""
    row = issuers.Row({"scope": "sigla/read"}, "reader")
    assert not row.unmet({"scope": "openid sigla/read"})
    assert row.unmet({"scope": "sigla/readwrite"}) == "scope"


def test_a_verified_token_is_remembered_until_it_expires_and_for_five_minutes_at_most(world: World) -> None:
    """A signature costs a tenth of a millisecond; a key that was withdrawn must not be good for long."""
    short, long = world.token(exp=NOW // 1000 + 60), world.token()
    for token in (short, long):
        assert world.ask(token)
    world.issuer.generation, world.source.silent = 1, ""
    world.clock.sleep(59)
    assert world.ask(short) is world.ask(short) is not None
    world.clock.sleep(40)
    assert world.ask(short) is None, "beyond its end and the leeway"
    assert world.ask(long)
    world.clock.sleep(300)
    world.published._known = None  # as after a restart
    assert world.ask(long) is None, "its key is withdrawn"


def test_what_was_refused_is_not_remembered(world: World) -> None:
    """A token that comes too early is good a minute later."""
    early = world.token(nbf=NOW // 1000 + 60)
    assert world.ask(early) is None
    world.clock.sleep(60)
    assert world.ask(early)


def test_an_unknown_kid_asks_again_though_not_more_often_than_every_30_seconds(world: World) -> None:
    """Keys rotate at any moment; everybody can invent a kid."""
    assert world.ask(world.token())
    assert world.source.reads == 1
    world.clock.sleep(AGAIN_MS / 1000)
    world.issuer.kids.append("rsa-2")
    assert world.ask(world.token("rsa-2")), "a new key is known with its first token"
    for at in range(20):
        assert world.ask(world.token(f"rsa-{at + 3}")) is None
    assert world.source.reads == 2
    world.clock.sleep(AGAIN_MS / 1000)
    assert world.ask(world.token("rsa-9")) is None
    assert world.source.reads == 3


def test_keys_are_believed_for_a_day_while_an_issuer_is_silent(world: World) -> None:
    """Its outage is not ours; and what it has withdrawn meanwhile is good for a day at most."""
    assert world.ask(world.token())
    world.source.silent = "it is away"
    world.clock.sleep(KEPT_MS / 1000 - 1)
    assert world.ask(world.token())
    assert world.silences == ["it is away"]
    world.clock.sleep(1)
    with pytest.raises(IssuerSilent, match="it is away"):
        world.ask(world.token())
    world.source.silent = ""
    with pytest.raises(IssuerSilent):
        world.ask(world.token())
    world.clock.sleep(RETRY_MS / 1000)
    assert world.ask(world.token()), "it is asked again a few seconds later"


def test_who_knows_a_key_does_not_wait_for_its_issuer() -> None:
    """Once an hour keys are read again, beside the requests."""
    begun: list[Callable[[], None]] = []
    world = World(manner=Manner(lambda reading: begun.append(reading) if begun else reading(), 3_600_000))
    assert world.ask(world.token())
    begun.append(lambda: None)  # from here on nothing that is begun ends
    world.clock.sleep(3_600)
    assert world.ask(world.token())
    assert world.ask(world.token(sub="other"))
    assert len(begun) == 2, "one reading at a time"


def test_many_who_need_the_same_keys_wait_for_one_reading() -> None:
    """A start of a thousand clients asks an issuer once."""
    world = World(waits=True)
    may_end, first = threading.Event(), world.source.read

    def slowly(issuer: issuers.Issuer) -> KeySet:
        may_end.wait(10)
        return first(issuer)

    world.source.read = slowly  # type: ignore[assignment, method-assign]  # an issuer of this test alone
    world.published._manner = Manner(lambda reading: threading.Thread(target=reading).start(), 1)
    answers: list[Any] = []

    def one(number: int) -> None:
        try:
            answers.append(world.ask(world.token(sub=f"client-{number}")))
        except Slow as slow:
            answers.append(slow.answer())

    crowd = [threading.Thread(target=one, args=(number,)) for number in range(20)]
    for thread in crowd:
        thread.start()
    may_end.set()
    for thread in crowd:
        thread.join()
    assert len([each for each in answers if each]) == 20
    assert world.source.reads == 1


def test_a_key_signs_with_the_algorithms_of_its_type_alone(world: World) -> None:
    """Its alg and its use narrow it further."""
    jwks = world.issuer.jwks["keys"]
    only = {**jwks[0], "alg": "RS512"}
    encrypts = {**jwks[1], "use": "enc"}
    wraps = {**jwks[2], "key_ops": ["wrapKey"]}
    symmetric = {"kty": "oct", "k": "c2VjcmV0", "kid": "oct"}
    nameless = {name: value for name, value in jwks[3].items() if name != "kid"}
    kept = parse(json.dumps({"keys": [only, encrypts, wraps, symmetric, nameless, jwks[4], "no key", 1]}).encode())
    assert {kid: [key.algorithms for key in keys] for kid, keys in kept.items()} == {
        "rsa": [("RS512",)],
        "ed": [("EdDSA",)],
    }


@pytest.mark.parametrize(
    "document, why",
    [
        (b"[]", "list of keys"),
        (b'{"keys": {}}', "list of keys"),
        (b"{", "not JSON"),
        (b'{"keys": []}', "none of its keys"),
        (json.dumps({"keys": [{}] * 101}).encode(), "101 keys"),
        (b" " * (2**20 + 1), "more than 1048576 bytes"),
        (b"[" * 2**20, "not JSON"),
    ],
)
def test_what_is_no_set_of_keys_is_told(document: bytes, why: str) -> None:
    """An operator reads it in the log, beside the issuer's name."""
    with pytest.raises(IssuerSilent, match=why):
        parse(document)


def test_a_short_rsa_key_is_no_key(world: World) -> None:
    """1024 bits have been within reach of the rich for years."""
    from cryptography.hazmat.primitives.asymmetric import rsa
    from jwt.algorithms import RSAAlgorithm

    short = rsa.generate_private_key(65537, 1024)
    jwk = {**json.loads(RSAAlgorithm.to_jwk(short.public_key())), "kid": "rsa"}
    world.source.read = lambda _: KeySet(parse(json.dumps({"keys": [jwk]}).encode()), NOW)  # type: ignore[method-assign]  # as above
    import jwt

    with pytest.warns(jwt.warnings.InsecureKeyLengthWarning):
        token = jwt.encode(world.issuer.claims(), short, "RS256", headers={"kid": "rsa"})
    assert world.ask(token) is None


def test_an_rsa_key_with_the_exponent_3_is_no_key(world: World) -> None:
    """It signs, but such signatures were forged wherever they were read less strictly. No issuer needs such a key."""
    from cryptography.hazmat.primitives.asymmetric import rsa

    assert [world.ask(signed_by(world, rsa.generate_private_key(e, 2048))) is not None for e in (65537, 3)] == [
        True,
        False,
    ]


def signed_by(world: World, key: Any) -> str:
    """A token of a key that the issuer publishes from now on."""
    import jwt
    from jwt.algorithms import RSAAlgorithm

    jwk = {**json.loads(RSAAlgorithm.to_jwk(key.public_key())), "kid": f"e={key.public_key().public_numbers().e}"}
    world.source.read = lambda _: KeySet(parse(json.dumps({"keys": [jwk]}).encode()), world.clock.now())  # type: ignore[method-assign]  # as above
    world.clock.time += KEPT_MS
    claims = {**world.issuer.claims(world.clock.now() / 1000)}
    return jwt.encode(claims, key, "RS256", headers={"kid": jwk["kid"]})


MODULUS = 2**2047 + 2**1024 + 13  # of 2048 bits, and of nothing below 752
OF_3 = 3 * (2**2047 // 3 | 1)


@pytest.mark.parametrize(
    "n, e",
    [
        pytest.param(MODULUS, 1, id="the signature is the message"),
        pytest.param(MODULUS, 2, id="even"),
        pytest.param(MODULUS, 3, id="3"),
        pytest.param(MODULUS, 2**16 - 1, id="small"),
        pytest.param(MODULUS, 2**256 + 1, id="huge"),
        pytest.param(MODULUS, MODULUS - 2, id="as long as the modulus"),
        pytest.param(OF_3, 65537, id="a modulus with a small factor"),
        pytest.param(MODULUS - 1, 65537, id="an even modulus"),
        pytest.param(2**8193 - 1, 65537, id="a modulus that takes long"),
        pytest.param(2**512 - 569, 65537, id="a short modulus"),
        pytest.param(0, 65537, id="zero"),
    ],
)
def test_a_weak_rsa_key_is_no_key(n: int, e: int) -> None:
    """Whatever the library lets pass, now or later: nothing is verified with it."""
    from jwt import PyJWTError

    def jwk(n: int, e: int) -> frozenset[tuple[str, str]]:
        members = {
            name: encoded(each.to_bytes(max(each.bit_length() + 7, 8) // 8)) for name, each in (("n", n), ("e", e))
        }
        return frozenset({"kty": "RSA", **members}.items())

    assert opened(jwk(MODULUS, 65537), "RS256").key_type == "RSA"
    with pytest.raises((PyJWTError, ValueError)):
        opened(jwk(n, e), "RS256")


@pytest.mark.parametrize("x, y", [(1, 1), (0, 0), (2**256 - 1, 1)], ids=["beside it", "infinity", "no coordinate"])
def test_a_point_that_is_not_on_the_curve_is_no_key(x: int, y: int) -> None:
    from jwt import PyJWTError

    members = {"x": encoded(x.to_bytes(32)), "y": encoded(y.to_bytes(32))}
    with pytest.raises((PyJWTError, ValueError)):
        opened(frozenset({"kty": "EC", "crv": "P-256", **members}.items()), "ES256")


@pytest.mark.parametrize("sign", [0, 0x80])
@pytest.mark.parametrize("point", sorted(SMALL_ORDER))
def test_a_key_for_which_anybody_can_sign_is_no_key(world: World, point: bytes, sign: int) -> None:
    """A point of small order: with the neutral element and zero as a signature, one message in eight is signed."""
    spelled = point[:-1] + bytes([point[-1] | sign])
    jwk = {"kty": "OKP", "crv": "Ed25519", "x": encoded(spelled), "kid": "ed"}
    world.source.read = lambda _: KeySet(parse(json.dumps({"keys": [jwk]}).encode()), NOW)  # type: ignore[method-assign]  # as above
    signature = encoded(b"\x01" + bytes(63))
    head = encoded(json.dumps({"alg": "EdDSA", "kid": "ed"}).encode())
    forged = (
        f"{head}.{encoded(json.dumps({**world.issuer.claims(), 'n': n}).encode())}.{signature}" for n in range(20)
    )
    assert [world.ask(token) for token in forged] == [None] * 20


def encoded(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def test_a_header_of_another_kind_is_no_token(world: World) -> None:
    good = world.token()
    assert [
        world.tokens(header)
        for header in (
            None,
            b"",
            b"Bearer",
            b"Bearer ",
            b"Basic " + good.encode(),
            good.encode(),
            b"Bearer\t" + good.encode(),
            b"Bearer " + b"a" * (LONGEST + 1),
        )
    ] == [None] * 8
    assert world.tokens(b"bearer   " + good.encode() + b" "), "schemes are read in any case"


def test_a_token_says_why_it_is_not_accepted(world: World) -> None:
    """To operators; clients are told Unauthorized."""
    with pytest.raises(TokenRefused, match="Its aud is 'other'; it must be sigla"):
        world.tokens.verified(world.token(aud="other").encode())
    verified = world.tokens.verified(world.token().encode())
    assert (verified.at, verified.issuer.issuer, verified.principal.name) == (0, world.issuer.url, "etl@issuer.test")
