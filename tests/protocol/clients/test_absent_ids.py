"""Confluent's client meets an id that only the lost region has: it asks again, and reads the record once that is back.

With 404 it would give the record up at once.
"""

import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from confluent_kafka.schema_registry import SchemaRegistryClient, SchemaRegistryError
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer

from tests.protocol.clients.server import Server, run, serving
from tests.protocol.clients.shop import value_of
from tests.protocol.test_bodies_in_step import Link, local, nothing_new, registered
from tests.waiting import eventually

SCHEMA = json.dumps({"type": "record", "name": "Order", "fields": [{"name": "n", "type": "int"}]})
WAITS = {"retries.wait.ms": 20, "retries.max.wait.ms": 200}


@pytest.mark.parametrize("ends", ["it is back", "it is given up"])
def test_a_consumer_asks_again_for_an_id_that_only_the_lost_region_has(tmp_path: Path, ends: str) -> None:
    with serving(tmp_path / "a") as a, closing(Link(a)) as link, serving(tmp_path / "b", "--follow", link.url) as b:
        first = registered(a, "first", "int")
        eventually(lambda: local(b, f"/schemas/ids/{first}/versions").status == 200)
        link.alter = nothing_new
        with SchemaRegistryClient({"url": a.url}) as producer:
            record = AvroSerializer(producer, SCHEMA)({"n": 7}, value_of("orders"))
        a.kill()
        assert run("promote", b.url, "--force", "--yes").returncode == 0
        with SchemaRegistryClient({"url": b.url, "max.retries": 2, **WAITS}) as hasty:
            with pytest.raises(SchemaRegistryError) as refused:
                AvroDeserializer(hasty)(record, value_of("orders"))
            assert (refused.value.http_status_code, refused.value.error_code) == (500, 50003)
            assert _refused(b) >= 3, "it has asked again"
            with (
                SchemaRegistryClient({"url": b.url, "max.retries": 1000, **WAITS}) as patient,
                ThreadPoolExecutor(1) as consumer,
            ):
                reading = consumer.submit(AvroDeserializer(patient), record, value_of("orders"))
                before = _refused(b)
                eventually(lambda: _refused(b) > before)
                if ends == "it is given up":
                    assert run("regions", "abandon", b.url, "--yes").returncode == 0
                    with pytest.raises(SchemaRegistryError) as refused:
                        reading.result(60)
                    assert (refused.value.http_status_code, refused.value.error_code) == (404, 40403)
                    return
                with serving(tmp_path / "a", "--port", str(a.port)) as again:
                    report = str(tmp_path / "report")
                    ended = run("rejoin", again.url, "--primary", b.url, "--report", report, "--yes")
                    assert ended.returncode in (0, 1), ended.stderr
                    assert reading.result(60) == {"n": 7}
                    assert AvroDeserializer(hasty)(record, value_of("orders")) == {"n": 7}
                    with pytest.raises(SchemaRegistryError) as refused:
                        hasty.get_schema(77)
                    assert refused.value.http_status_code == 404, "now it is nowhere"


def _refused(server: Server) -> int:
    """How many questions for ids it has refused so."""
    lines = server.ask("GET", "/metrics").body.decode().splitlines()
    counted = (line for line in lines if line.startswith("sigla_requests_total{"))
    asked = (line for line in counted if 'route="/schemas/ids/{id}"' in line and 'status="500"' in line)
    return sum(int(float(line.split()[-1])) for line in asked)
