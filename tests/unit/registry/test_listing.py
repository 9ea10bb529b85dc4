"""Lists: their order, their windows, and what they leave out (§2.5 to §2.7, §3.6)."""

from typing import Any

import pytest

from sigla.errors import SubjectNotFound, VersionNotFound
from sigla.model import LATEST, Page, Rule, RuleSet, Show, Version
from sigla.registry import Registry
from sigla.registry.listing import BATCH
from sigla.rules import names
from tests.unit.registry.tell import ALL, BASE, ONE, STRING, TWO, USING, register, s, versions


def subjects(registry: Registry, prefix: str, show: Show = Show.ACTIVE, page: Page = ALL) -> list[str]:
    return [str(subject) for subject in registry.subjects(names.search(prefix), show=show, page=page)]


def schemas(registry: Registry, prefix: str = "", **options: Any) -> list[tuple[str, int | None]]:
    window = {"page": ALL} | options
    return [(str(each.subject), each.version) for each in registry.schemas(names.search(prefix), **window)]


def test_subjects_stand_in_the_order_of_their_code_units(registry: Registry) -> None:
    """In the order of the qualified name, so contexts stand together (§2.6)."""
    everything = ["B", "a", ":.c:a", "\U0001f600", "\uff5e", "ab"]
    for subject in everything:
        register(registry, subject)
    assert subjects(registry, ":*:") == [":.c:a", "B", "a", "ab", "\U0001f600", "\uff5e"]
    assert subjects(registry, ":*:a") == [":.c:a", "a", "ab"]
    assert subjects(registry, "a") == ["a", "ab"]
    assert subjects(registry, ":.c:") == subjects(registry, ":.c") == [":.c:a"]
    assert subjects(registry, ":*:", page=Page(2, 2)) == ["a", "ab"]


def test_a_subject_is_deleted_when_all_its_versions_are(registry: Registry) -> None:
    """SUB-1."""
    register(registry, "a", ONE)
    register(registry, "a", TWO)
    register(registry, "b")
    registry.delete_version(s("a"), Version(1))
    registry.delete_subject(s("b"))
    assert subjects(registry, "") == ["a"]
    assert subjects(registry, "", Show.DELETED) == ["b"]
    assert subjects(registry, "", Show.ALL) == ["a", "b"]


def test_versions_are_listed_as_asked(registry: Registry) -> None:
    """DeletedAsNegative before deletedOnly before deleted (VER-1 to VER-3)."""
    for text in (ONE, TWO, ONE.replace("int", "long")):
        register(registry, "a", text, force=True)
    registry.delete_version(s("a"), Version(2))
    assert versions(registry, "a") == [1, 3]
    assert versions(registry, "a", deleted=True) == [1, 2, 3]
    assert versions(registry, "a", deleted=True, deleted_only=True) == [2]
    assert versions(registry, "a", deleted_only=True, deleted_as_negative=True) == [1, -2, 3]
    assert registry.versions(s("a"), deleted=True, page=Page(1, 1)) == [2]
    registry.delete_subject(s("a"))
    with pytest.raises(SubjectNotFound):
        versions(registry, "a", deleted_as_negative=True)
    assert versions(registry, "a", deleted_only=True) == [1, 2, 3]
    register(registry, "b")
    assert versions(registry, "b", deleted_only=True) == []


def test_schemas_are_listed_by_subject_and_number(registry: Registry) -> None:
    """With their content, time and deletion mark; latest means the highest that is included (§2.5)."""
    for subject, text in (("b", ONE), ("a", ONE), ("a", TWO), (":.c:a", ONE)):
        register(registry, subject, text)
    registry.delete_version(s("a"), Version(2))
    assert schemas(registry) == [("a", 1), ("b", 1)]
    assert schemas(registry, ":*:", deleted=True) == [(":.c:a", 1), ("a", 1), ("a", 2), ("b", 1)]
    assert schemas(registry, latest_only=True) == [("a", 1), ("b", 1)]
    assert schemas(registry, latest_only=True, deleted=True) == [("a", 2), ("b", 1)]
    assert schemas(registry, deleted=True, page=Page(1, 1)) == [("a", 2)]
    found = registry.schemas(names.search("a"), deleted=True, page=ALL)
    assert [(record.schema.text, record.deleted) for record in found] == [(ONE, False), (TWO, True)]
    assert schemas(registry, "nobody") == []


def test_more_schemas_than_are_read_at_once(registry: Registry) -> None:
    """The bodies come in batches; no window notices."""
    count = BATCH + 5
    for number in range(count):
        register(registry, f"s{number:03}", ONE)
    assert len(schemas(registry)) == count
    assert schemas(registry, page=Page(BATCH - 1, 3)) == [(f"s{BATCH - 1 + n:03}", 1) for n in range(3)]


def test_schemas_are_found_by_a_type_of_rule(registry: Registry) -> None:
    """In any of the three lists, after latestOnly was applied."""
    register(registry, "a", ONE, rule_set=RuleSet(domain=(Rule(name="r", type="CEL"),)))
    register(registry, "a", TWO, rule_set=RuleSet(encoding=(Rule(name="e", type="ENCRYPT"),)))
    assert schemas(registry, rule_type="CEL") == [("a", 1)]
    assert schemas(registry, rule_type="ENCRYPT", latest_only=True) == [("a", 2)]
    assert schemas(registry, rule_type="CEL", latest_only=True) == []
    assert schemas(registry, rule_type="ENCRYPT", page=Page(1, 1)) == []


def test_schemas_with_their_aliases(registry: Registry) -> None:
    """Targets of matching aliases are listed too, and say who leads to them."""
    for subject in ("a1", "b", ":.c:x"):
        register(registry, subject)
    registry.change_config(s("a2"), {"alias": "b"})
    registry.change_config(s("a3"), {"alias": "b"})
    registry.change_config(s("a4"), {"alias": ":.c:x"})
    found = registry.schemas(names.search("a"), aliases=True, page=ALL)
    told = {str(record.subject): [str(alias) for alias in record.aliases or ()] for record in found}
    assert told == {":.c:x": ["a4"], "a1": [], "b": ["a2", "a3"]}
    assert schemas(registry, "a") == [("a1", 1)]


def test_who_refers_to_a_version(registry: Registry) -> None:
    """Ids by context, then number; soft-deleted referrers for those who ask; the namesakes' as well (VER-8)."""
    register(registry, "base", BASE)
    register(registry, ":.c:base", BASE)
    register(registry, "x", STRING)
    register(registry, "using", USING, "base")
    register(registry, "again", USING, "base")
    register(registry, "far", USING, ":.c:base")
    register(registry, ":.c:using", USING, "base")

    def ids(subject: str, *, deleted: bool = False) -> list[int]:
        found = registry.referenced_by(s(subject), Version(1), deleted=deleted, page=ALL)
        return list(found)

    assert ids("base") == [3]
    assert ids(":.c:base") == [4, 2]
    registry.delete_subject(s("using"))
    assert ids("base") == [3]
    registry.delete_subject(s("again"))
    assert (ids("base"), ids("base", deleted=True)) == ([], [3])
    registry.delete_version(s("base"), Version(1))
    assert ids("base", deleted=True) == [3]
    with pytest.raises(VersionNotFound):
        registry.referenced_by(s("base"), Version(2), deleted=True, page=ALL)
    with pytest.raises(SubjectNotFound):
        registry.referenced_by(s("nobody"), LATEST, deleted=True, page=ALL)
