"""A table grows with its readers and never loses what was landed before."""

import pickle
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sigla_pipelines.land.column_types import JSON
from sigla_pipelines.land.targets import SYSTEM, Evolve, TargetTable, dropped_members, evolve, project

INT, LONG, TEXT = pa.int32(), pa.int64(), pa.string()


def struct(**members: pa.DataType) -> pa.StructType:
    return pa.struct([pa.field(name, kind) for name, kind in members.items()])


def grown(*readers: pa.StructType) -> pa.Schema:
    """The columns after readers of version 1, 2 and so on."""
    schema = None
    for version, reader in enumerate(readers, 1):
        schema = evolve(schema, reader, version=version)
    return schema


def landed(rows: list[Any], reader: pa.StructType, schema: pa.Schema) -> list[dict[str, Any]]:
    columns = project(pa.array(rows, reader), TargetTable(schema))
    assert [column.type for column in columns] == schema.types
    found: list[dict[str, Any]] = pa.table(columns, schema=schema).to_pylist()
    return found


def shape(schema: pa.Schema) -> dict[str, str]:
    return {field.name: str(field.type) for field in schema}


@pytest.mark.parametrize(
    "before, after, column",
    [
        (INT, LONG, LONG),
        (LONG, INT, LONG),
        (pa.float32(), pa.float64(), pa.float64()),
        (pa.decimal128(10, 2), pa.decimal128(20, 2), pa.decimal128(20, 2)),
        (pa.decimal128(20, 2), pa.decimal128(10, 2), pa.decimal128(20, 2)),
        (struct(x=INT), struct(x=LONG, y=TEXT), struct(x=LONG, y=TEXT)),
        (struct(x=INT), struct(y=TEXT), struct(x=INT, y=TEXT)),
        (struct(x=INT), struct(x=TEXT), struct(x=INT, x__v2=TEXT)),
        (struct(x=TEXT), struct(x=JSON), struct(x=TEXT, x__v2=JSON)),
        (pa.list_(INT), pa.list_(LONG), pa.list_(LONG)),
        (pa.list_(struct(x=INT)), pa.list_(struct(y=INT)), pa.list_(struct(x=INT, y=INT))),
        (pa.map_(TEXT, INT), pa.map_(TEXT, LONG), pa.map_(TEXT, LONG)),
    ],
    ids=str,
)
def test_a_column_is_widened_where_old_files_can_still_be_read(
    before: pa.DataType, after: pa.DataType, column: pa.DataType
) -> None:
    assert grown(struct(a=before), struct(a=after)) == pa.schema([pa.field("a", column)])


@pytest.mark.parametrize(
    "before, after",
    [
        (INT, TEXT),
        (TEXT, JSON),
        (JSON, TEXT),
        (pa.list_(TEXT), pa.list_(JSON)),
        (LONG, pa.float64()),
        (pa.decimal128(10, 2), pa.decimal128(10, 3)),
        (pa.timestamp("us"), pa.timestamp("us", tz="UTC")),
        (pa.list_(INT), pa.list_(TEXT)),
        (pa.list_(INT), INT),
        (struct(x=INT), INT),
        (pa.map_(TEXT, INT), pa.map_(INT, INT)),
        (pa.map_(TEXT, INT), pa.map_(TEXT, TEXT)),
    ],
    ids=str,
)
def test_a_member_of_another_type_gets_a_column_of_its_own(before: pa.DataType, after: pa.DataType) -> None:
    schema = grown(struct(a=before), struct(a=after))
    assert schema == pa.schema([pa.field("a", before), pa.field("a__v2", after)])
    assert grown(struct(a=before), struct(a=after), struct(a=after), struct(a=before)) == schema


def test_what_is_gone_stays_as_nulls_and_what_is_new_is_null_before() -> None:
    old, new = struct(a=INT, b=TEXT), struct(b=TEXT, c=LONG)
    schema = grown(old, new)
    assert landed([{"a": 1, "b": "x"}], old, schema) == [{"a": 1, "b": "x", "c": None}]
    assert landed([{"b": "y", "c": 2}], new, schema) == [{"a": None, "b": "y", "c": 2}]


def test_a_null_row_is_null_in_every_column() -> None:
    """A tombstone; Arrow may keep anything behind a null."""
    reader = struct(a=INT, b=struct(c=INT))
    rows = pa.StructArray.from_arrays(
        [pa.array([1, 2]), pa.array([{"c": 1}, {"c": 2}], struct(c=INT))], ["a", "b"], mask=pa.array([False, True])
    )
    columns = project(rows.cast(reader), TargetTable(grown(reader)))
    assert [column.to_pylist() for column in columns] == [[1, None], [{"c": 1}, None]]


def test_our_own_names_and_names_that_differ_by_case_are_evaded() -> None:
    """Spark finds columns without regard to case."""
    reader = struct(_sr_topic=TEXT, a=INT, A=TEXT, a__v1=LONG)
    schema = grown(reader)
    assert shape(schema) == {"a": "int32", "a__v1": "int64", "_sr_topic__v1": "string", "A__v1__v1": "string"}
    assert not {name.casefold() for name in schema.names} & set(SYSTEM.names)
    row = {"_sr_topic": "t", "a": 1, "A": "x", "a__v1": 2}
    assert landed([row], reader, schema) == [{"a": 1, "a__v1": 2, "_sr_topic__v1": "t", "A__v1__v1": "x"}]


def test_a_member_called_like_a_version_keeps_its_own_column() -> None:
    """`a__v2__v2` is a version of `a__v2` before it is one of `a`."""
    many = pa.map_(TEXT, INT)
    old, new = struct(a__v1=many, a=INT, a__v2=INT), struct(a=many, a__v2=many)
    schema = grown(old, new)
    assert schema.names == ["a__v1", "a", "a__v2", "a__v2__v2"]
    row = {"a": [("x", 1)], "a__v2": [("y", 2)]}
    assert landed([row], new, schema) == [{"a__v1": row["a"], "a": None, "a__v2": None, "a__v2__v2": row["a__v2"]}]


def test_two_readers_of_one_table_each_find_their_columns() -> None:
    """Two subjects that write into one table, read side by side in one batch."""
    first, second = struct(id=INT, v=TEXT), struct(id=LONG, v=pa.bool_())
    schema = evolve(evolve(None, first, version=7), second, version=3)
    assert landed([{"id": 1, "v": "x"}], first, schema) == [{"id": 1, "v": "x", "v__v3": None}]
    assert landed([{"id": 2, "v": True}], second, schema) == [{"id": 2, "v": None, "v__v3": True}]


def test_a_pinned_table_says_what_it_drops() -> None:
    pinned = grown(struct(a=INT, b=struct(x=INT), c=pa.list_(struct(x=INT)), d=pa.map_(TEXT, struct(x=INT))))
    reader = struct(
        a=LONG,
        b=struct(x=INT, y=INT),
        c=pa.list_(struct(x=INT, y=INT)),
        d=pa.map_(TEXT, struct(x=INT, y=INT)),
        e=INT,
    )
    assert evolve(pinned, reader, version=2, policy=Evolve.PIN) == pinned
    assert dropped_members(reader, TargetTable(pinned)) == ("a", "b.y", "c.y", "d.y", "e")
    row = {"a": 1, "b": {"x": 1, "y": 2}, "c": [{"x": 3, "y": 4}], "d": [("k", {"x": 5, "y": 6})], "e": 7}
    assert landed([row], reader, pinned) == [{"a": None, "b": {"x": 1}, "c": [{"x": 3}], "d": [("k", {"x": 5})]}]


def test_slices_of_lists_and_maps_are_their_own_rows() -> None:
    """Arrow's slices look into larger arrays; nulls may hide items."""
    reader = struct(a=pa.list_(INT), b=pa.map_(TEXT, INT))
    schema = grown(reader, struct(a=pa.list_(LONG), b=pa.map_(TEXT, LONG)))
    rows = [{"a": [i] * i if i % 3 else None, "b": [(str(i), i)] if i % 2 else None} for i in range(10)]
    array = pa.array(rows, reader)
    for start in range(10):
        columns = project(array.slice(start, 3), TargetTable(schema))
        assert pa.table(columns, schema=schema).to_pylist() == rows[start : start + 3]


def test_a_target_can_be_sent_to_a_task() -> None:
    target = TargetTable(grown(struct(a=pa.map_(TEXT, pa.list_(INT)))))
    assert pickle.loads(pickle.dumps(target)) == target


SCALARS = st.sampled_from(
    [
        INT,
        LONG,
        pa.float32(),
        pa.float64(),
        TEXT,
        JSON,
        pa.bool_(),
        pa.decimal128(6, 2),
        pa.decimal128(12, 2),
        pa.date32(),
    ]
)
NAMES = st.sampled_from(["a", "b", "c", "A", "a__v1", "a__v2", "_sr_op"])


def structs(kinds: st.SearchStrategy[pa.DataType]) -> st.SearchStrategy[pa.StructType]:
    return st.dictionaries(NAMES, kinds, min_size=1, max_size=4).map(lambda members: struct(**members))


KINDS = st.recursive(
    SCALARS,
    lambda kinds: st.one_of(kinds.map(pa.list_), kinds.map(lambda kind: pa.map_(TEXT, kind)), structs(kinds)),
    max_leaves=6,
)


def values(kind: pa.DataType) -> st.SearchStrategy[Any]:
    found: st.SearchStrategy[Any]
    if pa.types.is_struct(kind):
        members = {field.name: values(field.type) for field in kind}
        found = st.fixed_dictionaries(members)
    elif pa.types.is_list(kind):
        found = st.lists(values(kind.value_type), max_size=3)
    elif pa.types.is_map(kind):
        found = st.dictionaries(st.text(max_size=2), values(kind.item_type), max_size=2).map(lambda m: list(m.items()))
    elif pa.types.is_decimal(kind):
        found = st.integers(-(10**5), 10**5).map(lambda number: Decimal(number).scaleb(-2))
    elif kind == pa.date32():
        found = st.dates()
    else:
        found = {
            INT: st.integers(-(2**31), 2**31 - 1),
            LONG: st.integers(-(2**63), 2**63 - 1),
            pa.float32(): st.floats(width=32, allow_nan=False),
            pa.float64(): st.floats(allow_nan=False),
            TEXT: st.text(max_size=3),
            JSON: st.integers().map(str),
            pa.bool_(): st.booleans(),
        }[kind]
    return st.none() | found


def holds(column: Any, value: Any, kind: pa.DataType) -> bool:
    """Whether what was read of a table has a value of a reader, each member under its name or a version of it."""
    if value is None or column is None:
        return value is column
    if pa.types.is_struct(kind):
        return isinstance(column, dict) and all(
            any(
                name.startswith(member.name) and holds(found, value[member.name], member.type)
                for name, found in column.items()
            )
            for member in kind
        )
    if pa.types.is_list(kind):
        return _alike(column, value) and all(holds(*pair, kind.value_type) for pair in zip(column, value, strict=True))
    if pa.types.is_map(kind):
        return _alike(column, value) and all(
            isinstance(found, tuple) and found[0] == name and holds(found[1], item, kind.item_type)
            for found, (name, item) in zip(column, value, strict=True)
        )
    return type(column) is type(value) and bool(column == value)


def _alike(column: Any, value: list[Any]) -> bool:
    return isinstance(column, list) and len(column) == len(value)


@settings(max_examples=settings().max_examples // 2)  # each draws several schemas and files
@given(st.data())
def test_what_was_landed_under_an_older_schema_is_read_with_every_later_one(data: st.DataObject) -> None:
    readers = data.draw(st.lists(structs(KINDS), min_size=1, max_size=4))
    schemas: list[pa.Schema] = []
    files = []
    for version, reader in enumerate(readers, 1):
        schemas.append(evolve(schemas[-1] if schemas else None, reader, version=version))
        rows = data.draw(st.lists(values(reader), max_size=4))
        table = pa.table(project(pa.array(rows, reader), TargetTable(schemas[-1])), schema=schemas[-1])
        files.append((reader, rows, table))
        assert dropped_members(reader, TargetTable(schemas[-1])) == ()
    last = schemas[-1]
    assert len({name.casefold() for name in last.names}) == len(last.names)
    for reader, rows, table in files:
        # A file is read by the names of its own columns: every one of them is still there, as wide or wider.
        written = table.to_struct_array().combine_chunks()
        assert dropped_members(written.type, TargetTable(last)) == ()
        read = pa.table(project(written, TargetTable(last)), schema=last).to_pylist()
        assert len(read) == len(rows)
        for found, row in zip(read, rows, strict=True):
            assert all(value is None for value in found.values()) if row is None else holds(found, row, reader)
