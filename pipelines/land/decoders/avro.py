"""Avro payloads → columns of one reader.

Each writer has a plan and two ways to run it: `avro_fill`, which is fast, and the walker, which knows what is wrong.
A row that the fast way stumbles over is forgotten and walked; what the walker can read counts. Schemas that may nest
without end, or count items that take no bytes, are walked from the start.
"""

from functools import partial
from typing import Any, Final

import numpy as np
import pyarrow as pa

from pipelines.land.decoders.avro_columns import columns
from pipelines.land.decoders.avro_fill import Filling, Unfit
from pipelines.land.decoders.avro_reads import Read, Suspicious
from pipelines.land.decoders.decoder import Decoded, Decoder, Writer
from sigla.decoding import avro_walk
from sigla.decoding.avro import STANDARD, understood
from sigla.decoding.avro_plan import Plan, plan
from sigla.decoding.decoder import Decode, DecodeFailed, Limits
from sigla.decoding.reasons import NUMBERS, Reason
from sigla.languages.avro.tree import Record

WITHOUT_BYTES: Final = 16
"""So many times `Limits.items` may be in all lists of a batch where rows are walked that count what takes no bytes."""


def decoder(reader: Writer, *, limits: Limits = STANDARD) -> Decoder:
    """Raises Unreadable."""
    return AvroDecoder(reader, limits)


class AvroDecoder:
    """reads, walks: the fast and the thorough way of each writer. The fast one is made with its first record."""

    def __init__(self, reader: Writer, limits: Limits) -> None:
        self.reader = understood(reader.source)
        self.limits = limits
        self.columns = columns(self.reader)
        self.filling = Filling(self.columns, depth=limits.depth)
        self.type: pa.StructType = self.columns.type
        self.reads: list[Read] = []
        self.walks: list[Decode] = []
        self.weightless: list[bool] = []

    def add(self, writer: Writer) -> int:
        made = plan(understood(writer.source), self.reader)
        number = len(self.walks)
        self.walks.append(avro_walk.decode(made, self.limits))
        self.weightless.append(made.weightless)
        self.reads.append(partial(self._first, number, made))
        return number

    def decode(self, payloads: pa.Array, writers: pa.Array) -> Decoded:
        failed: dict[int, DecodeFailed] = {}
        reads, longest, trailing = self.reads, self.limits.max_bytes, self.limits.trailing
        for row, (data, number) in enumerate(zip(payloads.to_pylist(), writers.to_pylist(), strict=True)):
            size = len(data)
            try:
                end = reads[number](data, 0) if size <= longest else -1
            except Exception:  # noqa: BLE001 - whatever it was, the walker says what it means
                end = -1
            if end != size and not (trailing and 0 <= end < size):
                self.columns.keep(row)
                try:
                    self.columns.append(self._walked(number, data))
                except DecodeFailed as failure:
                    failed[row] = failure
                    self.columns.append(None)
        return self._decoded(len(payloads), failed)

    def _first(self, number: int, made: Plan, data: bytes, at: int) -> int:
        """In the place of the fast way, until there is one."""
        try:
            self.reads[number] = self.filling.fill(made)
        except Unfit:
            self.reads[number] = _none
        return self.reads[number](data, at)

    def _walked(self, number: int, data: bytes) -> dict[str, Any]:
        """The values of the columns. Raises DecodeFailed."""
        if self.weightless[number] and self.columns.held() > WITHOUT_BYTES * self.limits.items:
            raise DecodeFailed(Reason.TOO_LARGE, "the rows before it hold as many items as a batch may")
        value = self.walks[number](data)
        return value if isinstance(self.reader, Record) else {"value": value}

    def _decoded(self, rows: int, failed: dict[int, DecodeFailed]) -> Decoded:
        status = np.zeros(rows, np.int8)
        at: list[int | None] = [None] * rows
        detail: list[str | None] = [None] * rows
        for row, failure in failed.items():
            status[row] = NUMBERS[failure.reason]
            at[row] = failure.at
            detail[row] = failure.detail
        return Decoded(self.columns.take(), pa.array(status), pa.array(at, pa.int32()), pa.array(detail, pa.string()))


def _none(_data: bytes, _at: int) -> int:
    raise Suspicious
