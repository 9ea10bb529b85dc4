"""Comments of columns: one line, as every catalog takes it.

A comment follows the newest reader that says anything. Iceberg has one type for all texts, and so a comment that begins
with `JSON` marks a column of JSON text, or of lists and maps of it.
"""

from typing import Final

import pyarrow as pa

from sigla_pipelines.land.column_types import JSON
from sigla_pipelines.land.decoders.notes import DOC, Note, note_of

JSON_TEXT: Final = "JSON"
_JSON_AND_MORE: Final = "JSON. "
_OTHER: Final = "Text. "
"""Before a comment that would say of other columns that they are JSON text."""

LONGEST: Final = 255
"""Characters, those before the comment among them. Source: AWS Glue, Web API Reference, `Column`."""
_CUT: Final = "…"


def comment_of(column: pa.Field) -> str:
    return note_of(column).doc


def commented(column: pa.Field, comment: str) -> pa.Field:
    """The same column with this comment alone."""
    return column.with_metadata({DOC: comment.encode()} if comment else None)


def comment_line(note: Note) -> str:
    """The comment that a note becomes, with its tags, as one line that is not too long."""
    tags = _one_line(f"(tags: {', '.join(sorted(note.tags))})") if note.tags else ""
    text = _one_line(note.doc)
    room = LONGEST - len(_JSON_AND_MORE) - len(tags) - 1
    if len(text) > room:
        text = text[: max(room - 1, 0)] + _CUT
    return f"{text} {tags}".strip()[: LONGEST - len(_JSON_AND_MORE)]


def _one_line(text: str) -> str:
    return " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())


def written(column: pa.Field) -> str:
    """The comment as a catalog is told it."""
    comment = comment_of(column)
    if is_json(column.type):
        return f"{_JSON_AND_MORE}{comment}" if comment else JSON_TEXT
    return f"{_OTHER}{comment}" if _says_json(comment) else comment


def read(comment: str) -> tuple[bool, str]:
    """What `written` has made: whether it is a column of JSON text, and the comment."""
    if _says_json(comment):
        return True, comment.removeprefix(JSON_TEXT).removeprefix(". ")
    rest = comment.removeprefix(_OTHER)
    return False, rest if _says_json(rest) else comment


def is_json(kind: pa.DataType) -> bool:
    """Also of lists and maps of it."""
    if pa.types.is_list(kind):
        return is_json(kind.value_type)
    if pa.types.is_map(kind):
        return is_json(kind.item_type)
    return bool(kind == JSON)


def _says_json(comment: str) -> bool:
    return comment == JSON_TEXT or comment.startswith(_JSON_AND_MORE)
