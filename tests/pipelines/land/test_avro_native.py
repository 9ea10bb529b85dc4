"""The extension decodes as Python does: the same rows, and of each row that fails the same reason and byte."""

import json
import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sigla import __version__
from sigla.decoding.decoder import Limits, Source, Unreadable
from sigla.decoding.reasons import FINE, NUMBERS, Reason
from sigla_pipelines.land.decoders import extension
from sigla_pipelines.land.decoders.avro import AvroDecoder
from sigla_pipelines.land.decoders.decoder import Decoded, Native, TooMuch, Writer
from sigla_pipelines.land.decoders.instructions import INSTRUCTIONS
from sigla_pipelines.land.decoders.native_columns import OF_A_BATCH
from tests.pipelines.land.native import NOT_BUILT, damaged, same
from tests.unit.decoding.avro_schemas import Drawing

if extension.installed() is None:
    pytest.skip(NOT_BUILT, allow_module_level=True)

sigla_native: Any = extension.installed()
NATIVE = Path(__file__).parents[3] / "native"
SEEDS = st.integers(0, 2**63)
ROWS = 60
SOAKED_SCHEMAS, SOAKED_ROWS = 10_000, 1_000


def both(reader: Writer, writers: Sequence[Writer]) -> tuple[AvroDecoder, AvroDecoder, list[int]]:
    """Decoders of one reader, with the extension and without, and the numbers of the writers that it can read."""
    natively, in_python = (AvroDecoder(reader, native=each) for each in (Native.ON, Native.OFF))
    numbers = []
    for writer in writers:
        try:
            numbers.append(in_python.add(writer))
        except Unreadable:
            continue
        assert natively.add(writer) == numbers[-1]
    return natively, in_python, numbers


def compare(one: AvroDecoder, other: AvroDecoder, payloads: Sequence[bytes], numbers: Sequence[int]) -> Decoded:
    """What both of them say, if it is the same."""
    rows = pa.array(payloads, pa.binary()), pa.array(numbers, pa.int32())
    found, expected = one.decode(*rows), other.decode(*rows)
    return same(found, expected)


def compared(seed: int, rows: int) -> int:
    """How many rows were read, of records of three writers, of which a third was damaged."""
    drawing = Drawing(seed)
    first = drawing.schema()
    schemas = [first, drawing.evolved(first), drawing.evolved(first)]
    writers = [Writer(Source("AVRO", each.text())) for each in schemas]
    natively, in_python, numbers = both(writers[1], writers)
    all_taken = len(numbers) == len(schemas)
    taken = schemas if all_taken else [each for each in schemas if _readable(each.text(), writers[1])]
    drawn = [(n, drawing.payload(schema)) for n, schema in zip(numbers, taken, strict=True) for _ in range(4)]
    random = Random(seed)
    chosen = random.choices(drawn, k=rows)
    payloads = [damaged(payload, random) for _, payload in chosen]
    found = compare(natively, in_python, payloads, [number for number, _ in chosen])
    return int(found.status.to_pylist().count(FINE))


def _readable(text: str, reader: Writer) -> bool:
    try:
        AvroDecoder(reader, native=Native.OFF).add(Writer(Source("AVRO", text)))
    except Unreadable:
        return False
    return True


@given(SEEDS)
def test_rows_and_reasons_are_those_of_python(seed: int) -> None:
    compared(seed, ROWS)


def test_most_rows_are_read() -> None:
    assert sum(compared(seed, ROWS) for seed in range(10)) > 10 * ROWS // 2


@pytest.mark.soak
def test_rows_and_reasons_are_those_of_python_for_long() -> None:
    """Ten million records of ten thousand schemas, and as many evolutions twice."""
    read = sum(compared(seed, SOAKED_ROWS) for seed in range(SOAKED_SCHEMAS))
    print(f"{SOAKED_SCHEMAS * SOAKED_ROWS:,} records, of which {read:,} were read: no difference")
    assert read > SOAKED_SCHEMAS * SOAKED_ROWS // 2


def test_python_and_rust_and_the_page_know_the_same_instructions() -> None:
    assert {name: (tuple(numbers), texts) for name, numbers, texts in sigla_native.INSTRUCTIONS} == INSTRUCTIONS
    page = (NATIVE / "README.md").read_text(encoding="utf-8").partition("## Instructions")[2]
    lines = re.findall(r"^\| `(\w+)` \| ([\w, ]*?) ?\| ?(yes)? ?\|", page, re.MULTILINE)
    named = {name: (tuple(filter(None, numbers.split(", "))), texts == "yes") for name, numbers, texts in lines}
    assert named == INSTRUCTIONS


def test_the_crate_has_the_version_of_sigla() -> None:
    assert f'version = "{__version__}"' in (NATIVE / "Cargo.toml").read_text(encoding="utf-8")


def test_only_one_file_of_the_crate_is_unsafe() -> None:
    sources = {path.name: path.read_text(encoding="utf-8") for path in (NATIVE / "src").glob("*.rs")}
    assert [name for name, text in sources.items() if re.search(r"\bunsafe \{", text)] == ["unchecked.rs"]
    assert "#![deny(unsafe_code)]" in sources["lib.rs"]
    assert sum(text.count("\n") for text in sources.values()) <= 2_000


@pytest.mark.parametrize(
    "program",
    [
        [],
        [("unheard_of", [], [])],
        [("number", [1, 64, 1], [])],
        [("number", [1, 64, 1, 0], [])],
        [("number", [7, 64, 1, 1], [])],
        [("number", [-2, 64, 1, 1], [])],
        [("text", [1], [])],
        [("bytes", [2], [])],
        [("fixed", [-1, -5], [])],
        [("enum", [2], [b"\xff"])],
        [("put_bytes", [2], [b"\xff"])],
        [("put_bytes", [2], [])],
        [("put_number", [1, 1], [b"x"])],
        [("put_decimal", [1], [bytes(16)])],
        [("array", [-1, 0, 1], [])],
        [("union", [0], [])],
        [("record", [0, 1], []), ("null", [1], [])],
        [("member", [0, 5, 0], [])],
    ],
)
def test_a_program_that_does_not_fit_its_columns_is_refused(program: list[Any]) -> None:
    """Whatever it says, it can write only what a column holds, and only once it was checked."""
    columns = pa.struct([("a", pa.int64()), ("b", pa.string())])
    with pytest.raises(ValueError, match=r"^\w+: |^a program has"):
        sigla_native.Native(columns, 100, 100, 100, 9, False).add(program)


def test_a_program_that_forgets_a_column_ends_in_an_error() -> None:
    columns = sigla_native.Native(pa.struct([("a", pa.int64()), ("b", pa.string())]), 100, 100, 100, 9, False)
    columns.add([("number", [1, 64, 1, 1], []), ("record", [0, 0], [])])
    with pytest.raises(ValueError, match="length"):
        columns.decode(pa.array([b"\2"], pa.binary()), pa.array([0], pa.int32()))
    columns.add([("number", [1, 64, 1, 1], []), ("text", [2], []), ("record", [0, 0, 1], [])])
    rows, refused, _ = columns.decode(pa.array([b"\2\2x"], pa.binary()), pa.array([1], pa.int32()))
    assert (rows.to_pylist(), refused.to_pylist()) == ([{"a": 1, "b": "x"}], [False])


@pytest.mark.parametrize("numbers", [[7], [-1], [None], [0, 0]])
def test_programs_that_there_are_not_are_refused(numbers: list[int | None]) -> None:
    columns = sigla_native.Native(pa.struct([("a", pa.int64())]), 100, 100, 100, 9, False)
    columns.add([("number", [1, 64, 1, 1], []), ("record", [0, 0], [])])
    with pytest.raises(ValueError, match="programs: "):
        columns.decode(pa.array([b"\2"], pa.binary()), pa.array(numbers, pa.int32()))


def test_what_is_too_much_together_is_forgotten() -> None:
    """The next rows begin with empty columns."""
    schema = json.dumps({"type": "array", "items": "int"})
    writer = Writer(Source("AVRO", schema))
    decoding = AvroDecoder(writer, Limits(values=100), native=Native.ON)
    decoding.add(writer)
    row = b"\xc8\x01" + bytes(101)
    with pytest.raises(TooMuch):
        decoding.decode(pa.array([row] * (OF_A_BATCH + 1), pa.binary()), pa.array([0] * (OF_A_BATCH + 1), pa.int32()))
    found = decoding.decode(pa.array([b"\2\2\0"], pa.binary()), pa.array([0], pa.int32()))
    assert found.rows.to_pylist() == [{"value": [1]}]


def test_what_python_makes_values_of_is_left_to_python() -> None:
    """Durations, recursion, decimals of more digits than Arrow has: the columns are the same, without the extension."""
    node = {"type": "record", "name": "N", "fields": [{"name": "of", "type": ["null", "N"]}]}
    writer = Writer(Source("AVRO", json.dumps(node)))
    decoding = AvroDecoder(writer, native=Native.ON)
    assert decoding.native is None
    decoding.add(writer)
    assert decoding.decode(pa.array([b"\2\0"], pa.binary()), pa.array([0], pa.int32())).rows.to_pylist() == [
        {"of": {"of": None}}
    ]


def test_keys_that_come_twice_are_read_as_python_reads_them() -> None:
    """The walker takes the last one, in the middle of rows that the extension has read."""
    writer = Writer(Source("AVRO", json.dumps({"type": "map", "values": "int"})))
    natively, in_python, _ = both(writer, [writer])
    once, twice = b"\2\2a\2\0", b"\4\2a\2\2a\4\0"
    found = compare(natively, in_python, [once, twice, b"\x80", once], [0] * 4)
    assert found.rows.to_pylist() == [{"value": [("a", 1)]}, {"value": [("a", 2)]}, None, {"value": [("a", 1)]}]
    assert found.status.to_pylist() == [FINE, FINE, NUMBERS[Reason.DECODE_TRUNCATED], FINE]


def test_threads_take_turns() -> None:
    """One decoder may be asked by several threads at once: each gets its own rows."""
    writer = Writer(Source("AVRO", json.dumps({"type": "array", "items": "long"})))
    natively, in_python, _ = both(writer, [writer])
    rows = [[b"\2" + bytes([2 * thread]) + b"\0"] * 20_000 + [b"\2"] for thread in range(8)]
    payloads = [pa.array(each, pa.binary()) for each in rows]
    writers = pa.array([0] * len(rows[0]), pa.int32())
    expected = [in_python.decode(each, writers) for each in payloads]
    with ThreadPoolExecutor(len(rows)) as pool:
        found = list(pool.map(natively.decode, payloads * 4, [writers] * 4 * len(rows)))
    for ours, theirs in zip(found, expected * 4, strict=True):
        same(ours, theirs)
    columns = sigla_native.Native(pa.struct([("a", pa.int64())]), 100, 100, 100, 9, False)
    columns.add([("number", [1, 64, 1, 1], []), ("record", [0, 0], [])])
    numbers = [pa.array([bytes([2 * thread])] * 20_000, pa.binary()) for thread in range(8)]
    programs = pa.array([0] * 20_000, pa.int32())
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda each: columns.decode(each, programs)[0], numbers * 4))
    assert [(set(each.field(0).to_pylist()), len(each)) for each in made] == [({n}, 20_000) for n in [*range(8)] * 4]
