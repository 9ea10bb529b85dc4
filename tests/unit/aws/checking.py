"""One checker over a whole table: every row says what the others say."""

from collections import defaultdict
from typing import Any

from sigla import keys
from sigla.aws import items, reading
from sigla.aws.items import State, Stored
from sigla.aws.values import Item, read_item
from sigla.model import DEFAULT_CONTEXT, Subject
from tests.contract.aws import AwsStores

Versions = dict[tuple[Subject, int], Stored]


def check(stores: AwsStores) -> None:
    """Of a registry at rest, with nothing left to sweep."""
    rows = _rows(stores)
    states, versions = _subjects(rows)
    _check_heads(states, versions)
    _check_ids(rows, versions)
    _check_references(rows, versions)
    _check_lists(rows, states)
    _check_settings(rows)


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


def _subjects(rows: dict[str, list[tuple[str, Item]]]) -> tuple[dict[str, State], Versions]:
    heads = {name: item for name, item in rows["s"] if item["sk"] == keys.HEAD}
    states = {name: items.state(items.subject_of(item), item) for name, item in heads.items()}
    versions = {}
    for name, item in rows["s"]:
        if item["sk"].startswith("V#"):
            stored, head = items.version(item), states[name].head
            assert item["sk"] == keys.version_sk(head.generation, stored.row.version), "a row that nobody swept"
            versions[head.subject, int(stored.row.version)] = stored
    return states, versions


def _check_heads(states: dict[str, State], versions: Versions) -> None:
    for state in states.values():
        shown = [state.shown(each.row) for (subject, _), each in versions.items() if subject == state.head.subject]
        assert state.head.highest == max((row.version for row in shown), default=0)
        assert state.head.newest == reading.newest(shown)


def _check_ids(rows: dict[str, list[tuple[str, Item]]], versions: Versions) -> None:
    held: dict[tuple[str, int], set[tuple[str, int]]] = defaultdict(set)
    meant: dict[tuple[str, str], set[int]] = defaultdict(set)
    for (subject, version), stored in versions.items():
        context = keys.context_component(subject.context)
        held[context, stored.row.id].add((subject.name, version))
        meant[context, stored.row.guid].add(stored.row.id)
    told: dict[tuple[str, int], set[tuple[str, int]]] = defaultdict(set)
    counts = {}
    for name, item in rows["i"]:
        context, id = name.rsplit("#", 1)
        if item["sk"] == keys.HOLDERS:
            counts[context, int(id)] = item
        else:
            told[context, int(id)].add((item["name"], item["version"]))
    assert told == held, "who holds which id"
    assert held.keys() <= counts.keys()
    for key, item in counts.items():
        assert item["count"] == len(held.get(key, ())), f"holders of {key}"
        assert item.get("buried", False) == (not item["count"]), f"{key} buried"
    contents = {}
    for name, item in rows["f"]:
        context, guid = name.rsplit("#", 1)
        contents[context, guid] = set(item["ids"])
    assert contents == meant, "which ids a content has"


def _check_references(rows: dict[str, list[tuple[str, Item]]], versions: Versions) -> None:
    """Claims that came to nothing may be there as well."""
    told = {(item["context"], item["name"], item["version"], item["nonce"], name) for name, item in rows["r"]}
    for (subject, version), stored in versions.items():
        for target, _ in stored.targets:
            name = keys.referrers_pk("x", target).split("#", 2)[2]
            assert (subject.context, subject.name, version, stored.nonce, name) in told


def _check_lists(rows: dict[str, list[tuple[str, Item]]], states: dict[str, State]) -> None:
    heads = [state.head for state in states.values() if state.head.highest]
    listed = {items.subject_of(item): item["active"] for _, item in rows["l"]}
    assert listed == {head.subject: head.newest is not None for head in heads}
    named = {head.subject for head in heads if head.subject.context != DEFAULT_CONTEXT}
    assert {items.subject_of(item) for _, item in rows["n"]} == named
    for _, item in rows["c"]:
        assert item.get("count", 0) == sum(subject.context == item["context"] for subject in named)
    assert {subject.context for subject in named} <= {item["context"] for _, item in rows["c"]}


def _check_settings(rows: dict[str, list[tuple[str, Item]]]) -> None:
    told = {item["revision"]: item for _, item in rows["settings"]}
    for kind in ("s", "x", "g"):
        for _, item in rows[kind]:
            if item["sk"] == keys.SETTINGS and ("config" in item or "mode" in item):
                assert items.settings(told[item["revision"]]) == items.settings(item)
                assert "clearing" not in item
