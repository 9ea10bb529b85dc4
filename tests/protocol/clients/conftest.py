from collections.abc import Iterator
from itertools import count
from types import SimpleNamespace

import pytest
from confluent_kafka.schema_registry import SchemaRegistryClient

from tests.protocol.clients.protobufs import generate, imported
from tests.protocol.clients.server import Server, serving
from tests.protocol.clients.shop import another

_topics = count(1)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One durable registry for a whole file: each story keeps to subjects of its own, as teams do."""
    with serving(tmp_path_factory.mktemp("registry") / "data") as server:
        yield server


@pytest.fixture
def topic() -> str:
    """A topic of this test alone."""
    return f"topic{next(_topics)}"


@pytest.fixture
def client(server: Server) -> Iterator[SchemaRegistryClient]:
    with another(server) as client:
        yield client


@pytest.fixture(scope="session")
def bazaar(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimpleNamespace]:
    """The modules that protoc makes of protos/bazaar. Once for all: a process has one pool for generated classes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(generate(tmp_path_factory.mktemp("generated")))
        yield imported()
