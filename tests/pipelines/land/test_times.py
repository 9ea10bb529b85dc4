"""Times in columns: as text and numbers unless settings say otherwise, and never a value that is another."""

import json
import struct
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import yaml
from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp
from hypothesis import given
from hypothesis import strategies as st

from sigla.decoding.decoder import Source
from sigla.decoding.reasons import FINE, NUMBERS, Reason
from sigla_pipelines.land import settings
from sigla_pipelines.land.decoders.by_language import DECODERS
from sigla_pipelines.land.decoders.decoder import Decoded, Writer
from sigla_pipelines.land.decoders.notes import note_of
from sigla_pipelines.land.decoders.times import MOMENTS, PLAIN, As, Times, parse_moment
from sigla_pipelines.land.settings import InvalidLanding
from tests.pipelines.land.landings import Landings
from tests.pipelines.land.test_avro import a_record, logical
from tests.pipelines.land.world import avro, framed
from tests.unit.decoding.protobuf_types import source as a_source

UNFIT = NUMBERS[Reason.INCOMPATIBLE_READER]
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def decode(source: Source, times: Times, *payloads: bytes) -> Decoded:
    decoder = DECODERS[source.type](Writer(source, times=times))
    number = decoder.add(Writer(source))
    found = decoder.decode(pa.array(payloads, pa.binary()), pa.array([number] * len(payloads), pa.int32()))
    found.rows.validate(full=True)
    return found


def of_json(format: str, times: Times, *texts: str | None) -> Decoded:
    schema = {"type": "object", "properties": {"at": {"type": ["string", "null"], "format": format}}}
    return decode(Source("JSON", json.dumps(schema)), times, *(json.dumps({"at": text}).encode() for text in texts))


def ats(found: Decoded) -> list[Any]:
    return [row and row["at"] for row in found.rows.to_pylist()]


def test_nothing_changes_by_itself() -> None:
    """A table of today has the same columns tomorrow."""
    for format in ("date-time", "date", "time", "duration"):
        assert of_json(format, PLAIN, "x").rows.type.field("at").type == pa.string()
    schema = a_record(
        d={"type": "fixed", "name": "D", "size": 12, "logicalType": "duration"}, n=logical("timestamp-nanos", "long")
    )
    rows = decode(Source("AVRO", json.dumps(schema)), PLAIN, b"\1" * 12 + b"\2").rows
    assert [field.type for field in rows.type] == [pa.binary(), pa.int64()]


@pytest.mark.parametrize(
    "text, at",
    [
        ("2026-01-02T03:04:05Z", datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)),
        ("2026-01-02t03:04:05.123456789z", datetime(2026, 1, 2, 3, 4, 5, 123456, tzinfo=UTC)),
        ("2026-01-02 03:04:05.5+02:30", datetime(2026, 1, 2, 0, 34, 5, 500000, tzinfo=UTC)),
        ("2016-12-31T23:59:60Z", datetime(2017, 1, 1, tzinfo=UTC)),
        ("0001-01-01T00:00:00-00:00", datetime(1, 1, 1, tzinfo=UTC)),
        (None, None),
    ],
)
def test_a_date_time_of_json_is_a_timestamp_where_settings_say_so(text: str | None, at: datetime | None) -> None:
    """Of RFC 3339, in UTC, in microseconds; a leap second begins the next minute."""
    found = of_json("date-time", Times(date_time=As.TIMESTAMP), text)
    assert found.rows.type.field("at").type == MOMENTS
    assert ats(found) == [at]


@pytest.mark.parametrize(
    "text",
    [
        "yesterday",
        "2026-01-02",
        "2026-01-02T03:04:05",
        "2026-13-02T03:04:05Z",
        "2026-01-02T24:00:00Z",
        "٢026-01-02T03:04:05Z",
        "",
    ],
)
def test_a_text_that_is_no_date_time_is_quarantined_and_its_neighbours_land(text: str) -> None:
    """As null it would be lost: whoever wants it lands it as text again, and replays."""
    found = of_json("date-time", Times(date_time=As.TIMESTAMP), "2026-01-02T03:04:05Z", text)
    assert found.status.to_pylist() == [FINE, UNFIT]
    assert found.detail[1].as_py().startswith("does not fit: at: invalid ")


@given(st.integers(-62_135_500_000_000_000, 253_402_200_000_000_000), st.integers(-1439, 1439))
def test_a_moment_is_the_same_in_each_zone(micros: int, minutes: int) -> None:
    """Whatever offset a producer writes."""
    at = EPOCH + timedelta(microseconds=micros)
    sign, (hours, rest) = "-" if minutes < 0 else "+", divmod(abs(minutes), 60)
    local = (at + timedelta(minutes=minutes)).replace(tzinfo=None).isoformat(timespec="microseconds")
    assert parse_moment(f"{local}{sign}{hours:02}:{rest:02}") == at


def test_dates_times_and_durations_of_json() -> None:
    """A time of day is in UTC, whatever day that is; months have no length."""
    days = of_json("date", Times(date=As.DATE), "2026-02-28", "2026-02-30", None)
    assert (ats(days)[::2], days.status.to_pylist()) == ([date(2026, 2, 28), None], [FINE, UNFIT, FINE])
    times = of_json("time", Times(time=As.MICROS), "00:30:00+01:00", "12:00:00.000001Z", "noon")
    assert ats(times)[:2] == [84_600_000_000, 43_200_000_001]
    assert note_of(times.rows.type.field("at")).doc == "microseconds since midnight, UTC"
    spans = of_json("duration", Times(duration=As.MICROS), "P1DT2H", "PT0.5S", "P2W", "P0M", "P1M", "P", "PT", "P1DT")
    assert ats(spans)[:4] == [93_600_000_000, 500_000, 1_209_600_000_000, 0]
    assert spans.status.to_pylist() == [FINE] * 4 + [UNFIT] * 4


def test_durations_and_nanoseconds_of_avro() -> None:
    """Each row by itself: one with months does not fail those beside it."""
    fixed = {"type": "fixed", "name": "D", "size": 12, "logicalType": "duration"}
    schema = a_record(
        at=["null", fixed], n=["null", logical("timestamp-nanos", "long")], many={"type": "array", "items": "D"}
    )
    source = Source("AVRO", json.dumps(schema))
    spans = [struct.pack("<III", *each) for each in ((0, 1, 1500), (14, 0, 0), (0, 0, 0))]
    payloads = [avro(schema, {"at": span, "n": -1, "many": [span]}) for span in spans]
    iso = decode(source, Times(duration=As.ISO, nanos=As.TIMESTAMP), *payloads)
    assert ats(iso) == ["P1DT1.5S", "P14M", "PT0S"]
    assert iso.rows[0]["n"].as_py() == EPOCH - timedelta(microseconds=1)
    assert iso.rows[1]["many"].as_py() == ["P14M"]
    micros = decode(source, Times(duration=As.MICROS, nanos=As.NUMBER), *payloads)
    assert micros.status.to_pylist() == [FINE, UNFIT, FINE]
    assert [ats(micros)[0], ats(micros)[2]] == [86_401_500_000, 0]
    assert micros.detail[1].as_py() == "a duration has 14 months, which are not a fixed number of microseconds"
    assert note_of(micros.rows.type.field("at")).doc == "microseconds"
    assert note_of(micros.rows.type.field("n")).doc == "nanoseconds since 1970-01-01 UTC"


DEBEZIUM = Times(debezium=As.TIMESTAMP)


def of_debezium(name: str, base: Any = "long") -> Any:
    """As Kafka Connect writes a type of Debezium's: a name that Avro itself does not know."""
    return {"type": base, "connect.version": 1, "connect.name": f"io.debezium.time.{name}"}


def test_times_of_debezium_are_times_where_settings_say_so() -> None:
    """Debezium names its types beside plain numbers, which no engine takes for times."""
    schema = a_record(
        milli=of_debezium("Timestamp"),
        micro=["null", of_debezium("MicroTimestamp")],
        nano=of_debezium("NanoTimestamp"),
        zoned=of_debezium("ZonedTimestamp", "string"),
        day=["null", of_debezium("Date", "int")],
        time=of_debezium("MicroTime"),
        other={"type": "long", "connect.name": "Timestamp"},
        many={"type": "array", "items": of_debezium("Timestamp")},
    )
    value = {"milli": -1, "micro": 1, "nano": -1, "zoned": "2026-01-02T03:04:05.000006+01:00", "day": 20_000}
    value |= {"time": 5, "other": 6, "many": [1000]}
    source = Source("AVRO", json.dumps(schema))
    plain = decode(source, PLAIN, avro(schema, value))
    assert plain.rows[0].as_py() == value
    found = decode(source, DEBEZIUM, avro(schema, value), avro(schema, value | {"micro": None, "day": None}))
    local = datetime(1970, 1, 1)  # noqa: DTZ001 - Debezium says that it has no zone
    assert found.rows[0].as_py() == {
        "milli": local - timedelta(milliseconds=1),
        "micro": local + timedelta(microseconds=1),
        "nano": local - timedelta(microseconds=1),
        "zoned": datetime(2026, 1, 2, 2, 4, 5, 6, tzinfo=UTC),
        "day": date(2024, 10, 4),
        "time": 5,
        "other": 6,
        "many": [local + timedelta(seconds=1)],
    }
    assert [found.rows[1][name].as_py() for name in ("micro", "day")] == [None, None]


@pytest.mark.parametrize(
    "name, base, value, why",
    [
        ("Timestamp", "long", 2**63 - 1, f"{2**63 - 1} as Timestamp is outside the years 1 to 9999"),
        ("Date", "int", -(2**31), f"{-(2**31)} as Date is outside the years 1 to 9999"),
        ("ZonedTimestamp", "string", "soon", "invalid date-time 'soon'"),
    ],
)
def test_a_time_of_debezium_that_is_none_is_quarantined(name: str, base: str, value: Any, why: str) -> None:
    """PostgreSQL has infinity, which Debezium writes as the largest number."""
    schema = a_record(at=of_debezium(name, base))
    found = decode(Source("AVRO", json.dumps(schema)), DEBEZIUM, avro(schema, {"at": value}))
    assert (found.status.to_pylist(), found.detail[0].as_py()) == ([UNFIT], why)


def test_durations_and_nanoseconds_of_protobuf() -> None:
    """A Timestamp has nanoseconds, and its column may have them, too, as far as 64 bits reach."""
    text = """syntax = "proto3"; import "google/protobuf/duration.proto"; import "google/protobuf/timestamp.proto";
        message E { google.protobuf.Timestamp at = 1; repeated google.protobuf.Duration took = 2; }"""
    source = a_source(text)

    def payload(at: Timestamp, *took: Duration) -> bytes:
        parts = [
            b"\x0a",
            at.SerializeToString(),
            *(part for each in took for part in (b"\x12", each.SerializeToString())),
        ]
        return b"".join(tag + bytes([len(body)]) + body for tag, body in zip(parts[::2], parts[1::2], strict=True))

    payloads = [
        payload(
            Timestamp(seconds=1, nanos=2), Duration(seconds=3, nanos=500_000_000), Duration(seconds=-1, nanos=-999)
        ),
        payload(Timestamp(seconds=10**11)),
    ]
    numbers = decode(source, Times(duration=As.MICROS, nanos=As.NUMBER), *payloads)
    assert numbers.rows[0].as_py() == {"at": 1_000_000_002, "took": [3_500_000, -1_000_000]}
    assert numbers.status.to_pylist() == [FINE, UNFIT]
    assert note_of(numbers.rows.type.field("at")).doc == "nanoseconds since 1970-01-01 UTC"
    texts = decode(source, Times(duration=As.ISO), *payloads)
    assert texts.rows[0].as_py() == {"at": EPOCH + timedelta(seconds=1), "took": ["PT3.5S", "PT-1.000000999S"]}


def test_a_table_goes_on_beside_the_text_that_it_had(tmp_path: Path) -> None:
    """A column never changes its type: from then on there is a second one, and the first is null."""
    landings = Landings(tmp_path)
    schema = {"type": "object", "properties": {"at": {"type": "string", "format": "date-time"}}}
    id = landings.register(json.dumps(schema), type="JSON")
    record = framed(id, b'{"at": "2026-01-02T03:04:05Z"}')
    landings.land(record)
    landings.parts = {"types": {"date-time": "timestamp"}}
    landings.land(record)
    assert [(row["at"], row.get("at__v1")) for row in landings.committed("orders")] == [
        ("2026-01-02T03:04:05Z", None),
        (None, datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)),
    ]


@pytest.mark.parametrize(
    "types, sentence",
    [
        ({"date_time": "timestamp"}, "unknown type date_time. Valid types: date-time, date, time, duration, nanos"),
        ({"date": "timestamp"}, "invalid value of date: expected one of plain, date"),
    ],
)
def test_a_type_that_is_not_known_is_refused(types: dict[str, str], sentence: str) -> None:
    """A typo must not become a default."""
    form = {
        "registry": {"data": "./data"},
        "source": {"kind": "files", "path": "./raw"},
        "bind": [{"topic": "orders"}],
        "sink": {"lake": "./lake"},
        "types": types,
        "work": "./work",
    }
    with pytest.raises(InvalidLanding, match=sentence):
        settings.parse_landing(yaml.safe_dump(form), "land.yaml")
