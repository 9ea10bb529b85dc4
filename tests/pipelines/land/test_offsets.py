"""Sets of records: as a set of tuples would answer, and much smaller."""

import tracemalloc

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from sigla_pipelines.land.offsets import Offsets

PLACES = st.tuples(st.sampled_from("ab"), st.integers(0, 2), st.integers(-(2**63), 2**63 - 1) | st.integers(0, 9))
NAMES = ("topic", "partition", "offset")


def a_batch(rows: list[tuple[str, int, int]]) -> pa.RecordBatch:
    types = (pa.string(), pa.int32(), pa.int64())
    columns = [pa.array([row[number] for row in rows], kind) for number, kind in enumerate(types)]
    return pa.RecordBatch.from_arrays(columns, names=list(NAMES))


@given(st.lists(st.tuples(st.lists(PLACES), st.lists(PLACES))))
def test_it_has_what_was_added_and_nothing_else(steps: list[tuple[list[tuple[str, int, int]], ...]]) -> None:
    known, model = Offsets(NAMES[:2]), set[tuple[str, int, int]]()
    for added, asked in steps:
        known.add(a_batch(added))
        model.update(added)
        assert known.has(a_batch(asked)).to_pylist() == [row in model for row in asked]


def test_a_record_takes_some_bytes() -> None:
    """Not four hundred, as a tuple in a set would."""
    records, batches = 200_000, 100
    before = pa.total_allocated_bytes()
    tracemalloc.start()
    try:
        known = Offsets(NAMES[:2])
        for number in range(batches):
            known.add(a_batch([("orders", number % 2, each) for each in range(number, records, batches)]))
        assert known.has(a_batch([("orders", 0, 0), ("orders", 1, 0)])).to_pylist() == [True, False]
        assert known.has(a_batch([("orders", 1, records - 1)])).to_pylist() == [True]
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (held + pa.total_allocated_bytes() - before) / records < 20
