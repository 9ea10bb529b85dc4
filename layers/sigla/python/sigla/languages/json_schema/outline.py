"""What a JSON Schema consists of: its values at their places, each where it is written (`Outlines`).

What a `$ref` leads to is a part of the schema that it stands in, once, whoever refers to it; documents of references
are parts beside the document itself, which is `#`.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final, cast

from sigla import effort
from sigla.errors import Malformed
from sigla.languages.json_schema.drafts import draft_of
from sigla.languages.json_schema.load import Document
from sigla.languages.json_schema.references import Home, Resources
from sigla.languages.json_schema.text import Json, written
from sigla.languages.outline import Outlines, Place, SchemaPart, Way
from sigla.model import Finding

ROOT: Final = "#"
NOUNS: Final[Mapping[str, str]] = {
    "properties": "property",
    "patternProperties": "pattern of properties",
    "$defs": "definition",
    "definitions": "definition",
    "dependentSchemas": "dependent schema",
    "dependencies": "dependency",
    "dependentRequired": "dependency",
}
"""Keywords under which things stand by name, and what each is called."""
SCHEMAS: Final = frozenset((
    "additionalItems",
    "additionalProperties",
    "contains",
    "else",
    "if",
    "items",
    "not",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
))  # fmt: skip
"""Keywords under which a schema stands."""
COMBINING: Final = frozenset(("allOf", "anyOf", "oneOf"))
POSITIONS: Final = frozenset(("items", "prefixItems"))
LISTS: Final = COMBINING | POSITIONS
"""Keywords under which a list of schemas may stand."""
NAMES: Final[Mapping[str, str]] = {
    "enum": "value",
    "examples": "example",
    "required": "required property",
    "type": "type",
}
"""Keywords under which a list of values may stand, each of which comes and goes by itself."""
EXPLAINING: Final = frozenset(("$comment", "description", "examples", "title"))
"""Keywords that tell people something, and machines nothing."""
HINTS: Final = ("$ref", "$id", "title", "type", "const")
"""By the first of these that it has, a member of a list is known again."""
ALSO: Final[Mapping[str, tuple[str, ...]]] = {
    "items": ("prefixItems",),
    "dependencies": ("dependentRequired", "dependentSchemas"),
}
"""What paths of findings call by the name that it had in older drafts."""
MOST_HOPS: Final = 100
"""From one `$ref` to the next."""


def outlines(old: Document, new: Document) -> Outlines:
    """Raises Malformed for a reference that is not JSON."""
    before, after = Outline(old), Outline(new)
    return Outlines(before.root, after.root, before.way, after.way)


class Outline:
    """The tree of one document. places: where each object stands, by its identity, which `resources` keep alive."""

    __slots__ = ("places", "resources", "root", "value")

    def __init__(self, document: Document) -> None:
        self.value = document.value
        self.resources = Resources(document.value, document.references, draft_of(document.value).id)
        self.places: dict[int, Place] = {}
        self.root = SchemaPart("schema")
        self.root.add(ROOT, self.schema(document.value, (ROOT,), "schema"))
        for reference in document.references:
            value, _ = self.resources.document(reference.name)
            if reference.name not in self.root.parts:
                self.root.add(reference.name, self.schema(value, (reference.name,), "referenced schema"))

    def schema(self, value: Json, place: Place, noun: str) -> SchemaPart:
        effort.pulse(1)
        if not isinstance(value, dict):
            return SchemaPart(noun, normal_text(value))
        self.places[id(value)] = place
        part = SchemaPart(noun, "{}", whole=partial(normal_text, value))
        for keyword, said in value.items():
            part.add(keyword, self.keyword(keyword, said, (*place, keyword)))
        return part

    def keyword(self, keyword: str, value: Json, place: Place) -> SchemaPart:
        if isinstance(value, dict) and keyword in NOUNS:
            return self.named(keyword, value, place)
        if isinstance(value, list) and keyword in LISTS:
            return self.members(keyword, value, place)
        if isinstance(value, list) and keyword in NAMES:
            return values_part(keyword, value, NAMES[keyword])
        if keyword in SCHEMAS:
            return self.schema(value, place, keyword)
        return SchemaPart(keyword, normal_text(value), explains=keyword in EXPLAINING)

    def named(self, keyword: str, values: Mapping[str, Json], place: Place) -> SchemaPart:
        part = SchemaPart(keyword, "{}", whole=partial(normal_text, values))
        for name, value in values.items():
            inner = (*place, name)
            if isinstance(value, list):
                part.add(name, values_part(NOUNS[keyword], value, "required property"))
            else:
                part.add(name, self.schema(value, inner, NOUNS[keyword]))
        return part

    def members(self, keyword: str, values: Sequence[Json], place: Place) -> SchemaPart:
        """Positions by their numbers; what is combined by what it is known by, or one more would change all others."""
        part = SchemaPart(keyword, "[]", whole=partial(normal_text, values), ordered=True)
        for index, value in enumerate(values):
            key = str(index) if keyword in POSITIONS else hint(value)
            key = part.free(key)
            part.add(key, self.schema(value, (*place, key), f"member of {keyword}"))
        return part

    def way(self, finding: Finding) -> Way:
        """Where a finding is (C.6). Paths pass through a `$ref` as if what it leads to stood there.

        What the path says of conjuncts that only the check knows is passed by.
        """
        value, home = self.value, self.resources.home
        place: Place = (ROOT,)
        places: Way = [[place]]
        segments = finding.path.split("/")[1:]
        while segments:
            segment = segments.pop(0)
            value, home, place = self.followed(value, home, place, segment)
            home = self.resources.entered(home, value)
            if isinstance(value, dict) and (said := self.said(value, segment, segments)) is not None:
                value, place = value[said], (*place, said)
            elif isinstance(value, list) and segment.isdecimal() and int(segment) < len(value):
                value, place = value[int(segment)], (*place, segment)
            elif segment in COMBINING:
                del segments[:1]
            else:
                rest = segments[:1] if segment in ALSO else []
                return [*places, [place], [(*place, word, *rest) for word in (segment, *ALSO.get(segment, ()))]]
            places.append([place])
        *_, place = self.followed(value, home, place, "")
        return [*places, [place]]

    def said(self, value: Mapping[str, Json], segment: str, inside: Sequence[str]) -> str | None:
        """The keyword that says what a path means by the segment; paths call some of them by an older name."""
        words = (segment, *ALSO.get(segment, ()))
        for word in words if segment in ALSO and inside else words[:1]:
            within = value.get(word)
            if word in value and (word == words[0] or self.has(within, inside[0])):
                return word
        return None

    def has(self, value: Json, key: str) -> bool:
        return key in value if isinstance(value, dict) else isinstance(value, list) and key.isdecimal()

    def followed(self, value: Json, home: Home, place: Place, keyword: str) -> tuple[Json, Home, Place]:
        """Where the keyword is said: in the schema itself, or where its `$ref` leads."""
        for _ in range(MOST_HOPS):
            if not isinstance(value, dict) or keyword in value or not isinstance(name := value.get("$ref"), str):
                break
            try:
                value, home = self.resources.find(name, self.resources.entered(home, value))
            except Malformed:
                break
            place = self.places.get(id(value), place)
        return value, home, place


def values_part(keyword: str, values: Sequence[Json], noun: str) -> SchemaPart:
    """A list of which each value comes and goes by itself."""
    part = SchemaPart(keyword, "[]", whole=partial(normal_text, values), ordered=True, explains=keyword in EXPLAINING)
    for value in values:
        text = normal_text(value)
        part.add(value if isinstance(value, str) else text, SchemaPart(noun, text, explains=part.explains))
    return part


def hint(value: Json) -> str:
    """What a member of a list is known by."""
    if isinstance(value, dict):
        for keyword in HINTS:
            if isinstance(said := value.get(keyword), str):
                return said
    return "schema"


def normal_text(value: object) -> str:
    """A value of JSON in normal form."""
    return written(cast("Json", value), ordered=True)
