"""Payloads → columns by `sigla_native`, our extension in Rust: the columns of a reader, and programs that fill them.

It has no sentences. A row that it refuses is told, and read once more in Python, which names the reason and the byte.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sigla.decoding.decoder import Limits
from sigla_pipelines.land.decoders.avro_columns import NoRoom
from sigla_pipelines.land.decoders.instructions import Program

OF_A_BATCH = 64
"""So many times `Limits.values` may be in all lists of what is read at once."""

Places = npt.NDArray[np.int64]


class NativeColumns:
    """The columns of one reader."""

    def __init__(self, extension: Any, type: pa.StructType, limits: Limits) -> None:
        """extension: the module `sigla_native`."""
        most = OF_A_BATCH * limits.values
        self._columns = extension.Native(type, limits.max_bytes, limits.values, most, limits.depth, limits.trailing)
        self._too_much = extension.TooMuch

    def add(self, program: Program) -> None:
        """Programs are known by their numbers, in the order in which they were added."""
        self._columns.add(program)

    def decode(self, payloads: pa.Array, programs: pa.Array) -> tuple[pa.StructArray, Places, int]:
        """Rows, null where one is refused; the numbers of those; values in lists. Raises NoRoom."""
        try:
            rows, refused, values = self._columns.decode(payloads, programs)
        except self._too_much:
            raise NoRoom from None
        return rows, np.flatnonzero(refused.to_numpy(zero_copy_only=False)), values


def taken_rows(array: pa.Array, at: Places) -> pa.Array:
    """The rows in these places; not a copy of all of them, which may be one of 8 MiB."""
    return array if len(at) == len(array) else array.take(pa.array(at))


def replaced(rows: pa.Array, at: Places, others: pa.Array) -> pa.Array:
    """The rows, with others in these places. Raises NoRoom."""
    order = np.arange(len(rows))
    order[at] = np.arange(len(rows), len(rows) + len(at))
    return concatenated([rows, others]).take(pa.array(order))


def concatenated(arrays: list[pa.Array]) -> pa.Array:
    """Raises NoRoom."""
    try:
        return pa.concat_arrays(arrays)
    except pa.ArrowInvalid:  # texts of 2 GiB
        raise NoRoom from None
