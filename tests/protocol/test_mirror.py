"""`sigla mirror` beside a registry that clients write to: killed, begun again, and moved over."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest
from confluent_kafka.schema_registry import Schema, SchemaRegistryClient

from tests.protocol.clients.forked import Forked
from tests.protocol.clients.server import Server, environment, serving
from tests.waiting import eventually

pytestmark = pytest.mark.process

AVRO = '{"type":"record","name":"R","fields":[{"name":"f%s","type":"string","default":""}]}'
WHOLE = ("/mode", "/mode/:.__GLOBAL:")


@contextmanager
def mirroring(source: str, data: Path, *options: str, hurried: bool = False) -> Iterator[Server]:
    """The command, in a process of its own. hurried: of `Fork`."""
    every = () if source.startswith("kafka://") else ("--every", "0.1")
    process = Server(Forked(["mirror", source, "--data", str(data), *every, *options], environment(), hurried=hurried))
    try:
        yield process
    finally:
        if process.alive():
            process.kill()


def answers_alike(one: Server, other: Server, path: str) -> bool:
    ours, theirs = one.ask("GET", path), other.ask("GET", path)
    return (ours.status, ours.json) == (theirs.status, theirs.json)


def register(source: Server, *numbers: int) -> None:
    for number in numbers:
        assert source.ask("POST", f"/subjects/s{number % 7}/versions", {"schema": AVRO % number}).status == 200


def test_a_registry_is_moved_without_a_client_that_notices(tmp_path: Path) -> None:
    """Clients register all the time; the mirror is killed, begun again, stopped, and then moves over by itself."""
    data = tmp_path / "data"
    with serving() as source:
        source.ask("PUT", "/config", {"compatibility": "NONE"})
        register(source, *range(20))
        with mirroring(source.url, data) as mirror:
            mirror.wait_for(lambda told: "In step: 7 subjects, 20 versions." in told.output)
            register(source, *range(20, 30))
            mirror.wait_for(lambda told: "brought" in told.output.partition("In step")[2])
            mirror.kill()
        with mirroring(source.url, data) as mirror:
            mirror.wait_for(lambda told: "In step: 7 subjects, 30 versions." in told.output)
            mirror.stop()
            assert "run it again" in mirror.output
        with mirroring(source.url, data, "--cut-over") as mirror:
            mirror.wait_for(lambda told: told.output.endswith(f"{source.url}/mode"))
            register(source, *range(30, 40))
            assert source.ask("DELETE", "/subjects/s6").status == 200
            for path in WHOLE:
                assert source.ask("PUT", path, {"mode": "READONLY"}).status == 200
            assert mirror.wait() == 0, mirror.said
            assert "Moved over: 7 subjects, 40 versions." in mirror.output
        with serving(data) as target:
            paths = [f"/schemas/ids/{id}" for id in range(1, 42)] + ["/subjects", "/subjects?deleted=true"]
            paths += [f"/subjects/s{number}/versions/latest" for number in range(7)]
            for path in paths:
                assert answers_alike(target, source, path), path
            with SchemaRegistryClient({"url": target.url}) as client:
                assert client.register_schema("s0", Schema(AVRO % 0)) == 1
                assert client.register_schema("s0", Schema(AVRO % 40)) == 41


def test_the_way_back_is_an_exporter_in_the_other_direction(tmp_path: Path) -> None:
    """As docs/migrate.md has it: the old registry is in step with the new one, and takes clients again."""
    with serving() as old:
        register(old, *range(10))
        for path in WHOLE:
            old.ask("PUT", path, {"mode": "READONLY"})
        with mirroring(old.url, tmp_path / "data", "--cut-over") as mirror:
            assert mirror.wait() == 0, mirror.said
        with serving(tmp_path / "data") as new:
            for path in WHOLE:
                assert old.ask("PUT", f"{path}?force=true", {"mode": "IMPORT"}).status == 200
            form = {"name": "back", "subjects": [":*:*"], "contextType": "NONE"}
            assert new.ask("POST", "/exporters", {**form, "config": {"schema.registry.url": old.url}}).status == 200
            register(new, 10, 11)
            assert new.ask("DELETE", "/subjects/s1").status == 200
            for path in ("/schemas/ids/12/schema", "/subjects/s4/versions", "/subjects/s4/versions/latest/schema"):
                eventually(partial(answers_alike, old, new, path))
            eventually(lambda: old.ask("GET", "/subjects/s1/versions").status == 404)
            assert new.ask("PUT", "/exporters/back/pause", {}).status == 200
            for path in WHOLE:
                assert old.ask("PUT", path, {"mode": "READWRITE"}).status == 200
            register(old, 12)
            assert old.ask("GET", "/subjects/s5/versions/latest").json["id"] == 13


def test_a_source_that_goes_away_is_waited_for(tmp_path: Path) -> None:
    """A registry is restarted now and then; the mirror says so and goes on."""
    first, data = tmp_path / "source", tmp_path / "data"
    with serving(first) as source:
        register(source, 1)
        with mirroring(source.url, data, hurried=True) as mirror:
            mirror.wait_for(lambda told: "In step: 1 subject" in told.output)
            source.stop()
            mirror.wait_for(lambda told: "It is tried again." in told.banner)
            with serving(first, "--port", str(source.port)) as again:
                register(again, 2)
                mirror.wait_for(lambda told: "brought 1 version" in told.output.partition("In step")[2])
            mirror.stop()
