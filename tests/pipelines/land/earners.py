"""Records that cannot be read, one for each reason."""

from sigla.decoding.decoder import Limits
from sigla.decoding.frames import VALUE_HEADER
from sigla.decoding.reasons import Reason
from sigla.model import Subject, Version
from sigla_pipelines.land.bindings import Binding, Checks, Policy, Reader
from tests.pipelines.land.world import World, avro, framed

ORDER = {"type": "record", "name": "Order", "fields": [{"name": "id", "type": "int"}]}
ORDER_2 = {
    "type": "record",
    "name": "Order",
    "fields": [{"name": "id", "type": "long"}, {"name": "note", "type": ["null", "string"], "default": None}],
}
NOW = {"type": "enum", "name": "Now", "symbols": ["NEW", "PAID"]}
STATUS = {"type": "record", "name": "Status", "fields": [{"name": "now", "type": NOW}]}
TREE = {"type": "record", "name": "Tree", "fields": [{"name": "next", "type": ["null", "Tree"], "default": None}]}
PAYMENT = """syntax = "proto3";
package acme;
message Payment { int64 cents = 1; string note = 2; }
message Refund { int64 cents = 1; }
"""
CLICK = {"title": "Click", "type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}
ONLY_NEW = {"type": "record", "name": "Status", "fields": [{"name": "now", "type": {**NOW, "symbols": ["NEW"]}}]}
BOUND = (
    Binding("orders", reader=Reader("version", 1), table="orders"),
    *(Binding(topic, table=topic) for topic in ("statuses", "trees", "payments", "refunds", "clicks")),
)
STRICT = Checks(deleted=Policy.FAIL, limits=Limits(max_bytes=1000))
Record = tuple[str, bytes, list[tuple[str, bytes | None]]]
"""Topic, value, headers."""


def earners(world: World) -> dict[Reason, Record]:
    """For each reason but BAD_SCHEMA a record that earns it, landed by BOUND and STRICT.

    The id 1 is the reader of orders.
    """
    order = world.register("orders-value", ORDER_2)
    click_in_orders = world.register("orders-value", CLICK, "JSON")
    text_id = world.register("orders-value", {**ORDER, "fields": [{"name": "id", "type": "string"}]})
    deleted = world.register("orders-value", {**ORDER, "doc": "deleted"})
    world.registry.delete_version(Subject(".", "orders-value"), Version(4))
    status = world.register("statuses-value", STATUS)
    world.register("statuses-value", ONLY_NEW)
    tree = world.register("trees-value", TREE)
    payment = world.register("payments-value", PAYMENT, "PROTOBUF")
    paid_back = world.register("refunds-value", PAYMENT, "PROTOBUF")
    world.register("refunds-value", PAYMENT.replace("Payment", "Refunded"), "PROTOBUF")
    click = world.register("clicks-value", CLICK, "JSON")
    note = avro(ORDER_2, {"id": 1, "note": "abc"})
    return {
        Reason.EMPTY: ("orders", b"", []),
        Reason.BAD_MAGIC: ("orders", b"\x07abc", []),
        Reason.SHORT_FRAME: ("orders", b"\0\0\0", []),
        Reason.BAD_MSG_INDEX: ("payments", framed(payment, b"\xff" * 9), []),
        Reason.UNKNOWN_ID: ("orders", framed(999, b""), []),
        Reason.UNKNOWN_GUID: ("orders", b"x", [(VALUE_HEADER, b"\x01" + bytes(16))]),
        Reason.NOT_IN_SUBJECT: ("orders", framed(status, avro(STATUS, {"now": "NEW"})), []),
        Reason.SCHEMA_DELETED: ("orders", framed(deleted, avro(ORDER, {"id": 1})), []),
        Reason.TYPE_MISMATCH: ("orders", framed(click_in_orders, b'{"x": 1}'), []),
        Reason.INCOMPATIBLE_READER: ("orders", framed(text_id, b"\x02a"), []),
        Reason.MESSAGE_GONE: ("refunds", framed(paid_back, b"\0"), []),
        Reason.DECODE_TRUNCATED: ("orders", framed(order, note[:-1]), []),
        Reason.DECODE_INVALID: ("orders", framed(order, b"\xff" * 11), []),
        Reason.BAD_UTF8: ("orders", framed(order, note[:-1] + b"\xff"), []),
        Reason.ENUM_UNKNOWN: ("statuses", framed(status, avro(STATUS, {"now": "PAID"})), []),
        Reason.TRAILING_BYTES: ("orders", framed(order, note + b"!"), []),
        Reason.JSON_INVALID: ("clicks", framed(click, b'{"x": '), []),
        Reason.JSON_SCHEMA: ("clicks", framed(click, b'{"x": "one"}'), []),
        Reason.TOO_LARGE: ("orders", framed(order, bytes(2000)), []),
        Reason.DEPTH: ("trees", framed(tree, b"\x02" * 100 + b"\0"), []),
    }
