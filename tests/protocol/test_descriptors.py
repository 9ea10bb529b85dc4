"""Descriptors run out: what needs one fails, and is well again as soon as there is one."""

import json
import resource
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPConnection
from pathlib import Path

import psutil
import pytest

from tests.protocol.clients.server import Server, ask, serving
from tests.waiting import PATIENCE_S, eventually

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the limits of another process are set on Linux only")


@contextmanager
def no_descriptor_left(server: Server, spare: int = 0) -> Iterator[None]:
    """The server may open no file and no connection meanwhile, but for a few."""
    process = psutil.Process(server.process.pid)
    before = process.rlimit(resource.RLIMIT_NOFILE)
    process.rlimit(resource.RLIMIT_NOFILE, (process.num_fds() + spare, before[1]))
    try:
        yield
    finally:
        process.rlimit(resource.RLIMIT_NOFILE, before)


SCHEMAS = {
    "AVRO": '{"type":"record","name":"R%d","fields":[{"name":"a","type":"int","default":1}]}',
    "JSON": '{"type":"object","title":"t%d","properties":{"a":{"type":"string","pattern":"^a+$"}}}',
    "PROTOBUF": 'syntax = "proto3"; import "google/protobuf/timestamp.proto"; message M%d { int32 a = 1; }',
}


@pytest.mark.parametrize("spare", [0, 1, 2])
def test_a_registry_without_descriptors_is_well_again_when_there_are_some(tmp_path: Path, spare: int) -> None:
    """It was read-only until a restart, and some requests failed for ever."""
    with serving(tmp_path / "data") as server:
        connection = HTTPConnection(server.host, server.port, timeout=PATIENCE_S)
        assert ask(connection, "GET", "/schemas/types").status == 200
        with no_descriptor_left(server, spare):
            for number, (kind, text) in enumerate(SCHEMAS.items()):
                body = {"schema": text % number, "schemaType": kind}
                for path in (f"/subjects/{kind}/versions", f"/compatibility/subjects/{kind}/versions"):
                    assert ask(connection, "POST", path, body).status in (200, 404, 500)
                for path in ("/subjects", "/schemas/ids/1", f"/subjects/{kind}/versions/latest", "/openapi.json"):
                    assert ask(connection, "GET", path).status in (200, 404, 500)
            with suppress(OSError):
                server.ask("GET", "/subjects")
        eventually(lambda: _answers(server))
        for number, (kind, text) in enumerate(SCHEMAS.items()):
            for version in range(2):
                body = {"schema": text % (number + 10 * version), "schemaType": kind}
                assert server.ask("PUT", f"/config/{kind}", {"compatibility": "NONE"}).status == 200
                assert server.ask("POST", f"/subjects/{kind}/versions", body).status == 200
            assert json.loads(server.ask("GET", f"/subjects/{kind}/versions").body)
        assert server.ask("GET", "/health/ready").status == 200
        connection.close()


def _answers(server: Server) -> bool:
    try:
        return server.ask("GET", "/subjects").status == 200
    except OSError:
        return False
