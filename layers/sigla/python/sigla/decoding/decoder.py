"""What decoding records has in common, whatever the language: sources, limits, failures.

A record is read by the schema it was written with, and resolved to the one it is wanted in. Libraries that do it well
are not part of the registry: `pip install 'sigla-registry[pipelines]'` brings them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final, Protocol

from sigla.decoding.reasons import Reason
from sigla.languages import MODULES
from sigla.model import Resolved


@dataclass(frozen=True, slots=True)
class Source:
    """A schema with all that is needed to compile it.

    references: in resolution order: what a schema uses before the schema itself, a name only once.
    compiled: of a Protobuf schema its FileDescriptorSet, its own file last; None of others.
    """

    type: str
    text: str
    references: tuple[Resolved, ...] = ()
    compiled: bytes | None = None


DEEPEST: Final = 100
"""Values within values that all readers can be asked for: the runtime of Protobuf follows so many messages, the writer
of JSON 254 levels (of an Avro value, whose member of a union is one more, half of them), and Python 1,000 calls."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a record may cost. Sizes in bytes, of one payload; depth: values within values, up to DEEPEST."""

    max_bytes: int = 8 * 2**20
    depth: int = 64
    values: int = 2**21
    """Once decoded: fields, items and entries of a record, those that take no bytes and defaults among them. Decoded, a
    value takes a hundred bytes at most, and some kilobytes say millions of them. As many as the longest payload has
    floats."""
    trailing: bool = False
    """Whether bytes after the value are let pass."""


class DecodeFailed(Exception):
    """One record cannot be read. at: the byte of the payload where that showed; None where no byte is to blame."""

    def __init__(self, reason: Reason, detail: str, at: int | None = None) -> None:
        super().__init__(f"{reason.value}: {detail}")
        self.reason = reason
        self.detail = detail
        self.at = at


class Unreadable(Exception):
    """No record of this writer can be read.

    BAD_SCHEMA, TYPE_MISMATCH, INCOMPATIBLE_READER, MESSAGE_GONE or BAD_MSG_INDEX.
    """

    def __init__(self, reason: Reason, detail: str) -> None:
        super().__init__(f"{reason.value}: {detail}")
        self.reason = reason
        self.detail = detail


Decode = Callable[[bytes], Any]
"""A payload, without its frame → the value. Raises DecodeFailed, and nothing else whatever the bytes."""


class RecordLanguage(Protocol):
    """How the records of one schema language are read: what its module in `sigla.decoding` has."""

    def decoder(
        self, writer: Source, reader: Source | None = None, *, indexes: tuple[int, ...] = (), limits: Limits = ...
    ) -> Decode:
        """reader: None for the writer's own. indexes: of a Protobuf file the path to the message; () for the first.

        Raises Unreadable.
        """
        ...

    def record_name(self, source: Source, indexes: tuple[int, ...] = ()) -> str:
        """What the record strategies name a subject by: a full name, the title of JSON Schema. Raises Unreadable."""
        ...


def record_language(name: str) -> RecordLanguage:
    """The language of this name, imported when a record of it is met. Raises ImportError where a library is missing."""
    module: Any = import_module(f"sigla.decoding.{MODULES[name]}")
    found: RecordLanguage = module
    return found
