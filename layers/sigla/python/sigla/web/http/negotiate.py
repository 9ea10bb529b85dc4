"""Media types: which one to answer with, which bodies to read (HTTP-1 to HTTP-7). A header value is judged once."""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import TypeVar

from sigla.web.http.refusals import HttpRefusal, NotAcceptable, NotAMediaType, UnsupportedMediaType

V1 = "application/vnd.schemaregistry.v1+json"
PRODUCED = {V1: 1.0, "application/vnd.schemaregistry+json": 0.9, "application/json": 0.5}
"""What we can answer with, and how much we like it."""
CONSUMED = frozenset({*PRODUCED, "application/octet-stream"})
WILDCARDS = frozenset({"*/*", "application/*"})

_MEDIA_TYPE = re.compile(r"\s*([!#$%&'*+.^_`|~0-9A-Za-z-]+/[!#$%&'*+.^_`|~0-9A-Za-z-]+)\s*(?:;.*)?", re.DOTALL)
_REMEMBERED = 1024
LONGEST_REMEMBERED = 512
MOST_ENTRIES = 64
"""How many media types of a list, and parameters of each of them, are read: the rest of a longer list is not looked at.

Browsers send eight.
"""

Judged = TypeVar("Judged")


def _once(judge: Callable[[bytes], Judged]) -> Callable[[bytes], Judged]:
    """Remembers what a header value was judged to mean; not of long ones: what is kept has a bound in bytes, too."""
    remembered = lru_cache(_REMEMBERED)(judge)

    def judged(value: bytes) -> Judged:
        return remembered(value) if len(value) <= LONGEST_REMEMBERED else judge(value)

    return judged


def _accepted(header: str) -> list[tuple[str, str, float]]:
    """(media type in lower case, its other parameters, quality) of each entry. A bare `*` means `*/*` (HTTP-7)."""
    entries = []
    for entry in _first(header, ","):
        kind, *parameters = (part.strip() for part in _first(entry, ";"))
        weights = [p.partition("=")[2].strip() for p in parameters if p[:2].lower() == "q="]
        others = "".join(f";{p}" for p in parameters if p and p[:2].lower() != "q=")
        entries.append(("*/*" if kind == "*" else kind.lower(), others, _weight(weights)))
    return entries


def _first(said: str, separator: str) -> list[str]:
    return said.split(separator, MOST_ENTRIES)[:MOST_ENTRIES]


def _weight(weights: list[str]) -> float:
    """A quality of 0 is not taken as a refusal, and one that cannot be read as full."""
    try:
        return float(weights[0]) if weights else 1.0
    except ValueError:
        return 1.0


@_once
def answer_type(accept: bytes) -> bytes | None:
    """The Content-Type for an Accept header (empty: absent); None if we have nothing that is asked for."""
    if not accept.strip():
        return V1.encode()
    best, found = (-1.0, -1.0), None
    for kind, parameters, quality in _accepted(accept.decode("latin-1")):
        for produced, liking in PRODUCED.items():
            if kind in (produced, "*/*", "application/*") and (quality, liking) > best:
                best = (quality, liking)
                found = produced + parameters if kind == produced else produced
    return found.encode("latin-1") if found else None


@_once
def names_html(accept: bytes) -> bool:
    """Whether a page is asked for by its name, as browsers do.

    Java's clients say so as well, in a default that is told by its bare `*` (HTTP-7), and mean nothing by it.
    """
    kinds = [entry.partition(";")[0].strip().lower() for entry in _first(accept.decode("latin-1"), ",")]
    return "text/html" in kinds and "*" not in kinds


@_once
def _refused_type(accept: bytes) -> bytes:
    """The Content-Type of a 415: the first entry of Accept that is one of ours, whatever its weight."""
    kinds = [kind for kind, _, _ in _accepted(accept.decode("latin-1"))]
    return next((kind for kind in kinds if kind in PRODUCED), V1).encode()


@_once
def _body_type(content_type: bytes) -> str | type[HttpRefusal]:
    """The media type of a body in lower case; empty if none is said."""
    if not content_type.strip():
        return ""
    said = _MEDIA_TYPE.fullmatch(content_type.decode("latin-1"))
    return said[1].lower() if said else NotAMediaType


def negotiate(accept: bytes, content_type: bytes, *, reads_body: bool) -> bytes:
    """The Content-Type to answer with. Raises NotAMediaType, UnsupportedMediaType or NotAcceptable, in this order."""
    if content_type:
        said = _body_type(content_type)
        if not isinstance(said, str):
            raise said
        if said and said not in CONSUMED and (reads_body or said not in WILDCARDS):
            refusal = UnsupportedMediaType()
            refusal.media = _refused_type(accept)
            raise refusal
    media = answer_type(accept)
    if media is None:
        raise NotAcceptable
    return media


@_once
def offers_gzip(accept_encoding: bytes) -> bool:
    """Whether the client can read gzip: it is named, or `*` is, and not with a weight of 0."""
    for entry in _first(accept_encoding.decode("latin-1").lower(), ","):
        coding, *parameters = (part.strip() for part in _first(entry, ";"))
        if coding in ("gzip", "x-gzip", "*"):
            weights = [p.partition("=")[2] for p in parameters if p.startswith("q=")]
            return _weight(weights) > 0
    return False
