"""Protocol Buffers: the language as a record of functions. What it promises is contract D."""

import binascii
from collections.abc import Sequence
from hashlib import sha256
from typing import Final, cast

from sigla.contract import STRICT
from sigla.errors import Malformed
from sigla.languages.language import Budget, Language, check_unicode
from sigla.languages.outline import Outlines
from sigla.languages.protobuf import canonical, compare, descriptors, normalise, parse, resolve, sentences, tags
from sigla.languages.protobuf.tree import Document, File
from sigla.model import Finding, Parsed, Resolved, Tagged

NAME: Final = "PROTOBUF"


def _tree(parsed: Parsed) -> Document:
    return cast("Document", parsed.tree)


def _parsed(document: Document) -> Parsed:
    text = canonical.written(document.file)
    if not text.isascii():
        check_unicode(text)
    return Parsed(NAME, text, document)


def _file(text: str) -> File:
    """A file from source, else from a descriptor in base64 (PI-1). Raises Malformed with what is wrong as source."""
    try:
        return parse.read(text)
    except Malformed as malformed:
        try:
            return _described(text)
        except (Malformed, ValueError):  # ValueError: no base64
            raise Malformed(f"Could not parse Protobuf - {malformed.reason}") from None


def _described(text: str) -> File:
    """A file from base64, whose padding may be left out, as in Java.

    It is printed and read as source, for that is what will be stored (PI-4): a descriptor may say what no source can,
    and have names that only look like one.
    """
    descriptor = binascii.a2b_base64(text + "=" * (-len(text) % 4), strict_mode=True)
    return parse.read(canonical.written(descriptors.file_of(descriptor)))


def _imported(references: Sequence[Resolved]) -> dict[str, File]:
    """The files of references by import path (PR-1), whether anything of them is used or not. Raises Malformed."""
    return {reference.name: _file(reference.text) for reference in references}


def _parse(text: str, references: Sequence[Resolved], _strict: bool) -> Parsed:  # noqa: FBT001 - Language's signature
    """A new schema and a stored one are read alike; what only a new one must hold, `validate` sees to."""
    return _parsed(Document(_file(text), _imported(references)))


def _validate(parsed: Parsed, fields: bool) -> None:  # noqa: FBT001 - Language's signature
    resolve.check(_tree(parsed))
    if fields:
        descriptors.check(_tree(parsed))


def _normalise(parsed: Parsed) -> Parsed:
    document = _tree(parsed)
    return _parsed(Document(normalise.normalised(document), document.imported))


def _equivalent(a: Parsed, b: Parsed) -> bool:
    return _lines(a) == _lines(b)


def _digest(parsed: Parsed) -> str:
    return sha256("\n".join(_lines(parsed)).encode()).hexdigest()


def _lines(parsed: Parsed) -> list[str]:
    """The text without blank lines: normalisation leaves one where oneofs were, and reading the text takes it away."""
    return [line for line in parsed.canonical.split("\n") if line.strip()]


def differences(
    reader: Parsed, writer: Parsed, budget: Budget | None = None, _policy: str = STRICT
) -> tuple[Finding, ...]:
    """Everything in which the two differ, harmless differences included. Raises CheckAbandoned."""
    return compare.differences(_tree(reader), _tree(writer), budget or Budget())


def _compare(
    reader: Parsed, writer: Parsed, budget: Budget | None = None, _policy: str = STRICT
) -> tuple[Finding, ...]:
    """There is one policy only."""
    return compare.incompatibilities(_tree(reader), _tree(writer), budget or Budget())


def _outlines(old: Parsed, new: Parsed) -> Outlines:
    from sigla.languages.protobuf import outline  # noqa: PLC0415 - few requests ask for it

    return outline.outlines(_tree(old), _tree(new))


def _render(parsed: Parsed, form: str) -> str:
    if form == "serialized":
        return descriptors.serialized(_tree(parsed))
    if form == "ignore_extensions":
        return canonical.without_extensions(_tree(parsed).file)
    # As a request for the stored text in any form gets it: read again.
    return canonical.written(parse.read(parsed.canonical))


def _compiled(parsed: Parsed) -> bytes | None:
    return descriptors.compiled(_tree(parsed))


def _top_level_fields(parsed: Parsed) -> frozenset[str]:
    return frozenset(field.name for message in _tree(parsed).file.messages for field in message.fields)


def _tagged(parsed: Parsed) -> tuple[Tagged, ...]:
    return tags.tagged(_tree(parsed))


def _retag(parsed: Parsed, add: Sequence[Tagged], remove: Sequence[Tagged]) -> str:
    document = _tree(parsed)
    return _parsed(Document(tags.retag(document, add, remove), document.imported)).canonical


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
