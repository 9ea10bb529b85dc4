"""A Protobuf file has many messages, and a topic may have any of them: each is read as the one of its full name."""

import shutil
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from sigla.model import Draft, Subject
from sigla.opening import embedded
from sigla.settings import Settings
from sigla_pipelines.land.bindings import Binding
from sigla_pipelines.land.landed import Met
from sigla_pipelines.land.manifest import Manifests
from sigla_pipelines.land.messages import Messages
from sigla_pipelines.land.reader_schemas import Misbound
from sigla_pipelines.places import open_place
from tests.pipelines.land.landings import Died, Landings
from tests.pipelines.land.world import framed

pytestmark = pytest.mark.usefixtures("unsynced")

SHOP = """
syntax = "proto3";
message Money { string currency = 1; int64 units = 2; }
message Order { string id = 1; Money total = 2; Line line = 3; message Line { string sku = 1; } }
"""
ORDER = bytes.fromhex("02020a026f31")
"""An order, behind the path of the second message of a file."""


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


def partition_of(landings: Landings, table: str) -> list[str]:
    found = landings.job.sink.catalog.load_table(("sigla", table))  # type: ignore[attr-defined]  # an Iceberg
    return [field.name for field in found.spec().fields]


def test_a_new_topic_is_partitioned_by_a_column_of_whichever_message_it_has(tmp_path: Path) -> None:
    """Before its first record no reader knows that it is not the first message of the file."""
    with closing(Landings(tmp_path, kind="iceberg")) as landings:
        id = landings.register(SHOP)
        asked: dict[str, Any] = {"partition": ["bucket(4, id)"], "sort": ["id"]}
        landings.land(order(id), **asked)
        assert partition_of(landings, "orders") == ["id_bucket_4"]
        landings.land(money(id), **asked)
        assert partition_of(landings, "orders_money") == ["_sr_ts_day"]


def test_the_message_that_has_the_column_of_a_partition_may_come_later(tmp_path: Path) -> None:
    """Until then the tables of the others are laid out as if nothing was said."""
    with closing(Landings(tmp_path, kind="iceberg")) as landings:
        id = landings.register(SHOP)
        landings.land(None, money(id), partition=["sku"])
        assert partition_of(landings, "orders") == ["_sr_ts_day"]
        landings.land(line(id), partition=["sku"])
        assert partition_of(landings, "orders_order_line") == ["sku"]


def test_a_partition_by_a_column_that_no_message_has_is_told_before_anything_is_read(tmp_path: Path) -> None:
    """A typo must not wait for a record of the last message."""
    with closing(Landings(tmp_path, kind="iceberg")) as landings:
        id = landings.register(SHOP)
        for asked in ({"partition": ["skew"]}, {"partition": ["sku"], "message": "Money"}):
            with pytest.raises(Misbound, match="names the unknown column sk"):
                landings.land(money(id), **asked)
        assert landings.tasks == 0


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


def test_tables_of_messages_are_tables_of_iceberg_too(tmp_path: Path) -> None:
    catalog = {"type": "sql", "uri": f"sqlite:///{tmp_path}/catalog.db", "warehouse": str(tmp_path / "lake")}
    with closing(Landings(tmp_path, kind="iceberg", catalog=catalog)) as landings:
        id = landings.register(SHOP)
        landings.land(order(id), line(id))
        landings.land(line(id, b"t"), None)
        assert [row["id"] for row in landings.committed("orders")] == ["o1", None]
        assert [row["sku"] for row in landings.committed("orders.Order.Line")] == ["s", "t"]


def test_a_table_from_before_messages_were_remembered_stays_that_of_the_first(landings: Landings) -> None:
    """Who has landed such a topic has the first message of its file there, and no other."""
    id = landings.register(SHOP)
    landings.land(money(id))
    shutil.rmtree(landings.home / "work" / "messages")
    landings.land(order(id))
    assert landings.rows("orders.Order") == [LANDED]
    landings.land(money(id))
    assert landings.rows("orders") == [{"currency": "", "units": 7}]


def test_a_driver_that_dies_before_the_second_reading_changes_nothing(landings: Landings) -> None:
    """What was met is remembered; the batch is landed by whoever comes next, each record once."""
    id = landings.register(SHOP)
    landings.dies_at = 2
    with pytest.raises(Died):
        landings.land(line(id), order(id))
    landings.land(line(id), order(id))
    assert (landings.rows("orders"), landings.rows("orders.Order.Line")) == ([LANDED], [{"sku": "s"}])
    assert landings.tasks == 3
    assert len(landings.written()) == 2


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


def test_the_table_of_a_message_that_was_selected_stays_its_own(landings: Landings) -> None:
    """Also when all messages are landed again; and one that has got another name may go on in the topic's table."""
    id = landings.register(SHOP)
    landings.land(order(id), message="Order")
    landings.land(money(id), order(id))
    assert landings.rows("orders") == [LANDED]
    assert landings.rows("orders.Money") == [{"currency": "", "units": 7}]
    renamed = landings.register(SHOP.replace("Order", "Sale"))
    landings.land(order(renamed), order(id), message="Sale")
    assert landings.rows("orders") == [LANDED]
    assert [reason for reason, _ in landings.quarantined()] == ["MESSAGE_GONE"]


def test_a_message_that_is_selected_must_be_there(landings: Landings) -> None:
    """Before its records are set aside."""
    landings.register(SHOP)
    with pytest.raises(Misbound, match="Unknown message Oder in the schema with the id 1"):
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


def test_two_drivers_that_meet_their_first_messages_at_once_agree(tmp_path: Path) -> None:
    """One of them has the topic's table, and both know of both in the end."""
    binding, work = Binding("orders", table="orders"), open_place(tmp_path)
    one, other = Messages(work, Manifests(work)), Messages(work, Manifests(work))
    assert one.of(binding) == other.of(binding) == ()
    order, money = Met("orders", "value", (1,), "Order"), Met("orders", "value", (0,), "Money")
    assert not one.meet({binding: ("Money",)}, [order])
    assert not other.meet({binding: ("Money",)}, [money])
    assert other.of(binding) == ("Order", "Money")
    assert other.meet({binding: other.of(binding)}, [money])
    assert one.meet({binding: one.of(binding)}, [order])
    assert Messages(work, Manifests(work)).of(binding) == ("Order", "Money")
