"""A region of two in the same process: what it hands to the other one, over a bad link, and what it has for itself."""

import random
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final

from sigla.errors import BodyLost, StoreError, Taken
from sigla.model import BodyKey, SchemaId
from sigla.ports.regions import Peer
from sigla.ports.replaying import Shipment
from sigla.regions.adoption import AdoptedIds, given_before
from sigla.regions.followed import Taking
from sigla.regions.follower import check_follows
from sigla.regions.handing import HandsOver
from sigla.regions.nouns import Counter, KnownBy, RegionSeen, Role
from sigla.registry import Options, Registry
from tests.attack.ports import Between
from tests.attack.replay import embedded
from tests.attack.world import World


class Site(World):
    over: HandsOver

    def _check_authors(self) -> None:
        """Each region keeps the names of those who asked it."""

    def registry_with(self, between: Between | None = None, options: Options | None = None) -> Registry:
        registry, store = super().registry_with(between, options), embedded(self)
        is_adopted = given_before(store.region.look)
        return replace(
            registry, catalog=AdoptedIds(registry.catalog, store.bodies, is_adopted, buried=store.inventory.buried)
        )

    def hands_over(self, taker: "Taker", *, required: bool) -> None:
        store = embedded(self)
        self.over = HandsOver(taker, store.region.role(), required=required, tell=lambda _: None)
        store.on_role_changed(self.over.hear)
        store.hand_over(self.over)


@dataclass
class Link:
    """The way to the other region: a `Peer`. What is asked may be done though no answer comes."""

    peer: Peer
    dice: random.Random
    failing: Callable[[], float]

    def look(self, context: str) -> RegionSeen:
        self._fails()
        return self.peer.look(context)

    def raise_for(self, context: str, epoch: int, seen: Counter | None, ceiling: SchemaId) -> bool:
        self._fails()
        done = self.peer.raise_for(context, epoch, seen, ceiling)
        self._fails()
        return done

    def _fails(self) -> None:
        if self.dice.random() < self.failing():
            raise StoreError("no answer")


@dataclass
class Taker:
    """The other region, as far as new bodies are handed to it over a bad link: as a `PolledFollower`."""

    there: Callable[[], World]
    link: Link
    epoch: Callable[[], int]
    is_silent: bool = False

    def take(self, shipments: Sequence[Shipment]) -> Taking:
        store = embedded(self.there())
        replayer = store.replayer(partial(check_follows, store.region, self.epoch()))
        with suppress(StoreError):
            self.link._fails()
            is_kept = replayer.keep(shipments)
            self.link._fails()
            return {True: Taking.KEPT, False: Taking.APART, None: Taking.SILENT}[is_kept]
        return Taking.SILENT


@contextmanager
def kept_apart(world: World) -> Iterator[None]:
    store = embedded(world)
    kept = {}
    with store.group():
        for table in ("region", "ceiling"):
            kept[table] = store._unit.connection.execute(f"SELECT * FROM {table}").fetchall()
            store._unit.connection.execute(f"DELETE FROM {table}")
    yield
    with store.group():
        for table, rows in kept.items():
            for row in rows:
                marks = ", ".join("?" * len(row))
                store._unit.connection.execute(f"INSERT INTO {table} VALUES ({marks})", row)


@contextmanager
def as_compared(here: World, there: World, known: Collection[BodyKey]) -> Iterator[None]:
    """Without what each side has for itself: roles and ceilings, and bodies of registrations that were refused.

    known: ids that are compared though no version holds them.
    """
    with (
        kept_apart(here),
        kept_apart(there),
        without_unknown(here, known),
        without_unknown(there, known),
        with_bodies_brought_twice(here, there),
    ):
        yield


@contextmanager
def without_unknown(world: World, known: Collection[BodyKey]) -> Iterator[None]:
    """known: ids that are compared though no version holds them."""
    store = embedded(world)
    unknown = [
        key
        for key in store.inventory.bodies()
        if key not in known and not store.inventory.buried([key]) and not store.catalog.speaker(key)
    ]
    files = {path: path.read_bytes() for path in map(store._directory.body_path, unknown)}
    with store.group():
        rows = [row for key in unknown for row in store._unit.connection.execute(f"SELECT * {_POINTERS}", key)]
        store._unit.connection.executemany(f"DELETE {_POINTERS}", unknown)
    for path in files:
        path.unlink()
    yield
    for path, content in files.items():
        path.write_bytes(content)
    with store.group():
        store._unit.connection.executemany("INSERT INTO content VALUES (?, ?, ?, ?, ?)", rows)


@contextmanager
def with_bodies_brought_twice(here: World, there: World) -> Iterator[None]:
    """An import that is refused may leave its body in the other region: the next one of its content has its own here.

    Both mean the same. While they are compared, that of here stands in both.
    """
    ours, theirs = embedded(here), embedded(there)
    others: dict[Path, bytes] = {}
    for key in theirs.inventory.bodies():
        with suppress(BodyLost):
            mine, other = ours.bodies.get(key), theirs.bodies.get(key)
            if mine.brought and other.brought and not mine.gone and not other.gone and mine.schema == other.schema:
                path = theirs._directory.body_path(key)
                others[path] = path.read_bytes()
                path.write_bytes(ours._directory.body_path(key).read_bytes())
    yield
    for path, content in others.items():
        path.write_bytes(content)


_POINTERS: Final = "FROM content WHERE context = ? AND id = ?"


def role_of(world: World) -> Role:
    role = embedded(world).region.role()
    assert role
    return role


def copy_bodies(one: World, other: World) -> None:
    """With those that no commit names: of registrations that were cut off, or refused."""
    for key in embedded(one).inventory.bodies():
        with suppress(Taken):
            other.store.bodies.put(key, one.store.bodies.get(key))


def hear_name(primary: World) -> tuple[()]:
    """The name of the region that asks it, as `regions.followed` does: before that nothing is handed over."""
    role = role_of(primary)
    if role.token and role.peer.url:
        assert embedded(primary).region.set_role(role, replace(role, peer=KnownBy("there")))
    return ()
