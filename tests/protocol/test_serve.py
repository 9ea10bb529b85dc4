"""`sigla serve` as its user meets it: what it says, what it refuses to do, what it tells monitors, and many at once."""

import gzip
import json
import shlex
import subprocess
import uuid
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

from sigla import __version__
from tests.protocol.clients.server import V1, Server, ask, command, environment, run, serving
from tests.waiting import PATIENCE_S


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("registry") / "data", typed=True) as server:
        yield server


def assert_misuse(done: "subprocess.CompletedProcess[str]", *words: str) -> None:
    """Exit code 2 and one sentence, which tells what is wrong."""
    assert done.returncode == 2, done.stderr
    lines = done.stderr.strip().splitlines()
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("sigla: ")
    for word in words:
        assert word in lines[0]


def text(name: str) -> str:
    return json.dumps({"type": "record", "name": name, "fields": []})


def register(server: Server, subject: str, name: str) -> dict[str, Any]:
    answer = server.ask("POST", f"/subjects/{subject}/versions", {"schema": text(name)})
    assert answer.status == 200, answer
    told: dict[str, Any] = answer.json
    return told


# --- at the terminal -------------------------------------------------------------------------------------------------


def test_the_banner_says_where_data_lives_and_how_to_point_a_client_at_it(tmp_path: Path) -> None:
    data = tmp_path / "here"
    with serving(data, typed=True) as server:
        assert f"Sigla {__version__}" in server.banner
        assert str(data) in server.banner
        assert f"schema.registry.url={server.url}" in server.banner
        for page in ("/subjects", "/docs", "/metrics", "/health"):
            assert f"{server.url}{page}" in server.banner
            assert server.ask("GET", page).status == 200


def test_in_memory_nothing_is_left_behind(tmp_path: Path) -> None:
    with serving(None, cwd=tmp_path) as server:
        assert "memory" in server.banner
        register(server, "orders-value", "Order")
    with serving(None, cwd=tmp_path) as server:
        assert server.ask("GET", "/subjects").json == []
    assert list(tmp_path.iterdir()) == []


def test_what_was_registered_is_there_after_a_restart(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as server:
        told = register(server, "orders-value", "Order")
        assert server.ask("PUT", "/config/orders-value", {"compatibility": "FULL"}).status == 200
        assert server.ask("PUT", "/mode/frozen", {"mode": "READONLY"}).status == 200
    with serving(tmp_path / "data") as server:
        assert server.ask("GET", f"/schemas/ids/{told['id']}").json["schema"] == told["schema"]
        assert server.ask("GET", "/config/orders-value").json == {"compatibilityLevel": "FULL"}
        assert server.ask("GET", "/mode/frozen").json == {"mode": "READONLY"}
        assert register(server, "orders-value", "Order")["id"] == told["id"]


@pytest.mark.parametrize("arguments", [(), ("--help",), ("serve", "--help"), ("--version",)], ids=" ".join)
def test_help_is_a_page_on_standard_output(arguments: tuple[str, ...]) -> None:
    done = subprocess.run(command(*arguments), env=environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert done.stderr == ""
    assert done.stdout.strip()
    assert max(len(line) for line in done.stdout.splitlines()) <= 120
    if "serve" in arguments:
        for said in ("--host", "--port", "--data", "--memory", "SIGLA_DEFAULT_LEVEL"):
            assert said in done.stdout


def test_data_in_use_is_refused_and_not_touched(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with serving(data) as server:
        register(server, "orders-value", "Order")
        assert_misuse(run("serve", "--port", "0", "--data", str(data)), str(data))
        register(server, "orders-value", "Order")


def test_a_port_in_use_is_refused(server: Server, tmp_path: Path) -> None:
    done = run("serve", "--port", str(server.port), "--data", str(tmp_path / "data"))
    assert_misuse(done, f"Cannot listen on 127.0.0.1:{server.port} (Address already in use); choose another")


@pytest.mark.parametrize(
    "settings, words",
    [
        ({"SIGLA_DEFUALT_LEVEL": "FULL"}, ("SIGLA_DEFUALT_LEVEL", "SIGLA_DEFAULT_LEVEL")),
        ({"SIGLA_DEFAULT_LEVEL": "SIDEWAYS"}, ("SIGLA_DEFAULT_LEVEL", "SIDEWAYS", "FULL_TRANSITIVE")),
        ({"SIGLA_SCHEMA_BYTES": "much"}, ("SIGLA_SCHEMA_BYTES", "much", "number")),
        ({"SIGLA_SCHEMA_BYTES": "-1"}, ("SIGLA_SCHEMA_BYTES", "-1", "0 or more")),
        ({"SIGLA_LOG_REQUESTS": "perhaps"}, ("SIGLA_LOG_REQUESTS", "perhaps", "true or false")),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_a_wrong_setting_is_refused_by_name(tmp_path: Path, settings: dict[str, str], words: tuple[str, ...]) -> None:
    assert_misuse(run("serve", "--port", "0", "--data", str(tmp_path / "data"), **settings), *words)


@pytest.mark.parametrize("port", ["65536", "-1", "http", "٣"])
def test_a_port_that_is_none_is_refused(port: str) -> None:
    done = run("serve", "--port", port, "--memory")
    assert done.returncode == 2
    assert port in done.stderr


def test_a_host_that_is_not_here_is_refused() -> None:
    assert_misuse(run("serve", "--port", "0", "--memory", "--host", "192.0.2.1"), "192.0.2.1")


def test_a_host_without_a_name_is_refused() -> None:
    """An unset variable must not mean every address of the machine."""
    done = run("serve", "--port", "0", "--memory", "--host", "", SIGLA_AUTH="none")
    assert done.returncode == 2
    assert "--host: it is empty" in done.stderr


def test_too_few_descriptors_are_no_damage(tmp_path: Path) -> None:
    """No operator should restore a sound directory from its backup."""
    starting = shlex.join(command("serve", "--port", "0", "--data", str(tmp_path / "data")))
    done = subprocess.run(
        ["sh", "-c", f"ulimit -n 8; exec {starting}"], env=environment(), capture_output=True, text=True, check=False
    )
    assert_misuse(done, "Too many open files", "ulimit -n")
    assert "backup" not in done.stderr


def test_a_data_directory_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("mine")
    assert_misuse(run("serve", "--port", "0", "--data", str(tmp_path / "data")), str(tmp_path / "data"))
    assert (tmp_path / "data").read_text() == "mine"


def test_a_data_directory_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    """Where no user can write, not even root."""
    assert_misuse(run("serve", "--port", "0", "--data", "/proc/sigla"), "/proc/sigla")


def test_a_directory_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "letters.txt").write_text("mine")
    with serving(tmp_path) as server:
        register(server, "orders-value", "Order")
    assert (tmp_path / "letters.txt").read_text() == "mine"


# --- monitors --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/health", "/health/live", "/health/ready"])
@pytest.mark.parametrize("accept", ["*/*", "text/html", "application/vnd.nobody+json"])
def test_probes_ask_as_they_like(server: Server, path: str, accept: str) -> None:
    answer = server.ask("GET", path, headers={"Accept": accept})
    assert (answer.status, answer.json) == (200, {"status": "up"})
    assert server.ask("HEAD", path).status == 200


def metrics(server: Server) -> dict[str, float]:
    answer = server.ask("GET", "/metrics", headers={"Accept": "text/plain;version=0.0.4"})
    assert answer.status == 200
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    samples = [line.rpartition(" ") for line in answer.body.decode().splitlines() if line and not line.startswith("#")]
    assert len({name for name, _, _ in samples}) == len(samples), "a name with its labels is told once"
    return {name: float(value) for name, _, value in samples}


def test_dashboards_made_for_the_reference_find_their_numbers(server: Server) -> None:
    before = metrics(server)
    register(server, "measured", "Measured")
    assert server.ask("GET", "/subjects/unmeasured/versions").status == 404
    after = metrics(server)
    assert after["kafka_schema_registry_master_slave_role"] == 1
    assert after["kafka_schema_registry_node_count"] == 1
    grown = {name: after[name] - before[name] for name in before if name in after}
    assert grown["kafka_schema_registry_registered_count"] == 1
    assert grown["kafka_schema_registry_api_success_count"] >= 1
    assert grown["kafka_schema_registry_api_failure_count"] == 1


def test_the_page_of_metrics_says_what_every_number_is(server: Server) -> None:
    page = server.ask("GET", "/metrics").body.decode().splitlines()
    said = {line.split()[2] for line in page if line.startswith("# HELP")}
    typed = {line.split()[2] for line in page if line.startswith("# TYPE")}
    told = {line.partition("{")[0].partition(" ")[0] for line in page if line and not line.startswith("#")}
    bases = {name.removesuffix("_bucket").removesuffix("_sum").removesuffix("_count") for name in told} | told
    assert said == typed
    assert said <= bases


def log_line(server: Server, request_id: str) -> dict[str, Any]:
    server.wait_for(lambda server: request_id in server.output)
    (line,) = [line for line in server.lines if request_id in line]
    told: dict[str, Any] = json.loads(line)
    return told


def test_every_request_leaves_one_line_of_json(server: Server) -> None:
    told = register(server, "logged", "Logged")
    request_id = f"id-{uuid.uuid4()}"
    answer = server.ask("GET", f"/schemas/ids/{told['id']}", headers={"X-Request-ID": request_id})
    line = log_line(server, request_id)
    assert (
        line.items()
        >= {
            "event": "request",
            "route": "GET /schemas/ids/{id}",
            "status": 200,
            "id": str(told["id"]),
            "bytes": len(answer.body),
            "request_id": request_id,
        }.items()
    )
    assert line["took_ms"] >= 0


def test_the_line_of_a_refusal_tells_its_number_and_its_subject(server: Server) -> None:
    request_id = f"id-{uuid.uuid4()}"
    server.ask("GET", "/subjects/unlogged/versions", headers={"X-Request-ID": request_id})
    line = log_line(server, request_id)
    assert (line["status"], line["error_code"], line["subject"]) == (404, 40401, "unlogged")
    assert line["route"] == "GET /subjects/{subject}/versions"


def test_no_line_tells_a_schema_or_a_credential(server: Server) -> None:
    request_id = f"id-{uuid.uuid4()}"
    headers = {"X-Request-ID": request_id, "Authorization": "Basic c2VjcmV0OnNlY3JldA=="}
    server.ask("POST", "/subjects/secrets/versions", {"schema": text("Confidential")}, headers)
    log_line(server, request_id)
    assert "Confidential" not in server.output
    assert "c2VjcmV0" not in server.output


def test_lines_can_be_turned_off() -> None:
    with serving(None, settings={"SIGLA_LOG_REQUESTS": "false"}) as server:
        server.ask("GET", "/subjects")
    assert server.lines == []


# --- HTTP ------------------------------------------------------------------------------------------------------------


def test_a_request_id_comes_back_and_otherwise_one_is_made(server: Server) -> None:
    assert server.ask("GET", "/subjects", headers={"X-Request-ID": "mine"}).headers["x-request-id"] == "mine"
    made = [
        server.ask("GET", "/subjects", headers=sent).headers["x-request-id"] for sent in ({}, {"X-Request-ID": " "})
    ]
    assert len({uuid.UUID(one) for one in made}) == 2


@pytest.mark.parametrize("path", ["/schemas/ids/{id}", "/schemas/ids/{id}/schema", "/schemas/guids/{guid}"])
def test_what_an_id_means_is_sent_once_to_those_who_keep_it(server: Server, path: str) -> None:
    path = path.format(**register(server, "tagged", "Tagged"))
    first = server.ask("GET", path)
    tag = first.headers["etag"]
    again = server.ask("GET", path, headers={"If-None-Match": tag})
    assert (again.status, again.body, again.headers["etag"]) == (304, b"", tag)
    for other in (f'W/{tag}, "x"', "*"):
        assert server.ask("GET", path, headers={"If-None-Match": other}).status == 304
    assert server.ask("GET", path, headers={"If-None-Match": '"another"'}).body == first.body


def test_a_tag_changes_when_the_answer_does(server: Server) -> None:
    """The answer by id names a subject: when that one is deleted, a client must not keep what it has."""
    told = register(server, "changing", "Changing")
    tag = server.ask("GET", f"/schemas/ids/{told['id']}").headers["etag"]
    assert server.ask("DELETE", "/subjects/changing").status == 200
    changed = server.ask("GET", f"/schemas/ids/{told['id']}", headers={"If-None-Match": tag})
    assert changed.status == 200
    assert changed.json["deleted"] is True


def test_those_who_read_gzip_get_it(server: Server) -> None:
    told = register(server, "packed", "Packed")
    path = f"/schemas/ids/{told['id']}"
    plain, packed = server.ask("GET", path), server.ask("GET", path, headers={"Accept-Encoding": "br, gzip;q=0.5"})
    assert packed.headers["content-encoding"] == "gzip"
    assert gzip.decompress(packed.body) == plain.body
    assert "content-encoding" not in plain.headers
    assert plain.headers["vary"] == packed.headers["vary"] == "Accept-Encoding"
    assert plain.headers["etag"] != packed.headers["etag"], "two representations, two tags"
    refused = server.ask("GET", path, headers={"Accept-Encoding": "gzip;q=0"})
    assert refused.body == plain.body


def test_the_type_of_an_answer_is_the_one_asked_for(server: Server) -> None:
    for asked, told in (
        ("*/*", V1),
        ("application/json", "application/json"),
        ("text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2", V1),
        ("application/vnd.schemaregistry+json, application/json;q=0.1", "application/vnd.schemaregistry+json"),
    ):
        assert server.ask("GET", "/subjects", headers={"Accept": asked}).headers["content-type"] == told


def test_a_connection_serves_many_requests(server: Server) -> None:
    connection = HTTPConnection(server.host, server.port, timeout=PATIENCE_S)
    connection.connect()
    kept = connection.sock
    for _ in range(100):
        assert ask(connection, "POST", "/subjects/kept/versions", {"schema": text("Kept")}).status == 200
        assert connection.sock is kept
    connection.close()
