"""An audit as it is kept: lines of JSON, packed. The first says when, where and which topics, each other one an id.

{"form": 1, "at": 1700000000000, "places": ["/lake"], "retention_ms": {"orders": 604800000}}
[".", 42, "orders", 1200, 1699999999999]
"""

import gzip
from collections.abc import Collection
from typing import Any, Final

import orjson

from sigla.errors import StoreError
from sigla.forms import AUDIT, FORM, newer, too_new
from sigla.model import BodyKey, SchemaId
from sigla.ports.audits import FoundRecords, Occurrence

PACKING: Final = 6


def packed(found: FoundRecords) -> bytes:
    head = {FORM: AUDIT, "at": found.at, "places": found.places, "retention_ms": dict(found.retention_ms)}
    rows = ([each.key.context, each.key.id, each.topic, each.rows, each.last] for each in found.occurrences)
    return gzip.compress(b"".join(orjson.dumps(line) + b"\n" for line in (head, *rows)), PACKING, mtime=0)


def unpacked(content: bytes, keys: Collection[BodyKey]) -> FoundRecords:
    """Reads what an audit says of these ids, a line at a time, since it may have millions. Raises StoreError."""
    wanted = {(key.context, key.id): key for key in keys}
    try:
        first, *lines = gzip.decompress(content).splitlines()
        head: dict[str, Any] = orjson.loads(first)
        if form := newer(head, AUDIT):
            raise StoreError(f"what an audit found {too_new(form, AUDIT)}")
        found = []
        for line in lines:
            context, id, topic, rows, last = orjson.loads(line)
            if (context, id) in wanted:
                found.append(Occurrence(BodyKey(context, SchemaId(id)), topic, rows, last))
        return FoundRecords(head["at"], tuple(head["places"]), tuple(found), head["retention_ms"])
    except (OSError, EOFError, ValueError, KeyError, TypeError, AttributeError) as damage:
        raise StoreError("what an audit found is damaged: run the audit again") from damage
