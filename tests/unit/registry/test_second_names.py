"""A subject that an earlier release kept under a second name: told, left out of exports, taken away without a trace."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from sigla.cli import main
from sigla.journal import records as journal_records
from sigla.journal.replay import State, TopicRecord, replayed
from sigla.model import DEFAULT_CONTEXT, BodyKey, Draft, SchemaId, Search, Show, Subject
from sigla.ports.store import Store
from sigla.rules import names
from sigla.rules.guid import guid_of
from sigla.stores.dynamodb.inventory import AwsInventory
from sigla.stores.s3.objects import Objects
from sigla.stores.sqlite.store import EmbeddedStore
from sigla.upkeep.exporting import standing
from sigla.upkeep.flaws import Flaw
from sigla.upkeep.mending import fix
from tests.build import FixedClock, StoreOf, a_body, a_registered, a_row, a_text
from tests.contract.aws import Account, moto, of_two_parts
from tests.contract.engines import BUCKET
from tests.unit.registry.scrubbing import registry_of
from tests.unit.registry.test_scrub import found_in

__all__ = ["moto"]

PAY = Subject(".bank", "pay")
GHOST = Subject(DEFAULT_CONTEXT, PAY.qualified)
"""As an earlier release read `:.::.bank:pay`."""

OWN = Subject(DEFAULT_CONTEXT, ":.:orders")
"""The id of a text that no subject has."""

HERE = BodyKey(DEFAULT_CONTEXT, SchemaId(1))
EVERYTHING = Search(context=None)


@pytest.fixture(params=["directory", "aws"])
def store(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    clock = FixedClock()
    if request.param == "directory":
        with EmbeddedStore(tmp_path / "data") as opened:
            yield StoreOf(opened.catalog, opened.bodies, opened.journal, opened.inventory, clock)
        return
    of_two_parts(monkeypatch)
    account: Account = request.getfixturevalue("moto")
    with account.stores() as opened:
        objects = Objects(opened.s3, BUCKET, clock=clock)
        inventory = AwsInventory(objects, opened.catalog, clock, registry=opened.registry)
        yield StoreOf(opened.catalog, opened.bodies, opened.journal, inventory, clock)
        objects.close()


def register(store: Store, subject: Subject, name: str) -> None:
    """Through the ports, as an earlier release did: no verb would write under a second name."""
    body = a_body(a_text(name), subject=subject)
    body = replace(body, guid=guid_of(body.schema))
    id = store.catalog.id_of(subject.context, body.guid)
    if id is None:
        id = store.catalog.next_id(subject.context)
        store.bodies.put(BodyKey(subject.context, id), body)
    head = store.catalog.snapshot(subject).head
    row = a_row(head.highest + 1, id, guid=body.guid, revision=head.revision + 1)
    store.catalog.commit(a_registered(head, row=row))


def haunted(store: Store, *order: Subject) -> None:
    """Id 1 of each context: `Real` in the bank's, `Ghost` in the default one, then orders with id 2."""
    for subject in order:
        register(store, subject, "Real" if subject == PAY else "Ghost")
    register(store, Subject(DEFAULT_CONTEXT, "orders"), "Orders")


def second_names(store: Store) -> list[Flaw]:
    return [flaw for flaw in found_in(store) if flaw.kind == "SECOND_NAME"]


def put_right(store: Store) -> None:
    for flaw in second_names(store) * 2:
        fix(store, flaw)


def shown(store: Store, subject: Subject) -> list[tuple[int, str]]:
    """Versions and texts of a subject."""
    rows = store.catalog.history(subject)
    return [(row.version, store.bodies.get(BodyKey(subject.context, row.id)).schema.text) for row in rows]


def state_of(store: Store, *, compacted: bool) -> State:
    """What an import of an export would make of it."""
    if compacted:
        lines = standing(store.catalog, store.bodies, store.inventory.bodies())
    else:
        lines = journal_records((form for _, form in store.journal.read()), store.bodies)
    return replayed([TopicRecord(*line, offset) for offset, line in enumerate(lines)])


ORDERS = [(PAY, GHOST), (GHOST, PAY)]


@pytest.mark.parametrize("order", ORDERS)
def test_a_second_name_is_told_and_taken_away_and_the_subject_stays(
    store: Store, order: tuple[Subject, Subject]
) -> None:
    """An operator needs one command, whoever of the two came first."""
    haunted(store, *order)
    (flaw,) = [flaw for flaw in found_in(store) if flaw.kind != "VERSION_GAP"]
    assert (flaw.kind, flaw.owner) == ("SECOND_NAME", GHOST)
    assert ":.bank:pay" in flaw.sentence
    put_right(store)
    assert [flaw.kind for flaw in found_in(store) if flaw.kind != "VERSION_GAP"] == []
    assert [text for _, text in shown(store, PAY)] == [a_text("Real")]
    assert list(store.catalog.subjects(EVERYTHING)) == [PAY, Subject(DEFAULT_CONTEXT, "orders")]
    assert list(store.catalog.subjects(Search("", ".bank"), Show.ACTIVE)) == [PAY]
    assert list(store.catalog.subjects(Search("", DEFAULT_CONTEXT))) == [Subject(DEFAULT_CONTEXT, "orders")]


@pytest.mark.parametrize("order", ORDERS)
def test_until_then_ids_and_lists_are_kept_apart(store: Store, order: tuple[Subject, Subject]) -> None:
    """A key for the default context does not see the bank's schemas because a second name came before them."""
    haunted(store, *order)
    bank = BodyKey(".bank", SchemaId(1))
    assert [holder.subject for holder in store.catalog.holders(bank)] == [PAY]
    assert [holder.subject for holder in store.catalog.holders(HERE)] == [GHOST]
    assert store.catalog.speaker(bank) == store.catalog.holders(bank)[0]
    found = store.catalog.versions(Search("", DEFAULT_CONTEXT), deleted=True, latest_only=False)
    assert PAY not in [subject for subject, _ in found]


def test_ids_keep_their_meaning(store: Store) -> None:
    """Records that were written with an id of the second name can be read for ever; the id is never given again."""
    haunted(store, PAY, GHOST)
    put_right(store)
    body = store.bodies.get(HERE)
    assert (body.schema.text, body.gone) == (a_text("Ghost"), True)
    assert store.catalog.holders(HERE) == ()
    assert [holder.subject for holder in store.catalog.holders(BodyKey(".bank", SchemaId(1)))] == [PAY]
    assert store.catalog.next_id(DEFAULT_CONTEXT) == 3


def test_an_id_that_others_hold_is_not_buried(store: Store) -> None:
    """The same content registered under a real name of the context."""
    register(store, PAY, "Real")
    register(store, GHOST, "Shared")
    register(store, Subject(DEFAULT_CONTEXT, "orders"), "Shared")
    put_right(store)
    assert not store.bodies.get(HERE).gone
    assert [holder.subject.name for holder in store.catalog.holders(HERE)] == ["orders"]


@pytest.mark.parametrize("order", ORDERS)
def test_settings_that_are_in_force_stay_and_are_listed_as_the_subjects(
    store: Store, order: tuple[Subject, Subject]
) -> None:
    haunted(store, *order)
    registry_of(store).change_config(PAY, {"level": "FULL"})
    registry_of(store).change_mode(GHOST, "READONLY")
    before = store.catalog.snapshot(PAY).chain.own
    put_right(store)
    assert second_names(store) == []
    after = store.catalog.snapshot(PAY).chain.own
    assert after == before
    assert list(store.catalog.settings(EVERYTHING)) == [(PAY, before)]
    registry_of(store).change_mode(PAY, "READWRITE")
    assert [scope for scope, _ in store.catalog.settings(EVERYTHING)] == [PAY]


def test_one_that_means_nobody_goes_with_all_it_has(store: Store) -> None:
    """`:.:orders` was another subject than `orders`, and now no request reaches it."""
    haunted(store, OWN)
    registry_of(store).change_config(OWN, {"level": "FULL"})
    (flaw,) = second_names(store)
    assert flaw.owner == OWN
    put_right(store)
    assert found_in(store) == []
    assert list(store.catalog.subjects(EVERYTHING)) == [Subject(DEFAULT_CONTEXT, "orders")]
    assert list(store.catalog.settings(EVERYTHING)) == []
    assert store.bodies.get(HERE).gone


def test_a_subject_that_its_second_name_took_off_the_lists_is_listed_again(store: Store) -> None:
    """Deleting `:.::.bank:pay` for good did that in AWS; the journal still knows of it. In a directory it took both."""
    haunted(store, PAY, GHOST)
    registry = registry_of(store)
    registry.delete_subject(GHOST)
    registry.delete_subject(GHOST, permanent=True)
    kept = shown(store, PAY)
    put_right(store)
    assert second_names(store) == []
    assert shown(store, PAY) == kept
    assert list(store.catalog.subjects(Search("", ".bank"))) == [PAY] * bool(kept)
    registry_of(store).register(PAY, Draft(a_text("Real")))
    assert list(store.catalog.subjects(Search("", ".bank"))) == [PAY]


@pytest.mark.parametrize("compacted", [True, False])
def test_an_export_tells_each_subject_its_own(store: Store, *, compacted: bool) -> None:
    """A record names a subject by its text: a second name's would give ids of another context to the real one."""
    haunted(store, PAY, GHOST)
    put_right(store)
    state = state_of(store, compacted=compacted)
    orders = Subject(DEFAULT_CONTEXT, "orders")
    assert {subject: [(put.id, put.schema.text) for put in puts] for subject, puts in state.subjects.items()} == {
        PAY: [(1, a_text("Real"))],
        orders: [(2, a_text("Orders"))],
    }
    if compacted:
        assert {key: put.schema.text for key, put in state.gone.items()} == {HERE: a_text("Ghost")}
    assert state.skipped == ()


def test_no_command_but_this_one_is_needed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What scrub prints is what is to be called; the import of the export afterwards has the same ids."""
    with EmbeddedStore(tmp_path / "data") as opened:
        haunted(StoreOf(opened.catalog, opened.bodies, opened.journal, opened.inventory, FixedClock()), PAY, GHOST)
    here = ["--data", str(tmp_path / "data")]
    assert main(["export", str(tmp_path / "dump.jsonl"), *here]) == 2
    assert "sigla scrub --fix SECOND_NAME" in capsys.readouterr().err
    assert not (tmp_path / "dump.jsonl").exists()
    assert main(["scrub", "--settle", "0", *here]) == 1
    assert "--fix SECOND_NAME" in capsys.readouterr().out
    assert main(["scrub", "--settle", "0", *here, "--fix", "SECOND_NAME", "--json"]) == 0
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(each["kind"], each["severity"], each["fixed"]) for each in told if each["severity"] != "info"] == [
        ("SECOND_NAME", "critical", True)
    ]
    assert main(["scrub", "--settle", "0", *here]) == 0
    assert main(["export", str(tmp_path / "dump.jsonl"), *here]) == 0
    assert main(["import", str(tmp_path / "dump.jsonl"), "--data", str(tmp_path / "copy")]) == 0
    with EmbeddedStore(tmp_path / "copy") as copy:
        held = StoreOf(copy.catalog, copy.bodies, copy.journal, copy.inventory, FixedClock())
        assert shown(held, PAY) == [(1, a_text("Real"))]
        assert copy.bodies.get(HERE).schema.text == a_text("Ghost")
        assert copy.bodies.get(HERE).gone
        assert copy.catalog.history(Subject(DEFAULT_CONTEXT, "orders"))[0].id == 2
        assert found_in(held) == []


def test_deleting_by_any_spelling_deletes_the_one_subject(store: Store) -> None:
    """There is no second one any more that could take the real one off the lists."""
    registry = registry_of(store)
    spelled = names.subject(":.::.bank:pay")
    for number, subject in enumerate([PAY, spelled]):
        assert registry.register(subject, Draft(a_text("Real"))).version == 1, number
    assert list(store.catalog.subjects(Search("", ".bank"))) == [PAY]
    assert registry.delete_subject(spelled) == [1]
    assert list(store.catalog.subjects(EVERYTHING, Show.ACTIVE)) == []
    assert registry.delete_subject(PAY, permanent=True) == [1]
    assert list(store.catalog.subjects(EVERYTHING)) == []
    assert found_in(store) == []


def test_a_busy_registry_without_second_names_has_none(store: Store) -> None:
    """Names that look like them, contexts as subjects, settings of everything, deleted and purged subjects."""
    registry = registry_of(store)
    for text in (":foo", "::.x", ".:x", ":.bank:", ":.bank::.x:y", ":.bank:pay", ":*", "*"):
        registry.register(names.subject(text), Draft(a_text()))
    for scope in ("", ":.__GLOBAL:", ":.bank:", ":.bank:pay", ":.other:never", ":*:"):
        registry.change_config(names.subject(scope), {"level": "FULL"})
    registry.delete_subject(PAY)
    registry.delete_subject(PAY, permanent=True)
    assert found_in(store) == []
