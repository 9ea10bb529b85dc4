"""The fields of a schema as a tree, and which version added each (FIELDS-1 to FIELDS-4)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, takewhile
from typing import Final, NamedTuple

from sigla import effort
from sigla.languages import LANGUAGES
from sigla.languages.outline import Place, SchemaPart
from sigla.model import BodyKey, Parsed, Row, Subject, Version
from sigla.registry import lookup
from sigla.registry.resources import Resources
from sigla.registry.side_by_side import both
from sigla.registry.steps import parsing

MOST_VERSIONS: Final = 100
"""So many versions before it are looked at."""
AT_ONCE: Final = 16
"""Schemas that are read side by side."""
MOST_PAID: Final = AT_ONCE - 1
"""So many versions before it where each read costs money: one trip brings them all, with its own schema."""
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
    """A field, or what has fields. depth: 0 at the top. since: the version that added it; None: none of those seen."""

    depth: int
    name: str
    noun: str
    path: str
    text: str
    doc: str
    since: Version | None


class FieldsSeen(NamedTuple):
    """The fields of a version, in the order of the schema, each before what is in it.

    through: the earliest version that was looked at, where it has some of them and there are others before it.
    """

    fields: list[SchemaField]
    through: Version | None


def fields(resources: Resources, subject: Subject, number: Version) -> FieldsSeen:
    """Raises SubjectNotFound, VersionNotFound, InvalidSchema."""
    most = MOST_PAID if resources.pays_for_reads else MOST_VERSIONS

    def before(of: Subject, version: Version) -> list[Row]:
        return list(islice(resources.catalog.versions_below(of, version, glance=most + 1), most + 1))

    (view, row), below = both(
        resources,
        lambda: lookup.locate(resources, subject, (number,), lambda view: view.row(number), deleted=True),
        lambda: before(subject, number),
    )
    if (view.subject, row.version) != (subject, number):  # an alias, another context's, the latest
        below = before(view.subject, row.version)
    alike = list(takewhile(lambda each: each.type == row.type, below))
    outlines = _outlines_of(resources, view.subject, [row, *alike[:most]])
    told = list(_walk(next(outlines), (), 0, TOLD[row.type]))[:MOST_FIELDS]
    since: dict[Place, Version | None] = dict.fromkeys((place for place, _, _ in told), row.version)
    standing = set(since)
    for each in alike[:most]:
        if not standing:
            break
        standing &= {place for place, _, _ in _walk(next(outlines), (), 0, TOLD[row.type])}
        since |= dict.fromkeys(standing, each.version)
    through = alike[most - 1].version if standing and len(alike) > most else None
    if through is not None:
        since |= dict.fromkeys(standing, None)
    return FieldsSeen([_field(place, part, depth, since[place]) for place, part, depth in told], through)


def _outlines_of(resources: Resources, subject: Subject, rows: Sequence[Row]) -> Iterator[SchemaPart]:
    """One by one; what they are made of is read for some of them at once."""
    for at in range(0, len(rows), AT_ONCE):
        some = rows[at : at + AT_ONCE]
        bodies = resources.bodies_of([(subject, row) for row in some])
        parsing.read_together(resources, [target for body in bodies for target in body.targets])
        for row, body in zip(some, bodies, strict=True):
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
