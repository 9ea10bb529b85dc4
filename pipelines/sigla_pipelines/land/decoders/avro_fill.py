"""A plan's fast way: functions that read a payload and append to columns, made of `avro_reads` step by step."""

from collections.abc import Callable, Hashable
from typing import Any, Final

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
from sigla_pipelines.land.decoders import avro_reads as reads
from sigla_pipelines.land.decoders.avro_columns import Column, Plain, Repeated, Room, Struct
from sigla_pipelines.land.decoders.avro_reads import Append, Read


class Unfit(Exception):
    """The plan is for the walker alone."""


class Filling:
    """The plans of one reader's columns.

    shared: functions by what they do. Writers of a subject have most fields in common, and thousands of them should not
    take a thousand times the memory: what is read out of a cache is half of what a record costs then.
    """

    def __init__(self, columns: Struct, room: Room, *, depth: int) -> None:
        self.columns = columns
        self.room = room
        self.depth = depth
        self.shared: dict[Hashable, Read] = {}

    def fill(self, plan: Plan) -> Read:
        """Raises Unfit."""
        if plan.depth is None or plan.depth > self.depth or plan.weightless:
            raise Unfit
        making = _PlanMaking(self.shared, self.room)
        if isinstance(plan.root, ReadRecord):
            return making.record(plan.root, self.columns)
        own = making.into(plan.root, self.columns.children["value"])
        return making.once(("one", own), lambda: reads.marked(self.columns, own))


class _PlanMaking:
    """One plan. made: of each of its steps and a column, because types may be used many times."""

    def __init__(self, shared: dict[Hashable, Read], room: Room) -> None:
        self.shared = shared
        self.room = room
        self.made: dict[tuple[int, int], Read] = {}

    def once(self, what: Hashable, make: Callable[[], Read]) -> Read:
        found = self.shared.get(what)
        if found is None:
            found = self.shared[what] = make()
        return found

    def into(self, step: Step, column: Column) -> Read:
        place = (id(step), id(column))
        if place not in self.made:
            self.made[place] = MAKERS[type(step)](self, step, column)
        return self.made[place]

    def past(self, step: Step) -> Read:
        """A value that no column takes is read all the same, and goes nowhere."""
        return self.into(step, reads.NOWHERE)

    def all(self, *parts: Read) -> Read:
        return self.once(("all", parts), lambda: reads.in_turn(parts))

    def record(self, step: ReadRecord, column: Column) -> Read:
        if column is reads.NOWHERE:
            return self.all(*(self.past(each) for _, each, _ in step.steps))
        if not isinstance(column, Struct):
            raise Unfit
        places = list(column.children.values())
        own = self.all(*(self.past(each) if at is None else self.into(each, places[at]) for _, each, at in step.steps))
        rest = [(places[at].append, value) for at, value in step.defaults]
        # A default may be a list, which has no hash; what it looks like tells two of them apart.
        return self.once(("record", id(column), own, repr(step.defaults)), lambda: reads.marked(column, own, rest))

    def member(self, step: IntoMember, column: Column) -> Read:
        if not isinstance(column, Struct):
            raise Unfit
        own = self.into(step.step, column.children[step.name])
        others = [(child.append, None) for name, child in column.children.items() if name != step.name]
        return self.once(("member", id(column), step.name, own), lambda: reads.marked(column, own, others))

    def union(self, step: ReadUnion, column: Column) -> Read:
        branches = tuple(self.into(branch, column) for branch in step.branches)
        return self.once(("union", branches), lambda: reads.by_number(branches))

    def misfit(self, _step: Misfit, _column: Column) -> Read:
        return reads.suspicious

    def array(self, step: ReadArray, column: Column) -> Read:
        counted: Append = reads.nothing
        each = 0
        if column is reads.NOWHERE:
            item = self.past(step.items)
        elif isinstance(column, Repeated):
            item, counted, each = self.into(step.items, column.parts[0]), column.lengths.append, column.each
        else:
            raise Unfit
        return self.once(("array", id(column), item), lambda: reads.blocks(item, counted, self.room.take, each))

    def map(self, step: ReadMap, column: Column) -> Read:
        counted: Append = reads.nothing
        each = 0
        if column is reads.NOWHERE:
            entry = self.all(reads.ANY_TEXT, self.past(step.values))
        elif isinstance(column, Repeated) and isinstance(keys := column.parts[0], Plain):
            key = self.once(("key", id(keys)), lambda: reads.text(keys.values.append))
            entry = self.all(key, self.into(step.values, column.parts[1]))
            counted, each = reads.distinct(keys.values, column.lengths.append), column.each
        else:
            raise Unfit
        return self.once(("map", id(column), entry), lambda: reads.blocks(entry, counted, self.room.take, each))

    def enum(self, step: ReadEnum, column: Column) -> Read:
        return self.once((step, id(column)), lambda: reads.symbol(column.append, step.symbols))

    def scalar(self, step: ReadScalar, column: Column) -> Read:
        return self.once((step, id(column)), lambda: reads.scalar(step, column))


MAKERS: Final[dict[type, Callable[[_PlanMaking, Any, Column], Read]]] = {
    ReadRecord: _PlanMaking.record,
    ReadUnion: _PlanMaking.union,
    IntoMember: _PlanMaking.member,
    Misfit: _PlanMaking.misfit,
    ReadArray: _PlanMaking.array,
    ReadMap: _PlanMaking.map,
    ReadEnum: _PlanMaking.enum,
    ReadScalar: _PlanMaking.scalar,
}
