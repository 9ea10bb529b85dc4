"""A table restored to an earlier state behind a newer bucket: an id that was told means what it meant.

What was acknowledged since is lost to the table, and the bucket remembers it; a journal replayed brings it back. Ids
that were purged since live again under their tombstones, until whoever follows the journal takes these away.
"""

import random
from typing import Any

import pytest

from sigla.errors import IdTaken, Refusal
from sigla.model import BodyKey, SchemaId, Subject
from sigla.registry import Registry
from tests.attack.aws import Store
from tests.attack.stories import config, mode, register
from tests.attack.test_aws_crowd import anything
from tests.attack.test_threads import order
from tests.attack.world import Fresh, World

OPERATIONS = 25
AT_ONCE = 25
"""Items that DynamoDB writes in one batch."""


class Backup:
    """A table as it was once."""

    def __init__(self, store: Store) -> None:
        self._table, self._dynamodb = store.stores.table, store.stores.dynamodb
        self._items = self._all()

    def restore(self) -> None:
        self._write([{"DeleteRequest": {"Key": {"pk": item["pk"], "sk": item["sk"]}}} for item in self._all()])
        self._write([{"PutRequest": {"Item": item}} for item in self._items])

    def _write(self, requests: list[dict[str, Any]]) -> None:
        for at in range(0, len(requests), AT_ONCE):
            answer = self._dynamodb.batch_write_item(RequestItems={self._table: requests[at : at + AT_ONCE]})
            assert not answer["UnprocessedItems"]

    def _all(self) -> list[dict[str, Any]]:
        pages = self._dynamodb.get_paginator("scan").paginate(TableName=self._table, ConsistentRead=True)
        return [item for page in pages for item in page["Items"]]


def store_of(world: World) -> Store:
    assert isinstance(world.store, Store)
    return world.store


def restarted(world: World) -> Registry:
    """Another instance, as after every restoration: it remembers nothing of what is undone."""
    catalog, bodies = store_of(world).instance()
    return Registry(catalog, bodies, world.clock)


@pytest.fixture(params=["orders", ":.c:orders"])
def subject(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.parametrize("remembers", [False, True])
def test_an_id_given_out_since_is_not_given_out_again(subject: str, small: Fresh, *, remembers: bool) -> None:
    """The counter gallops past the last body, in one context alone; instances may go on that know the later state."""
    context = ".c" if subject.startswith(":") else "."
    with World(config(":.__GLOBAL:", level="NONE"), register(subject, order(1)), store=small()) as world:
        backup = Backup(store_of(world))
        for number in (2, 3, 4):
            register(subject, order(number))(world.registry)
        meanings = world.meanings()
        backup.restore()
        registry = world.registry if remembers else restarted(world)
        assert [row.version for _, row in world.rows()] == [1]
        assert [register(subject, order(number))(registry).id for number in (5, 6)] == [5, 6]
        assert register(":.d:other", order(7))(registry).id == 1
        assert meanings.items() <= world.meanings().items()
        assert world.store.catalog.max_id(context) == 6
        store_of(world).check()
        world.check_sound()


def test_what_was_lost_and_is_registered_again_takes_its_orphan(subject: str, small: Fresh) -> None:
    """In the order in which producers start again, as if nothing had been."""
    with World(config(":.__GLOBAL:", level="NONE"), register(subject, order(1)), store=small()) as world:
        backup = Backup(store_of(world))
        lost = [register(subject, order(number))(world.registry).id for number in (2, 3)]
        backup.restore()
        registry = restarted(world)
        assert [register(subject, order(number))(registry).id for number in (2, 3)] == lost == [2, 3]
        assert world.store.bodies.last(world.rows()[0][0].context) == 3
        store_of(world).check()
        world.check_sound()


def test_an_import_does_not_take_an_id_that_meant_something_else(small: Fresh) -> None:
    """No version holds it, and records with it may be in Kafka."""
    with World(mode("", "IMPORT"), register("orders", order(1), id=1, version=1), store=small()) as world:
        backup = Backup(store_of(world))
        register("orders", order(2), id=2, version=2)(world.registry)
        backup.restore()
        registry = restarted(world)
        with pytest.raises(IdTaken):
            register("orders", order(3), id=2, version=2)(registry)
        assert register("orders", order(2), id=2, version=2)(registry).id == 2
        store_of(world).check()
        world.check_sound(imported=True)


def test_an_id_purged_since_is_read_again_and_means_the_same(small: Fresh) -> None:
    """Its tombstone keeps its text; whoever follows the journal takes the tombstone away."""
    subject = Subject(".", "orders")
    with World(config(":.__GLOBAL:", level="NONE"), register("orders", order(1)), store=small()) as world:
        backup = Backup(store_of(world))
        world.registry.delete_subject(subject)
        world.registry.delete_subject(subject, permanent=True)
        assert world.store.bodies.get(BodyKey(".", SchemaId(1))).gone
        backup.restore()
        registry = restarted(world)
        assert registry.schema_by_id(SchemaId(1)).schema.text == order(1)
        assert register("orders", order(1))(registry).id == 1
        assert register("orders", order(2))(registry).id == 2
        store_of(world).check()
        world.check_sound()


@pytest.mark.parametrize("rounds", [3, pytest.param(40, marks=pytest.mark.soak)])
def test_nothing_that_was_ever_told_changes_its_meaning_however_often_a_table_is_restored(
    small: Fresh, rounds: int
) -> None:
    """Operations of all kinds, and again and again an earlier table."""
    draw = random.Random(7)
    told: dict[tuple[str, int], str] = {}
    with World(config(":.__GLOBAL:", level="NONE"), register("base", order(0)), store=small()) as world:
        backups, registry = [Backup(store_of(world))], world.registry
        for _ in range(rounds):
            for _ in range(OPERATIONS):
                try:
                    answer = anything(draw)(registry)
                except Refusal:
                    continue
                if getattr(answer, "id", None) is not None:
                    key = answer.subject.context, answer.id
                    assert told.setdefault(key, answer.schema.text) == answer.schema.text, key
            backups.append(Backup(store_of(world)))
            draw.choice(backups).restore()
            registry = restarted(world)
            store_of(world).check()
            world.check_sound(imported=True)
        for (context, id), text in told.items():
            assert world.store.bodies.get(BodyKey(context, SchemaId(id))).schema.text == text
    assert len(told) > 3 * rounds
