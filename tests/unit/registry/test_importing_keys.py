"""Keys of field encryption, brought from another registry: from its topic, as it had them."""

from collections.abc import Iterator

import pytest

from sigla import journal
from sigla.journal.replay import TopicRecord, replayed
from sigla.keks.nouns import DEFAULT_ALGORITHM, DekDraft, KekDraft
from sigla.keks.verbs import deks, keks
from sigla.model import Subject
from sigla.registry import Registry
from sigla.remote import state as remote_state
from sigla.stores.sqlite.store import EmbeddedStore
from sigla.upkeep.exporting import standing_keys
from sigla.upkeep.importing import CONFLICTING, IDENTICAL, IMPORTED, SKIPPED, Report, import_state, rehearsal
from sigla.upkeep.importing.keys import NO_KEK, OTHER_KEK, OTHER_KEY
from tests.build import FixedClock
from tests.unit.cli.answering import behind_a_url
from tests.unit.cli.answering import registry as answers_of

S = Subject(".", "s")
TOPIC = (
    (
        '{"tenant":"default","name":"k1","type":"KEK"}',
        (
            '{"name":"k1","kmsType":"local-kms","kmsKeyId":"mykey","kmsProps":{"a":null},"doc":"d","shared":false,'
            '"deleted":false,"type":"KEK","offset":9,"ts":9}'
        ),
    ),
    (
        '{"tenant":"default","kekName":"k1","subject":"s","algorithm":"AES256_GCM","version":1,"type":"DEK"}',
        (
            '{"kekName":"k1","subject":"s","algorithm":"AES256_GCM","version":1,"encryptedKeyMaterial":"AAA=",'
            '"deleted":true,"type":"DEK"}'
        ),
    ),
)
"""As the reference writes it."""


@pytest.fixture
def store() -> Iterator[EmbeddedStore]:
    with EmbeddedStore() as store:
        yield store


def over(store: EmbeddedStore) -> Registry:
    return Registry(store.catalog, store.bodies, FixedClock())


def records(*pairs: tuple[str, str | None], ts: int = 5) -> list[TopicRecord]:
    return [TopicRecord(key, value, ts, offset) for offset, (key, value) in enumerate(pairs)]


def fill(registry: Registry) -> None:
    keks.create_kek(registry, KekDraft("k", "aws", "arn:aws:kms:x", {"b": None, "a": "1"}, doc="", shared=False))
    keks.create_kek(registry, KekDraft("gone", "x", "y"))
    for version in range(1, 60):
        deks.create_dek(registry, "k", S, DekDraft(version=version, material=f"m{version}"))
    deks.delete_deks(registry, "k", S, None, DEFAULT_ALGORITHM)
    deks.create_dek(registry, "k", Subject(".c", "s"), DekDraft(material=""))
    keks.delete_kek(registry, "gone")
    keks.delete_kek(registry, "gone", permanent=True)


def brought(registry: Registry, told: list[TopicRecord]) -> Report:
    return import_state(registry, replayed(told))


def test_keys_are_brought_from_the_topic_as_it_has_them(store: EmbeddedStore) -> None:
    """A client that meets the new registry decrypts what it encrypted with the old one."""
    registry = over(store)
    report = brought(registry, records(*TOPIC))
    assert report.of(IMPORTED) == {"kek": 1, "dek": 1}
    kek = keks.read_kek(registry, "k1")
    assert (kek.kms_key_id, dict(kek.kms_props), kek.doc, kek.ts) == ("mykey", {"a": None}, "d", 5)
    dek = deks.read_dek(registry, "k1", S, 1, DEFAULT_ALGORITHM, deleted=True).dek  # type: ignore[arg-type]  # a number
    assert (dek.material, dek.deleted, dek.ts) == ("AAA=", True, 5)
    assert brought(registry, records(*TOPIC)).of(IDENTICAL) == {"kek": 1, "dek": 1}


@pytest.mark.parametrize("compacted", [True, False], ids=["what stands", "the journal"])
def test_what_one_registry_tells_another_takes_up_whole(store: EmbeddedStore, compacted: bool) -> None:
    """An export is there to be imported."""
    fill(over(store))
    told = list(
        standing_keys(store.catalog) if compacted else journal.key_records_of(row for _, row in store.journal.read())
    )
    with EmbeddedStore() as other:
        report = brought(over(other), [TopicRecord(*each, offset) for offset, each in enumerate(told)])
        assert report.of(IMPORTED) == {"kek": 1, "dek": 60}
        assert list(standing_keys(other.catalog)) == list(standing_keys(store.catalog))


def test_keys_are_brought_from_another_registry_through_its_api(store: EmbeddedStore) -> None:
    """The other registry goes on serving, and its topic need not be within reach."""
    registry = over(store)
    fill(registry)
    with behind_a_url(answers_of(registry)) as url:
        state = remote_state.read(url, "", FixedClock())
    with EmbeddedStore() as other:
        report = import_state(over(other), state)
        assert report.of(IMPORTED) == {"kek": 1, "dek": 60}
        assert list(standing_keys(other.catalog)) == list(standing_keys(store.catalog))


def test_a_key_that_the_other_registry_cannot_unwrap_keeps_nothing_else_out(store: EmbeddedStore) -> None:
    """Its key service may be gone for good. All else comes along, and the report names what does not."""
    registry = over(store)
    fill(registry)
    keks.create_kek(registry, KekDraft("lost", "local-kms", "id"))
    deks.create_dek(registry, "lost", S, DekDraft(material="AAAA"))
    keks.update_kek(registry, "lost", {"shared": True})
    clock = FixedClock()
    with behind_a_url(answers_of(registry)) as url:
        state = remote_state.read(url, "", clock)
    assert clock.slept == []
    with EmbeddedStore() as other:
        report = import_state(over(other), state)
    assert report.of(IMPORTED) == {"kek": 2, "dek": 60}
    assert report.of(SKIPPED) == {"record": 1}
    (cases,) = report.reasons.values()
    assert '"kekName":"lost"' in cases.examples[0]


def test_material_that_was_stored_unseen_stops_no_import(store: EmbeddedStore) -> None:
    """Confluent's registry keeps any text under a KEK, and answers 500 for it once the KEK is shared."""
    registry = over(store)
    fill(registry)
    keks.create_kek(registry, KekDraft("odd", "local-kms", "id"))
    deks.create_dek(registry, "odd", S, DekDraft(material="not base64!"))
    with behind_a_url(answers_of(registry)) as url, EmbeddedStore() as other:
        report = import_state(over(other), remote_state.read(url, "", FixedClock()))
    assert (report.of(IMPORTED), report.of(SKIPPED)) == ({"kek": 2, "dek": 61}, {})
    keks.update_kek(registry, "odd", {"shared": True})
    answers, clock = answers_of(registry), FixedClock()

    def answer(path: str, credentials: str) -> tuple[int, str]:
        if "/keks/odd/deks/" in path and "/versions/1" in path:
            return 500, '{"error_code":500,"message":"Internal Server Error"}'
        return answers(path, credentials)

    with behind_a_url(answer) as url, EmbeddedStore() as other:
        report = import_state(over(other), remote_state.read(url, "", clock))
    assert (report.of(IMPORTED), report.of(SKIPPED), clock.slept) == ({"kek": 2, "dek": 60}, {"record": 1}, [])


def test_a_journal_of_schemas_tells_no_keys(store: EmbeddedStore) -> None:
    """A registry of Confluent stops at records in its topic that it does not know."""
    fill(over(store))
    assert list(journal.records((row for _, row in store.journal.read()), store.bodies)) == []


def test_what_stands_is_not_overwritten_and_what_has_no_kek_is_told(store: EmbeddedStore) -> None:
    """A wrapped key that takes another one's place would make data unreadable."""
    registry = over(store)
    keks.create_kek(registry, KekDraft("k1", "other", "id"))
    orphan = TOPIC[1][0].replace("k1", "k2"), TOPIC[1][1]
    report = brought(registry, records(TOPIC[0], orphan))
    assert report.of(CONFLICTING) == {"kek": 1}
    assert report.of(SKIPPED) == {"dek": 1}
    assert {why for _, why in report.reasons} == {OTHER_KEY, NO_KEK}
    assert keks.read_kek(registry, "k1").kms_type == "other"


def test_a_dek_does_not_come_under_a_kek_that_cannot_unwrap_it(store: EmbeddedStore) -> None:
    """Producers would find a version that none of them can use, in the place of the one they would make."""
    registry = over(store)
    keks.create_kek(registry, KekDraft("k1", "local-kms", "another key"))
    for again in (registry, rehearsal(registry, store.bodies)):
        report = import_state(again, replayed(records(*TOPIC)))
        assert (report.of(IMPORTED), report.of(CONFLICTING)) == ({}, {"kek": 1, "dek": 1})
        assert {why for _, why in report.reasons} == {OTHER_KEY, OTHER_KEK}
    assert list(store.catalog.deks("k1")) == []


def test_a_dek_comes_under_its_key_whatever_else_is_said_of_it_here(store: EmbeddedStore) -> None:
    """Another description, or other credentials, and the same key still unwraps it."""
    registry = over(store)
    keks.create_kek(registry, KekDraft("k1", "local-kms", "mykey", doc="ours"))
    report = brought(registry, records(*TOPIC))
    assert (report.of(IMPORTED), report.of(CONFLICTING)) == ({"dek": 1}, {"kek": 1})


def test_a_rehearsal_reports_the_same_and_writes_nothing(store: EmbeddedStore) -> None:
    """`--dry-run` is for looking."""
    registry = over(store)
    report = import_state(rehearsal(registry, store.bodies), replayed(records(*TOPIC)))
    assert report.of(IMPORTED) == {"kek": 1, "dek": 1}
    assert list(store.catalog.keks()) == []


@pytest.mark.parametrize(
    "key, value",
    [
        ('{"type":"KEK","name":"1x"}', "{}"),
        ('{"type":"KEK","name":"k"}', '{"kmsType":"x"}'),
        ('{"type":"KEK","name":"k"}', '{"kmsType":"x","kmsKeyId":5}'),
        ('{"type":"KEK","name":"k"}', '{"kmsType":"x","kmsKeyId":"y","kmsProps":[]}'),
        ('{"type":"DEK","kekName":"k","subject":"s","algorithm":"x","version":1}', None),
        ('{"type":"DEK","kekName":"k","subject":"s","algorithm":"AES256_GCM","version":0}', None),
        ('{"type":"DEK","kekName":"k","subject":"","algorithm":"AES256_GCM","version":1}', None),
        ('{"type":"DEK","kekName":"k","subject":"s","algorithm":"AES256_GCM","version":1}', "{}"),
        ('{"type":["DEK"],"kekName":"k"}', "{}"),
    ],
)
def test_a_record_of_a_key_that_cannot_be_stored_is_skipped(key: str, value: str | None) -> None:
    """One bad record does not keep a thousand good ones out (JRN-2)."""
    assert len(replayed(records((key, value))).skipped) == 1
