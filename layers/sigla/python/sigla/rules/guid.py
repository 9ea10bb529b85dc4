"""The content hash of a schema: its GUID, and the key by which equal content is found again."""

import hashlib
from collections.abc import Iterable, Iterator

from sigla.keys import utf16
from sigla.model import Guid, Metadata, Rule, RuleSet, Schema

_PRESENT = b"\x01"


def guid_of(schema: Schema) -> Guid:
    """MD5 over text, references, metadata and rule set, without separators, as UUID text.

    The schema's type takes no part.
    """
    is_plain = not schema.references and schema.metadata is None and schema.rule_set is None
    content = _utf8(schema.text) if is_plain else b"".join(_stream(schema))
    digest = hashlib.md5(content, usedforsecurity=False).hexdigest()
    return Guid(f"{digest[:8]}-{digest[8:12]}-{digest[12:16]}-{digest[16:20]}-{digest[20:]}")


def is_guid_of(guid: Guid, schema: Schema) -> bool:
    """Whether the content hash is the schema's.

    For encrypted metadata it is the hash of what they were before, and believed.
    """
    return guid == guid_of(schema) or is_encrypted(schema.metadata)


def is_encrypted(metadata: Metadata | None) -> bool:
    """Whether a Confluent registry stored sensitive properties encrypted; only such a schema comes with its hash."""
    return metadata is not None and metadata.properties.get("__enc__") == "true"


def _stream(schema: Schema) -> Iterator[bytes]:
    yield _utf8(schema.text)
    for reference in schema.references:
        yield _utf8(reference.name)
        yield _utf8(reference.subject)
        yield reference.version.to_bytes(4, "big", signed=True)
    if schema.metadata is not None:
        yield _PRESENT
        yield from map(_utf8, _metadata(schema.metadata))
    if schema.rule_set is not None:
        yield _PRESENT
        yield from _rule_set(schema.rule_set)


def _metadata(metadata: Metadata) -> Iterator[str]:
    for path in _ascending(metadata.tags):
        yield path
        yield from _ascending(metadata.tags[path])
    for key in _ascending(metadata.properties):
        yield key
        yield metadata.properties[key]
    yield from _ascending(metadata.sensitive)


def _rule_set(rule_set: RuleSet) -> Iterator[bytes]:
    for rule in rule_set.rules:
        yield from (_utf8(part) for part in _rule(rule) if part is not None)
        if rule.disabled:
            yield _PRESENT
    if rule_set.enable_at is not None:
        yield _utf8(rule_set.enable_at)


def _rule(rule: Rule) -> Iterator[str | None]:
    yield from (rule.name, rule.doc, rule.kind, rule.mode, rule.type)
    yield from _ascending(rule.tags or ())
    params = rule.params or {}
    for key in _ascending(params):
        yield key
        yield params[key]
    yield from (rule.expr, rule.on_success, rule.on_failure)


def _ascending(texts: Iterable[str]) -> list[str]:
    return sorted(texts, key=utf16)


def _utf8(text: str) -> bytes:
    # A lone surrogate has no UTF-8; like the reference we hash a question mark in its place.
    return text.encode("utf-8", "replace")
