"""What a schema says of its fields is said of the columns: an analyst reads tables, and no schema."""

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sigla.decoding.decoder import Limits
from sigla.decoding.sources import source
from sigla.model import BodyKey, Draft, SchemaId, Subject
from sigla.opening import embedded
from sigla.settings import Settings
from sigla_pipelines.land import column_types, comments
from sigla_pipelines.land.column_types import JSON
from sigla_pipelines.land.comments import LONGEST, comment_line, comment_of, commented
from sigla_pipelines.land.decoders.by_language import DECODERS
from sigla_pipelines.land.decoders.decoder import Writer
from sigla_pipelines.land.decoders.notes import Note, note_of, tags_at
from sigla_pipelines.land.sinks.iceberg import Iceberg
from sigla_pipelines.land.targets import evolve
from tests.pipelines.land.crash_rig import World
from tests.pipelines.land.test_sinks import land

pytestmark = pytest.mark.usefixtures("unsynced")

AVRO = {
    "type": "record",
    "name": "Order",
    "namespace": "shop",
    "fields": [
        {"name": "id", "type": "string", "doc": "As the\nshop calls it."},
        {"name": "mail", "type": ["null", "string"], "doc": "Of the buyer.", "confluent:tags": ["PII"]},
        {
            "name": "to",
            "type": {
                "type": "record",
                "name": "Address",
                "doc": "Where it goes.",
                "confluent:tags": ["PLACE"],
                "fields": [{"name": "zip", "type": "string", "doc": "Four digits."}],
            },
        },
        {"name": "others", "type": {"type": "array", "items": "Address"}},
    ],
}
JSON_SCHEMA = {
    "$ref": "#/definitions/order",
    "definitions": {
        "order": {
            "type": "object",
            "properties": {
                "id": {"type": "string", "description": "As the\nshop calls it."},
                "mail": {"type": ["null", "string"], "title": "Of the buyer.", "confluent:tags": ["PII"]},
                "to": {"$ref": "#/definitions/address"},
                "others": {"type": "array", "items": {"$ref": "#/definitions/address"}},
            },
        },
        "address": {
            "type": "object",
            "description": "Where it goes.",
            "confluent:tags": ["PLACE"],
            "properties": {"zip": {"type": "string", "description": "Four digits."}},
            "additionalProperties": False,
        },
    },
}
PROTOBUF = """
syntax = "proto3";
package shop;
import "confluent/meta.proto";
message Order {
  string id = 1 [(confluent.field_meta) = {doc: "As the\\nshop calls it."}];
  optional string mail = 2 [(confluent.field_meta) = {doc: "Of the buyer.", tags: ["PII"]}];
  Address to = 3 [(confluent.field_meta).doc = "Where it goes."];
  repeated Address others = 4;
}
message Address {
  option (confluent.message_meta) = {tags: ["PLACE"]};
  string zip = 1 [(confluent.field_meta).doc = "Four digits."];
}
"""
LANGUAGES = {"AVRO": json.dumps(AVRO), "JSON": json.dumps(JSON_SCHEMA), "PROTOBUF": PROTOBUF}


def columns_of(kind: str, text: str, home: Path, tags: dict[str, tuple[str, ...]] | None = None) -> pa.StructType:
    with embedded(Settings(default_level="NONE"), home / "data") as (registry, _):
        record = registry.register(Subject(".", "orders-value"), Draft(text=text, type=kind))
        body = registry.bodies.get(BodyKey(".", SchemaId(int(record.id or 0))))
        read = source(body, registry.bodies.get)
    return DECODERS[kind](Writer(read, (), tags or {}), limits=Limits()).type


def field(kind: pa.StructType, *path: str) -> pa.Field:
    for name in path[:-1]:
        kind = kind.field(name).type
        kind = kind.value_type if pa.types.is_list(kind) else kind
    return kind.field(path[-1])


@pytest.mark.parametrize("kind", LANGUAGES)
def test_documentation_and_tags_become_comments(kind: str, tmp_path: Path) -> None:
    """Nested columns have them, too."""
    table = pa.struct(list(evolve(None, columns_of(kind, LANGUAGES[kind], tmp_path), version=1)))
    said = {path: comment_of(field(table, *path.split("."))) for path in ("id", "mail", "to.zip", "others.zip")}
    assert said == {
        "id": "As the shop calls it.",
        "mail": "Of the buyer. (tags: PII)",
        "to.zip": "Four digits.",
        "others.zip": "Four digits.",
    }
    assert comment_of(table.field("to")) == "Where it goes. (tags: PLACE)"
    assert note_of(columns_of(kind, LANGUAGES[kind], tmp_path).field("others")).tags == {"PLACE"}


@pytest.mark.parametrize(
    "kind, path", [("AVRO", "shop.Order.id"), ("AVRO", "**.id"), ("JSON", "$.id"), ("PROTOBUF", "shop.*.id")]
)
def test_tags_of_metadata_are_those_of_the_path(kind: str, path: str, tmp_path: Path) -> None:
    """A team that may not change a schema tags it from beside."""
    found = columns_of(kind, LANGUAGES[kind], tmp_path, {path: ("SECRET",)})
    assert note_of(found.field("id")).tags == {"SECRET"}
    assert note_of(found.field("mail")).tags == {"PII"}


@pytest.mark.parametrize(
    "path, pattern, fits",
    [
        ("a.b.c", "a.b.c", True),
        ("a.b.c", "a.*.c", True),
        ("a.b.c", "a.*", False),
        ("a.b.c", "a.**", True),
        ("a.b.c", "**.c", True),
        ("a.bb.c", "a.?.c", False),
        ("aXb", "a.b", False),
    ],
)
def test_a_path_is_matched_as_clients_do(path: str, pattern: str, fits: bool) -> None:
    assert tags_at(path, {pattern: ("T",)}) == ({"T"} if fits else set())


NODE = {"type": "record", "name": "Node", "fields": [{"name": "mail", "type": "string", "confluent:tags": ["PII"]}]}
WITHIN = {
    "AVRO": {
        **NODE,
        "fields": [*NODE["fields"], {"name": "next", "type": ["null", {"type": "array", "items": "Node"}]}],
    },
    "JSON": {
        "type": "object",
        "properties": {
            "plain": {"type": "string"},
            "either": {"oneOf": [{"$ref": "#/$defs/a"}, {"type": "integer"}]},
        },
        "allOf": [{"properties": {"hidden": {"confluent:tags": ["HIDDEN"]}}}],
        "$defs": {"a": {"type": "object", "properties": {"mail": {"confluent:tags": ["PII"]}}}},
    },
}


def test_json_text_has_the_tags_of_all_that_is_in_it(tmp_path: Path) -> None:
    """What has no column of its own cannot be masked by itself."""
    avro = columns_of("AVRO", json.dumps(WITHIN["AVRO"]), tmp_path / "avro")
    deep = field(avro, "next", "next")
    assert deep.type.value_type == JSON
    assert note_of(deep).tags == {"PII"}
    found = columns_of("JSON", json.dumps(WITHIN["JSON"]), tmp_path / "json")
    assert found.field("either").type == JSON
    assert note_of(found.field("either")).tags == {"PII"}
    assert note_of(found.field("_additional")).tags == {"HIDDEN"}
    assert note_of(found.field("plain")).tags == set()


def test_an_open_object_behind_a_reference_is_not_tagged_by_its_columns(tmp_path: Path) -> None:
    """Else every such table would lose its `_additional` to a rule about one column."""
    found = columns_of("JSON", LANGUAGES["JSON"], tmp_path)
    assert note_of(found.field("_additional")).tags == set()


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with closing(World(tmp_path, iceberg=True)) as world:
        yield world


def struct(**docs: str) -> pa.StructType:
    inner = pa.struct([commented(pa.field("x", pa.string()), docs.get("x", ""))])
    return pa.struct(
        [
            pa.field("n", pa.int32()),
            commented(pa.field("a", pa.string()), docs.get("a", "")),
            commented(pa.field("j", JSON), docs.get("j", "")),
            commented(pa.field("s", pa.list_(inner)), docs.get("s", "")),
        ]
    )


def comments_in(world: World) -> dict[str, str]:
    schema = world.catalog.load_table(("sigla", "t")).schema()
    return {name: schema.find_field(name).doc or "" for name in ("a", "j", "s", "s.element.x")}


def test_comments_follow_the_newest_reader_that_has_any(world: World) -> None:
    """A comment of the schema's next version is in the table with its first batch; none takes none away."""
    sink = Iceberg(world.catalog, "sigla", world.lake)
    row = {"n": 1, "a": "text", "j": "{}", "s": [{"x": "y"}]}
    land(world, sink, 0, struct(), [row])
    assert comments_in(world) == {"a": "", "j": "JSON", "s": "", "s.element.x": ""}
    land(world, sink, 1, struct(a="JSON", j="Any.", s="All.", x="One."), [row])
    told = {"a": "Text. JSON", "j": "JSON. Any.", "s": "All.", "s.element.x": "One."}
    assert comments_in(world) == told
    land(world, sink, 2, struct(x="Each."), [row])
    assert comments_in(world) == told | {"s.element.x": "Each."}
    columns = sink.columns("t")
    assert columns is not None
    assert [comment_of(each) for each in columns] == ["", "JSON", "Any.", "All."]
    assert columns == pa.schema(list(struct()))
    assert len(world.catalog.load_table(("sigla", "t")).schemas()) == 3
    land(world, sink, 3, struct(x="Each."), [row])
    assert len(world.catalog.load_table(("sigla", "t")).schemas()) == 3


def test_a_manifest_keeps_comments(world: World) -> None:
    """Tables of plain Parquet have no other place for them."""
    schema = pa.schema(list(struct(a="One.", x="Two.")))
    found = column_types.schema(json.loads(json.dumps(column_types.schema_form(schema))))
    assert found.equals(schema, check_metadata=True)


DOCS = st.one_of(st.text(), st.sampled_from(["JSON", "JSON. x", "Text. JSON", "Text. x", "Text. Text. JSON"]))
TAGS = st.frozensets(st.text(min_size=1, max_size=9), max_size=3)


@given(DOCS, TAGS, st.sampled_from([pa.string(), JSON, pa.int64()]))
def test_any_comment_is_one_line_that_is_read_back(doc: str, tags: frozenset[str], kind: pa.DataType) -> None:
    """Whether a column is of JSON text is told by it, whatever a schema says."""
    column = commented(pa.field("c", kind), comment_line(Note(doc, tags)))
    text = comments.written(column)
    assert len(text) <= LONGEST
    assert "\n" not in text
    is_json, comment = comments.read(text)
    assert is_json == (kind == JSON)
    again = comments.written(commented(column, comment))
    assert again == text
