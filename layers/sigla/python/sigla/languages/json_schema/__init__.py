"""JSON Schema: the language as a record of functions. What it promises is contract C."""

from collections.abc import Sequence
from typing import Final, cast

from sigla.contract import STRICT
from sigla.errors import Malformed
from sigla.languages.json_schema import compare, load, normalise, sentences, tags, text
from sigla.languages.json_schema.load import Document
from sigla.languages.json_schema.nodes import Object, Schema
from sigla.languages.language import Budget, Language, abandoned, check_unicode
from sigla.languages.outline import Outlines
from sigla.model import Finding, Parsed, Resolved, Tagged

NAME: Final = "JSON"


def _document(parsed: Parsed) -> Document:
    return cast("Document", parsed.tree)


def _parsed(document: Document) -> Parsed:
    canonical = text.written(document.value)
    if not canonical.isascii():
        check_unicode(canonical)
    return Parsed(NAME, canonical, document)


def _parse(given: str, references: Sequence[Resolved], _strict: bool) -> Parsed:  # noqa: FBT001 - Language's signature
    """What kind of value it is does not matter yet."""
    return _parsed(Document(text.read(given), references))


def _validate(parsed: Parsed, fields: bool) -> None:  # noqa: FBT001 - Language's signature
    """It loads with everything it refers to; fields: no property of the root begins with `$$` (JX-5)."""
    root = load.root(_document(parsed))
    for name in root.properties if fields and isinstance(root, Object) else ():
        if name.startswith("$$"):
            raise Malformed(f"The property name '{name}' begins with $$, which is reserved")


def _normalise(parsed: Parsed) -> Parsed:
    return _parsed(normalise.normalised(_document(parsed)))


def _equivalent(a: Parsed, b: Parsed) -> bool:
    return a.canonical == b.canonical


def _digest(parsed: Parsed) -> str:
    return normalise.digest(parsed.canonical)


def differences(
    reader: Parsed, writer: Parsed, budget: Budget | None = None, policy: str = STRICT
) -> tuple[Finding, ...]:
    """Everything in which the reader differs, compatible or not. Raises CheckAbandoned."""
    return compare.differences(_root(reader), _root(writer), budget or Budget(), policy)


def _root(parsed: Parsed) -> Schema:
    """A schema that was imported may never have been loaded."""
    try:
        return load.root(_document(parsed))
    except Malformed as malformed:
        raise abandoned(malformed.reason) from None


def _compare(reader: Parsed, writer: Parsed, budget: Budget | None = None, policy: str = STRICT) -> tuple[Finding, ...]:
    return compare.incompatibilities(_root(reader), _root(writer), budget or Budget(), policy)


def _outlines(old: Parsed, new: Parsed) -> Outlines:
    from sigla.languages.json_schema import outline  # noqa: PLC0415 - few requests ask for it

    return outline.outlines(_document(old), _document(new))


def _render(parsed: Parsed, _form: str) -> str:
    """There is one form only (C.5)."""
    return parsed.canonical


def _compiled(_parsed: Parsed) -> bytes | None:
    """The text says it all."""
    return None


def _top_level_fields(parsed: Parsed) -> frozenset[str]:
    value = _document(parsed).value
    properties = value.get("properties") if isinstance(value, dict) else None
    return frozenset(properties) if isinstance(properties, dict) else frozenset()


def _tagged(parsed: Parsed) -> tuple[Tagged, ...]:
    return tags.tagged(_document(parsed))


def _retag(parsed: Parsed, add: Sequence[Tagged], remove: Sequence[Tagged]) -> str:
    # Read anew: no other reader may have the values that are changed.
    own = Document(text.read(parsed.canonical), _document(parsed).references)
    tags.retag(own, add, remove)
    return _parsed(own).canonical


LANGUAGE: Final = Language(
    name=NAME,
    parse=_parse,
    validate=_validate,
    normalise=_normalise,
    equivalent=_equivalent,
    digest=_digest,
    compare=_compare,
    outlines=_outlines,
    sentence=sentences.sentence,
    render=_render,
    compiled=_compiled,
    top_level_fields=_top_level_fields,
    tagged=_tagged,
    retag=_retag,
)
