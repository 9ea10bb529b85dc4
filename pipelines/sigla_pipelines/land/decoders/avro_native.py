"""Payloads → columns by `sigla_native`, our extension in Rust: the plans that `avro_fill` runs, over Arrow's buffers.

It has no sentences. A row that it refuses is told, and read once more in Python, which names the reason and the byte.
"""

from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sigla.decoding.avro_plan import Plan
from sigla.decoding.decoder import Limits
from sigla_pipelines.land.decoders.avro_columns import NoRoom, Struct
from sigla_pipelines.land.decoders.avro_fill import Unfit
from sigla_pipelines.land.decoders.avro_program import Instruction, Programs
from sigla_pipelines.land.decoders.decoder import Native
from sigla_pipelines.land.decoders.extension import chosen_extension


def native_columns(native: Native, columns: Struct, limits: Limits, most: int) -> "NativeColumns | None":
    """None where the columns are Python's to fill. Raises NotInstalled."""
    found = chosen_extension(native)
    if found is None:
        return None
    try:
        return NativeColumns(found, columns, limits, most)
    except Unfit:
        return None


REFUSE_ALL: Final = [Instruction("refuse")]


class NativeColumns:
    """The columns of one reader. most: values in lists of all rows that are read at once."""

    def __init__(self, extension: Any, columns: Struct, limits: Limits, most: int) -> None:
        """extension: the module `sigla_native`. Raises Unfit where Python makes values of a column."""
        self._programs = Programs(columns, depth=limits.depth)
        self._columns = extension.Native(columns.type, limits.max_bytes, limits.values, most, limits.trailing)
        self._too_much = extension.TooMuch

    def add(self, plan: Plan) -> None:
        """Writers are known by their numbers, in the order in which they were added."""
        try:
            program = self._programs.program(plan)
        except Unfit:
            program = REFUSE_ALL
        self._columns.add(program)

    def decode(self, payloads: pa.Array, writers: pa.Array) -> tuple[pa.StructArray, npt.NDArray[np.int64], int]:
        """Rows, null where one is refused; the numbers of those; values in lists. Raises NoRoom."""
        try:
            rows, refused, values = self._columns.decode(payloads, writers)
        except self._too_much:
            raise NoRoom from None
        return rows, np.flatnonzero(refused.to_numpy(zero_copy_only=False)), values
