"""Can the reader read what the writer wrote? A walk over pairs of types (contract B.3).

Where the walk is, is a chain of segments from the inside out: a finding spells it out, and most pairs find nothing.
A segment is the index of a field, or text for anything else.
"""

from typing import Final, TypeAlias

from sigla.errors import CheckAbandoned
from sigla.languages.avro.canonical import alone
from sigla.languages.avro.limits import MAX_DEPTH, MAX_STEPS
from sigla.languages.avro.rules import BRANCH, OF_DEFINITIONS, OF_MISSING_FIELDS, TYPE, Rule
from sigla.languages.avro.tree import PRIMITIVES, Array, Definition, Field, Map, Named, Record, Type, Union
from sigla.model import Finding

Path: TypeAlias = "tuple[Path, int | str] | None"
Found: TypeAlias = tuple[Finding, ...]
NOTHING: Final[Found] = ()
SIMPLE: Final = frozenset(PRIMITIVES)


def compare(reader: Type, writer: Type) -> Found:
    """Everything that hinders the reader, in the order of the reader. Raises CheckAbandoned (AR-R4)."""
    try:
        return Comparison().check(reader, writer, None, 0)
    except RecursionError:
        raise abandoned("the schemas are nested too deeply to be compared") from None


def abandoned(reason: str) -> CheckAbandoned:
    return CheckAbandoned(f"Unexpected exception during compatibility check: {reason}")


class Comparison:
    """One comparison. known: what each pair of definitions came to; while it is being checked, nothing (B.3.3).

    Only definitions can be met twice, so only they are remembered. Their findings keep the path of the first meeting.
    """

    __slots__ = ("known", "steps")

    def __init__(self) -> None:
        self.known: dict[tuple[int, int], Found] = {}
        self.steps = 0

    def check(self, reader: Type, writer: Type, path: Path, depth: int) -> Found:
        self.count(1)
        if depth > MAX_DEPTH:
            raise abandoned(f"the schemas are nested more than {MAX_DEPTH} levels deep")
        if isinstance(writer, Union):
            return self.each_branch(reader, writer, path, depth)
        if isinstance(reader, Union):
            return self.into_union(reader, writer, path, depth)
        if reader.kind != writer.kind:
            return judged(TYPE, path, reader, writer)
        if isinstance(reader, Named) and isinstance(writer, Named):
            return self.definitions(reader, writer, path, depth)
        if isinstance(reader, Array) and isinstance(writer, Array):
            return self.check(reader.items, writer.items, (path, "/items"), depth + 1)
        if isinstance(reader, Map) and isinstance(writer, Map):
            return self.check(reader.values, writer.values, (path, "/values"), depth + 1)
        return NOTHING

    def count(self, steps: int) -> None:
        self.steps += steps
        if self.steps > MAX_STEPS:
            raise abandoned(f"the schemas need more than {MAX_STEPS} steps to be compared")

    def definitions(self, reader: Definition, writer: Definition, path: Path, depth: int) -> Found:
        pair = (id(reader), id(writer))
        known = self.known.get(pair)
        if known is not None:
            self.count(len(known))
            return known
        self.known[pair] = NOTHING
        found: list[Finding] = []
        for rule in OF_DEFINITIONS[reader.kind]:
            found += judged(rule, path, reader, writer)
        if isinstance(reader, Record) and isinstance(writer, Record):
            self.fields(reader, writer, path, depth, found)
        known = self.known[pair] = tuple(found)
        return known

    def fields(self, reader: Record, writer: Record, path: Path, depth: int, found: list[Finding]) -> None:
        """For each field of the reader, what is found in its type, or what its absence in the writer means."""
        written = writer.by_name
        for index, field in enumerate(reader.fields):
            match = written.get(field.name)
            if field.aliases:
                match = matching(field, index, writer)
            if match is None:
                found += missing_field(field, index, path)
                continue
            kind = field.type.kind
            # The same primitive on both sides is by far the most common pair.
            if kind in SIMPLE and kind == match.type.kind:
                continue
            found += self.check(field.type, match.type, (path, index), depth + 1)
        self.count(len(reader.fields))

    def each_branch(self, reader: Type, writer: Union, path: Path, depth: int) -> Found:
        """Whatever branch the writer chose must be readable."""
        found: list[Finding] = []
        for index, branch in enumerate(writer.branches):
            where = (path, f"/{index}")
            if isinstance(reader, Union):
                found += self.into_union(reader, branch, where, depth)
            else:
                found += self.check(reader, branch, where, depth + 1)
        return tuple(found)

    def into_union(self, reader: Union, writer: Type, path: Path, depth: int) -> Found:
        """What a branch finds is not reported (AR-U4), and its path begins at the branch (B.3.3)."""
        for branch in reader.branches:
            if not self.check(branch, writer, None, depth + 1):
                return NOTHING
        return judged(BRANCH, path, writer)


def matching(field: Field, index: int, writer: Record) -> Field | None:
    """The writer's field that has the name or an alias of the reader's. More than one makes no sense."""
    names = (field.name, *field.aliases)
    matches = [writer.by_name[name] for name in names if name in writer.by_name]
    if len(matches) > 1:
        label = f"{field.name} type:{field.type.kind.upper()} pos:{index}"
        raise abandoned(f"Reader record field {label} matches multiple fields in writer record schema {alone(writer)}")
    return matches[0] if matches else None


def missing_field(field: Field, index: int, path: Path) -> Found:
    for rule in OF_MISSING_FIELDS:
        found = judged(rule, (path, f"/fields/{index}"), field)
        if found:
            return found
    return NOTHING


def judged(rule: Rule, path: Path, *subjects: Type | Field) -> Found:
    detail = rule.judge(*subjects)
    return NOTHING if detail is None else (Finding(rule.id, pointer(path, rule.suffix), detail),)


def pointer(path: Path, suffix: str) -> str:
    """The JSON Pointer of a place in the reader; `/` is the root. No segment needs escaping: none comes from a name."""
    segments = [suffix]
    while path is not None:
        path, segment = path
        segments.append(segment if isinstance(segment, str) else f"/fields/{segment}/type")
    return "".join(reversed(segments)) or "/"
