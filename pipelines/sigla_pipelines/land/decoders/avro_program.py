"""A plan of Avro, flat: instructions for `sigla_native`."""

from collections.abc import Callable, Iterator, Mapping
from struct import pack, unpack
from typing import Any, Final

import pyarrow as pa

from sigla.decoding.avro_convert import LONGEST_DECIMAL, Multiplied, Shortened, Unscaled, uuid_text
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
from sigla_pipelines.land.decoders.avro_columns import Column, Plain, Repeated, Struct
from sigla_pipelines.land.decoders.avro_fill import Unfit
from sigla_pipelines.land.decoders.instructions import NOWHERE, Program, Programming


class Programs:
    """The programs of one reader's columns. Raises Unfit where a column's values are made by Python.

    depth: of values within values that a program may have.
    """

    def __init__(self, columns: Struct, *, depth: int) -> None:
        self.columns = columns
        self.depth = depth
        self.numbers = {id(column): number for number, column in enumerate(_all(columns))}

    def program(self, plan: Plan) -> Program:
        """Its last instruction is where it begins. Raises Unfit: the plan is for the walker alone."""
        if plan.depth is None or plan.depth > self.depth or plan.weightless:
            raise Unfit
        making = _ProgramMaking(self.numbers)
        if isinstance(plan.root, ReadRecord):
            making.into(plan.root, self.columns)
        else:
            own = making.into(plan.root, self.columns.children["value"])
            making.add("record", (self.numbers[id(self.columns)], own))
        return making.made


def _all(column: Column) -> Iterator[Column]:
    """A column and those within it. Raises Unfit."""
    if not isinstance(column, Plain | Struct | Repeated):
        raise Unfit
    yield column
    within = column.children.values() if isinstance(column, Struct) else getattr(column, "parts", ())
    for each in within:
        yield from _all(each)


class _ProgramMaking(Programming):
    """known: the instruction of each step and column, because types may be used many times."""

    def __init__(self, numbers: Mapping[int, int]) -> None:
        super().__init__()
        self.numbers = numbers
        self.known: dict[tuple[int, int], int] = {}

    def into(self, step: Step, column: Column | None) -> int:
        """column: None where the value is not kept."""
        place = (id(step), id(column))
        if place not in self.known:
            self.known[place] = MAKERS[type(step)](self, step, column)
        return self.known[place]

    def number(self, column: Column | None) -> int:
        return NOWHERE if column is None else self.numbers[id(column)]

    def record(self, step: ReadRecord, column: Column | None) -> int:
        if column is None:
            return self.add("record", (NOWHERE, *(self.into(each, None) for _, each, _ in step.steps)))
        if not isinstance(column, Struct):
            raise Unfit
        places = list(column.children.values())
        parts = [self.into(each, None if at is None else places[at]) for _, each, at in step.steps]
        parts += [self.put(value, places[at]) for at, value in step.defaults]
        return self.add("record", (self.number(column), *parts))

    def member(self, step: IntoMember, column: Column | None) -> int:
        if not isinstance(column, Struct):
            raise Unfit
        own = self.into(step.step, column.children[step.name])
        return self.add("member", (self.number(column), list(column.children).index(step.name), own))

    def union(self, step: ReadUnion, column: Column | None) -> int:
        return self.add("union", [self.into(branch, column) for branch in step.branches])

    def misfit(self, _step: Misfit, _column: Column | None) -> int:
        return self.add("refuse")

    def array(self, step: ReadArray, column: Column | None) -> int:
        if column is None:
            return self.add("array", (NOWHERE, self.into(step.items, None), 0))
        if not isinstance(column, Repeated):
            raise Unfit
        return self.add("array", (self.number(column), self.into(step.items, column.parts[0]), column.each))

    def map(self, step: ReadMap, column: Column | None) -> int:
        if column is None:
            return self.add("map", (NOWHERE, self.into(step.values, None), 0))
        if not isinstance(column, Repeated):
            raise Unfit
        return self.add("map", (self.number(column), self.into(step.values, column.parts[1]), column.each))

    def enum(self, step: ReadEnum, column: Column | None) -> int:
        texts = [None if symbol is None else symbol.encode() for symbol in step.symbols]
        return self.add("enum", [self.number(column)], texts)

    def scalar(self, step: ReadScalar, column: Column | None) -> int:
        to, then = self.number(column), step.then
        if isinstance(then, Unscaled):
            return self.decimal(step, then, to)
        if then is uuid_text:
            return self.add("uuid", [to])
        if step.kind in ("int", "long"):
            times = then.factor if isinstance(then, Multiplied) else 1
            by = then.divisor if isinstance(then, Shortened) else 1
            return self.add("number", (to, 32 if step.kind == "int" else 64, times, by))
        if step.kind == "fixed":
            return self.add("fixed", (to, step.size))
        return self.add("text" if step.kind == "string" or then is bytes.decode else step.kind, [to])

    def decimal(self, step: ReadScalar, then: Unscaled, to: int) -> int:
        if step.kind == "string" or then.precision > LONGEST_DECIMAL:
            raise Unfit
        size = step.size if step.kind == "fixed" else NOWHERE
        return self.add("decimal", (to, size, then.precision))

    # --- defaults -----------------------------------------------------------------------------------------------------

    def put(self, value: Any, column: Column) -> int:
        """Appends a value as the walker yields it, and reads nothing."""
        to = self.number(column)
        if value is None:
            return self.add("null", [to])
        if isinstance(column, Struct):
            members = [self.put(value.get(name), child) for name, child in column.children.items()]
            return self.add("record", (to, *members))
        if isinstance(column, Repeated):
            parts = zip(column.parts, column.spread(value), strict=True)
            items = [self.put(each, part) for part, values in parts for each in values]
            return self.add("put_items", (to, len(value), *items))
        if pa.types.is_boolean(column.type):
            return self.add("put_boolean", (to, int(value)))
        if pa.types.is_decimal(column.type):
            return self.add("put_decimal", [to], [value.to_bytes(16, "little", signed=True)])
        if pa.types.is_floating(column.type):
            return self.add("put_double", (to, unpack("<q", pack("<d", value))[0]))
        if isinstance(value, str | bytes):
            return self.add("put_bytes", [to], [value.encode() if isinstance(value, str) else value])
        return self.add("put_number", (to, value))


MAKERS: Final[dict[type, Callable[[_ProgramMaking, Any, Column | None], int]]] = {
    ReadRecord: _ProgramMaking.record,
    ReadUnion: _ProgramMaking.union,
    IntoMember: _ProgramMaking.member,
    Misfit: _ProgramMaking.misfit,
    ReadArray: _ProgramMaking.array,
    ReadMap: _ProgramMaking.map,
    ReadEnum: _ProgramMaking.enum,
    ReadScalar: _ProgramMaking.scalar,
}
