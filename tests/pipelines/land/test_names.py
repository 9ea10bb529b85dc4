"""Tables are called as plainly as can be, and none is ever called otherwise than before."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pyarrow as pa
import pytest

from sigla_pipelines.land.destinations import Destinations
from sigla_pipelines.land.driver import driver
from sigla_pipelines.land.manifest import Manifest, Manifests, RecordCounts
from sigla_pipelines.land.names import Names, taken_names
from sigla_pipelines.land.protection import ColumnRule, Do, Protection
from sigla_pipelines.land.settings import parse_landing
from sigla_pipelines.land.sinks.iceberg import Iceberg, catalog
from sigla_pipelines.land.sinks.parquet import Parquet
from sigla_pipelines.land.sinks.sink import OURS, Sink, digested_name, folder_of
from sigla_pipelines.land.targets import evolve
from sigla_pipelines.places import Place, open_place
from tests.pipelines.land.landings import Landings
from tests.pipelines.land.world import framed

MONEY = 'syntax = "proto3"; message Money { string currency = 1; }'
EURO = b"\0\x0a\x03EUR"

pytestmark = pytest.mark.usefixtures("unsynced")


def names(work: Path, *there: str) -> Names:
    """there: what the lake has."""
    return Names(open_place(work), Manifests(open_place(work)), lambda name: name in there)


@pytest.mark.parametrize(
    "asked, name",
    [
        ("orders", "orders"),
        ("avro.datagen-orders", "avro_datagen_orders"),
        ("Shop.Orders", "shop_orders"),
        ("events.acme.Paid", "events_acme_paid"),
        ("_orders", "_orders"),
    ],
)
def test_a_table_is_called_as_its_topic_in_letters_that_every_catalog_takes(
    asked: str, name: str, tmp_path: Path
) -> None:
    assert names(tmp_path).of([asked]) == {asked: name}


def test_two_that_would_be_called_alike_are_told_apart_by_a_digest(tmp_path: Path) -> None:
    """Who is called so in `bind` comes first, else who stands first; each name is a folder and a table of its own."""
    found = names(tmp_path).of(["a.b", "a-b", "a_b", "c.d", "C-d"])
    assert (found["a_b"], found["c.d"]) == ("a_b", "c_d")
    assert [found[each] for each in ("a.b", "a-b", "C-d")] == [
        digested_name("a.b"),
        digested_name("a-b"),
        digested_name("C-d"),
    ]
    assert len(set(found.values())) == len(found)


def test_a_name_stays_whoever_comes_later_and_whichever_job_asks(tmp_path: Path) -> None:
    first = names(tmp_path).of(["a.b"])
    assert names(tmp_path).of(["a-b", "a_b", "a.b"]) == {
        **first,
        "a-b": digested_name("a-b"),
        "a_b": digested_name("a_b"),
    }
    assert first == {"a.b": "a_b"}


def test_two_drivers_that_name_at_once_agree(tmp_path: Path) -> None:
    one, other = names(tmp_path), names(tmp_path)
    one.of(["x.y"])
    assert other.of(["a.b"]) == {"a.b": "a_b"}
    assert one.of(["a-b", "x-y"]) == {"a-b": digested_name("a-b"), "x-y": digested_name("x-y")}
    assert other.of(["a-b", "x.y"]) == {"a-b": digested_name("a-b"), "x.y": "x_y"}


def test_who_is_overtaken_decides_anew(tmp_path: Path) -> None:
    """Another driver names its tables between a look and a decision."""
    other = names(tmp_path)
    overtaken = Names(open_place(tmp_path), Manifests(open_place(tmp_path)), lambda _: not other.of(["a-b"]))
    assert overtaken.of(["a.b"]) == {"a.b": digested_name("a.b")}
    assert other.of(["a-b", "a.b"]) == {"a-b": "a_b", "a.b": digested_name("a.b")}


def test_what_another_job_has_in_the_lake_is_left_to_it(tmp_path: Path) -> None:
    """Two topics would be one table. A table that had a digest before any work directory knew of it goes on."""
    assert names(tmp_path / "one", "a_b").of(["a.b"]) == {"a.b": digested_name("a.b")}
    assert names(tmp_path / "two", digested_name("a.b")).of(["a.b"]) == {"a.b": digested_name("a.b")}


@pytest.mark.parametrize("asked", ["...", "-", "\u00e9", "x." * 150, ".quarantine.", "-_Quarantine"])
def test_whatever_a_table_is_to_be_called_it_is_none_of_the_job_s_own(asked: str, tmp_path: Path) -> None:
    name = names(tmp_path).of([asked])[asked]
    assert name not in OURS
    assert folder_of(name) == name
    assert len(name) <= 200


@pytest.fixture(params=["parquet", "iceberg"])
def lake(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Place, Sink]]:
    lake, manifests = open_place(tmp_path / "lake"), Manifests(open_place(tmp_path / "work"))
    if request.param == "parquet":
        yield lake, Parquet(lake, manifests)
        return
    with closing(catalog({"type": "sql", "uri": f"sqlite:///{tmp_path}/catalog.db"}, lake)) as opened:
        yield lake, Iceberg(opened, "sigla", lake)


def test_a_table_that_began_with_a_digest_goes_on_under_it(lake: tuple[Place, Sink], tmp_path: Path) -> None:
    """Nothing is re-pointed: its manifests, its folder and its name in the catalog are what they were."""
    place_, sink = lake
    work = open_place(tmp_path / "work")
    columns = evolve(None, pa.struct([pa.field("n", pa.int32())]), version=1)
    old = Manifest("q", 0, (), (), (), {"a.b": columns}, (), (), (), RecordCounts(0, 0))
    Manifests(work).put(old)
    found = Names(work, Manifests(work), taken_names(sink, place_)).of(["a.b", "a-b"])
    assert found == {"a.b": "a.b", "a-b": "a_b"}
    assert folder_of(found["a.b"]) == digested_name("a.b")


def test_manifests_reports_and_folders_have_the_same_name(tmp_path: Path) -> None:
    """Who reads a report finds the table in the catalog."""
    landings = Landings(tmp_path)
    manifest = landings.land(framed(landings.register(MONEY), EURO), table="Shop.orders-v1")
    assert manifest.tables == ("shop_orders_v1",)
    assert [metric.table for metric in manifest.metrics] == ["shop_orders_v1"]
    assert [path.parent.parent.name for path in landings.written()] == ["shop_orders_v1"]


def test_a_job_tells_which_topic_goes_to_which_table(tmp_path: Path) -> None:
    """When it begins, and of each message when it is met; each once."""
    landings, told = Landings(tmp_path), list[str]()
    id = landings.register('syntax = "proto3"; message A { int32 n = 1; } message B { int32 n = 1; }')
    landings.land(framed(id, b"\0"), framed(id, b"\2\2"), table="Shop.orders")
    destinations = Destinations(told.append)
    destinations.begin(landings.job.landing.bindings, landings.job.names.of)
    assert told == ["The topic orders goes to the table shop_orders."]


def test_a_state_is_called_after_its_table_and_no_table_is_called_as_a_state(tmp_path: Path) -> None:
    """Else two tables would be merged into one."""
    form = f"""
registry: {{data: {tmp_path}/data}}
source: {{kind: files, path: {tmp_path}/raw}}
bind: [{{topic: Shop.orders, mode: upsert}}, {{topic: shop.orders-state}}]
sink: {{kind: iceberg, lake: {tmp_path}/lake}}
work: {tmp_path}/work
"""
    with closing(driver(parse_landing(form, "land.yaml"))) as job:
        [state] = job.states
        assert (state.table, state.deleted) == ("shop_orders_state", "shop_orders_state_deleted")
        assert job.names.of(["shop.orders-state"]) == {"shop.orders-state": digested_name("shop.orders-state")}


def test_a_rule_about_columns_holds_by_either_name_of_a_table() -> None:
    """What is to be masked must not land as it is because its table is called otherwise."""
    kind = pa.struct([pa.field("card", pa.int64())])
    for said in ("Shop.orders", "shop_orders"):
        protection = Protection((ColumnRule(Do.DROP, column="card", table=said),))
        found = protection.called({"Shop.orders": "shop_orders", "orders": "orders"})
        assert found.type(kind, "shop_orders") == pa.struct([])
        assert found.type(kind, "orders") == kind
