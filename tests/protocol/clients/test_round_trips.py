"""The first message of a topic, with Confluent's serializers as they come: what they ask, counted in the access log.

They ask for the subject of the topic before anything else, in both directions. Nothing of it may be refused, and
nothing logged by either side.
"""

import base64
import json
import logging
import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import count
from typing import Any, Final

import pytest
from confluent_kafka.schema_registry import (
    AssociationCreateOrUpdateInfo,
    AssociationCreateOrUpdateRequest,
    SchemaRegistryClient,
)
from confluent_kafka.schema_registry.avro import AvroDeserializer
from google.protobuf.json_format import MessageToDict

from tests import npm
from tests.protocol.clients import json_schemas, protobufs
from tests.protocol.clients.server import Server, serving
from tests.protocol.clients.shop import ORDER, another, avro, id_in, value_of, written
from tests.protocol.clients.test_javascript_client import NODE

TOPIC: Final = "orders"
ADA = {"number": 7, "customer": "Ada"}
POINT = {"latitude": 51.5}
PARCEL = {"to": "Ada"}

FIND_SUBJECT = "GET /associations/resources/{namespace}/{resource}"
REGISTER = "POST /subjects/{subject}/versions"
READ_BY_ID = "GET /schemas/ids/{id}"
READ_LATEST = "GET /subjects/{subject}/versions/{version}"

Asked = Counter[str]
"""How often each route was asked."""

_last = count(1)


def asked(server: Server) -> Asked:
    """The log is a moment behind: a last request shows that nothing is missing."""
    last = f"last-{next(_last)}"
    server.ask("GET", "/mode", headers={"X-Request-ID": last})
    server.wait_for(lambda server: f'"{last}"' in server.output)
    lines = [json.loads(line) for line in server.lines if '"event":"request"' in line]
    refused = [line for line in lines if line["status"] >= 400]
    assert not refused
    return Counter(line["route"] for line in lines if line["route"] not in ("GET /health/ready", "GET /mode"))


def subjects_in(server: Server) -> set[str]:
    """All that were asked for by name."""
    return {line["subject"] for line in map(json.loads, server.lines) if "subject" in line}


@pytest.fixture
def fresh() -> Iterator[Server]:
    """A registry that has answered no client yet."""
    with serving(None) as server:
        yield server


def avro_trip(client: SchemaRegistryClient, reader: SchemaRegistryClient, _: Any) -> tuple[Any, Any]:
    message = written(client, TOPIC, ORDER, ADA, {})
    return AvroDeserializer(reader)(message, value_of(TOPIC)), ADA


def json_trip(client: SchemaRegistryClient, reader: SchemaRegistryClient, _: Any) -> tuple[Any, Any]:
    schema = {"title": "Parcel", "type": "object", "properties": {"to": {"type": "string"}}}
    message = json_schemas.sent(client, TOPIC, schema, PARCEL)
    return json_schemas.received(reader, TOPIC, message), PARCEL


def protobuf_trip(client: SchemaRegistryClient, reader: SchemaRegistryClient, bazaar: Any) -> tuple[Any, Any]:
    message = protobufs.sent(client, TOPIC, bazaar.geo.Point(**POINT))
    return MessageToDict(protobufs.received(reader, TOPIC, bazaar.geo.Point, message)), POINT


@pytest.mark.parametrize("trip", [avro_trip, json_trip, protobuf_trip])
def test_a_round_trip_in_python_is_four_requests_without_a_warning(
    fresh: Server, bazaar: Any, caplog: pytest.LogCaptureFixture, trip: Any
) -> None:
    """Two for the subject, which are answered by an empty list, one that registers, one that reads."""
    caplog.set_level(logging.WARNING)
    with another(fresh) as client, another(fresh) as reader:
        read, sent = trip(client, reader, bazaar)
    assert read == sent
    assert asked(fresh) == {FIND_SUBJECT: 2, REGISTER: 1, READ_BY_ID: 1}
    assert subjects_in(fresh) == {"orders-value"}
    assert not caplog.records


@dataclass(frozen=True)
class Association:
    """How the topic has its subject."""

    lifecycle: str
    subject: str

    def make(self, client: SchemaRegistryClient) -> None:
        """As whoever creates topics does it: a strong one brings its schema, a weak one finds it."""
        if self.lifecycle == "WEAK":
            client.register_schema(self.subject, avro(ORDER))
            wanted: dict[str, Any] = {"subject": self.subject}
        else:
            wanted = {"schema": avro(ORDER)}
        info = AssociationCreateOrUpdateInfo(association_type="value", lifecycle=self.lifecycle, **wanted)
        client.create_association(AssociationCreateOrUpdateRequest(TOPIC, "lkc-1", "topic-1", "topic", [info]))


WEAK, STRONG = Association("WEAK", "shared"), Association("STRONG", ":.lkc-1:orders-value")
PLAIN = {"AVRO": ADA, "JSON": PARCEL, "PROTOBUF": POINT}
LATEST = {"useLatestVersion": True}


@dataclass(frozen=True)
class Trip:
    """What JavaScript sent and read of a case, and what its registry was asked for it meanwhile."""

    message: bytes
    read: list[Any]
    warned: list[str]
    failed: str | None
    server: Server
    before: Asked

    @property
    def asked(self) -> Asked:
        """By JavaScript alone."""
        return asked(self.server) - self.before


@pytest.fixture(scope="module")
def trips(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Trip]]:
    """By the language of a plain trip, or the lifecycle of an association. One Node for all, a registry for each."""
    node, installed, folder = npm.node_program(), npm.installed(NODE), tmp_path_factory.mktemp("office")
    protobufs.descriptors(folder / "bazaar.binpb")
    with ExitStack() as servers:
        begun: dict[str, tuple[Server, Asked]] = {}
        cases = []
        for language, order in PLAIN.items():
            server = servers.enter_context(serving(None))
            begun[language] = server, Counter()
            conf = {"useLatestVersion": False, "autoRegisterSchemas": True}
            cases.append(case(server, language, order, conf))
        for association in (WEAK, STRONG):
            server = servers.enter_context(serving(None))
            with another(server) as client:
                association.make(client)
                message = written(client, TOPIC, ORDER, ADA, {"auto.register.schemas": False})
            begun[association.lifecycle] = server, asked(server)
            cases.append(case(server, "AVRO", ADA, LATEST, message))
        (folder / "cases.json").write_text(json.dumps(cases), encoding="utf-8")
        words = [node, str(NODE / "round_trips.cjs"), cases[0]["url"], str(folder)]
        run = subprocess.run(words, cwd=installed, capture_output=True, text=True, check=False)
        assert run.returncode == 0, run.stderr
        told = [json.loads(line) for line in run.stdout.splitlines() if line.startswith("{")]
        yield {
            name: Trip(base64.b64decode(line.pop("message", "")), line.pop("read", []), **line, server=one, before=seen)
            for (name, (one, seen)), line in zip(begun.items(), told, strict=True)
        }


def case(server: Server, language: str, order: Any, conf: Any, message: bytes | None = None) -> dict[str, Any]:
    posted = None if message is None else base64.b64encode(message).decode()
    return {
        "url": server.url,
        "language": language,
        "conf": conf,
        "topic": TOPIC,
        "order": order,
        "message": posted,
    }


@pytest.mark.parametrize("language", PLAIN)
def test_a_round_trip_in_javascript_is_five_requests_without_a_warning(trips: dict[str, Trip], language: str) -> None:
    """One registers and one reads. Three are for the subject, which the consumer asks for again with the schema."""
    trip = trips[language]
    assert (trip.failed, trip.warned) == (None, [])
    assert trip.read == [PLAIN[language]]
    assert trip.asked == {FIND_SUBJECT: 3, REGISTER: 1, READ_BY_ID: 1}
    assert subjects_in(trip.server) == {"orders-value"}


@pytest.mark.parametrize("association", [WEAK, STRONG], ids=lambda association: association.lifecycle)
def test_clients_that_never_met_find_one_subject_by_the_association_of_their_topic(
    trips: dict[str, Trip], association: Association
) -> None:
    """Python writes and JavaScript reads, then the other way round. The topic's own name is never asked for."""
    trip = trips[association.lifecycle]
    assert (trip.failed, trip.warned) == (None, [])
    assert trip.read == [ADA, ADA]
    assert trip.asked == {FIND_SUBJECT: 6, READ_LATEST: 1, READ_BY_ID: 2}
    with another(trip.server) as client:
        assert AvroDeserializer(client)(trip.message, value_of(TOPIC)) == ADA
        assert id_in(trip.message) == client.get_latest_version(association.subject).schema_id
    assert subjects_in(trip.server) == {association.subject}
