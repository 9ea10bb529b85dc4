"""One Avro compatibility check, beside the checker of Apache's own Python library.

The schema is a record of five levels with 1,000 fields in all: primitives, optional ones, arrays, maps, enums. The
reader has one more optional field in every record. Both sides are parsed before; every check starts afresh. Then the
same for 10 to 10,000 fields, to show that time grows as the schema does, and the time that reading its text takes,
beside `avro` and `fastavro`.

It may mislead: the schemas are compatible, which is what most checks find; and `fastavro` checks less when it parses.
"""

import json
from collections.abc import Callable
from itertools import count

import avro.schema
import fastavro
from avro.compatibility import ReaderWriterCompatibilityChecker, SchemaCompatibilityType

from benchmarks.checks import checking, curve, parsed
from benchmarks.harness import Goal, Line, Lines, best_of, main, per_call
from sigla.languages.avro import LANGUAGE

LEVELS = 5
BRANCHES = 3
RECORDS = sum(BRANCHES**level for level in range(LEVELS))
KINDS: tuple[object, ...] = (
    "string",
    ["null", "long"],
    {"type": "array", "items": "double"},
    {"type": "map", "values": "int"},
    "boolean",
    {"type": "long", "logicalType": "timestamp-millis"},
    ["null", {"type": "array", "items": "string"}],
)


def text(fields: int, *, evolved: bool = False) -> str:
    """A record with so many fields in all, spread evenly over a tree of records as deep as they allow."""
    numbers = count()
    levels = next((n for n in range(LEVELS, 1, -1) if sum(BRANCHES**level for level in range(n)) * 2 <= fields), 1)
    records = sum(BRANCHES**level for level in range(levels))
    plain, more = divmod(fields - (records - 1), records)

    def record(level: int) -> dict[str, object]:
        number = next(numbers)
        own: list[dict[str, object]] = [
            {"name": f"f{n}", "type": KINDS[(number + n) % len(KINDS)]} for n in range(plain + (number < more))
        ]
        if number % 4 == 0:
            own[0]["type"] = {"type": "enum", "name": f"E{number}", "symbols": ["A", "B", "C", "D"]}
        if evolved:
            own.append({"name": "added", "type": ["null", "string"], "default": None})
        if level < levels:
            own += [{"name": f"r{n}", "type": record(level + 1)} for n in range(BRANCHES)]
        return {"type": "record", "name": f"R{number}", "fields": own}

    return json.dumps({**record(1), "namespace": "shop"})


def lines(*, quick: bool = False) -> Lines:
    fields, sizes = (100, (10, 100)) if quick else (1_000, (10, 100, 1_000, 10_000))
    rounds = 2 if quick else 15
    yield from check(fields, rounds)
    yield from parse(fields, rounds)
    yield from curve(LANGUAGE, text, sizes, rounds, piece="field", pieces=20_000)


def check(fields: int, rounds: int) -> Lines:
    ours, peer = best_of(rounds, per_call(checking(LANGUAGE, text, fields), 20), per_call(apaches(fields), 1))
    yield Line(f"check of {fields:,} fields, 5 levels", ours, "s", peer, "Apache avro", Goal(0.1))


def apaches(fields: int) -> Callable[[], None]:
    """The same check by Apache's own checker, which finds nothing either."""
    reader, writer = avro.schema.parse(text(fields, evolved=True)), avro.schema.parse(text(fields))

    def check() -> None:
        checker = ReaderWriterCompatibilityChecker()
        verdict = checker.get_compatibility(reader, writer)
        if verdict.compatibility is not SchemaCompatibilityType.compatible:
            raise AssertionError(verdict.messages)

    return check


def parse(fields: int, rounds: int) -> Lines:
    schema = text(fields)
    ours, apache, fast, bare = best_of(
        rounds,
        per_call(lambda: parsed(LANGUAGE, schema), 2),
        per_call(lambda: avro.schema.parse(schema), 1),
        per_call(lambda: fastavro.parse_schema(json.loads(schema)), 2),
        per_call(lambda: json.loads(schema), 5),
    )
    what = f"parse and canonical text of {fields:,} fields"
    yield Line(what, ours, "s", apache, "Apache avro: parse")
    yield Line(what, ours, "s", fast, "fastavro: parse_schema")
    yield Line(what, ours, "s", bare, "json.loads alone")


if __name__ == "__main__":
    main(lines, __doc__)
