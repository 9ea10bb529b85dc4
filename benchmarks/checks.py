"""What the benchmarks of checks share, whatever the language: reading a schema, comparing two, and how that grows."""

from collections.abc import Callable
from functools import partial
from typing import Final, Protocol

from benchmarks.harness import Lines, per_call, per_piece
from sigla.languages.language import Language
from sigla.model import Parsed

STRICT: Final = True
"""As a schema is read that is offered as new."""
ANY_FIELDS: Final = False
"""Without strict field validation, as it is by default."""


class Text(Protocol):
    """A schema with so many pieces. evolved: one that can read what the other has written."""

    def __call__(self, pieces: int, /, *, evolved: bool = False) -> str: ...


def parsed(language: Language, schema: str) -> Parsed:
    return language.parse(schema, (), STRICT)


def validated(language: Language, schema: str) -> None:
    language.validate(parsed(language, schema), ANY_FIELDS)


def checking(language: Language, text: Text, pieces: int) -> Callable[[], None]:
    """One check of two schemas that were read before, which finds nothing."""
    return partial(_checked, language, parsed(language, text(pieces, evolved=True)), parsed(language, text(pieces)))


def curve(language: Language, text: Text, sizes: tuple[int, ...], rounds: int, *, piece: str, pieces: int) -> Lines:
    """A check at several sizes. pieces: of so many altogether are the schemas that are checked in a round."""
    works = {size: per_call(checking(language, text, size), max(1, pieces // size)) for size in sizes}
    return per_piece(rounds, works, piece)


def _checked(language: Language, reader: Parsed, writer: Parsed) -> None:
    findings = language.compare(reader, writer)
    if findings:
        raise AssertionError(findings)
