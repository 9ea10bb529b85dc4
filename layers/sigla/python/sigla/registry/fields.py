"""The fields of a schema as a tree, and which version added each (FIELDS-1 to FIELDS-4)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, takewhile
from typing import Final

from sigla import effort
from sigla.languages import LANGUAGES
from sigla.languages.outline import Place, SchemaPart
from sigla.model import BodyKey, Parsed, Row, Subject, Version
from sigla.registry import lookup
from sigla.registry.resources import Resources
from sigla.registry.steps import parsing

MOST_VERSIONS: Final = 100
"""So many versions before it are looked at."""
AT_ONCE: Final = 25
"""Schemas that are read side by side."""
MOST_FIELDS: Final = 5000
STEPS_OF_A_PART: Final = 5

TOLD: Final[Mapping[str, frozenset[str]]] = {
    "AVRO": frozenset(("record", "error", "enum", "fixed", "field")),
    "JSON": frozenset(("property", "referenced schema")),
    "PROTOBUF": frozenset(("message", "group", "oneof", "enum", "field")),
}
"""What of a schema is told of, by its noun; all else is passed through on the way."""


@dataclass(frozen=True, slots=True)
class SchemaField:
    """A field, or what has fields. depth: 0 at the top. since: the version that added it; None: long ago."""

    depth: int
    name: str
    noun: str
    path: str
    text: str
    doc: str
    since: Version | None


def fields(resources: Resources, subject: Subject, number: Version) -> list[SchemaField]:
    """In the order of the schema, each before what is in it. Raises SubjectNotFound, VersionNotFound, InvalidSchema."""
    view, row = lookup.locate(resources, subject, (number,), lambda view: view.row(number), deleted=True)
    before = resources.catalog.versions_below(view.subject, row.version, glance=MOST_VERSIONS + 1)
    alike = list(islice(takewhile(lambda each: each.type == row.type, before), MOST_VERSIONS + 1))
    outlines = _outlines_of(resources, view.subject, [row, *alike[:MOST_VERSIONS]])
    told = list(_walk(next(outlines), (), 0, TOLD[row.type]))[:MOST_FIELDS]
    since: dict[Place, Version | None] = dict.fromkeys((place for place, _, _ in told), row.version)
    standing = set(since)
    for each in alike[:MOST_VERSIONS]:
        if not standing:
            break
        standing &= {place for place, _, _ in _walk(next(outlines), (), 0, TOLD[row.type])}
        since |= dict.fromkeys(standing, each.version)
    if len(alike) > MOST_VERSIONS:
        since |= dict.fromkeys(standing, None)
    return [_field(place, part, depth, since[place]) for place, part, depth in told]


def _outlines_of(resources: Resources, subject: Subject, rows: Sequence[Row]) -> Iterator[SchemaPart]:
    """One by one; what they are made of is read for some of them at once."""
    for at in range(0, len(rows), AT_ONCE):
        some = rows[at : at + AT_ONCE]
        for row, body in zip(some, resources.bodies_of([(subject, row) for row in some]), strict=True):
            effort.pulse()
            parsed: Parsed = parsing.stored(resources, BodyKey(subject.context, row.id), body)
            with parsing.explained(parsed.language):
                yield LANGUAGES[parsed.language].outlines(parsed, parsed).new


def _walk(part: SchemaPart, place: Place, depth: int, nouns: frozenset[str]) -> Iterator[tuple[Place, SchemaPart, int]]:
    for key, inner in part.parts.items():
        effort.pulse(STEPS_OF_A_PART)
        here = (*place, key)
        # A field of Protobuf says in which oneof it is.
        is_told = inner.noun in nouns and not (inner.noun == "oneof" and part.noun in ("field", "group"))
        if is_told:
            yield here, inner, depth
        yield from _walk(inner, here, depth + is_told, nouns)


def _field(place: Place, part: SchemaPart, depth: int, since: Version | None) -> SchemaField:
    return SchemaField(
        depth, part.name or place[-1], part.noun, "/".join(place), _type_line(part), _doc_line(part), since
    )


def _type_line(part: SchemaPart) -> str:
    """What it is, in a line: of a field its type and default."""
    if part.noun == "property":
        said = part.parts.get("type") or part.parts.get("$ref")
        return said.text.strip('"') if said and said.text else ""
    if part.noun in ("field", "enum", "fixed", "group"):
        return part.whole().partition("\n")[0]
    return ""


def _doc_line(part: SchemaPart) -> str:
    said: Sequence[str] = [part.parts[name].text for name in ("doc", "description") if name in part.parts]
    return said[0].strip('"') if said else ""
