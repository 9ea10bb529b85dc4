"""The path of a request, read once from its raw form: what is percent-encoded stays inside its segment (HTTP-14).

A path below `/contexts/{context}/` is rewritten here into the path it stands for (CPATH-1 to CPATH-8): subjects become
qualified, and a query parameter that names subjects is left a note for (`Path.prefix`).
"""

import re
from dataclasses import dataclass
from urllib.parse import unquote_to_bytes

from sigla.errors import InvalidSubject
from sigla.model import DEFAULT_CONTEXT
from sigla.rules import names
from sigla.web.http.refusals import BadRequest, ContextNameWithColon

_CONTROL = re.compile("[\x00-\x1f\x7f]")
_BAD_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")
_COLON = "%3a"
_BEFORE_A_SUBJECT = frozenset({"subjects", "deks", "in-force"})
_ASSOCIATIONS = "associations"
"""What paths begin with whose bodies name subjects: those are in the context of the path."""
_SCOPED_ROOTS = frozenset({"config", "mode"})
_CONSOLE = ("console", "api")
_LISTS_BY_PREFIX = frozenset(
    {
        *(("schemas",), ("subjects",), ("settings",)),
        *((*_CONSOLE, "subjects"), (*_CONSOLE, "search"), (*_CONSOLE, "settings")),
    }
)
"""Paths of lists that `subjectPrefix` narrows; all but the first two are ours."""


@dataclass(frozen=True, slots=True)
class Path:
    """Decoded segments, and which query parameter the context of the path must be put before: (parameter, `:.ctx:`).

    context: the one that the path is below.
    """

    segments: tuple[str, ...]
    prefix: tuple[str, str] | None = None
    context: str = DEFAULT_CONTEXT


def read(raw: bytes) -> Path:
    """Raises BadRequest for an invalid path, InvalidSubject for control characters, ContextNameWithColon."""
    context, pieces = _split_contexts(_pieces(raw))
    segments = [decode(piece) for piece in pieces]
    if pieces and _COLON in pieces[0].lower():
        segments[0] = pieces[0]  # the colon of `/associations:batchGet` is a part of the path itself (ASC-12)
    return Path(tuple(segments)) if context is None else _path_within(context, segments)


def decode(encoded: str) -> str:
    """A segment, decoded once. A plus stays a plus; control characters are refused wherever they stand (HTTP-16)."""
    text = unescape(encoded) if "%" in encoded else encoded
    if _CONTROL.search(text):
        raise InvalidSubject(subject=text)
    return text


def unescape(encoded: str) -> str:
    """Percent-encoded UTF-8 as text. Raises BadRequest for malformed escapes and for other bytes."""
    if _BAD_ESCAPE.search(encoded):
        raise BadRequest(reason=f"Malformed percent escape in '{encoded}'")
    try:
        return unquote_to_bytes(encoded).decode()
    except UnicodeDecodeError:
        raise BadRequest(reason=f"Percent-encoded bytes that are not valid UTF-8 in '{encoded}'") from None


def _pieces(raw: bytes) -> list[str]:
    """The encoded segments, without matrix parameters and without one trailing slash (HTTP-13, HTTP-14)."""
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        raise BadRequest(reason="The path is not valid UTF-8") from None
    if not text.startswith("/"):
        raise BadRequest(reason="The path does not begin with a slash")
    text = text[1:].removesuffix("/")
    if not text and raw not in (b"/", b""):
        raise BadRequest(reason="The path has an empty segment")
    pieces = [piece.partition(";")[0] for piece in text.split("/")] if text else []
    if "" in pieces:
        raise BadRequest(reason="The path has an empty segment")
    return pieces


def _split_contexts(pieces: list[str]) -> tuple[str | None, list[str]]:
    """The innermost context (encoded), or None, and what follows it. The last two segments are never a prefix."""
    context = None
    while len(pieces) > 2 and pieces[0] == "contexts":
        decode(pieces[1])  # refused here, whether it will be needed or not
        context, pieces = pieces[1], pieces[2:]
    return context, pieces


def context_name(said: str) -> str:
    """`name`, `.name`, `:.name:` → `.name`; `.`, `:.:`, `::` → `.`. In a path literal colons only (CPATH-8)."""
    name = said.removeprefix(":").removesuffix(":")
    if ":" in name:
        raise ContextNameWithColon(name=name)
    return name if name.startswith(".") else f".{name}"


def _delimited(encoded: str) -> str:
    return f":{decode(context_name(encoded))}:"


def _path_within(context: str, segments: list[str]) -> Path:
    """The path that one below a context stands for. A context that is not needed is not looked at."""
    if (segments[:2] == ["schemas", "ids"] and len(segments) > 2) or segments == ["schemas", "guids"]:
        prefix = _delimited(context)
        return Path(tuple(segments), ("subject", prefix), prefix[1:-1])
    if tuple(segments) in _LISTS_BY_PREFIX:
        prefix = _delimited(context)
        return Path(tuple(segments), ("subjectPrefix", "" if prefix == f":{DEFAULT_CONTEXT}:" else prefix))
    if segments[0] in _SCOPED_ROOTS:
        named = segments[1:] or [""]
        return Path((segments[0], qualify(_delimited(context), named[0]), *named[1:]))
    if segments[0].startswith(_ASSOCIATIONS) and segments[1:2] != ["subjects"]:
        return Path(tuple(segments), context=_delimited(context)[1:-1])
    if _BEFORE_A_SUBJECT.isdisjoint(segments[:-1]):
        return Path(tuple(segments))
    prefix = _delimited(context)
    return Path(_qualify_subjects(prefix, segments), context=prefix[1:-1])


def _qualify_subjects(prefix: str, segments: list[str]) -> tuple[str, ...]:
    """Each segment behind one of these words, qualified. A subject called `subjects` is a subject, not a signpost."""
    qualified: list[str] = []
    expected = False
    for segment in segments:
        qualified.append(qualify(prefix, segment) if expected else segment)
        expected = not expected and segment in _BEFORE_A_SUBJECT
    return tuple(qualified)


def qualify(prefix: str, subject: str) -> str:
    """The subject in the context of the prefix, unless it names its own."""
    return subject if names.names_context(subject) else prefix + subject
