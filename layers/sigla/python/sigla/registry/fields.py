"""The fields of a schema as a tree, and which version added each (FIELDS-1 to FIELDS-4)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
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
    before = [each for each in resources.catalog.history(view.subject) if each.version < row.version]
    near = before[-MOST_VERSIONS:]
    shown = _outline(resources, view.subject, row)
    oldest = None if len(near) < len(before) else row.version
    told = list(_walk(shown, (), 0, TOLD[row.type]))[:MOST_FIELDS]
    since: dict[Place, Version | None] = dict.fromkeys((place for place, _, _ in told), row.version)
    standing = set(since)
    for each in reversed(near):
        if each.type != row.type or not standing:
            break
        places = {place for place, _, _ in _walk(_outline(resources, view.subject, each), (), 0, TOLD[row.type])}
        standing &= places
        since |= dict.fromkeys(standing, each.version)
    if oldest is None and near and near[0].type == row.type:
        since |= dict.fromkeys(standing, None)
    return [_field(place, part, depth, since[place]) for place, part, depth in told]


def _outline(resources: Resources, subject: Subject, row: Row) -> SchemaPart:
    effort.pulse()
    parsed: Parsed = parsing.stored(resources, BodyKey(subject.context, row.id), resources.body(subject, row))
    with parsing.explained(parsed.language):
        return LANGUAGES[parsed.language].outlines(parsed, parsed).new


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
