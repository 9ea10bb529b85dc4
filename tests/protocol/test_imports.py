"""What `sigla serve` has imported when it says that it listens: all that requests need."""

import subprocess
import sys

EXERCISE = """
import json, sys
from sigla import serving
from sigla.stores.sqlite.store import EmbeddedStore
from sigla.registry import Registry
from sigla.web import app
from tests.build import FixedClock
from tests.unit.web.conftest import Client

SCHEMAS = {
    "AVRO": ('{"type":"record","name":"R","fields":[]}', '{"type":"record","name":"S","fields":[]}'),
    "JSON": ('{"patternProperties":{"^(a|b)+$":{"type":"integer"}}}', '{"properties":{"ab":{"type":"string"}}}'),
    "PROTOBUF": (
        'syntax = "proto3"; import "google/protobuf/timestamp.proto"; message M { google.protobuf.Timestamp a = 1; }',
        'syntax = "proto3"; message M { string a = 1; }',
    ),
}
with EmbeddedStore() as store:
    client = Client(app.build(Registry(store.catalog, store.bodies, FixedClock())))
    client("GET", "/subjects")
    serving.import_languages()
    before = {*sys.modules}
    for kind, texts in SCHEMAS.items():
        for text in (*texts, "{]"):
            body = {"schema": text, "schemaType": kind}
            for path in ("/subjects/s%s/versions", "/subjects/s%s", "/compatibility/subjects/s%s/versions"):
                client("POST", path % kind, body)
        for form in ("", "?format=resolved", "?format=serialized"):
            client("GET", "/subjects/s%s/versions/1%s" % (kind, form))
    late = {name for name in {*sys.modules} - before if name.startswith(("sigla", "google"))}
    assert not late, sorted(late)
    assert client("GET", "/subjects").json == ["sAVRO", "sJSON", "sPROTOBUF"]
"""


def test_no_request_imports_anything_once_the_server_listens() -> None:
    """An import needs descriptors, and one that fails may be remembered: it misses until a restart."""
    subprocess.run([sys.executable, "-c", EXERCISE], check=True)
