"""Topics `_schemas` with what the API of their registry answers: a real one, and one composed by hand.

`tests/vectors/dump` has 1,601 records of every kind, and 7,758 reads as they were answered in the end.
"""

import gzip
import json
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from sigla.cli import dumps
from sigla.journal.replay import TopicRecord
from sigla.registry import Registry
from sigla.web.app import build
from tests.protocol import conversations
from tests.protocol.judge import UNORDERED, Ids
from tests.unit.journal.topic import (
    OTHER,
    TEXT,
    THIRD,
    Said,
    cleared,
    config,
    context,
    hidden,
    mode,
    purged,
    schema,
    topic,
)
from tests.unit.registry.lives import BASE, TO_BASE, USING

DUMP = Path(__file__).parent.parent / "vectors" / "dump"
EVERYTHING = {"version": 808, "id": 35, "config": 100, "mode": 129, "context": 96}
"""What an import of the real one tells."""


@cache
def records() -> tuple[TopicRecord, ...]:
    """The real topic."""
    return tuple(dumps.read(DUMP / "records.jsonl.gz"))


@cache
def reads() -> list[Any]:
    """As {"path", "status", "body"}."""
    with gzip.open(DUMP / "state.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def compacted(records: Iterable[TopicRecord]) -> list[TopicRecord]:
    """What Kafka keeps: the last record of each key, a tombstone too, at its own offset."""
    return sorted({each.key: each for each in records}.values(), key=lambda each: each.offset)


async def differences(registry: Registry, wanted: Iterable[Any]) -> list[str]:
    """Statuses, numbers of errors, bodies; lists that have no order as sets."""
    app, found = build(registry), []
    for read in wanted:
        status, text = await conversations._ask(app, {"method": "GET", "path": read["path"]}, Ids())
        ours, theirs = plain(read["path"], status, json.loads(text)), plain(read["path"], read["status"], read["body"])
        if ours != theirs:
            found.append(f"{read['path']}: recorded {theirs}, ours {ours}")
    return found


def plain(path: str, status: int, body: Any) -> Any:
    if status >= 400:
        return status, body["error_code"]
    return status, sorted(body, key=json.dumps) if UNORDERED.search(path) else body


# --- by hand: rules JRN-1 to JRN-8 of the contract -------------------------------------------------------------------

_OLD_KEY = {"version": 1, "magic": 0, "subject": "orders", "keytype": "SCHEMA", "new": True}
_OLD_CONFIG: Said = ({"keytype": "CONFIG", "subject": "orders", "magic": 0}, {"compatibilityLevel": "FULL"})

BY_HAND: list[TopicRecord] = topic(
    # A topic that was compacted begins with the end of what was never seen.
    purged("gone", 1),
    hidden("gone", 4),
    mode("gone", None),
    # A first form: another order of fields, an unknown one, neither a type nor a word on deletion.
    (_OLD_KEY, {"id": 1, "schema": TEXT, "references": None}),
    schema("orders", 2, 2, OTHER),
    schema("orders", 3, 3, THIRD),
    # The subject is deleted while a client registers: what comes later lives, also below the mark.
    hidden("orders", 3),
    schema("orders", 2, 2, OTHER),
    schema("orders", 4, 1),
    # An id with another text is refused, with the same text it is shared; one that was given up is free.
    schema("stolen", 1, 2, THIRD),
    schema("shared", 1, 1),
    schema("shared", 2, 9, '"string"'),
    purged("shared", 2),
    schema("shared", 2, 9, '"long"'),
    schema("shared", 3, 12, '"int"'),
    purged("shared", 3),
    # A referrer comes before what it refers to; of base 2 only its deletion was kept.
    schema("using", 1, 5, USING, references=TO_BASE),
    schema("base", 1, 4, BASE),
    schema("base", 2, 6, '"bytes"', deleted=True),
    schema("cleared", 1, 7, '"float"', deleted=True),
    cleared("cleared"),
    context(".c"),
    context(".dropped"),
    context(".dropped", listed=False),
    schema(":.c:orders", 1, 1, OTHER),
    config("", compatibilityLevel="NONE"),
    _OLD_CONFIG,
    mode("base", "READONLY"),
    mode("shared", "READONLY"),
    mode("shared", None),
    ({"keytype": "NOOP", "magic": 0}, None),
    ({"keytype": "ODD", "name": "t"}, {}),
)

BY_HAND_TOLD = {"version": 10, "id": 2, "config": 2, "mode": 1, "context": 1}
"""What is imported of it; ids 7 and 12 mean something that no version holds any more."""


BY_HAND_HIGHEST = 12
COMPACTED_HIGHEST = 9
"""A tombstone is left of the version that bore the highest id."""

_ANSWERS: dict[str, Any] = {
    "/subjects": [":.c:orders", "base", "orders", "shared", "using"],
    "/subjects?deleted=true": [":.c:orders", "base", "orders", "shared", "using"],
    "/contexts": [".", ".c"],
    "/subjects/orders/versions": [2, 4],
    "/subjects/orders/versions?deleted=true": [1, 2, 3, 4],
    "/subjects/orders/versions/1?deleted=true": {
        "subject": "orders",
        "version": 1,
        "id": 1,
        "guid": "4b77c730-6bf0-4b39-46f6-8f30c367cb3f",
        "schemaType": "AVRO",
        "schema": TEXT,
        "ts": 4_000,
        "deleted": True,
    },
    "/subjects/orders/versions/2/schema": json.loads(OTHER),
    "/subjects/base/versions?deletedOnly=true": [2],
    "/subjects/base/versions/1/referencedby": [5],
    "/subjects/shared/versions": [1, 2],
    "/subjects/:.c:orders/versions": [1],
    "/schemas/ids/1/versions": [{"subject": "orders", "version": 4}, {"subject": "shared", "version": 1}],
    "/schemas/ids/9/schema": "long",
    "/schemas/ids/1/schema?subject=:.c:": json.loads(OTHER),
    "/config": {"compatibilityLevel": "NONE"},
    "/config/orders": {"compatibilityLevel": "FULL"},
    "/mode/base": {"mode": "READONLY"},
}
_REFUSALS: dict[str, int] = {
    "/subjects/gone/versions?deleted=true": 40401,
    "/subjects/stolen/versions?deleted=true": 40401,
    "/subjects/cleared/versions?deleted=true": 40401,
    "/subjects/orders/versions/3": 40402,
    "/subjects/shared/versions/3?deleted=true": 40402,
    "/schemas/ids/7": 40403,
    "/schemas/ids/8": 40403,
    "/schemas/ids/12": 40403,
    "/mode/shared": 40409,
    "/mode/gone": 40409,
    "/config/base": 40408,
}


def by_hand_reads() -> Iterator[Any]:
    """As `reads`."""
    for path, body in _ANSWERS.items():
        yield {"path": path, "status": 200, "body": body}
    for path, code in _REFUSALS.items():
        yield {"path": path, "status": 404, "body": {"error_code": code}}
