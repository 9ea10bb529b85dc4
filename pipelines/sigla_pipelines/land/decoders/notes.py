"""What a schema says of a column beside its type: what it means, and its tags.

Tags stand in the schema (`confluent:tags`), or beside it, in its metadata, by the paths of fields. A note goes with the
field of Arrow's type, in its metadata, and changes nothing about equality of types.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Final

import orjson
import pyarrow as pa

DOC: Final = b"doc"
TAGS: Final = b"tags"

Tags = frozenset[str]
NO_TAGS: Final[Tags] = frozenset()
PathTags = Mapping[str, tuple[str, ...]]
"""The tags of a schema's metadata: by paths, with `*` for anything but dots, `**` for anything, `?` for one character.
Source: Confluent's clients, `WildcardMatcher`."""


@dataclass(frozen=True, slots=True)
class Note:
    """tags: of the value, and of what in it has no column of its own."""

    doc: str = ""
    tags: Tags = field(default=NO_TAGS)

    @property
    def metadata(self) -> dict[bytes, bytes] | None:
        found = {DOC: self.doc.encode()} if self.doc else {}
        if self.tags:
            found[TAGS] = orjson.dumps(sorted(self.tags))
        return found or None


NOTHING: Final = Note()


def with_unit(note: Note, unit: str) -> Note:
    """The note that also says what a number counts."""
    if unit in note.doc:
        return note
    return replace(note, doc=f"{note.doc} ({unit})" if note.doc else unit)


def note_of(column: pa.Field) -> Note:
    metadata = column.metadata or {}
    tags = frozenset(orjson.loads(metadata[TAGS])) if TAGS in metadata else NO_TAGS
    return Note(metadata.get(DOC, b"").decode(), tags)


def tags_of_list(tags: Any) -> Tags:
    """Inline tags as a schema has them: anything, unless it is a list of texts."""
    return frozenset(tag for tag in tags if isinstance(tag, str)) if isinstance(tags, list) else NO_TAGS


def tags_at(path: str, tags: PathTags) -> Tags:
    """Those that metadata gives to the field of this path."""
    return all_tags(found for pattern, found in tags.items() if _pattern(pattern).fullmatch(path))


def tags_below(path: str, tags: PathTags) -> Tags:
    """Those that metadata may give to something within it."""
    return all_tags(found for pattern, found in tags.items() if pattern.startswith(f"{path}.") or "*" in pattern)


def all_tags(tags: Iterable[Iterable[str]]) -> Tags:
    return frozenset(tag for some in tags for tag in some)


_WILD: Final = {"**": ".*", "*": "[^.]*", "?": "[^.]"}


@lru_cache(maxsize=1000)
def _pattern(wild: str) -> re.Pattern[str]:
    parts = re.split(r"(\*\*|\*|\?)", wild)
    return re.compile("".join(_WILD.get(part) or re.escape(part) for part in parts), re.DOTALL)
