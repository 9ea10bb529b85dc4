"""What registering means, story by story (REG-1 to REG-9, REG-15)."""

import pytest

from sigla.errors import (
    EmptySchema,
    Incompatible,
    InvalidRuleSet,
    InvalidSchema,
    InvalidSchemaType,
    InvalidSubject,
    NotInImportMode,
    NotInReadWriteMode,
    ReadOnly,
    SchemaTooLarge,
    VersionOutOfOrder,
)
from sigla.model import (
    LATEST,
    Entity,
    Guid,
    Metadata,
    OfferedReference,
    Rule,
    RuleSet,
    Tagged,
    Version,
)
from sigla.registry import Options, Registry
from sigla.stores.sqlite.store import EmbeddedStore
from tests.build import FixedClock
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
    registered,
    s,
    said,
    stamp,
    versions,
)

RULES = RuleSet(domain=(Rule(name="r", type="CEL"),))


def test_the_same_text_registered_twice_keeps_its_id(registry: Registry) -> None:
    """Producers register on every start; that must change nothing."""
    first = register(registry, "orders")
    again = register(registry, "orders")
    assert (first.version, first.id) == (again.version, again.id) == (1, 1)
    assert versions(registry, "orders") == [1]


def test_the_answer_tells_what_was_stored(registry: Registry) -> None:
    """Canonical text, GUID, no time and no deletion mark (§4.5)."""
    answer = register(registry, "orders", ' {"type" : "string"} ')
    assert answer.schema.text == STRING
    assert answer.guid == Guid("095d71cf-1255-6b9d-5e33-0ad575b3df5d")
    assert (answer.ts, answer.deleted) == (None, None)


def test_one_content_has_one_id_in_all_subjects_of_a_context(registry: Registry) -> None:
    """…and contexts count for themselves (REG-8, REG-11)."""
    assert registered(registry, "a") == (1, 1)
    assert registered(registry, "b") == (1, 1)
    assert registered(registry, "b", TWO) == (2, 2)
    assert registered(registry, ":.c:a", TWO) == (1, 1)


def test_the_walk_of_the_version_stamp(registry: Registry) -> None:
    """Row by row, always the same text (§4.6)."""

    def post(**fields: object) -> tuple[object, object, str | None]:
        record = register(registry, "test", STRING, **fields)
        properties = record.schema.metadata.properties if record.schema.metadata else {}
        return record.version, record.id, properties.get("confluent:version")

    def find(metadata: Metadata | None = None) -> Version | None:
        return lookup(registry, "test", STRING, metadata=metadata).version

    assert post() == (1, 1, None)
    assert post(version=-1) == (1, 1, None)
    assert post(version=2) == (2, 2, "2")
    assert post(version=-1)[:2] == (2, 2)
    assert find() == 1
    assert find(stamp(1)) == 1
    assert find(stamp(2)) == 2
    assert registry.delete_version(s("test"), Version(1)) == 1
    assert find() == 2
    assert post()[:2] == (2, 2)
    assert post(version=3) == (3, 3, "3")
    with pytest.raises(VersionOutOfOrder):
        post(version=3)
    assert post(version=4) == (4, 4, "4")
    assert post(metadata=stamp(-1)) == (5, 5, "5")
    assert post(metadata=stamp(2))[:2] == (2, 2)
    assert post(metadata=stamp(0)) == (6, 6, "6")
    assert post(metadata=Metadata())[:2] == (6, 6)
    assert post(metadata=said(mykey="myvalue")) == (7, 7, None)
    assert post(version=-1) == (8, 8, "8")
    metadata = registry.version(s("test"), Version(8)).schema.metadata
    assert metadata == Metadata(properties={"confluent:version": "8", "mykey": "myvalue"})


def test_an_existing_version_is_returned_whatever_the_mode(registry: Registry) -> None:
    """Consumers of a read-only or importing registry register what they use, as always (REG-1)."""
    for subject, mode in (("ro", "READONLY"), ("im", "IMPORT")):
        assert registered(registry, subject)[0] == 1
        registry.change_mode(s(subject), mode, force=True)
        assert registered(registry, subject)[0] == 1
        assert registered(registry, subject, id=1)[0] == 1
        assert registered(registry, subject, version=1, id=1)[0] == 1


def test_modes_decide_who_may_bring_ids(registry: Registry) -> None:
    """READONLY refuses all, READWRITE ids, IMPORT their absence (REG-2); sentences name the context."""
    with pytest.raises(NotInImportMode) as refused:
        register(registry, ":.c:a", id=7)
    assert refused.value.message == "Subject :.c:a in context :.c: is not in import mode"
    registry.change_mode(s("a"), "IMPORT")
    with pytest.raises(NotInReadWriteMode):
        register(registry, "a")
    registry.change_mode(s("a"), "READONLY")
    with pytest.raises(ReadOnly):
        register(registry, "a", id=7)


def test_an_invalid_schema_is_told_before_a_closed_door(registry: Registry) -> None:
    """The pre-check parses first: 42201, not 42205; and a wrong number comes after compatibility."""
    registry.change_mode(s("a"), "READONLY")
    with pytest.raises(InvalidSchema):
        register(registry, "a", "{")
    register(registry, "b")
    with pytest.raises(Incompatible):
        register(registry, "b", STRING, version=9)


def test_a_number_is_a_demand(registry: Registry) -> None:
    """N must be the next, and stamps the metadata (REG-3)."""
    with pytest.raises(VersionOutOfOrder):
        register(registry, "a", version=2)
    record = register(registry, "a", version=1)
    assert (record.version, record.schema.metadata) == (1, stamp(1))


def test_a_stored_version_is_returned_by_id_and_number(registry: Registry) -> None:
    """With a positive number, id and number must both be right; or another active version bears the id (REG-1)."""
    registry.change_mode(s(":.c:"), "IMPORT")
    register(registry, ":.c:a", ONE, id=5, version=1)
    register(registry, ":.c:a", ONE, id=5, version=4)
    registry.change_mode(s(":.c:"), "READWRITE")
    assert registered(registry, ":.c:a", ONE, id=5, version=4) == (4, 5)
    assert registered(registry, ":.c:a", ONE, id=5, version=1) == (1, 5)
    with pytest.raises(NotInImportMode):
        register(registry, ":.c:a", ONE, id=5, version=2)
    with pytest.raises(NotInImportMode):
        register(registry, ":.c:a", ONE, id=6)


def test_nothing_but_metadata_makes_a_version(registry: Registry) -> None:
    """A blank text means the latest active version's, with type and references (REG-5)."""
    register(registry, "base", BASE)
    register(registry, "a", USING, "base")
    record = register(registry, "a", "  ", metadata=said(owner="me"))
    assert (record.version, record.schema.text) == (2, USING)
    assert [ref.subject for ref in record.schema.references] == ["base"]
    with pytest.raises(EmptySchema):
        register(registry, "nobody", None, metadata=said(owner="me"))


def test_metadata_and_rules_are_inherited_and_can_be_dropped(registry: Registry) -> None:
    """From the latest version where the request is silent; an empty one is not silent (REG-6)."""
    register(registry, "a", ONE, metadata=said(k="v"), rule_set=RULES)
    second = register(registry, "a", TWO)
    assert (second.schema.metadata, second.schema.rule_set) == (said(k="v"), RULES)
    third = register(registry, "a", THREE, metadata=Metadata(), rule_set=RuleSet(), force=True)
    assert (third.schema.metadata, third.schema.rule_set) == (Metadata(), RuleSet())


def test_config_gives_defaults_and_has_the_last_word(registry: Registry) -> None:
    """Default, then specific, then override (§4.4)."""
    registry.change_config(
        s("a"), {"default_metadata": said(x="default", y="default"), "override_metadata": said(z="override")}
    )
    record = register(registry, "a", metadata=said(y="mine", z="mine"))
    assert record.schema.metadata == said(x="default", y="mine", z="override")
    assert registered(registry, "a", metadata=said(y="mine", z="mine")) == (record.version, record.id)


def test_tags_go_into_the_text_and_stamp_the_version(registry: Registry) -> None:
    """Added, then removed; using them asks for a stamp; propagation takes the latest version's (REG-6a)."""
    pii = (Tagged(Entity("Order.a", "sr_field"), ("PII", "GDPR")),)
    record = register(
        registry, "a", tags_to_add=pii, tags_to_remove=(Tagged(Entity("Order.a", "sr_field"), ("GDPR",)),)
    )
    assert '"confluent:tags":["PII"]' in record.schema.text
    assert record.schema.metadata == stamp(1)
    following = register(registry, "a", TWO, propagate_tags=True)
    assert '"confluent:tags":["PII"]' in following.schema.text
    with pytest.raises(InvalidSchema):
        register(registry, "a", tags_to_add=(Tagged(Entity("Nobody", "sr_record"), ("PII",)),))


def test_what_is_no_schema_is_refused_with_a_reason(registry: Registry) -> None:
    """Unknown types, nonsense, unknown references, rule sets that cannot run (REG-7)."""
    with pytest.raises(InvalidSchemaType) as unknown:
        register(registry, "a", type="XML")
    assert unknown.value.message == "Invalid schema type XML"
    with pytest.raises(InvalidSchema) as nonsense:
        register(registry, "a", "{")
    assert nonsense.value.message.startswith("Invalid schema of type AVRO, details: ")
    with pytest.raises(InvalidSchema) as missing:
        register(registry, "a", USING, "base")
    assert 'No schema reference found for subject "base" and version 1' in missing.value.message
    with pytest.raises(InvalidSchema) as incomplete:
        register(registry, "a", USING, references=(OfferedReference("Base", None, 1),))
    assert "Invalid reference: {name='Base', subject='null', version=1}" in incomplete.value.message
    with pytest.raises(InvalidRuleSet):
        register(registry, "a", rule_set=RuleSet(domain=(Rule(name="1", type="CEL"),)))


@pytest.mark.parametrize("name", ["a\x01", "__GLOBAL", ":.__GLOBAL:a", ":.:", ":*:x", "x" * 701])
def test_a_bad_name_stores_nothing(registry: Registry, name: str) -> None:
    """42208, also where the reference goes on to harm itself (NAME-1 to NAME-6)."""
    with pytest.raises(InvalidSubject):
        register(registry, name)
    assert registry.contexts(page=ALL) == ["."]


def test_a_text_may_not_be_longer_than_the_operator_allows(store: EmbeddedStore, clock: FixedClock) -> None:
    """42209; what counts is bytes."""
    registry = Registry(store.catalog, store.bodies, clock, Options(schema_bytes=len(ONE)))
    register(registry, "a", ONE)
    with pytest.raises(SchemaTooLarge):
        register(registry, "a", ONE + " ")
    with pytest.raises(SchemaTooLarge):
        register(registry, "a", ONE[:-1].replace("Order", "Ordér") + "}")


def test_today_s_rules_are_for_new_schemas_alone(registry: Registry) -> None:
    """With an id, or where the config says so, names and defaults are read leniently (REG-7)."""
    odd = '{"type":"record","name":"Odd","fields":[{"name":"a","type":"int","default":"x"}]}'
    with pytest.raises(InvalidSchema):
        register(registry, "a", odd)
    registry.change_config(s("a"), {"validate_new_schemas": False})
    assert registered(registry, "a", odd) == (1, 1)
    registry.change_mode(s("b"), "IMPORT")
    assert registered(registry, "b", odd, id=9) == (1, 9)


def test_normalising_puts_what_has_no_meaning_in_one_order(registry: Registry) -> None:
    """By the request or by the config; references are sorted and none is there twice."""
    register(registry, "base", BASE)
    register(registry, "aaa", STRING)
    plain = register(registry, "plain", UNSORTED)
    normal = register(registry, "normal", UNSORTED, normalize=True)
    assert plain.schema.text != normal.schema.text
    registry.change_config(s("config"), {"normalize": True})
    assert register(registry, "config", UNSORTED).schema.text == normal.schema.text
    references = (refer("base"), refer("aaa", name="X"), refer("base"))
    record = register(registry, "using", USING, references=references, normalize=True)
    assert [ref.subject for ref in record.schema.references] == ["aaa", "base"]


def test_an_import_is_stored_as_it_comes(registry: Registry) -> None:
    """Neither normalised, nor compared, nor given what others have (REG-7, §8.1)."""
    registry.change_config(s("a"), {"normalize": True, "default_metadata": said(k="v"), "level": "FULL"})
    registry.change_mode(s("a"), "IMPORT")
    record = register(registry, "a", UNSORTED, id=4)
    assert '"zz":1,"aa":2' in record.schema.text
    assert record.schema.metadata is None
    assert registered(registry, "a", STRING, id=5) == (2, 5)


def test_an_equivalent_schema_is_the_version_it_equals(registry: Registry) -> None:
    """The stored entity answers, with its time, when it is found before anything is decided (REG-9, §4.5)."""
    register(registry, "base", BASE)
    using = register(registry, "using", USING, "base")
    found = register(registry, "using", INLINE)
    assert (found.version, found.id, found.schema.text) == (using.version, using.id, USING)
    assert found.deleted is False
    assert found.ts is not None


def test_references_stay_in_the_context_of_the_referrer(registry: Registry) -> None:
    """Unless they name another; the default one cannot be named from outside (REG-15)."""
    register(registry, "base", BASE)
    for target in ("base", ":.:base"):
        with pytest.raises(InvalidSchema):
            register(registry, ":.c:using", USING, target)
    register(registry, ":.d:base", BASE)
    assert registered(registry, ":.c:using", USING, ":.d:base") == (1, 1)
    assert registered(registry, "using", USING, ":.d:base")[0] == 1


def test_a_reference_to_the_latest_is_stored_with_its_number(registry: Registry) -> None:
    """Minus one is replaced, so that the schema means the same tomorrow (REG-15)."""
    register(registry, "base", BASE)
    register(registry, "base", BASE.replace("}]", '},{"name":"b","type":"int","default":0}]'))
    record = register(registry, "using", USING, references=(refer("base", -1),))
    assert record.schema.references[0].version == 2


def test_a_new_schema_refers_to_active_versions_alone(registry: Registry) -> None:
    """An import may refer to what is soft-deleted (REG-7)."""
    register(registry, "base", BASE)
    registry.delete_version(s("base"), Version(1))
    with pytest.raises(InvalidSchema):
        register(registry, "using", USING, "base")
    registry.change_mode(s("using"), "IMPORT")
    assert registered(registry, "using", USING, "base", id=9) == (1, 9)


def test_no_more_than_eighty_subjects_are_referenced(registry: Registry) -> None:
    """A commit has an end: 42201."""
    for number in range(81):
        register(registry, f"s{number}", f'{{"type":"record","name":"R{number}","fields":[]}}')
    references = [refer(f"s{number}", name=f"R{number}") for number in range(81)]
    assert registered(registry, "using", STRING, references=tuple(references[:80]))[0] == 1
    with pytest.raises(InvalidSchema):
        register(registry, "using", STRING, references=tuple(references))


def test_an_incompatible_schema_is_refused_unless_forced(registry: Registry) -> None:
    """40901 names the subject and lists what stands against it."""
    register(registry, ":.c:a")
    with pytest.raises(Incompatible) as refused:
        register(registry, ":.c:a", STRING)
    assert refused.value.message.startswith(
        'Schema being registered is incompatible with an earlier schema for subject ":.c:a", details: [{errorType:'
    )
    assert registered(registry, ":.c:a", STRING, force=True) == (2, 2)


def test_an_import_with_an_empty_text_is_refused(registry: Registry) -> None:
    """Also where there is a version whose text a registration would take (REG-5): an id must not get it by chance."""
    register(registry, "a")
    registry.change_mode(s("a"), "IMPORT", force=True)
    for subject in ("a", "b"):
        registry.change_mode(s(subject), "IMPORT", force=True)
        for text in (None, "", "  "):
            with pytest.raises(EmptySchema):
                register(registry, subject, text, id=1)
            with pytest.raises(EmptySchema):
                register(registry, subject, text, id=7, version=3)


def test_an_alias_leads_one_hop(registry: Registry) -> None:
    """The target's rules hold, and its name is in the answer (ALIAS-1, ALIAS-3)."""
    registry.change_config(s("a"), {"alias": "b"})
    registry.change_config(s("b"), {"alias": "c"})
    assert str(register(registry, "a").subject) == "b"
    registry.change_config(s(":.x:a"), {"alias": ":.y:b"})
    assert str(register(registry, ":.x:a").subject) == ":.y:b"
    registry.change_config(s(":.x:"), {"alias": "nobody"})
    assert str(register(registry, ":.x:z").subject) == ":.x:z"


def test_another_form_of_the_answer_changes_nothing_stored(registry: Registry) -> None:
    """`format=resolved` inlines references in the answer alone."""
    register(registry, "base", BASE)
    assert register(registry, "using", USING, "base", form="resolved").schema.text == INLINE
    assert registry.version(s("using"), LATEST).schema.text == USING
