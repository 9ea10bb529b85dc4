"""What `sigla explain` found out, for people and as JSON."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from sigla.decoding.explain import Explained
from sigla.model import DEFAULT_CONTEXT

WIDTH = 16
"""Bytes in a line of a hexdump."""


def as_json(found: Explained) -> str:
    told = {
        "frame": found.frame,
        "schema": found.schema,
        "reader": found.reader,
        "plan": [asdict(line) for line in found.plan],
        "value": found.value,
        "failure": found.failure,
    }
    return _json_text(told)


def _json_text(value: Any, indent: int | None = None) -> str:
    """Integers of any size; half a surrogate pair stays an escape."""
    text = json.dumps(value, ensure_ascii=False, indent=indent, default=str)
    return text.encode(errors="backslashreplace").decode()


def as_text(found: Explained) -> Iterator[str]:
    if found.frame:
        yield f"frame     {_frame_text(found.frame)}"
    for label, schema in (("schema", found.schema), ("reader", found.reader)):
        if schema:
            yield f"{label:<10}{_schema_text(schema)}"
            yield from (f"          {line}" for line in schema["text"].splitlines())
    if found.plan:
        yield "plan"
        yield from _table([(line.path or "(all)", _types(line), line.how) for line in found.plan])
    if found.failure:
        yield f"failure   {found.failure['reason']}{_byte_text(found)}"
        yield f"          {found.failure['detail']}"
        if found.failure["at"] is not None and found.payload is not None:
            yield from (f"          {line}" for line in hexdump(found.payload, found.failure["at"]))
    elif found.payload is not None:
        yield "value"
        text = _json_text(found.value, indent=2)
        yield from (f"  {line}" for line in text.splitlines())


def _frame_text(told: dict[str, Any]) -> str:
    if told.get("tombstone"):
        return "none: a null, which deletes its key"
    said = [str(told[name]) for name in ("indexes", "message") if name in told]
    path = f", message {' '.join(said)}" if said else ""
    mark = f"GUID {told['guid']}" if "guid" in told else f"id {told['id']}"
    return f"{mark}{path}, {told['bytes']} bytes of payload"


def _schema_text(told: dict[str, Any]) -> str:
    context = "" if told["context"] == DEFAULT_CONTEXT else f" in {told['context']}"
    gone = ", deleted" if told["deleted"] else ""
    return f"{told['subject']} version {told['version']}{gone}, {told['type']}, id {told['id']}{context}"


def _types(line: Any) -> str:
    both = [line.written, line.wanted] if line.written != line.wanted else [line.written]
    return " → ".join(filter(None, both))


def _byte_text(found: Explained) -> str:
    at = found.failure and found.failure["at"]
    return "" if at is None else f" at byte {at}" if found.in_frame else f" at byte {at} of the payload"


def _table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def hexdump(data: bytes, at: int) -> Iterator[str]:
    """The line of bytes in which one stands, and a mark below it; past the end it points behind the last."""
    start = at - at % WIDTH
    line = data[start : start + WIDTH]
    text = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in line)
    yield f"{start:08x}  {line.hex(' '):<{3 * WIDTH - 1}}  {text}".rstrip()
    yield " " * (10 + 3 * (at - start)) + "^^"
