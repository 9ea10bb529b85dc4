"""Numbers that count from 1970 as timestamps, where a rule of `columns` says what they count.

Formats that have no type for a moment write it as a number: `start_time_unix_nano` of OpenTelemetry, `ts_ms` of
Debezium. A number that is outside the years 1 to 9999 is not a moment that its producer meant.
"""

from enum import Enum
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sigla_pipelines.land.decoders.times import END, FIRST, MOMENTS

_Numbers = npt.NDArray[np.int64]
_Flags = npt.NDArray[np.bool_]


class Unit(Enum):
    SECONDS = "seconds"
    MILLIS = "millis"
    MICROS = "micros"
    NANOS = "nanos"


_TO_MICROS: Final = {Unit.SECONDS: (10**6, 1), Unit.MILLIS: (1000, 1), Unit.MICROS: (1, 1), Unit.NANOS: (1, 1000)}
"""Times, and divided by."""


def timed(kind: pa.DataType) -> pa.DataType | None:
    """What becomes of a column of this type: of whole numbers, or of lists of them; None of any other."""
    if pa.types.is_list(kind):
        item = timed(kind.value_type)
        return None if item is None else pa.list_(item)
    return MOMENTS if pa.types.is_integer(kind) or (pa.types.is_decimal128(kind) and not kind.scale) else None


def moments(values: Any, unit: Unit) -> pa.Array:
    """values: whole numbers. Numbers outside the range of moments become null: `unfit` tells them before.

    What is finer is cut.
    """
    micros, fits = _micros(values, unit)
    return pa.array(micros, MOMENTS, mask=~(fits & _there(values)))


def unfit(values: Any, unit: Unit) -> _Flags:
    """Which numbers are outside the years 1 to 9999."""
    _, fits = _micros(values, unit)
    return ~fits & _there(values)


def _there(values: Any) -> _Flags:
    found: _Flags = values.is_valid().to_numpy(zero_copy_only=False)
    return found


def _micros(values: Any, unit: Unit) -> tuple[_Numbers, _Flags]:
    """Microseconds, and which of them are right."""
    up, down = _TO_MICROS[unit]
    numbers, small = _divided(values, down)
    fits = small & (numbers >= FIRST // up) & (numbers < END // up)
    return np.where(fits, numbers, 0) * up, fits


def _divided(values: Any, by: int) -> tuple[_Numbers, _Flags]:
    """Towards the past; and which numbers 64 bits hold then."""
    if not pa.types.is_decimal(values.type):
        whole = values.fill_null(0).cast(pa.int64()).to_numpy()
        return whole // by, np.ones(len(whole), bool)
    if not len(values):
        return np.zeros(0, np.int64), np.ones(0, bool)
    # A decimal is 128 bits: what an unsigned number of 64 bits holds is in the lower half alone.
    halves = np.frombuffer(values.buffers()[1], np.int64).reshape(-1, 2)[values.offset : values.offset + len(values)]
    low, high = halves[:, 0], halves[:, 1]
    unsigned = low.view(np.uint64) // np.uint64(by)
    positive = (high == 0) & (unsigned < np.uint64(2**63))
    return np.where(positive, unsigned.astype(np.int64), low // by), positive | ((high == -1) & (low < 0))
