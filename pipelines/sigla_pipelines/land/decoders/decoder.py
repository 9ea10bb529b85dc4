"""Payloads → columns: Arrow in, Arrow out, and a status for each row.

An implementation may look at a row at a time, or run over the buffers in one pass; a caller cannot tell.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sigla.decoding.decoder import Source
from sigla_pipelines.land.decoders.notes import PathTags
from sigla_pipelines.land.decoders.times import PLAIN, Times


@dataclass(frozen=True, slots=True)
class Writer:
    """What wrote a record: a schema and, of a Protobuf file, the path to one of its messages.

    tags: of the schema's metadata, which says of a reader what its columns are. times: how those of a reader say times.
    """

    source: Source
    indexes: tuple[int, ...] = ()
    tags: PathTags = field(default_factory=dict)
    times: Times = PLAIN


class Additional(Enum):
    """What becomes of properties that a JSON Schema does not name. Other languages name all that they read."""

    KEEP = "keep"
    """They are kept, as JSON text in one column."""
    DROP = "drop"
    """They are counted and not landed."""


class Native(Enum):
    """Whether records are decoded by the extension `sigla_native`, in the languages that it knows."""

    AUTO = "auto"
    """Where it is installed."""
    ON = "on"
    OFF = "off"


@dataclass(frozen=True, slots=True)
class Decoded:
    """As many rows as there were payloads.

    rows: a StructArray of the decoder's type; null where a row failed. status: int8, a number of
    `sigla.decoding.reasons`. at: int32, the failing byte of the payload; detail: string, a sentence; both null where
    nothing failed, or nothing more is known. additional: how many properties each row has that the reader does not
    name, by the path of the column that keeps them, "" of those that no column keeps; 0 of a row that failed.
    """

    rows: pa.Array
    status: pa.Array
    at: pa.Array
    detail: pa.Array
    additional: Mapping[str, npt.NDArray[np.int64]] = field(default_factory=dict)


class TooMuch(Exception):
    """Together the payloads would become more than memory should hold. Each is judged by itself: read fewer at once."""


class Decoder(Protocol):
    """Reads what any number of writers wrote as the columns of one reader. One thread at a time.

    type: the StructType of the reader's columns; a reader other than a record has one field, `value`.
    """

    type: pa.StructType

    def add(self, writer: Writer) -> int:
        """The number by which `decode` knows the writer from now on. Raises Unreadable."""
        ...

    def decode(self, payloads: pa.Array, writers: pa.Array) -> Decoded:
        """payloads: binary or large_binary, without frames, no nulls. writers: int32, a number for each payload.

        Whatever the bytes are, a row that cannot be read is a status and never an exception. Raises TooMuch, never of
        one payload alone; what was read until then is forgotten.
        """
        ...
