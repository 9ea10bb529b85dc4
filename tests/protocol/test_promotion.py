"""Two servers of one registry change places, and one is lost and comes back, while Confluent's client has both URLs."""

import json
from pathlib import Path
from typing import Any

from confluent_kafka.schema_registry import Schema, SchemaRegistryClient

from sigla import opening
from sigla.regions import rules
from sigla.regions.nouns import KnownBy, RegionKind, Role
from sigla.settings import Address
from tests.protocol.clients.server import Server, run, serving

SOON = {"retries.wait.ms": 10, "retries.max.wait.ms": 10}
"""Of Confluent's client, which else waits for seconds before it asks another URL."""


def schema(*fields: str) -> Schema:
    form = {"type": "record", "name": "Order", "fields": [{"name": n, "type": "int", "default": 0} for n in fields]}
    return Schema(json.dumps(form), "AVRO")


def port_of(server: Server) -> str:
    return server.url.rpartition(":")[2]


def done(*words: str) -> str:
    """What a command says that ends well."""
    ended = run(*words, "--yes")
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def text_of(url: str, id: int) -> Any:
    with SchemaRegistryClient({"url": url}) as fresh:
        return json.loads(fresh.get_schema(id).schema_str or "")


def test_a_region_is_promoted_is_lost_and_comes_back(tmp_path: Path) -> None:
    """Registered, evolved, read: each id means the same at every moment, and nothing that was acknowledged is lost."""
    a, b = (f"file:{tmp_path / name}" for name in "ab")
    meaning: dict[int, Schema] = {}

    def register(client: SchemaRegistryClient, subject: str, *fields: str) -> int:
        id = client.register_schema(subject, schema(*fields))
        assert meaning.setdefault(id, schema(*fields)) == schema(*fields)
        return id

    with serving(tmp_path / "a") as first, serving(tmp_path / "b", "--follow", first.url) as second:
        ports, urls = (port_of(first), port_of(second)), f"{second.url},{first.url}"
        with SchemaRegistryClient({"url": urls, **SOON}) as client:
            register(client, "orders-value", "a")
            register(client, "orders-value", "a", "b")

    # B takes over by plan.
    told = done("promote", b, "--primary", a, "--url", second.url)
    assert "is the primary of epoch 2" in told
    with serving(tmp_path / "b", "--port", ports[1]) as second:
        with (
            serving(tmp_path / "a", "--port", ports[0]) as first,
            SchemaRegistryClient({"url": urls, **SOON}) as client,
            SchemaRegistryClient({"url": first.url}) as through,
        ):
            assert client.get_latest_version("orders-value").version == 2
            assert register(client, "orders-value", "a", "b", "c") == rules.BLOCK + 1
            assert register(through, "orders-value", "a", "b", "c", "d") == rules.BLOCK + 2, "A sends it on"
            for id, known in meaning.items():
                for url in (first.url, second.url):
                    assert text_of(url, id) == json.loads(known.schema_str or "")
        # A is down for a moment; what B acknowledges now, A never hears of.
        with SchemaRegistryClient({"url": second.url}) as client:
            lost = register(client, "lost-value", "only", "b")
            register(client, "orders-value", "a", "b", "c", "d", "e")
        second.kill()

    # B is lost.
    told = done("promote", a, "--force")
    assert "is the primary of epoch 3, by force" in told
    with serving(tmp_path / "a", "--port", ports[0]) as first, SchemaRegistryClient({"url": urls, **SOON}) as client:
        assert register(client, "orders-value", "a", "b", "c", "d", "z") == 2 * rules.BLOCK + 1
        assert first.ask("GET", f"/schemas/ids/{lost}").json["error_code"] == 50003, "B may have it"

    # B comes back.
    ended = run("rejoin", b, "--primary", a, "--report", str(tmp_path / "report"), "--yes")
    assert ended.returncode == 1, ended.stderr
    assert "orders-value version 5: the number is taken here" in ended.stdout
    with (
        serving(tmp_path / "a", "--port", ports[0]) as first,
        serving(tmp_path / "again", "--follow", first.url) as second,
        SchemaRegistryClient({"url": f"{second.url},{first.url}"}) as client,
    ):
        for id, known in meaning.items():
            for url in (first.url, second.url):
                assert text_of(url, id) == json.loads(known.schema_str or "")
        assert client.get_latest_version("lost-value").schema_id == lost
        assert register(client, "orders-value", "a", "z2") == 2 * rules.BLOCK + 2


def test_what_only_one_region_takes_is_refused_by_the_other_with_50003(tmp_path: Path) -> None:
    """A primary that was passed over, and is served again, takes no writes once it was closed."""
    a, b = (f"file:{tmp_path / name}" for name in "ab")
    with serving(tmp_path / "a") as first, serving(tmp_path / "b", "--follow", first.url):
        body = {"schema": json.dumps("int")}
        assert first.ask("POST", "/subjects/a/versions", body).status == 200
    assert "The other region is closed." in done("promote", b, "--primary", a, "--force")
    with serving(tmp_path / "a") as first:
        answer = first.ask("POST", "/subjects/a/versions", {"schema": json.dumps("long")})
        assert (answer.status, answer.json["error_code"]) == (500, 50003)
        assert first.ask("GET", "/subjects/a/versions/1").status == 200


def test_a_follower_whose_data_do_not_say_where_its_primary_is_served_says_what_to_do(tmp_path: Path) -> None:
    with opening.directory(Address.of(data=str(tmp_path))) as store:
        assert store.region.set_role(None, Role(1, RegionKind.FOLLOWER, peer=KnownBy("machine:/srv/b")))
    refused = run("serve", "--port", "0", "--data", str(tmp_path))
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
    assert "give its URL with --follow." in refused.stderr
