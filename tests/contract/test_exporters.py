"""Exporters, on every store: what is written is found, and progress is written by whoever has seen the exporter."""

from dataclasses import replace
from typing import Any

import pytest

from sigla.changes import ExporterChanged
from sigla.errors import Conflict
from sigla.exporters.nouns import START, ContextType, Exporter, ExporterProgress, ExporterState, Position
from sigla.journal import exporter_records_of, key_records_of, records
from sigla.ports.bodies import Bodies
from sigla.ports.catalog import Catalog
from sigla.ports.journal import Journal
from tests.build import NOW, a_nonce, registered
from tests.contract.observing import ORDERS

STARTING, RUNNING, PAUSED = ExporterState
THERE = {"schema.registry.url": "http://there"}


def an_exporter(name: str = "e", **fields: Any) -> Exporter:
    return replace(Exporter(name, config=THERE, ts=NOW, revision=a_nonce()), **fields)


def write_exporter(catalog: Catalog, exporter: Exporter | None, seen: Exporter | None = None, **more: Any) -> None:
    name = (exporter or seen or an_exporter()).name
    catalog.commit(ExporterChanged(name, seen, exporter, NOW, exporter.revision if exporter else a_nonce(), **more))


@pytest.fixture
def exporter(catalog: Catalog) -> Exporter:
    """One that runs."""
    made = an_exporter()
    write_exporter(catalog, made)
    catalog.advance(made, ExporterProgress(RUNNING, Position(7), NOW))
    return made


def test_an_exporter_is_found_as_it_was_written(catalog: Catalog) -> None:
    """Whoever follows the journal for it works by what it reads."""
    made = an_exporter(
        "é_1",
        subjects=(":.c:*", "orders"),
        context_type=ContextType.CUSTOM,
        context=".there",
        subject_rename_format="a-${subject}",
        kek_rename_format="a-${kek}",
        hidden=("basic.auth.user.info",),
        credentials="mark",
    )
    write_exporter(catalog, made)
    assert catalog.exporter("é_1") == made
    assert catalog.progress("é_1") == ExporterProgress(STARTING, START, NOW)
    assert catalog.exporter("nothing") is None
    assert catalog.progress("nothing") is None


def test_exporters_are_listed_in_the_order_of_their_names(catalog: Catalog) -> None:
    """A list that changes its order looks like one that changed."""
    for name in ("k", "a", "\ue000", "\U00010000"):
        write_exporter(catalog, an_exporter(name))
    assert [each.name for each in catalog.exporters()] == ["a", "k", "\U00010000", "\ue000"]


def test_whoever_has_seen_another_exporter_writes_nothing(catalog: Catalog, exporter: Exporter) -> None:
    """Whoever is the second to create or change one is told that it was late."""
    other = an_exporter(subjects=("b",))
    for late in (None, an_exporter()):
        with pytest.raises(Conflict):
            write_exporter(catalog, other, late)
    assert catalog.exporter("e") == exporter
    write_exporter(catalog, other, exporter)
    assert catalog.exporter("e") == other
    with pytest.raises(Conflict):
        write_exporter(catalog, None, exporter)


def test_progress_is_kept_as_the_follower_said_it(catalog: Catalog, exporter: Exporter) -> None:
    """It goes on there after a restart; operators read why it does not."""
    said = ExporterProgress(RUNNING, Position(2**52, ("a", "b"), ":.c:s"), NOW + 1, "no answer from é")
    catalog.advance(exporter, said)
    assert catalog.progress("e") == said
    catalog.advance(exporter, said._replace(trace=""))
    assert catalog.progress("e") == said._replace(trace="")
    assert catalog.exporter("e") == exporter


@pytest.mark.parametrize("state", [PAUSED, STARTING])
def test_a_follower_that_has_seen_another_revision_writes_nothing(
    catalog: Catalog, exporter: Exporter, state: ExporterState
) -> None:
    """A pause holds from the moment it is answered, and a reset is not undone by who was on the way."""
    write_exporter(catalog, an_exporter(), exporter, state=state, position=START)
    before = catalog.progress("e")
    with pytest.raises(Conflict):
        catalog.advance(exporter, ExporterProgress(RUNNING, Position(9), NOW))
    assert catalog.progress("e") == before == ExporterProgress(state, START, NOW)


def test_a_removed_exporter_makes_no_progress_and_leaves_none(catalog: Catalog, exporter: Exporter) -> None:
    """The next one of its name begins at the start, with a state of its own."""
    write_exporter(catalog, None, exporter)
    assert catalog.exporter("e") is None
    assert catalog.progress("e") is None
    assert not [*catalog.exporters()]
    with pytest.raises(Conflict):
        catalog.advance(exporter, ExporterProgress(RUNNING, Position(9), NOW))
    with pytest.raises(Conflict):
        catalog.advance(an_exporter("never"), ExporterProgress(RUNNING, Position(9), NOW))
    write_exporter(catalog, an_exporter())
    assert catalog.progress("e") == ExporterProgress(STARTING, START, NOW)


def test_a_pause_keeps_the_position_and_the_last_failure_and_a_resume_forgets_the_failure(
    catalog: Catalog, exporter: Exporter
) -> None:
    """Whoever pauses wants to see what went wrong; a tool that resumes takes any trace for a new failure."""
    catalog.advance(exporter, ExporterProgress(RUNNING, Position(9), NOW, "no answer"))
    paused, resumed = an_exporter(), an_exporter()
    write_exporter(catalog, paused, exporter, state=PAUSED)
    assert catalog.progress("e") == ExporterProgress(PAUSED, Position(9), NOW, "no answer")
    write_exporter(catalog, resumed, paused)
    assert catalog.progress("e") == ExporterProgress(STARTING, Position(9), NOW)


def test_what_is_decided_about_exporters_is_journaled_and_their_progress_is_not(
    catalog: Catalog, exporter: Exporter, journal: Journal, bodies: Bodies
) -> None:
    """An audit sees who sent what where; a follower that noted its own steps would follow itself for ever."""
    write_exporter(catalog, an_exporter(credentials="mark"), exporter, state=PAUSED)
    write_exporter(catalog, None, catalog.exporter("e"))
    rows = [row for _, row in journal.read()]
    assert [row["change"] for row in rows] == ["ExporterChanged"] * 3
    entries: list[Any] = [entry for row in rows for entry in row["entries"]]  # type: ignore[attr-defined]  # JSON
    assert [(entry["type"], entry["state"], entry["value"] and entry["value"]["config"]) for entry in entries] == [
        ("EXPORTER", "STARTING", THERE),
        ("EXPORTER", "PAUSED", THERE),
        ("EXPORTER", "STARTING", None),
    ]
    assert "mark" not in repr(rows)
    assert not [*records(rows, bodies)]
    assert not [*key_records_of(rows)]
    assert [(key, value is None) for key, value, _ in exporter_records_of(rows)] == [
        (b'{"keytype":"EXPORTER","name":"e","magic":0}', each) for each in (False, False, True)
    ]


def test_progress_forgets_nothing_that_was_remembered_of_the_catalog(catalog: Catalog, exporter: Exporter) -> None:
    """A follower at work must not make every reader ask anew."""
    registered(catalog, ORDERS, id=1)
    before = catalog.state
    catalog.advance(exporter, ExporterProgress(RUNNING, Position(9), NOW))
    assert catalog.state == before
