"""Reads by id where the catalog is silent: what an id means stands in its body, with all it refers to (promise 5)."""

from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import pytest

from sigla.cache.speakers import Speakers
from sigla.errors import SchemaNotFound, StoreError
from sigla.model import SchemaId
from sigla.registry import Registry
from sigla.stores.sqlite.store import EmbeddedStore
from tests.build import FixedClock
from tests.unit.registry.tell import ALL, BASE, ONE, TWO, USING, register, s


class Silent:
    """A catalog that fails whatever it is asked. What is in front of it knows of other regions."""

    def check_absent(self, *_: object) -> None: ...

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def fail(*_: object, **__: object) -> None:
            raise StoreError(f"no {name}")

        return fail


@pytest.fixture
def cut_off(store: EmbeddedStore, clock: FixedClock) -> Iterator[Registry]:
    """Another instance, which has nothing but the bodies."""
    catalog: Any = Silent()
    with closing(Speakers(catalog, store.bodies, clock)) as speakers:
        yield Registry(speakers, store.bodies, clock)


def test_a_schema_is_told_in_any_form(registry: Registry, cut_off: Registry) -> None:
    """References are resolved, qualified, inlined from bodies alone."""
    register(registry, ":.c:base", BASE)
    register(registry, ":.c:using", USING, "base")
    context = s(":.c:")
    told = cut_off.schema_by_id(SchemaId(2), subject=context, qualified_references=True, find_tags=("*",))
    assert (told.schema.text, told.schema.references[0].subject) == (USING, ":.c:base")
    assert '"Base"' in cut_off.schema_by_id(SchemaId(2), subject=context, form="resolved").schema.text


def test_the_first_registrant_answers_and_does_not_say_whether_it_has_deleted(
    registry: Registry, cut_off: Registry
) -> None:
    """Half a truth is left out rather than guessed."""
    guid = register(registry, "b").guid
    register(registry, "a")
    registry.delete_subject(s("b"))
    for told in (cut_off.schema_by_id(SchemaId(1)), cut_off.schema_by_id(SchemaId(1), subject=s("b"))):
        assert (told.subject, told.version, told.deleted) == (s("b"), 1, None)
    assert cut_off.schema_by_guid(str(guid)).schema.text == ONE


def test_what_was_deleted_for_good_is_gone(registry: Registry, cut_off: Registry) -> None:
    """Its tombstone says so."""
    guid = register(registry, "a").guid
    registry.delete_subject(s("a"))
    registry.delete_subject(s("a"), permanent=True)
    with pytest.raises(SchemaNotFound):
        cut_off.schema_by_id(SchemaId(1))
    with pytest.raises(SchemaNotFound):
        cut_off.schema_by_guid(str(guid))


def test_which_of_several_is_meant_is_never_guessed(registry: Registry, cut_off: Registry) -> None:
    """Id 1 of `a` may be that of `:.c:a` (ID-RES): the catalog alone can tell."""
    register(registry, "b", ONE)
    register(registry, ":.c:a", TWO)
    assert registry.schema_by_id(SchemaId(1), subject=s("a")).schema.text == TWO
    with pytest.raises(StoreError):
        cut_off.schema_by_id(SchemaId(1), subject=s("a"))


def test_more_than_what_an_id_means_is_refused(registry: Registry, cut_off: Registry) -> None:
    """Who holds it, under which ids it stands, which is the highest."""
    guid = str(register(registry, "a").guid)
    questions: list[Callable[[], object]] = [
        lambda: cut_off.holders_of(SchemaId(1), subject=None, deleted=True, page=ALL),
        lambda: cut_off.subjects_of(SchemaId(1), subject=s("a"), deleted=True, page=ALL),
        lambda: cut_off.ids_of(guid),
        lambda: cut_off.schema_by_id(SchemaId(1), with_max_id=True),
    ]
    for ask in questions:
        with pytest.raises(StoreError):
            ask()
