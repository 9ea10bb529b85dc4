"""Times that a schema speaks of and no column has had a type for: how columns say them, as settings choose.

| setting | of | plain, the default | others |
|---|---|---|---|
| date-time | JSON Schema's `format` | text | timestamp: in microseconds, UTC |
| date | JSON Schema's `format` | text | date |
| time | JSON Schema's `format` | text | micros: microseconds since midnight, UTC |
| duration | Avro's fixed | binary | iso: text as in P1M2DT3.5S; micros: microseconds |
| | google.protobuf.Duration | struct of seconds and nanos | the same |
| | JSON Schema's `format` | text | micros: microseconds; iso: as it is |
| nanos | Avro's timestamp-nanos, local-timestamp-nanos | number of nanoseconds | timestamp: in microseconds |
| | google.protobuf.Timestamp | timestamp in microseconds | number: of nanoseconds since 1970 |
| debezium | io.debezium.time.Timestamp, MicroTimestamp, NanoTimestamp | number | timestamp: in microseconds, no zone |
| | io.debezium.time.ZonedTimestamp | text | timestamp: in microseconds, UTC |
| | io.debezium.time.Date | number of days | timestamp: a date |

What is finer than its column is cut off towards the past; of durations, towards zero. A text that does not have the
format of the column's time cannot be a value: the record goes into the quarantine as INCOMPATIBLE_READER, whole. So
does a duration with months as microseconds, because months have no length, and a moment that 64 bits of nanoseconds do
not hold.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from enum import Enum
from struct import Struct
from typing import Any, Final

import pyarrow as pa

from sigla.decoding.decoder import DecodeFailed
from sigla.decoding.reasons import Reason

MOMENTS: Final = pa.timestamp("us", tz="UTC")

FIRST: Final = -62_135_596_800_000_000
END: Final = 253_402_300_800_000_000
"""Microseconds since 1970: where the year 1 begins, and the year 10000."""


class As(Enum):
    """How columns say a kind of time."""

    PLAIN = "plain"
    TIMESTAMP = "timestamp"
    DATE = "date"
    MICROS = "micros"
    ISO = "iso"
    NUMBER = "number"


@dataclass(frozen=True, slots=True)
class Times:
    date_time: As = As.PLAIN
    date: As = As.PLAIN
    time: As = As.PLAIN
    duration: As = As.PLAIN
    nanos: As = As.PLAIN
    debezium: As = As.PLAIN


PLAIN: Final = Times()
CHOICES: Final[Mapping[str, tuple[As, ...]]] = {
    "date-time": (As.PLAIN, As.TIMESTAMP),
    "date": (As.PLAIN, As.DATE),
    "time": (As.PLAIN, As.MICROS),
    "duration": (As.PLAIN, As.ISO, As.MICROS),
    "nanos": (As.PLAIN, As.TIMESTAMP, As.NUMBER),
    "debezium": (As.PLAIN, As.TIMESTAMP),
}
"""By setting."""

Convert = Callable[[Any], Any]
"""Raises ValueError with a sentence, or OverflowError."""


# --- texts of JSON ----------------------------------------------------------------------------------------------------

_DATE: Final = r"\d{4}-\d\d-\d\d"
_TIME: Final = r"(?P<time>\d\d:\d\d):(?P<second>\d\d)(?P<fraction>\.\d+)?(?P<zone>[Zz]|[+-]\d\d:\d\d)"
_MOMENT: Final = re.compile(rf"(?P<date>{_DATE})[Tt ]{_TIME}", re.ASCII)
_OF_DAY: Final = re.compile(_TIME, re.ASCII)
_DAY: Final = re.compile(_DATE, re.ASCII)
_SPAN: Final = re.compile(
    r"P(?!$)(?:(?P<years>\d+)Y)?(?:(?P<months>\d+)M)?(?:(?P<weeks>\d+)W)?(?:(?P<days>\d+)D)?"
    r"(?:T(?!$)(?:(?P<hours>\d+)H)?(?:(?P<minutes>\d+)M)?(?:(?P<seconds>\d+)(?P<fraction>\.\d+)?S)?)?",
    re.ASCII,
)
_MICROSECOND: Final = timedelta(microseconds=1)
_DAY_LONG: Final = timedelta(days=1)
_LEAP: Final = "60"


JSON_UNITS: Final[Mapping[str, str]] = {"time": "microseconds since midnight, UTC", "duration": "microseconds"}
"""The types of columns that are numbers, by `format`."""


def of_json(times: Times) -> Mapping[str, tuple[pa.DataType, Convert]]:
    """By `format`: the column's type, and what becomes of a text."""
    chosen = {
        "date-time": (times.date_time is As.TIMESTAMP, MOMENTS, parse_moment),
        "date": (times.date is As.DATE, pa.date32(), day),
        "time": (times.time is As.MICROS, pa.int64(), time_of_day),
        "duration": (times.duration is As.MICROS, pa.int64(), span),
    }
    return {name: (type_, convert) for name, (wanted, type_, convert) in chosen.items() if wanted}


def parse_moment(text: str) -> datetime:
    """Of RFC 3339; a leap second is the first of the next minute."""
    found = _MOMENT.fullmatch(text)
    if found is None:
        raise ValueError(f"invalid date-time {text!r}")
    return _parse_time(text, f"{found['date']}T", found)


def time_of_day(text: str) -> int:
    """Microseconds since midnight, UTC."""
    found = _OF_DAY.fullmatch(text)
    if found is None:
        raise ValueError(f"invalid time {text!r}")
    start = datetime(2000, 1, 1, tzinfo=UTC)
    return (_parse_time(text, "2000-01-01T", found) - start) % _DAY_LONG // _MICROSECOND


def _parse_time(text: str, before: str, found: "re.Match[str]") -> datetime:
    leap = found["second"] == _LEAP
    second, fraction = "59" if leap else found["second"], (found["fraction"] or "")[:7]
    try:
        read = datetime.fromisoformat(f"{before}{found['time']}:{second}{fraction}{found['zone'].upper()}")
        return read + timedelta(seconds=1) if leap else read
    except (OverflowError, ValueError) as why:
        raise ValueError(f"invalid time {text!r}: {why}") from None


def day(text: str) -> date:
    if not _DAY.fullmatch(text):
        raise ValueError(f"invalid date {text!r}")
    return date.fromisoformat(text)


def span(text: str) -> int:
    """An ISO 8601 duration in microseconds."""
    found = _SPAN.fullmatch(text)
    if found is None:
        raise ValueError(f"invalid duration {text!r}")
    if int(found["years"] or 0) or int(found["months"] or 0):
        raise ValueError(f"the duration {text!r} has months, which are not a fixed number of microseconds")
    lengths = {"weeks": 604_800, "days": 86_400, "hours": 3_600, "minutes": 60, "seconds": 1}
    seconds = sum(int(found[unit] or 0) * length for unit, length in lengths.items())
    return seconds * 10**6 + int((found["fraction"] or ".")[1:7].ljust(6, "0"))


# --- Avro, Protobuf ---------------------------------------------------------------------------------------------------

TIMESTAMP: Final = "google.protobuf.Timestamp"
DURATION: Final = "google.protobuf.Duration"

_AVRO_DURATION: Final = Struct("<III").unpack


def of_avro_duration(times: Times) -> tuple[pa.DataType, Convert] | None:
    """The column of months, days and milliseconds; None for the default."""
    if times.duration is As.ISO:
        return pa.string(), _avro_iso
    return (pa.int64(), _avro_micros) if times.duration is As.MICROS else None


def _avro_iso(data: bytes) -> str:
    months, days, millis = _AVRO_DURATION(data)
    return _iso_duration(months, days, millis * 10**6)


def _avro_micros(data: bytes) -> int:
    months, days, millis = _AVRO_DURATION(data)
    if months:
        raise DecodeFailed(
            Reason.INCOMPATIBLE_READER, f"a duration has {months} months, which are not a fixed number of microseconds"
        )
    return int(days * 86_400 * 10**6 + millis * 1000)


def of_avro_nanos(times: Times, *, local: bool) -> tuple[pa.DataType, Convert] | None:
    """None: as a number, as it always was."""
    if times.nanos is not As.TIMESTAMP:
        return None
    return pa.timestamp("us") if local else MOMENTS, lambda nanos: nanos // 1000


DEBEZIUM: Final = "io.debezium.time."
"""What the names of its own types begin with, which Kafka Connect writes as `connect.name`."""


def of_debezium(name: str, kind: str, times: Times) -> tuple[pa.DataType, Convert] | None:
    """By the name of its type and Avro's kind of it; None for a type that is neither a moment nor a day."""
    if times.debezium is As.PLAIN:
        return None
    return _OF_DEBEZIUM.get((name.removeprefix(DEBEZIUM), kind)) if name.startswith(DEBEZIUM) else None


def _since_1970(name: str, up: int, down: int = 1) -> Convert:
    """name: of the type, for the sentence. up, down: to microseconds."""

    def convert(number: int) -> int:
        micros = number * up // down
        if not FIRST <= micros < END:
            raise DecodeFailed(Reason.INCOMPATIBLE_READER, f"{number} as {name} is outside the years 1 to 9999")
        return micros

    return convert


def _debezium_day(number: int) -> int:
    _since_1970("Date", 86_400 * 10**6)(number)
    return number


def _debezium_moment(text: str) -> datetime:
    try:
        return parse_moment(text)
    except ValueError as why:
        raise DecodeFailed(Reason.INCOMPATIBLE_READER, str(why)) from None


_OF_DEBEZIUM: Final[Mapping[tuple[str, str], tuple[pa.DataType, Convert]]] = {
    ("Timestamp", "long"): (pa.timestamp("us"), _since_1970("Timestamp", 1000)),
    ("MicroTimestamp", "long"): (pa.timestamp("us"), _since_1970("MicroTimestamp", 1)),
    ("NanoTimestamp", "long"): (pa.timestamp("us"), _since_1970("NanoTimestamp", 1, 1000)),
    ("ZonedTimestamp", "string"): (MOMENTS, _debezium_moment),
    ("Date", "int"): (pa.date32(), _debezium_day),
}


def of_protobuf(name: str, times: Times) -> tuple[pa.DataType, Convert] | None:
    """The column of a well-known message, by its full name; None for the default."""
    if name == TIMESTAMP:
        return (pa.int64(), _protobuf_nanos) if times.nanos is As.NUMBER else None
    if name != DURATION or times.duration is As.PLAIN:
        return None
    if times.duration is As.ISO:
        return pa.string(), lambda message: _iso_duration(0, 0, message.seconds * 10**9 + message.nanos)
    return pa.int64(), _protobuf_micros


def protobuf_unit(name: str, times: Times) -> str:
    """What the number of such a column counts; empty of any other column."""
    if name == TIMESTAMP and times.nanos is As.NUMBER:
        return "nanoseconds since 1970-01-01 UTC"
    return "microseconds" if name == DURATION and times.duration is As.MICROS else ""


def _protobuf_micros(message: Any) -> int:
    nanos = message.seconds * 10**9 + message.nanos
    return int(nanos // 1000 if nanos >= 0 else -(-nanos // 1000))


def _protobuf_nanos(message: Any) -> int:
    nanos = message.seconds * 10**9 + message.nanos
    if not -(2**63) <= nanos < 2**63:
        raise DecodeFailed(
            Reason.INCOMPATIBLE_READER, f"a timestamp of {message.seconds} s does not fit into 64 bits of nanoseconds"
        )
    return int(nanos)


def _iso_duration(months: int, days: int, nanos: int) -> str:
    """With what is not zero alone."""
    sign, nanos = ("-", -nanos) if nanos < 0 else ("", nanos)
    seconds, rest = divmod(nanos, 10**9)
    fraction = f".{rest:09}".rstrip("0") if rest else ""
    of_date = "".join(f"{count}{unit}" for count, unit in ((months, "M"), (days, "D")) if count)
    of_time = f"T{sign}{seconds}{fraction}S" if nanos or not of_date else ""
    return f"P{of_date}{of_time}"
