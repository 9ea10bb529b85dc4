"""Which number and which id a registration gets, and what an import may bring (REG-10 to REG-14)."""

import pytest

from sigla.errors import (
    IdTaken,
)
from sigla.model import (
    LATEST,
    BodyKey,
    SchemaId,
    Version,
)
from sigla.registry import Registry
from sigla.stores.sqlite.store import EmbeddedStore
from tests.build import a_body
from tests.unit.registry.tell import (
    BASE,
    ONE,
    STRING,
    THREE,
    TWO,
    USING,
    register,
    registered,
    s,
    versions,
)


def test_numbers_go_on_past_what_was_softly_deleted(registry: Registry) -> None:
    """Hard-deleted ones at the top are used again, gaps are not filled (REG-10)."""
    register(registry, "a", ONE)
    register(registry, "a", TWO)
    registry.delete_version(s("a"), Version(2))
    assert registered(registry, "a", THREE) == (3, 3)
    registry.delete_version(s("a"), Version(3))
    registry.delete_version(s("a"), Version(3), permanent=True)
    assert registered(registry, "a", ONE.replace("int", "long"), force=True)[0] == 3


def test_content_that_returns_leaves_its_old_number(registry: Registry) -> None:
    """New number, same id, and the old one is gone even for those who ask for deleted ones (REG-14)."""
    register(registry, "a", ONE)
    register(registry, "a", TWO)
    registry.delete_version(s("a"), Version(1))
    assert registered(registry, "a", ONE) == (3, 1)
    assert versions(registry, "a", deleted=True) == [2, 3]


def test_an_old_number_stays_while_somebody_refers_to_it(registry: Registry) -> None:
    """Active or soft-deleted, of any subject (REG-14)."""
    register(registry, "base", BASE)
    register(registry, "using", USING, "base")
    registry.delete_subject(s("using"))
    registry.delete_version(s("base"), Version(1))
    assert registered(registry, "base", BASE) == (2, 1)
    assert versions(registry, "base", deleted=True) == [1, 2]


def test_an_id_is_never_given_out_again(registry: Registry) -> None:
    """Not even after its last holder is gone for good (REG-11)."""
    register(registry, "a", ONE)
    registry.delete_subject(s("a"))
    registry.delete_subject(s("a"), permanent=True)
    assert registered(registry, "a", TWO) == (1, 2)
    assert registered(registry, "b", ONE) == (1, 3)


def test_an_import_raises_the_counter(registry: Registry) -> None:
    """Id 0 uses up 1 as well (REG-11)."""
    registry.change_mode(s(":.c:"), "IMPORT")
    assert registered(registry, ":.c:a", ONE, id=0) == (1, 0)
    registry.change_mode(s(":.c:"), "READWRITE")
    assert registered(registry, ":.c:a", TWO) == (2, 2)
    registry.change_mode(s(":.c:"), "IMPORT", force=True)
    register(registry, ":.c:b", THREE, id=40)
    registry.change_mode(s(":.c:"), "READWRITE")
    assert registered(registry, ":.c:b", STRING, force=True)[1] == 41


def test_an_id_means_one_thing_also_to_an_import(registry: Registry) -> None:
    """Other content under a held or buried id is refused; equal content is welcome, even from the grave (REG-12)."""
    registry.change_mode(s(":.c:"), "IMPORT")
    register(registry, ":.c:a", ONE, id=7)
    with pytest.raises(IdTaken) as refused:
        register(registry, ":.c:b", TWO, id=7)
    assert refused.value.message == "Overwrite new schema with id 7 in context :.c: is not permitted."
    assert registered(registry, ":.c:b", ONE, id=7) == (1, 7)
    for subject in (":.c:a", ":.c:b"):
        registry.delete_subject(s(subject))
        registry.delete_subject(s(subject), permanent=True)
    with pytest.raises(IdTaken):
        register(registry, ":.c:b", TWO, id=7)
    assert registered(registry, ":.c:b", ONE, id=7, version=3) == (3, 7)
    assert registry.schema_by_id(SchemaId(7), subject=s(":.c:")).schema.text == ONE


def test_one_content_may_be_imported_under_two_ids(registry: Registry) -> None:
    """Both stay; whoever registers it later gets the one written last (REG-13)."""
    registry.change_mode(s("a"), "IMPORT")
    register(registry, "a", ONE, id=7)
    register(registry, "a", ONE, id=5)
    assert [registry.schema_by_id(SchemaId(id)).schema.text for id in (5, 7)] == [ONE, ONE]
    assert registered(registry, "b", ONE) == (1, 5)


def test_an_import_overwrites_a_version_and_no_id(registry: Registry) -> None:
    """The number means the new id; the old id, which has no holder, is gone (REG-10)."""
    registry.change_mode(s("a"), "IMPORT")
    register(registry, "a", ONE, id=7, version=3)
    assert registered(registry, "a", TWO, id=8, version=3) == (3, 8)
    assert versions(registry, "a") == [3]
    assert registry.version(s("a"), Version(3)).schema.text == TWO


def test_an_orphan_with_our_content_is_adopted(registry: Registry, store: EmbeddedStore) -> None:
    """A body whose row was never committed, by a writer that died: its id becomes ours."""
    register(registry, "a", ONE)
    schema = registry.version(s("a"), LATEST).schema
    store.bodies.put(BodyKey(".c", SchemaId(1)), a_body(schema=schema, guid=registry.version(s("a"), LATEST).guid))
    assert registered(registry, ":.c:a", ONE) == (1, 1)


def test_an_id_that_means_something_else_is_passed_over(registry: Registry, store: EmbeddedStore) -> None:
    """A table restored behind its bucket: the counter gallops past the last body."""
    for id in (1, 2, 6):
        store.bodies.put(BodyKey(".", SchemaId(id)), a_body(f"text {id}"))
    assert registered(registry, "a", ONE) == (1, 7)
    assert store.bodies.get(BodyKey(".", SchemaId(6))).schema.text == "text 6"
