"""Catalogs of Iceberg that are silent, or none, and what such tables cannot be: each is a sentence."""

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import pyarrow as pa
import pyiceberg.table
import pytest
from pyiceberg.catalog import load_catalog
from pyiceberg.exceptions import NoSuchTableError
from pyiceberg.table.update import update_table_metadata
from sqlalchemy.exc import OperationalError

from sigla.errors import StoreError
from sigla.model import Draft, Subject
from sigla.opening import embedded
from sigla.settings import Settings
from sigla_pipelines.land.batch import Batch
from sigla_pipelines.land.driver import driver
from sigla_pipelines.land.manifest import Entry, Stopped
from sigla_pipelines.land.quarantine import RESOLVED_TABLE
from sigla_pipelines.land.settings import InvalidLanding, parse_landing
from sigla_pipelines.land.sinks import iceberg
from sigla_pipelines.land.sinks.iceberg import Iceberg
from sigla_pipelines.places import Bucket, open_place
from tests.pipelines.land.crash_rig import World
from tests.pipelines.land.landings import Landings
from tests.pipelines.land.world import framed

pytestmark = pytest.mark.usefixtures("unsynced")


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with closing(World(tmp_path, iceberg=True)) as world:
        yield world


def test_a_catalog_that_falls_silent_is_told_of_who_reads_too(world: World) -> None:
    """A replay reads before it writes."""

    def silent(*_: Any) -> Any:
        raise OperationalError("SELECT …", {}, Exception("server closed the connection"))

    world.catalog.load_table = silent
    with pytest.raises(StoreError, match=r"^the catalog of Iceberg: .*server closed the connection"):
        list(Iceberg(world.catalog, "sigla", world.lake).rows(RESOLVED_TABLE))


@pytest.mark.parametrize(
    "properties, said",
    [
        ({"type": "sql", "uri": "blah"}, "Could not parse SQLAlchemy URL"),
        ({"type": "sql", "uri": "nonsense://x"}, "Can't load plugin: sqlalchemy.dialects:nonsense"),
        ({"type": "glue"}, "You must specify a region"),
        ({"type": "dynamodb"}, "You must specify a region"),
        (
            {"type": "glue", "glue.region": "eu-west-1", "glue.profile-name": "nobody's"},
            "profile .* could not be found",
        ),
        ({"py-catalog-impl": "os.nothing"}, "module 'os' has no attribute 'nothing'"),
        ({"type": "in-memory", "py-io-impl": "no.such.Io"}, "Could not initialize FileIO: no.such.Io"),
    ],
)
def test_a_catalog_that_cannot_be_one_is_a_matter_of_the_settings(
    properties: dict[str, str], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Told before there is a batch, and not as a silence that may be over."""
    for name in ("AWS_DEFAULT_REGION", "AWS_REGION", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(InvalidLanding, match=rf"^Invalid `sink.catalog`: pyiceberg cannot open it: .*{said}.*\.$"):
        iceberg.catalog(properties, open_place("lake"))


ORDER = 'syntax = "proto3"; message Order { string id = 1; }'


@pytest.mark.parametrize("home", ["plain", "mein Büro"])
def test_a_lake_that_is_a_folder_has_a_catalog_of_its_own(home: str, tmp_path: Path) -> None:
    """The first example names none; and a folder may be called anything that a person calls one."""
    with closing(Landings(tmp_path / home, kind="iceberg")) as landings:
        id = landings.register(ORDER)
        landings.land(framed(id, bytes.fromhex("000a026f31")))
        landings.land(framed(id, bytes.fromhex("000a026f32")))
        assert [row["id"] for row in landings.committed("orders")] == ["o1", "o2"]
    uri = f"sqlite:///{tmp_path / home}/lake/{iceberg.CATALOG}"
    with closing(load_catalog("sigla", type="sql", uri=uri)) as anybodys:
        assert {*anybodys.load_table("sigla.orders").scan().to_arrow()["id"].to_pylist()} == {"o1", "o2"}


def test_iceberg_in_s3_asks_for_a_catalog() -> None:
    """None is assumed there: Glue's tables are seen by a whole account."""
    lake = Bucket("my-lake", "tables", "eu-west-1", "https://s3.eu-west-1.amazonaws.com")
    with pytest.raises(InvalidLanding, match=r"`sink.catalog` is missing: .* Write `catalog: {type: glue}`, .*rest"):
        iceberg.catalog({}, lake)


@pytest.mark.parametrize("name", ["what?", "no #1"])
def test_a_lake_that_no_address_of_iceberg_leads_to_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidLanding, match=r"`sink.lake` is .* cannot contain \? or #"):
        iceberg.catalog({}, open_place(tmp_path / name))


@pytest.mark.parametrize("namespace", ["", " ", "a..b", "a."])
def test_a_namespace_without_a_name_is_refused(world: World, namespace: str) -> None:
    with pytest.raises(
        InvalidLanding, match=r"^Invalid `sink.namespace` '.*': expected a name, or names separated by dots"
    ):
        Iceberg(world.catalog, namespace, world.lake)


def test_a_namespace_may_be_within_another(world: World) -> None:
    """Catalogs behind HTTP tell it from one with a dot in its name."""
    asked: list[Any] = []

    def load_table(name: Any) -> Any:
        asked.append(name)
        raise NoSuchTableError

    world.catalog.load_table = load_table
    assert Iceberg(world.catalog, "lake.sigla", world.lake).columns("t") is None
    assert asked == [("lake", "sigla", "t")]


B = pa.struct([pa.field("b", pa.string())])
COLUMNS = {
    "a column and a member": ([("a.b", pa.int64()), ("a", B)], "a.b"),
    "both within a column": ([("s", pa.struct([pa.field("a.b", pa.int64()), pa.field("a", B)]))], "s.a.b"),
    "a column and an item": ([("a.element", pa.int64()), ("a", pa.list_(pa.int64()))], "a.element"),
    "a column and what is in an item": ([("a.element.b", pa.int64()), ("a", pa.list_(B))], "a.element.b"),
    "a column and a key": ([("a.key", pa.int64()), ("a", pa.map_(pa.string(), pa.int64()))], "a.key"),
    "dots alone": ([("a.b", pa.int64()), ("a.c", pa.int64()), ("a", pa.int64())], None),
    "the same within two": ([("a", B), ("b", B), ("c", pa.list_(B)), ("d", pa.map_(pa.string(), B))], None),
}


@pytest.mark.parametrize("columns, twice", COLUMNS.values(), ids=COLUMNS)
def test_columns_that_iceberg_cannot_tell_apart_are_refused_before_a_batch(
    world: World, columns: list[tuple[str, pa.DataType]], twice: str | None
) -> None:
    """Those that pyiceberg refuses, and no others."""
    table = pa.schema(columns)
    sink = Iceberg(world.catalog, "sigla", world.lake)
    world.catalog.create_namespace("sigla")
    if twice is None:
        sink.check("t", table)
        world.catalog.create_table(("sigla", "t"), table, world.lake.uri("t"))
        return
    with pytest.raises(Stopped, match=rf"^The table t would have two columns that Iceberg calls {twice}: "):
        sink.check("t", table)
    with pytest.raises(ValueError, match=f"multiple fields for name {twice}"):
        world.catalog.create_table(("sigla", "t"), table, world.lake.uri("t"))


def test_a_batch_with_such_columns_is_not_decided(world: World, tmp_path: Path) -> None:
    """Its manifest would have to be followed for ever."""
    properties = {"a.b": {"type": "integer"}, "a": {"type": "object", "properties": {"b": {"type": "string"}}}}
    with embedded(Settings(), tmp_path / "data") as (registry, _):
        draft = Draft(json.dumps({"type": "object", "properties": properties}), type="JSON")
        registry.register(Subject(".", "orders-value"), draft)
    form = {
        "registry": {"data": str(tmp_path / "data")},
        "source": {"kind": "files", "path": str(tmp_path / "raw")},
        "bind": [{"topic": "orders"}],
        "sink": {"kind": "parquet", "lake": str(tmp_path / "lake")},
        "work": str(tmp_path / "work"),
    }
    sink = Iceberg(world.catalog, "sigla", world.lake)
    landing = replace(driver(parse_landing(json.dumps(form), "land.yaml")), sink=sink)

    def nobody(_: Any) -> NoReturn:
        raise AssertionError

    with pytest.raises(Stopped, match=r"The table orders .* Iceberg calls a\.b: .* as another version"):
        landing.land(Batch("q", 0, entries=(Entry("1", "", 0, 1),)), nobody)
    assert list(landing.manifests.all()) == []


def test_a_table_of_many_commits_keeps_the_last_of_its_metadata(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each commit writes all of it anew: a batch a minute would leave half a million files in a year."""
    most = "write.metadata.previous-versions-max"
    assert int(iceberg.PROPERTIES[most]) == 100
    monkeypatch.setitem(iceberg.PROPERTIES, most, "3")
    with closing(Landings(tmp_path, kind="iceberg")) as landings:
        id = landings.register(ORDER)
        for _ in range(8):
            landings.land(framed(id, b"\0\x0a\x01a"))
        assert len(landings.committed("orders")) == 8
    assert len(list((tmp_path / "lake" / "orders" / "metadata").glob("*.metadata.json"))) == 4


def test_a_commit_makes_the_metadata_of_a_table_once_for_each_update(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By itself pyiceberg makes it some forty times, by deep copies, most of what a batch of small tables takes."""
    made: list[int] = []
    make = update_table_metadata

    def counted(base: Any, updates: tuple[Any, ...], *more: Any) -> Any:
        made.append(len(updates))
        return make(base, updates, *more)

    with closing(Landings(tmp_path, kind="iceberg")) as landings:
        id = landings.register(ORDER)
        monkeypatch.setattr(pyiceberg.table, "update_table_metadata", counted)
        for expected in (8, 5):
            landings.land(framed(id, b"\0\x0a\x01a"))
            assert len(made) <= expected, made
            made.clear()
