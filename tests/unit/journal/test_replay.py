"""What a topic `_schemas` comes to: rules JRN-1 to JRN-9, and what people do to topics."""

import json
import pickle
from typing import Any

import pytest

from sigla.journal import replay
from sigla.journal.replay import Put, Skipped, TopicRecord, read, replayed
from sigla.journal.replay import records as forms
from sigla.journal.replay.states import REBOUND
from sigla.model import GLOBAL, BodyKey, Config, Metadata, Reference, SchemaId, Settings, Subject, Version
from sigla.rules.guid import guid_of
from tests.unit.journal.topic import (
    OTHER,
    TEXT,
    THIRD,
    cleared,
    config,
    context,
    continued,
    hidden,
    mode,
    purged,
    reasons,
    s,
    schema,
    state,
    stored,
    topic,
)


def test_the_last_word_about_a_version_counts() -> None:
    """Its time is that of the record, its soft delete a record like any other."""
    found = state(schema("o", 1, 1), schema("o", 2, 2, OTHER), schema("o", 1, 1, deleted=True))
    assert stored(found, "o") == [(1, 1, True, 3), (2, 2, False, 2)]


def test_a_subject_has_one_name_however_a_record_spells_it() -> None:
    """Else an import would bring in a subject that no request reaches, with the rows of another."""
    said = (schema(":.bank:pay", 1, 1), schema(":.::.bank:pay", 2, 2), config(":.::.bank:pay", alias="x"))
    state = replayed(topic(*said, hidden(":.::.bank:pay", 1)))
    pay = Subject(".bank", "pay")
    assert {subject: [put.version for put in puts] for subject, puts in state.subjects.items()} == {pay: [2, 1]}
    assert set(state.settings) == {pay}
    assert set(state.highest) == {".bank"}


def test_a_subject_delete_hides_what_was_there_and_nothing_that_comes_later() -> None:
    """JRN-7: a version below the mark that is written again lives again. Times stay those of the registrations."""
    found = state(
        schema("o", 1, 1),
        schema("o", 2, 2, OTHER),
        schema("o", 3, 3, THIRD),
        hidden("o", 2),
        schema("o", 1, 1),
    )
    assert stored(found, "o") == [(1, 1, False, 5), (2, 2, True, 2), (3, 3, False, 3)]


def test_a_compacted_topic_may_begin_with_the_end() -> None:
    """JRN-3, JRN-8: tombstones and deletes of what was never seen."""
    found = state(purged("gone", 1), hidden("gone", 4), mode("gone", None), schema("o", 3, 7, deleted=True))
    assert stored(found, "gone") == []
    assert stored(found, "o") == [(3, 7, True, 4)]
    assert found.skipped == ()
    assert found.settings == {}


def test_what_is_purged_is_gone_but_what_its_id_meant_is_known() -> None:
    """Records in Kafka may still bear it; and the id is never given again."""
    found = state(schema("o", 1, 5), purged("o", 1), schema("o", 1, 6, OTHER))
    assert stored(found, "o") == [(1, 6, False, 3)]
    assert {key: put.schema.text for key, put in found.gone.items()} == {BodyKey(".", SchemaId(5)): TEXT}
    assert found.highest == {".": 6}


def test_an_id_that_is_bound_takes_no_other_text() -> None:
    """JRN-4: the record loses, and its version stays what it was."""
    found = state(schema("a", 1, 1), schema("b", 1, 2, OTHER), schema("b", 1, 1, OTHER), schema("c", 1, 1, TEXT))
    assert stored(found, "b") == [(1, 2, False, 2)]
    assert stored(found, "c") == [(1, 1, False, 4)]
    assert reasons(found) == [(2, REBOUND)]


def test_an_id_is_free_when_its_last_version_gives_it_up() -> None:
    """JRN-6: by a purge, or because the version is written anew with another id."""
    freed = state(schema("a", 1, 1), purged("a", 1), schema("b", 1, 1, OTHER))
    assert stored(freed, "b") == [(1, 1, False, 3)]
    moved = state(schema("a", 1, 1), schema("a", 1, 2, OTHER), schema("b", 1, 1, THIRD))
    assert stored(moved, "b") == [(1, 1, False, 3)]
    shared = state(schema("a", 1, 1), schema("c", 1, 1), purged("a", 1), schema("b", 1, 1, OTHER))
    assert stored(shared, "b") == []


def test_ids_are_bound_within_a_context() -> None:
    found = state(schema("a", 1, 1), schema(":.c:a", 1, 1, OTHER))
    assert found.skipped == ()
    assert found.highest == {".": 1, ".c": 1}


def test_a_rejected_record_still_uses_up_its_id() -> None:
    """JRN-5: the highest id is that of every record."""
    found = state(schema("a", 1, 9), schema("b", 1, 9, OTHER))
    assert found.highest == {".": 9}


def test_clearing_a_scope_takes_what_is_deleted_in_it() -> None:
    everything = state(schema("a", 1, 1, deleted=True), schema(":.c:a", 1, 1, deleted=True), cleared())
    assert everything.subjects == {}
    one = state(
        schema("a", 1, 1, deleted=True), schema(":.c:a", 1, 1), schema(":.c:a", 2, 1, deleted=True), cleared(":.c:")
    )
    assert stored(one, "a") == [(1, 1, True, 1)]
    assert stored(one, ":.c:a") == [(1, 1, False, 2)]
    later = state(cleared(), schema("a", 1, 1, deleted=True))
    assert stored(later, "a") == [(1, 1, True, 2)]


def test_settings_are_the_last_ones() -> None:
    """Also of the oldest form, which names its subject in the key alone."""
    old = {"keytype": "CONFIG", "subject": "o", "magic": 0}, {"compatibilityLevel": "FULL"}
    found = state(
        config("", compatibilityLevel="NONE"),
        old,
        mode("o", "READONLY"),
        mode("p", "IMPORT"),
        mode("p", None),
        config(":.c:", normalize=True, compatibilityPolicy="odd"),
    )
    assert found.settings == {
        GLOBAL: Settings(Config(level="NONE")),
        s("o"): Settings(Config(level="FULL"), "READONLY"),
        s(":.c:"): Settings(Config(normalize=True)),
    }


def test_contexts_are_listed_until_they_are_not() -> None:
    found = state(context(".a"), context(".b"), context(".a", listed=False))
    assert found.contexts == (".b",)


def test_records_of_other_times_are_read_as_they_were_meant() -> None:
    """No type is Avro, a null is nothing, the order of a key's fields is free, magic 0 is the first form (JRN-1)."""
    key = {"version": 1, "magic": 0, "subject": "o", "keytype": "SCHEMA", "new": 1}
    value = {"id": 1, "schema": TEXT, "references": None, "metadata": None, "later": {"deep": [None]}}
    (put,) = state((key, value)).subjects[s("o")]
    assert (put.schema.type, put.schema.metadata, put.deleted) == ("AVRO", None, False)
    nobody = read(TopicRecord('{"keytype":"CONFIG","subject":null,"magic":0}', '{"compatibilityLevel":"FULL"}', 0, 0))
    assert nobody == replay.ConfigSet(0, GLOBAL, Config(level="FULL"))


def test_everything_a_version_has_is_kept() -> None:
    """Sets are sorted, as the reference shows them."""
    value = {
        "schemaType": "JSON",
        "references": [{"name": "n", "subject": ":.x:s", "version": 3}],
        "metadata": {"tags": {"a": ["y", "x", "y"]}, "properties": {"k": "v"}, "sensitive": ["k"]},
        "ruleSet": {"domainRules": [{"name": "r", "kind": "CONDITION", "mode": "WRITE", "type": "CEL"}]},
    }
    (put,) = state(schema("o", 1, 1, "{}", **value)).subjects[s("o")]
    assert put.schema.references == (Reference("n", ":.x:s", Version(3)),)
    assert put.schema.metadata == Metadata({"a": ("x", "y")}, {"k": "v"}, ("k",))
    assert put.schema.rule_set is not None
    assert [rule.name for rule in put.schema.rule_set.domain] == ["r"]


def test_a_hash_made_before_encryption_is_believed() -> None:
    encrypted = {"properties": {"owner": "bWU=", "__enc__": "true"}, "sensitive": ["owner"]}
    (put,) = state(schema("o", 1, 1, md5="AAECAwQFBgcICQoLDA0ODw==", metadata=encrypted)).subjects[s("o")]
    assert put.guid == "00010203-0405-0607-0809-0a0b0c0d0e0f"


def test_a_hash_that_can_be_made_is_not_taken_from_a_dump() -> None:
    """A body is believed only with the hash of its content: one with another could never be read."""
    (put,) = state(schema("o", 1, 1, md5="AAECAwQFBgcICQoLDA0ODw==")).subjects[s("o")]
    assert put.guid == guid_of(put.schema)


BAD_VALUES: list[tuple[dict[str, Any], str]] = [
    ({"schema": 5}, forms.VALUE),
    ({"schemaType": ["AVRO"]}, forms.VALUE),
    ({"deleted": "no"}, forms.VALUE),
    ({"references": [{"name": "n", "subject": "s"}]}, forms.VALUE),
    ({"references": [{"name": "n", "subject": "s", "version": "1"}]}, forms.VALUE),
    ({"references": 7}, forms.VALUE),
    ({"metadata": []}, forms.VALUE),
    ({"metadata": {"properties": {"a": 1}}}, forms.VALUE),
    ({"metadata": {"tags": {"a": 1}}}, forms.VALUE),
    ({"ruleSet": {"domainRules": [{"name": "r", "kind": "ODD"}]}}, forms.VALUE),
    ({"ruleSet": {"domainRules": {"name": "r"}}}, forms.VALUE),
    ({"ruleSet": {"enableAt": "NOWHERE"}}, forms.VALUE),
    ({"md5": "x"}, forms.VALUE),
    ({"id": -1}, forms.NUMBER),
    ({"id": 2**31}, forms.NUMBER),
    ({"id": 10**40}, forms.NUMBER),
    ({"id": True}, forms.NUMBER),
    ({"id": 1.0}, forms.NUMBER),
]


@pytest.mark.parametrize("fields, why", BAD_VALUES)
def test_a_value_nobody_can_have_written_is_skipped(fields: dict[str, Any], why: str) -> None:
    """JRN-2: the others go on."""
    key, value = schema("o", 1, 1)
    found = state((key, (value or {}) | fields), schema("o", 2, 2, OTHER))
    assert reasons(found) == [(0, why)]
    assert stored(found, "o") == [(2, 2, False, 2)]


BAD_RECORDS: list[tuple[str, str | None, int, str]] = [
    ("", None, 0, forms.NO_KEY),
    ("[]", None, 0, forms.NO_KEY),
    ("{}", None, 0, forms.NO_KEY),
    ('{"keytype":7}', None, 0, forms.NO_KEY),
    ('{"keytype":"ODD"}', None, 0, forms.UNKNOWN),
    ('{"keytype":"ASSOC"}', "{}", 0, forms.VALUE),
    ('{"keytype":"SCHEMA","subject":"o","version":1,"magic":2}', None, 0, forms.MAGIC),
    ('{"keytype":"SCHEMA","subject":"o","version":0,"magic":1}', None, 0, forms.NUMBER),
    ('{"keytype":"SCHEMA","subject":"o","magic":1}', None, 0, forms.VALUE),
    ('{"keytype":"SCHEMA","subject":5,"version":1,"magic":1}', None, 0, forms.NAME),
    ('{"keytype":"SCHEMA","version":1,"magic":1}', None, 0, forms.NAME),
    ('{"keytype":"SCHEMA","subject":":*:o","version":1,"magic":1}', None, 0, forms.NAME),
    ('{"keytype":"SCHEMA","subject":":.::*:o","version":1,"magic":1}', None, 0, forms.NAME),
    ('{"keytype":"SCHEMA","subject":":.::.__GLOBAL:o","version":1,"magic":1}', None, 0, forms.NAME),
    ('{"keytype":"SCHEMA","subject":"__GLOBAL","version":1,"magic":1}', None, 0, forms.NAME),
    ('{"keytype":"SCHEMA","subject":"a\\u0001","version":1,"magic":1}', None, 0, forms.NAME),
    ('{"keytype":"SCHEMA","subject":"' + "x" * 701 + '","version":1,"magic":1}', None, 0, forms.NAME),
    ('{"keytype":"SCHEMA","subject":"o","version":1,"magic":1}', "[" * 100_000, 0, forms.VALUE),
    ('{"keytype":"SCHEMA","subject":"o","version":1,"magic":1}', '{"a":' * 900 + "1" + "}" * 900, 0, forms.VALUE),
    ('{"keytype":"SCHEMA","subject":"o","version":1,"magic":1}', '{"schema":"\\ud800","id":1}', 0, forms.VALUE),
    ('{"keytype":"MODE","magic":0}', '{"mode":"ODD"}', 0, forms.VALUE),
    ('{"keytype":"MODE","magic":0}', '{"mode":["IMPORT"]}', 0, forms.VALUE),
    ('{"keytype":"CONFIG","magic":0}', '{"compatibilityLevel":"ODD"}', 0, forms.VALUE),
    ('{"keytype":"CONFIG","magic":0}', '{"compatibilityLevel":[]}', 0, forms.VALUE),
    ('{"keytype":"CONFIG","magic":0}', '{"normalize":"yes"}', 0, forms.VALUE),
    ('{"keytype":"CONFIG","magic":0}', '{"compatibilityPolicy":{}}', 0, forms.VALUE),
    ('{"keytype":"CONTEXT","context":"c"}', "{}", 0, forms.NAME),
    ('{"keytype":"CONTEXT","context":".a:b"}', "{}", 0, forms.NAME),
    ('{"keytype":"CONTEXT","context":"."}', "{}", 0, forms.NAME),
    ('{"keytype":"CONTEXT"}', "{}", 0, forms.VALUE),
    ('{"keytype":"EXPORTER","name":"e","magic":0}', '{"name":"e"}', 0, forms.EXPORTER),
    ('{"keytype":"MODE","magic":0}', '{"mode":"IMPORT"}', 2**63, forms.TIME),
    ('{"keytype":"MODE","magic":0}', '{"mode":"IMPORT"}', -2, forms.TIME),
]


@pytest.mark.parametrize("key, value, ts, why", BAD_RECORDS)
def test_a_record_nobody_can_follow_is_skipped_with_a_reason(key: str, value: str | None, ts: int, why: str) -> None:
    """Nothing is raised, whatever stands in the topic."""
    found = read(TopicRecord(key, value, ts, 3))
    assert isinstance(found, Skipped)
    assert (found.offset, found.why) == (3, why)
    assert key.startswith(found.about.removesuffix("…"))


def test_records_that_say_nothing_are_no_trouble() -> None:
    for key in ('{"keytype":"NOOP","magic":0}', '{"keytype":"DELETE_SUBJECT","subject":"o","magic":0}'):
        assert read(TopicRecord(key, None, 0, 0)) == replay.Nothing(0)


def test_a_content_with_several_ids_is_known_by_the_one_written_last() -> None:
    """JRN-5. Deletes write, too: of a version all of it, of a subject each of its versions again."""
    one = state(schema("a", 1, 1), schema("a", 2, 2, OTHER))
    assert last_words(one) == set()
    two = state(schema("a", 1, 1), schema("b", 1, 2), schema("c", 1, 1))
    assert last_words(two) == {("c", 1)}
    deleted = state(schema("a", 1, 1), schema("b", 1, 2), schema("a", 1, 1, deleted=True))
    assert last_words(deleted) == {("a", 1)}
    subject = state(schema("a", 1, 1), schema("b", 1, 2), hidden("a", 1))
    assert last_words(subject) == {("a", 1)}


def last_words(found: replay.State) -> set[tuple[str, int]]:
    places = replay.last_words(put for puts in found.subjects.values() for put in puts)
    return {(str(subject), version) for subject, version in places}


def test_many_machines_come_to_the_same_as_one() -> None:
    """Record by record, version by version, id by id, subject by subject; events travel as bytes."""
    records = topic(
        schema("a", 1, 1),
        schema("a", 2, 2, OTHER),
        schema("b", 1, 1, OTHER),
        purged("a", 1),
        schema("b", 1, 1, OTHER),
        hidden("a", 2),
        cleared(),
    )
    events: list[Any] = pickle.loads(pickle.dumps([read(record) for record in reversed(records)]))
    events.sort(key=lambda event: event.offset)
    places = {(e.subject, e.version) for e in events if isinstance(e, Put | replay.Purged)}
    claims = [
        claim
        for place in places
        for claim in replay.claims(e for e in events if getattr(e, "version", 0) and (e.subject, e.version) == place)
    ]
    lost = {
        offset
        for key in {claim.key for claim in claims}
        for offset in replay.rejected(sorted((c for c in claims if c.key == key), key=lambda claim: claim.offset))
    }
    assert lost == {2}
    marks = [event for event in events if isinstance(event, replay.Cleared)]
    of_subjects = {
        subject: replay.surviving(
            (e for e in events if getattr(e, "subject", None) == subject and e.offset not in lost), marks
        )
        for subject in (s("a"), s("b"))
    }
    assert {subject: puts for subject, puts in of_subjects.items() if puts} == replayed(records).subjects


def test_an_answer_of_an_api_is_the_record_it_came_from() -> None:
    """They share their fields; what an API adds is passed by."""
    answer = {"subject": ":.c:o", "version": 2, "id": 7, "guid": "x", "schema": TEXT, "ts": 5, "deleted": True}
    found = read(replay.from_answer(json.loads(json.dumps(answer))))
    assert isinstance(found, Put)
    assert (found.subject, found.version, found.id, found.ts, found.deleted) == (s(":.c:o"), 2, 7, 5, True)
    assert replay.highest_of({"maxId": 9}, SchemaId(7)) == 9
    assert replay.highest_of({}, SchemaId(7)) == 7


def test_numbering_goes_on_where_the_journal_says() -> None:
    """What was imported before no longer counts, what came later does."""
    far = schema("o", 1, 2**31 - 1)
    assert state(far, continued(".", 41)).highest == {".": 41}
    assert state(far, continued(".", 41), schema("p", 1, 42, OTHER)).highest == {".": 42}
    assert state(schema("o", 1, 7), continued(".eu", 3)).highest == {".": 7, ".eu": 3}


@pytest.mark.parametrize(
    "context, after", [(5, 1), (None, 1), ("eu", 1), (".eu:x", 1), (".", -1), (".", 2**31), (".", "1"), (".", True)]
)
def test_numbering_that_no_context_can_have_is_skipped(context: object, after: object) -> None:
    found = state(continued(context, after))
    assert (len(found.skipped), dict(found.highest)) == (1, {})


def test_a_record_that_says_nothing_may_hold_what_it_likes() -> None:
    """To the reference its value means nothing either."""
    assert state(({"keytype": "NOOP", "magic": 0}, {"note": "backup"})) == state()
