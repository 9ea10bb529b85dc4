"""Associations by their verbs: what they cost, and what they refuse before anything is stored."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from sigla.associations.nouns import CREATE, DELETE, Association, Associations, Request, Wanted
from sigla.associations.refusals import InvalidAssociation
from sigla.associations.verbs import batches, writing
from sigla.associations.verbs.batches import MOST_REQUESTS, BatchGet, BatchRequest
from sigla.associations.verbs.writing import Manner
from sigla.errors import InvalidSubject
from sigla.model import Draft, Subject
from sigla.ports.in_front import CatalogInFront
from sigla.registry import Registry
from sigla.stores.sqlite.store import EmbeddedStore
from tests.attack.associations import weak
from tests.attack.stories import ONE, register
from tests.build import FixedClock


class Telling(CatalogInFront):
    """A catalog that counts the associations which it tells."""

    count = 0

    def associations_of_resource(self, id: str) -> Associations:
        return self._counted(super().associations_of_resource(id))

    def associations_of_subject(self, subject: Subject) -> Associations:
        return self._counted(super().associations_of_subject(subject))

    def associations_named(self, name: str | None = None, namespace: str | None = None) -> Iterator[Association]:
        return iter(self._counted(tuple(super().associations_named(name, namespace))))

    def _counted(self, found: Associations) -> Associations:
        self.count += len(found)
        return found


@pytest.fixture
def registry() -> Iterator[Registry]:
    with EmbeddedStore() as store:
        yield Registry(store.catalog, store.bodies, FixedClock())


def a_request(wanted: Wanted, *, name: str = "t") -> Request:
    return Request(name, "lkc", "id-t", None, (wanted,))


def test_one_more_topic_of_a_shared_subject_does_not_read_the_others(registry: Registry) -> None:
    """A subject may serve thousands of topics: the last one costs what the first did."""
    catalog = Telling(registry.catalog)
    register("orders", ONE)(registry)
    for number in range(20):
        weak(f"t{number}", "orders")(replace(registry, catalog=catalog))
    assert catalog.count == 0
    weak("t0", "orders")(replace(registry, catalog=catalog))
    assert catalog.count == 1


@pytest.mark.parametrize("ask", ["get", "mutate"])
def test_a_batch_that_would_take_too_long_is_refused_as_a_whole(registry: Registry, ask: str) -> None:
    """A function ends after some seconds, and then no client would know what had been done."""

    def sent(size: int) -> list[Any]:
        if ask == "get":
            questions = [BatchGet("", "", f"id-{number}", "") for number in range(size)]
            return batches.get_all(registry, questions, with_schemas=False)
        gone = Wanted(DELETE)
        return batches.mutate_all(registry, BatchRequest((a_request(gone),) * size), Manner())

    assert len(sent(MOST_REQUESTS)) == MOST_REQUESTS
    with pytest.raises(InvalidAssociation, match="'requests', detail: exceeds max size of 100"):
        sent(MOST_REQUESTS + 1)


@pytest.mark.parametrize("id, detail", [("x" * 257, "exceeds max length of 256"), ("a\nb", "control characters")])
def test_the_id_of_a_topic_is_one_that_a_path_can_say(registry: Registry, id: str, detail: str) -> None:
    """What is created under an id is deleted by it; and a row has no room for any length."""
    register("orders", ONE)(registry)
    with pytest.raises(InvalidAssociation, match=f"'resourceId', detail: .*{detail}"):
        weak("t", "orders", id=id)(registry)


@pytest.mark.parametrize("dry", [True, False])
def test_a_topic_whose_subject_no_store_has_room_for_uses_up_no_id(registry: Registry, *, dry: bool) -> None:
    """A topic's name may have 256 characters, of three bytes each, and a subject's 700 bytes; a dry run says so too."""
    request = a_request(Wanted(CREATE, draft=Draft(ONE)), name="界" * 256)
    with pytest.raises(InvalidSubject):
        writing.write(registry, request, Manner(dry=dry))
    assert registry.catalog.max_id(".lkc") == 0
