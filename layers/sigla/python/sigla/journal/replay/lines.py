"""Records of the topic as lines of a file: dumps, exports, segments of the journal in S3, and what Kafka's tools print.

A line is one JSON object: `key` and `value` as texts (value null: a tombstone), `timestamp` in milliseconds; `offset`,
or in a segment the place `at`, `nonce`, `part`. `kcat -J` calls the same things otherwise; the console consumer prints
columns with tabs between them, which are told by their names.
"""

import json
import re
from typing import Any, Final

from sigla import forms
from sigla.errors import FormTooNew
from sigla.journal.replay.records import TopicRecord

FORM: Final = (
    "one JSON object with the texts key and value, and the numbers timestamp and offset; or a line of `kcat -J`, or of "
    "kafka-console-consumer with print.key, print.timestamp and print.offset"
)

WITH_KEYS: Final = (
    "the key says what a record is about. kcat prints it with -J, kafka-console-consumer with --property print.key=true"
)
"""What to do about a dump that was printed without keys."""

NO_TIME: Final = -1
"""As Kafka tells the time of a record that has none."""

Place = tuple[Any, ...]
"""What orders the lines of a file: an offset, or `at`, `nonce` and `part`."""
Line = tuple[Place, TopicRecord]

_PLACES: Final = ((int,), (int, str, int))
_TYPES: Final = {(str, value, int, *place) for value in (str, None.__class__) for place in _PLACES}
_COLUMN: Final = re.compile(r"(CreateTime|LogAppendTime|Offset):([0-9]{1,20})")
"""The words of the console consumer before the key. There may be more, of which nothing is needed: partition, headers.
"""
_TOMBSTONE: Final = "null"
_PARTS: Final = {"key", "value", "payload"}
"""A JSON object with none of them cannot be a record, but may be the value of one."""


class NotARecord(ValueError):
    """A line that does not hold a record: cut off, or of something else."""


class NoKey(NotARecord):
    """A line with the value of a record, printed without its key."""


def read_line(line: bytes, offset: int | None = None) -> Line:
    """offset: of a line that tells none. The record's own is 0 in a segment. Raises NotARecord, NoKey, FormTooNew."""
    try:
        form = _form(line)
        key, value, ts = form["key"], form["value"], form["timestamp"]
        place: Place = (form["at"], form["nonce"], form["part"]) if "at" in form else (form.get("offset", offset),)
        f"{key}{value}".encode()  # half of a character, which JSON can say, cannot be encoded
    except NoKey:
        raise
    except (ValueError, LookupError, TypeError, RecursionError) as problem:
        raise NotARecord(str(problem)) from None
    if tuple(part.__class__ for part in (key, value, ts, *place)) not in _TYPES:
        raise NotARecord(FORM)
    return place, TopicRecord(key, value, ts, place[0] if len(place) == 1 else 0)


def _form(line: bytes) -> Any:
    """What the line says, under the names of a dump. Raises ValueError, LookupError, TypeError, RecursionError.

    Raises FormTooNew before it looks for anything: a newer form may name it otherwise.
    """
    try:
        form = json.loads(line)
    except json.JSONDecodeError:
        return _printed(line.decode())
    if isinstance(form, dict) and (newer := forms.newer(form, forms.SEGMENT_LINE)):
        raise FormTooNew("the line", newer, forms.SEGMENT_LINE)
    if form is None or (isinstance(form, dict) and form and not _PARTS & form.keys()):
        raise NoKey(FORM)
    if "payload" not in form:
        return form
    return {
        "key": form["key"],
        "value": form["payload"],
        "timestamp": form.get("ts", NO_TIME),
        "offset": form["offset"],
    }


def _printed(line: str) -> dict[str, Any]:
    """A line of the console consumer. Raises ValueError: key and value are whole, or the line is another one."""
    *columns, key, value = line.rstrip("\r\n").split("\t")
    if _COLUMN.fullmatch(key):
        raise NoKey(FORM)
    said = {found[1]: int(found[2]) for each in reversed(columns) if (found := _COLUMN.fullmatch(each))}
    ts = said.get("CreateTime", said.get("LogAppendTime", NO_TIME))
    place = {"offset": said["Offset"]} if "Offset" in said else {}
    for text in (key, value):
        if text != _TOMBSTONE and not isinstance(json.loads(text), dict):
            raise NotARecord(FORM)
    return {"key": key, "value": None if value == _TOMBSTONE else value, "timestamp": ts, **place}
