"""`sigla explain`: what a person sees of a record, of whatever language, from wherever schemas come."""

import base64
import io
import json
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

import pytest

from sigla.cli import main
from sigla.cli.explain_told import as_text, hexdump
from sigla.decoding import explain
from sigla.decoding.explain import Asked, Explained, Given
from sigla.decoding.frames import VALUE_HEADER
from sigla.model import BodyKey, Draft, SchemaId, Subject
from sigla.opening import embedded, reading
from sigla.registry.stored_schemas import StoredSchemas
from sigla.settings import Address, Settings
from sigla.stores.clock import SystemClock
from sigla.stores.s3.bodies import AwsBodies
from sigla.stores.s3.objects import Objects
from tests.cli.explaining import PAYLOAD, Captured, explained, framed, misused, stored
from tests.contract.engines import BUCKET, REGION, in_process
from tests.unit.journal.topic import schema, topic


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> str:
    return stored(tmp_path_factory.mktemp("explain") / "data")


# --- people ----------------------------------------------------------------------------------------------------------


def test_a_person_sees_frame_schema_plan_and_value(data: str, capsys: Captured) -> None:
    """In the order in which they are found; times as times, defaults filled in."""
    assert main(["explain", framed(2), "--reader", "3", "--data", data]) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[0] == "frame     id 2, 12 bytes of payload"
    assert "schema    orders-value version 1, AVRO, id 2" in out
    assert "reader    orders-value version 2, AVRO, id 3" in out
    plan = out[out.index("plan\n") : out.index("value\n")].splitlines()[1:]
    assert [line.split(maxsplit=1)[0] for line in plan] == ["id", "at", "price.cents", "note", "old", "state"]
    assert [line.rsplit("  ", 1)[-1] for line in plan] == [
        "same, as key", "converted", "same", "same, null is unreadable", "skipped", 'default "NEW"',
    ]  # fmt: skip
    value = json.loads(out[out.index("value\n") + 6 :])
    assert value == {"key": "o1", "at": "1970-01-01T00:00:01Z", "price": {"cents": 100}, "note": "hi", "state": "NEW"}


def test_a_person_is_shown_the_byte_at_which_it_fails(data: str, capsys: Captured) -> None:
    broken = PAYLOAD.replace(b"hi", b"h\xff")
    assert main(["explain", framed(2, broken), "--data", data]) == 1
    lines = capsys.readouterr().out.splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith("failure"))
    assert lines[at] == "failure   BAD_UTF8 at byte 10 of the payload"
    assert lines[at + 1].strip().startswith("note: no UTF-8")
    dump, mark = lines[at + 2 : at + 4]
    assert dump[mark.index("^^") :].startswith("ff")


def test_a_person_is_told_whatever_there_is(data: str, capsys: Captured) -> None:
    """Parts of all kinds: a null, bytes without a frame, messages by their path; numbers and texts as they are."""
    null = Explained(frame={"tombstone": True})
    assert [*as_text(null)] == ["frame     none: a null, which deletes its key"]
    assert main(["explain", "05", "--data", data]) == 1
    first, *_ = capsys.readouterr().out.splitlines()
    assert first == "failure   BAD_MAGIC at byte 0"
    assert main(["explain", "0000000063", "--data", data]) == 1
    assert "failure   UNKNOWN_ID\n" in capsys.readouterr().out
    assert main(["explain", framed(4, b"\x02\x02\x08\x07"), "--data", data]) == 0
    assert "id 4, message [1] Second, 2 bytes" in capsys.readouterr().out
    assert main(["explain", framed(4, b"\xff"), "--data", data]) == 1
    lines = capsys.readouterr().out.splitlines()
    at = lines.index("failure   BAD_MSG_INDEX at byte 5")
    dump, mark = lines[at + 2 : at + 4]
    assert dump[mark.index("^^") :].startswith("ff")
    big = f'{{"name": "né", "n": {2**80}}}'
    assert main(["explain", framed(5, big.encode()), "--data", data]) == 0
    out = capsys.readouterr().out
    assert json.loads(out[out.index("value\n") + 6 :]) == {"name": "né", "n": 2**80}
    assert "né" in out
    assert main(["explain", framed(1, b"\x0a"), "--context", ".other", "--data", data]) == 0
    assert "id 1 in .other" in capsys.readouterr().out


def test_the_mark_stands_below_its_byte_wherever_it_is() -> None:
    """Also past the end, where a payload was cut off."""
    for at in (0, 15, 16, 37, 39, 40):
        line, mark = hexdump(bytes(range(40)), at)
        byte = line[mark.index("^^") : mark.index("^^") + 2].strip()
        assert byte == ("" if at == 40 else f"{at:02x}")


# --- records ---------------------------------------------------------------------------------------------------------


def test_a_record_may_be_given_in_any_way(
    data: str, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it looks like is what it is, unless it is said."""
    raw = bytes.fromhex(framed(2))
    file = tmp_path / "record.bin"
    file.write_bytes(raw)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw)))
    ways = [
        [framed(2)],
        [f"0x{raw.hex(' ')}"],
        [base64.b64encode(raw).decode()],
        [str(file)],
        ["-"],
        [PAYLOAD.hex(), "--id", "2"],
        [base64.b64encode(raw).decode(), "--as", "base64"],
    ]
    values = [explained(capsys, *way, "--data", data)["value"]["id"] for way in ways]
    assert values == ["o1"] * len(ways)


def test_a_record_may_be_longer_than_the_name_of_a_file(data: str, capsys: Captured) -> None:
    """In hex and in base64; what is neither is still told in a sentence."""
    raw = bytes.fromhex(framed(5, json.dumps({"name": "x" * 5_000}).encode()))
    for record in (raw.hex(), base64.b64encode(raw).decode()):
        assert explained(capsys, record, "--data", data)["value"] == {"name": "x" * 5_000}
    assert "is neither a file nor hex nor base64" in misused(capsys, "!" * 5_000, "--data", data)
    assert "cannot be read (File name too long)" in misused(capsys, "!" * 5_000, "--as", "file", "--data", data)
    assert "cannot be read (embedded null byte)" in misused(capsys, "a\0b", "--as", "file", "--data", data)


def test_where_nothing_comes_in_there_is_no_record(
    data: str, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in `sigla explain - <&-`, and where standard input is for writing."""
    monkeypatch.setattr(sys, "stdin", None)
    assert "Standard input is closed" in misused(capsys, "-", "--data", data)
    with io.TextIOWrapper(io.BufferedReader(io.FileIO(os.open(os.devnull, os.O_WRONLY)))) as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        said = misused(capsys, "-", "--data", data)
        assert said == "sigla: Standard input cannot be read (Bad file descriptor).\n"


@pytest.mark.parametrize(
    "record, reason",
    [
        ("0500000001", "BAD_MAGIC"),
        ("000000", "SHORT_FRAME"),
        ("0000000063", "UNKNOWN_ID"),
        ("01" + "00" * 16, "UNKNOWN_GUID"),
        (framed(4, b"\xff"), "BAD_MSG_INDEX"),
        (framed(4, b"\x02\x0c\x08"), "BAD_MSG_INDEX"),
        (framed(2, PAYLOAD + b"\0"), "TRAILING_BYTES"),
        (framed(2, PAYLOAD[:4]), "DECODE_TRUNCATED"),
        (framed(5, b"{"), "JSON_INVALID"),
        (framed(5, b"{}"), "JSON_SCHEMA"),
        (framed(4, b"\x00\x0a"), "DECODE_TRUNCATED"),
    ],
)
def test_what_cannot_be_decoded_has_its_reason(record: str, reason: str, data: str, capsys: Captured) -> None:
    """The words of the quarantine: who finds a record there finds out more here."""
    found = explained(capsys, record, "--data", data, status=1)
    assert found["failure"]["reason"] == reason
    assert found["value"] is None


def test_a_protobuf_record_is_read_as_the_message_of_its_name(tmp_path: Path, capsys: Captured) -> None:
    """Wherever the reader's file has it; where it has none, what became of it is told."""
    data = str(tmp_path / "data")
    texts = (
        "message Money { string currency = 1; } message Order { string id = 1; message Line { string sku = 1; } }",
        "message Order { string key = 1; message Line { string sku = 1; } } message Money {}",
        "package shop; message Order {}",
    )
    with embedded(Settings(default_level="NONE"), Path(data)) as (registry, _):
        for text in texts:
            registry.register(Subject(".", "orders-value"), Draft(text=f'syntax = "proto3"; {text}', type="PROTOBUF"))
    order, line = "000000000102020a026f31", "00000000010402000a0173"
    found = explained(capsys, order, "--reader", "2", "--data", data)
    assert (found["frame"]["message"], found["value"]) == ("Order", {"key": "o1"})
    found = explained(capsys, line, "--reader", "2", "--data", data)
    assert (found["frame"]["message"], found["value"]) == ("Order.Line", {"sku": "s"})
    failure = explained(capsys, order, "--reader", "3", "--data", data, status=1)["failure"]
    assert failure == {
        "reason": "MESSAGE_GONE",
        "detail": "written as Order, and the reader's file has no message of this name; the message was moved: the "
        "reader's file has shop.Order",
        "at": None,
    }


def test_a_guid_names_a_schema_too(data: str, capsys: Captured) -> None:
    guid = explained(capsys, framed(2), "--data", data)["schema"]["guid"]
    found = explained(capsys, (b"\1" + UUID(guid).bytes + PAYLOAD).hex(), "--data", data)
    assert (found["frame"]["guid"], found["schema"]["id"], found["value"]["old"]) == (guid, 2, 7)


def test_the_path_to_a_message_begins_behind_the_guid_or_in_a_header(data: str, capsys: Captured) -> None:
    """What a header says wrongly is at no byte of the payload."""
    guid = UUID(explained(capsys, framed(4, b"\x00"), "--data", data)["schema"]["guid"])
    mark = b"\1" + guid.bytes
    failure = explained(capsys, (mark + b"\xff").hex(), "--data", data, status=1)["failure"]
    assert (failure["reason"], failure["at"]) == ("BAD_MSG_INDEX", 17)
    asked = Asked(Given(b"payload", ((VALUE_HEADER, mark + b"\xff"),)), "value", None, None, ".")
    with reading(Address.of(data)) as stores:
        found = explain.explained(asked, StoredSchemas(stores.bodies, stores.catalog))
    assert found.failure == {"reason": "BAD_MSG_INDEX", "detail": "the path to a message cannot be read", "at": None}


def test_a_language_that_is_not_ours_is_told(tmp_path: Path, capsys: Captured) -> None:
    """An import stores schemas of any type, as it found them."""
    dump, data = tmp_path / "dump.jsonl", str(tmp_path / "data")
    records = topic(schema("xml-value", 1, 1, "<schema/>", schemaType="XML"))
    lines = ({"offset": r.offset, "timestamp": r.ts, "key": r.key, "value": r.value} for r in records)
    dump.write_text("".join(json.dumps(line) for line in lines))
    assert main(["import", str(dump), "--data", data]) == 0
    for record in (framed(1), framed(1, b"")):
        failure = explained(capsys, record, "--data", data, status=1)["failure"]
        assert failure == {"reason": "BAD_SCHEMA", "detail": "unknown schema language XML", "at": None}


def test_ids_are_those_of_a_context(data: str, capsys: Captured) -> None:
    assert explained(capsys, framed(1, b"\x0a"), "--context", ".other", "--data", data)["value"] == 5


def test_all_languages_are_decoded(data: str, capsys: Captured) -> None:
    """A Protobuf frame says which message it is."""
    second = explained(capsys, framed(4, b"\x02\x02\x08\x07"), "--data", data)
    assert (second["frame"]["indexes"], second["value"]) == ([1], {"b": 7})
    assert explained(capsys, framed(5, b'{"name": "Ada"}'), "--data", data)["value"] == {"name": "Ada"}


def test_a_reader_that_cannot_read_is_a_failure_with_its_plan(data: str, capsys: Captured) -> None:
    """The plan says which field it is."""
    found = explained(capsys, framed(3, b""), "--reader", "2", "--data", data, status=1)
    assert found["failure"]["reason"] == "INCOMPATIBLE_READER"
    assert {line["path"]: line["how"] for line in found["plan"]}["old"] == "unreadable: no default"
    found = explained(capsys, framed(2), "--reader", "5", "--data", data, status=1)
    assert found["failure"]["reason"] == "TYPE_MISMATCH"


# --- registries ------------------------------------------------------------------------------------------------------


@pytest.fixture
def api(data: str) -> Iterator[str]:
    """The part of a registry's API that is asked, over the same data."""

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answer = told(urlsplit(self.path).path)
            body = json.dumps(answer if answer is not None else {"error_code": 40403, "message": "none"}).encode()
            self.send_response(404 if answer is None else 200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Silence."""

    with reading(Address.of(data)) as stores:
        money, order, proto = (stores.bodies.get(BodyKey(".", SchemaId(id))) for id in (1, 2, 4))
    uses = [{"name": "Money", "subject": "money", "version": 1}]
    versions = {
        "/subjects/money/versions/1": {"id": 1, "schema": money.schema.text},
        "/subjects/orders-value/versions/1": {"id": 2, "schema": order.schema.text, "references": uses},
        "/subjects/proto-value/versions/1": {"id": 4, "schema": proto.schema.text, "schemaType": "PROTOBUF"},
    }
    answers: dict[str, Any] = {f"/schemas/guids/{order.guid}/ids": [{"context": ".", "id": 2}]}
    for path, version in versions.items():
        subject = path.split("/")[2]
        answers[path] = {"subject": subject, "version": 1, **version}
        answers[f"/schemas/ids/{version['id']}/versions"] = [{"subject": subject, "version": 1}]
    answers["/schemas/ids/7/versions"] = [{"subject": "strange", "version": 1}]
    answers["/subjects/strange/versions/1"] = {"subject": "strange"}
    answers["/schemas/ids/8/versions"] = [{"subject": "circle", "version": 1}]
    circle = [{"name": "itself", "subject": "circle", "version": 1}]
    answers["/subjects/circle/versions/1"] = {
        "subject": "circle",
        "version": 1,
        "id": 8,
        "schema": '"int"',
        "references": circle,
    }
    answers["/schemas/ids/9/versions"] = [{"subject": "broken", "version": 1}]
    broken = {"subject": "broken", "version": 1, "id": 9, "schema": "message {", "schemaType": "PROTOBUF"}
    answers["/subjects/broken/versions/1"] = broken
    answers["/schemas/ids/10/versions"] = [{"subject": "xml", "version": 1}]
    xml = {"subject": "xml", "version": 1, "id": 10, "schema": "<schema/>", "schemaType": "XML"}
    answers["/subjects/xml/versions/1"] = xml
    told = answers.get
    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_schemas_may_come_from_any_registrys_api(api: str, capsys: Captured) -> None:
    """With their references, and compiled where the language needs it."""
    found = explained(capsys, framed(2), "--registry-url", api)
    assert (found["schema"]["subject"], found["schema"]["references"]) == ("orders-value", ["Money"])
    assert found["value"]["price"] == {"cents": 100}
    assert explained(capsys, framed(4, b"\x00\x0a\x01a"), "--registry-url", api)["value"] == {"a": "a"}
    assert explained(capsys, framed(99), "--registry-url", api, status=1)["failure"]["reason"] == "UNKNOWN_ID"
    assert explained(capsys, framed(9), "--registry-url", api, status=1)["failure"]["reason"] == "BAD_SCHEMA"
    assert explained(capsys, framed(10), "--registry-url", api, status=1)["failure"]["reason"] == "BAD_SCHEMA"
    again = explained(capsys, framed(2), "--reader", "2", "--registry-url", api)
    assert again["schema"] == again["reader"]
    guid = found["schema"]["guid"]
    assert explained(capsys, (b"\1" + UUID(guid).bytes + PAYLOAD).hex(), "--registry-url", api)["schema"]["id"] == 2


def test_an_api_that_makes_no_sense_is_misuse(api: str, capsys: Captured) -> None:
    """Also one whose schemas reference themselves."""
    for id in (7, 8):
        assert "not as a schema registry does" in misused(capsys, framed(id), "--registry-url", api)


def test_a_bucket_alone_says_what_an_id_means(data: str, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also while the table is silent: the version is that of whoever registered the schema first."""
    with in_process() as clients, closing(Objects(clients.s3, BUCKET, clock=SystemClock())) as objects:
        monkeypatch.setenv("AWS_DEFAULT_REGION", REGION)
        with reading(Address.of(data)) as stores:
            for key in (BodyKey(".", SchemaId(1)), BodyKey(".", SchemaId(2))):
                AwsBodies(objects).put(key, stores.bodies.get(key))
        found = explained(capsys, framed(2), "--bucket", BUCKET)
        assert (found["schema"]["subject"], found["schema"]["deleted"]) == ("orders-value", None)
        assert found["value"]["price"] == {"cents": 100}
        by_guid = (b"\1" + UUID(found["schema"]["guid"]).bytes + PAYLOAD).hex()
        assert explained(capsys, by_guid, "--bucket", BUCKET)["schema"]["id"] == 2
        assert explained(capsys, framed(3), "--bucket", BUCKET, status=1)["failure"]["reason"] == "UNKNOWN_ID"


# --- misuse ----------------------------------------------------------------------------------------------------------


def test_what_is_asked_wrongly_is_told_in_a_sentence(data: str, tmp_path: Path, capsys: Captured) -> None:
    assert "The record is missing" in misused(capsys)
    assert "The record is missing" in misused(capsys, "00", "--topic", "t")
    assert "--brokers" in misused(capsys, "--topic", "t")
    assert "--brokers" in misused(capsys, "--topic", "t", "--offset", "-1", "--brokers", "b")
    assert "neither a file nor hex nor base64" in misused(capsys, "what is this?")
    assert "neither a file nor hex" in misused(capsys, "zz", "--as", "hex")
    assert "cannot be read" in misused(capsys, str(tmp_path / "none"), "--as", "file")
    assert "--bucket" in misused(capsys, "00", "--table", "t")
    assert misused(capsys, "00", "--data", str(tmp_path / "nothing"))
    broken = ("--topic", "t", "--offset", "1", "--brokers", "b")
    assert "cannot be read" in misused(capsys, *broken, "--settings", str(tmp_path / "none"))


@pytest.mark.parametrize("record", [framed(5, b"{}")])
def test_a_library_that_is_not_installed_is_named_with_what_installs_it(
    record: str, data: str, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "jsonschema_rs", None)
    monkeypatch.delitem(sys.modules, "sigla.decoding.json_schema", raising=False)
    assert "pip install 'sigla-registry[pipelines]'" in misused(capsys, record, "--data", data)


def test_topics_are_read_by_a_library_that_is_named_where_it_lacks(
    data: str, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "confluent_kafka", None)
    told = misused(capsys, "--topic", "t", "--offset", "1", "--brokers", "b", "--data", data)
    assert "confluent-kafka" in told
    assert "pip install 'sigla-registry[kafka]'" in told


def test_a_context_has_its_dot(capsys: Captured) -> None:
    with pytest.raises(SystemExit) as refused:
        main(["explain", "00", "--context", "blue"])
    assert refused.value.code == 2
    assert "a context begins with a dot, so write .blue" in capsys.readouterr().err
