"""JSON Schema: a payload → the JSON value, valid by the schema that wrote it.

JSON has no resolution: a value is what it is, and a reader's schema says how it is wanted, not how it is read. So the
reader is asked for its language alone, and `pipelines.land` finds out whether a value fits its columns.

The draft is the one that `$schema` names, and draft 7 where it names none or an unknown one, as in the registry; what
`format` says is not enforced, as in Confluent's clients. A key given twice has its last value. Nothing is ever fetched
over a network.
"""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, Final
from urllib.parse import unquote

import jsonschema_rs
import orjson

from sigla.decoding.decoder import Decode, DecodeFailed, Limits, Source, Unreadable
from sigla.decoding.reasons import Reason

TYPE: Final = "JSON"

STANDARD: Final = Limits()

LONGEST_DETAIL: Final = 500
"""Characters of a sentence about a value, which may quote it."""

DRAFTS: Final[Mapping[str, Any]] = {
    "schema": jsonschema_rs.Draft4Validator,
    "draft-04/schema": jsonschema_rs.Draft4Validator,
    "draft-06/schema": jsonschema_rs.Draft6Validator,
    "draft-07/schema": jsonschema_rs.Draft7Validator,
    "draft/2019-09/schema": jsonschema_rs.Draft201909Validator,
    "draft/2020-12/schema": jsonschema_rs.Draft202012Validator,
}
"""By what follows the host in `$schema`."""

SCHEMAS: Final = re.compile(r"https?://json-schema\.org/([^#]*)#?")

DIGITS: Final = bytes(ord("0" if chr(byte) in "0123456789" else " ") for byte in range(256))
BIG: Final = b"0" * 19
"""With all digits made zeros, where an integer may be that 64 bits do not hold; the fast reader makes a float of it."""

SPACE: Final = " \t\n\r"

_exactly: Final = json.JSONDecoder().raw_decode

TOKENS: Final = re.compile(rb'"(?:[^"\\]|\\.)*+"?|[][{}]', re.DOTALL)
"""Strings, whole or cut off, so that brackets in them do not count."""


def decoder(
    writer: Source, reader: Source | None = None, *, indexes: tuple[int, ...] = (), limits: Limits = STANDARD
) -> Decode:
    """Values as `json.loads` gives them. indexes: () always. Raises Unreadable."""
    del indexes
    if reader is not None:
        _check_language(reader)
    validator = validator_of(writer)
    valid, errors = validator.is_valid, validator.iter_errors

    def decode(payload: bytes) -> Any:
        value = read(payload, limits)
        try:
            if valid(value):
                return value
            raise _invalid(next(iter(errors(value))))
        except ValueError as error:  # of a value that it cannot take in
            raise DecodeFailed(Reason.JSON_SCHEMA, str(error)[:LONGEST_DETAIL]) from None

    return decode


def record_name(source: Source, indexes: tuple[int, ...] = ()) -> str:
    """The title, by which Confluent's record strategies name a subject. Raises Unreadable: BAD_SCHEMA without one."""
    del indexes
    schema = schema_of(source)
    title = schema.get("title") if isinstance(schema, dict) else None
    if not isinstance(title, str) or not title:
        raise Unreadable(Reason.BAD_SCHEMA, "the schema has no title")
    return title


def schema_of(source: Source) -> Any:
    """The schema as JSON. Raises Unreadable."""
    _check_language(source)
    return _loaded(source.text)


def _check_language(source: Source) -> None:
    if source.type != TYPE:
        raise Unreadable(Reason.TYPE_MISMATCH, f"the schema is {source.type}, not {TYPE}")


def _loaded(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Unreadable(Reason.BAD_SCHEMA, str(error)) from None


def validator_of(source: Source) -> Any:
    """A validator of jsonschema-rs. Raises Unreadable."""
    schema = schema_of(source)
    named = schema.get("$schema", "") if isinstance(schema, dict) else ""
    known = SCHEMAS.fullmatch(named) if isinstance(named, str) else None
    draft = DRAFTS.get(known[1] if known else "", jsonschema_rs.Draft7Validator)
    try:
        return draft(schema, validate_formats=False, retriever=_retriever(source))
    except ValueError as error:  # ValidationError of the metaschema, ReferencingError, an invalid pattern
        sentence = getattr(error, "message", str(error))
        raise Unreadable(Reason.BAD_SCHEMA, sentence[:LONGEST_DETAIL]) from None


def _retriever(source: Source) -> Callable[[str], Any]:
    """What an address leads to: the reference of this name, relative to whatever the address was made absolute with."""
    texts = {reference.name.removeprefix("./"): reference.text for reference in source.references}
    names = sorted(texts, key=len, reverse=True)

    def retrieve(address: str) -> Any:
        for wanted in (address, unquote(address)):
            for name in names:
                if wanted == name or wanted.endswith(f"/{name}"):
                    return json.loads(texts[name])
        raise KeyError(address)

    return retrieve


def _invalid(error: Any) -> DecodeFailed:
    """Where in the value, as a JSON Pointer, and why not."""
    steps = (str(step).replace("~", "~0").replace("/", "~1") for step in error.instance_path)
    pointer = "/" + "/".join(steps)
    return DecodeFailed(Reason.JSON_SCHEMA, f"{pointer}: {error.message}"[:LONGEST_DETAIL])


def read(payload: bytes, limits: Limits = STANDARD) -> Any:
    """The value of a payload, integers exact. Raises DecodeFailed."""
    if len(payload) > limits.max_bytes:
        raise DecodeFailed(Reason.TOO_LARGE, f"{len(payload)} bytes are more than {limits.max_bytes}")
    # A level of nesting takes a bracket; with fewer brackets the depth need not be counted.
    if payload.count(b"[") + payload.count(b"{") > limits.depth:
        _check_depth(payload, limits.depth)
    try:
        value = orjson.loads(payload)
    except orjson.JSONDecodeError as error:
        return _reread(payload, error, limits)
    return _exact(payload, value) if BIG in payload.translate(DIGITS) else value


def _check_depth(payload: bytes, allowed: int) -> None:
    depth = 0
    for token in TOKENS.finditer(payload):
        sign = token[0]
        if sign in b"[{":
            depth += 1
            if depth > allowed:
                raise DecodeFailed(Reason.DEPTH, f"more than {allowed} values within values", token.start())
        elif sign in b"]}":
            depth -= 1


def _exact(payload: bytes, value: Any) -> Any:
    try:
        return json.loads(payload)
    except (ValueError, RecursionError):  # more digits than Python converts, or more levels
        return value


def _reread(payload: bytes, error: json.JSONDecodeError, limits: Limits) -> Any:
    """What was wrong, and at which byte; the value after all, where it is only larger, or longer, than was read."""
    try:
        text = payload.decode()
    except UnicodeDecodeError as fault:
        raise DecodeFailed(Reason.BAD_UTF8, "the payload is not valid UTF-8", fault.start) from None
    try:
        value, end = _exactly(text, len(text) - len(text.lstrip(SPACE)))
        # The standard library lets halves of characters pass, and numbers beyond all that a float holds.
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError):
        raise DecodeFailed(Reason.JSON_INVALID, error.msg, _byte(text, error.pos)) from None
    rest = text[end:].lstrip(SPACE)
    if rest and not limits.trailing:
        raise DecodeFailed(Reason.TRAILING_BYTES, "something follows the value", _byte(text, len(text) - len(rest)))
    return value


def _byte(text: str, character: int) -> int:
    return len(text[:character].encode())
