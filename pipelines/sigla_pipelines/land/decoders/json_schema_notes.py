"""What a JSON Schema says of columns: `description` or `title`, and `confluent:tags`.

What is kept as JSON text has the tags of all that it may have in it: of what a reference leads to, of what stands
beside `properties`, of each alternative. Rather too many than too few: by tags columns are masked.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from sigla.decoding.decoder import Source
from sigla.errors import Malformed
from sigla.languages.json_schema.references import Resources
from sigla.languages.json_schema.tags import TAGS
from sigla_pipelines.land.decoders.json_schema_beside import DEPENDENT, IN_PLACE, Said, together
from sigla_pipelines.land.decoders.notes import NO_TAGS, PathTags, Tags, all_tags, tags_at, tags_below, tags_of_list

ROOT: Final = "$"
"""How the paths of metadata begin. Source: Confluent's clients."""

NO_SCHEMAS: Final = frozenset(("$defs", "const", "default", "definitions", "enum", "examples"))
"""Keywords whose values have no tags, or only by a reference."""

FOLLOWED: Final = frozenset(("$ref", *IN_PLACE, *DEPENDENT))


def description(schema: Any) -> str:
    found = [schema.get(word) for word in ("description", "title")] if isinstance(schema, dict) else []
    return next((text for text in found if isinstance(text, str) and text), "")


class JsonTags:
    """metadata: of the schema. path: to where we are, `$.address`."""

    def __init__(self, source: Source, metadata: PathTags, resources: Resources) -> None:
        texts = (source.text, *(each.text for each in source.references))
        self._any = bool(metadata) or any(TAGS in text for text in texts)  # to look for some takes long
        self._metadata = metadata
        self._resources = resources

    def of(self, said: Iterable[Said], path: str) -> Tags:
        """The tags of a value, by all that is said of it."""
        if not self._any:
            return NO_TAGS
        inline = all_tags(tags_of_list(schema.get(TAGS)) for schema, _ in together(said, self._resources))
        return inline | tags_at(path, self._metadata)

    def within(self, said: Iterable[Said], path: str, beside: Iterable[str] = ()) -> Tags:
        """The tags of all that a value may have in it. beside: properties that have columns of their own."""
        if not self._any:
            return NO_TAGS
        return all_tags(self._within(said, frozenset(beside))) | tags_below(path, self._metadata)

    def _within(self, said: Iterable[Said], beside: frozenset[str]) -> Iterator[Tags]:
        todo: list[Said] = []
        for schema, home in together(said, self._resources):
            todo += [(_without(schema, beside), home)]
        met = set[int]()
        kept = []  # so that no other object gets its number
        while todo:
            value, around = todo.pop()
            if id(value) in met or not isinstance(value, dict | list):
                continue
            met.add(id(value))
            kept.append(value)
            if isinstance(value, list):
                todo += [(each, around) for each in value]
                continue
            home = self._resources.entered(around, value)
            yield tags_of_list(value.get(TAGS))
            todo += [(each, home) for word, each in value.items() if word not in NO_SCHEMAS]
            if isinstance(value.get("$ref"), str):
                todo += self._target(value["$ref"], home)

    def _target(self, name: str, home: Any) -> list[Said]:
        try:
            return [self._resources.find(name, home)]
        except Malformed:
            return []


def _without(schema: Mapping[str, Any], names: frozenset[str]) -> dict[str, Any]:
    """Without properties of these names, which have tags of their own, and what `together` has followed."""
    left_out = FOLLOWED | ({TAGS} if names else set())
    found = {word: value for word, value in schema.items() if word not in left_out}
    properties = found.get("properties")
    if names and isinstance(properties, dict):
        found["properties"] = {name: value for name, value in properties.items() if name not in names}
    return found
