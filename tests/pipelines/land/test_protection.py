"""What a rule hides is in no file of a typed table: neither by a tag of its schema nor by its name."""

import hashlib
import hmac
import json
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sigla.opening import embedded
from sigla.settings import Settings
from sigla_pipelines.land.bindings import Binding
from sigla_pipelines.land.hash_key import NoHashKey, hash_key
from sigla_pipelines.land.landed import QUARANTINE
from sigla_pipelines.land.protection import ColumnRule, Do, Protection
from sigla_pipelines.land.reader_schemas import Misbound
from sigla_pipelines.land.settings import InvalidLanding, parse_landing
from tests.pipelines.land.world import Outcome, World, avro, framed, raw

SECRET = "5ecret-of-ann"
HIDING = (Do.HASH, Do.MASK, Do.DROP)
KEY = b"a key of at least sixteen bytes"
ORDER = {
    "type": "record",
    "name": "Order",
    "namespace": "shop",
    "fields": [
        {"name": "id", "type": "string"},
        {"name": "mail", "type": ["null", "string"], "confluent:tags": ["PII"]},
        {"name": "age", "type": ["null", "int"], "confluent:tags": ["PII"]},
        {"name": "names", "type": {"type": "array", "items": ["null", "string"]}, "confluent:tags": ["PII"]},
        {"name": "labels", "type": {"type": "map", "values": "string"}, "confluent:tags": ["PII"]},
        {
            "name": "to",
            "type": [
                "null",
                {
                    "type": "record",
                    "name": "Address",
                    "fields": [
                        {"name": "zip", "type": "string"},
                        {"name": "street", "type": "string", "confluent:tags": ["PII"]},
                    ],
                },
            ],
        },
    ],
}
FULL = {
    "id": "a",
    "mail": SECRET,
    "age": 42,
    "names": [SECRET, None],
    "labels": {SECRET: "x"},
    "to": {"zip": "1000", "street": SECRET},
}
EMPTY: dict[str, Any] = {"id": "b", "mail": None, "age": None, "names": [], "labels": {}, "to": None}


def hashed(value: str) -> str:
    return hmac.new(KEY, value.encode(), hashlib.sha256).hexdigest()


def tagged(do: Do) -> Protection:
    return Protection((ColumnRule(do, tag="PII"),), KEY)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with embedded(Settings(default_level="NONE"), None) as (registry, _):
        yield World(registry, tmp_path)


def values_of(outcome: Outcome) -> list[dict[str, Any]]:
    rows = outcome.rows("orders")
    return [{name: row[name] for name in row if not name.startswith("_sr_")} for row in rows]


def landed(world: World, protection: Protection, *values: Any, schema: Any = ORDER) -> Outcome:
    id = world.register("orders-value", schema)
    plan = world.plan(Binding("orders", table="orders"), protection=protection)
    return world.land(plan, raw([framed(id, avro(schema, value)) for value in values]))


def typed_bytes(lake: Path) -> str:
    """All that typed files say, packed and unpacked."""
    files = [path for path in lake.rglob("*.parquet") if QUARANTINE not in path.parts]
    assert files
    return "".join(f"{path.read_bytes()!r}{pq.read_table(path).to_pylist()}{pq.read_metadata(path)}" for path in files)


def test_a_dropped_column_is_not_there(world: World) -> None:
    outcome = landed(world, tagged(Do.DROP), FULL, EMPTY)
    assert values_of(outcome) == [{"id": "a", "to": {"zip": "1000"}}, {"id": "b", "to": None}]
    assert SECRET not in typed_bytes(world.lake)


def test_a_masked_column_tells_whether_there_is_a_value(world: World) -> None:
    """And neither how long it is nor how many there are."""
    outcome = landed(world, tagged(Do.MASK), FULL, EMPTY)
    assert values_of(outcome) == [
        {
            "id": "a",
            **dict.fromkeys(("mail", "age", "names", "labels"), "***"),
            "to": {"zip": "1000", "street": "***"},
        },
        {"id": "b", "mail": None, "age": None, "names": "***", "labels": "***", "to": None},
    ]
    assert SECRET not in typed_bytes(world.lake)


def test_a_hashed_column_can_be_joined(world: World) -> None:
    """Items, keys and values of maps by themselves; whatever the type, by the value's text."""
    outcome = landed(world, tagged(Do.HASH), FULL, EMPTY)
    mail = hashed(SECRET)
    assert values_of(outcome) == [
        {
            "id": "a",
            "mail": mail,
            "age": hashed("42"),
            "names": [mail, None],
            "labels": [(mail, hashed("x"))],
            "to": {"zip": "1000", "street": mail},
        },
        {"id": "b", "mail": None, "age": None, "names": [], "labels": [], "to": None},
    ]
    assert SECRET not in typed_bytes(world.lake)


def test_a_column_is_named_as_the_list_of_tables_names_it(world: World) -> None:
    """The columns of all tables, or of one."""
    rules = (
        ColumnRule(Do.DROP, column="to.zip"),
        ColumnRule(Do.MASK, column="id", table="orders"),
        ColumnRule(Do.DROP, column="mail", table="others"),
    )
    [row] = values_of(landed(world, Protection(rules), FULL))
    assert (row["id"], row["mail"], row["to"]) == ("***", SECRET, {"street": SECRET})


def test_the_strictest_rule_holds(world: World) -> None:
    rules = (ColumnRule(Do.MASK, column="mail"), ColumnRule(Do.DROP, tag="PII"), ColumnRule(Do.HASH, column="mail"))
    [row] = values_of(landed(world, Protection(rules, KEY), FULL))
    assert "mail" not in row


def test_what_was_a_number_gets_a_column_for_its_hashes(world: World) -> None:
    """The table has one of numbers since before there was a rule."""
    id = world.register("orders-value", ORDER)
    binding = Binding("orders", table="orders")
    before = world.plan(binding).targets["orders"].schema
    plan = world.plan(binding, protection=tagged(Do.HASH), columns=lambda _: before)
    [row] = values_of(world.land(plan, raw([framed(id, avro(ORDER, FULL))])))
    assert (row["age"], row["age__v1"], row["mail"]) == (None, hashed("42"), hashed(SECRET))


KEY_SCHEMA = {
    "type": "record",
    "name": "K",
    "fields": [{"name": "n", "type": "int"}, {"name": "mail", "type": "string", "confluent:tags": ["PII"]}],
}


@pytest.mark.parametrize("do", HIDING)
def test_raw_bytes_of_a_key_hide_what_its_column_hides(do: Do, world: World) -> None:
    """They have the value, too; tombstones have nothing else."""
    value, key = world.register("orders-value", ORDER), world.register("orders-key", KEY_SCHEMA)
    bound = Binding("orders", table="orders"), Binding("orders", "key")
    keys = [framed(key, avro(KEY_SCHEMA, {"n": 1, "mail": SECRET}))] * 2
    rules = (ColumnRule(do, tag="PII"),)
    plan = world.plan(*bound, protection=Protection(rules, KEY))
    outcome = world.land(plan, raw([framed(value, avro(ORDER, EMPTY)), None], keys=keys))
    digest = hmac.new(KEY, keys[0], hashlib.sha256).digest()
    column, raw_bytes = {
        Do.DROP: ({"n": 1}, None),
        Do.MASK: ({"n": 1, "mail": "***"}, b"***"),
        Do.HASH: ({"n": 1, "mail": hashed(SECRET)}, digest),
    }[do]
    assert [(row["_key"], row["_sr_key"]) for row in outcome.rows("orders")] == [(column, raw_bytes)] * 2
    assert SECRET not in typed_bytes(world.lake)


def test_a_key_is_dropped_whole_and_its_rows_stay(world: World) -> None:
    value, key = world.register("orders-value", ORDER), world.register("orders-key", KEY_SCHEMA)
    rules = (ColumnRule(Do.DROP, column="_key"), ColumnRule(Do.DROP, column="_sr_headers"))
    bound = Binding("orders", table="orders"), Binding("orders", "key")
    keys = [framed(key, avro(KEY_SCHEMA, {"n": 1, "mail": SECRET})), None]
    records = raw([framed(value, avro(ORDER, EMPTY))] * 2, keys=keys, headers=[[("h", SECRET.encode())]] * 2)
    outcome = world.land(world.plan(*bound, protection=Protection(rules)), records)
    rows = outcome.rows("orders")
    assert [(row["id"], row["_sr_key"], row["_sr_headers"]) for row in rows] == [("b", None, None)] * 2
    assert "_key" not in rows[0]
    assert SECRET not in typed_bytes(world.lake)


def test_the_quarantine_keeps_the_record_whole(world: World) -> None:
    """It is evidence, and what `replay` lands from: who may read it is decided by where it lies."""
    id = world.register("orders-value", ORDER)
    plan = world.plan(Binding("orders", table="orders"), protection=tagged(Do.DROP))
    bad = framed(id, SECRET.encode())
    outcome = world.land(plan, raw([bad]))
    assert [row["value"] for row in outcome.rows(QUARANTINE)] == [bad]


OPEN = {
    "type": "object",
    "properties": {
        "id": {"type": "string"},
        "mail": {"type": "string", "confluent:tags": ["PII"]},
        "either": {"oneOf": [{"$ref": "#/$defs/person"}, {"type": "integer"}]},
        "people": {"type": "array", "items": {"$ref": "#/$defs/person"}},
    },
    "allOf": [{"properties": {"nick": {"confluent:tags": ["PII"]}}}],
    "$defs": {"person": {"type": "object", "properties": {"name": {"type": "string", "confluent:tags": ["PII"]}}}},
}
PERSON = {"name": SECRET}


def test_json_text_that_may_hold_a_tagged_value_is_hidden_whole(world: World) -> None:
    """Alternatives have no columns of their own, nor has what is described beside `properties`."""
    id = world.register("orders-value", OPEN, "JSON")
    value = {"id": "a", "mail": SECRET, "either": PERSON, "people": [PERSON], "nick": SECRET}
    plan = world.plan(Binding("orders", table="orders"), protection=tagged(Do.MASK))
    outcome = world.land(plan, raw([framed(id, json.dumps(value).encode())]))
    assert values_of(outcome) == [
        {
            "id": "a",
            "mail": "***",
            "either": "***",
            "people": [{"name": "***", "_additional": None}],
            "_additional": "***",
        }
    ]
    assert SECRET not in typed_bytes(world.lake)


def test_what_tells_the_rows_of_a_state_apart_is_not_masked(world: World) -> None:
    """All of them would become one row. Hashes differ as values do."""
    world.register("orders-value", ORDER)
    world.register("orders-key", KEY_SCHEMA)
    bound = Binding("orders", table="orders"), Binding("orders", "key")
    for keys, what in (("mail",), "the field mail"), ((), "the key of records"):
        with pytest.raises(Misbound, match=f"identified by {what}, which a rule in `columns` masks: hash it instead"):
            world.plan(*bound, protection=tagged(Do.MASK), state_keys={"orders": keys})
        world.plan(*bound, protection=tagged(Do.HASH), state_keys={"orders": keys})


# --- any schema ------------------------------------------------------------------------------------------------------

LEAVES = {
    "string": SECRET,
    "bytes": SECRET.encode(),
}
TYPES: Any = st.recursive(
    st.sampled_from(sorted(LEAVES)),
    lambda inside: (
        st.builds(lambda inner: {"type": "array", "items": inner}, inside)
        | st.builds(lambda inner: {"type": "map", "values": inner}, inside)
        | st.builds(lambda inner: ["null", inner], inside.filter(lambda each: not isinstance(each, list)))
        | st.lists(st.tuples(inside, st.booleans()), min_size=1, max_size=3)
    ),
    max_leaves=16,  # and so few lists within each other: a value has both elements of each
)


class Shape:
    """An Avro schema with tagged fields, and a value with the secret in each of them, and in nothing else."""

    def __init__(self) -> None:
        self.records = 0

    def record(self, members: Any, hidden: bool) -> tuple[Any, Any]:
        self.records += 1
        name, fields, values = f"R{self.records}", [], {}
        for number, (member, tagged_) in enumerate(members):
            schema, value = self.of(member, hidden or tagged_)
            tags = {"confluent:tags": ["PII"]} if tagged_ else {}
            fields.append({"name": f"f{number}", "type": schema, **tags})
            values[f"f{number}"] = value
        return {"type": "record", "name": name, "fields": fields}, values

    def of(self, shape: Any, hidden: bool) -> tuple[Any, Any]:
        match shape:
            case str():
                return shape, (LEAVES[shape] if hidden else LEAVES[shape][:0])
            case ["null", inner]:
                schema, value = self.of(inner, hidden)
                return ["null", schema], value
            case list():
                return self.record(shape, hidden)
            case {"items": inner}:
                schema, value = self.of(inner, hidden)
                return {"type": "array", "items": schema}, [value, value]
            case {"values": inner}:
                schema, value = self.of(inner, hidden)
                return {"type": "map", "values": schema}, {SECRET if hidden else "k": value}
        raise AssertionError(shape)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=30)
@given(st.lists(st.tuples(TYPES, st.booleans()), min_size=1, max_size=3), st.sampled_from(HIDING))
def test_no_byte_of_a_hidden_value_is_in_any_typed_file(members: Any, do: Do) -> None:
    """Whatever is tagged, wherever it stands: in lists, maps, records within records."""
    schema, value = Shape().record(members, hidden=False)
    with TemporaryDirectory() as home, embedded(Settings(default_level="NONE"), None) as (registry, _):
        world = World(registry, Path(home))
        outcome = landed(world, tagged(do), value, value, schema=schema)
        assert len(outcome.rows("orders")) == 2
        assert SECRET not in typed_bytes(world.lake)


# --- settings --------------------------------------------------------------------------------------------------------


def with_columns(*columns: dict[str, str], **others: str) -> str:
    form = {"registry": {"data": "d"}, "source": {"kind": "files", "path": "r"}, "bind": [{"topic": "t"}]}
    return json.dumps(form | {"sink": {"lake": "l"}, "work": "w", "columns": columns, **others})


@pytest.mark.parametrize(
    "columns, others, said",
    [
        ({"do": "drop"}, {}, "set either `tag` or `column`"),
        ({"do": "drop", "tag": "PII", "column": "a"}, {}, "either `tag` or `column`"),
        ({"do": "hash", "tag": "PII"}, {}, "`columns` has a rule that hashes: set `hash_key`"),
        ({"do": "hash", "tag": "PII"}, {"hash_key": "abcdefghijklmnopqrst"}, "hash_key"),
        ({"do": "drop", "column": "_sr_offset"}, {}, "the job uses the column _sr_offset itself"),
        ({"do": "mask", "column": "_sr_headers"}, {}, "_sr_headers can only be dropped"),
        ({"do": "erase", "tag": "PII"}, {}, "columns"),
    ],
)
def test_a_rule_that_means_nothing_is_refused(columns: dict[str, str], others: dict[str, str], said: str) -> None:
    with pytest.raises(InvalidLanding, match=said):
        parse_landing(with_columns(columns, **others), "land.yaml")


def test_the_key_of_hashes_is_found_where_the_settings_say(tmp_path: Path) -> None:
    """It is in no file that is checked in."""
    (tmp_path / "key").write_bytes(KEY + b"\n")
    assert hash_key(f"file:{tmp_path}/key", {}) == KEY
    assert hash_key("env:LAND_HASH_KEY", {"LAND_HASH_KEY": KEY.decode()}) == KEY
    assert hash_key("", {}) == b""


@pytest.mark.parametrize(
    "reference, said", [("env:NO", "missing or empty"), ("env:SHORT", "shorter than 16"), ("file:/no", "cannot")]
)
def test_a_key_that_is_none_is_a_sentence_without_it(reference: str, said: str) -> None:
    with pytest.raises(NoHashKey, match=said) as told:
        hash_key(reference, {"SHORT": "tooshort"})
    assert "tooshort" not in str(told.value)


def test_a_plan_never_shows_the_key(world: World) -> None:
    """It is sent to tasks, and may be printed by whoever looks for a fault."""
    world.register("orders-value", ORDER)
    plan = world.plan(Binding("orders", table="orders"), protection=tagged(Do.HASH))
    assert KEY.decode() not in repr(plan)
