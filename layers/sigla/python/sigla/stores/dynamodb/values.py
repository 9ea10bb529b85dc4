"""Attribute values: DynamoDB's spelling ↔ ours, of the few kinds that rows need."""

import zlib
from collections.abc import Callable, Mapping
from typing import Any

import orjson

from sigla.errors import FormTooNew
from sigla.forms import ITEM_OF_REGIONS, newer

Item = dict[str, Any]
"""Attributes by name: text, whole numbers, booleans, bytes and lists of these. None is told by absence."""

_SMALL = 4_096
"""Bytes of JSON that stay readable in the table's console; more is compressed: items end at 400 KB."""

_WRITERS: dict[type, Callable[[Any], dict[str, Any]]] = {
    str: lambda value: {"S": value},
    bool: lambda value: {"BOOL": value},
    int: lambda value: {"N": str(value)},
    bytes: lambda value: {"B": value},
    list: lambda value: {"L": [written(each) for each in value]},
}
_READERS: dict[str, Callable[[Any], Any]] = {
    "S": str,
    "BOOL": bool,
    "N": int,
    "B": bytes,
    "L": lambda value: [read(each) for each in value],
}


def written(value: Any) -> dict[str, Any]:
    return _WRITERS[type(value)](value)


def read(value: Mapping[str, Any]) -> Any:
    ((kind, content),) = value.items()
    return _READERS[kind](content)


def written_item(item: Mapping[str, Any]) -> dict[str, Any]:
    return {name: written(value) for name, value in item.items() if value is not None}


def read_item(item: Mapping[str, Any]) -> Item:
    """Raises FormTooNew. The form of a journal row is the row itself, which says its own number."""
    found = {name: read(value) for name, value in item.items()}
    if form := newer(found, ITEM_OF_REGIONS):
        raise FormTooNew(f"the item {found.get('sk')} of {found.get('pk')}", form, ITEM_OF_REGIONS)
    return found


def packed(form: Any) -> str | bytes:
    """JSON as one attribute."""
    text = orjson.dumps(form)
    return text.decode() if len(text) <= _SMALL else zlib.compress(text)


def unpacked(value: str | bytes) -> Any:
    return orjson.loads(value if isinstance(value, str) else zlib.decompress(value))
