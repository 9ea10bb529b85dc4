"""Rows of values beside what their keys say."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from sigla_pipelines.land.framing import TOMBSTONE
from sigla_pipelines.land.key_and_value import Part, Rows
from sigla_pipelines.land.landed import KEY


def with_keys(rows: Rows, columns: pa.Array, key: Part | None) -> Iterator[tuple[Rows, pa.Array]]:
    """The same rows with what their keys say as one column more; apart where keys have several readers, or are null."""
    if key is None:
        yield rows, columns
        return
    for group in key.groups:
        here = np.isin(rows, group.rows, assume_unique=True)
        if here.any():
            at = rows[here]
            values = columns.filter(pa.array(here))
            if group.columns is None:  # it is dropped
                yield at, values
                continue
            said = group.columns.take(pa.array(np.searchsorted(group.rows, at)))
            yield (
                at,
                pa.StructArray.from_arrays([*values.flatten(), said], fields=[*values.type, pa.field(KEY, said.type)]),
            )
    null = key.status[rows] == TOMBSTONE
    if null.any():
        yield rows[null], columns.filter(pa.array(null))
