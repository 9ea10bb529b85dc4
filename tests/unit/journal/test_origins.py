"""Who asked for a commit, and what it is about before and after it."""

from dataclasses import replace

from sigla import journal
from sigla.changes import (
    Author,
    Change,
    ConfigChanged,
    ContextDropped,
    Head,
    ModeChanged,
    NumberingSet,
    Registered,
    SubjectDeleted,
    SubjectPurged,
    VersionDeleted,
)
from sigla.journal import ANYONE, SIGLA
from sigla.model import Config, SchemaId, Settings, Version
from tests.build import NOW, a_registered, a_row, a_subject

ORDERS = a_subject("o")
ONE, TWO = a_row(1, text="1"), a_row(2, text="2")


def was_and_is(change: Change) -> tuple[object, object]:
    said = journal.origin(change, "p")
    return said.get("was"), said.get("is")


def a_second() -> Registered:
    return a_registered(Head(ORDERS, newest=ONE, highest=1), text="2")


def test_a_version_comes_after_the_one_that_was_the_newest() -> None:
    assert was_and_is(a_second()) == (ONE.guid, TWO.guid)
    assert was_and_is(a_registered(Head(ORDERS), text="1")) == (None, ONE.guid)


def test_what_is_deleted_was_and_is_no_more() -> None:
    head = Head(ORDERS, newest=TWO, highest=2)
    assert was_and_is(VersionDeleted(head, ONE, NOW, "n")) == (ONE.guid, None)
    assert was_and_is(SubjectDeleted(head, Version(2), NOW, "n")) == (TWO.guid, None)
    assert was_and_is(SubjectPurged(Head(ORDERS), (TWO, ONE), NOW, "n")) == (TWO.guid, None)


def test_settings_are_told_by_a_digest_of_all_that_a_scope_has() -> None:
    """So the end of one change is the beginning of the next one, whichever of them it is."""
    config = ConfigChanged(ORDERS, Settings(), Config(level="FULL"), NOW, "n")
    mode = ModeChanged(ORDERS, Settings(Config(level="FULL"), None, "n"), "READONLY", NOW, "m")
    back = ModeChanged(ORDERS, Settings(Config(level="FULL"), "READONLY", "m"), None, NOW, "o")
    none, full = was_and_is(config)
    assert none is None
    assert was_and_is(mode)[0] == full
    assert was_and_is(back) == was_and_is(mode)[::-1]


def test_numbering_is_told_by_its_numbers_and_a_context_by_nothing() -> None:
    assert was_and_is(NumberingSet(".", SchemaId(7), SchemaId(41), NOW, "n")) == ("7", "41")
    assert was_and_is(ContextDropped(".c", NOW, "n")) == (None, None)


def test_the_way_of_a_change_is_told_as_far_as_it_is_known() -> None:
    asked = replace(a_second(), author=Author("orders", "api", "r1", "192.0.2.1"))
    assert journal.origin(asked, "p1")["via"] == {"way": "api", "request": "r1", "address": "192.0.2.1"}
    assert journal.origin(replace(a_second(), author=Author("cli:ada", "cli")), "p1")["via"] == {"way": "cli"}
    assert "via" not in journal.origin(a_second(), SIGLA)


def test_only_a_name_needs_a_token() -> None:
    """The registry itself is told by a word, and so is anyone, where no credentials are asked for."""
    assert journal.plain_token(None) == SIGLA
    assert journal.plain_token(Author("", "api")) == ANYONE
    assert not journal.plain_token(Author("orders", "api"))
    assert journal.fresh_token() != journal.fresh_token()
