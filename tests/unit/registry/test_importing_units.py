"""Units of an import: a group of them durable together, or several at a time for a store far away."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from threading import Barrier
from typing import Never
from unittest.mock import patch

import pytest

from sigla.changes import Change
from sigla.errors import Conflict, StoreError
from sigla.registry import Registry
from sigla.stores.sqlite.store import EmbeddedStore
from sigla.upkeep.importing import CONFLICTING, carry_out, import_state
from sigla.upkeep.importing.units import AT_ONCE
from tests.build import FixedClock
from tests.unit.journal.topic import state
from tests.unit.registry.lives import A_LIFE, contents


def test_units_go_side_by_side_and_are_told_in_their_order() -> None:
    """Each waits for two others that are under way with it."""
    three = Barrier(3, timeout=60)

    def work(unit: int) -> int:
        three.wait()
        return unit * unit

    assert list(carry_out(range(9), work, threads=3)) == [unit * unit for unit in range(9)]


def test_after_a_failure_nothing_is_under_way() -> None:
    """A second run finds what has been done, and no other run at work."""
    begun, ended = [], []

    def work(unit: int) -> None:
        begun.append(unit)
        if unit == 3:
            raise ZeroDivisionError
        ended.append(unit)

    with pytest.raises(ZeroDivisionError):
        list(carry_out(range(AT_ONCE), work, threads=4))
    assert sorted(ended) == sorted({*begun} - {3})


def test_what_is_told_is_durable_and_the_next_units_are_not_yet_taken() -> None:
    """A million units pass through; two hundred are held."""
    open_groups = []

    @contextmanager
    def group() -> Iterator[None]:
        open_groups.append(1)
        yield
        open_groups.pop()

    taken = count()
    units = (next(taken) for _ in range(3 * AT_ONCE))
    done = carry_out(units, lambda unit: (unit, len(open_groups)), group=group)
    assert next(done) == (0, 1)
    assert (open_groups, next(taken)) == ([], AT_ONCE)


def test_an_import_of_many_threads_is_the_import_of_one(registry: Registry) -> None:
    """Threads go without a group, which is of one of them: the others would wait for its end."""
    with EmbeddedStore() as store:
        other = Registry(store.catalog, store.bodies, FixedClock())
        report = import_state(other, state(*A_LIFE), group=store.group, threads=4)
        assert report.form() == import_state(registry, state(*A_LIFE)).form()
        assert contents(other) == contents(registry)


def test_an_import_that_loses_every_race_can_be_begun_again(registry: Registry) -> None:
    """No client is there to be refused."""

    def lost(_: Change) -> Never:
        raise Conflict

    with patch.object(registry.catalog, "commit", lost), pytest.raises(StoreError, match="all the time"):
        import_state(registry, state(*A_LIFE))
    assert import_state(registry, state(*A_LIFE)).of(CONFLICTING) == {}
