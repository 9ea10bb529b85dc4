"""What an id means, which version a text is, what stands under a number (ID-RES, §5, VER-4 to VER-8)."""

import pytest

from sigla.errors import InvalidSchema, SchemaNamedNotFound, SchemaNotFound, SubjectNotFound, VersionNotFound
from sigla.model import LATEST, BodyKey, Entity, Metadata, SchemaId, Tagged, Version
from sigla.registry import Registry
from tests.unit.registry.tell import (
    ALL,
    BASE,
    INLINE,
    ONE,
    STRING,
    THREE,
    TWO,
    UNSORTED,
    USING,
    lookup,
    refer,
    register,
    s,
    said,
    stamp,
)


def by_id(registry: Registry, id: int, subject: str | None = None) -> tuple[str, int | None, str]:
    record = registry.schema_by_id(SchemaId(id), subject=None if subject is None else s(subject))
    return str(record.subject), record.version, record.schema.text


def test_an_id_tells_its_schema_and_one_who_holds_it(registry: Registry) -> None:
    """The smallest subject where it is active; where it is not active anywhere, the answer says so (ID-1, ID-2)."""
    register(registry, "b")
    register(registry, "a")
    assert by_id(registry, 1) == ("a", 1, ONE)
    registry.delete_subject(s("a"))
    assert by_id(registry, 1) == ("b", 1, ONE)
    registry.delete_subject(s("b"))
    record = registry.schema_by_id(SchemaId(1))
    assert (str(record.subject), record.deleted) == ("a", True)


def test_an_id_that_nobody_holds_is_not_found(registry: Registry) -> None:
    """40403 names it; the body is still there for records in Kafka, and an answer is not made of it."""
    register(registry, "a")
    registry.delete_subject(s("a"))
    registry.delete_subject(s("a"), permanent=True)
    for id in (1, 2):
        with pytest.raises(SchemaNamedNotFound) as refused:
            registry.schema_by_id(SchemaId(id))
        assert refused.value.message == f"Schema {id} not found"
    assert registry.bodies.get(BodyKey(".", SchemaId(1))).gone


def test_a_subject_says_where_an_id_is_to_be_read(registry: Registry) -> None:
    """Three ways: a context, a subject of a named context, a name without one (ID-RES)."""
    register(registry, "a", ONE)
    register(registry, ":.c:a", TWO)
    register(registry, ":.c:b", TWO)
    register(registry, ":.d:x", THREE)
    assert by_id(registry, 1) == by_id(registry, 1, "") == by_id(registry, 1, ":.:") == ("a", 1, ONE)
    assert by_id(registry, 1, ":.c:") == (":.c:a", 1, TWO)
    assert by_id(registry, 1, ":.c:b") == (":.c:b", 1, TWO)
    with pytest.raises(SchemaNamedNotFound):
        registry.schema_by_id(SchemaId(1), subject=s(":.c:x"))
    assert by_id(registry, 1, "a") == ("a", 1, ONE)
    assert by_id(registry, 1, "b") == (":.c:b", 1, TWO)
    assert by_id(registry, 1, "x") == (":.d:x", 1, THREE)
    assert by_id(registry, 1, "nobody") == ("a", 1, ONE)


def test_an_alias_holds_for_the_subject_of_an_id_as_well(registry: Registry) -> None:
    """ALIAS-1."""
    register(registry, ":.c:b", TWO)
    registry.change_config(s(":.c:a"), {"alias": "b"})
    assert by_id(registry, 1, ":.c:a") == (":.c:b", 1, TWO)


def test_a_lookup_in_import_mode_does_not_normalise(registry: Registry) -> None:
    """As nothing does there (REG-7), whether the request or the config asks for it."""
    unsorted = '{"type":"object","title":"x"}'
    registry.change_config(s("a"), {"normalize": True})
    assert register(registry, "a", unsorted, type="JSON").schema.text == '{"title":"x","type":"object"}'
    assert lookup(registry, "a", unsorted, type="JSON").version == 1
    registry.change_mode(s("a"), "IMPORT", force=True)
    with pytest.raises(SchemaNotFound):
        lookup(registry, "a", unsorted, type="JSON", normalize=True)


def test_the_highest_id_is_told_on_demand(registry: Registry) -> None:
    """Ever given out, at least 1 (ID-4)."""
    registry.change_mode(s("a"), "IMPORT")
    register(registry, "a", ONE, id=0)
    assert registry.schema_by_id(SchemaId(0), with_max_id=True).max_id == 1
    register(registry, "a", TWO, id=41)
    registry.delete_version(s("a"), Version(2))
    registry.delete_version(s("a"), Version(2), permanent=True)
    assert registry.schema_by_id(SchemaId(0), with_max_id=True).max_id == 41
    assert registry.schema_by_id(SchemaId(0)).max_id is None


def test_who_holds_an_id(registry: Registry) -> None:
    """One version per subject, the one written last; the subject asked with only says where (ID-5 to ID-8)."""
    registry.change_mode(s(":.c:"), "IMPORT")
    register(registry, ":.c:a", ONE, id=7, version=4)
    register(registry, ":.c:a", ONE, id=7, version=2)
    register(registry, ":.c:b", ONE, id=7)
    held = registry.holders_of(SchemaId(7), subject=s(":.c:b"), deleted=False, page=ALL)
    assert [(str(subject), version) for subject, version in held] == [(":.c:a", 2), (":.c:b", 1)]
    for subject in (":.c:a", ":.c:b"):
        registry.delete_subject(s(subject))
    assert registry.subjects_of(SchemaId(7), subject=s(":.c:"), deleted=False, page=ALL) == []
    assert len(registry.subjects_of(SchemaId(7), subject=s(":.c:"), deleted=True, page=ALL)) == 2
    with pytest.raises(SchemaNotFound) as refused:
        registry.holders_of(SchemaId(8), subject=None, deleted=True, page=ALL)
    assert refused.value.message == "Schema not found"


def test_a_guid_is_found_in_any_spelling(registry: Registry) -> None:
    """Any case, short groups, bare digits; the default context first, then the others."""
    for subject in (":.c:s", "s", ":.b:s"):
        register(registry, subject, STRING)
    guid = "095d71cf-1255-6b9d-5e33-0ad575b3df5d"
    for text in (guid, guid.upper(), guid.replace("-", ""), "95d71cf-1255-6b9d-5e33-ad575b3df5d"):
        assert registry.schema_by_guid(text).schema.text == STRING
    assert [(key.context, key.id) for key in registry.ids_of(guid)] == [(".", 1), (".b", 1), (".c", 1)]
    record = registry.schema_by_guid(guid)
    assert (str(record.subject), record.version, record.id) == ("s", 1, 1)


@pytest.mark.parametrize(
    "text", ["", "x", "{095d71cf12556b9d5e330ad575b3df5d}", "-" * 4, "0" * 32, "urn:uuid:1", "ü" * 32]
)
def test_a_guid_nobody_has_is_not_found(registry: Registry, text: str) -> None:
    """Malformed or unknown, it is quoted; its ids are an empty list."""
    register(registry, "s", STRING)
    with pytest.raises(SchemaNamedNotFound) as refused:
        registry.schema_by_guid(text)
    assert refused.value.message == f"Schema {text} not found"
    assert registry.ids_of(text) == []


def test_of_several_ids_of_a_content_one_is_told_in_each_context(registry: Registry) -> None:
    """The one written last, which later registrations get."""
    registry.change_mode(s("a"), "IMPORT")
    guid = register(registry, "a", ONE, id=9).guid or ""
    register(registry, "a", ONE, id=5)
    register(registry, ":.c:a", ONE)
    assert [(key.context, key.id) for key in registry.ids_of(guid)] == [(".", 5), (".c", 1)]
    assert register(registry, "b", ONE).id == 5


def test_the_lists_of_an_ids_users_follow_the_alias_of_a_named_context(registry: Registry) -> None:
    """As it stands: out of that context. What the id means in the context is answered as ever."""
    register(registry, "b", ONE)
    register(registry, ":.c:a", TWO)
    registry.change_config(s(":.c:"), {"alias": "b"})
    assert registry.subjects_of(SchemaId(1), subject=s(":.c:"), deleted=False, page=ALL) == [s("b")]
    assert registry.schema_by_id(SchemaId(1), subject=s(":.c:")).schema.text == TWO


def test_a_guid_goes_with_its_last_holder(registry: Registry) -> None:
    """If there are several ids, the last that is live answers."""
    registry.change_mode(s("a"), "IMPORT")
    guid = register(registry, "a", ONE, id=5).guid or ""
    register(registry, "a", ONE, id=9)
    registry.delete_version(s("a"), Version(2))
    registry.delete_version(s("a"), Version(2), permanent=True)
    assert [key.id for key in registry.ids_of(guid)] == [5]
    registry.delete_version(s("a"), Version(1))
    registry.delete_version(s("a"), Version(1), permanent=True)
    with pytest.raises(SchemaNamedNotFound):
        registry.schema_by_guid(guid)


def test_a_lookup_finds_identical_content_in_the_requests_words(registry: Registry) -> None:
    """Stage A: by hash; the answer has neither time nor deletion mark."""
    register(registry, "a")
    found = lookup(registry, "a", ' {"fields":[{"name":"a","type":{"type":"int"}}],"name":"Order","type":"record"}')
    assert (found.version, found.id, found.schema.text, found.ts) == (1, 1, ONE, None)


def test_a_lookup_finds_equivalent_content_as_stored(registry: Registry) -> None:
    """Order of properties does not matter, nor whether references are inlined; the newest version wins (§5.2)."""
    register(registry, "a", UNSORTED)
    found = lookup(registry, "a", '{"aa":2,"type":"record","name":"Order","zz":1,"fields":[{"name":"a","type":"int"}]}')
    assert (found.version, found.deleted) == (1, False)
    assert '"zz":1,"aa":2' in found.schema.text
    register(registry, "base", BASE)
    register(registry, "using", USING, "base")
    assert lookup(registry, "using", INLINE).schema.text == USING
    register(registry, "inline", INLINE)
    with pytest.raises(SchemaNotFound):
        lookup(registry, "inline", USING, "base")


def test_a_lookup_minds_the_deleted_flag(registry: Registry) -> None:
    """Table 6.3: what is soft-deleted is found by those who ask for it."""
    register(registry, "a", ONE)
    register(registry, "a", TWO)
    registry.delete_version(s("a"), Version(1))
    with pytest.raises(SchemaNotFound):
        lookup(registry, "a", ONE)
    assert lookup(registry, "a", ONE, deleted=True).version == 1
    registry.delete_subject(s("a"))
    with pytest.raises(SubjectNotFound):
        lookup(registry, "a", ONE)
    assert lookup(registry, "a", TWO, deleted=True).version == 2


def test_a_lookup_fills_in_what_a_registration_would(registry: Registry) -> None:
    """Stage B: metadata and rules of the latest version, or of the config; no stamp."""
    register(registry, "a", ONE, metadata=said(k="v"))
    assert lookup(registry, "a", ONE).version == 1
    registry.change_config(s("b"), {"default_metadata": said(k="v")})
    register(registry, "b", ONE)
    assert lookup(registry, "b", ONE).schema.metadata == said(k="v")
    with pytest.raises(SchemaNotFound):
        lookup(registry, "a", ONE, metadata=said(k="other"))


def test_a_stamp_may_be_on_one_side_only(registry: Registry) -> None:
    """The stored one is ignored; the offered one must be the number (§5.2)."""
    register(registry, "a", ONE, version=1)
    assert lookup(registry, "a", ONE, metadata=Metadata()).version == 1
    register(registry, "b", ONE)
    assert lookup(registry, "b", ONE, metadata=stamp(1)).version == 1
    with pytest.raises(SchemaNotFound):
        lookup(registry, "b", ONE, metadata=stamp(2))


def test_a_lookup_is_lenient_and_never_blank(registry: Registry) -> None:
    """References may be soft-deleted; a blank text does not match; nonsense is 42201."""
    register(registry, "base", BASE)
    register(registry, "using", USING, "base")
    registry.delete_version(s("using"), Version(1))
    registry.delete_version(s("base"), Version(1))
    assert lookup(registry, "using", USING, "base", deleted=True).version == 1
    with pytest.raises(SchemaNotFound):
        lookup(registry, "using", " ", deleted=True)
    with pytest.raises(InvalidSchema):
        lookup(registry, "using", "{")


def test_a_lookup_goes_on_to_the_namesakes(registry: Registry) -> None:
    """For a name without a context, ascending; their errors are not ours, their aliases are not followed."""
    register(registry, ":.b:a", TWO)
    register(registry, ":.c:base", BASE)
    register(registry, ":.c:a", USING, "base")
    register(registry, ":.d:a", USING, ":.c:base")
    assert str(lookup(registry, "a", TWO).subject) == ":.b:a"
    with pytest.raises(InvalidSchema):
        lookup(registry, "a", USING, "base")
    register(registry, "base", BASE)
    assert str(lookup(registry, "a", USING, "base").subject) == ":.c:a"
    with pytest.raises(SubjectNotFound):
        lookup(registry, ":.x:a", TWO)
    registry.change_config(s(":.b:a"), {"alias": "nobody"})
    assert str(lookup(registry, "a", TWO).subject) == ":.b:a"
    assert str(registry.version(s("a"), Version(1)).subject) == ":.b:a"


def test_a_lookup_sorts_references_if_asked(registry: Registry) -> None:
    """As the registration did, by request or config."""
    register(registry, "base", BASE)
    register(registry, "aaa", STRING)
    references = (refer("base"), refer("aaa", name="X"))
    register(registry, "using", USING, references=references, normalize=True)
    with pytest.raises(SchemaNotFound):
        lookup(registry, "using", USING, references=references)
    assert lookup(registry, "using", USING, references=references, normalize=True).version == 1


def test_a_version_is_read_by_number_or_as_the_latest(registry: Registry) -> None:
    """Latest is the highest active one, whatever else is asked (VER-4 to VER-7, table 6.3)."""
    register(registry, "a", ONE)
    register(registry, "a", TWO)
    registry.delete_version(s("a"), Version(2))
    assert registry.version(s("a"), LATEST).version == 1
    assert registry.version(s("a"), LATEST, deleted=True).version == 1
    with pytest.raises(VersionNotFound):
        registry.version(s("a"), Version(2))
    assert registry.version(s("a"), Version(2), deleted=True).deleted is True
    registry.delete_subject(s("a"))
    with pytest.raises(SubjectNotFound):
        registry.version(s("a"), LATEST)
    with pytest.raises(VersionNotFound) as refused:
        registry.version(s("a"), LATEST, deleted=True)
    assert refused.value.message == "Version -1 not found."


def test_a_version_is_looked_for_in_the_namesakes(registry: Registry) -> None:
    """Unqualified names alone fall back; the answer is qualified (VER-8)."""
    register(registry, ":.c:a", ONE)
    assert str(registry.version(s("a"), Version(1)).subject) == ":.c:a"
    with pytest.raises(SubjectNotFound):
        registry.version(s(":.d:a"), Version(1))
    with pytest.raises(SubjectNotFound):
        registry.version(s("a"), Version(2))


def test_a_version_in_other_forms(registry: Registry) -> None:
    """Resolved, with qualified references, with its tags (§2.1)."""
    register(registry, ":.c:base", BASE)
    register(registry, ":.c:using", USING, "base")
    subject = s(":.c:using")
    assert registry.version(subject, LATEST, form="RESOLVED").schema.text == INLINE
    assert registry.version(subject, LATEST, form="whatever").schema.text == USING
    references = registry.version(subject, LATEST, qualified_references=True).schema.references
    assert [ref.subject for ref in references] == [":.c:base"]
    pii = Tagged(Entity("Base.a", "sr_field"), ("PII", "X"))
    register(registry, ":.c:base", BASE, tags_to_add=(pii,))
    for wanted, found in ((["PII"], (pii,)), (["*"], (pii,)), (["Y"], ()), ([], None)):
        assert registry.version(s(":.c:base"), LATEST, find_tags=wanted).tags == found
        assert registry.schema_by_id(SchemaId(3), subject=s(":.c:"), find_tags=wanted).tags == found


def test_a_lookup_compares_what_references_are_called_and_what_they_declare(registry: Registry) -> None:
    """Called otherwise they are another list, and a copy that says something else is another schema (EQ-1, EQ-2).

    Beside the reference that it contradicts such a copy is an invalid schema (NM-9).
    """
    register(registry, "base", BASE)
    register(registry, "using", USING, "base")
    other = INLINE.replace('"int"', '"long"')
    assert lookup(registry, "using", INLINE, "base").version == lookup(registry, "using", INLINE).version == 1
    with pytest.raises(SchemaNotFound):
        lookup(registry, "using", USING, references=(refer("base", name="Other"),))
    with pytest.raises(SchemaNotFound):
        lookup(registry, "using", other)
    with pytest.raises(InvalidSchema, match="Can't redefine: Base"):
        lookup(registry, "using", other, "base")


def test_a_version_is_found_by_its_metadata(registry: Registry) -> None:
    """The highest one that has all the pairs; without pairs the first that has metadata at all."""
    register(registry, "a", ONE, metadata=said(k="v", x="1"))
    register(registry, "a", TWO, metadata=said(k="v", x="2"))
    register(registry, "a", THREE, metadata=Metadata(), force=True)

    def find(*pairs: tuple[str, str], deleted: bool = False) -> Version | None:
        return registry.find_by_metadata(s("a"), pairs, deleted=deleted).version

    assert find(("k", "v")) == 2
    assert find(("k", "v"), ("x", "1")) == 1
    assert find() == 3
    with pytest.raises(SchemaNotFound):
        find(("k", "other"))
    registry.delete_version(s("a"), Version(2))
    assert find(("k", "v")) == 1
    assert find(("k", "v"), deleted=True) == 2
    with pytest.raises(SubjectNotFound):
        registry.find_by_metadata(s("nobody"), [])
