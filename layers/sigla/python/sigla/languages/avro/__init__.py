"""Avro: the language as a record of functions. What it promises is contract B."""

from collections.abc import Sequence
from typing import Final, cast

from sigla.contract import STRICT
from sigla.languages.avro import canonical, compare, equivalence, normalise, parse, sentences, settle, tags
from sigla.languages.avro.tree import Document, Record
from sigla.languages.language import Budget, Language, check_unicode
from sigla.languages.outline import Outlines
from sigla.model import Finding, Parsed, Resolved, Tagged

NAME: Final = "AVRO"


def _tree(parsed: Parsed) -> Document:
    return cast("Document", parsed.tree)


def _parsed(document: Document) -> Parsed:
    text = canonical.canonical(document)
    if not text.isascii():
        check_unicode(text)
    return Parsed(NAME, text, document)


def _parse(text: str, references: Sequence[Resolved], strict: bool) -> Parsed:  # noqa: FBT001 - Language's signature
    return _parsed(parse.read(text, references, strict=strict))


def _validate(parsed: Parsed, _fields: bool) -> None:  # noqa: FBT001 - Language's signature
    """Parsing has seen to everything but how deep the schema is with all that it refers to."""
    document = _tree(parsed)
    if document.names:
        settle.check_depth(document.root)


def _normalise(parsed: Parsed) -> Parsed:
    return _parsed(normalise.normalised(parsed.canonical, _tree(parsed)))


def _equivalent(a: Parsed, b: Parsed) -> bool:
    return equivalence.equivalent(_tree(a), _tree(b))


def _digest(parsed: Parsed) -> str:
    return equivalence.digest(_tree(parsed))


def _compare(
    reader: Parsed, writer: Parsed, budget: Budget | None = None, _policy: str = STRICT
) -> tuple[Finding, ...]:
    """There is one policy only."""
    return compare.compare(_tree(reader).root, _tree(writer).root, budget or Budget())


def _outlines(old: Parsed, new: Parsed) -> Outlines:
    from sigla.languages.avro import outline  # noqa: PLC0415 - few requests ask for it

    return outline.outlines(_tree(old), _tree(new))


def _render(parsed: Parsed, form: str) -> str:
    return canonical.resolved(_tree(parsed)) if form.lower() == "resolved" else parsed.canonical


def _compiled(_parsed: Parsed) -> bytes | None:
    """The text says it all."""
    return None


def _top_level_fields(parsed: Parsed) -> frozenset[str]:
    root = _tree(parsed).root
    return frozenset(root.by_name) if isinstance(root, Record) else frozenset()


def _tagged(parsed: Parsed) -> tuple[Tagged, ...]:
    return tags.tagged(_tree(parsed))


def _retag(parsed: Parsed, add: Sequence[Tagged], remove: Sequence[Tagged]) -> str:
    # Read anew: no other reader may have the nodes that are changed.
    document = _tree(parsed)
    own = parse.read_with(parsed.canonical, document.names, document.top, strict=False)
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
