"""What a function imports before its first request: each import is a part of every cold start."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# What only the other way to run the registry needs, or what waits until it is asked for.
NOT_NEEDED = (
    "sigla.stores.sqlite.database",
    "sigla.stores.sqlite.store",
    "sigla.stores.sqlite.keys",
    "sigla.languages.avro",
    "sigla.languages.json_schema",
    "sigla.languages.protobuf",
    "sigla.web.local.server",
    "sqlite3",
    "uvicorn",
)
DEPLOYED = {
    "AWS_ACCESS_KEY_ID": "test",
    "AWS_SECRET_ACCESS_KEY": "test",
    "AWS_DEFAULT_REGION": "us-east-1",
    "SIGLA_TABLE": "table",
    "SIGLA_BUCKET": "bucket",
    "SIGLA_IDENTITY": "a" * 32,
}


@pytest.mark.parametrize("registries", ["", "default,ads"], ids=["alone", "pool"])
def test_a_deployed_function_imports_no_embedded_store(registries: str) -> None:
    """Nor a server, nor a language before a schema of it is met; and it opens no connection before it is asked."""
    asked = f"import sys, functions.registry.handler; print([each for each in {NOT_NEEDED} if each in sys.modules])"
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "SIGLA_"))}
    ran = subprocess.run(
        [sys.executable, "-c", asked],
        cwd=ROOT,
        env=environment | DEPLOYED | {"AWS_ENDPOINT_URL": "http://127.0.0.1:9", "SIGLA_REGISTRIES": registries},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.strip() == "[]"
