"""A record as Kafka carries it, as columns: what sources give and the quarantine keeps."""

from typing import Final

import pyarrow as pa

RAW: Final = pa.schema(
    [
        pa.field("topic", pa.string(), nullable=False),
        pa.field("partition", pa.int32(), nullable=False),
        pa.field("offset", pa.int64(), nullable=False),
        pa.field("timestamp", pa.timestamp("us", tz="UTC"), nullable=False),
        pa.field("key", pa.binary()),
        pa.field("value", pa.binary()),
        pa.field("headers", pa.list_(pa.struct([pa.field("key", pa.string()), pa.field("value", pa.binary())]))),
    ]
)
"""(topic, partition, offset) is the identity of a record, as long as the topic is the same one."""
