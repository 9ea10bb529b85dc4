"""What an audit costs that looks through 100,000 schemas: time, pairs a second, and memory.

    python -m benchmarks.audit [SCHEMAS] [--quick] [--json]

Each registry is a data directory that a bare writer fills with what an audit reads: ten versions of each subject, every
pair of which is compared in both directions. Its peer is a registry of a tenth of the size.

It may mislead: bodies are files in the memory of the operating system; in S3 each would be a GET of its own.
"""

import re
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from itertools import islice
from pathlib import Path

from benchmarks import filled, jobs
from benchmarks.harness import Line, Lines
from benchmarks.jobs import Ran
from sigla import keys, records
from sigla.keys import utf16
from sigla.languages import LANGUAGES
from sigla.model import Body, BodyKey, Schema, SchemaId, Subject, Version
from sigla.rules.guid import guid_of
from sigla.stores.sqlite.store import EmbeddedStore

GROUP = 10_000
AT = 1_700_000_000_000
CONTEXT = "."


def lines(*, quick: bool = False, schemas: int = jobs.SCHEMAS) -> Lines:
    sizes = jobs.sizes(schemas, quick=quick)
    small, large = (_audited(size) for size in sizes)
    few, many = (f"{size:,} schemas" for size in sizes)
    yield Line(f"audit, a schema: {many}", large.seconds / sizes[1], "s", small.seconds / sizes[0], few)
    yield Line(f"audit, pairs compared in both directions: {many}", _pairs(large) / large.seconds, "/s")
    yield from jobs.memory("audit", large, small, sizes)


def _audited(schemas: int) -> Ran:
    with filled.workspace() as space:
        fill(space / "data", schemas)
        command = ["-m", "sigla_pipelines", "audit", "--data", str(space / "data"), "--out", str(space / "audit")]
        return jobs.run(command, space)


def _pairs(ran: Ran) -> int:
    """Raises RuntimeError if the audit does not tell."""
    told = re.search(r"^compared: ([\d,]+) pairs$", ran.printed, re.MULTILINE)
    if told is None:
        raise RuntimeError(f"the audit printed\n{ran.printed}")
    return int(told[1].replace(",", ""))


def fill(path: Path, schemas: int) -> None:
    """Subjects, versions and bodies, past the verbs: those would take ten times as long."""
    with EmbeddedStore(path):
        pass  # which makes the tables
    with closing(sqlite3.connect(path / "catalog.sqlite", isolation_level=None)) as database:
        database.execute("PRAGMA synchronous = OFF")
        numbers = iter(range(schemas))
        while some := list(islice(numbers, GROUP)):
            database.execute("BEGIN")
            database.executemany(
                "INSERT INTO subject VALUES (?, ?, '.', ?, ?, ?, 0, 0, ?, ?, '')", _subjects(some, schemas)
            )
            database.executemany(
                "INSERT INTO version VALUES (?, ?, '.', ?, ?, 'AVRO', '[]', FALSE, ?, ?, ?)", _versions(path, some)
            )
            database.execute("COMMIT")


def _subjects(numbers: Iterable[int], schemas: int) -> Iterator[tuple[object, ...]]:
    for number in numbers:
        of, version = divmod(number, filled.VERSIONS)
        if version == 0:
            name, last = filled.subject(of), min(filled.VERSIONS, schemas - number)
            yield of, utf16(name.qualified), name.name, utf16(name.name), last, last, last


def _versions(path: Path, numbers: Iterable[int]) -> Iterator[tuple[object, ...]]:
    for number in numbers:
        of, version = divmod(number, filled.VERSIONS)
        id, name = SchemaId(number + 1), filled.subject(of)
        schema = Schema("AVRO", _canonical(of, version + 1))
        body = Body(schema, guid_of(schema), (), Subject(CONTEXT, name.name), Version(version + 1), AT, "n")
        key = BodyKey(CONTEXT, id)
        file = path / keys.body_file("default", key)
        if number == 0:
            file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(records.body_bytes(key, body))
        yield of, version + 1, id, body.guid, AT, version + 1, utf16(name.qualified)


def _canonical(of: int, version: int) -> str:
    """Parsed once, then only its two numbers change."""
    return _TEMPLATE.replace("_98765432", f"_{version}").replace("Order12345678", f"Order{of}")


_TEMPLATE = LANGUAGES["AVRO"].parse(filled.text(12_345_678, 98_765_432), (), True).canonical  # noqa: FBT003 - strictly


if __name__ == "__main__":
    jobs.main(lines, __doc__)
