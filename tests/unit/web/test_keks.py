"""Keys over HTTP: what is bound leniently, what is refused with a sentence, and what a key does not see."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.unit.auth.guarded import DOORS, cut, guarded
from tests.unit.web.conftest import Client

K = "/dek-registry/v1/keks"
A_KEK = {"name": "k", "kmsType": "local-kms", "kmsKeyId": "id"}
MATERIAL = {"encryptedKeyMaterial": "m"}


def test_a_kek_is_answered_with_what_it_has_in_the_order_of_the_reference(client: Client) -> None:
    """Clients parse JSON, people read it."""
    sent = {**A_KEK, "kmsProps": {"b": None, "a": 1}, "doc": "", "more": "ignored"}
    answer = client("POST", K, sent)
    assert answer.text.partition(',"ts":')[0] == (
        '{"name":"k","kmsType":"local-kms","kmsKeyId":"id","kmsProps":{"a":"1","b":null},"doc":"","shared":false'
    )
    dek = client("POST", f"{K}/k/deks/s", {**MATERIAL, "deleted": "true", "version": "7"})
    assert list(dek.json) == [
        "kekName", "subject", "version", "algorithm", "encryptedKeyMaterial", "ts", "deleted",
    ]  # fmt: skip
    assert (dek.json["version"], dek.json["deleted"]) == (7, True)


@pytest.mark.parametrize(
    "patch, expected",
    [
        ({}, {"kmsProps": {"a": "b"}, "doc": "d", "shared": False}),
        ({"doc": None}, {"kmsProps": {"a": "b"}, "shared": False}),
        ({"kmsProps": None}, {"kmsProps": {}, "doc": "d", "shared": False}),
        ({"shared": None, "name": "other"}, {"kmsProps": {"a": "b"}, "doc": "d", "shared": False}),
        ({"shared": True, "doc": ""}, {"kmsProps": {"a": "b"}, "doc": "", "shared": True}),
    ],
)
def test_an_update_keeps_what_it_does_not_name(client: Client, patch: Any, expected: Mapping[str, Any]) -> None:
    """KEY-3; the reference fails at a `shared` of null."""
    client("POST", K, {**A_KEK, "kmsProps": {"a": "b"}, "doc": "d"})
    told = client("PUT", f"{K}/k", patch).json
    del told["ts"]
    assert told == {**A_KEK, **expected}


@pytest.mark.parametrize(
    "sent, number",
    [
        (b"", 422),
        (b"null", 422),
        (b"{", 400),
        ([], 400),
        ({**A_KEK, "name": "1x"}, 42271),
        ({**A_KEK, "name": "a" * 257}, 42271),
        ({**A_KEK, "kmsType": "aws-kms"}, 42271),
        ({**A_KEK, "kmsProps": ["a"]}, 400),
        ({**A_KEK, "kmsProps": {"a": {}}}, 400),
        ({**A_KEK, "kmsProps": {"a": "x" * 2**20}}, 42271),
        ({**A_KEK, "doc": "x" * 2**20}, 42271),
        ({**A_KEK, "kmsKeyId": "x" * 2**20}, 42271),
        ({**A_KEK, "shared": "perhaps"}, 400),
    ],
)
def test_a_kek_that_cannot_be_stored_is_refused_with_a_number(client: Client, sent: Any, number: int) -> None:
    """Nothing that a client sends is answered with a 5xx."""
    assert client("POST", K, sent).json["error_code"] == number
    assert client("GET", K).json == []


@pytest.mark.parametrize(
    "target, sent, number",
    [
        ("s", {}, 42271),
        ("s", {**MATERIAL, "algorithm": "aes"}, 400),
        ("s", {**MATERIAL, "version": 0}, 42202),
        ("s", {**MATERIAL, "version": 2**31 - 1}, 42202),
        ("s", {"encryptedKeyMaterial": "x" * 2**20}, 42271),
        ("x" * 800, MATERIAL, 42271),
        (":.:" * 300 + "s", MATERIAL, 42271),
        ("%07", MATERIAL, 42208),
        ("", {**MATERIAL, "subject": ""}, 42271),
        ("", {**MATERIAL, "subject": "a\x07"}, 42271),
    ],
)
def test_a_dek_that_cannot_be_stored_is_refused_with_a_number(
    client: Client, target: str, sent: Any, number: int
) -> None:
    """The same; without a subject in the path the body names it."""
    client("POST", K, A_KEK)
    assert client("POST", f"{K}/k/deks/{target}".rstrip("/"), sent).json["error_code"] == number
    assert client("GET", f"{K}/k/deks").json == []


def test_a_dek_under_a_shared_kek_is_refused_while_no_key_service_is_known(client: Client) -> None:
    """A sentence says which one."""
    client("POST", K, {**A_KEK, "shared": True})
    told = client("POST", f"{K}/k/deks/s", {})
    assert told.refusal[1:] == (
        50070,
        "Could not generate encrypted dek for s: No KMS driver supports: local-kms://id",
    )


def test_rules_that_name_a_key_of_a_kms_are_completed_at_registration(client: Client) -> None:
    """KEY-12: the client that reads the schema needs the KEK's name; lookups and merged rules stay as they are."""
    rule = {"name": "enc", "kind": "TRANSFORM", "type": "ENCRYPT", "params": {"encrypt.kms.key.id": "arn:aws:kms:a/b"}}
    sent = {"schema": '"int"', "ruleSet": {"domainRules": [rule]}}
    params = client("POST", "/subjects/s/versions", sent).json["ruleSet"]["domainRules"][0]["params"]
    assert params == {
        "encrypt.kek.name": "aws-kms-a-b",
        "encrypt.kms.key.id": "arn:aws:kms:a/b",
        "encrypt.kms.type": "aws-kms",
    }
    assert client("POST", "/subjects/s", sent).json["error_code"] == 40403
    tagged = client("POST", "/subjects/s/versions/1/tags", {"ruleSet": {"domainRules": [{**rule, "name": "other"}]}})
    assert tagged.json["ruleSet"]["domainRules"][0]["params"] == params


def test_credentials_of_a_key_service_are_told_to_those_alone_who_may_write_the_kek(tmp_path: Path) -> None:
    """A reader needs the KEK to decrypt, and not the registry's way to its key service."""
    for name, door in DOORS.items():
        with guarded(*cut(tmp_path / name)) as world, door(world) as ask:
            seen = {
                who: ask(who, "GET", f"{K}/k").json["kmsProps"]
                for who in ("reader", "reader-of-a", "writer-of-a", "admin-of-a", "writer", "admin")
            }
            whole, plain = {"namespace": "n", "secret": "s"}, {"namespace": "n"}
            assert seen == {who: whole if who in ("writer", "admin") else plain for who in seen}


def test_no_refusal_tells_whether_credentials_were_guessed(tmp_path: Path) -> None:
    """An answer of its own for the right guess would be as good as the credentials."""
    kek = {"name": "k", "kmsType": "local-kms", "kmsKeyId": "k"}
    with guarded(*cut(tmp_path)) as world, next(iter(DOORS.values()))(world) as ask:
        refused = [
            ask("deleter-of-a", "POST", K, {**kek, "kmsProps": {"namespace": "n", "secret": guess}, "deleted": deleted})
            for guess in ("s", "another")
            for deleted in (False, True)
        ]
    assert {(each.status, each.json["error_code"]) for each in refused} == {(409, 40971)}
