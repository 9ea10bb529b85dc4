"""A table's export to S3 (DYNAMODB_JSON): its lines, one item each, as what stands in a version's row or a head.

An export costs no read of the table and takes some minutes: it is the table as it was then. Its items come in any
order, so a version and the head that says whether it still counts have to be joined by `pk` and `generation`.
"""

from base64 import b64decode
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import unquote

import orjson

from sigla import keys
from sigla.model import DEFAULT_CONTEXT, Row, Subject
from sigla.stores.dynamodb import items
from sigla.stores.dynamodb.actions import Key
from sigla.stores.dynamodb.values import Item, read_item


@dataclass(frozen=True, slots=True)
class ExportedHead:
    """hidden: versions of an older revision are soft-deleted, whatever they say."""

    pk: str
    generation: int
    hidden: int


@dataclass(frozen=True, slots=True)
class ExportedVersion:
    pk: str
    generation: int
    subject: Subject
    row: Row


def exported(lines: Iterable[bytes], registry: str) -> Iterator[ExportedHead | ExportedVersion]:
    """Heads and versions of one registry; everything else in the table is passed by."""
    ours = f"{keys.component(registry)}#s#"
    for line in lines:
        key, item = _item(line)
        if key[0].startswith(ours):
            yield from _subject_rows(key, item)


def _item(line: bytes) -> tuple[Key, Mapping[str, Mapping[str, object]]]:
    item = orjson.loads(line)["Item"]
    return (item["pk"]["S"], item["sk"]["S"]), item


def _subject_rows(key: Key, item: Mapping[str, Mapping[str, object]]) -> Iterator[ExportedHead | ExportedVersion]:
    pk, sk = key
    if sk == keys.HEAD:
        state = items.state(_subject(pk), _read_exported(item))
        yield ExportedHead(pk, state.head.generation, state.hidden)
    elif sk.startswith("V#"):
        yield ExportedVersion(pk, int(sk.split("#")[1]), _subject(pk), items.version(_read_exported(item)).row)


def _subject(pk: str) -> Subject:
    _, _, context, name = pk.split("#")
    return Subject(DEFAULT_CONTEXT if context == "_" else unquote(context), unquote(name))


def _read_exported(item: Mapping[str, Mapping[str, object]]) -> Item:
    """Bytes are in base64."""
    return read_item({name: _with_bytes(each) for name, each in item.items()})


def _with_bytes(value: Mapping[str, object]) -> Mapping[str, object]:
    return {"B": b64decode(str(value["B"]))} if "B" in value else value
