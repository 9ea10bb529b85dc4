"""Bytes of a request into a JSON tree, and a tree into the bytes of an answer: as lenient and exact as the contract.

Reading goes through orjson, which is fast but keeps no number's spelling and knows neither NaN nor unpaired surrogates.
What it refuses, or what turns out to need a number's spelling, is read again with care.
"""

import json
import re
from collections.abc import Callable
from typing import Any, TypeVar

import orjson

from sigla import effort
from sigla.web.http.refusals import BadRequest, MissingBody

DEEPEST = 1000
LONGEST_NUMBER = 1000

_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)|[\[{\]}]', re.DOTALL)
_BEYOND_PLANE_0 = re.compile(rb"[\xf0-\xf4][\x80-\xbf]{3}")
_TO_ESCAPE = re.compile("[\ud800-\udfff\U00010000-\U0010ffff]")
_UNPAIRED = re.compile("[\ud800-\udfff]")

Bound = TypeVar("Bound")


class Numeral(str):
    """A number as it was written, where text was read with care."""

    __slots__ = ()


class Inexact(Exception):
    """The spelling of a number is needed, and the fast reading has lost it."""


def read(body: bytes, bind: Callable[[Any], Bound], *, operation: str) -> Bound:
    """What `bind` makes of the body's JSON value. Raises MissingBody for none or null, BadRequest for no JSON."""
    body = _as_utf8(body)
    if not body or body.isspace():
        raise MissingBody(operation=operation)
    _check_depth(body)
    try:
        tree = orjson.loads(body)
    except orjson.JSONDecodeError:
        tree = _read_with_care(body)
    if tree is None:
        raise MissingBody(operation=operation)
    try:
        return bind(tree)
    except Inexact:
        return bind(_read_with_care(body))


def _as_utf8(body: bytes) -> bytes:
    """UTF-16 and UTF-32 are known by their zero bytes or their mark, whatever the charset parameter says."""
    if body[:1] not in b"\xef\xfe\xff\x00" and b"\x00" not in body[:4]:
        return body
    try:
        return body.decode(json.detect_encoding(body)).encode()
    except UnicodeError:
        raise BadRequest(reason="The request body is not text in UTF-8, UTF-16 or UTF-32") from None


def _check_depth(body: bytes) -> None:
    """Refuses what nests deeper than 1,000. Brackets are counted first: most bodies have fewer altogether."""
    if body.count(b"[") + body.count(b"{") <= DEEPEST:
        return
    depth = 0
    for token in _TOKEN.finditer(body):
        effort.pulse(1)
        if body[token.start()] in b"[{":
            depth += 1
            if depth > DEEPEST:
                raise BadRequest(reason=f"Document nesting depth exceeds the maximum allowed ({DEEPEST})")
        elif body[token.start()] in b"]}":
            depth -= 1


def _read_with_care(body: bytes) -> Any:
    """The tree with numbers as `Numeral`; NaN and infinities too."""
    try:
        return json.loads(body.decode(), parse_int=_numeral, parse_float=_numeral, parse_constant=_numeral)
    except UnicodeDecodeError as error:
        raise BadRequest(reason=f"Invalid UTF-8 at byte {error.start}") from None
    except json.JSONDecodeError as error:
        raise BadRequest(reason=_reason(error)) from None
    except RecursionError:
        raise BadRequest(reason="Document nesting is too deep") from None


def _numeral(spelling: str) -> Numeral:
    effort.pulse(1)
    if len(spelling) > LONGEST_NUMBER:
        raise BadRequest(reason=f"Number value length ({len(spelling)}) exceeds the maximum allowed ({LONGEST_NUMBER})")
    return Numeral(spelling)


def _reason(error: json.JSONDecodeError) -> str:
    where = f"line: {error.lineno}, column: {error.colno}"
    if error.msg == "Extra data":
        return f"Trailing token found after value ({where})"
    if not error.doc[error.pos :].strip():
        return f"Unexpected end-of-input ({where})"
    return f"{error.msg} ({where})"


def check_paired(text: str) -> str:
    """The text itself. Raises BadRequest for half a surrogate pair, which cannot be stored."""
    if _UNPAIRED.search(text):
        raise BadRequest(reason="Unpaired surrogate in a string")
    return text


def write(value: object) -> bytes:
    """Compact JSON in UTF-8; characters beyond U+FFFF as escaped surrogate pairs, as the reference writes them."""
    try:
        written = orjson.dumps(value)
    except TypeError:  # half a surrogate pair, quoted from a request
        return _escape(json.dumps(value, ensure_ascii=False, separators=(",", ":"))).encode()
    if not written.isascii() and _BEYOND_PLANE_0.search(written):
        return _escape(written.decode()).encode()
    return written


def _escape(text: str) -> str:
    return _TO_ESCAPE.sub(lambda found: json.dumps(found[0])[1:-1].upper().replace("\\U", "\\u"), text)
