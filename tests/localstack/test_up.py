"""`make localstack`, as its user meets it: the deployed registry behind both doors, and nothing left afterwards."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import pytest
from confluent_kafka.schema_registry import Schema, SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.schema_registry.error import SchemaRegistryError
from confluent_kafka.schema_registry.protobuf import ProtobufSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
from google.protobuf.timestamp_pb2 import Timestamp

from localstack import up
from localstack.assembly import Assembly, Changed, deploy
from localstack.server import CREDENTIALS
from tests.localstack.conftest import THREE_ZONES, WORDS, Deployed, Door, deployment, gone

pytestmark = pytest.mark.localstack

DOORS = ("rest", "function")


@pytest.fixture(scope="module")
def clients(deployed: Deployed) -> Iterator[dict[str, SchemaRegistryClient]]:
    """Confluent's own, by the door that each goes through."""
    shown = f"{deployed.facts['key']}:{deployed.facts['secret']}"
    with ExitStack() as opened:
        settings = {name: {"url": deployed.facts[name], "basic.auth.user.info": shown} for name in DOORS}
        yield {name: opened.enter_context(SchemaRegistryClient(chosen)) for name, chosen in settings.items()}


def test_it_prints_the_doors_and_the_key_on_lines_of_their_own(deployed: Deployed) -> None:
    """For people to read and for scripts to cut; how to try it stands beside, on the other stream."""
    assert list(deployed.facts) == ["rest", "function", "key", "secret", *THREE_ZONES]
    lines = re.findall(r"^  curl .*$", deployed.told, re.MULTILINE)
    assert len(lines) == 2
    for line in lines:
        answered = subprocess.run(line.replace("curl", "curl -sf"), shell=True, capture_output=True, check=True)
        assert isinstance(json.loads(answered.stdout), list)


@pytest.mark.soak
def test_a_registry_without_zones_is_deployed_too(port: int) -> None:
    """A part of what the others here meet."""
    with deployment(port) as plain:
        assert list(plain.facts) == ["rest", "function", "key", "secret"]
        for name in DOORS:
            assert plain.door(name).ask("GET", "/subjects") == (200, [])
        started = plain.processes()
    gone(started)


@pytest.mark.parametrize("door, other", [DOORS, DOORS[::-1]], ids=DOORS)
def test_confluents_client_registers_evolves_and_reads(
    clients: dict[str, SchemaRegistryClient], door: str, other: str
) -> None:
    """Avro, as an application does it. What is written through one door is read at once through the other."""
    topic = f"orders-{door}"
    context = SerializationContext(topic, MessageField.VALUE)
    old = {"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"}]}
    note = {"name": "note", "type": "string", "default": ""}
    writer, reader = clients[door], clients[other]
    with pytest.raises(SchemaRegistryError) as absent:
        reader.get_latest_version(f"{topic}-value")
    assert absent.value.error_code == 40401
    first = AvroSerializer(writer, json.dumps(old))({"id": 1}, context)
    new = json.dumps({**old, "fields": [*old["fields"], note]})
    second = AvroSerializer(writer, new)({"id": 2, "note": "urgent"}, context)
    read = AvroDeserializer(reader, new)
    assert read(first, context) == {"id": 1, "note": ""}
    assert read(second, context) == {"id": 2, "note": "urgent"}
    assert reader.get_versions(f"{topic}-value") == [1, 2]
    broken = json.dumps({**old, "fields": [{"name": "id", "type": "string"}]})
    with pytest.raises(SchemaRegistryError) as refused:
        writer.register_schema(f"{topic}-value", Schema(broken, "AVRO"))
    assert refused.value.http_status_code == 409


@pytest.mark.parametrize("door, other", [DOORS, DOORS[::-1]], ids=DOORS)
def test_the_other_languages_too(clients: dict[str, SchemaRegistryClient], door: str, other: str) -> None:
    """JSON Schema by hand, Protobuf by its serializer."""
    text = json.dumps({"type": "object", "properties": {"id": {"type": "integer"}}, "title": door})
    id = clients[door].register_schema(f"invoices-{door}", Schema(text, "JSON"))
    found = clients[other].get_schema(id)
    assert (found.schema_type, json.loads(found.schema_str or "")) == ("JSON", json.loads(text))
    topic = f"times-{door}"
    serialize = ProtobufSerializer(Timestamp, clients[door], {"use.deprecated.format": False})
    assert serialize(Timestamp(seconds=1), SerializationContext(topic, MessageField.VALUE))
    assert clients[other].get_latest_version(f"{topic}-value").schema.schema_type == "PROTOBUF"


SUBJECTS = ("a%2Fb", "a%252Fb", "a%25b", "a+b", "a%2Bb", "a%20b", "gr%C3%BC%C3%9Fe-%E2%82%AC", "%2e%2e", "a%3Fb%23c")
"""As they stand in a path."""


@pytest.mark.parametrize("door, other", [DOORS, DOORS[::-1]], ids=DOORS)
@pytest.mark.parametrize("path", SUBJECTS)
def test_a_subject_is_what_was_sent(deployed: Deployed, door: str, other: str, path: str) -> None:
    """Percent signs, pluses and dots reach the registry as they were written, through both doors."""
    # Two dots are themselves only if nothing stands before them; one schema for both doors, which meet there.
    prefix = f"paths-{door}-" if not path.startswith("%2e") else ""
    status, registered = deployed.door(door).ask("POST", f"/subjects/{prefix}{path}/versions", {"schema": '"long"'})
    assert status == 200
    name = prefix + unquote(path)
    _, subjects = deployed.door(other).ask("GET", f"/subjects?subjectPrefix={quote(name, safe='')}")
    assert name in subjects
    status, latest = deployed.door(other).ask("GET", f"/subjects/{prefix}{path}/versions/latest")
    assert (status, latest["subject"], latest["id"]) == (200, name, registered["id"])


@pytest.mark.parametrize("door", DOORS)
def test_nobody_comes_in_without_a_key(deployed: Deployed, door: str) -> None:
    """Closed by default, with the envelope that clients know."""
    refused = (401, {"error_code": 401, "message": "Unauthorized"})
    assert deployed.door(door).without_key().ask("GET", "/subjects") == refused
    assert Door(deployed.facts[door], ("admin", "guessed")).ask("GET", "/subjects") == refused


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize(
    "request_, status",
    [
        (("GET", "/no/such/route"), 404),
        (("PATCH", "/subjects"), 405),
        (("POST", "/subjects/large/versions", {"schema": "x" * 4_100_000}), 413),
    ],
    ids=["unknown route", "wrong method", "too large"],
)
def test_what_cannot_be_served_is_refused_in_the_envelope(
    deployed: Deployed, door: str, request_: tuple[Any, ...], status: int
) -> None:
    """By whichever of gateway and registry refuses it."""
    answered, refusal = deployed.door(door).ask(*request_)
    assert (answered, refusal["error_code"]) == (status, status)
    assert refusal["message"]


@pytest.mark.parametrize("door, other", [DOORS, DOORS[::-1]], ids=DOORS)
def test_a_large_schema_comes_back_whole(deployed: Deployed, door: str, other: str) -> None:
    """Half a megabyte, through both doors."""
    text = json.dumps({"type": "enum", "name": "Large", "symbols": ["A"], "doc": f"{door} é" * 60_000})
    status, registered = deployed.door(door).ask("POST", f"/subjects/large-{door}/versions", {"schema": text})
    assert status == 200
    assert deployed.door(other).ask("GET", f"/schemas/ids/{registered['id']}/schema") == (200, json.loads(text))


def test_an_answer_that_does_not_fit_through_is_refused_and_its_pages_are_not(deployed: Deployed) -> None:
    """Lambda hands on six megabytes; the registry says what to do before Lambda would fail."""
    large = {"type": "enum", "name": "Huge", "symbols": ["A"]}
    for number in range(6):
        text = json.dumps({**large, "doc": str(number) * 1_000_000})
        door = deployed.door(DOORS[number % 2])
        assert door.ask("POST", f"/subjects/huge-{number}/versions", {"schema": text})[0] == 200
    for name in DOORS:
        status, refusal = deployed.door(name).ask("GET", "/schemas?subjectPrefix=huge-")
        assert (status, refusal["error_code"]) == (422, 42209)
        status, page = deployed.door(name).ask("GET", "/schemas?subjectPrefix=huge-&offset=2&limit=3")
        assert status == 200
        assert [found["subject"] for found in page] == ["huge-2", "huge-3", "huge-4"]


def test_a_crowd_before_both_doors_gets_one_id_per_text_and_no_gap(deployed: Deployed) -> None:
    """16 at once: eight texts under 16 subjects, and 16 versions of one subject."""
    rest = deployed.door("rest")
    assert rest.ask("PUT", "/config/crowd", {"compatibility": "NONE"})[0] == 200

    def register(number: int) -> tuple[int, int, int]:
        """The number of the text, its id, and the version of the subject that all share."""
        door = deployed.door(DOORS[number % 2])
        shared = json.dumps({"type": "fixed", "name": "Shared", "size": number % 8 + 1})
        own = json.dumps({"type": "fixed", "name": "Own", "size": number + 1})
        first, there = door.ask("POST", f"/subjects/crowd-{number}/versions", {"schema": shared})
        second, added = door.ask("POST", "/subjects/crowd/versions", {"schema": own})
        assert (first, second) == (200, 200), (there, added)
        return number % 8, there["id"], added["version"]

    with ThreadPoolExecutor(16) as crowd:
        came = list(crowd.map(register, range(16)))
    assert len({id for _, id, _ in came}) == len({(text, id) for text, id, _ in came}) == 8
    assert sorted(version for _, _, version in came) == list(range(1, 17))
    assert rest.ask("GET", "/subjects/crowd/versions") == (200, list(range(1, 17)))


def changed(assembly: Assembly, into: Path, handler: str) -> Assembly:
    """The same, with other code in the registry's function: what a developer's change comes to."""
    shutil.copytree(assembly.folder, into, ignore=shutil.ignore_patterns("asset.*"))
    registry = (up.ROOT / "functions/registry/handler.py").read_bytes()
    (code,) = (path.parent for path in assembly.folder.glob("asset.*/handler.py") if path.read_bytes() == registry)
    name = sha256(handler.encode()).hexdigest()
    (into / f"asset.{name}").mkdir()
    (into / f"asset.{name}" / "handler.py").write_text(handler)
    for other in {path.name for path in assembly.folder.glob("asset.*")} - {code.name}:
        (into / other).symlink_to(assembly.folder / other)
    for path in into.glob(f"{assembly.artifact}.*.json"):
        path.write_text(path.read_text().replace(code.name.removeprefix("asset."), name))
    return Assembly(into)


def test_changed_code_is_deployed_over_what_is_there(deployed: Deployed, tmp_path: Path) -> None:
    """Data and addresses stay. Code that fails is answered by the gateway, in the same envelope."""
    rest, there = deployed.door("rest"), Assembly(deployed.server.folder / "cdk.out")

    def put(assembly: Assembly) -> dict[str, str]:
        return deploy(assembly, endpoint=deployed.server.endpoint, credentials=CREDENTIALS)

    assert rest.ask("POST", "/subjects/kept/versions", {"schema": '"int"'})[0] == 200
    broken = "def handler(event, context):\n    raise ValueError('broken')\n"
    put(changed(there, tmp_path / "broken", broken))
    assert rest.ask("GET", "/subjects") == (502, {"error_code": 500, "message": "Internal Server Error"})
    assert put(there)["RestUrl"]
    assert rest.ask("GET", "/subjects/kept/versions") == (200, [1])


def test_once_more_says_the_same(
    deployed: Deployed, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same doors and the same key, also in a LocalStack that is given."""
    assembly = Assembly(deployed.server.folder / "cdk.out")
    monkeypatch.setattr(up, "synthesise", lambda *_: assembly)  # it has been, and takes longer than all the rest
    again_with = ["--port", str(deployed.server.port), *WORDS]
    monkeypatch.setattr(sys, "argv", ["localstack.up", *again_with])
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    assert up.main() == 0
    again = capsys.readouterr().out.splitlines()
    assert again == [f"{name}: {value}" for name, value in deployed.facts.items()]
    monkeypatch.setenv("AWS_ENDPOINT_URL", deployed.server.endpoint)
    assert up.main() == 0
    given = capsys.readouterr().out.splitlines()
    assert given == again


def test_more_than_code_is_refused(deployed: Deployed, tmp_path: Path) -> None:
    """LocalStack's CloudFormation could not bring the stack there; who deploys begins anew."""
    there = Assembly(deployed.server.folder / "cdk.out")
    shutil.copytree(there.folder, tmp_path / "other", ignore=shutil.ignore_patterns("asset.*"))  # none is asked for
    other = Assembly(tmp_path / "other")
    template = json.loads(other.template.read_text())
    template["Description"] = "another stack"
    other.template.write_text(json.dumps(template))
    with pytest.raises(Changed):
        deploy(other, endpoint=deployed.server.endpoint, credentials=CREDENTIALS)
