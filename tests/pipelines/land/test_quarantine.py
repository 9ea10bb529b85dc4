"""A quarantined record is there whole, so that it can be read again as if it came from its topic."""

from pathlib import Path

import pyarrow as pa
import pytest

from sigla.decoding.reasons import Reason
from sigla_pipelines.land.quarantine import REASON, RESOLVED, SCHEMA
from sigla_pipelines.land.raw import RAW
from tests.pipelines.land.crash_rig import World, drive, identities, identity, raw, tables

pytestmark = pytest.mark.usefixtures("both_ways")

pytestmark = pytest.mark.usefixtures("unsynced")


def test_every_column_of_a_raw_record_is_kept_as_it_is() -> None:
    assert [SCHEMA.field(name) for name in RAW.names] == list(RAW)
    assert SCHEMA.field("reasons").type == pa.list_(REASON)


def test_a_resolved_row_is_named_by_what_names_a_row_of_the_quarantine() -> None:
    """Its identity, and the batch that says which topic bore the name."""
    names = ["topic", "partition", "offset", "_sr_query", "_sr_batch"]
    assert RESOLVED.names[: len(names)] == names
    assert [RESOLVED.field(name) for name in names] == [SCHEMA.field(name) for name in names]


def test_a_quarantined_record_is_the_record_of_the_source(tmp_path: Path) -> None:
    world = World(tmp_path)
    drive(world)
    rows = tables(world)["_quarantine"]
    source = [
        raw(topic, partition, offset, offset + 1).to_pylist()[0] for topic, partition, offset in map(identity, rows)
    ]
    assert [{name: row[name] for name in RAW.names} for row in rows] == source
    assert {identity(row) for row in rows} < identities()
    known = {reason.value for reason in Reason}
    assert all(len(row["reasons"]) == 1 and row["reasons"][0]["reason"] in known for row in rows)
