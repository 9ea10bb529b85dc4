"""The shop whose records the demonstration lands: its topics, their schemas as they evolve, and what goes wrong there.

Seven schemas of three topics evolve by the registry's rules, while records come. Two more topics know no rules: their
histories hold what can never be read alike.
"""

import io
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Any, Final

import fastavro
import orjson
from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory

from sigla.decoding.reasons import Reason

Value = Mapping[str, Any]
Draw = Callable[[Random, int], Value]
"""What a producer has to say: of a random source and the number of the record."""


@dataclass(frozen=True, slots=True)
class Schema:
    """A version of a topic's subject.

    draw: its values. since: the share of the time after which producers begin to write it. None: no good record is
    written by it. in_header: said by GUID in a header, and not by id in front. deleted: at once.
    """

    name: str
    type: str
    text: str
    draw: Draw
    since: float | None = None
    in_header: bool = False
    deleted: bool = False


@dataclass(frozen=True, slots=True)
class Topic:
    """share: of all records. level: of its subject."""

    name: str
    share: float
    schemas: tuple[Schema, ...]
    level: str = "BACKWARD"

    @property
    def subject(self) -> str:
        return f"{self.name}-value"

    @property
    def written(self) -> tuple[Schema, ...]:
        """What good records are written by, in the order in which it comes."""
        return tuple(schema for schema in self.schemas if schema.since is not None)


def _record(name: str, *fields: Mapping[str, Any]) -> str:
    return json.dumps({"type": "record", "name": name, "namespace": "shop", "fields": list(fields)})


def _object(title: str, required: tuple[str, ...], **properties: Any) -> str:
    form = {"title": title, "type": "object", "properties": properties, "required": required}
    return json.dumps(form | {"additionalProperties": False})


# --- orders: Avro ----------------------------------------------------------------------------------------------------

CITIES: Final = ("Athens", "Århus", "Bologna", "Łódź", "Αθήνα", "Zürich")
_NUMBER = {"name": "number", "type": "long"}
_CUSTOMER = {"name": "customer", "type": "string"}
_NOTE = {"name": "note", "type": ["null", "string"], "default": None}
_PLACED = {"name": "placed", "type": {"type": "long", "logicalType": "timestamp-millis"}, "default": 0}
_LINE = json.loads(_record("Line", {"name": "article", "type": "string"}, {"name": "pieces", "type": "int"}))
_LINES = {"name": "lines", "type": {"type": "array", "items": _LINE}, "default": []}


def _cents(type_: str) -> dict[str, str]:
    return {"name": "cents", "type": type_}


def _state(*symbols: str) -> dict[str, Any]:
    return {"name": "state", "type": {"type": "enum", "name": "State", "symbols": symbols}}


def _order(draw: Random, number: int) -> dict[str, Any]:
    state = draw.choice(("NEW", "PAID"))
    customer = f"{draw.choice(CITIES)}-{draw.randrange(5_000)}"
    return {"number": number, "customer": customer, "cents": draw.randrange(100, 100_000), "state": state}


def _order_with_note(draw: Random, number: int) -> dict[str, Any]:
    note = draw.choice((None, None, "leave it at the door", "gift"))
    return _order(draw, number) | {"note": note, "placed": 1_767_225_600_000 + draw.randrange(86_400_000)}


def _order_with_lines(draw: Random, number: int) -> dict[str, Any]:
    lines = [{"article": f"A{draw.randrange(900)}", "pieces": draw.randint(1, 9)} for _ in range(draw.randint(1, 4))]
    state = draw.choice(("NEW", "PAID", "SENT"))
    return _order_with_note(draw, number) | {"state": state, "lines": lines}


ORDERS: Final = Topic(
    "orders",
    0.40,
    (
        Schema(
            "orders v1", "AVRO", _record("Order", _NUMBER, _CUSTOMER, _cents("int"), _state("NEW", "PAID")), _order, 0
        ),
        Schema(
            "orders v2",
            "AVRO",
            _record("Order", _NUMBER, _CUSTOMER, _cents("long"), _state("NEW", "PAID"), _NOTE, _PLACED),
            _order_with_note,
            0.25,
        ),
        Schema(
            "orders v3",
            "AVRO",
            _record("Order", _NUMBER, _CUSTOMER, _cents("long"), _state("NEW", "PAID", "SENT"), _NOTE, _PLACED, _LINES),
            _order_with_lines,
            0.625,
        ),
    ),
)

# --- clicks: JSON Schema ---------------------------------------------------------------------------------------------

_PAGE = {"type": "string", "minLength": 1}
_CLICK = {"page": _PAGE, "visitor": {"type": "integer", "minimum": 0}, "path": {"type": "array"}}


def _click(draw: Random, number: int) -> dict[str, Any]:
    return {"page": f"/{draw.choice(CITIES)}/{draw.randrange(300)}", "visitor": number, "path": []}


def _click_of_a_campaign(draw: Random, number: int) -> dict[str, Any]:
    campaign = {"campaign": {"name": f"c{draw.randrange(20)}", "paid": draw.random() < 0.3}}
    return _click(draw, number) | (campaign if draw.random() < 0.5 else {})


_CAMPAIGN = {"type": "object", "properties": {"name": {"type": "string"}, "paid": {"type": "boolean"}}}
CLICKS: Final = Topic(
    "clicks",
    0.35,
    (
        Schema("clicks v1", "JSON", _object("Click", ("page", "visitor"), **_CLICK), _click, 0),
        Schema(
            "clicks v2",
            "JSON",
            _object("Click", ("page", "visitor"), **_CLICK, campaign=_CAMPAIGN),
            _click_of_a_campaign,
            0.5,
        ),
    ),
)

# --- payments: Protobuf ----------------------------------------------------------------------------------------------

_PAYMENT = "int64 order = 1; int64 cents = 2; string currency = 3;"
_METHOD = "Method method = 4; repeated string notes = 5; enum Method { UNKNOWN = 0; CARD = 1; INVOICE = 2; }"


def _payment(draw: Random, number: int) -> dict[str, Any]:
    return {"order": number, "cents": draw.randrange(1, 100_000), "currency": draw.choice(("EUR", "DKK", "PLN"))}


def _payment_by_method(draw: Random, number: int) -> dict[str, Any]:
    notes = [f"try {attempt}" for attempt in range(draw.randrange(3))]
    return _payment(draw, number) | {"method": draw.choice(("CARD", "INVOICE")), "notes": notes}


PAYMENTS: Final = Topic(
    "payments",
    0.20,
    (
        Schema(
            "payments v1",
            "PROTOBUF",
            f'syntax = "proto3"; package shop; message Payment {{ {_PAYMENT} }}',
            _payment,
            0,
        ),
        Schema(
            "payments v2",
            "PROTOBUF",
            f'syntax = "proto3"; package shop; message Payment {{ {_PAYMENT} {_METHOD} }}',
            _payment_by_method,
            0.375,
            in_header=True,
        ),
    ),
)

# --- topics without rules --------------------------------------------------------------------------------------------


def _always(**value: Any) -> Draw:
    return lambda _, __: value


def _return(draw: Random, number: int) -> dict[str, Any]:
    return {"number": number, "state": draw.choice(("ASKED", "BACK"))}


def _rating(draw: Random, number: int) -> dict[str, Any]:
    return {"visitor": number, "stars": draw.randint(1, 5)}


def _refund(draw: Random, _: int) -> dict[str, Any]:
    return {"cents": draw.randrange(1, 10_000)}


RETURNS: Final = Topic(
    "returns",
    0.03,
    (
        Schema(
            "returns with names for numbers",
            "AVRO",
            _record("Return", {**_NUMBER, "type": "string"}),
            _always(number="7"),
        ),
        Schema(
            "returns in another language", "JSON", _object("Return", (), number={"type": "integer"}), _always(number=7)
        ),
        Schema(
            "returns with one more state",
            "AVRO",
            _record("Return", _NUMBER, _state("ASKED", "BACK", "LOST")),
            _always(number=7, state="LOST"),
        ),
        Schema(
            "returns regretted",
            "AVRO",
            _record("Return", _NUMBER, _state("BACK")),
            _always(number=7, state="BACK"),
            deleted=True,
        ),
        Schema("returns", "AVRO", _record("Return", _NUMBER, _state("ASKED", "BACK")), _return, 0),
    ),
    level="NONE",
)
REFUNDS: Final = Topic(
    "refunds",
    0.01,
    (
        Schema(
            "refunds by another name",
            "PROTOBUF",
            'syntax = "proto3"; package shop; message PayBack { int64 cents = 1; }',
            _always(cents=7),
        ),
        Schema(
            "refunds",
            "PROTOBUF",
            'syntax = "proto3"; package shop; message Refund { int64 cents = 1; }',
            _refund,
            0,
        ),
    ),
    level="NONE",
)
RATINGS: Final = Topic(
    "ratings",
    0.01,
    (
        # Java has possessive repetitions, the other engines have not.
        Schema(
            "ratings by a Java pattern",
            "JSON",
            _object("Rating", (), text={"type": "string", "pattern": "a++"}),
            _always(text="aaa"),
        ),
        Schema(
            "ratings",
            "JSON",
            _object("Rating", ("stars",), visitor={"type": "integer"}, stars={"type": "integer", "maximum": 5}),
            _rating,
            0,
        ),
    ),
    level="NONE",
)

TOPICS: Final = (ORDERS, CLICKS, PAYMENTS, RETURNS, REFUNDS, RATINGS)
SCHEMAS: Final = {schema.name: schema for topic in TOPICS for schema in topic.schemas}


# --- values → payloads -----------------------------------------------------------------------------------------------


def encoded(schema: Schema, value: Value) -> bytes:
    """The payload, without a frame; of Protobuf without message indexes."""
    return ENCODERS[schema.type](schema.text, value)


def _avro(text: str, value: Value) -> bytes:
    out = io.BytesIO()
    fastavro.schemaless_writer(out, _parsed(text), value)
    return out.getvalue()


def _protobuf(text: str, value: Value) -> bytes:
    made: bytes = json_format.ParseDict(dict(value), _message(text)()).SerializeToString()
    return made


@cache
def _parsed(text: str) -> Any:
    return fastavro.parse_schema(json.loads(text))


@cache
def _message(text: str) -> Any:
    """The class of the file's first message."""
    from sigla.languages import protobuf  # noqa: PLC0415 - who draws no payments needs no compiler

    compiled = protobuf.LANGUAGE.compiled(protobuf.LANGUAGE.parse(text, (), True)) or b""  # noqa: FBT003 - the port's
    (file,) = descriptor_pb2.FileDescriptorSet.FromString(compiled).file
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{file.package}.{file.message_type[0].name}"))


ENCODERS: Final[Mapping[str, Callable[[str, Value], bytes]]] = {
    "AVRO": _avro,
    "JSON": lambda _, value: orjson.dumps(value),
    "PROTOBUF": _protobuf,
}
"""Text and value → payload."""


# --- what goes wrong -------------------------------------------------------------------------------------------------

NOBODYS_ID: Final = 2_000_000_000
NOBODYS_GUID: Final = bytes(range(16))
FIRST_MESSAGE: Final = b"\0"
"""How the path of a Protobuf file is shortened."""
MAX_BYTES: Final = 16 * 1024
_DEEP: Final = b"[" * 70 + b"]" * 70


@dataclass(frozen=True, slots=True)
class Bad:
    """One kind of bad record. schema: by which it says it was written. spoil: a good payload → what is sent.

    framed: whether a frame is put in front, which leads to the message at `indexes`. header: what it says instead.
    """

    reason: Reason
    topic: Topic
    schema: Schema | None = None
    spoil: Callable[[bytes], bytes] = lambda payload: payload
    framed: bool = True
    indexes: bytes = FIRST_MESSAGE
    header: bytes | None = None


def _schema_named(name: str) -> Schema:
    return SCHEMAS[name]


_ORDER = ORDERS.schemas[0]
BADS: Final = (
    Bad(Reason.EMPTY, ORDERS, None, lambda _: b"", framed=False),
    Bad(Reason.BAD_MAGIC, ORDERS, None, lambda payload: b"{" + payload, framed=False),
    Bad(Reason.SHORT_FRAME, ORDERS, None, lambda _: b"\0\0\0", framed=False),
    Bad(Reason.BAD_MSG_INDEX, PAYMENTS, _schema_named("payments v1"), indexes=b"\xff" * 9),
    Bad(Reason.UNKNOWN_ID, ORDERS, None, lambda payload: b"\0" + NOBODYS_ID.to_bytes(4) + payload, framed=False),
    Bad(Reason.UNKNOWN_GUID, PAYMENTS, None, framed=False, header=b"\1" + NOBODYS_GUID + b"\0"),
    Bad(Reason.NOT_IN_SUBJECT, CLICKS, _ORDER),
    Bad(Reason.SCHEMA_DELETED, RETURNS, _schema_named("returns regretted")),
    Bad(Reason.BAD_SCHEMA, RATINGS, _schema_named("ratings by a Java pattern")),
    Bad(Reason.TYPE_MISMATCH, RETURNS, _schema_named("returns in another language")),
    Bad(Reason.INCOMPATIBLE_READER, RETURNS, _schema_named("returns with names for numbers")),
    Bad(Reason.MESSAGE_GONE, REFUNDS, _schema_named("refunds by another name")),
    Bad(Reason.DECODE_TRUNCATED, ORDERS, _ORDER, lambda payload: payload[:-1]),
    Bad(Reason.DECODE_INVALID, ORDERS, _ORDER, lambda payload: b"\xff" * 11 + payload),
    Bad(Reason.BAD_UTF8, ORDERS, _ORDER, lambda _: b"\x02\x04\xc3\x28\x02\x00\x00\x00\x00"),
    Bad(Reason.ENUM_UNKNOWN, RETURNS, _schema_named("returns with one more state")),
    Bad(Reason.TRAILING_BYTES, ORDERS, _ORDER, lambda payload: payload + b"\0"),
    Bad(Reason.JSON_INVALID, CLICKS, _schema_named("clicks v1"), lambda payload: payload[:-1]),
    Bad(Reason.JSON_SCHEMA, CLICKS, _schema_named("clicks v1"), lambda _: b'{"page":"","visitor":-1}'),
    Bad(Reason.TOO_LARGE, CLICKS, _schema_named("clicks v1"), lambda payload: payload + b" " * MAX_BYTES),
    Bad(Reason.DEPTH, CLICKS, _schema_named("clicks v1"), lambda _: b'{"page":"a","visitor":1,"path":' + _DEEP + b"}"),
)
"""Every reason there is, once."""
