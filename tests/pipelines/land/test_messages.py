"""A Protobuf file has many messages, and a topic may have any of them: each is read as the one of its full name."""

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import yaml

from pipelines.land.batch import Batch
from pipelines.land.driver import driver
from pipelines.land.heads import Misbound
from pipelines.land.landed import QUARANTINE
from pipelines.land.manifest import Entry, Manifest
from pipelines.land.settings import parse
from pipelines.land.sinks.sink import folder
from sigla.model import Draft, Subject
from sigla.opening import embedded
from sigla.settings import Settings
from tests.pipelines.land.world import framed, raw

pytestmark = pytest.mark.usefixtures("unsynced")

SHOP = """
syntax = "proto3";
message Money { string currency = 1; int64 units = 2; }
message Order { string id = 1; Money total = 2; Line line = 3; message Line { string sku = 1; } }
"""
ORDER = bytes.fromhex("02020a026f31")
"""An order, behind the path of the second message of a file."""


class Landings:
    """A registry in a folder, and a job beside it that lands what it is given."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.landed = 0
        self.tasks = 0

    def register(self, text: str, subject: str = "orders-value") -> int:
        draft = Draft(text=text, type="PROTOBUF")
        with embedded(Settings(default_level="NONE"), self.home / "data") as (registry, _):
            return int(registry.register(Subject(".", subject), draft).id or 0)

    def land(self, *records: bytes | None, keys: list[bytes] | None = None, **binding: str) -> Manifest:
        """One batch, by a job that knows nothing but what it finds in its folders."""
        bound = [{"topic": "orders"} | binding, *([{"topic": "orders", "part": "key"}] if keys else [])]
        form = {
            "registry": {"data": str(self.home / "data")},
            "source": {"kind": "files", "path": str(self.home / "raw")},
            "bind": bound,
            "sink": {"lake": str(self.home / "lake")},
            "work": str(self.home / "work"),
        }
        batch = raw(records, start=100 * self.landed, keys=keys)

        def tasks(task: Any) -> list[Any]:
            self.tasks += 1
            return [task.land([batch])]

        entry = Entry(str(self.landed), "", 0, len(records))
        job = driver(parse(yaml.safe_dump(form), "land.yaml"))
        manifest = job.land(Batch("q", self.landed, entries=(entry,)), tasks)
        self.landed += 1
        self.last = manifest
        return manifest

    def rows(self, table: str) -> list[dict[str, Any]]:
        """Of the last batch, without our own columns."""
        files = [self.home / "lake" / folder(table) / file.path for file in self.last.files if file.table == table]
        found = [row for file in files for row in pq.ParquetFile(file).read().to_pylist()]
        return [{name: value for name, value in row.items() if not name.startswith("_sr_")} for row in found]

    def quarantined(self) -> list[tuple[str, str]]:
        return [(each["reason"], each["detail"]) for row in self.rows(QUARANTINE) for each in row["reasons"]]

    def written(self) -> list[Path]:
        return sorted((self.home / "lake").rglob("*.parquet"))


@pytest.fixture
def landings(tmp_path: Path) -> Landings:
    return Landings(tmp_path)


def order(id: int, payload: bytes = b"") -> bytes:
    return framed(id, ORDER + payload)


def money(id: int, units: int = 7) -> bytes:
    return framed(id, bytes([0, 0x10, units]))


def line(id: int, sku: bytes = b"s") -> bytes:
    return framed(id, b"\x04\x02\x00" + b"\x0a" + bytes([len(sku)]) + sku)


LANDED = {"id": "o1", "total": None, "line": None}


def test_a_message_that_is_not_the_first_of_its_file_lands(landings: Landings) -> None:
    """Most files begin with what others are made of; the topic's table is that of what the topic has."""
    id = landings.register(SHOP)
    manifest = landings.land(order(id), None)
    assert order(id).hex() == "000000000102020a026f31"
    assert landings.rows("orders") == [LANDED, dict.fromkeys(LANDED)]
    assert (manifest.counts.landed, manifest.counts.quarantined) == (2, 0)
    assert set(manifest.columns["orders"].names) == {*LANDED}


def test_a_nested_message_lands(landings: Landings) -> None:
    id = landings.register(SHOP)
    landings.land(line(id))
    assert landings.rows("orders") == [{"sku": "s"}]


def test_several_messages_of_a_file_have_a_table_each(landings: Landings) -> None:
    """The first of the file that is there has the topic's, and keeps it, whichever comes later."""
    id = landings.register(SHOP)
    landings.land(line(id), order(id), line(id, b"t"))
    assert landings.rows("orders") == [LANDED]
    assert landings.rows("orders.Order.Line") == [{"sku": "s"}, {"sku": "t"}]
    manifest = landings.land(money(id), order(id), None)
    assert landings.rows("orders.Money") == [{"currency": "", "units": 7}]
    assert landings.rows("orders") == [LANDED, dict.fromkeys(LANDED)]
    assert manifest.counts.landed == 3


def test_a_topic_of_the_first_message_is_read_once(landings: Landings) -> None:
    """Nothing is slower than before; and a message that is met for the first time costs one more reading, once."""
    id = landings.register(SHOP)
    landings.land(money(id))
    landings.land(money(id))
    assert landings.tasks == 2
    landings.land(order(id), money(id))
    assert landings.tasks == 4
    landings.land(order(id), money(id))
    assert landings.tasks == 5


def test_of_a_reading_that_counts_for_nothing_no_file_is_left(landings: Landings) -> None:
    """Whoever lists the folder finds each record once."""
    id = landings.register(SHOP)
    manifest = landings.land(money(id), order(id), framed(id, b"\0\xff"))
    assert len(landings.written()) == len(manifest.files) == 3


def test_a_file_in_another_order_leads_to_the_same_tables(landings: Landings) -> None:
    """Messages are known by their full names, and not by where they stand."""
    first = landings.register('syntax = "proto3"; message Order { string id = 1; }')
    landings.land(framed(first, b"\0\x0a\x01a"))
    second = landings.register(SHOP)
    landings.land(framed(first, b"\0\x0a\x01b"), order(second), money(second))
    assert [row["id"] for row in landings.rows("orders")] == ["b", "o1"]
    assert landings.rows("orders.Money") == [{"currency": "", "units": 7}]


def test_a_binding_may_select_one_message(landings: Landings) -> None:
    """Others are set aside, with a sentence."""
    id = landings.register(SHOP)
    landings.land(money(id), order(id), message="Order")
    assert landings.rows("orders") == [LANDED]
    assert landings.quarantined() == [("INCOMPATIBLE_READER", "written as Money, read as Order")]
    assert landings.tasks == 1


def test_a_message_that_is_selected_must_be_there(landings: Landings) -> None:
    """Before its records are set aside."""
    landings.register(SHOP)
    with pytest.raises(Misbound, match="are to be read as Oder, and its schema with the id 1 has no such message"):
        landings.land(message="Oder")


def test_a_language_without_messages_has_none_to_select(landings: Landings) -> None:
    with embedded(Settings(), landings.home / "data") as (registry, _):
        registry.register(Subject(".", "orders-value"), Draft(text='"string"', type="AVRO"))
    with pytest.raises(Misbound, match="read by a schema of type AVRO, which has no messages: remove `message`"):
        landings.land(message="Order")


@pytest.mark.parametrize(
    "after, told",
    [
        ("message SalesOrder {} message Item {}", "it was renamed or removed: the reader's file has SalesOrder, Item"),
        ("package shop; message Order {}", "the message was moved: the reader's file has shop.Order"),
        ("message Shop { message Order {} }", "the message was moved: the reader's file has Shop.Order"),
    ],
)
def test_a_message_that_was_renamed_or_moved_is_told_as_that(after: str, told: str, landings: Landings) -> None:
    """Not as damage, and not as a reader that does not fit: someone has to say where it belongs."""
    id = landings.register(SHOP)
    landings.register(f'syntax = "proto3"; {after}')
    manifest = landings.land(order(id))
    why = f"written as Order, and the reader's file has no message of this name; {told}"
    assert landings.quarantined() == [("MESSAGE_GONE", why)]
    assert [(each.reason, each.rows) for each in manifest.metrics] == [("MESSAGE_GONE", 1)]


def test_keys_may_be_any_message_of_their_file(landings: Landings) -> None:
    """Their column is that of the message that they are."""
    id, key = landings.register(SHOP), landings.register(SHOP.replace("Order", "Key"), "orders-key")
    landings.land(order(id), keys=[framed(key, ORDER)])
    assert landings.rows("orders") == [LANDED | {"_key": LANDED}]


def test_damage_is_no_message_that_was_met(landings: Landings) -> None:
    """Bytes that lead to a message by chance make no table."""
    id = landings.register(SHOP)
    landings.land(framed(id, b"\x04\x02\x00\xff"), money(id))
    assert landings.tasks == 1
    assert landings.rows("orders") == [{"currency": "", "units": 7}]
    assert [reason for reason, _ in landings.quarantined()] == ["DECODE_TRUNCATED"]
