"""Why a part of a record, its key or its value, could not be read: a closed list, the words of the quarantine."""

from enum import Enum
from typing import Final


class Reason(Enum):
    # --- of the frame

    EMPTY = "EMPTY"
    """Nothing, where a frame should be; a null is a tombstone and no failure."""
    BAD_MAGIC = "BAD_MAGIC"
    """The first byte does not begin a frame."""
    SHORT_FRAME = "SHORT_FRAME"
    """It ends within the mark."""
    BAD_MSG_INDEX = "BAD_MSG_INDEX"
    """The path to a Protobuf message cannot be read, or leads to none."""

    # --- of the registry

    UNKNOWN_ID = "UNKNOWN_ID"
    """No schema was ever registered under the id; it may be one day."""
    UNKNOWN_GUID = "UNKNOWN_GUID"
    """The same, of a GUID."""
    NOT_IN_SUBJECT = "NOT_IN_SUBJECT"
    """The schema exists, but does not belong to the subject that the topic writes under."""
    SCHEMA_DELETED = "SCHEMA_DELETED"
    """All versions of the subject that carry the id are deleted, and such are refused here."""
    BAD_SCHEMA = "BAD_SCHEMA"
    """The stored text cannot be compiled."""
    TYPE_MISMATCH = "TYPE_MISMATCH"
    """The schema is of another language than the reader's."""
    INCOMPATIBLE_READER = "INCOMPATIBLE_READER"
    """The writer's schema cannot be resolved to the reader's, or this value cannot."""
    MESSAGE_GONE = "MESSAGE_GONE"
    """The reader's file has no Protobuf message of the full name that was written: it was renamed, moved or removed."""

    # --- of the payload

    DECODE_TRUNCATED = "DECODE_TRUNCATED"
    """The payload ends within a value."""
    DECODE_INVALID = "DECODE_INVALID"
    """Bytes that no writer of this schema writes."""
    BAD_UTF8 = "BAD_UTF8"
    """A text that is not UTF-8."""
    ENUM_UNKNOWN = "ENUM_UNKNOWN"
    """A symbol that the reader does not know, and has no default for."""
    TRAILING_BYTES = "TRAILING_BYTES"
    """The value ends before the payload does."""
    JSON_INVALID = "JSON_INVALID"
    """No JSON."""
    JSON_SCHEMA = "JSON_SCHEMA"
    """JSON that its schema does not allow."""
    TOO_LARGE = "TOO_LARGE"
    """Longer than allowed, or it would be once decoded."""
    DEPTH = "DEPTH"
    """Nested deeper than allowed."""


FINE: Final = 0
NUMBERS: Final = {reason: number for number, reason in enumerate(Reason, start=1)}
"""How a reason stands in a column of statuses; FINE without a reason."""
REASONS: Final = {number: reason for reason, number in NUMBERS.items()}
