"""What the log and the counters are told of requests that an application answers."""

from collections.abc import Iterator

import pytest

from sigla.observe import Seen, request
from sigla.registry import Registry
from sigla.stores.sqlite.store import EmbeddedStore
from sigla.web import app
from sigla.web.local.metrics import Counters
from tests.build import FixedClock, a_text
from tests.unit.web.conftest import Client


@pytest.fixture
def told() -> list[Seen]:
    return []


@pytest.fixture
def counters() -> Counters:
    return Counters()


@pytest.fixture
def watched(told: list[Seen], counters: Counters) -> Iterator[Client]:
    with EmbeddedStore() as store:
        registry = Registry(store.catalog, store.bodies, FixedClock())
        yield Client(app.build(registry, options=app.HttpOptions(watchers=(told.append, counters))))


def deleted(counters: Counters) -> int:
    (line,) = (line for line in counters.text().splitlines() if line.startswith("kafka_schema_registry_deleted_count "))
    return int(line.split()[1])


def test_deleted_versions_are_counted_softly_and_for_good(watched: Client, counters: Counters) -> None:
    """Each of them counts a whole subject, as the reference does; what is refused deletes nothing."""
    for name in ("A", "B", "C"):
        body = {"schema": a_text(name)}
        assert watched("POST", "/subjects/s/versions?force=true", body).status == 200
    assert watched("DELETE", "/subjects/s/versions/1").json == 1
    assert deleted(counters) == 1
    assert watched("DELETE", "/subjects/s").json == [2, 3]
    assert deleted(counters) == 3
    assert watched("DELETE", "/subjects/s").status == 404
    assert watched("DELETE", "/subjects/s/versions/1?permanent=true").json == 1
    assert watched("DELETE", "/subjects/s?permanent=true").json == [2, 3]
    assert deleted(counters) == 6


def test_the_log_of_a_404_names_the_class_of_its_path(watched: Client, told: list[Seen]) -> None:
    """A known route has its template, as ever."""
    for target in ("/dek-registry/v1", "/secret", "/subjects/s/versions", "/subjects/s/nope"):
        watched("GET", target)
    assert [request(seen)["route"] for seen in told] == [
        "GET /dek-registry/*",
        "GET /*",
        "GET /subjects/{subject}/versions",
        "GET /subjects/*",
    ]
