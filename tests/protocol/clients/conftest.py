from collections.abc import Iterator

import pytest

from tests.protocol.clients.server import Server, serving


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One durable registry for a whole file: each story keeps to subjects of its own, as teams do."""
    with serving(tmp_path_factory.mktemp("registry") / "data") as server:
        yield server
