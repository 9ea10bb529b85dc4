"""What becomes of each field of a writer in a reader, for people: the plan in words."""

from collections.abc import Iterator
from dataclasses import dataclass

from sigla.decoding.avro_convert import branch_names, logical
from sigla.decoding.avro_plan import ReadScalar, called, chosen, matched, plan
from sigla.decoding.decoder import Unreadable
from sigla.languages.avro import json_text
from sigla.languages.avro.resolution import same_name
from sigla.languages.avro.tree import Array, Enum, Field, Map, Missing, Named, Record, Type, Union


@dataclass(frozen=True, slots=True)
class Line:
    """path: in the writer, of a default in the reader. written, wanted: types; empty where one is missing.

    how: `same`, `promoted`, `converted`, `skipped`, `default …`, `symbols` or `unreadable: …`; and from which alias.
    """

    path: str
    written: str
    wanted: str
    how: str


def outline(writer: Type, reader: Type) -> tuple[Line, ...]:
    """Nothing of types that are nested too deeply to be told."""
    try:
        return tuple(_Outlining().lines("", writer, reader))
    except RecursionError:
        return ()


class _Outlining:
    """met: pairs of records that were told once."""

    def __init__(self) -> None:
        self.met: set[tuple[int, int]] = set()

    def lines(self, path: str, writer: Type, reader: Type, remark: str = "") -> Iterator[Line]:
        """remark: what is to be said about the field itself."""
        if nullable(writer) and not nullable(reader) and _inner(writer) is not writer:
            remark += ", null is unreadable"
        own, wanted = _inner(writer), _inner(reader)
        if isinstance(own, Record) and isinstance(wanted, Record) and same_name(own, wanted):
            if remark:
                yield Line(path, named(writer), named(reader), f"same{remark}")
            yield from self.record(path, own, wanted)
        elif isinstance(own, Array) and isinstance(wanted, Array):
            yield from self.lines(f"{path}[]", own.items, wanted.items, remark)
        elif isinstance(own, Map) and isinstance(wanted, Map):
            yield from self.lines(f"{path}{{}}", own.values, wanted.values, remark)
        elif isinstance(own, Union):
            for branch in own.branches:
                yield from self.lines(f"{path}<{named(branch)}>", branch, reader, remark)
        elif isinstance(wanted, Union):
            yield from self.branch(path, own, wanted, remark)
        else:
            yield Line(path, named(writer), named(reader), how(own, wanted) + remark)

    def record(self, path: str, writer: Record, reader: Record) -> Iterator[Line]:
        if (id(writer), id(reader)) in self.met:
            return
        self.met.add((id(writer), id(reader)))
        sources = {source.name: each for source, each in matched(writer, reader) if source}
        for field in writer.fields:
            place, each = _below(path, field.name), sources.get(field.name)
            if each is None:
                yield Line(place, named(field.type), "", "skipped")
            else:
                alias = f", as {each.name}" if each.name != field.name else ""
                yield from self.lines(place, field.type, each.type, alias)
        for source, each in matched(writer, reader):
            if source is None:
                yield Line(_below(path, each.name), "", named(each.type), _default(each))

    def branch(self, path: str, writer: Type, reader: Union, remark: str) -> Iterator[Line]:
        """What goes into a wider union becomes one of its members."""
        at = chosen(writer, reader)
        if at is None:
            yield Line(path, named(writer), named(reader), f"unreadable: no branch for {called(writer)}")
        else:
            member = branch_names(reader)[at]
            yield from self.lines(path, writer, reader.branches[at], f"{remark}, as {member}" if member else remark)


def how(writer: Type, reader: Type) -> str:
    """How a type without fields is read."""
    try:
        step = plan(writer, reader).root
    except Unreadable as unreadable:
        return f"unreadable: {unreadable.detail}"
    if isinstance(writer, Enum) and isinstance(reader, Enum) and writer.symbols != reader.symbols:
        return "symbols"
    if writer.kind != reader.kind:
        return "promoted"
    moved = logical(writer) != logical(reader)
    return "converted" if moved and isinstance(step, ReadScalar) and step.then else "same"


def named(type_: Type) -> str:
    """A type in a word or two: `array of long (timestamp-micros)`."""
    if isinstance(type_, Union):
        return " | ".join(map(named, type_.branches))
    if isinstance(type_, Array):
        return f"array of {named(type_.items)}"
    if isinstance(type_, Map):
        return f"map of {named(type_.values)}"
    meaning = logical(type_)
    return (type_.full if isinstance(type_, Named) else type_.kind) + (f" ({meaning})" if meaning else "")


def nullable(type_: Type) -> bool:
    return any(branch.kind == "null" for branch in (type_.branches if isinstance(type_, Union) else [type_]))


def _inner(type_: Type) -> Type:
    """A type that may only be null besides is told as itself."""
    if isinstance(type_, Union):
        others = [branch for branch in type_.branches if branch.kind != "null"]
        if len(others) == 1:
            return others[0]
    return type_


def _below(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _default(field: Field) -> str:
    if isinstance(field.default, Missing):
        return "unreadable: no default"
    return f"default {json_text.written(field.default)}"
