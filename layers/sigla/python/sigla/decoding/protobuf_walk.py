"""What is wrong with a payload that no message could be made of: the wire format, read byte by byte.

Slow, and only for records that failed: the runtime tells that they did, and not where. Source: the encoding's
documentation, https://protobuf.dev/programming-guides/encoding.
"""

from collections.abc import Callable, Mapping
from typing import Final, NoReturn

from google.protobuf.descriptor import Descriptor, FieldDescriptor

from sigla.decoding.decoder import DecodeFailed, Limits
from sigla.decoding.protobuf_fields import fields
from sigla.decoding.reasons import Reason

RUNTIME_DEPTH: Final = 100
"""Messages within messages that the runtime follows."""

VARINT, FIXED64, LENGTH, GROUP, END_GROUP, FIXED32 = range(6)

WIDTHS: Final[Mapping[int, int]] = {
    FieldDescriptor.TYPE_DOUBLE: 8,
    FieldDescriptor.TYPE_FIXED64: 8,
    FieldDescriptor.TYPE_SFIXED64: 8,
    FieldDescriptor.TYPE_FLOAT: 4,
    FieldDescriptor.TYPE_FIXED32: 4,
    FieldDescriptor.TYPE_SFIXED32: 4,
}
"""Bytes of a packed item; of all others it is a varint."""

UNPACKED: Final = frozenset(
    (FieldDescriptor.TYPE_STRING, FieldDescriptor.TYPE_BYTES, FieldDescriptor.TYPE_MESSAGE, FieldDescriptor.TYPE_GROUP)
)

UNFINISHED: Final = bytes(range(0x80, 0x100))
"""Bytes of a number after which it goes on."""

LONGEST_VARINT, LONGEST_TAG, LONGEST = 10, 2**32, 2**31
"""Bytes; and what tags and lengths are below."""


def diagnosis(payload: bytes, descriptor: Descriptor, limits: Limits) -> DecodeFailed | None:
    """The first thing that is wrong with the payload of such a message, and its byte; None if it is fine.

    What ends with the payload was cut off; what ends with the message around it, while more follows, was damaged.
    Texts must be UTF-8 in every syntax: a column of texts takes no others.
    """
    try:
        _Walk(payload, min(limits.depth, RUNTIME_DEPTH), limits.values).message(descriptor, 0, len(payload), 0)
    except DecodeFailed as failed:
        return failed
    return None


class _Walk:
    """Methods take where they begin and where the message around ends, and give back where they ended."""

    def __init__(self, data: bytes, depth: int, values: int) -> None:
        self.data = data
        self.depth = depth
        self.most = self.values = values

    def spend(self, values: int, at: int) -> None:
        """Counts the values of what the payload becomes: a message has all its fields, whether written or not."""
        self.values -= values
        if self.values < 0:
            raise DecodeFailed(Reason.TOO_LARGE, f"more than {self.most} values", at)

    def message(self, descriptor: Descriptor | None, at: int, end: int, depth: int, group: int = 0) -> int:
        """descriptor: None for an unknown message. group: the number by which it ends; 0 if it ends with its bytes."""
        if depth > self.depth:
            raise DecodeFailed(Reason.DEPTH, f"more than {self.depth} messages within messages", at)
        if descriptor is not None:
            self.spend(len(fields(descriptor)), at)
        while at < end:
            start = at
            tag, at = self.varint(at, end)
            number, wire = tag >> 3, tag & 7
            if number == 0 or tag >= LONGEST_TAG:
                _invalid("no field has such a number", start)
            if wire == END_GROUP:
                if number != group:
                    _invalid(f"group {number} ends, and did not begin", start)
                return at
            if wire not in _READERS:
                _invalid(f"unknown wire type {wire}", start)
            field = fields(descriptor).get(number) if descriptor else None
            if field is not None and field.is_repeated:
                self.spend(1, start)
            at = _READERS[wire](self, field, number, at, end, depth)
        if group:
            self.short(at, end, f"group {group} does not end")
        return at

    def varint(self, at: int, end: int) -> tuple[int, int]:
        value = 0
        for width, byte in enumerate(self.data[at : min(end, at + LONGEST_VARINT)]):
            value |= (byte & 0x7F) << (7 * width)
            if byte < 0x80:
                return value, at + width + 1
        if at + LONGEST_VARINT > end:
            self.short(at, end, "it ends within a number")
        return _invalid(f"a number of more than {LONGEST_VARINT} bytes", at)

    def short(self, at: int, end: int, detail: str) -> NoReturn:
        """at: where that begins which does not end before end."""
        if end == len(self.data):
            raise DecodeFailed(Reason.DECODE_TRUNCATED, detail, end)
        _invalid(detail, at)

    def skip_varint(self, _field: FieldDescriptor | None, _number: int, at: int, end: int, _depth: int) -> int:
        return self.varint(at, end)[1]

    def skip_fixed(self, size: int, number: int, at: int, end: int) -> int:
        if at + size > end:
            self.short(at, end, f"it ends within field {number}")
        return at + size

    def skip_group(self, field: FieldDescriptor | None, number: int, at: int, end: int, depth: int) -> int:
        known = field.message_type if field and field.type == FieldDescriptor.TYPE_GROUP else None
        return self.message(known, at, end, depth + 1, number)

    def length(self, field: FieldDescriptor | None, number: int, at: int, end: int, depth: int) -> int:
        """A text, bytes, a message, or packed numbers."""
        start = at
        size, at = self.varint(at, end)
        stop = at + size
        if size >= LONGEST:
            _invalid(f"field {number} cannot be {size} bytes long", start)
        if stop > end:
            self.short(start, end, f"field {number} is {size} bytes long, and {end - at} are left")
        if field is None:
            return stop
        if field.type == FieldDescriptor.TYPE_STRING:
            self.text(field, at, stop)
        elif field.type == FieldDescriptor.TYPE_MESSAGE:
            self.message(field.message_type, at, stop, depth + 1)
        elif field.is_repeated and field.type not in UNPACKED:
            self.packed(field, at, stop)
        return stop

    def text(self, field: FieldDescriptor, at: int, stop: int) -> None:
        try:
            self.data[at:stop].decode()
        except UnicodeDecodeError as error:
            raise DecodeFailed(Reason.BAD_UTF8, f"{field.full_name} is not valid UTF-8", at + error.start) from None

    def packed(self, field: FieldDescriptor, at: int, stop: int) -> None:
        width = WIDTHS.get(field.type)
        size = stop - at
        self.spend(size // width if width else len(self.data[at:stop].translate(None, UNFINISHED)), at)
        while at < stop:
            at = self.skip_fixed(width, field.number, at, stop) if width else self.varint(at, stop)[1]


_Reader = Callable[[_Walk, FieldDescriptor | None, int, int, int, int], int]

_READERS: Final[Mapping[int, _Reader]] = {
    VARINT: _Walk.skip_varint,
    FIXED64: lambda walk, _field, number, at, end, _depth: walk.skip_fixed(8, number, at, end),
    LENGTH: _Walk.length,
    GROUP: _Walk.skip_group,
    FIXED32: lambda walk, _field, number, at, end, _depth: walk.skip_fixed(4, number, at, end),
}


def _invalid(detail: str, at: int) -> NoReturn:
    raise DecodeFailed(Reason.DECODE_INVALID, detail, at)
