"""One subject of another table: all that stands in its partition there, and what follows from that elsewhere.

The partition is read between two looks at its head: no commit has moved the subject meanwhile. Its settings have a
number of their own, and entries of its history come with commits of these, too: both are copied apart.

    V#…    one holder of its id, and one referrer for each version that it references
    HEAD   the subject in the list of all, and its name, while it has versions

What follows from a row is written before it, and taken away before it: so whoever goes on after a crash finds by the
rows that stand what is still to be done. And where no head stands, nothing stands: what is written at once comes with
it, and a head that says nothing comes before what is too much for that.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from sigla import keys
from sigla.errors import Conflict
from sigla.model import DEFAULT_CONTEXT, BodyKey, Subject
from sigla.stores.dynamodb import items
from sigla.stores.dynamodb.actions import Action, Key, delete, put
from sigla.stores.dynamodb.copy_writing import fits
from sigla.stores.dynamodb.places import Places
from sigla.stores.dynamodb.plans import Tools
from sigla.stores.dynamodb.values import Item

TRIES: Final = 8
VERSION: Final = "V#"

Rows = Mapping[str, Item]
"""Items of one partition, by their sort keys."""


def attributes(item: Item) -> Item:
    """All but its key."""
    return {name: value for name, value in item.items() if name not in ("pk", "sk")}


def partition(tools: Tools, subject: Subject) -> Rows:
    """As it stands; raises Conflict where others write to the subject all the time."""
    place = tools.places.head(subject)
    before = moved(tools.table.get(place))
    for _ in range(TRIES):
        found = standing_rows(tools, subject)
        head = tools.table.get(place)
        seen, before = before, moved(head)
        if before == seen:
            return {**found, **({keys.HEAD: head} if head else {})}
    raise Conflict("a subject was not copied: it has too many writers")


def standing_rows(tools: Tools, subject: Subject) -> Rows:
    """As it is found, where no commit comes in between."""
    pk, _ = tools.places.head(subject)
    return {item["sk"]: item for item in tools.table.query(pk) if item["sk"] != keys.SETTINGS}


def moved(head: Item | None) -> int:
    """How often, by its revision."""
    return head.get("revision", 0) if head else 0


def is_absent(wanted: Rows, head: Item | None) -> bool:
    """Whether nothing of the subject stands there. head: as it stands there."""
    return head is None and (keys.HEAD in wanted or all(sk.startswith(keys.COMMIT) for sk in wanted))


def unit(places: Places, subject: Subject, wanted: Rows, found: Rows) -> list[Action]:
    """What has to be written where `found` is, in this order (`copy_writing.CopyWriter.write`)."""
    actions = [action for group in _differences(places, subject, wanted, found) for action in group]
    return actions if found or fits(actions) else [put(places.head(subject), {}), *actions]


def _differences(places: Places, subject: Subject, wanted: Rows, found: Rows) -> Iterator[list[Action]]:
    """What has to be written where `found` is, each group before the next one."""
    for sk, item in found.items():
        if sk not in wanted and not sk.startswith(keys.COMMIT):
            gone = _following(places, subject, item)
            kept = _following(places, subject, wanted[sk]) if sk in wanted else {}
            yield [delete(key) for key in gone if key not in kept]
            yield [delete((item["pk"], sk))]
    for sk, item in sorted(wanted.items(), key=lambda each: each[0] == keys.HEAD):
        before = found.get(sk)
        if before == item:
            continue
        after = _following(places, subject, item)
        gone = _following(places, subject, before) if before is not None else {}
        yield [delete(key) for key in gone if key not in after]
        yield [put(key, form) for key, form in after.items()]
        yield [put((item["pk"], sk), attributes(item))]


def _following(places: Places, subject: Subject, item: Item) -> dict[Key, Item]:
    """The rows elsewhere that follow from one of the partition."""
    if item["sk"] == keys.HEAD:
        return _of_head(places, subject, item)
    if not item["sk"].startswith(VERSION):
        return {}
    generation, stored = generation_of(item["sk"]), items.version(item)
    row = stored.row
    holder = places.holder(BodyKey(subject.context, row.id), subject, row.version, generation)
    following = {holder: items.holder_item(subject, row, generation)}
    for target, version in stored.targets:
        place = places.referrer(target, version, subject, row, stored.nonce)
        following[place] = items.referrer_item(subject, generation, row, version, stored.nonce)
    return following


def _of_head(places: Places, subject: Subject, item: Item) -> dict[Key, Item]:
    if not item.get("highest"):
        return {}
    named = items.named_item(subject)
    following: dict[Key, Item] = {places.listed(subject): named | {"active": "newest" in item}}
    if subject.context != DEFAULT_CONTEXT:
        following[places.name(subject)] = named
    return following


def generation_of(sk: str) -> int:
    return int(sk.split("#")[1])
