from collections.abc import Iterator
from itertools import count

import pytest
from confluent_kafka.schema_registry import SchemaRegistryClient

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
    """A topic nobody else uses."""
    return f"topic{next(_topics)}"


@pytest.fixture
def client(server: Server) -> Iterator[SchemaRegistryClient]:
    with another(server) as client:
        yield client
