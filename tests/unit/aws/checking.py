"""One checker over a whole table and its bucket: every row and every object says what the others say."""

from collections import defaultdict
from dataclasses import replace
from typing import Any
from urllib.parse import unquote

from sigla import keys
from sigla.model import DEFAULT_CONTEXT, BodyKey, SchemaId, Subject
from sigla.regions import rules
from sigla.regions.nouns import Counter, RegionKind
from sigla.rules.bodies import believed
from sigla.rules.guid import guid_of
from sigla.stores.dynamodb import changes, items, reading
from sigla.stores.dynamodb.fence import role_of
from sigla.stores.dynamodb.items import Stored, SubjectState
from sigla.stores.dynamodb.regions import counter_of
from sigla.stores.dynamodb.values import Item, read_item
from tests.contract.aws import AwsStores

LATE = 2**62
"""After everything."""

Versions = dict[tuple[Subject, int], Stored]


def check(stores: AwsStores) -> None:
    """The flaws of a registry at rest, with nothing left to sweep and every tombstone put (`settle`)."""
    rows = _rows(stores)
    states, versions = _subjects(rows)
    _check_heads(states, versions)
    _check_ids(rows, versions)
    _check_references(rows, versions)
    _check_lists(rows, states)
    _check_settings(rows)
    _check_bodies(stores, rows, versions)


def settle(stores: AwsStores) -> None:
    """Does what commits leave to those who follow the journal: imports ended, rows swept, tombstones put or taken."""
    stores.catalog.resume_imports(before=LATE)
    rows = _rows(stores)
    for _, item in rows["s"]:
        if item["sk"] == keys.HEAD and "context" in item:  # else it is only referenced
            stores.catalog.sweep(items.subject_of(item))
    for key, item in _counts(_rows(stores)).items():
        if item.get("buried"):
            stores.bodies.bury(key)
        else:
            stores.bodies.revive(key, replace(stores.bodies.get(key), gone=False))


def _rows(stores: AwsStores) -> dict[str, list[tuple[str, Item]]]:
    """By kind: the letter behind the registry's name, with the rest of the partition key."""
    found: dict[str, list[tuple[str, Item]]] = defaultdict(list)
    arguments: dict[str, Any] = {"TableName": stores.table, "ConsistentRead": True}
    while True:
        answer = stores.dynamodb.scan(**arguments)
        for item in map(read_item, answer["Items"]):
            registry, kind, *rest = item["pk"].split("#", 2)
            assert registry == stores.registry
            found[kind].append(("#".join(rest), item))
        if "LastEvaluatedKey" not in answer:
            return found
        arguments["ExclusiveStartKey"] = answer["LastEvaluatedKey"]


def _subjects(rows: dict[str, list[tuple[str, Item]]]) -> tuple[dict[str, SubjectState], Versions]:
    heads = {name: item for name, item in rows["s"] if item["sk"] == keys.HEAD and "context" in item}
    states = {name: items.state(items.subject_of(item), item) for name, item in heads.items()}
    versions = {}
    for name, item in rows["s"]:
        if item["sk"].startswith("V#"):
            stored, head = items.version(item), states[name].head
            assert item["sk"] == keys.version_sk(head.generation, stored.row.version), "a row that nobody swept"
            versions[head.subject, int(stored.row.version)] = stored
    return states, versions


def _check_heads(states: dict[str, SubjectState], versions: Versions) -> None:
    for state in states.values():
        shown = [state.shown(each.row) for (subject, _), each in versions.items() if subject == state.head.subject]
        assert state.head.highest == max((row.version for row in shown), default=0)
        assert state.head.newest == reading.newest(shown)


def _check_ids(rows: dict[str, list[tuple[str, Item]]], versions: Versions) -> None:
    held: dict[BodyKey, set[tuple[str, int]]] = defaultdict(set)
    meant: dict[tuple[str, str], set[int]] = defaultdict(set)
    for (subject, version), stored in versions.items():
        held[BodyKey(subject.context, stored.row.id)].add((subject.name, version))
        meant[subject.context, stored.row.guid].add(stored.row.id)
    told: dict[BodyKey, set[tuple[str, int]]] = defaultdict(set)
    for name, item in rows["i"]:
        if item["sk"] != keys.HOLDERS:
            told[_key(name)].add((item["name"], item["version"]))
    counts = _counts(rows)
    assert told == held, "who holds which id"
    assert held.keys() <= counts.keys()
    for key, item in counts.items():
        assert item["count"] == len(held.get(key, ())), f"holders of {key}"
        unheld = not item["count"] and items.last_holder(item) is None
        assert item.get("buried", False) == unheld, f"{key} buried"
    contents = {}
    displaced = {key for key, item in counts.items() if items.last_holder(item)}
    for name, item in rows["f"]:
        context, guid = name.rsplit("#", 1)
        ids = {id for id in item["ids"] if BodyKey(_context(context), id) not in displaced}
        contents[_context(context), guid] = ids
    assert {content: ids for content, ids in contents.items() if ids} == meant, "which ids a content has"


def _check_references(rows: dict[str, list[tuple[str, Item]]], versions: Versions) -> None:
    """Claims that came to nothing may be there as well."""
    told = {(item["context"], item["name"], item["version"], item["nonce"], name) for name, item in rows["r"]}
    for (subject, version), stored in versions.items():
        for target, _ in stored.targets:
            name = keys.referrers_pk("x", target).split("#", 2)[2]
            assert (subject.context, subject.name, version, stored.nonce, name) in told


def _check_lists(rows: dict[str, list[tuple[str, Item]]], states: dict[str, SubjectState]) -> None:
    heads = [state.head for state in states.values() if state.head.highest]
    listed = {items.subject_of(item): item["active"] for _, item in rows["l"]}
    assert listed == {head.subject: head.newest is not None for head in heads}
    named = {head.subject for head in heads if head.subject.context != DEFAULT_CONTEXT}
    assert {items.subject_of(item) for _, item in rows["n"]} == named
    for _, item in rows["c"]:
        assert item.get("count", 0) == sum(subject.context == item["context"] for subject in named)
    assert {subject.context for subject in named} <= {item["context"] for _, item in rows["c"] if items.is_listed(item)}


def _check_settings(rows: dict[str, list[tuple[str, Item]]]) -> None:
    told = {item["revision"]: item for _, item in rows["settings"]}
    for kind in ("s", "x", "g"):
        for _, item in rows[kind]:
            if item["sk"] == keys.SETTINGS and ("config" in item or "mode" in item):
                assert items.settings(told[item["revision"]]) == items.settings(item)
                assert not changes.is_marked(item["revision"]), "cleared for an import that has ended"


def _check_bodies(stores: AwsStores, rows: dict[str, list[tuple[str, Item]]], versions: Versions) -> None:
    """What is held has a living body and a pointer by its content, and no number will be drawn again."""
    found = {_key(name, "/"): content for name, content in _objects(stores, "schemas/").items()}
    bodies = {key: believed(key, content) for key, content in found.items()}
    pointers = _objects(stores, "guids/")
    counters = {_context(name): counter_of(item) for name, item in rows["x"] if item["sk"] == keys.NEXT}
    role = next((role for _, item in rows["g"] if (role := role_of(item))), None)
    # What a follower has not heard of a context, it takes for granted.
    epoch = role.epoch if role else max((each.epoch for each in counters.values() if each), default=0)
    following = epoch + (not (role and role.kind is RegionKind.PRIMARY)) if epoch else 0
    for key, body in bodies.items():
        assert guid_of(body.schema) == body.guid, f"{key} means something else than it says"
    for (subject, _), stored in versions.items():
        key = BodyKey(subject.context, stored.row.id)
        assert bodies[key].guid == stored.row.guid, f"{key} means something else than its row says"
        assert keys.guid_object(stores.registry, stored.row.guid, key).split("guids/")[1] in pointers
        assert key.id <= _given(counters.get(key.context), following), f"{key} can be drawn again"
    for key, item in _counts(rows).items():
        assert bodies[key].gone == item.get("buried", False), f"{key}: {item} and {bodies[key]}"


def _objects(stores: AwsStores, kind: str) -> dict[str, bytes]:
    """By the end of their names; pointers are empty."""
    prefix, found = f"{stores.registry}/{kind}", {}
    for page in stores.clients.s3.get_paginator("list_objects_v2").paginate(Bucket=stores.bucket, Prefix=prefix):
        for each in page.get("Contents", ()):
            answer = stores.s3.get_object(Bucket=stores.bucket, Key=each["Key"]) if each["Size"] else None
            found[each["Key"].removeprefix(prefix).removesuffix(".json")] = answer["Body"].read() if answer else b""
    return found


def _counts(rows: dict[str, list[tuple[str, Item]]]) -> dict[BodyKey, Item]:
    return {_key(name): item for name, item in rows["i"] if item["sk"] == keys.HOLDERS}


def _key(name: str, between: str = "#") -> BodyKey:
    """What the end of a stored name stands for."""
    context, id = name.rsplit(between, 1)
    return BodyKey(_context(context), SchemaId(int(id)))


def _context(component: str) -> str:
    return DEFAULT_CONTEXT if component == "_" else unquote(component)


def _given(counter: Counter | None, epoch: int) -> int:
    """Above which id the next one of a context is, in the epoch in which it is given; 0: there are no regions."""
    if epoch:
        return rules.as_of(counter, epoch).next
    return counter.next if counter else 0
