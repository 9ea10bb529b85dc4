"""Records of the topic as lines of a file: dumps, exports, and segments of the journal in S3.

A line is one JSON object: `key` and `value` as texts (value null: a tombstone), `timestamp` in milliseconds; `offset`,
or in a segment the place `at`, `nonce`, `part`.
"""

import json
from typing import Any, Final

from sigla.journal.replay.records import TopicRecord

FORM: Final = "one JSON object with the texts key and value, and the numbers timestamp and offset"

Place = tuple[Any, ...]
"""What orders the lines of a file: an offset, or `at`, `nonce` and `part`."""
Line = tuple[Place, TopicRecord]

_PLACES: Final = ((int,), (int, str, int))
_TYPES: Final = {(str, value, int, *place) for value in (str, None.__class__) for place in _PLACES}


class NotARecord(ValueError):
    """A line that is no record: cut off, or of something else."""


def read_line(line: bytes, offset: int | None = None) -> Line:
    """offset: of a line that tells none. The record's own is 0 in a segment. Raises NotARecord."""
    try:
        form = json.loads(line)
        key, value, ts = form["key"], form["value"], form["timestamp"]
        place: Place = (form["at"], form["nonce"], form["part"]) if "at" in form else (form.get("offset", offset),)
        f"{key}{value}".encode()  # half of a character, which JSON can say, is no text
    except (ValueError, LookupError, TypeError, RecursionError) as problem:
        raise NotARecord(str(problem)) from None
    if tuple(part.__class__ for part in (key, value, ts, *place)) not in _TYPES:
        raise NotARecord(FORM)
    return place, TopicRecord(key, value, ts, place[0] if len(place) == 1 else 0)
