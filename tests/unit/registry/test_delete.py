"""Soft and permanent deletes: the order of their checks, and what is read afterwards (§6)."""

from collections.abc import Callable
from typing import Any

import pytest

from sigla.errors import (
    LevelNotConfigured,
    ModeNotConfigured,
    ReadOnly,
    Referenced,
    Refusal,
    SubjectNotFound,
    SubjectNotSoftDeleted,
    SubjectSoftDeleted,
    VersionNotFound,
    VersionNotSoftDeleted,
    VersionSoftDeleted,
)
from sigla.model import LATEST, SchemaId, Search, Show, Version
from sigla.registry import Registry
from tests.build import FixedClock
from tests.unit.registry.tell import ALL, BASE, ONE, TWO, USING, lookup, register, registered, s, versions


def delete(registry: Registry, subject: str, version: int | None = None, *, permanent: bool = False) -> Any:
    if version is None:
        return registry.delete_subject(s(subject), permanent=permanent)
    return registry.delete_version(s(subject), Version(version), permanent=permanent)


def refusal(act: Callable[[], object]) -> type[Refusal] | None:
    try:
        act()
    except Refusal as refused:
        return type(refused)
    return None


def test_a_version_goes_in_two_steps(registry: Registry) -> None:
    """Softly, then for good; each answers with the number."""
    register(registry, "a", ONE)
    register(registry, "a", TWO)
    assert delete(registry, "a", LATEST) == 2
    assert (versions(registry, "a"), versions(registry, "a", deleted=True)) == ([1], [1, 2])
    assert delete(registry, "a", 2, permanent=True) == 2
    assert versions(registry, "a", deleted=True) == [1]


def test_the_checks_on_a_version_come_in_order(registry: Registry) -> None:
    """Soft-deleted, unknown, read-only, referenced, still active: the first that fails is told (§6.1)."""
    assert refusal(lambda: delete(registry, "nobody", 1)) is SubjectNotFound
    assert refusal(lambda: delete(registry, "nobody", LATEST, permanent=True)) is SubjectNotFound
    register(registry, "base", BASE)
    register(registry, "using", USING, "base")
    assert refusal(lambda: delete(registry, "base", 7)) is VersionNotFound
    assert refusal(lambda: delete(registry, "base", 1)) is Referenced
    assert refusal(lambda: delete(registry, "base", 1, permanent=True)) is Referenced
    assert refusal(lambda: delete(registry, "using", 1, permanent=True)) is VersionNotSoftDeleted
    registry.change_mode(s("base"), "READONLY")
    assert refusal(lambda: delete(registry, "base", 1)) is ReadOnly
    assert refusal(lambda: delete(registry, "base", 7)) is VersionNotFound
    registry.change_mode(s("base"), "READWRITE")
    assert delete(registry, "using", 1) == 1
    assert delete(registry, "base", 1) == 1
    registry.change_mode(s("base"), "READONLY")
    assert refusal(lambda: delete(registry, "base", 1)) is VersionSoftDeleted
    assert refusal(lambda: delete(registry, "base", 1, permanent=True)) is ReadOnly


def test_the_latest_of_a_subject_with_nothing_active(registry: Registry) -> None:
    """A known subject answers `Version -1 not found.`, with the number for the word."""
    register(registry, "a")
    delete(registry, "a")
    with pytest.raises(VersionNotFound) as refused:
        delete(registry, "a", LATEST)
    assert refused.value.message == "Version -1 not found."


def test_a_soft_delete_minds_active_referrers_and_a_permanent_one_all(registry: Registry) -> None:
    """The schema's own subject included (§6.1)."""
    register(registry, "base", BASE)
    register(registry, "base", USING, "base", force=True)
    assert refusal(lambda: delete(registry, "base", 1)) is Referenced
    delete(registry, "base", 2)
    assert delete(registry, "base", 1) == 1
    with pytest.raises(Referenced) as refused:
        delete(registry, "base", 1, permanent=True)
    assert refused.value.message == (
        "One or more references exist to the schema {magic=1,keytype=SCHEMA,subject=base,version=1}."
    )
    delete(registry, "base", 2, permanent=True)
    assert delete(registry, "base", 1, permanent=True) == 1


def test_the_checks_on_a_subject_come_in_order(registry: Registry) -> None:
    """Unknown, soft-deleted, read-only, then version by version: referenced, still active (§6.2)."""
    assert refusal(lambda: delete(registry, "nobody")) is SubjectNotFound
    register(registry, "base", BASE)
    register(registry, "using", USING, "base")
    assert refusal(lambda: delete(registry, "base")) is Referenced
    assert refusal(lambda: delete(registry, "using", permanent=True)) is SubjectNotSoftDeleted
    assert delete(registry, "using") == [1]
    registry.change_mode(s("base"), "READONLY")
    assert refusal(lambda: delete(registry, "base")) is ReadOnly
    registry.drop_mode(s("base"))
    assert delete(registry, "base") == [1]
    assert refusal(lambda: delete(registry, "base", permanent=True)) is Referenced
    registry.change_mode(s("base"), "READONLY")
    with pytest.raises(SubjectSoftDeleted) as refused:
        delete(registry, "base")
    assert refused.value.message.startswith("Subject 'base' was soft deleted.Set permanent=true")


def test_a_subject_goes_whole_or_not_at_all(registry: Registry) -> None:
    """One version that may not go holds all of them; references within the subject hold nothing."""
    register(registry, "base", BASE)
    register(registry, "base", USING, "base", force=True)
    register(registry, "other", USING, "base")
    assert refusal(lambda: delete(registry, "base")) is Referenced
    assert versions(registry, "base") == [1, 2]
    delete(registry, "other")
    assert delete(registry, "base") == [1, 2]


def test_a_subject_delete_answers_with_what_it_deleted(registry: Registry) -> None:
    """Softly what was active, for good all that was stored."""
    register(registry, "a", ONE)
    register(registry, "a", TWO)
    delete(registry, "a", 1)
    assert delete(registry, "a") == [2]
    assert delete(registry, "a", permanent=True) == [1, 2]
    assert refusal(lambda: delete(registry, "a", permanent=True)) is SubjectNotFound


def test_settings_outlive_a_soft_delete_and_no_permanent_one(registry: Registry) -> None:
    """With the last stored version they go, however it goes (table 6.3)."""
    for subject, steps in (("a", (None, None)), ("b", (1, 1))):
        register(registry, subject)
        registry.change_config(s(subject), {"level": "FULL"})
        registry.change_mode(s(subject), "READWRITE")
        delete(registry, subject, steps[0])
        assert registry.config(s(subject)).level == "FULL"
        assert registry.mode(s(subject)) == "READWRITE"
        delete(registry, subject, steps[1], permanent=True)
        with pytest.raises(LevelNotConfigured):
            registry.config(s(subject))
        with pytest.raises(ModeNotConfigured):
            registry.mode(s(subject))


def test_what_later_reads_return(registry: Registry) -> None:
    """Table 6.3, column by column: a version deleted, the subject deleted, gone."""

    def seen() -> dict[str, Any]:
        return {
            "version": refusal(lambda: registry.version(s("a"), Version(1))),
            "version deleted": refusal(lambda: registry.version(s("a"), Version(1), deleted=True)),
            "latest": refusal(lambda: registry.version(s("a"), LATEST)),
            "latest deleted": refusal(lambda: registry.version(s("a"), LATEST, deleted=True)),
            "versions": refusal(lambda: versions(registry, "a")),
            "versions deleted": refusal(lambda: versions(registry, "a", deleted_only=True)),
            "subjects": [str(x) for x in registry.subjects(Search(), show=Show.ACTIVE, page=ALL)],
            "subjects deleted": [str(x) for x in registry.subjects(Search(), show=Show.DELETED, page=ALL)],
            "schemas": len(registry.schemas(Search(), page=ALL)),
            "schemas deleted": len(registry.schemas(Search(), deleted=True, page=ALL)),
            "by id": refusal(lambda: registry.schema_by_id(SchemaId(1))) is None,
            "lookup": refusal(lambda: lookup(registry, "a", ONE)) is None,
            "lookup deleted": refusal(lambda: lookup(registry, "a", ONE, deleted=True)) is None,
        }

    register(registry, "a", ONE)
    register(registry, "a", TWO)
    delete(registry, "a", 1)
    assert seen() == {
        "version": VersionNotFound,
        "version deleted": None,
        "latest": None,
        "latest deleted": None,
        "versions": None,
        "versions deleted": None,
        "subjects": ["a"],
        "subjects deleted": [],
        "schemas": 1,
        "schemas deleted": 2,
        "by id": True,
        "lookup": False,
        "lookup deleted": True,
    }
    delete(registry, "a")
    assert seen() == {
        "version": SubjectNotFound,
        "version deleted": None,
        "latest": SubjectNotFound,
        "latest deleted": VersionNotFound,
        "versions": SubjectNotFound,
        "versions deleted": None,
        "subjects": [],
        "subjects deleted": ["a"],
        "schemas": 0,
        "schemas deleted": 2,
        "by id": True,
        "lookup": False,
        "lookup deleted": True,
    }
    delete(registry, "a", permanent=True)
    assert seen() == {
        "version": SubjectNotFound,
        "version deleted": SubjectNotFound,
        "latest": SubjectNotFound,
        "latest deleted": SubjectNotFound,
        "versions": SubjectNotFound,
        "versions deleted": SubjectNotFound,
        "subjects": [],
        "subjects deleted": [],
        "schemas": 0,
        "schemas deleted": 0,
        "by id": False,
        "lookup": False,
        "lookup deleted": False,
    }


def test_the_time_of_a_deleted_version(registry: Registry, clock: FixedClock) -> None:
    """Its own delete sets it; the subject's does not."""
    for subject in ("a", "b"):
        register(registry, subject)
    registered_at = clock.now()
    clock.time += 5_000
    delete(registry, "a", 1)
    delete(registry, "b")
    assert registry.version(s("a"), Version(1), deleted=True).ts == registered_at + 5_000
    assert registry.version(s("b"), Version(1), deleted=True).ts == registered_at


def test_a_stored_schema_is_read_though_its_reference_is_soft_deleted(registry: Registry) -> None:
    """Deleting softly breaks no client (table 6.3)."""
    register(registry, "base", BASE)
    register(registry, "using", USING, "base")
    delete(registry, "using")
    delete(registry, "base")
    assert '"Base"' in registry.version(s("using"), Version(1), deleted=True, form="resolved").schema.text


def test_deletes_go_where_an_alias_leads(registry: Registry) -> None:
    """ALIAS-1."""
    register(registry, "orders")
    registry.change_config(s("alias"), {"alias": "orders"})
    assert delete(registry, "alias", 1) == 1
    assert delete(registry, "alias", permanent=True) == [1]
    assert registered(registry, "alias") == (1, 2)


def test_importing_registries_delete_as_others_do(registry: Registry) -> None:
    """IMPORT restricts registrations, not deletes."""
    register(registry, "a")
    registry.change_mode(s("a"), "IMPORT", force=True)
    assert delete(registry, "a", 1) == 1
    assert delete(registry, "a", permanent=True) == [1]
