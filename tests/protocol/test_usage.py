"""Who reads which schema, as people ask for it: the real server, keys, Confluent's own client, and the command."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from sigla import cli
from sigla.registry.usages import CACHING, NOT_COUNTING
from tests.protocol.clients.server import Server, run, serving
from tests.protocol.test_auth import a_key, authorization, client
from tests.waiting import eventually

ORDERS = {"schema": '{"type":"record","name":"Order","fields":[]}'}
TEXT = {"schema": '"string"'}
Captured = pytest.CaptureFixture[str]


def today() -> str:
    return datetime.now(UTC).date().isoformat()


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def keys(data: Path) -> dict[str, str]:
    roles = {"root": "admin", "billing": "reader", "audit": "reader"}
    return {name: a_key(data, name, "--role", role) for name, role in roles.items()}


@pytest.fixture
def server(data: Path, keys: dict[str, str]) -> Iterator[Server]:
    with serving(data, "--auth") as server:
        for subject in ("orders-value", "payments-value"):
            server.ask("POST", f"/subjects/{subject}/versions", ORDERS, authorization(keys["root"]))
        yield server


def readers(data: Path, capsys: Captured, subject: str = "orders-value") -> list[str]:
    """Who has read it, by the command on the directory."""
    capsys.readouterr()
    assert cli.main(["usage", "--data", str(data), "--subject", subject, "--json"]) == 0
    told: dict[str, Any] = json.loads(capsys.readouterr().out)
    return [read.get("name", read["by"]) for version in told["versions"] for read in version["reads"]]


def test_a_consumer_is_seen_by_whoever_wants_to_delete_what_it_reads(
    server: Server, data: Path, keys: dict[str, str], capsys: Captured
) -> None:
    with client(server, keys["billing"]) as reader:
        reader.get_schema(1, subject_name="orders-value")
    eventually(lambda: readers(data, capsys) == ["billing"])
    asked = run(
        "usage", "--registry", server.url, "--user", keys["root"], "--subject", "orders-value", "--version", "1"
    )
    assert asked.returncode == 0, asked.stderr
    lines = asked.stdout.splitlines()
    assert lines[:2] == ["orders-value 1 (id 1)", f"  last read by billing on {today()}, for orders-value"]
    assert f"- {CACHING}" in lines
    assert readers(data, capsys, "payments-value") == ["billing"]  # the id is its own, too


def test_what_was_read_is_there_after_the_server_was_killed(
    server: Server, data: Path, keys: dict[str, str], capsys: Captured
) -> None:
    """But for the last moment, which is in memory: `limits` says so."""
    for name in ("billing", "audit"):
        server.ask("GET", "/schemas/ids/1", headers=authorization(keys[name]))
    eventually(lambda: len(readers(data, capsys)) == 2)
    server.kill()
    with serving(data, "--auth") as again:
        told = again.ask("GET", "/subjects/orders-value/usage", headers=authorization(keys["root"])).json
    assert {read["name"] for read in told["versions"][0]["reads"]} == {"billing", "audit"}


def test_a_server_that_is_stopped_loses_no_read(
    server: Server, data: Path, keys: dict[str, str], capsys: Captured
) -> None:
    server.ask("GET", "/schemas/ids/1", headers=authorization(keys["billing"]))
    server.stop()
    assert readers(data, capsys) == ["billing"]


def test_reads_are_not_counted_where_the_setting_says_so(data: Path, capsys: Captured) -> None:
    with serving(data, settings={"SIGLA_USAGE": "false"}) as server:
        server.ask("POST", "/subjects/orders-value/versions", ORDERS)
        server.ask("GET", "/schemas/ids/1")
        told = server.ask("GET", "/subjects/orders-value/usage").json
    assert (told["counting"], told["limits"][0]) == (False, NOT_COUNTING)
    assert readers(data, capsys) == []


def test_every_zone_counts(data: Path, capsys: Captured) -> None:
    """Whichever instance answers, from whichever memory."""
    with serving(data, "--zones", "2") as server:
        for text in (ORDERS, TEXT):
            server.ask("POST", "/subjects/orders-value/versions", text)
            server.ask("PUT", "/config/orders-value", {"compatibility": "NONE"})
        for number, zone in enumerate(server.ask("GET", "/zones").json, start=1):
            server.port = int(zone["url"].rpartition(":")[2])
            server.ask("GET", f"/schemas/ids/{number}")
    assert readers(data, capsys) == ["anyone", "anyone"]


def test_each_of_several_registries_counts_its_own(data: Path, capsys: Captured) -> None:
    with serving(data, "--registry", "payments", "--registry", "ads") as server:
        for name in ("payments", "ads"):
            host = {"Host": f"{name}.localhost:{server.port}"}
            server.ask("POST", "/subjects/orders-value/versions", ORDERS, host)
        server.ask("GET", "/schemas/ids/1", headers=host)
    assert readers(data / "ads", capsys) == ["anyone"]
    assert readers(data / "payments", capsys) == []


def test_what_is_not_there_is_a_sentence(server: Server, data: Path, keys: dict[str, str], capsys: Captured) -> None:
    """The same behind a URL and in a directory."""
    capsys.readouterr()
    for where in (["--registry", server.url, "--user", keys["root"]], ["--data", str(data)]):
        for arguments, status, said in (
            (["--subject", "nope"], 1, "Subject 'nope' not found"),
            (["--subject", "orders-value", "--version", "7"], 1, "Version 7 not found"),
            (["--subject", "orders-value", "--version", "x"], 2, "The specified version 'x' is not a valid version id"),
        ):
            assert cli.main(["usage", *where, *arguments]) == status
            told = capsys.readouterr().err
            assert said in told
            assert told.count("\n") == 1


def test_a_registry_has_to_be_named(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SIGLA_URL", raising=False)
    assert cli.main(["usage", "--subject", "orders-value"]) == 2
    assert "give --registry URL" in capsys.readouterr().err
