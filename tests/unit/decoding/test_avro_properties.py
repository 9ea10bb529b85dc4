"""Random schemas, random evolutions, random data: what fastavro makes of a record is what the walker makes of it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sigla.decoding import avro_walk
from sigla.decoding.avro import decoder, understood
from sigla.decoding.avro_plan import plan
from sigla.decoding.decoder import DecodeFailed, Limits, Source
from sigla.decoding.reasons import Reason
from tests.unit.decoding.avro_schemas import Drawing, bare, outcome, plainer, resolved

SEEDS = st.integers(0, 2**63)
DAMAGE = (
    Reason.DECODE_TRUNCATED,
    Reason.DECODE_INVALID,
    Reason.BAD_UTF8,
    Reason.TRAILING_BYTES,
    Reason.TOO_LARGE,
)


def agree(seed: int) -> str:
    """Which of the outcomes it was."""
    drawing = Drawing(seed)
    writer = drawing.schema()
    reader = drawing.evolved(writer)
    payload = drawing.payload(writer)
    written, wanted = (understood(Source("AVRO", schema.text())) for schema in (writer, reader))
    value = outcome(avro_walk.decode(plan(written, wanted), Limits()), payload)
    if isinstance(value, DecodeFailed):
        assert value.reason in (Reason.INCOMPATIBLE_READER, Reason.ENUM_UNKNOWN)
        with pytest.raises(Exception):  # noqa: B017 - fastavro has no one exception for it
            resolved(payload, writer, reader)
        return "refused"
    try:
        expected = resolved(payload, writer, reader)
    except TypeError:  # fastavro 1.13 stumbles over a name that is used twice and is not a branch in both schemas
        return "unanswered"
    assert plainer(bare(value, wanted)) == plainer(expected)
    return "read"


def damaged(seed: int) -> None:
    """A payload of a random schema that something happened to, decoded: a value or a reason, and nothing else."""
    drawing = Drawing(seed)
    writer = drawing.schema()
    by, payload = drawing.by, bytearray(drawing.payload(writer))
    for _ in range(by.randrange(1, 4)):
        at = by.randrange(len(payload) + 1)
        match by.randrange(4):
            case 0:
                del payload[at:]
            case 1:
                payload[at:at] = by.randbytes(by.randrange(1, 4))
            case 2:
                payload[at : at + 1] = by.choice([b"\xff" * 9 + b"\x01", b"\xfe\xff\xff\xff\x0f", b"\x01", b"\x80\x00"])
            case _ if at < len(payload):
                payload[at] ^= 1 << by.randrange(8)
    failed = outcome(decoder(Source("AVRO", writer.text())), bytes(payload))
    if isinstance(failed, DecodeFailed):
        assert failed.reason in DAMAGE
        assert failed.at is not None
        assert 0 <= failed.at <= len(payload)


@settings(max_examples=3 * settings().max_examples)
@given(SEEDS)
def test_a_record_means_to_us_what_it_means_to_fastavro(seed: int) -> None:
    """Also where the reader is another schema: fields that come, go, move and are renamed; promotions; branches."""
    agree(seed)


@settings(max_examples=3 * settings().max_examples)
@given(SEEDS)
def test_damage_has_a_reason_and_a_place(seed: int) -> None:
    damaged(seed)


def test_evolutions_are_read_most_of_the_time_and_refused_now_and_then() -> None:
    """A property that is only ever met by refusals would say little."""
    outcomes = [agree(seed) for seed in range(60)]
    assert outcomes.count("read") > 30


@pytest.mark.soak
@given(SEEDS)
def test_a_record_means_to_us_what_it_means_to_fastavro_for_long(seed: int) -> None:
    agree(seed)


@pytest.mark.soak
@given(SEEDS)
def test_damage_has_a_reason_and_a_place_for_long(seed: int) -> None:
    damaged(seed)
