"""What of a writer's schema its bytes depend on: thousands of ids of a topic may differ in what they say of themselves.

To make a plan takes ten times as long as to see that there is one already.
"""

from hashlib import blake2b
from typing import Final

import orjson

from sigla.decoding.decoder import Source
from sigla.errors import Malformed
from sigla.languages.avro import json_text
from sigla.languages.avro.tree import Json

_WITHIN: Final = frozenset(("fields", "items", "values", "type"))
"""What a type, or a field, has types or fields in. A default is a value, whatever its members are called."""


def layout(source: Source) -> bytes | None:
    """A digest; schemas with the same one write the same bytes. None where it cannot be told."""
    try:
        text = orjson.dumps(_undocumented(json_text.read(source.text)))
    except (Malformed, TypeError, RecursionError):  # no JSON, texts that are not UTF-8, numbers without end
        return None
    digest = blake2b(source.type.encode(), digest_size=32)
    for each in (text, *(reference.text.encode(errors="surrogatepass") for reference in source.references)):
        digest.update(len(each).to_bytes(8))
        digest.update(each)
    return digest.digest()


def _undocumented(json: Json) -> Json:
    if isinstance(json, dict):
        return {
            name: _undocumented(value) if name in _WITHIN and value.__class__ is not str else value
            for name, value in json.items()
            if name != "doc"
        }
    return [_undocumented(each) for each in json] if isinstance(json, list) else json
