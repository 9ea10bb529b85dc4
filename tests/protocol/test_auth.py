"""Keys as people use them: the real command, the real server, Confluent's own client."""

import json
import shlex
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path

import pytest
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.schema_registry.error import SchemaRegistryError
from confluent_kafka.serialization import SerializationError

from sigla import cli
from tests.protocol.clients.server import Server, run, serving
from tests.protocol.clients.shop import NOTED_ORDER, ORDER, another, avro, value_of
from tests.waiting import eventually

MESSAGE = {"number": 1, "customer": "Ada"}


def a_key(data: Path, name: str, *more: str) -> str:
    """`name:secret`, as clients want it. By the command's own code, in this process: one story starts the command."""
    with redirect_stdout(StringIO()) as told:
        assert cli.main(["keys", "create", name, "--data", str(data), "--json", *more]) == 0
    return shown(told.getvalue())


def shown(created: str) -> str:
    told = json.loads(created)
    return f"{told['key']}:{told['secret']}"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("registry") / "data"


@pytest.fixture(scope="module")
def server(data: Path) -> Iterator[Server]:
    with serving(data, "--auth") as server:
        yield server


@contextmanager
def client(server: Server, key: str) -> Iterator[SchemaRegistryClient]:
    with another(server, basic_auth_user_info=key) as client:
        yield client


def refusal(raised: SchemaRegistryError) -> tuple[int, int]:
    return raised.http_status_code, raised.error_code


def test_a_producer_writes_and_a_consumer_reads_with_their_keys(server: Server, data: Path) -> None:
    """Made while the server runs, and good at once."""
    of_orders = ("--data", str(data), "--json", "--role", "writer", "--subjects", "orders-")
    made = run("keys", "create", "producer", *of_orders)
    assert made.returncode == 0, made.stderr
    producing = shown(made.stdout)
    consuming = a_key(data, "consumer", "--subjects", "orders-")
    with client(server, producing) as producer, client(server, consuming) as consumer:
        sent = AvroSerializer(producer, json.dumps(ORDER))(MESSAGE, value_of("orders-eu"))
        assert AvroDeserializer(consumer)(sent, value_of("orders-eu")) == MESSAGE
        assert consumer.get_subjects() == ["orders-eu-value"]
        assert consumer.get_compatibility() == "BACKWARD"


def test_a_client_is_told_what_it_may_not(server: Server, data: Path) -> None:
    """In the client's own exception, with the number and the sentence it knows."""
    with client(server, a_key(data, "reading", "--subjects", "orders-")) as reader:
        for forbidden in (
            lambda: reader.register_schema("orders-eu-value", avro(NOTED_ORDER)),
            lambda: reader.get_latest_version("invoices-value"),
            lambda: reader.set_compatibility("orders-eu-value", "NONE"),
            lambda: reader.delete_subject("orders-eu-value"),
        ):
            with pytest.raises(SchemaRegistryError, match="User is denied operation") as raised:
                forbidden()
            assert refusal(raised.value) == (403, 40301)
        with pytest.raises(SchemaRegistryError, match="on Subject: payments-value") as raised:
            AvroSerializer(reader, json.dumps(ORDER))(MESSAGE, value_of("payments"))
        assert refusal(raised.value) == (403, 40301)


def test_a_writer_deletes_if_its_key_says_so(server: Server, data: Path) -> None:
    """Its client is told what it may not; what it may it does, in the same server."""
    writer, deleter = a_key(data, "w", "--role", "writer"), a_key(data, "d", "--role", "writer", "--delete")
    with client(server, writer) as registering, client(server, deleter) as deleting:
        registering.register_schema("passing-value", avro(ORDER))
        with pytest.raises(SchemaRegistryError, match="denied operation Delete on Subject: passing-value") as raised:
            registering.delete_subject("passing-value")
        assert refusal(raised.value) == (403, 40301)
        assert deleting.delete_subject("passing-value") == [1]
        with pytest.raises(SchemaRegistryError, match="denied operation Admin"):
            deleting.delete_subject("passing-value", permanent=True)


def test_a_rotated_key_works_with_both_secrets_and_says_when_it_was_used(server: Server, data: Path) -> None:
    """While the server runs: the other secret is good at once, and the one before is until it ends."""
    before = a_key(data, "rotated")
    with client(server, before) as old:
        assert old.get_compatibility() == "BACKWARD"
        rotated = run("keys", "rotate", "rotated", "--data", str(data), "--json")
        assert rotated.returncode == 0, rotated.stderr
        with client(server, shown(rotated.stdout)) as new:
            assert new.get_subjects() == old.get_subjects()
    ended = run("keys", "rotate", "rotated", "--for", "0", "--data", str(data), "--json")
    with client(server, shown(ended.stdout)) as new:
        assert new.get_compatibility() == "BACKWARD"
    eventually(lambda: used(data, "rotated"))


def used(data: Path, name: str) -> str:
    """The day that `sigla keys list` tells of a key."""
    with redirect_stdout(StringIO()) as told:
        assert cli.main(["keys", "list", "--data", str(data), "--json"]) == 0
    return next(str(key["used"] or "") for key in json.loads(told.getvalue()) if key["key"] == name)


def test_an_expired_key_is_a_wrong_one_and_the_log_says_why(server: Server, data: Path) -> None:
    """It ends while its client is connected."""
    end = datetime.now(UTC) + timedelta(seconds=2)
    key = a_key(data, "passing", "--expires", end.isoformat())
    with server.kept() as ask:
        assert ask("GET", "/subjects", headers=authorization(key)).status == 200
        eventually(lambda: ask("GET", "/subjects", headers=authorization(key)).status == 401)
        told = ask("GET", "/subjects", headers=authorization(key))
        wrong = ask("GET", "/subjects", headers=authorization("passing:wrong"))
    assert datetime.now(UTC) >= end
    assert (told.status, told.body) == (wrong.status, wrong.body)
    server.wait_for(lambda server: "The key passing opens nothing, because it expired at " in server.output)


@pytest.mark.parametrize("key", ["nobody:secret", "producer2:wrong"])
def test_a_client_without_a_good_key_is_told_so(server: Server, data: Path, key: str) -> None:
    if key.startswith("producer2"):
        a_key(data, "producer2")
    with client(server, key) as stranger, pytest.raises(SchemaRegistryError, match="Unauthorized") as raised:
        stranger.get_subjects()
    assert refusal(raised.value) == (401, 401)
    with another(server) as nobody, pytest.raises(SchemaRegistryError, match="Unauthorized"):
        nobody.get_subjects()


def test_a_consumer_of_others_cannot_read_their_records(server: Server, data: Path) -> None:
    """The id is in the record; knowing it is not enough."""
    with client(server, a_key(data, "owner", "--role", "writer")) as owner:
        sent = AvroSerializer(owner, json.dumps(ORDER))(MESSAGE, value_of("salaries"))
    curious_key = a_key(data, "curious", "--subjects", "orders-")
    with client(server, curious_key) as curious, pytest.raises((SchemaRegistryError, SerializationError)) as raised:
        AvroDeserializer(curious)(sent, value_of("salaries"))
    assert "denied" in str(raised.value) or "not found" in str(raised.value)


def test_probes_need_no_key_and_metrics_do(server: Server, data: Path) -> None:
    assert {server.ask("GET", path).status for path in ("/health", "/health/live", "/", "/openapi.json")} == {200}
    told = server.ask("GET", "/metrics")
    assert (told.status, told.json["error_code"]) == (401, 401)
    assert told.headers["www-authenticate"].startswith("Basic ")
    with server.kept() as ask:
        key = a_key(data, "prometheus")
        assert ask("GET", "/metrics", headers=authorization(key)).status == 200


def authorization(key: str) -> dict[str, str]:
    return {"Authorization": f"Basic {b64encode(key.encode()).decode()}"}


def test_neither_keys_nor_secrets_are_in_the_log(server: Server, data: Path) -> None:
    key = a_key(data, "logged")
    sent = {**authorization(key), "X-Request-ID": "mine-and-only-mine"}
    assert server.ask("GET", "/subjects", headers=sent).status == 200
    server.wait_for(lambda server: "mine-and-only-mine" in server.output)
    assert key.partition(":")[2] not in server.said
    assert sent["Authorization"] not in server.said


def test_keys_outlive_the_server(tmp_path: Path) -> None:
    with serving(tmp_path, "--auth") as server:
        assert "sigla keys create" in server.banner, "whoever has no key is told how to make one"
    key = a_key(tmp_path, "orders")
    for _ in range(2):
        with serving(tmp_path, "--auth") as server:
            assert "sigla keys create" not in server.banner
            assert server.ask("GET", "/subjects", headers=authorization(key)).status == 200


def test_the_commands_of_the_banner_run_as_printed_where_keys_are_asked_for(tmp_path: Path) -> None:
    """The first key goes where this registry looks for it, and the first question is one that is answered."""
    with serving(tmp_path / "the data", "--auth") as server:
        _, made, _ = server.banner.split("`")
        _, *words = shlex.split(made.replace("NAME", "chief"))
        told = run(*words)
        assert told.returncode == 0, told.stderr
        secret = told.stdout.split()[-1]
        (line,) = [line for line in server.banner.splitlines() if line.startswith("  try ")]
        _, *asked = shlex.split(line.replace("NAME", "chief").replace("SECRET", secret))
    assert asked == ["curl", "-u", f"chief:{secret}", f"{server.url}/subjects"]


def test_a_revoked_key_is_refused_by_who_has_not_just_accepted_it(tmp_path: Path) -> None:
    key = a_key(tmp_path, "orders")
    assert run("keys", "revoke", "orders", "--data", str(tmp_path)).returncode == 0
    with serving(tmp_path, "--auth") as server:
        assert server.ask("GET", "/subjects", headers=authorization(key)).status == 401


def test_a_registry_that_others_can_reach_does_not_start_open_by_mistake(tmp_path: Path) -> None:
    """It says what to do about it, and has touched nothing."""
    data = tmp_path / "data"
    done = run("serve", "--port", "0", "--host", "0.0.0.0", "--data", str(data))
    assert done.returncode == 2
    assert "--auth" in done.stderr
    assert "SIGLA_AUTH=none" in done.stderr
    assert not data.exists()


def test_an_open_registry_says_so_at_every_start(tmp_path: Path) -> None:
    """Also where no request is logged: who opened it may be long gone."""
    quiet = {"SIGLA_AUTH": "none", "SIGLA_LOG_REQUESTS": "false"}
    with serving(tmp_path, "--host", "0.0.0.0", settings=quiet) as server:
        assert server.ask("GET", "/subjects", headers={"host": "registry.example"}).status == 200
        assert "open" in server.banner
        sent = {"origin": "http://evil.example"}
        assert server.ask("POST", "/subjects/a/versions", {"schema": '"int"'}, headers=sent).status == 403
        assert server.ask("GET", "/subjects").body == b"[]"
    (line,) = server.lines
    assert json.loads(line)["event"] == "open"


def test_a_registry_that_only_this_machine_reaches_is_open() -> None:
    """Trying it takes no key; nothing in the log."""
    with serving(None) as server:
        assert server.ask("GET", "/subjects").status == 200
    assert not [line for line in server.lines if '"open"' in line]


def test_the_setting_closes_a_registry_like_the_option(tmp_path: Path) -> None:
    with serving(tmp_path, settings={"SIGLA_AUTH": "keys"}) as server:
        assert server.ask("GET", "/subjects").status == 401
    with serving(tmp_path, "--auth", settings={"SIGLA_AUTH": "none"}) as server:
        assert server.ask("GET", "/subjects").status == 401


def test_what_makes_no_sense_is_refused_before_anything_starts() -> None:
    """Keys that go with the process, an invalid setting."""
    for done, word in (
        (run("serve", "--auth", "--memory"), "--data"),
        (run("serve", "--memory", SIGLA_AUTH="maybe"), "auto, keys, none"),
    ):
        assert done.returncode == 2
        assert word in done.stderr
