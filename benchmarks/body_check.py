"""What it costs to believe a body: from stored bytes to memory with all checks, beside the same without them.

A body is checked once each time it enters memory, from a file, from S3 or from a ring; a warm read by id checks nothing
(`warm_get`). The checks: its own context and id, a digest of all its bytes, and its GUID over its content.
"""

from collections.abc import Iterator
from functools import partial

import orjson

from benchmarks.harness import Line, Lines, best_of, main, per_call
from sigla import records
from sigla.model import DEFAULT_CONTEXT, Body, BodyKey, Schema, SchemaId, Subject, Version
from sigla.rules.bodies import believed
from sigla.rules.guid import guid_of

KEY = BodyKey(DEFAULT_CONTEXT, SchemaId(42))


def lines(*, quick: bool = False) -> Lines:
    rounds = 2 if quick else 30
    for name, fields in (("1 kB", 18), ("10 kB", 180), ("1 MB", 18_000)):
        stored = records.body_bytes(KEY, _body(fields))
        calls = 1 if quick else max(1, 20_000 // fields)
        checked, plain = best_of(rounds, *(per_call(partial(read, stored), calls) for read in (_checked, _plain)))
        yield Line(f"a body of {name} enters memory, checked", checked, "s", plain, "unchecked")


def _checked(stored: bytes) -> Body:
    return believed(KEY, stored)


def _plain(stored: bytes) -> Body:
    """As releases before 2026-11-22 read it."""
    return records.body_of(orjson.loads(stored))


def _body(fields: int) -> Body:
    schema = Schema("AVRO", orjson.dumps(_record(fields)).decode())
    return Body(
        schema, guid_of(schema), (), Subject(DEFAULT_CONTEXT, "orders-value"), Version(1), 0, "0123456789abcdef"
    )


def _record(fields: int) -> dict[str, object]:
    return {"type": "record", "name": "Order", "fields": list(_fields(fields))}


def _fields(fields: int) -> Iterator[dict[str, object]]:
    for number in range(fields):
        yield {"name": f"field_{number:05}", "type": "string", "doc": "what it is"}


if __name__ == "__main__":
    main(lines, __doc__)
