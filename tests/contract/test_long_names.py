"""A client that asks for a name that is too long to be stored is told that it is not there, as of any other."""

import pytest

from sigla.errors import BodyMissing, InvalidSubject
from sigla.model import GLOBAL, BodyKey, Draft, SchemaId, Search, Settings, Subject
from sigla.ports.catalog import Catalog
from sigla.registry import Registry
from tests.build import FixedClock, a_guid
from tests.contract.conftest import Stores

LONG = "ü" * 2_000
SUBJECTS = [Subject(".", LONG), Subject(f".{LONG}", "orders")]


@pytest.mark.parametrize("subject", SUBJECTS, ids=["name", "context"])
def test_a_subject_with_a_long_name_was_never_heard_of(catalog: Catalog, subject: Subject) -> None:
    seen = catalog.snapshot(subject, guess=a_guid("text"))
    assert (seen.head.revision, seen.known, seen.chain.own) == (0, None, Settings())
    assert catalog.history(subject) == ()
    assert catalog.candidates(subject, ["d"]) == ()
    assert list(catalog.referrers(subject)) == []
    assert catalog.contexts_of(subject.name) == ()


@pytest.mark.parametrize("subject", SUBJECTS, ids=["name", "context"])
def test_an_id_of_a_long_name_is_nobodys(catalog: Catalog, subject: Subject) -> None:
    key = BodyKey(subject.context, SchemaId(1))
    assert catalog.speaker(key) is None
    assert catalog.speaker(key, subject) is None
    assert catalog.holders(key) == ()
    assert catalog.holders(key, subject) == ()
    assert catalog.id_of(subject.context, a_guid("text")) is None
    assert catalog.max_id(subject.context) == 0


@pytest.mark.parametrize("id", [None, SchemaId(7)], ids=["new id", "import"])
@pytest.mark.parametrize("subject", SUBJECTS, ids=["name", "context"])
def test_nothing_is_registered_under_a_long_name(stores: Stores, subject: Subject, id: SchemaId | None) -> None:
    registry = Registry(stores.catalog, stores.bodies, FixedClock())
    if id:
        registry.change_mode(GLOBAL, "IMPORT")
    with pytest.raises(InvalidSubject):
        registry.register(subject, Draft('"string"', id=id))


@pytest.mark.parametrize(
    "search",
    [
        Search(LONG),
        Search(LONG, exact=True),
        Search(context=f".{LONG}"),
        Search(context=None, context_prefix=f".{LONG}"),
    ],
    ids=["prefix", "name", "context", "context prefix"],
)
def test_a_list_of_long_names_is_empty(catalog: Catalog, search: Search) -> None:
    assert list(catalog.subjects(search)) == []
    assert list(catalog.versions(search, deleted=True, latest_only=False)) == []
    assert list(catalog.settings(search)) == []


def test_no_body_has_a_long_name(stores: Stores) -> None:
    key = BodyKey(f".{LONG}", SchemaId(1))
    with pytest.raises(BodyMissing):
        stores.bodies.get(key)
    with pytest.raises(BodyMissing):
        stores.bodies.get_many([key])
    assert stores.bodies.last(key.context) == 0
