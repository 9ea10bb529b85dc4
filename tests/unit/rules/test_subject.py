"""One subject's life: states, numbers, modes (§4.2, §6, §8.1)."""

from itertools import product

import pytest

from sigla.contract import HIGHEST, MODES
from sigla.errors import (
    NotInImportMode,
    NotInReadWriteMode,
    ReadOnly,
    Refusal,
    VersionNotSoftDeleted,
    VersionOutOfOrder,
    VersionSoftDeleted,
)
from sigla.model import Subject
from sigla.rules.subject import LIFE, Act, State, check_registrable, check_writable, next_version

ORDERS = Subject(".", "orders")
ELSEWHERE = Subject(".ctx", "orders")


def test_a_version_is_deleted_softly_before_it_is_gone() -> None:
    """Two steps, each taken once."""
    assert LIFE[State.LIVE, Act.DELETE] is State.SOFT_DELETED
    assert LIFE[State.SOFT_DELETED, Act.PURGE] is State.GONE
    assert LIFE[State.LIVE, Act.PURGE] is VersionNotSoftDeleted
    assert LIFE[State.SOFT_DELETED, Act.DELETE] is VersionSoftDeleted


def test_every_act_on_what_is_stored_has_an_outcome() -> None:
    """The table has no holes; what is gone does not matter any more."""
    assert set(LIFE) == set(product((State.LIVE, State.SOFT_DELETED), Act))


@pytest.mark.parametrize(
    "highest, requested, number",
    [(0, None, 1), (0, 0, 1), (0, -1, 1), (4, None, 5), (4, 0, 5), (4, -1, 5), (4, -7, 5), (4, 5, 5), (0, 1, 1)],
)
def test_the_next_number_is_one_past_the_highest(highest: int, requested: int | None, number: int) -> None:
    """Soft-deleted versions count; a number asked for must be exactly the next (REG-10)."""
    assert next_version(highest, requested, importing=False) == number


@pytest.mark.parametrize("highest, requested", [(0, 2), (4, 4), (4, 6), (4, 1)])
def test_a_number_asked_for_is_a_compare_and_set(highest: int, requested: int) -> None:
    """Two writers who both want version 5 are told apart (REG-3)."""
    with pytest.raises(VersionOutOfOrder) as refused:
        next_version(highest, requested, importing=False)
    assert refused.value.message == "Version is not one more than previous version"


@pytest.mark.parametrize("highest, requested, number", [(4, 2, 2), (4, 9, 9), (4, None, 5), (4, 0, 5), (4, -1, 5)])
def test_an_import_is_taken_at_its_word(highest: int, requested: int | None, number: int) -> None:
    """It may fill gaps, leave gaps and overwrite; without a number it gets the next."""
    assert next_version(highest, requested, importing=True) == number


def test_after_the_last_number_there_is_none() -> None:
    """A version is a 32-bit number on the wire."""
    assert next_version(HIGHEST - 1, None, importing=False) == HIGHEST
    with pytest.raises(VersionOutOfOrder):
        next_version(HIGHEST, None, importing=False)


def outcome(mode: str, *, with_id: bool) -> type[Refusal] | None:
    try:
        check_registrable(ORDERS, mode, with_id=with_id)
    except Refusal as refusal:
        return type(refusal)
    return None


def test_ids_are_brought_along_or_given_out_by_mode() -> None:
    """The first two lines of the table of modes (§8.1)."""
    assert {mode: outcome(mode, with_id=False) for mode in MODES} == {
        "READWRITE": None,
        "READONLY": ReadOnly,
        "READONLY_OVERRIDE": ReadOnly,
        "IMPORT": NotInReadWriteMode,
        "FORWARD": NotInReadWriteMode,
    }
    assert {mode: outcome(mode, with_id=True) for mode in MODES} == {
        "READWRITE": NotInImportMode,
        "READONLY": ReadOnly,
        "READONLY_OVERRIDE": ReadOnly,
        "IMPORT": None,
        "FORWARD": None,
    }


def test_read_only_forbids_every_write() -> None:
    """The override is a synonym without any power over subjects."""
    for mode in ("READWRITE", "IMPORT", "FORWARD"):
        check_writable(ORDERS, mode)
    for mode in ("READONLY", "READONLY_OVERRIDE"):
        with pytest.raises(ReadOnly):
            check_writable(ORDERS, mode)


def test_the_sentence_has_two_spaces_for_the_default_context() -> None:
    """…and the word null where a global setting was to be changed."""
    with pytest.raises(ReadOnly) as refused:
        check_writable(ORDERS, "READONLY")
    assert refused.value.message == "Subject orders in context  is in read-only mode"
    with pytest.raises(ReadOnly) as refused:
        check_writable(ELSEWHERE, "READONLY")
    assert refused.value.message == "Subject :.ctx:orders in context :.ctx: is in read-only mode"
    with pytest.raises(ReadOnly) as refused:
        check_writable(ORDERS, "READONLY", shown="null")
    assert refused.value.message == "Subject null in context  is in read-only mode"
