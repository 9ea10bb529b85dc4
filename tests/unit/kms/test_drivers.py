"""Which key services a server calls, and what it says where it cannot."""

import sys
from base64 import b64decode
from time import monotonic, thread_time

import pytest

from sigla.aws.clients import Clients
from sigla.effort import Effort, Limits, TurnOver
from sigla.kms.alternates import ALTERNATES, MOST_KEYS, named_keys
from sigla.kms.drivers import CLIENTS_ONLY, Drivers
from sigla.ports.kms import KeyService, KmsDenied, KmsFailed, KmsKey

RAW = b"\x1a\x10 sixteen octets "

# What a registry of Confluent's wrapped, by the secret of its KEK, and the key that its clients found in it.
RECORDED = (
    (
        "secret-7100003",
        "LCZfNUkGDI/tugg5gMyL+SeBS7M0GstfFMKNSFb8emFrzXJhJ17VXQcyk1nNuQ==",
        "GhD/aFgcpi0LlfaTWn6mSUb7",
    ),
    (
        "secret-7100003",
        "mSzxf5TUyqWeCONDyLwWd1bQoDytJMKkl43T+Y7E7//ZPnibm6WR0vyffO933rRLXOgP5Xlahknc+FvrYzA=",
        "GiDjUvkIaeH7YmlFGhmHG+Houdq7bq/JlvXXxsv5vIFWWg==",
    ),
    (
        "secret-7100017",
        (
            "I6ZwjGwkOw4rbw/Yj1p291i+hLOe9q0znbdOCHKvg+qWJfrVnHjcwp1acOjBUlUkfPTeW8gUmpNayaIQgh6wQ+Gk5oenTTHcCM5veni2"
            "AZxTJyrYAgenMWOI6CRZPA=="
        ),
        "EkAjTwx8om1Vvx/HoHOVTlllyOlCDZg0AXWk5y9ybb0oF8ArDfD5NI6S+YO+OVfGW6meKaCd/0woo0UElmYPv+fD",
    ),
)


def no_clients() -> Clients:
    pytest.fail("AWS is not asked for a key of local-kms")


def local(secret: str | None = "s", server_secret: str = "", **props: str) -> KeyService:
    given = props if secret is None else {"secret": secret, **props}
    return Drivers(no_clients, secret=server_secret).service(KmsKey("local-kms", "mine", given))


@pytest.mark.parametrize("secret, wrapped, raw", RECORDED)
def test_what_confluents_registry_wrapped_is_unwrapped(secret: str, wrapped: str, raw: str) -> None:
    """Clients in three languages derive the same key from a secret: a difference of one bit loses their data."""
    assert local(secret).unwrap(b64decode(wrapped)) == b64decode(raw)


def test_what_is_wrapped_comes_back_and_looks_different_each_time() -> None:
    """A nonce that came twice would give the key away."""
    service = local()
    wrapped = {service.wrap(RAW) for _ in range(50)}
    assert len(wrapped) == 50
    assert len({each[:12] for each in wrapped}) == 50
    assert {service.unwrap(each) for each in wrapped} == {RAW}
    assert {len(each) for each in wrapped} == {12 + len(RAW) + 16}


@pytest.mark.parametrize("cut", [0, 1, 12, 27, 28, -1])
def test_material_that_is_not_whole_is_refused(cut: int) -> None:
    wrapped = local().wrap(RAW)
    with pytest.raises(KmsFailed):
        local().unwrap(wrapped[:cut])


def test_material_of_another_secret_is_refused() -> None:
    """And the sentence names no secret."""
    with pytest.raises(KmsFailed, match="not wrapped with this secret") as refused:
        local("hers").unwrap(local("his").wrap(RAW))
    assert "hers" not in refused.value.cause


def test_the_secret_of_the_server_is_for_keks_without_one() -> None:
    """Where only the server knows the secret, it stands in no KEK."""
    wrapped = local(None, server_secret="servers").wrap(RAW)
    assert local("servers").unwrap(wrapped) == RAW
    assert local("own", server_secret="servers").unwrap(local("own").wrap(RAW)) == RAW


@pytest.mark.parametrize("secret", [None, ""])
def test_without_a_secret_nothing_is_wrapped(secret: str | None) -> None:
    """A key that everybody can derive would look like encryption."""
    with pytest.raises(KmsFailed, match="SIGLA_LOCAL_SECRET"):
        local(secret).wrap(RAW)


def test_a_kek_whose_settings_change_has_another_key_at_once() -> None:
    """No restart for a new credential; and two KEKs with one key id keep to their own secrets."""
    drivers = Drivers(no_clients)
    before, after = (KmsKey("local-kms", "mine", {"secret": secret}) for secret in ("old", "new"))
    wrapped = drivers.service(before).wrap(RAW)
    with pytest.raises(KmsFailed):
        drivers.service(after).unwrap(wrapped)
    assert drivers.service(before).unwrap(wrapped) == RAW


def test_a_type_without_a_driver_is_refused_by_confluents_sentence() -> None:
    with pytest.raises(KmsFailed) as refused:
        Drivers(no_clients).service(KmsKey("own", "k1", {"secret": "s"}))
    assert refused.value.cause == "No KMS driver supports: own://k1"


@pytest.mark.parametrize("kind", CLIENTS_ONLY)
def test_a_shared_kek_of_a_type_for_clients_says_what_to_do(kind: str) -> None:
    with pytest.raises(KmsFailed, match=rf"^No KMS driver supports: {kind}://k1\. .*set shared to false$"):
        Drivers(no_clients).service(KmsKey(kind, "k1", {}))


def test_a_library_that_is_missing_is_named_with_the_command_that_brings_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """It belongs to an extra: most registries have no shared KEK."""
    monkeypatch.setitem(sys.modules, "cryptography.exceptions", None)
    monkeypatch.delitem(sys.modules, "sigla.kms.local", raising=False)
    with pytest.raises(
        KmsFailed, match=r"^local-kms needs cryptography.* on the server: pip install 'sigla-registry\["
    ):
        local().wrap(RAW)


def test_alternate_keys_are_tried_in_turn() -> None:
    """A region that is away must not stop what another region's key can do."""
    arns = [f"arn:aws:kms:eu-west-{number}:111122223333:key/k" for number in (1, 2, 3)]
    key = KmsKey("aws-kms", arns[0], {ALTERNATES: f"{arns[1]}, {arns[2]},{arns[0]},"})
    assert [each.id for each in named_keys(key)] == arns
    asked: list[str] = []

    class Away(KeyService):
        def __init__(self, key: KmsKey) -> None:
            self.key = key

        def wrap(self, raw: bytes) -> bytes:
            asked.append(self.key.id)
            if self.key.id != arns[2]:
                raise KmsDenied(f"no access to {self.key.id}")
            return raw

        def unwrap(self, wrapped: bytes) -> bytes:
            raise (KmsDenied if self.key.id != arns[2] else KmsFailed)(f"{len(wrapped)} bytes not unwrapped")

    drivers = Drivers(no_clients)
    drivers._drivers = {"aws-kms": Away}  # other keys than AWS has
    assert drivers.service(key).wrap(RAW) == RAW
    assert asked == arns
    with pytest.raises(KmsFailed) as failed:
        drivers.service(key).unwrap(RAW)
    assert (type(failed.value), failed.value.cause) == (KmsFailed, f"{len(RAW)} bytes not unwrapped")


def test_a_kek_that_names_a_thousand_keys_has_a_few_of_them_tried() -> None:
    """Each is a call that costs time and money, and a client wrote the list."""
    key = KmsKey("aws-kms", "a", {ALTERNATES: ",".join(map(str, range(1000)))})
    assert len(list(named_keys(key))) == MOST_KEYS


def test_a_thread_that_everybody_needs_opens_no_key_of_aws() -> None:
    """A library is read and credentials are looked for: seconds, in which no producer could register a schema."""
    key = KmsKey("aws-kms", "arn:aws:kms:eu-west-1:111122223333:key/k", {})
    with Effort(Limits(), thread_time, monotonic).turn(0.02), pytest.raises(TurnOver):
        Drivers(no_clients).service(key).wrap(RAW)
