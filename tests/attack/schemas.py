"""The words of the model, and a few schemas with their shapes: all that it knows about Avro."""

from dataclasses import dataclass
from typing import NamedTuple

Shape = frozenset[tuple[str, object, bool]] | str
"""A record's fields (name, shape, has a default), its own name a field without a shape; or a primitive's name."""

STAMP = "confluent:version"
BASE = ("record Base", None, False)
ORDER = ("record Order", None, False)
INT = "int"


@dataclass(frozen=True)
class Text:
    """A schema's canonical text. shape: None if it takes a reference to know it."""

    text: str
    shape: Shape | None


class Place(NamedTuple):
    """A subject."""

    context: str
    name: str


class Use(NamedTuple):
    """A reference under the one name `Base`."""

    subject: str
    version: int


@dataclass(frozen=True)
class Content:
    """What an id means."""

    text: str
    uses: tuple[Use, ...]
    metadata: tuple[tuple[str, str], ...] | None


@dataclass(frozen=True)
class Meaning:
    content: Content
    shape: Shape


@dataclass(frozen=True)
class Stored:
    id: int
    deleted: bool
    written: int


@dataclass(frozen=True)
class Offer:
    text: Text | None
    uses: tuple[Use, ...] = ()
    metadata: tuple[tuple[str, str], ...] | None = None
    version: int = 0
    id: int | None = None


@dataclass(frozen=True)
class Brought:
    """A version as another registry had it."""

    version: int
    id: int
    text: Text
    deleted: bool


class Refused(Exception):
    """The name of the refusal."""


def target_of(use: Use, context: str) -> Place:
    """The subject a reference means, declared in a context."""
    if use.subject.startswith(":."):
        named, _, name = use.subject[1:].partition(":")
        return Place(named, name)
    return Place(context, use.subject)


def unstamped(metadata: tuple[tuple[str, str], ...] | None) -> dict[str, str]:
    return {key: value for key, value in metadata or () if key != STAMP}


def using(base: Shape) -> Shape:
    """The shape of USING with this base."""
    return frozenset({ORDER, ("base", base, False)})


def can_read(reader: Shape, writer: Shape) -> bool:
    """Every field of the reader is the writer's too, or has a default; records bear one name."""
    if isinstance(reader, str) or isinstance(writer, str):
        return reader == writer
    wrote = {name: shape for name, shape, _ in writer}
    return all(_fits(shape, wrote[name]) if name in wrote else default for name, shape, default in reader)


def _fits(reader: object, writer: object) -> bool:
    if isinstance(reader, frozenset) and isinstance(writer, frozenset):
        return can_read(reader, writer)
    return reader == writer


def _record(name: str, fields: str) -> str:
    return f'{{"type":"record","name":"{name}","fields":[{fields}]}}'


_A, _B, _C = (
    '{"name":"a","type":"int"}',
    '{"name":"b","type":"int","default":0}',
    '{"name":"c","type":"int"}',
)
_BASE_A = frozenset({BASE, ("a", INT, False)})

STRING = Text('"string"', "string")
ONE = Text(_record("Order", _A), frozenset({ORDER, ("a", INT, False)}))
TWO = Text(_record("Order", f"{_A},{_B}"), frozenset({ORDER, ("a", INT, False), ("b", INT, True)}))
THREE = Text(_record("Order", f"{_A},{_C}"), frozenset({ORDER, ("a", INT, False), ("c", INT, False)}))
BASE_ONE = Text(_record("Base", _A), _BASE_A)
BASE_TWO = Text(_record("Base", f"{_A},{_B}"), _BASE_A | {("b", INT, True)})
USING = Text(_record("Order", '{"name":"base","type":"Base"}'), None)
INLINE = Text(_record("Order", f'{{"name":"base","type":{BASE_ONE.text}}}'), using(_BASE_A))

ALONE = (ONE, TWO, THREE, STRING, BASE_ONE, BASE_TWO, INLINE)
