"""Can the reader read what the writer wrote? A walk over pairs of types (contract B.3).

Where the walk is, is a chain of segments from the inside out: a finding spells it out, and most pairs find nothing.
A segment is the index of a field, or text for anything else; a definition of the reader marks where it was entered.
"""

from collections.abc import Callable
from typing import Any, Final, TypeAlias

from sigla.languages.avro.canonical import alone
from sigla.languages.avro.limits import MAX_DEPTH
from sigla.languages.avro.resolution import READABLE, candidates
from sigla.languages.avro.rules import BRANCH, OF_DEFINITIONS, OF_MISSING_FIELDS, TYPE, Judged
from sigla.languages.avro.tree import Array, Definition, Enum, Field, Map, Record, Type, Union
from sigla.languages.language import Budget, abandoned
from sigla.model import Finding

Path: TypeAlias = "tuple[Path, int | str | Definition] | None"
Found: TypeAlias = tuple[Finding, ...]
NOTHING: Final[Found] = ()
PER_STEP: Final = 8
"""So many fields, branches, names or characters of a finding are looked at in one step."""


def compare(reader: Type, writer: Type, budget: Budget) -> Found:
    """Everything that hinders the reader, in the order of the reader. Raises CheckAbandoned (AR-R4)."""
    try:
        return Comparison(budget).check(reader, writer, None, 0)
    except RecursionError:
        raise abandoned("the schemas are nested too deeply to be compared") from None


class Comparison:
    """One comparison. known: what each pair of definitions came to; while it is being checked, nothing (B.3.3).

    Only definitions can be met twice, so only they are remembered. Their findings keep the path of the first meeting.
    Primitives are by far the most common: whoever meets a pair of them asks READABLE before going deeper.
    Work is paid for before it is done, findings whenever they are reported.
    """

    __slots__ = ("known", "spend")

    def __init__(self, budget: Budget) -> None:
        self.known: dict[tuple[int, int], Found] = {}
        self.spend = budget.spend

    def check(self, reader: Type, writer: Type, path: Path, depth: int) -> Found:
        self.spend(1)
        if depth > MAX_DEPTH:
            raise abandoned(f"the schemas are nested more than {MAX_DEPTH} levels deep")
        if reader.kind == writer.kind:
            walk = WALKS.get(reader.kind)
            return walk(self, reader, writer, path, depth) if walk else NOTHING
        if isinstance(writer, Union):
            return self.each_branch(reader, writer, path, depth)
        if isinstance(reader, Union):
            return self.into_union(reader, writer, path, depth)
        return self.judged(TYPE, path, reader, writer)

    def arrays(self, reader: Array, writer: Array, path: Path, depth: int) -> Found:
        if reader.items.kind in READABLE[writer.items.kind]:
            return NOTHING
        return self.check(reader.items, writer.items, (path, "/items"), depth + 1)

    def maps(self, reader: Map, writer: Map, path: Path, depth: int) -> Found:
        if reader.values.kind in READABLE[writer.values.kind]:
            return NOTHING
        return self.check(reader.values, writer.values, (path, "/values"), depth + 1)

    def definitions(self, reader: Definition, writer: Definition, path: Path, depth: int) -> Found:
        pair = (id(reader), id(writer))
        known = self.known.get(pair)
        if known is not None:
            self.spend(sum(map(steps, known)))
            return known
        self.known[pair] = NOTHING
        path = (path, reader)
        self.spend(names(reader, writer) // PER_STEP)
        found: list[Finding] = []
        for rule in OF_DEFINITIONS[reader.kind]:
            found += self.judged(rule, path, reader, writer)
        if isinstance(reader, Record) and isinstance(writer, Record):
            self.fields(reader, writer, path, depth, found)
        known = self.known[pair] = tuple(found)
        return known

    def fields(self, reader: Record, writer: Record, path: Path, depth: int, found: list[Finding]) -> None:
        """For each field of the reader, what is found in its type, or what its absence in the writer means."""
        self.spend(len(reader.fields) // PER_STEP)
        written = writer.by_name
        for index, field in enumerate(reader.fields):
            match = self.matching(field, index, writer) if field.aliases else written.get(field.name)
            if match is None:
                found += self.missing(field, index, path)
            elif field.type.kind not in READABLE[match.type.kind]:
                found += self.check(field.type, match.type, (path, index), depth + 1)

    def matching(self, field: Field, index: int, writer: Record) -> Field | None:
        """The writer's field that has the name or an alias of the reader's. More than one makes no sense."""
        self.spend(len(field.aliases) // PER_STEP)
        matches = candidates(writer, field)
        if len(matches) > 1:
            label = f"{field.name} type:{field.type.kind.upper()} pos:{index}"
            schema = alone(writer)
            raise abandoned(f"Reader record field {label} matches multiple fields in writer record schema {schema}")
        return matches[0] if matches else None

    def missing(self, field: Field, index: int, path: Path) -> Found:
        """What it means that the writer lacks the field: the first finding is the only one."""
        for rule in OF_MISSING_FIELDS:
            detail = rule.judge(field)
            if detail is not None:
                return self.found(rule, (path, f"/fields/{index}"), detail)
        return NOTHING

    def unions(self, reader: Union, writer: Union, path: Path, depth: int) -> Found:
        """Whatever branch the writer chose, some branch of the reader must read."""
        kinds = self.kinds(reader)
        found: list[Finding] = []
        for index, branch in enumerate(writer.branches):
            if kinds.isdisjoint(READABLE[branch.kind]) and not self.some_branch(reader, branch, depth):
                found += self.judged(BRANCH, (path, f"/{index}"), branch)
        return tuple(found)

    def each_branch(self, reader: Type, writer: Union, path: Path, depth: int) -> Found:
        """Whatever branch the writer chose must be readable."""
        found: list[Finding] = []
        for index, branch in enumerate(writer.branches):
            found += self.check(reader, branch, (path, f"/{index}"), depth + 1)
        return tuple(found)

    def into_union(self, reader: Union, writer: Type, path: Path, depth: int) -> Found:
        """What no union wrote, some branch of the reader must read."""
        if not self.kinds(reader).isdisjoint(READABLE[writer.kind]) or self.some_branch(reader, writer, depth):
            return NOTHING
        return self.judged(BRANCH, path, writer)

    def kinds(self, union: Union) -> set[str]:
        self.spend(len(union.branches) // PER_STEP)
        return {branch.kind for branch in union.branches}

    def some_branch(self, reader: Union, writer: Type, depth: int) -> bool:
        """Whether a branch of the writer's kind can read it.

        What a branch finds is not reported (AR-U4), and its path begins at the branch (B.3.3).
        """
        self.spend(len(reader.branches) // PER_STEP)
        for branch in reader.branches:
            if branch.kind == writer.kind and not self.check(branch, writer, None, depth + 1):
                return True
        return False

    def judged(self, judged: Judged, path: Path, *subjects: Type) -> Found:
        detail = judged.judge(*subjects)
        return NOTHING if detail is None else self.found(judged, path, detail)

    def found(self, judged: Judged, path: Path, detail: str) -> Found:
        finding = Finding(judged.rule.id, pointer(path, judged.suffix), detail)
        self.spend(steps(finding))
        return (finding,)


WALKS: Final[dict[str, Callable[[Comparison, Any, Any, Path, int], Found]]] = {
    "record": Comparison.definitions,
    "enum": Comparison.definitions,
    "fixed": Comparison.definitions,
    "array": Comparison.arrays,
    "map": Comparison.maps,
    "union": Comparison.unions,
}
"""How two types of one kind are compared; there is nothing to compare in primitives."""


def steps(finding: Finding) -> int:
    """What a finding costs each time that it is reported."""
    return 2 + (len(finding.path) + len(finding.detail)) // PER_STEP


def names(reader: Definition, writer: Definition) -> int:
    """How many names the rules for definitions look at."""
    symbols = len(reader.symbols) + len(writer.symbols) if isinstance(reader, Enum) and isinstance(writer, Enum) else 0
    return len(reader.aliases) + symbols


def pointer(path: Path, suffix: str) -> str:
    """The JSON Pointer of a place in the reader; `/` is the root. No segment needs escaping: none comes from a name."""
    segments = [suffix]
    while path is not None:
        path, segment = path
        if isinstance(segment, str):
            segments.append(segment)
        elif isinstance(segment, int):
            segments.append(f"/fields/{segment}/type")
    return "".join(reversed(segments)) or "/"
