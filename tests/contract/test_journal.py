"""The ordered log of commits, and the records it becomes."""

from sigla import journal as rows
from sigla.changes import (
    ConfigChanged,
    ContextDropped,
    Head,
    ImportBegun,
    ModeChanged,
    SubjectDeleted,
    SubjectPurged,
    VersionDeleted,
    VersionPurged,
)
from sigla.errors import Conflict
from sigla.model import GLOBAL, Config, Metadata, Settings, Subject, Version
from sigla.stores.clock import SystemClock
from tests.build import NOW, a_nonce, a_registered, a_subject, put_all, registered
from tests.contract.conftest import Stores

ORDERS, ABROAD = a_subject("o"), a_subject("o", ".eu")


def head(stores: Stores, subject: Subject = ORDERS) -> Head:
    return stores.catalog.snapshot(subject).head


def written(stores: Stores, after: int = 0) -> list[str]:
    """Records since a position as `key → value`."""
    read = (row for _, row in stores.journal.read(after))
    return [
        f"{key.decode()} {value.decode() if value else 'null'}" for key, value, _ in rows.records(read, stores.bodies)
    ]


def last(stores: Stores) -> int:
    return max((position for position, _ in stores.journal.read()), default=0)


def test_every_commit_has_one_row_in_commit_order(stores: Stores) -> None:
    """A refused one has none."""
    nonces = [f"n{id}" for id in range(1, 8)]
    for id, nonce in enumerate(nonces, 1):
        registered(stores.catalog, ORDERS, id=id, nonce=nonce)
    try:
        stores.catalog.commit(a_registered(Head(ORDERS), nonce="refused"))
    except Conflict:
        stores.catalog.commit(ConfigChanged(GLOBAL, Settings(), Config(), NOW, "last"))
    read = list(stores.journal.read())
    assert [row["nonce"] for _, row in read] == [*nonces, "last"]
    positions = [position for position, _ in read]
    assert positions == sorted(set(positions))


def test_reading_goes_on_after_a_position(stores: Stores) -> None:
    """An exporter remembers how far it came."""
    for id in (1, 2, 3):
        registered(stores.catalog, ORDERS, id=id)
    everything = list(stores.journal.read())
    assert list(stores.journal.read(after=everything[0][0])) == everything[1:]
    assert list(stores.journal.read(after=everything[-1][0])) == []


def test_a_registration_becomes_a_context_its_purges_and_its_schema(stores: Stores) -> None:
    """In this order; the context only the first time."""
    put_all(stores.bodies, ".eu", [1])
    old = registered(stores.catalog, ABROAD, id=1)
    assert written(stores) == [
        '{"keytype":"CONTEXT","tenant":"default","context":".eu","magic":0} {"tenant":"default","context":".eu"}',
        (
            '{"keytype":"SCHEMA","subject":":.eu:o","version":1,"magic":1} '
            '{"subject":":.eu:o","version":1,"id":1,"schemaType":"AVRO","schema":"text 1","deleted":false}'
        ),
    ]
    stores.catalog.commit(VersionDeleted(head(stores, ABROAD), old, NOW, a_nonce()))
    here = last(stores)
    registered(stores.catalog, ABROAD, id=1, purged=(old,))
    keys = [record.split(" ")[0] for record in written(stores, here)]
    assert written(stores, here)[0].endswith("null")
    assert [key.split('"version":')[1] for key in keys] == ['1,"magic":1}', '2,"magic":1}']


def test_a_soft_deleted_version_is_written_again(stores: Stores) -> None:
    """With its text, also after its id was buried."""
    put_all(stores.bodies, ".", [1])
    row = registered(stores.catalog, ORDERS, id=1)
    here = last(stores)
    stores.catalog.commit(VersionDeleted(head(stores), row, NOW, a_nonce()))
    deleted = written(stores, here)
    assert deleted == [
        (
            '{"keytype":"SCHEMA","subject":"o","version":1,"magic":1} '
            '{"subject":"o","version":1,"id":1,"schemaType":"AVRO","schema":"text 1","deleted":true}'
        )
    ]
    for key in stores.catalog.commit(VersionPurged(head(stores), row, NOW, a_nonce())):
        stores.bodies.bury(key)
    assert written(stores, here) == [*deleted, '{"keytype":"SCHEMA","subject":"o","version":1,"magic":1} null']


def test_with_the_last_version_go_mode_and_config(stores: Stores) -> None:
    """Those that exist, mode first."""
    put_all(stores.bodies, ".", [1, 2])
    stores.catalog.commit(ConfigChanged(ORDERS, Settings(), Config(level="FULL"), NOW, "n1"))
    stores.catalog.commit(ModeChanged(ORDERS, Settings(None, None, "n1"), "READONLY", NOW, "n2"))
    for id in (1, 2):
        registered(stores.catalog, ORDERS, id=id)
    here = last(stores)
    stores.catalog.commit(SubjectDeleted(head(stores), Version(2), NOW, a_nonce()))
    stores.catalog.commit(SubjectPurged(head(stores), stores.catalog.history(ORDERS), NOW, a_nonce()))
    assert written(stores, here) == [
        '{"keytype":"DELETE_SUBJECT","subject":"o","magic":0} {"subject":"o","version":2}',
        '{"keytype":"SCHEMA","subject":"o","version":2,"magic":1} null',
        '{"keytype":"SCHEMA","subject":"o","version":1,"magic":1} null',
        '{"keytype":"MODE","subject":"o","magic":0} null',
        '{"keytype":"CONFIG","subject":"o","magic":0} null',
    ]


def test_settings_name_their_subject_unless_they_are_global(stores: Stores) -> None:
    """What is not set is not written."""
    config = Config(
        level="FULL", normalize=False, alias="", override_metadata=Metadata(properties={"b": "1", "a": "2"})
    )
    stores.catalog.commit(ConfigChanged(Subject(".eu", ""), Settings(), config, NOW, "n"))
    stores.catalog.commit(ConfigChanged(GLOBAL, Settings(), Config(level="NONE"), NOW, "n1"))
    stores.catalog.commit(ModeChanged(GLOBAL, Settings(None, None, "n1"), "READONLY", NOW, "n2"))
    stores.catalog.commit(ModeChanged(GLOBAL, Settings(None, None, "n2"), None, NOW, "n3"))
    assert written(stores) == [
        (
            '{"keytype":"CONFIG","subject":":.eu:","magic":0} {"subject":":.eu:","normalize":false,'
            '"compatibilityLevel":"FULL","overrideMetadata":{"properties":{"a":"2","b":"1"}}}'
        ),
        '{"keytype":"CONFIG","magic":0} {"compatibilityLevel":"NONE"}',
        '{"keytype":"MODE","magic":0} {"mode":"READONLY"}',
        '{"keytype":"MODE","magic":0} null',
    ]


def test_an_import_becomes_purges_a_clear_and_a_mode(stores: Stores) -> None:
    """The clear names its scope; that of the default context names none."""
    put_all(stores.bodies, ".", [1])
    row = registered(stores.catalog, ORDERS, id=1)
    stores.catalog.commit(VersionDeleted(head(stores), row, NOW, a_nonce()))
    here = last(stores)
    stores.catalog.commit(ImportBegun(GLOBAL, Settings(), NOW, a_nonce()))
    stores.catalog.commit(ImportBegun(ABROAD, Settings(), NOW, a_nonce()))
    assert written(stores, here) == [
        '{"keytype":"SCHEMA","subject":"o","version":1,"magic":1} null',
        '{"keytype":"CLEAR_SUBJECT","magic":0} {}',
        '{"keytype":"MODE","magic":0} {"mode":"IMPORT"}',
        '{"keytype":"CLEAR_SUBJECT","subject":":.eu:o","magic":0} {"subject":":.eu:o"}',
        '{"keytype":"MODE","subject":":.eu:o","magic":0} {"subject":":.eu:o","mode":"IMPORT"}',
    ]


def test_a_dropped_context_is_a_tombstone(stores: Stores) -> None:
    """Under the key by which it was listed."""
    stores.catalog.commit(ContextDropped(".eu", NOW, a_nonce()))
    assert written(stores) == ['{"keytype":"CONTEXT","tenant":"default","context":".eu","magic":0} null']


def test_whoever_reads_from_its_end_is_told_of_all_that_is_committed_from_then_on(stores: Stores) -> None:
    """An exporter walks through what is there, and then follows the journal from where it began to walk."""
    registered(stores.catalog, ORDERS, id=1, nonce="before")
    end = stores.journal.end()
    registered(stores.catalog, ORDERS, id=2, nonce="after", ts=SystemClock().now())
    assert [row["nonce"] for _, row in stores.journal.read(end)][-1] == "after"


def test_all_rows_since_a_moment_ago_are_still_kept(stores: Stores) -> None:
    """An exporter that was paused goes on from there, and need not walk through everything again."""
    assert stores.journal.reaches(stores.journal.end())
