"""What could not be read: whole records, each with a reason for each part that is to blame."""

from typing import Final

import pyarrow as pa

from sigla_pipelines.land.raw import RAW

REASON: Final = pa.struct(
    [
        pa.field("part", pa.string()),  # "key" or "value"
        pa.field("frame", pa.string()),  # "ID", "GUID" or "NONE": how it said what wrote it
        pa.field("schema_id", pa.int64()),
        pa.field("schema_guid", pa.string()),
        pa.field("subject", pa.string()),
        pa.field("reason", pa.string()),  # a word of sigla.decoding.reasons
        pa.field("detail", pa.string()),
        pa.field("at", pa.int32()),  # the byte of the payload
    ]
)
"""Why one part of a record cannot be read."""

SCHEMA: Final = pa.schema(
    [
        *RAW,
        pa.field("reasons", pa.list_(REASON)),
        pa.field("_sr_query", pa.string()),
        pa.field("_sr_batch", pa.int64()),
        pa.field("_sr_seen", pa.timestamp("us", tz="UTC")),
    ]
)
"""The table `_quarantine`: a row for each record, never changed.

The query and the batch name a manifest, and it the topic's UUID: of two topics that had one name, records have the same
offsets. _sr_seen: when the batch was landed.
"""

RESOLVED_TABLE: Final = "_resolved"
RESOLVED: Final = pa.schema(
    [
        pa.field("topic", pa.string(), nullable=False),
        pa.field("partition", pa.int32(), nullable=False),
        pa.field("offset", pa.int64(), nullable=False),
        pa.field("_sr_query", pa.string()),
        pa.field("_sr_batch", pa.int64()),
        pa.field("replay", pa.int64()),
        pa.field("resolved_at", pa.timestamp("us", tz="UTC")),
        pa.field("mark", pa.int64()),
    ]
)
"""The table `_resolved`: which rows of the quarantine were landed since, and by which replay.

mark: files may have an offset twice, also in one batch; what a record says tells them apart, as a digest of it. Of
Kafka's records it is the offset once more. Replays have not always written it.
"""
