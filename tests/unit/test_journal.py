"""A commit as a row of the journal."""

from typing import cast

import orjson

from sigla import journal
from sigla.changes import ConfigChanged, ContextDropped, Head, NumberingSet, SubjectPurged, VersionPurged
from sigla.model import Config, SchemaId, Settings
from sigla.ports.bodies import Bodies
from tests.build import NOW, a_registered, a_row, a_subject

ORDERS = a_subject("o", ".eu")


def test_a_row_says_what_changed_and_by_whom() -> None:
    """Its revision is the one the subject has afterwards."""
    change = a_registered(Head(ORDERS, revision=4), id=7, nonce="n")
    assert journal.row(change) == {
        "form": 1,
        "change": "Registered",
        "ts": NOW,
        "nonce": "n",
        "revision": 5,
        "entries": [{"type": "SCHEMA", "context": ".eu", "name": "o", "version": 1, "id": 7, "deleted": False}],
    }


def test_settings_belong_to_no_subjects_life() -> None:
    """They have no revision that counts."""
    row = journal.row(ConfigChanged(ORDERS, Settings(), Config(level="FULL"), NOW, "n"))
    assert row["revision"] is None
    assert orjson.loads(orjson.dumps(row)) == row


def test_the_first_registration_in_a_context_lists_it_before_anything_else() -> None:
    """Then go the superseded versions, then comes the new one."""
    change = a_registered(Head(ORDERS, highest=3), purged=(a_row(1), a_row(2)))
    entries = journal.row(change, journal.Effects(listed=True))["entries"]
    assert isinstance(entries, list)
    assert [(entry["type"], entry.get("version")) for entry in entries] == [
        ("CONTEXT", None),
        ("SCHEMA", 1),
        ("SCHEMA", 2),
        ("SCHEMA", 4),
    ]


def test_a_purge_goes_down_and_takes_only_settings_that_were_there() -> None:
    """Descending versions, then mode, then config."""
    change = SubjectPurged(Head(ORDERS), (a_row(1), a_row(3), a_row(2)), NOW, "n")
    entries = journal.row(change, journal.Effects(mode=True, config=True))["entries"]
    assert isinstance(entries, list)
    assert [entry.get("version", entry["type"]) for entry in entries] == [3, 2, 1, "MODE", "CONFIG"]
    alone = journal.row(VersionPurged(Head(ORDERS), a_row(1), NOW, "n"))["entries"]
    assert isinstance(alone, list)
    assert len(alone) == 1


def test_records_carry_the_time_of_their_commit() -> None:
    """The reference takes a record's time for the time of what it says."""
    row = journal.row(ContextDropped(".eu", NOW + 3, "n"))
    (record,) = journal.records([row], cast("Bodies", None))
    assert record[2] == NOW + 3


def test_where_numbering_goes_on_says_nothing_to_a_registry_of_confluents() -> None:
    """Its topic has no record for that; one of a kind that it passes by may hold what we have to know."""
    row = journal.row(NumberingSet(".eu", SchemaId(7), SchemaId(41), NOW, "n"))
    (record,) = journal.records([row], cast("Bodies", None))
    assert record == (b'{"keytype":"NOOP","magic":0}', b'{"context":".eu","continueAfter":41}', NOW)
