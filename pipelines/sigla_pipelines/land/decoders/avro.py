"""Avro payloads → columns of one reader.

Each writer has a plan and three ways to run it: the extension (`avro_native`), which is fastest; `avro_fill`, which is
fast wherever Python runs; and the walker, which knows what is wrong. A row that one of them stumbles over is forgotten
and left to the next; what the walker can read counts. Schemas that may nest without end, or count items that take no
bytes, are walked from the start.
"""

from functools import partial
from threading import Lock

import pyarrow as pa

from sigla.decoding import avro_walk
from sigla.decoding.avro import STANDARD, understood
from sigla.decoding.avro_plan import Plan, plan
from sigla.decoding.decoder import Decode, DecodeFailed, Limits
from sigla.decoding.reasons import Reason
from sigla.languages.avro.tree import Record
from sigla_pipelines.land.decoders.avro_columns import NoRoom, Room, empty_columns
from sigla_pipelines.land.decoders.avro_fill import Filling, Unfit
from sigla_pipelines.land.decoders.avro_layout import layout
from sigla_pipelines.land.decoders.avro_native import NativeAvro, native_avro
from sigla_pipelines.land.decoders.avro_reads import Read, Suspicious
from sigla_pipelines.land.decoders.columns import with_failures
from sigla_pipelines.land.decoders.decoder import Additional, Decoded, Decoder, Native, TooMuch, Writer
from sigla_pipelines.land.decoders.native_columns import OF_A_BATCH, concatenated, replaced, taken_rows


def decoder(
    reader: Writer,
    *,
    limits: Limits = STANDARD,
    additional: Additional = Additional.KEEP,
    native: Native = Native.AUTO,
) -> Decoder:
    """Raises Unreadable, NotInstalled."""
    del additional
    return AvroDecoder(reader, limits, native=native)


class AvroDecoder:
    """reads, walks: the fast and the thorough way of each writer. The fast one is made with its first record.

    Threads take turns: `turn`.

    most_held: values in lists; when there are more, they become arrays, which take a tenth.
    """

    def __init__(
        self,
        reader: Writer,
        limits: Limits = STANDARD,
        *,
        most_held: int = 2**24,
        native: Native = Native.AUTO,
    ) -> None:
        self.most_held = most_held
        self.reader = understood(reader.source)
        self.limits = limits
        self.room = Room(limits.values, OF_A_BATCH * limits.values)
        self.columns = empty_columns(self.reader, self.room, reader.tags, reader.times)
        self.filling = Filling(self.columns, self.room, depth=limits.depth)
        self.type: pa.StructType = self.columns.type
        self.native = native_avro(native, self.columns, limits)
        self.reads: list[Read] = []
        self.walks: list[Decode] = []
        self.numbers: dict[bytes | None, int] = {}
        self.turn = Lock()

    def add(self, writer: Writer) -> int:
        """Writers of the same layout have the same number."""
        known = layout(writer.source)
        with self.turn:
            if known in self.numbers:
                return self.numbers[known]
        made = plan(understood(writer.source), self.reader)
        with self.turn:
            number = len(self.walks)
            if known:
                self.numbers[known] = number
            self.walks.append(avro_walk.decode(made, self.limits))
            self.reads.append(partial(self._first, number, made))
            if self.native:
                self.native.add(made)
        return number

    def decode(self, payloads: pa.Array, writers: pa.Array) -> Decoded:
        with self.turn:
            return self._decode(payloads, writers)

    def _decode(self, payloads: pa.Array, writers: pa.Array) -> Decoded:
        failed: dict[int, DecodeFailed] = {}
        rows = partial(self._rows_natively, self.native) if self.native else self._rows
        try:
            return with_failures(rows(payloads, writers, failed), failed)
        except NoRoom:
            self._forget(0)
            if len(payloads) > 1:
                raise TooMuch from None
        failed[0] = DecodeFailed(Reason.TOO_LARGE, "texts of 2 GiB and more, defaults among them")
        self.columns.append(None)
        return with_failures(self.columns.take(), failed)

    def _rows_natively(
        self, native: NativeAvro, payloads: pa.Array, writers: pa.Array, failed: dict[int, DecodeFailed]
    ) -> pa.Array:
        """failed: gets those that do. Raises NoRoom where together they are too much."""
        rows, refused, values = native.decode(payloads, writers)
        if not refused.size:
            return rows
        of_refused: dict[int, DecodeFailed] = {}
        again = self._rows(taken_rows(payloads, refused), taken_rows(writers, refused), of_refused, held=values)
        failed.update((int(refused[row]), failure) for row, failure in of_refused.items())
        if len(of_refused) == len(refused):
            return rows
        return replaced(rows, refused, again)

    def _rows(self, payloads: pa.Array, writers: pa.Array, failed: dict[int, DecodeFailed], held: int = 0) -> pa.Array:
        """failed: gets those that do. held: values that others have. Raises NoRoom where together they are too much."""
        done: list[pa.Array] = []
        begun = 0
        reads, longest, trailing, room = self.reads, self.limits.max_bytes, self.limits.trailing, self.room
        room.batch(held)
        for row, (data, number) in enumerate(zip(payloads.to_pylist(), writers.to_pylist(), strict=True)):
            room.row()
            if room.held > self.most_held:
                done.append(self.columns.take())
                begun, room.held = row, 0
            size = len(data)
            try:
                end = reads[number](data, 0) if size <= longest else -1
            except Exception:  # noqa: BLE001 - whatever it was, the walker says what it means
                end = -1
            if end != size and not (trailing and 0 <= end < size):
                failure = self._walked(row - begun, number, data)
                if failure:
                    failed[row] = failure
        return concatenated([*done, self.columns.take()])

    def _first(self, number: int, made: Plan, data: bytes, at: int) -> int:
        """In the place of the fast way, until there is one."""
        try:
            self.reads[number] = self.filling.fill(made)
        except Unfit:
            self.reads[number] = _no_value
        return self.reads[number](data, at)

    def _walked(self, at: int, number: int, data: bytes) -> DecodeFailed | None:
        """What is wrong with a row that the fast way stumbled over. at: its place in the columns."""
        self._forget(at)
        try:
            value = self.walks[number](data)
            self.columns.append(value if isinstance(self.reader, Record) else {"value": value})
        except DecodeFailed as failure:
            failed = failure
        except NoRoom:
            if self.room.allowed < self.room.most:  # a neighbour's doing, or perhaps
                raise
            failed = DecodeFailed(Reason.TOO_LARGE, f"more than {self.room.most} values")
        else:
            return None
        self._forget(at)
        self.columns.append(None)
        return failed

    def _forget(self, at: int) -> None:
        self.columns.keep(at)
        self.room.again()


def _no_value(_data: bytes, _at: int) -> int:
    raise Suspicious
