"""What a change knows of itself."""

from typing import get_args

from sigla.changes import Change, ConfigChanged, ContextDropped, Head, ImportBegun, ImportedVersion, ModeChanged
from sigla.model import GLOBAL, BodyKey, Config, SchemaId, Settings, Subject
from tests.build import NOW, a_registered, a_row, a_subject, an_import

ORDERS, ABROAD = a_subject(), a_subject("orders-value", ".eu")


def test_every_change_knows_whose_it_is() -> None:
    """A principal needs rights to a scope, whatever the change is about: one that told none could be made by all."""
    assert all(hasattr(each, "scope") and hasattr(each, "was_written") for each in get_args(Change))
    assert a_registered(Head(ABROAD)).scope == ABROAD
    assert ModeChanged(ABROAD, Settings(), None, NOW, "n").scope == ABROAD
    assert ContextDropped(".eu", NOW, "n").scope == Subject(".eu", "")


def test_a_new_alias_leads_to_another_subject_by_every_path() -> None:
    """Rights to the name alone would open what it leads to (ALIAS-4, PERM-2)."""
    change = ConfigChanged(ABROAD, Settings(), Config(alias="b"), NOW, "n")
    assert change.leads_to == (Subject(".", "b"), Subject(".eu", "b"))


def test_an_alias_for_deks_leads_there_as_well() -> None:
    """Who may read everything would else find other keys by it, and delete those."""
    seen = Settings(Config(alias="b", alias_for_deks="c"), None, "n1")

    def led(config: Config) -> tuple[Subject, ...]:
        return ConfigChanged(ORDERS, seen, config, NOW, "n").leads_to[::2]

    assert led(Config(alias="b", alias_for_deks="d")) == (Subject(".", "d"),)
    assert led(Config(alias="c", alias_for_deks="d")) == (Subject(".", "c"), Subject(".", "d"))
    assert led(Config(alias="b")) == (Subject(".", "b"),), "keys are where the schemas are, now"
    assert led(Config(alias="b", alias_for_deks="c", level="FULL")) == ()
    assert led(Config(alias_for_deks="c")) == ()


def test_an_alias_that_stays_leads_nowhere_new() -> None:
    """Whoever may change a level need not have rights to what an administrator's alias leads to."""
    seen = Settings(Config(alias="b"), None, "n1")
    assert ConfigChanged(ABROAD, seen, Config(alias="b", level="FULL"), NOW, "n").leads_to == ()
    assert ConfigChanged(ABROAD, seen, None, NOW, "n").leads_to == ()


def test_a_change_names_the_ids_that_its_subject_holds_from_now_on() -> None:
    """What is remembered of those is no longer so."""
    versions = [ImportedVersion(a_row(1, 5)), ImportedVersion(a_row(2, 6))]
    assert an_import(Head(ABROAD), *versions).ids == {BodyKey(".eu", SchemaId(5)), BodyKey(".eu", SchemaId(6))}
    assert ModeChanged(ABROAD, Settings(), None, NOW, "n").ids == frozenset()


def test_an_import_concerns_all_that_is_in_its_scope() -> None:
    """It purges what is soft-deleted there."""
    assert ImportBegun(GLOBAL, Settings(), NOW, "n").concerns(ABROAD)
    within = ImportBegun(Subject(".eu", ""), Settings(), NOW, "n")
    assert (within.concerns(ABROAD), within.concerns(ORDERS)) == (True, False)
