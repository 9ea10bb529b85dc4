"""An id whose version an import has written over: it goes on meaning what it did (docs/api.md §10.3)."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sigla.auth.narrowed import Narrowed
from sigla.auth.permissions import READ, Reach
from sigla.errors import IdTaken, IdUsedUp, SchemaNamedNotFound, SchemaNotFound
from sigla.journal import records
from sigla.journal.replay import TopicRecord, replayed
from sigla.model import BodyKey, Holder, SchemaId, Subject, Version
from sigla.registry import Registry
from sigla.rules.names import search
from sigla.stores.sqlite.store import EmbeddedStore
from sigla.upkeep.exporting import gone, standing
from sigla.upkeep.importing import IDENTICAL, IMPORTED, import_state
from sigla.upkeep.importing.versions import USED_UP
from tests.build import FixedClock
from tests.unit.registry.tell import ALL, ONE, STRING, THREE, TWO, lookup, register, registered, s, versions

FIVE, SIX, SEVEN = SchemaId(5), SchemaId(6), SchemaId(7)


@pytest.fixture
def displaced(registry: Registry) -> Registry:
    """Version 1 of `a` was ONE with id 5 and is TWO with id 7 now."""
    registry.change_mode(s("a"), "IMPORT")
    register(registry, "a", ONE, id=5, version=1)
    register(registry, "a", TWO, id=7, version=1)
    registry.change_mode(s("a"), "READWRITE")
    return registry


def purge(registry: Registry, subject: str) -> None:
    registry.delete_subject(s(subject))
    registry.delete_subject(s(subject), permanent=True)


def held_by(registry: Registry, id: SchemaId, **options: bool) -> list[tuple[str, int]]:
    found = registry.holders_of(id, subject=None, deleted=options.get("deleted", False), page=ALL)
    return [(str(subject), version) for subject, version in found]


# --- reads -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("subject", [None, "a", ":.:a"])
def test_a_displaced_id_answers_with_its_own_text(displaced: Registry, subject: str | None) -> None:
    """Records in Kafka bear it. The reference answers with the text that took its place."""
    record = displaced.schema_by_id(FIVE, subject=s(subject) if subject else None)
    assert record.schema.text == ONE
    assert (str(record.subject), record.version, record.deleted) == ("a", 1, False)
    assert displaced.schema_by_id(SEVEN).schema.text == TWO
    body, speaker = displaced.meaning(BodyKey(".", FIVE))
    assert (body.schema.text, str(speaker.subject), speaker.version) == (ONE, "a", 1)


def test_it_is_told_with_who_registered_it_first(registry: Registry) -> None:
    """Who had it last has another schema under that number by now."""
    for subject in ("a", "b"):
        registry.change_mode(s(subject), "IMPORT")
        register(registry, subject, ONE, id=5, version=2)
    purge(registry, "a")
    register(registry, "b", TWO, id=7, version=2)
    record = registry.schema_by_id(FIVE)
    assert (str(record.subject), record.version, record.deleted) == ("a", 2, False)


def test_who_uses_it_is_who_took_its_place(displaced: Registry) -> None:
    """As the reference tells it: the version under its number, wherever that content is by now."""
    assert held_by(displaced, FIVE) == [("a", 1)]
    assert displaced.subjects_of(FIVE, subject=None, deleted=False, page=ALL) == [s("a")]
    displaced.delete_version(s("a"), Version(1))
    assert held_by(displaced, FIVE) == []
    assert held_by(displaced, FIVE, deleted=True) == [("a", 1)]
    assert displaced.schema_by_id(FIVE).deleted is False


def test_it_is_found_by_its_guid(displaced: Registry) -> None:
    """And its id by that."""
    guid = displaced.schema_by_id(FIVE).guid or ""
    assert displaced.schema_by_guid(guid).schema.text == ONE
    assert displaced.ids_of(guid) == [BodyKey(".", FIVE)]


def test_what_was_deleted_for_good_stays_so(displaced: Registry) -> None:
    """With the subject goes what was displaced from it: it could not be taken away otherwise."""
    purge(displaced, "a")
    for id in (FIVE, SEVEN):
        with pytest.raises(SchemaNamedNotFound):
            displaced.schema_by_id(id)
        with pytest.raises(SchemaNotFound):
            held_by(displaced, id)


def test_one_text_under_two_ids_is_told_by_both(registry: Registry) -> None:
    """Whether or not the first of them was displaced."""
    registry.change_mode(s("a"), "IMPORT")
    register(registry, "a", ONE, id=5, version=1)
    register(registry, "a", ONE, id=6, version=1)
    assert [registry.schema_by_id(id).schema.text for id in (FIVE, SIX)] == [ONE, ONE]


# --- writes ----------------------------------------------------------------------------------------------------------


def test_the_displaced_text_is_looked_up_where_it_stood(displaced: Registry) -> None:
    """With the id that records bear. Elsewhere it does not count as a version."""
    found = lookup(displaced, "a", ONE)
    assert (found.version, found.id, found.schema.text) == (1, 5, ONE)
    register(displaced, "b", STRING)
    with pytest.raises(SchemaNotFound):
        lookup(displaced, "b", ONE)


def test_registering_it_again_changes_nothing(displaced: Registry) -> None:
    """A producer with the old schema starts again, and gets the id it has written all its records with."""
    before = list(displaced.catalog.history(s("a")))
    assert registered(displaced, "a", ONE) == (1, 5)
    assert displaced.catalog.history(s("a")) == tuple(before)
    displaced.change_mode(s("a"), "READONLY")
    assert registered(displaced, "a", ONE) == (1, 5)


def test_another_subject_registers_it_under_the_same_id(displaced: Registry) -> None:
    """One content, one id; then it is held like any other."""
    assert registered(displaced, "b", ONE) == (1, 5)
    assert displaced.schema_by_id(FIVE).subject == s("b")
    assert held_by(displaced, FIVE) == [("b", 1)]


def test_where_its_place_was_deleted_it_becomes_a_version_again(displaced: Registry) -> None:
    """As anything that was deleted: with a new number and its old id."""
    register(displaced, "a", THREE, force=True)
    displaced.delete_version(s("a"), Version(1))
    assert registered(displaced, "a", ONE, force=True) == (3, 5)


def test_a_displaced_id_gets_no_second_meaning(displaced: Registry) -> None:
    """Not that of the text which took its place, as in the reference, and not any other (REG-12)."""
    displaced.change_mode(s("a"), "IMPORT", force=True)
    for text in (TWO, STRING):
        with pytest.raises(IdTaken) as refused:
            register(displaced, "a", text, id=5, version=4)
        assert refused.value.message == "Overwrite new schema with id 5 in context  is not permitted."
    assert registered(displaced, "a", ONE, id=5, version=9) == (9, 5)
    assert versions(displaced, "a") == [1, 9]


def test_equal_texts_of_two_types_are_not_mixed_up(registry: Registry) -> None:
    """The content hash is blind to the type, an id is not (HQ-1)."""
    registry.change_mode(s("a"), "IMPORT")
    register(registry, "a", '{"type":"string"}', type="JSON", id=5, version=1)
    register(registry, "a", TWO, id=7, version=1)
    registry.change_mode(s("a"), "READWRITE")
    text = registry.schema_by_id(FIVE).schema.text
    assert registered(registry, "a", text, type="JSON") == (1, 5)


def test_an_id_of_what_was_deleted_for_good_says_what_to_do(registry: Registry) -> None:
    """Whoever wipes a failed migration and begins again in the same context meets it; the words are Confluent's."""
    registry.change_mode(s("a"), "IMPORT")
    register(registry, "a", ONE, id=1)
    purge(registry, "a")
    registry.change_mode(s("a"), "IMPORT")
    with pytest.raises(IdUsedUp) as refused:
        register(registry, "a", TWO, id=1)
    assert refused.value.code == 42205
    sentence = refused.value.message
    assert sentence.startswith("Overwrite new schema with id 1 in context  is not permitted. ")
    assert all(word in sentence for word in ("deleted for good", "new context", "directory"))


def test_an_import_that_meets_such_an_id_says_so_as_well(registry: Registry) -> None:
    """In its report, with what to do."""
    register(registry, "a", ONE)
    purge(registry, "a")
    with another() as source:
        register(source, "b", TWO)
        dump = [TopicRecord(*record, n) for n, record in enumerate(standing(source.catalog, source.bodies))]
    report = import_state(registry, replayed(dump))
    [(why, cases)] = [(why, cases) for (_, why), cases in report.reasons.items()]
    assert (why, cases.examples) == (USED_UP, ["b version 1 id 1"])


# --- who may see it --------------------------------------------------------------------------------------------------


def test_a_restricted_key_is_judged_by_the_birth(registry: Registry) -> None:
    """Whoever registered it first may go on reading it; whoever had it last has another schema now."""
    for subject in ("a-one", "b-one"):
        registry.change_mode(s(subject), "IMPORT")
        register(registry, subject, ONE, id=5, version=2)
    purge(registry, "a-one")
    register(registry, "b-one", TWO, id=7, version=2)

    def seen(prefix: str) -> Holder | None:
        reach = Reach((search(prefix),))
        return Narrowed(registry.catalog, registry.bodies, reach, READ).speaker(BodyKey(".", FIVE))

    assert seen("a-") is not None
    assert seen("b-") is None


# --- out and in ------------------------------------------------------------------------------------------------------


@contextmanager
def another() -> Iterator[Registry]:
    with EmbeddedStore() as store:
        yield Registry(store.catalog, store.bodies, FixedClock())


def exported(store: EmbeddedStore) -> list[TopicRecord]:
    rows = [row for _, row in store.journal.read()]
    spoken_of = {BodyKey(".", id) for id in (FIVE, SIX, SEVEN)}
    made = [*gone(store.bodies, set(store.inventory.bodies()) - spoken_of), *records(rows, store.bodies)]
    return [TopicRecord(*record, offset) for offset, record in enumerate(made)]


def compacted(store: EmbeddedStore) -> list[TopicRecord]:
    made = standing(store.catalog, store.bodies, store.inventory.bodies())
    return [TopicRecord(*record, offset) for offset, record in enumerate(made)]


@pytest.mark.parametrize("export", [exported, compacted])
def test_an_export_brings_both_in_order(
    displaced: Registry, store: EmbeddedStore, export: Callable[[EmbeddedStore], list[TopicRecord]]
) -> None:
    """The order of the journal, and of what stands; a second import finds all of it identical."""
    dump = export(store)
    keys = [record.key for record in dump if "SCHEMA" in str(record.key)]
    assert [keys.count(key) for key in keys] == [2, 2]
    with another() as copy:
        assert import_state(copy, replayed(dump)).of(IMPORTED)["id"] == 1
        assert copy.schema_by_id(FIVE).schema.text == ONE
        assert registered(copy, "a", ONE) == (1, 5)
        assert held_by(copy, FIVE) == [("a", 1)]
        again = import_state(copy, replayed(dump))
        assert again.of(IMPORTED) == {}
        assert again.of(IDENTICAL)["id"] == 1
        with another() as third:
            state = replayed(TopicRecord(*record, n) for n, record in enumerate(_told(copy)))
            import_state(third, state)
            assert third.schema_by_id(FIVE).schema.text == ONE


def _told(copy: Registry) -> Iterator[tuple[bytes, bytes | None, int]]:
    ids, key = list[BodyKey](), BodyKey(".", SchemaId(0))
    while (above := copy.bodies.next_above(key)) is not None:
        key = BodyKey(".", above)
        ids.append(key)
    return standing(copy.catalog, copy.bodies, ids)


@pytest.mark.parametrize("export", [exported, compacted])
@pytest.mark.parametrize("last", [5, 6])
def test_the_last_word_on_a_content_comes_along(
    registry: Registry, store: EmbeddedStore, export: Callable[[EmbeddedStore], list[TopicRecord]], last: int
) -> None:
    """Among the ids of one text the one written last is given to later registrations, displaced or not."""
    registry.change_mode(s("a"), "IMPORT")
    for id in (11 - last, last):
        register(registry, "a", ONE, id=id, version=id)
    register(registry, "a", TWO, id=7, version=5)
    with another() as copy, another() as third:
        import_state(copy, replayed(export(store)))
        import_state(third, replayed(TopicRecord(*record, n) for n, record in enumerate(_told(copy))))
        for each in (registry, copy, third):
            assert each.schema_by_id(FIVE).schema.text == each.schema_by_id(SIX).schema.text == ONE
            assert registered(each, "b", ONE) == (1, last)


def test_a_rehearsal_tells_what_an_import_would(displaced: Registry, store: EmbeddedStore) -> None:
    """And writes nothing."""
    from sigla.upkeep.importing import rehearsal

    with another() as copy, EmbeddedStore() as imagined:
        report = import_state(rehearsal(copy, imagined.bodies), replayed(compacted(store)))
        assert report.of(IMPORTED) == {"version": 1, "id": 1, "mode": 1}
        with pytest.raises(SchemaNamedNotFound):
            copy.schema_by_id(FIVE)


def test_data_of_an_earlier_release_are_opened_and_read(tmp_path: Path) -> None:
    """They have no table for displaced ids: it is made where they are written, and not missed where they are read."""
    import sqlite3

    from sigla.stores.sqlite.reading import ReadingStore

    with EmbeddedStore(tmp_path / "data") as store:
        register(Registry(store.catalog, store.bodies, FixedClock()), "a", ONE)
    with sqlite3.connect(tmp_path / "data" / "catalog.sqlite") as former:
        former.execute("DROP TABLE displaced")
    former.close()
    reading = ReadingStore(tmp_path / "data")
    assert reading.catalog.displaced(BodyKey(".", FIVE)) is None
    assert reading.catalog.speaker(BodyKey(".", SchemaId(1))) is not None
    reading.close()
    with EmbeddedStore(tmp_path / "data") as store:
        registry = Registry(store.catalog, store.bodies, FixedClock())
        registry.change_mode(s("a"), "IMPORT", force=True)
        register(registry, "a", TWO, id=7, version=1)
        assert registry.schema_by_id(SchemaId(1)).schema.text == ONE


# --- an answer by GUID -----------------------------------------------------------------------------------------------


def test_an_answer_by_guid_names_an_active_holder_where_there_is_one(registry: Registry) -> None:
    """Under another id, or in another context; only else is it `deleted`."""
    registry.change_mode(s("a"), "IMPORT")
    registry.change_mode(s("b"), "IMPORT")
    guid = register(registry, "a", ONE, id=5).guid or ""
    register(registry, "b", ONE, id=6)
    registry.delete_subject(s("b"))
    assert registry.schema_by_guid(guid).deleted is False
    registry.delete_subject(s("a"))
    assert registry.schema_by_guid(guid).deleted is True
    register(registry, ":.c:x", ONE)
    assert registry.schema_by_guid(guid).deleted is False
    assert Subject(".c", "x") == registry.schema_by_id(SchemaId(1), subject=s(":.c:")).subject
