"""The client of Redpanda Console, in Go, against a running registry: what its pages on schemas ask, page by page."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.certificates import Authority
from tests.protocol.clients.server import environment, serving
from tests.protocol.test_auth import a_key

GO = Path(__file__).parent.parent / "go"

FIRST = '{"type":"record","name":"Order","fields":[{"name":"id","type":"long"}]}'
SECOND = f'{FIRST[:-2]},{{"name":"note","type":"string","default":""}}]}}'

TOLD = f"""\
types AVRO,JSON,PROTOBUF
created 1 1 2 2 1 3
mode READWRITE
level BACKWARD
no level of its own true
no mode of its own true
set level FULL FULL
check false true
used by carts-value 1
usages 1 orders-value 1
subjects carts-value,orders-value
versions [1] [1 2]
schema 1 1 AVRO {FIRST}
schema 2 2 AVRO {SECOND}
latest 1
by id true
in use true
deleted orders-value carts-value,orders-value
for good orders-value
by prefix orders-value
"""


def built(package: Path, folder: Path) -> Path:
    """The program of a package. What it imports comes from the module proxy that Go is told of, once per machine."""
    go = shutil.which("go")
    if go is None:
        pytest.skip("Go is not installed here: clients in Go need it")
    program = folder / "program"
    run = subprocess.run([go, "build", "-o", program, "."], cwd=package, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return program


@pytest.fixture(scope="module")
def console(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(GO, tmp_path_factory.mktemp("go"))


@pytest.mark.soak
@pytest.mark.parametrize("door", ["open", "with a key", "over TLS"])
def test_redpanda_console_finds_what_its_pages_show(console: Path, tmp_path: Path, door: str) -> None:
    """Its lists are made of several answers each: what is deleted, levels that are not set, who uses what."""
    data, authority, options = tmp_path / "data", None, [] if door == "open" else ["--auth"]
    settings = {"REGISTRY_KEY": "" if door == "open" else a_key(data, "console", "--role", "admin")}
    if door == "over TLS":
        authority = Authority.made(tmp_path)
        (tmp_path / "pair").mkdir()
        pair = authority.pair(tmp_path / "pair")
        options += ["--tls-cert", str(pair.cert), "--tls-key", str(pair.key)]
        settings["SSL_CERT_FILE"] = str(authority.file)  # Go asks it, as OpenSSL does
    with serving(data, *options, authority=authority.file if authority else None) as server:
        asked = subprocess.run(
            [console, server.url], env=environment(**settings), capture_output=True, text=True, check=False
        )
    assert (asked.returncode, asked.stderr, asked.stdout) == (0, "", TOLD)
