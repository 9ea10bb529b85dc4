"""How each kind of value is read: its bytes are looked at, what they mean is appended, where they end is returned.

What is wrong with a payload only has to be noticed, somehow and at the latest at the end: who calls takes any
exception, and an end that is not the payload's, as a sign to forget the row and to let `sigla.decoding.avro_walk` say
what it was. So places are not compared with the payload's end: they never go back, and whoever is behind it finds no
byte, or is found there.
"""

from collections.abc import Callable, Sequence
from struct import Struct as Layout
from typing import Any, Final, TypeAlias

from sigla.decoding.avro_plan import ReadScalar
from sigla_pipelines.land.decoders.avro_columns import Column, Plain, Struct

Read: TypeAlias = Callable[[bytes, int], int]
Append: TypeAlias = Callable[[Any], None]

FLOAT, DOUBLE = Layout("<f").unpack_from, Layout("<d").unpack_from


HERE: Final = True
"""That a row of a struct is there."""


class Suspicious(Exception):
    """Something is wrong with the payload."""


def scalar(step: ReadScalar, column: Column) -> Read:
    append = column.values.append if isinstance(column, Plain) else column.append
    if step.then:
        append = _converted(append, step.then)
    return _fixed(append, step.size) if step.kind == "fixed" else SCALARS[step.kind](append)


def nothing(_: Any) -> None:
    """Takes the values that no column wants."""


class _Nowhere:
    """A column that keeps nothing."""

    append = staticmethod(nothing)


NOWHERE: Final[Any] = _Nowhere()


def varint(data: bytes, at: int, raw: int) -> tuple[int, int]:
    """The rest of a number whose first byte goes on; zigzag, as it was written."""
    raw &= 0x7F
    for shift in (7, 14, 21, 28, 35, 42, 49, 56, 63):
        byte = data[at]
        at += 1
        raw |= (byte & 0x7F) << shift
        if byte < 128:
            if raw >> 64:
                raise Suspicious
            return raw, at
    raise Suspicious


def suspicious(_data: bytes, _at: int) -> int:
    raise Suspicious


def _converted(append: Append, convert: Callable[[Any], Any]) -> Append:
    return lambda value: append(convert(value))


def marked(column: Struct, own: Read, rest: Sequence[tuple[Append, Any]] = ()) -> Read:
    """A row of a struct, of which `own` fills a part, and the others have values that are known."""
    mark = column.present.append

    def read(data: bytes, at: int) -> int:
        mark(HERE)
        for append, value in rest:
            append(value)
        return own(data, at)

    return read


def in_turn(reads: tuple[Read, ...]) -> Read:
    def read(data: bytes, at: int) -> int:
        for each in reads:
            at = each(data, at)
        return at

    return read


def symbol(append: Append, symbols: tuple[str | None, ...]) -> Read:
    def read(data: bytes, at: int) -> int:
        number = data[at]
        at += 1
        if number > 127:
            number, at = varint(data, at, number)
        symbol = symbols[number >> 1]
        if number & 1 or symbol is None:
            raise Suspicious
        append(symbol)
        return at

    return read


def distinct(keys: list[Any], counted: Append) -> Append:
    """If a key occurs twice, its last value counts: the walker sees to that."""

    def count(entries: int) -> None:
        if entries > 1 and len(set(keys[-entries:])) != entries:
            raise Suspicious
        counted(entries)

    return count


def by_number(branches: tuple[Read, ...]) -> Read:
    def read(data: bytes, at: int) -> int:
        number = data[at]
        at += 1
        if number > 127:
            number, at = varint(data, at, number)
        if number & 1:
            raise Suspicious
        return branches[number >> 1](data, at)

    return read


def blocks(item: Read, counted: Append, take: Append, each: int) -> Read:
    """Each item takes a byte at least, so that no block has more of them than bytes are left.

    take: asked for room for the values of a block, `each` of them an item.
    """

    def read(data: bytes, at: int) -> int:
        total = 0
        while True:
            count = data[at]
            at += 1
            if count > 127:
                count, at = varint(data, at, count)
            if not count:
                counted(total)
                return at
            if count & 1:  # with its size in bytes, for those who skip
                count += 1
                size = data[at]
                at += 1
                if size > 127:
                    size, at = varint(data, at, size)
                if size & 1:
                    raise Suspicious
            count >>= 1
            if count > len(data) - at:
                raise Suspicious
            take(count * each)
            total += count
            for _ in range(count):
                at = item(data, at)

    return read


def _null(append: Append) -> Read:
    def read(_data: bytes, at: int) -> int:
        append(None)
        return at

    return read


def _boolean(append: Append) -> Read:
    def read(data: bytes, at: int) -> int:
        byte = data[at]
        if byte > 1:
            raise Suspicious
        append(byte == 1)
        return at + 1

    return read


def _int(append: Append) -> Read:
    def read(data: bytes, at: int) -> int:
        raw = data[at]
        at += 1
        if raw > 127:
            raw, at = varint(data, at, raw)
            if raw >> 32:
                raise Suspicious
        append((raw >> 1) ^ -(raw & 1))
        return at

    return read


def _long(append: Append) -> Read:
    def read(data: bytes, at: int) -> int:
        raw = data[at]
        at += 1
        if raw > 127:
            raw, at = varint(data, at, raw)
        append((raw >> 1) ^ -(raw & 1))
        return at

    return read


def _float(append: Append) -> Read:
    def read(data: bytes, at: int) -> int:
        append(FLOAT(data, at)[0])
        return at + 4

    return read


def _double(append: Append) -> Read:
    def read(data: bytes, at: int) -> int:
        append(DOUBLE(data, at)[0])
        return at + 8

    return read


def _fixed(append: Append, size: int) -> Read:
    def read(data: bytes, at: int) -> int:
        end = at + size
        append(data[at:end])
        return end

    return read


def _bytes(append: Append) -> Read:
    def read(data: bytes, at: int) -> int:
        size = data[at]
        at += 1
        if size > 127:
            size, at = varint(data, at, size)
        if size & 1:
            raise Suspicious
        end = at + (size >> 1)
        append(data[at:end])
        return end

    return read


def text(append: Append) -> Read:
    def read(data: bytes, at: int) -> int:
        size = data[at]
        at += 1
        if size > 127:
            size, at = varint(data, at, size)
        if size & 1:
            raise Suspicious
        end = at + (size >> 1)
        append(data[at:end].decode())
        return end

    return read


ANY_TEXT: Final = text(nothing)

SCALARS: Final[dict[str, Callable[[Append], Read]]] = {
    "null": _null,
    "boolean": _boolean,
    "int": _int,
    "long": _long,
    "float": _float,
    "double": _double,
    "bytes": _bytes,
    "string": text,
}
