"""What happens at a source while an exporter is at work: a step each, in an order that makes sense."""

from collections.abc import Callable
from typing import Any
from urllib.parse import quote

from tests.unit.exporting.places import AVRO, Place

Step = Callable[[Place], object]
USING = '{"type":"record","name":"U%s","fields":[{"name":"r","type":"R"}]}'
"""A schema that references another one, called R."""
KEKS = "/dek-registry/v1/keks"


def register(subject: str, number: int) -> Step:
    return lambda place: place.register(subject, AVRO % number)


def use(subject: str, number: int, used: str, version: int = 1) -> Step:
    """A version that references another subject's."""
    references = [{"name": "R", "subject": used, "version": version}]
    return lambda place: place.register(subject, USING % number, references=references)


def ask(method: str, target: str, body: Any = None) -> Step:
    return lambda place: place(method, target, body)


def delete(subject: str, version: int | None = None, *, permanent: bool = False) -> Step:
    at = "" if version is None else f"/versions/{version}"
    query = "?permanent=true" if permanent else ""
    return ask("DELETE", f"/subjects/{quote(subject, safe='')}{at}{query}")


def configure(scope: str, **config: Any) -> Step:
    return ask("PUT", f"/config/{quote(scope, safe='')}" if scope else "/config", config)


def wrap(kek: str, subject: str, version: int = 1, material: str = "AAEC", algorithm: str = "AES256_GCM") -> Step:
    dek = {"subject": subject, "version": version, "algorithm": algorithm, "encryptedKeyMaterial": material}
    return ask("POST", f"{KEKS}/{kek}/deks/{quote(subject, safe='')}", dek)


def kek(name: str) -> Step:
    return ask("POST", KEKS, {"name": name, "kmsType": "local-kms", "kmsKeyId": "k", "kmsProps": {"a": "b"}})


RULES = {"domainRules": [{"name": "r", "kind": "TRANSFORM", "type": "ENCRYPT", "params": {"encrypt.kek.name": "k1"}}]}

FURNISHED: tuple[Step, ...] = (
    configure("", compatibility="NONE"),
    register("z-common", 0),
    register("orders", 1),
    register("orders", 2),
    register("orders", 3),
    use("a-first", 1, "z-common"),
    use("a-first", 2, "orders", 2),
    register(":.c:orders", 4),
    use(":.c:uses", 1, "orders"),
    use("across", 1, ":.c:orders"),
    lambda place: place.register("ruled", AVRO % 5, ruleSet=RULES, metadata={"properties": {"k": "v"}}),
    lambda place: place.register("json", '{"type":"string"}', schemaType="JSON"),
    lambda place: place.register("proto", 'syntax = "proto3";\nmessage M { string s = 1; }', schemaType="PROTOBUF"),
    register("gone", 6),
    register("gone", 7),
    delete("gone"),
    delete("orders", 1),
    configure("orders", compatibility="FULL", compatibilityGroup="g"),
    configure(":.c:", compatibility="FORWARD"),
    configure("alone", compatibility="FULL", normalize=True),
    register("behind-alias", 8),
    configure("behind-alias", alias="orders"),
    kek("k1"),
    wrap("k1", "orders"),
    wrap("k1", "orders", 2, "AAED"),
    wrap("k1", ":.c:orders", algorithm="AES256_SIV"),
    kek("k2"),
    ask("DELETE", f"{KEKS}/k2"),
)
"""A registry with some of everything."""

AFTERWARDS: dict[str, tuple[Step, ...]] = {
    "a version more": (register("orders", 10),),
    "a subject more": (register("new", 11),),
    "a context more": (register(":.d:new", 12),),
    "a reference to what is new": (register("base", 13), use("user", 2, "base")),
    "a soft delete": (delete("orders", 3),),
    "the same content again": (delete("orders", 3), register("orders", 3)),
    "a subject deleted softly": (delete("json"),),
    "a subject deleted for good": (delete("json"), delete("json", permanent=True)),
    "a version deleted for good": (delete("gone", 2, permanent=True),),
    "a number used anew": (delete("json"), delete("json", permanent=True), register("json", 14)),
    "what was referenced goes with what referenced it": (
        *(delete("a-first"), delete("a-first", permanent=True)),
        *(delete("z-common"), delete("z-common", permanent=True)),
    ),
    "another config": (configure("orders", compatibilityGroup=None, compatibility="BACKWARD"),),
    "no config": (ask("DELETE", "/config/orders"), ask("DELETE", "/config/alone")),
    "the global config": (configure("", compatibility="FULL_TRANSITIVE"),),
    "a context without config": (ask("DELETE", "/config/:.c:"),),
    "an alias less, and a version behind it": (
        configure("behind-alias", alias=None),
        register("behind-alias", 15),
    ),
    "a reference to a subject behind an alias": (
        configure("orders", alias=None, compatibility="NONE"),
        register("aliased", 20),
        use("uses-aliased", 20, "aliased"),
        configure("aliased", alias="orders"),
    ),
    "a reference to what is behind an alias already": (use("uses-aliased", 22, "behind-alias"),),
    "a soft-deleted version is referenced by what was deleted": (
        use("short-lived", 21, "z-common"),
        delete("short-lived"),
    ),
    "an alias more": (configure("new-name", alias="orders"),),
    "a context dropped": (
        *(delete("across"), delete("across", permanent=True)),
        *(delete(":.c:uses"), delete(":.c:uses", permanent=True)),
        *(delete(":.c:orders"), delete(":.c:orders", permanent=True)),
        ask("DELETE", "/contexts/.c"),
    ),
    "a DEK more": (wrap("k1", "json"),),
    "a DEK wrapped anew": (
        ask(
            "POST",
            f"{KEKS}/k1/deks/orders?rewrap=true",
            {"subject": "orders", "version": 1, "encryptedKeyMaterial": "BBBB"},
        ),
    ),
    "a DEK deleted": (ask("DELETE", f"{KEKS}/k1/deks/orders/versions/2"),),
    "a DEK deleted for good": (
        ask("DELETE", f"{KEKS}/k1/deks/orders/versions/2"),
        ask("DELETE", f"{KEKS}/k1/deks/orders/versions/2?permanent=true"),
    ),
    "a KEK with another text": (ask("PUT", f"{KEKS}/k1", {"doc": "d", "kmsProps": {"c": "d"}}),),
    "a KEK undeleted": (ask("POST", f"{KEKS}/k2/undelete"),),
    "a KEK deleted for good": (ask("DELETE", f"{KEKS}/k2?permanent=true"),),
    "a KEK of the same name made anew": (ask("DELETE", f"{KEKS}/k2?permanent=true"), kek("k2")),
}
"""What may happen then, by its name."""
