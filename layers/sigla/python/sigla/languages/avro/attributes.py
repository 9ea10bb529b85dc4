"""The attributes of a JSON object that describes a type or a field: which have a meaning, and which are properties."""

from typing import Final

from sigla.errors import Malformed
from sigla.languages.avro import json_text
from sigla.languages.avro.tree import NO_PROPS, Json, Props

Attributes = dict[str, Json]
ORDERS: Final = frozenset(("ascending", "descending", "ignore"))
# Attributes with a meaning, or without one where they stand, do not count as properties.
OF_TYPES: Final = frozenset(
    ("doc", "fields", "items", "name", "namespace", "size", "symbols", "values", "type", "aliases")
)
OF_ENUMS: Final = OF_TYPES | {"default"}
OF_FIELDS: Final = frozenset(("default", "doc", "name", "order", "type", "aliases"))


def rest(json: Attributes, known: frozenset[str]) -> Props:
    """The properties: every attribute that is not known, in order of appearance."""
    if known.issuperset(json):
        return NO_PROPS
    return {key: value for key, value in json.items() if key not in known}


def order(word: Json) -> str:
    """The order of a field, written in any case (ST-7)."""
    if isinstance(word, str) and word.lower() in ORDERS:
        return word.lower()
    raise Malformed(f"The order of a field is not ascending, descending or ignore: {json_text.written(word)}")
