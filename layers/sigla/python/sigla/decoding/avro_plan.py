"""How what one schema wrote becomes what another wants: a plan, made once for two schemas and run for every record.

A plan is a tree of steps in the order of the bytes, cyclic where the types are. Which field, branch or symbol goes
where is settled here (Avro specification, Schema Resolution); whoever runs a plan reads bytes and asks nothing.

Avro's bytes name nothing and do not say how long a value is: what is not wanted has to be read, too, to know where it
ends. So the steps are those of the writer, all of them, and the reader shows in where their values go: a place in its
record, a member of its union, or nowhere. What only the reader has comes from its defaults, which are made once, here.

What cannot be read is a step as well (`Misfit`). In a branch of a union it harms only records in which that branch was
written. In a field every record has it, so it makes its record a misfit, and so on outwards; if it reaches the root,
no plan is made.

A record may be part of itself. Its step is made before its fields are walked, and kept by the pair of definitions: when
the walk comes to the pair again, it takes that step, which is being filled.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from sigla.decoding.avro_convert import Convert, Misfits, branch_names, conversion, filled
from sigla.decoding.decoder import Unreadable
from sigla.decoding.reasons import Reason
from sigla.languages.avro.resolution import PROMOTIONS, candidates, same_name, same_size
from sigla.languages.avro.tree import (
    ABSENT,
    Array,
    Enum,
    Field,
    Fixed,
    Map,
    Named,
    Primitive,
    Record,
    Type,
    Union,
)

NOBODY: Final = None
"""The reader of what is written and not wanted: it is read all the same, to know where it ends."""


@dataclass(frozen=True, slots=True)
class ReadScalar:
    """kind: of the writer's. size: of a fixed. then: what becomes of it; None for nothing."""

    kind: str
    size: int = 0
    then: Convert | None = None


@dataclass(frozen=True, slots=True)
class ReadEnum:
    """symbols: what each number means to the reader; None where it knows no such symbol. written: to the writer."""

    symbols: tuple[str | None, ...]
    written: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ReadArray:
    """weightless: the items take no bytes, so that a few bytes may announce any number of them."""

    items: "Step"
    weightless: bool


@dataclass(frozen=True, slots=True)
class ReadMap:
    values: "Step"


@dataclass(frozen=True, slots=True)
class ReadUnion:
    """Reads the branch whose number was written."""

    branches: "tuple[Step, ...]"


@dataclass(frozen=True, slots=True)
class IntoMember:
    """What the reader's union keeps under a name."""

    name: str
    step: "Step"


@dataclass(slots=True, eq=False)
class ReadRecord:
    """steps: of the writer's fields in their order, each with the place of the reader's field, None where it has none.

    names: the reader's fields in its order. defaults: values of fields that the writer lacks, by place. Filled while
    types are walked, because a record may be part of itself; never changed afterwards.
    """

    full: str
    steps: "list[tuple[str, Step, int | None]]" = field(default_factory=list)
    names: tuple[str, ...] = ()
    defaults: list[tuple[int, Any]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Misfit:
    """A value that comes to this cannot be read."""

    detail: str


Step: TypeAlias = ReadScalar | ReadEnum | ReadArray | ReadMap | ReadUnion | IntoMember | ReadRecord | Misfit


@dataclass(frozen=True, slots=True)
class Plan:
    """depth: of values within values; none where a record may be part of itself.

    weightless: somewhere an array's items take no bytes.
    """

    root: Step
    depth: int | None
    weightless: bool


def plan(writer: Type, reader: Type) -> Plan:
    """Raises Unreadable where the reader can read nothing of what the writer may write."""
    making = _Making()
    try:
        root = making.step(writer, reader)
        depth = None if making.recursive else _depth(root, {})
    except RecursionError:
        raise Unreadable(Reason.BAD_SCHEMA, "The schema is nested too deeply.") from None
    if isinstance(root, Misfit):
        raise Unreadable(Reason.INCOMPATIBLE_READER, root.detail)
    return Plan(root, depth, making.weightless)


def _depth(step: Step, known: dict[int, int]) -> int:
    """How many values may be around the innermost one."""
    if id(step) not in known:
        within = 0 if isinstance(step, ReadUnion | IntoMember) else 1
        known[id(step)] = max((within + _depth(part, known) for part in parts(step)), default=0)
    return known[id(step)]


def parts(step: Step) -> Sequence[Step]:
    """The steps that a step consists of."""
    if isinstance(step, ReadRecord):
        return [each for _, each, _ in step.steps]
    if isinstance(step, ReadUnion):
        return step.branches
    if isinstance(step, IntoMember):
        return [step.step]
    return [step.items] if isinstance(step, ReadArray) else [step.values] if isinstance(step, ReadMap) else ()


class _Making:
    """made: the step of each pair of definitions. open: those whose fields are still being walked."""

    def __init__(self) -> None:
        self.made: dict[tuple[int, int], Step] = {}
        self.open: set[tuple[int, int]] = set()
        self.weights: dict[int, bool] = {}
        self.recursive = self.weightless = False

    def step(self, writer: Type, reader: Type | None) -> Step:
        if isinstance(writer, Union):
            return self.union(writer, reader)
        if isinstance(reader, Union):
            return self.into_union(writer, reader)
        if isinstance(writer, Record) and isinstance(reader, Record | None):
            return self.record(writer, reader)
        if isinstance(writer, Array) and isinstance(reader, Array | None):
            return self.array(writer, reader)
        if isinstance(writer, Map) and isinstance(reader, Map | None):
            return ReadMap(self.step(writer.values, reader.values if reader else NOBODY))
        if isinstance(writer, Enum) and isinstance(reader, Enum | None):
            return self.enum(writer, reader)
        if isinstance(writer, Primitive | Fixed) and isinstance(reader, Primitive | Fixed | None):
            return self.scalar(writer, reader)
        return Misfit(f"the reader's {called(reader)} cannot be made of {called(writer)}")

    def union(self, writer: Union, reader: Type | None) -> Step:
        """Whatever branch was written is resolved by itself; without any that can be read, nothing can."""
        branches = tuple(self.step(branch, reader) for branch in writer.branches)
        misfits = [branch for branch in branches if isinstance(branch, Misfit)]
        return misfits[0] if misfits and len(misfits) == len(branches) else ReadUnion(branches)

    def into_union(self, writer: Type, reader: Union) -> Step:
        at = chosen(writer, reader)
        if at is None:
            return Misfit(f"the reader's union has no branch for {called(writer)}")
        step = self.step(writer, reader.branches[at])
        name = branch_names(reader)[at]
        return IntoMember(name, step) if name and not isinstance(step, Misfit) else step

    def record(self, writer: Record, reader: Record | None) -> Step:
        if reader and not same_name(writer, reader):
            return Misfit(f"{called(writer)} is not {called(reader)}")
        pair = (id(writer), id(reader))
        if pair in self.made:
            self.recursive = self.recursive or pair in self.open
            return self.made[pair]
        record = ReadRecord(writer.full)
        self.made[pair] = record
        self.open.add(pair)
        misfit = self.fields(record, writer, reader)
        self.open.discard(pair)
        if misfit:
            self.made[pair] = misfit
        return misfit or record

    def fields(self, record: ReadRecord, writer: Record, reader: Record | None) -> Misfit | None:
        """Fills the record; what makes it unreadable, whatever is in it."""
        wanted = reader.fields if reader else []
        sources = [source for source, _ in matched(writer, reader)] if reader else []
        places = {source.name: place for place, source in enumerate(sources) if source}
        record.names = tuple(each.name for each in wanted)
        misfit = None
        for each in writer.fields:
            place = places.get(each.name)
            step = self.step(each.type, NOBODY if place is None else wanted[place].type)
            record.steps.append((each.name, step, place))
            if isinstance(step, Misfit):
                misfit = misfit or Misfit(f"{each.name}: {step.detail}")
        for place, (each, source) in enumerate(zip(wanted, sources, strict=True)):
            if source is None:
                try:
                    record.defaults.append((place, default(each)))
                except (ValueError, Misfits) as problem:
                    misfit = misfit or Misfit(f"{each.name}: {problem}")
        return misfit

    def array(self, writer: Array, reader: Array | None) -> Step:
        weightless = self.takes_nothing(writer.items)
        self.weightless = self.weightless or weightless
        return ReadArray(self.step(writer.items, reader.items if reader else NOBODY), weightless)

    def takes_nothing(self, type_: Type) -> bool:
        if isinstance(type_, Record):
            if id(type_) not in self.weights:
                self.weights[id(type_)] = True  # of a record within itself: what else it holds decides
                self.weights[id(type_)] = all(self.takes_nothing(each.type) for each in type_.fields)
            return self.weights[id(type_)]
        return type_.kind == "null" or (isinstance(type_, Fixed) and not type_.size)

    def enum(self, writer: Enum, reader: Enum | None) -> Step:
        written = tuple(writer.symbols)
        if reader is None:
            return ReadEnum(written, written)
        if not same_name(writer, reader):
            return Misfit(f"{called(writer)} is not {called(reader)}")
        known = frozenset(reader.symbols)
        return ReadEnum(tuple(symbol if symbol in known else reader.default for symbol in written), written)

    def scalar(self, writer: Primitive | Fixed, reader: Primitive | Fixed | None) -> Step:
        size = writer.size if isinstance(writer, Fixed) else 0
        if reader is None:
            return ReadScalar(writer.kind, size)
        if not reads(writer, reader):
            return Misfit(f"the reader's {called(reader)} cannot be made of {called(writer)}")
        try:
            return ReadScalar(writer.kind, size, conversion(writer, reader))
        except Misfits as problem:
            return Misfit(str(problem))


def matched(writer: Record, reader: Record) -> Iterator[tuple[Field | None, Field]]:
    """Each field of the reader with the writer's that it is read from; None where its default is taken.

    Names come before aliases: an alias takes only what no name has taken.
    """
    taken = {each.name for each in reader.fields}
    for each in reader.fields:
        free = (found for found in candidates(writer, each) if found.name == each.name or found.name not in taken)
        source = next(free, None)
        if source:
            taken.add(source.name)
        yield source, each


def default(wanted: Field) -> Any:
    """The value of a field that the writer lacks. Raises ValueError."""
    if wanted.default is ABSENT:
        raise ValueError("the reader's field is not in what was written, and has no default")
    try:
        return filled(wanted.default, wanted.type)  # type: ignore[arg-type]  # ABSENT is ruled out above
    except ValueError as problem:
        raise ValueError(f"its default {problem}") from None


def chosen(writer: Type, reader: Union) -> int | None:
    """Which branch reads a type: its equal, or else its namesake, or else the first that it can be promoted to."""
    for fits in (_equal, _namesake, _readable):
        for at, branch in enumerate(reader.branches):
            if fits(writer, branch):
                return at
    return None


def _equal(writer: Type, branch: Type) -> bool:
    if isinstance(writer, Named) and isinstance(branch, Named):
        return writer.kind == branch.kind and writer.full == branch.full
    return writer.kind == branch.kind


def _namesake(writer: Type, branch: Type) -> bool:
    return (
        isinstance(writer, Named)
        and isinstance(branch, Named)
        and writer.kind == branch.kind
        and same_name(writer, branch)
    )


def _readable(writer: Type, branch: Type) -> bool:
    return (writer.kind, branch.kind) in PROMOTIONS


def reads(writer: Primitive | Fixed, reader: Primitive | Fixed) -> bool:
    if isinstance(writer, Fixed) and isinstance(reader, Fixed):
        return same_size(writer, reader) and same_name(writer, reader)
    return writer.kind == reader.kind or (writer.kind, reader.kind) in PROMOTIONS


def called(type_: Type | None) -> str:
    """A type in a sentence."""
    if isinstance(type_, Named):
        return f"{type_.kind} {type_.full}" + (f" of {type_.size} bytes" if isinstance(type_, Fixed) else "")
    return type_.kind if type_ else "nothing"
