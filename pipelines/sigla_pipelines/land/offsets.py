"""Sets of records, by what names them, in eight bytes each: a quarantine may hold millions."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Numbers = npt.NDArray[np.int64]

_NONE: Final[Numbers] = np.empty(0, np.int64)


class Offsets:
    """within: the columns that name a record together with its number. Batches: with all of them."""

    def __init__(self, within: Sequence[str], number: str = "offset") -> None:
        self._within = within
        self._number = number
        self._known: dict[tuple[Any, ...], Numbers] = {}
        self._new: defaultdict[tuple[Any, ...], list[Numbers]] = defaultdict(list)

    def add(self, batch: pa.RecordBatch) -> None:
        for place, offsets, _ in self._groups(batch):
            self._new[place].append(offsets)

    def has(self, batch: pa.RecordBatch) -> pa.BooleanArray:
        """Says for each row whether it was added. What was added since the last question is sorted first."""
        found = np.zeros(len(batch), np.bool_)
        for place, offsets, rows in self._groups(batch):
            known = self._sorted(place)
            if len(known):
                at = np.searchsorted(known, offsets)
                found[rows] = known[np.minimum(at, len(known) - 1)] == offsets
        return pa.array(found)

    def _sorted(self, place: tuple[Any, ...]) -> Numbers:
        known = self._known.get(place, _NONE)
        if new := self._new.pop(place, None):
            known = self._known[place] = np.unique(np.concatenate([known, *new]))
        return known

    def _groups(self, batch: pa.RecordBatch) -> Iterator[tuple[tuple[Any, ...], Numbers, Numbers]]:
        """Where records are, their offsets, and which rows of the batch they are."""
        columns = {name: batch[name] for name in self._within}
        table = pa.table({**columns, "offset": batch[self._number], "row": np.arange(len(batch))})
        grouped = table.group_by([*self._within]).aggregate([("offset", "list"), ("row", "list")])
        for each in grouped.to_batches():
            places = zip(*(each[name].to_pylist() for name in self._within), strict=True)
            for place, offsets, rows in zip(places, each["offset_list"], each["row_list"], strict=True):
                yield place, offsets.values.to_numpy(), rows.values.to_numpy()
