"""Runs a plan over one payload, step by step, and knows at each byte where it is (Avro specification, Binary Encoding).

It trusts nothing: lengths, counts and numbers are judged before anything is read or made of them. What it yields:
records as dicts by the reader's fields, arrays as lists, maps as dicts (of a key that occurs twice the last value),
branches of wider unions as `{member: value}`, scalars as their column holds them: times as numbers in the column's
unit, decimals unscaled.
"""

from collections.abc import Callable
from functools import partial
from struct import Struct
from typing import Any, Final

from sigla.decoding.avro_convert import TooLong
from sigla.decoding.avro_plan import (
    IntoMember,
    Misfit,
    Plan,
    ReadArray,
    ReadEnum,
    ReadMap,
    ReadRecord,
    ReadScalar,
    ReadUnion,
    Step,
)
from sigla.decoding.decoder import Decode, DecodeFailed, Limits
from sigla.decoding.reasons import Reason

LONGEST_NUMBER: Final = 10
"""Bytes of a number of 64 bits."""

FLOAT, DOUBLE = Struct("<f"), Struct("<d")


def decode(plan: Plan, limits: Limits) -> Decode:
    return partial(_decoded, plan.root, limits)


def _decoded(root: Step, limits: Limits, data: bytes) -> Any:
    """Raises DecodeFailed, whose detail begins with the path to the value that failed."""
    if len(data) > limits.max_bytes:
        raise DecodeFailed(Reason.TOO_LARGE, f"{len(data)} bytes, and {limits.max_bytes} are allowed")
    walk = Walk(data, limits)
    try:
        value = walk.value(root, 0)
    except DecodeFailed as failed:
        raise DecodeFailed(failed.reason, f"{path_text(walk.path)}{failed.detail}", failed.at) from None
    if walk.at < len(data) and not limits.trailing:
        left = len(data) - walk.at
        raise DecodeFailed(Reason.TRAILING_BYTES, f"{left} byte{'s' * (left > 1)} after the value", walk.at)
    return value


def path_text(path: list[str | int]) -> str:
    """`lines[3].sku: `; empty for the value itself."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return f"{text.removeprefix('.')}: " if text else ""


class Walk:
    """at: the next byte. path: fields, keys and numbers of items down to the value that is being read.

    values: how many more there may be.
    """

    __slots__ = ("at", "data", "limits", "path", "values")

    def __init__(self, data: bytes, limits: Limits) -> None:
        self.data = data
        self.limits = limits
        self.at = 0
        self.values = limits.values
        self.path: list[str | int] = []

    def value(self, step: Step, depth: int) -> Any:
        if depth > self.limits.depth:
            raise DecodeFailed(Reason.DEPTH, f"more than {self.limits.depth} values within each other", self.at)
        return READ[type(step)](self, step, depth)

    def record(self, step: ReadRecord, depth: int) -> dict[str, Any]:
        self.spend(len(step.names), self.at)
        found = dict.fromkeys(step.names)
        path, names = self.path, step.names
        for name, each, place in step.steps:
            path.append(name)
            value = self.value(each, depth + 1)
            path.pop()
            if place is not None:
                found[names[place]] = value
        for place, default in step.defaults:
            found[names[place]] = default
        return found

    def union(self, step: ReadUnion, depth: int) -> Any:
        return self.value(step.branches[self.chosen(len(step.branches), "branch", "a union")], depth)

    def member(self, step: IntoMember, depth: int) -> dict[str, Any]:
        return {step.name: self.value(step.step, depth)}

    def misfit(self, step: Misfit, _depth: int) -> Any:
        raise DecodeFailed(Reason.INCOMPATIBLE_READER, step.detail, self.at)

    def array(self, step: ReadArray, depth: int) -> list[Any]:
        found: list[Any] = []
        while count := self.count("items", least=0 if step.weightless else 1):
            # Items that take no bytes are all alike, and a million of them must not take a second.
            times, copies = (1, count) if step.weightless else (count, 1)
            for _ in range(times):
                self.path.append(len(found))
                found += [self.value(step.items, depth + 1)] * copies
                self.path.pop()
        return found

    def map(self, step: ReadMap, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while count := self.count("entries", least=1):
            for _ in range(count):
                key = self.text()
                self.path.append(key)
                found[key] = self.value(step.values, depth + 1)
                self.path.pop()
        return found

    def enum(self, step: ReadEnum, _depth: int) -> str:
        start = self.at
        number = self.chosen(len(step.symbols), "symbol", "an enum")
        symbol = step.symbols[number]
        if symbol is None:
            detail = f"the reader knows no symbol {step.written[number]} and has no default"
            raise DecodeFailed(Reason.ENUM_UNKNOWN, detail, start)
        return symbol

    def scalar(self, step: ReadScalar, _depth: int) -> Any:
        start = self.at
        value = self.fixed(step.size) if step.kind == "fixed" else SCALARS[step.kind](self)
        if step.then is None:
            return value
        try:
            return step.then(value)
        except UnicodeDecodeError as problem:
            raise self.no_text(problem, self.at - len(value)) from None
        except ValueError as problem:
            reason = Reason.TOO_LARGE if isinstance(problem, TooLong) else Reason.DECODE_INVALID
            raise DecodeFailed(reason, str(problem), start) from None

    def chosen(self, count: int, what: str, of: str) -> int:
        """The number of a branch or a symbol."""
        start = self.at
        number = self.number(32)
        if not 0 <= number < count:
            raise DecodeFailed(Reason.DECODE_INVALID, f"{what} {number} of {of} that has {count}", start)
        return number

    def count(self, what: str, *, least: int) -> int:
        """How many items or entries the next block has; 0 at the end. least: bytes that each one takes."""
        start = self.at
        count = self.number(64)
        if count < 0:
            count = -count
            if self.number(64) < 0:  # how many bytes the block takes, for those who skip it; we read it
                raise DecodeFailed(Reason.DECODE_INVALID, "a block of less than no bytes", start)
        left = len(self.data) - self.at
        if count * least > left:
            raise DecodeFailed(Reason.DECODE_TRUNCATED, f"{count} {what}, and {left} bytes are left", start)
        self.spend(count, start)
        return count

    def spend(self, values: int, start: int) -> None:
        """Counts values before they are made."""
        self.values -= values
        if self.values < 0:
            raise DecodeFailed(Reason.TOO_LARGE, f"more than {self.limits.values} values", start)

    def number(self, bits: int) -> int:
        """A zigzag varint of so many bits."""
        start, raw, shift = self.at, 0, 0
        for byte in self.data[start : start + LONGEST_NUMBER]:
            raw |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                if raw >> bits:
                    raise DecodeFailed(Reason.DECODE_INVALID, f"a number of more than {bits} bits", start)
                self.at = start + shift // 7
                return (raw >> 1) ^ -(raw & 1)
        if shift == 7 * LONGEST_NUMBER:
            raise DecodeFailed(Reason.DECODE_INVALID, f"a number of more than {LONGEST_NUMBER} bytes", start)
        raise DecodeFailed(Reason.DECODE_TRUNCATED, "the payload ends within a number", start)

    def fixed(self, size: int) -> bytes:
        start = self.at
        left = len(self.data) - start
        if size > left:
            raise DecodeFailed(Reason.DECODE_TRUNCATED, f"{size} bytes, and {left} are left", start)
        self.at = start + size
        return self.data[start : self.at]

    def bytes(self) -> bytes:
        start = self.at
        size = self.number(64)
        if size < 0:
            raise DecodeFailed(Reason.DECODE_INVALID, f"a length of {size}", start)
        return self.fixed(size)

    def text(self) -> str:
        data = self.bytes()
        try:
            return data.decode()
        except UnicodeDecodeError as problem:
            raise self.no_text(problem, self.at - len(data)) from None

    def no_text(self, problem: UnicodeDecodeError, start: int) -> DecodeFailed:
        return DecodeFailed(Reason.BAD_UTF8, f"no UTF-8: {problem.reason}", start + problem.start)

    def boolean(self) -> bool:
        byte = self.fixed(1)[0]
        if byte > 1:
            raise DecodeFailed(Reason.DECODE_INVALID, f"{byte} for a boolean", self.at - 1)
        return byte == 1


SCALARS: Final[dict[str, Callable[[Walk], Any]]] = {
    "null": lambda _: None,
    "boolean": Walk.boolean,
    "int": lambda walk: walk.number(32),
    "long": lambda walk: walk.number(64),
    "float": lambda walk: FLOAT.unpack(walk.fixed(4))[0],
    "double": lambda walk: DOUBLE.unpack(walk.fixed(8))[0],
    "bytes": Walk.bytes,
    "string": Walk.text,
}

READ: Final[dict[type, Callable[[Walk, Any, int], Any]]] = {
    ReadRecord: Walk.record,
    ReadUnion: Walk.union,
    IntoMember: Walk.member,
    Misfit: Walk.misfit,
    ReadArray: Walk.array,
    ReadMap: Walk.map,
    ReadEnum: Walk.enum,
    ReadScalar: Walk.scalar,
}
