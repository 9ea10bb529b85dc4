"""The stores keep what the model promises: with failures at every request of a draw, a raise and a change of roles."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import ClassVar

import orjson
import pytest
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

from sigla.forms import ITEM_OF_REGIONS
from sigla.regions import nouns, rules
from sigla.regions.role_form import form_of_role
from sigla.stores.clock import SystemClock
from sigla.stores.dynamodb import fence
from sigla.stores.dynamodb.catalog import AwsCatalog
from sigla.stores.dynamodb.places import Places
from sigla.stores.dynamodb.regions import AwsRegion
from sigla.stores.dynamodb.values import written_item
from sigla.stores.sqlite import regions
from sigla.stores.sqlite.store import EmbeddedStore
from tests.contract.aws import Account, moto
from tests.unit.regions.model import BLOCK, Site
from tests.unit.regions.stored import CONTEXT, Stored, StoredSite
from tests.unit.regions.test_design import (
    a_first_draw_is_not_heard_of,
    a_raise_is_forgotten,
    a_raise_is_known_only_where_it_was_told,
    a_raise_wakes_the_old_primary,
)
from tests.unit.regions.test_ids import Pair, Regions

__all__ = ["moto"]


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "BLOCK", BLOCK)
    monkeypatch.setattr(fence, "COPIES", 2)
    monkeypatch.setattr(fence, "AT_ONCE", 1)


# --- what is stored --------------------------------------------------------------------------------------------------


def in_a_directory(opened: ExitStack) -> Stored:
    store = opened.enter_context(EmbeddedStore())

    def put_back(role: nouns.Role, counter: nouns.Counter | None) -> None:
        with store.group():
            db = store._unit.connection
            for table in ("region", "ceiling", "context"):
                db.execute(f"DELETE FROM {table}")
            form = orjson.dumps(form_of_role(replace(role, turn=1))).decode()
            db.execute("INSERT INTO region VALUES (1, 1, ?)", (form,))
            if counter is not None:
                assert regions.EmbeddedRegion(store._unit).set_counter(CONTEXT, None, counter)

    return Stored(store.region, store.catalog, put_back)


def in_a_table(account: Account, opened: ExitStack) -> Stored:
    stores = opened.enter_context(account.stores())
    places, dynamodb = Places(stores.registry), stores.dynamodb
    other = AwsCatalog(dynamodb, stores.table, SystemClock(), registry=stores.registry)
    opened.callback(other.close)

    def put_back(role: nouns.Role, counter: nouns.Counter | None) -> None:
        def put(key: tuple[str, str], **attributes: object) -> None:
            item = {"pk": key[0], "sk": key[1], "form": ITEM_OF_REGIONS, **attributes}
            dynamodb.put_item(TableName=stores.table, Item=written_item(item))

        role = replace(role, turn=1)
        told = {"kind": role.kind.value, "turn": 1}
        put(places.role(), role=orjson.dumps(form_of_role(role)).decode(), **told)
        for number in range(fence.COPIES):
            put(places.fence(number), epoch=role.epoch, open=role.open, **told)
        if counter is not None:
            put(places.counter(CONTEXT), **counter._asdict())
        else:
            pk, sk = places.counter(CONTEXT)
            dynamodb.delete_item(TableName=stores.table, Key=written_item({"pk": pk, "sk": sk}))

    return Stored(AwsRegion.of(dynamodb, stores.table, SystemClock(), registry=stores.registry), other, put_back)


Opening = Callable[[ExitStack], Stored]


@dataclass
class StoredPair(Pair):
    open: Callable[[], Stored] | None = None

    def site(self, name: str, kind: str) -> Site:
        assert self.open is not None
        return StoredSite(name, kind, self.given, self.open())


class StoredRegions(Regions):
    """As the model's, step by step, with real tables."""

    opening: ClassVar[Opening]

    def begun(self) -> Pair:
        self.opened = ExitStack()
        return StoredPair(open=lambda: type(self).opening(self.opened))

    def teardown(self) -> None:
        self.opened.close()


STORES = ["directory", "table"]


@pytest.fixture(params=STORES)
def opening(request: pytest.FixtureRequest) -> Opening:
    if request.param == "directory":
        return in_a_directory
    account: Account = request.getfixturevalue("moto")
    return lambda opened: in_a_table(account, opened)


@pytest.fixture
def pair(opening: Opening) -> Iterator[Pair]:
    with ExitStack() as opened:
        yield StoredPair(open=lambda: opening(opened))


def test_no_id_is_given_twice_by_two_stores(opening: Opening) -> None:
    machine: type[RuleBasedStateMachine] = type("Machine", (StoredRegions,), {"opening": staticmethod(opening)})
    few = settings().max_examples // 2
    run_state_machine_as_test(machine, settings=settings(stateful_step_count=40, max_examples=few, deadline=None))


@pytest.mark.parametrize(
    "story",
    [
        a_raise_wakes_the_old_primary,
        a_first_draw_is_not_heard_of,
        a_raise_is_known_only_where_it_was_told,
        a_raise_is_forgotten,
    ],
)
def test_the_stories_of_the_model_end_well(pair: Pair, story: Callable[[Pair], None]) -> None:
    """Each is the one of a rule without which an id would be given twice."""
    story(pair)
    assert not pair.twice
    assert pair.given
