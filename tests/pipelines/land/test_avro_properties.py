"""Random schemas, evolutions, records and damage as columns: what the walker says of each row, and nothing else."""

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sigla.decoding import avro
from sigla.decoding.decoder import DecodeFailed, Source, Unreadable
from sigla.decoding.reasons import FINE, NUMBERS
from sigla_pipelines.land.decoders.avro import decoder
from sigla_pipelines.land.decoders.decoder import Writer
from tests.unit.decoding.avro_schemas import Drawing, Schema, bare, outcome, plainer

pytestmark = pytest.mark.usefixtures("both_ways")

SEEDS = st.integers(0, 2**63)
ROWS = 12


def landed(seed: int) -> int:
    """How many rows were read. Rows come from three writers in any order, one in six is damaged."""
    drawing = Drawing(seed)
    first = drawing.schema()
    schemas = [first, drawing.evolved(first), drawing.evolved(first)]
    reader, wanted = schemas[1], avro.understood(_source(schemas[1]))
    decoding = decoder(Writer(_source(reader)))
    writers: list[tuple[int, Schema]] = []
    for schema in schemas:
        try:
            writers.append((decoding.add(Writer(_source(schema))), schema))
        except Unreadable:
            continue
    rows = [_row(drawing, *drawing.by.choice(writers)) for _ in range(ROWS)]
    payloads = pa.array([payload for _, _, payload in rows], pa.binary())
    decoded = decoding.decode(payloads, pa.array([number for number, _, _ in rows], pa.int32()))
    decoded.rows.validate(full=True)
    assert decoded.rows.type == decoding.type
    assert [len(part) for part in (decoded.rows, decoded.status, decoded.at, decoded.detail)] == [ROWS] * 4
    read = 0
    for row, (_, schema, payload) in enumerate(rows):
        told = decoded.rows[row].as_py()
        value = outcome(avro.decoder(_source(schema), _source(reader)), payload)
        if isinstance(value, DecodeFailed):
            assert told is None
            assert decoded.status[row].as_py() == NUMBERS[value.reason]
            assert (decoded.at[row].as_py(), decoded.detail[row].as_py()) == (value.at, value.detail)
            continue
        assert decoded.status[row].as_py() == FINE
        assert plainer(bare(told, wanted)) == plainer(bare(value, wanted))
        read += 1
    return read


def _source(schema: Schema) -> Source:
    return Source("AVRO", schema.text())


def _row(drawing: Drawing, number: int, schema: Schema) -> tuple[int, Schema, bytes]:
    payload = drawing.payload(schema)
    if drawing.by.randrange(6) == 0 and payload:
        at = drawing.by.randrange(len(payload))
        payload = drawing.by.choice([payload[:at], payload[:at] + b"\xff" + payload[at + 1 :], payload + b"\0"])
    return number, schema, payload


@settings(max_examples=60)
@given(SEEDS)
def test_columns_hold_what_the_walker_reads(seed: int) -> None:
    """The walker is compared with fastavro elsewhere; rows that fail leave nothing behind in the columns."""
    landed(seed)


def test_most_rows_are_read() -> None:
    """A property that only damaged rows met would say little."""
    assert sum(landed(seed) for seed in range(20)) > 20 * ROWS // 2


@pytest.mark.soak
@given(SEEDS)
def test_columns_hold_what_the_walker_reads_for_long(seed: int) -> None:
    landed(seed)
