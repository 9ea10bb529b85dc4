"""Every way in which keys and associations can come apart, behind a registry's back, and what a scrub says of it."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from sigla import keys
from sigla.associations.nouns import Association
from sigla.keks import records as key_records
from sigla.keks.nouns import Dek
from sigla.keys import utf16
from sigla.model import Subject
from sigla.stores.dynamodb import values
from sigla.stores.dynamodb.places import Places
from tests.attack.associations import strong, weak
from tests.attack.keys import dek, deks_purged, kek
from tests.attack.stories import ONE
from tests.unit.registry.scrubbing import Broken, InADirectory, InAWS, registry_of

OWN = Subject(".lkc", "t-value")
VERBS = (
    kek("k", kms_props={"secret": "s3cr3t"}),
    dek("k", "s"),
    dek("k", "s", 2, deleted=True),
    dek("k", ":.c:s"),
    kek("gone"),
    kek("empty"),
    strong("t", ONE),
    weak("u", "address"),
    weak("u", "order", "key"),
)
"""A KEK with three DEKs, one without; a topic with a subject of its own, and one that shares two."""


# --- behind its back -------------------------------------------------------------------------------------------------


def _sql(broken: Broken, sql: str, *parameters: Any) -> None:
    assert isinstance(broken, InADirectory)
    broken._execute(sql, *parameters)


def _places(broken: Broken) -> Places:
    assert isinstance(broken, InAWS)
    return Places(broken.registry)


def _remove(broken: Broken, key: tuple[str, str]) -> None:
    assert isinstance(broken, InAWS)
    broken.dynamodb.delete_item(TableName=broken.table, Key={"pk": {"S": key[0]}, "sk": {"S": key[1]}})


def _change(broken: Broken, key: tuple[str, str], **attributes: Any) -> None:
    assert isinstance(broken, InAWS)
    broken._change(key, lambda item: item | attributes)


def _key_of(broken: Broken, name: str, version: int = 1) -> Dek:
    return next(dek for dek in broken.store.catalog.deks("k") if (dek.subject, dek.version) == (name, version))


def _own(broken: Broken) -> Association:
    return next(iter(broken.store.catalog.associations_of_subject(OWN)))


def no_kek(broken: Broken) -> None:
    if isinstance(broken, InADirectory):
        _sql(broken, "DELETE FROM kek WHERE key = ?", utf16("k"))
    else:
        _remove(broken, _places(broken).kek("k"))


def no_kek_ever(broken: Broken) -> None:
    """Its journal does not know it, either."""
    no_kek(broken)
    _forget(broken, '"type":"KEK"', '"name":"k"')


def garbled(broken: Broken) -> None:
    if isinstance(broken, InADirectory):
        _sql(broken, "UPDATE kek SET kek = '{' WHERE key = ?", utf16("k"))
    else:
        _change(broken, _places(broken).kek("k"), kek=b"neither JSON nor compressed")


def _rewrite_kek(broken: Broken, **members: object) -> None:
    form = key_records.kek_json(next(kek for kek in broken.store.catalog.keks() if kek.name == "k")) | members
    if isinstance(broken, InADirectory):
        _sql(broken, "UPDATE kek SET kek = ? WHERE key = ?", json.dumps(form), utf16("k"))
    else:
        _change(broken, _places(broken).kek("k"), kek=values.packed(form))


def _rewrite_dek(broken: Broken, **members: object) -> None:
    one = _key_of(broken, "s")
    form = key_records.dek_json(one) | members
    if isinstance(broken, InADirectory):
        _sql(broken, "UPDATE dek SET dek = ? WHERE version = 1 AND spelled = ?", json.dumps(form), utf16("s"))
    else:
        _change(broken, _places(broken).dek(one.name, 1), dek=values.packed(form))


def no_dek(broken: Broken) -> None:
    """A table that is older than its journal."""
    one = _key_of(broken, "s", 1)
    if isinstance(broken, InADirectory):
        _sql(broken, "DELETE FROM dek WHERE version = 1 AND spelled = ?", utf16("s"))
    else:
        places = _places(broken)
        for key in (places.dek(one.name, 1), places.listed_dek(one)):
            _remove(broken, key)
        _change(broken, places.kek("k"), stored=2, active=1)


def other_list(broken: Broken) -> None:
    """The list of all DEKs says that one is there which is deleted."""
    if isinstance(broken, InADirectory):
        _sql(broken, "UPDATE dek SET deleted = FALSE WHERE version = 2")
    else:
        _change(broken, _places(broken).listed_dek(_key_of(broken, "s", 2)), deleted=False)


def unlisted(broken: Broken) -> None:
    _remove(broken, _places(broken).listed_dek(_key_of(broken, ":.c:s")))


def listed_only(broken: Broken) -> None:
    """A DEK that is gone is listed."""
    one = _key_of(broken, ":.c:s")
    deks_purged_softly(broken)
    item = {"pk": None, "kek": "k", "subject": one.subject, "deleted": False, "form": 1}
    pk, sk = _places(broken).listed_dek(one)
    assert isinstance(broken, InAWS)
    broken.dynamodb.put_item(TableName=broken.table, Item=values.written_item(item | {"pk": pk, "sk": sk}))


def deks_purged_softly(broken: Broken) -> None:
    registry = registry_of(broken.store)
    dek("k", ":.c:s", deleted=True)(registry)
    deks_purged("k", ":.c:s")(registry)


def other_counts(broken: Broken) -> None:
    _change(broken, _places(broken).kek("k"), stored=0, active=0)


def _forget(broken: Broken, *parts: str) -> None:
    """Removes rows of the journal."""
    if isinstance(broken, InADirectory):
        where = " AND ".join(["CAST(form AS TEXT) LIKE ?"] * len(parts))
        _sql(broken, f"DELETE FROM journal WHERE {where}", *(f"%{part}%" for part in parts))
        return
    assert isinstance(broken, InAWS)
    for item in broken.dynamodb.scan(TableName=broken.table, ConsistentRead=True)["Items"]:
        if item["pk"]["S"].startswith(keys.journal_pk(broken.registry, 0)[:-1]):
            form = json.dumps(values.unpacked(values.read_item(item)["form"]), separators=(",", ":"))
            if all(part in form for part in parts):
                broken.dynamodb.delete_item(TableName=broken.table, Key={"pk": item["pk"], "sk": item["sk"]})


def _tell_otherwise(broken: Broken, part: str, content: bytes | None = None, **members: object) -> None:
    """The journal's row about a DEK or a KEK: with other content, or other members of its value."""

    def told(row: dict[str, Any]) -> bytes:
        row["entries"][0]["value"] |= members
        return json.dumps(row).encode() if content is None else content

    if isinstance(broken, InADirectory):
        writer = broken.embedded._unit._database.writer
        for position, form in writer.execute("SELECT position, form FROM journal").fetchall():
            if part.encode() in form:
                writer.execute("UPDATE journal SET form = ? WHERE position = ?", (told(json.loads(form)), position))
        return
    assert isinstance(broken, InAWS)
    for raw in broken.dynamodb.scan(TableName=broken.table, ConsistentRead=True)["Items"]:
        if raw["pk"]["S"].startswith(keys.journal_pk(broken.registry, 0)[:-1]):
            item = values.read_item(raw)
            row = values.unpacked(item["form"])
            if part in json.dumps(row, separators=(",", ":")):
                changed = values.written_item(item | {"form": told(row).decode()})
                broken.dynamodb.put_item(TableName=broken.table, Item=changed)


OF_S2 = '"subject":"s","algorithm":"AES256_GCM","version":2,"type"'


def told_garbled(content: bytes) -> Callable[[Broken], None]:
    return lambda broken: _tell_otherwise(broken, OF_S2, content)


def other_material(broken: Broken) -> None:
    _tell_otherwise(broken, OF_S2, encryptedKeyMaterial="b3RoZXI=")


def told_no_kek(broken: Broken) -> None:
    """The KEK is missing, and the journal told something else in its place."""
    no_kek(broken)
    _tell_otherwise(broken, '"name":"k","type":"KEK"}', kmsType=7)


def garbled_beside_scattered(broken: Broken) -> None:
    """One association cannot be read, and another one does not stand everywhere."""
    other = next(broken.store.catalog.associations_named("u", "lkc"))
    without_a_place(0)(broken)
    for place in _places(broken).association(other):
        _change(broken, place, association="{")


def forgotten_dek(broken: Broken) -> None:
    _forget(broken, '"DEK"', '"version":2')


def forgotten_association(broken: Broken) -> None:
    _forget(broken, '"resourceName":"u"', '"associationType":"key"')


def no_association(broken: Broken) -> None:
    one = next(broken.store.catalog.associations_named("u", "lkc"))
    if isinstance(broken, InADirectory):
        _sql(broken, "DELETE FROM association WHERE name = 'u' AND type = ?", one.type)
    else:
        places = _places(broken)
        for key in places.association(one):
            _remove(broken, key)
        left = [each.guid for each in broken.store.catalog.associations_named("u", "lkc")]
        _change(broken, places.resource(one.resource.id), guids=left)
        _change(broken, places.head(one.subject), associations=0)


def no_version(broken: Broken) -> None:
    broken.change_version(OWN, 1, deleted=True)
    if isinstance(broken, InADirectory):
        _sql(broken, "UPDATE subject SET newest = NULL WHERE context = ? AND name = ?", OWN.context, OWN.name)
    else:
        assert isinstance(broken, InAWS)
        broken._change(_places(broken).head(OWN), lambda item: {name: item[name] for name in item if name != "newest"})


def shared(broken: Broken) -> None:
    """Another topic uses what belongs to one alone."""
    one = _own(broken)
    other = replace(one, resource=replace(one.resource, name="v", id="id-v"), guid="other", lifecycle="WEAK")
    if isinstance(broken, InADirectory):
        row = ("id-v", "topic", one.type, "v", one.resource.namespace, OWN.context, OWN.name, other.guid)
        _sql(
            broken,
            "INSERT INTO association SELECT ?, ?, ?, ?, ?, s.num, FALSE, g, 0, 0 FROM subject s,"
            " (SELECT ? AS c, ? AS n, ? AS g) WHERE s.context = c AND s.name = n",
            *row,
        )
    else:
        assert broken.store.inventory.make_whole(other, 1)


def without_a_place(number: int) -> Callable[[Broken], None]:
    """One of the four places in the table lacks it."""
    return lambda broken: _remove(broken, _places(broken).association(_own(broken))[number])


def uncounted(broken: Broken) -> None:
    """The head of its subject does not know it: the subject could be deleted."""
    _change(broken, _places(broken).head(OWN), associations=0, strong=False)


def unnamed(broken: Broken) -> None:
    """The topic's row does not name it: nothing could be changed any more."""
    _change(broken, _places(broken).resource("id-t"), guids=["another"])


K, S2 = "KEK k", "DEK s AES256_GCM version 2 under KEK k"
T = "the association of the value of topic lkc/t with :.lkc:t-value"
BREAKS: dict[str, tuple[Callable[[Broken], object], dict[str, list[str]]]] = {
    "ROW_UNREADABLE": (garbled, {"ROW_UNREADABLE": ["cannot be read"]}),
    "ROW_UNREADABLE, no KEK": (
        lambda broken: _rewrite_kek(broken, kmsProps=["s3cr3t"]),
        {"ROW_UNREADABLE": ["cannot be read"]},
    ),
    "ROW_UNREADABLE, another KEK": (
        lambda broken: _rewrite_kek(broken, name="other"),
        {"ROW_UNREADABLE": ["cannot be read"]},
    ),
    "ROW_UNREADABLE, no DEK": (
        lambda broken: _rewrite_dek(broken, ts="yesterday"),
        {"ROW_UNREADABLE": ["cannot be read"]},
    ),
    "ROW_UNREADABLE, another DEK": (
        lambda broken: _rewrite_dek(broken, subject="other"),
        {"ROW_UNREADABLE": ["cannot be read"]},
    ),
    **{
        f"JOURNAL_UNREADABLE, {what}": (
            told_garbled(content),
            {"JOURNAL_UNREADABLE": ["row at position"], "RECORD_GAP": [S2]},
        )
        for what, content in {
            "no JSON": b"{",
            "no object": b"[1]",
            "empty": b"{}",
            "no entries": b'{"form":1,"ts":1,"entries":7}',
            "no entry": b'{"form":1,"ts":1,"entries":[null]}',
            "an unknown entry": b'{"form":1,"ts":1,"entries":[{"type":"X"}]}',
            "half an entry": b'{"form":1,"ts":1,"entries":[{"type":"SCHEMA","context":"."}]}',
            "half a key": b'{"form":1,"ts":1,"entries":[{"type":"DEK","key":{},"value":{}}]}',
        }.items()
    },
    "DEK_ALTERED": (other_material, {"DEK_ALTERED": [S2]}),
    "KEK_MISSING, told otherwise": (told_no_kek, {"KEK_MISSING": [K], "RECORD_AHEAD": [K]}),
    "KEK_MISSING": (no_kek, {"KEK_MISSING": [K], "RECORD_AHEAD": [K]}),
    "KEK_MISSING for good": (no_kek_ever, {"KEK_MISSING": [K]}),
    "KEK_MISCOUNTED in the list": (other_list, {"KEK_MISCOUNTED": [K]}),
    "KEK_MISCOUNTED": (other_counts, {"KEK_MISCOUNTED": [K]}),
    "KEK_MISCOUNTED, a DEK left out": (unlisted, {"KEK_MISCOUNTED": [K]}),
    "KEK_MISCOUNTED, a DEK too many": (listed_only, {"KEK_MISCOUNTED": [K]}),
    "ASSOCIATION_WITHOUT_SUBJECT": (no_version, {"ASSOCIATION_WITHOUT_SUBJECT": [T]}),
    "ASSOCIATION_SCATTERED, of the topic": (without_a_place(0), {"ASSOCIATION_SCATTERED": [T]}),
    "ASSOCIATION_SCATTERED, of the subject": (without_a_place(1), {"ASSOCIATION_SCATTERED": [T]}),
    "ASSOCIATION_SCATTERED, of the name": (without_a_place(2), {"ASSOCIATION_SCATTERED": [T]}),
    "ASSOCIATION_SCATTERED, of the list": (without_a_place(3), {"ASSOCIATION_SCATTERED": [T]}),
    "ASSOCIATION_SCATTERED, uncounted": (uncounted, {"ASSOCIATION_SCATTERED": [T]}),
    "ASSOCIATION_SCATTERED, unnamed": (unnamed, {"ASSOCIATION_SCATTERED": [T]}),
    "SUBJECT_SHARED": (
        shared,
        {"SUBJECT_SHARED": [T], "RECORD_GAP": ["the association of the value of topic lkc/v with :.lkc:t-value"]},
    ),
    "RECORD_AHEAD": (no_dek, {"RECORD_AHEAD": ["DEK s AES256_GCM version 1 under KEK k"]}),
    "RECORD_AHEAD of an association": (
        no_association,
        {"RECORD_AHEAD": ["the association of the key of topic lkc/u with order"]},
    ),
    "RECORD_GAP": (forgotten_dek, {"RECORD_GAP": [S2]}),
    "RECORD_GAP of an association": (
        forgotten_association,
        {"RECORD_GAP": ["the association of the key of topic lkc/u with order"]},
    ),
}
