"""The extension reads Protobuf as the runtime of Google does: the same rows, and of each that fails the same reason."""

from random import Random
from typing import Any

import pyarrow as pa
import pytest
from google.protobuf import descriptor_pb2 as pb
from hypothesis import given
from hypothesis import strategies as st

from sigla.decoding.decoder import Limits
from sigla.decoding.protobuf import message_class
from sigla.decoding.reasons import FINE
from sigla_pipelines.land.decoders import extension
from sigla_pipelines.land.decoders.decoder import Decoded, Native, Writer
from sigla_pipelines.land.decoders.protobuf import ProtobufDecoder
from tests.pipelines.land.native import NOT_BUILT, damaged, same
from tests.pipelines.land.test_protobuf_shapes_properties import a_file, a_value, evolved, fill, source
from tests.unit.decoding.protobuf_types import FIELD, TYPES

if extension.installed() is None:
    pytest.skip(NOT_BUILT, allow_module_level=True)

sigla_native: Any = extension.installed()
SEEDS = st.integers(0, 2**63)
ROWS, SOAKED_SCHEMAS, SOAKED_ROWS = 40, 10_000, 1_000
DRAWN = 8
"""Messages of a file, each of which has many rows."""
LIMITS = Limits(values=3_000, depth=6)
"""So few that drawn messages meet them."""
KEYS = (FIELD.TYPE_STRING, FIELD.TYPE_INT32, FIELD.TYPE_SINT64, FIELD.TYPE_UINT64, FIELD.TYPE_BOOL, FIELD.TYPE_FIXED32)


def with_maps(file: pb.FileDescriptorProto, by: Random) -> pb.FileDescriptorProto:
    """Two maps more, and in proto2 perhaps a field that must be there."""
    made = pb.FileDescriptorProto.FromString(file.SerializeToString())
    outer = made.message_type[0]
    for number in (4_000, 4_001):
        entry = outer.nested_type.add(name=f"F{number}Entry")
        entry.options.map_entry = True
        key = entry.field.add(name="key", number=1, label=FIELD.LABEL_OPTIONAL)
        key.type = by.choice(KEYS)
        value = entry.field.add(name="value", number=2, label=FIELD.LABEL_OPTIONAL)
        value.type = by.choice([*TYPES, FIELD.TYPE_ENUM, *[FIELD.TYPE_MESSAGE] * 6])
        if value.type == FIELD.TYPE_ENUM:
            value.type_name = ".p.M.Inner.Kind"
        elif value.type == FIELD.TYPE_MESSAGE:
            value.type_name = by.choice([".p.M.Inner", ".google.protobuf.Timestamp", ".google.protobuf.Int64Value"])
        name = f".p.M.F{number}Entry"
        outer.field.add(name=f"f{number}", number=number, label=3, type=FIELD.TYPE_MESSAGE, type_name=name)
    if made.syntax == "proto2" and by.random() < 0.2:
        outer.nested_type[0].field.add(name="must", number=3_500, label=FIELD.LABEL_REQUIRED, type=FIELD.TYPE_INT32)
    return made


def maps(message: Any, by: Random) -> Any:
    """The same with entries in its maps."""
    for name in ("f4000", "f4001"):
        key, value = message.DESCRIPTOR.fields_by_name[name].message_type.fields
        entries = getattr(message, name)
        for _ in range(by.randrange(4)):
            at = TYPES[key.type](by) if key.type != FIELD.TYPE_BOOL else by.random() < 0.5
            if value.message_type:
                entries[at].CopyFrom(a_value(value, by, 2))
            else:
                entries[at] = a_value(value, by, 2)
    return message


def compared(seed: int, rows: int) -> int:
    """How many rows were read of a file and an evolution of it; a third of all rows was damaged."""
    by = Random(seed)
    file = with_maps(a_file(by), by)
    plain = a_file(Random(seed))
    old, new = source(file), source(evolved(file, by))
    natively, in_python = (ProtobufDecoder(Writer(new), LIMITS, native=each) for each in (Native.ON, Native.OFF))
    assert natively.native is not None
    numbers = [natively.add(Writer(each)) for each in (old, new)]
    assert [in_python.add(Writer(each)) for each in (old, new)] == numbers
    made, base = message_class(old, "p.M"), message_class(source(plain), "p.M")
    drawn = []
    for _ in range(DRAWN):
        halves = [fill(base(), by).SerializeToString(), maps(made(), by).SerializePartialToString()]
        halves += [fill(base(), by).SerializeToString()] * (by.random() < 0.1)
        by.shuffle(halves)
        drawn.append(b"".join(halves))
    payloads = [damaged(by.choice(drawn), by) for _ in range(rows)]
    found = both(natively, in_python, payloads, [by.choice(numbers) for _ in range(rows)])
    return int(found.status.to_pylist().count(FINE))


def both(natively: ProtobufDecoder, in_python: ProtobufDecoder, payloads: list[bytes], numbers: list[int]) -> Decoded:
    rows = pa.array(payloads, pa.binary()), pa.array(numbers, pa.int32())
    return same(natively.decode(*rows), in_python.decode(*rows))


@given(SEEDS)
def test_rows_and_reasons_are_those_of_python(seed: int) -> None:
    compared(seed, ROWS)


def test_most_rows_are_read() -> None:
    assert sum(compared(seed, ROWS) for seed in range(10)) > 10 * ROWS // 2


@pytest.mark.soak
def test_rows_and_reasons_are_those_of_python_for_long() -> None:
    """Ten million records of ten thousand files, and an evolution of each."""
    read = sum(compared(seed, SOAKED_ROWS) for seed in range(SOAKED_SCHEMAS))
    print(f"{SOAKED_SCHEMAS * SOAKED_ROWS:,} records, of which {read:,} were read: no difference")
    assert read > SOAKED_SCHEMAS * SOAKED_ROWS // 2


@pytest.mark.parametrize(
    "program",
    [
        [("put_number", [2, 0], []), ("several", [1, 1, 0, 0], [])],
        [("scalar", [2, 9], [])],
        [("scalar", [2, 99], [])],
        [("symbol", [2, 1], [b"x"])],
        [("null", [2], []), ("single", [0, 0, 0, 0, 0], [])],
        [("null", [2], []), ("single", [1, 9, 0, 0, 0], [])],
        [("null", [2], []), ("single", [1, 0, 65, 0, 0], [])],
        [("null", [2], []), ("message", [0, 1, 0], [])],
        [("null", [2], []), ("single", [1, 0, 0, 0, 0], []), ("message", [0, 1, 1, 1], [])],
        [("null", [2], []), ("pairs", [1, 1, 9, 0], [])],
        [("moment", [1], [])],
    ],
)
def test_a_program_that_does_not_fit_its_columns_is_refused(program: list[Any]) -> None:
    """An item that reads nothing would be read without end: it is refused, as what no column holds."""
    columns = pa.struct([("a", pa.list_(pa.int64()))])
    with pytest.raises(ValueError, match=r"^\w+: "):
        sigla_native.Native(columns, 100, 100, 100, 9, False).add(program)


def test_what_is_left_to_python_lies_between_what_the_extension_reads() -> None:
    """A group, a field that comes twice, a key that comes twice: each as Google's runtime reads it."""
    file = with_maps(a_file(Random(5)), Random(5))
    writer = Writer(source(file))
    natively, in_python = (ProtobufDecoder(writer, LIMITS, native=each) for each in (Native.ON, Native.OFF))
    for each in (natively, in_python):
        each.add(writer)
    whole = message_class(source(file), "p.M")
    fine = maps(whole(), Random(7)).SerializeToString()
    group, unknown = b"\xc3\xbb\x01\x08\x01\xc4\xbb\x01", b"\xc2\xbb\x01\x01x"
    payloads = [fine, fine + group, fine + unknown, fine + fine, fine + b"\x03", b"", fine]
    found = both(natively, in_python, payloads, [0] * len(payloads))
    assert [status == FINE for status in found.status.to_pylist()] == [True, True, True, True, False, True, True]
