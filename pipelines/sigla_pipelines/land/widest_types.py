"""Types that no later version of a schema widens: with them all files of a table have one type for each column.

Iceberg reads old files as the types of today. Whoever reads a folder of plain Parquet does not, and Spark refuses it.
"""

from typing import Final

import pyarrow as pa

_WIDEST: Final = {pa.int32(): pa.int64(), pa.float32(): pa.float64()}
_DIGITS: Final = 38
"""The digits of a decimal, at most."""


def widest(kind: pa.DataType) -> pa.DataType:
    """What `targets.evolve` may make of a type in time. Keys of maps never change."""
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(widest(field.type)) for field in kind])
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return pa.list_(widest(kind.value_type))
    if pa.types.is_map(kind):
        return pa.map_(kind.key_type, widest(kind.item_type))
    return pa.decimal128(_DIGITS, kind.scale) if pa.types.is_decimal128(kind) else _WIDEST.get(kind, kind)
