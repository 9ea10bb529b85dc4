"""How often storage is asked: docs/architecture.md tells it, and here it is counted."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sigla.model import LATEST, Draft, SchemaId, Subject
from sigla.registry import Registry
from sigla.stores.clock import SystemClock
from sigla.stores.sqlite.store import EmbeddedStore

PAGE = Path(__file__).parents[2] / "docs" / "architecture.md"
ORDERS = Subject(".", "orders-value")


class Counted:
    """A store that notes what it is asked."""

    def __init__(self, store: object, asked: list[str]) -> None:
        self._store = store
        self._asked = asked

    def __getattr__(self, name: str) -> Callable[..., Any]:
        verb = getattr(self._store, name)

        def noted(*arguments: Any, **options: Any) -> Any:
            self._asked.append(name)
            return verb(*arguments, **options)

        return noted


@pytest.fixture
def asked() -> list[str]:
    return []


@pytest.fixture
def registry(asked: list[str]) -> Iterator[Registry]:
    with EmbeddedStore() as store:
        catalog: Any = Counted(store.catalog, asked)
        bodies: Any = Counted(store.bodies, asked)
        yield Registry(catalog, bodies, SystemClock())


def an_order(fields: int) -> Draft:
    """A schema that every other of these can read."""
    listed = ",".join(f'{{"name":"f{number}","type":"int","default":0}}' for number in range(fields))
    return Draft(f'{{"type":"record","name":"Order","fields":[{listed}]}}')


def spelled_otherwise(draft: Draft) -> Draft:
    return Draft(f" {draft.text}")


REQUESTS: dict[str, Callable[[Registry], object]] = {
    "the first version of a subject": lambda registry: registry.register(Subject(".", "new"), an_order(9)),
    "the next version of a subject": lambda registry: registry.register(ORDERS, an_order(3)),
    "the newest version again, sent as canonical text": lambda registry: registry.register(ORDERS, an_order(2)),
    "the newest version again, spelled otherwise": lambda registry: registry.register(
        ORDERS, spelled_otherwise(an_order(2))
    ),
    "an older version again": lambda registry: registry.register(ORDERS, an_order(1)),
    "`GET /schemas/ids/{id}`": lambda registry: registry.schema_by_id(SchemaId(1)),
    "`GET …/versions/latest`": lambda registry: registry.version(ORDERS, LATEST),
}


def documented() -> dict[str, tuple[int, list[str]]]:
    """The table: at most how many questions, and which."""
    found = re.findall(r"^\| (.+?) \| (\d+) \| (.+?) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    return {request: (int(most), which.split(", ")) for request, most, which in found}


def test_every_request_of_the_table_is_counted() -> None:
    assert documented().keys() == REQUESTS.keys()


@pytest.mark.parametrize("request_", REQUESTS)
def test_storage_is_asked_no_more_than_the_page_says(registry: Registry, asked: list[str], request_: str) -> None:
    """On one machine a question is microseconds; where it is a round trip, this table is the latency."""
    registry.register(ORDERS, an_order(1))
    registry.register(ORDERS, an_order(2))
    asked.clear()
    REQUESTS[request_](registry)
    most, which = documented()[request_]
    assert most == len(which)
    assert len(asked) <= most, asked
    counts: dict[str, int] = defaultdict(int)
    for name in asked:
        counts[name] += 1
    assert all(count <= which.count(name) for name, count in counts.items()), asked
