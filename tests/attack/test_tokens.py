"""Tokens that must not be accepted, one file each in `tokens/`; and none of them is answered as a fault of ours.

Each file says what is tried, how its token differs from a good one, and why it is refused:

    header, claims      members that replace those of a good token; null takes one away
    header_text …       the JSON itself, instead
    times               claims in seconds from now
    signed              `not`, or in another way than with the key that the kid names
    change              what is done to the finished token
    reason              words of what `sigla auth explain` says
"""

import hashlib
import hmac
import json
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from hypothesis import given
from hypothesis import strategies as st
from jwt.api_jws import PyJWS

from sigla.auth.tokens.presented import LONGEST, TokenRefused
from sigla.stores.sqlite.keys import EmbeddedKeys
from sigla.web import registries
from tests.build import NOW
from tests.issuer import SIGNS, private_key, public_jwk
from tests.unit.auth import pooled
from tests.unit.auth.guarded import DOORS, ISSUER, Guarded, guarded, tokens

CORPUS = {path.stem: json.loads(path.read_text()) for path in sorted((Path(__file__).parent / "tokens").glob("*.json"))}
KNOWN = {"attack", "header", "header_text", "claims", "claims_text", "times", "signed", "change", "reason"}
WHO = "admin"
"""Whose token would be good for everything."""


def b64(content: bytes) -> str:
    return urlsafe_b64encode(content).rstrip(b"=").decode()


def text_of(told: Mapping[str, Any], part: str, whole: Mapping[str, Any]) -> bytes:
    """The JSON of header or claims."""
    text = told.get(f"{part}_text")
    if text in ("utf-16", "latin-1"):
        return json.dumps({**whole, "é": "é"}, ensure_ascii=False).encode(text)
    if text is not None:
        return str(text).encode()
    changed = {**whole, **told.get(part, {})}
    return json.dumps({name: value for name, value in changed.items() if value is not None}).encode()


def built(told: Mapping[str, Any]) -> str:
    """The token of a file."""
    header = {"alg": "RS256", "kid": "rsa", "typ": "JWT"}
    if told.get("header", {}).get("jwk"):
        told = {**told, "header": {"jwk": public_jwk("rsa", 1)}}
    claims = ISSUER.claims(sub=WHO) | {name: NOW // 1000 + at for name, at in told.get("times", {}).items()}
    signing = f"{b64(text_of(told, 'header', header))}.{b64(text_of(told, 'claims', claims))}"
    token = f"{signing}.{b64(signature(told, signing.encode()))}"
    return CHANGES[told["change"]](token) if "change" in told else token


def signature(told: Mapping[str, Any], signing: bytes) -> bytes:
    said = told.get("header", {}).get("alg", "RS256")
    signer = PyJWS()
    match told.get("signed", "with rsa").split():
        case ["not"]:
            return b""
        case ["zeros"]:
            return bytes(64)
        case ["hmac", "of", *what]:
            key = private_key("rsa").public_key()
            secrets = {
                "nothing": b"",
                "the public key in PEM": key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo),
                "the published JWK": json.dumps(public_jwk("rsa")).encode(),
            }
            digest = hashlib.sha512 if said == "HS512" else hashlib.sha256
            return hmac.digest(secrets[" ".join(what)], signing, digest)
        case ["with", "another", kid]:
            return signer.get_algorithm_by_name(SIGNS[kid]).sign(signing, private_key(kid, 1))
        case ["with", kid]:
            return signer.get_algorithm_by_name(SIGNS[kid]).sign(signing, private_key(kid))
    raise ValueError(told["signed"])


def _part(at: int, change: Callable[[str], str]) -> Callable[[str], str]:
    def changed(token: str) -> str:
        parts = token.split(".")
        parts[at] = change(parts[at])
        return ".".join(parts)

    return changed


def _with_loose_bits(part: str) -> str:
    """Another last letter, which stands for the same bytes."""
    assert len(part) % 4 in (2, 3), "where the last letter has bits that belong to no byte"
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    return part[:-1] + letters[letters.index(part[-1]) + 1]


OTHER_CLAIMS = b64(json.dumps(ISSUER.claims(sub="other")).encode())
OTHER_HEADER = b64(b'{"alg": "RS256", "kid": "rsa", "typ": "JWT", "more": 1}')
CHANGES: Mapping[str, Callable[[str], str]] = {
    "other claims": _part(1, lambda _: OTHER_CLAIMS),
    "other header": _part(0, lambda _: OTHER_HEADER),
    "last byte of the signature away": _part(2, lambda part: b64(bytes(255))[: len(part) - 2] + "AA"),
    "padding": _part(2, lambda part: part + "=" * (-len(part) % 4)),
    "standard alphabet": _part(2, lambda part: part.replace("-", "+").replace("_", "/")[:-2] + "+/"),
    "loose bits in the header": _part(0, lambda _: _with_loose_bits(b64(b'{"alg":"RS256","kid":"rsa"} '))),
    "loose bits in the signature": _part(2, _with_loose_bits),
    "a letter more in the claims": _part(1, lambda part: part + "A" * ((1 - len(part)) % 4)),
    "line break": lambda token: token[:40] + "\n" + token[40:],
    "a fourth part": lambda token: token + ".e30",
    "five parts": lambda token: token + ".e30.e30",
    "two parts": lambda token: token.rpartition(".")[0],
    "JSON": lambda token: json.dumps(dict(zip(("protected", "payload", "signature"), token.split("."), strict=True))),
    "a letter of another alphabet": lambda token: "é" + token,
    "a megabyte": _part(1, lambda _: "A" * 2**20),
    "dots": lambda _: "." * 2**20,
    "a byte too many": _part(1, lambda part: part + "A" * LONGEST),
}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    with guarded(EmbeddedKeys(tmp_path_factory.mktemp("keys")), {}, by_token=True) as world:
        yield world


def test_the_token_that_all_others_differ_from_is_good(world: Guarded) -> None:
    """Else they could be refused for another reason."""
    with DOORS["local"](world) as ask:
        assert ask(f"Bearer {built({})}", "GET", "/config").status == 200


@pytest.mark.parametrize("door", DOORS)
def test_no_token_of_the_corpus_comes_in_by_any_door(world: Guarded, door: str) -> None:
    """Unauthorized, each of them, in the same words; a megabyte, too, where a door lets it through."""
    with DOORS[door](world) as ask:
        for name, told in CORPUS.items():
            reply = ask(f"Bearer {built(told)}", "GET", "/subjects")
            assert (reply.status, reply.json) == (401, {"error_code": 401, "message": "Unauthorized"}), name


@pytest.mark.parametrize("door", pooled.DOORS)
def test_no_token_of_the_corpus_comes_into_one_of_several_registries(tmp_path: Path, door: str) -> None:
    """What it claims leads it to a registry before it is verified: there it is as unauthorized as anywhere."""
    keys = {name: (EmbeddedKeys(tmp_path / name), dict[str, str]()) for name in ("a", "b")}
    with pooled.pool(keys, filled=False) as world, pooled.DOORS[door](world) as ask:
        good = ask("GET", "/subjects", {"authorization": f"Bearer {built({})}"})
        assert good.status == 200, "else they could be refused for another reason"
        for name, told in CORPUS.items():
            for more in ({}, {"host": "b.example"}, {"host": "elsewhere", "target-sr-cluster": "a"}):
                reply = ask("GET", "/subjects", {"authorization": f"Bearer {built(told)}", **more})
                assert (reply.status, reply.json) == (401, {"error_code": 401, "message": "Unauthorized"}), name


@given(st.binary(max_size=80), st.binary(max_size=80), st.binary(max_size=20))
def test_whatever_a_request_says_it_chooses_one_registry_or_none(host: bytes, shown: bytes, cluster: bytes) -> None:
    """Where a registry is chosen, a fault would have no answer yet."""
    for said in (shown, b"Basic " + shown, b"Basic " + b64encode(shown), b"Bearer " + shown, b"Bearer e30." + shown):
        headers = {b"host": host, b"authorization": said, b"target-sr-cluster": cluster}
        assert CHOICE(headers) in ("", "a", "b")


CHOICE = registries.Choice(pooled.HOSTS, tuple(pooled.tokens()._issuers.values()))


@pytest.mark.parametrize("name", CORPUS)
def test_each_is_refused_for_the_reason_that_its_file_gives(name: str) -> None:
    """An operator is told why; and the file tries what it says."""
    told = CORPUS[name]
    assert not told.keys() - KNOWN
    with pytest.raises(TokenRefused) as refused:
        tokens().verified(built(told).encode("latin-1"))
    assert told["reason"] in str(refused.value)


@given(st.binary(max_size=200))
def test_whatever_stands_in_the_header_is_refused_and_nothing_breaks(shown: bytes) -> None:
    for header in (shown, b"Bearer " + shown, b"bearer  " + shown + b".e30.e30"):
        assert ACCEPTING(header) is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
ACCEPTING = tokens()


@given(
    st.dictionaries(st.sampled_from(("alg", "kid", "typ", "crit", "b64", "jku", "jwk", "x5u", "zip")), JSON),
    st.dictionaries(st.sampled_from(("iss", "aud", "sub", "exp", "nbf", "iat", "groups")), JSON),
    st.booleans(),
)
def test_a_header_and_claims_of_any_shape_open_nothing_without_a_signature(
    header: dict[str, Any], claims: dict[str, Any], half: bool
) -> None:
    """Members that are right are mixed with members that are anything."""
    right = {"alg": "RS256", "kid": "rsa"} | header
    said = (ISSUER.claims(sub=WHO) if half else {}) | claims
    signing = f"{b64(json.dumps(right).encode())}.{b64(json.dumps(said).encode())}"
    for signed in ("", "AAAA", b64(bytes(256))):
        shown = f"Bearer {signing}.{signed}".encode()
        assert ACCEPTING(shown) is None
        assert CHOICE({b"authorization": shown}) in ("", "a", "b")


@given(
    st.dictionaries(st.sampled_from(("sub", "nbf", "iat", "groups", "aud", "exp", "azp")), JSON),
    st.sampled_from(("rsa", "ec", "ed")),
)
def test_claims_of_any_shape_that_the_issuer_has_signed_break_nothing(claims: dict[str, Any], kid: str) -> None:
    """An issuer may write into its tokens what it likes: they are accepted, or refused."""
    signing = b64(json.dumps({"alg": SIGNS[kid], "kid": kid}).encode())
    signing += f".{b64(json.dumps(ISSUER.claims() | claims).encode())}"
    signed = PyJWS().get_algorithm_by_name(SIGNS[kid]).sign(signing.encode(), private_key(kid))
    found = ACCEPTING(f"Bearer {signing}.{b64(signed)}".encode())
    assert found is None or found.name.isprintable()


@given(st.integers(0, 10_000), st.integers(0, 255))
def test_a_byte_changed_anywhere_in_a_good_token_ends_it(at: int, byte: int) -> None:
    """The signature is over every byte, and of one spelling alone."""
    good = GOOD.encode()
    at %= len(good)
    changed = good[:at] + bytes([byte]) + good[at + 1 :]
    assert changed == good or changed.strip(b" ") == good or ACCEPTING(b"Bearer " + changed) is None


GOOD = ISSUER.token("ec", sub=WHO)
