"""Two registries of which one follows the other: what is asked, what is told of it, and what both have then."""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from sigla.errors import Refusal
from sigla.ports.replaying import OrderedReplayer, Shipment
from sigla.regions.replay import Verdict
from sigla.stores.sqlite import tables
from sigla.stores.sqlite.reading import CATALOG
from tests.attack import exporters
from tests.attack.associations import GONE_WITH_TOPIC, STRONG_ORDERS, WEAK_ORDERS, ended, evolved, strong, weak
from tests.attack.stories import ONE, THREE, TWO, WRITES, purge
from tests.attack.world import Embedded, Verb, World

EPOCH: Final = 1

STORIES: Final[Mapping[str, tuple[Verb, ...]]] = {
    **{name: (*story.before, story.verb) for name, story in WRITES.items()},
    "weak associations": (*WEAK_ORDERS, weak("a", "orders", id="id-b"), ended("a"), ended("b")),
    "strong associations": (*STRONG_ORDERS, evolved("t", THREE)),
    "a topic that goes": (*STRONG_ORDERS, *GONE_WITH_TOPIC, strong("t", TWO, ONE, id="id-again")),
    "exporters": (
        exporters.created(),
        exporters.paused(),
        exporters.resumed(),
        exporters.updated(subjects=("a",)),
        exporters.restarted(),
        exporters.created("f"),
        exporters.deleted("f"),
    ),
}
"""Every kind of change, in the states in which it is attacked elsewhere."""

TRAFFIC: Final[Sequence[Verb]] = tuple(
    dict.fromkeys(verb for verbs in STORIES.values() for verb in (*verbs, purge("using"), purge("base")))
)
"""What a registry is asked, in any order: much of it is refused then."""

LOCAL: Final = {"context": "given", "exporter": "progress"}
"""Columns that each side has for itself."""
OWN_ROWS: Final = {"context": "NOT listed"}
"""Rows that stand for what each side has for itself: a counter that was raised for ids which were not given then."""
OWN_TABLES: Final = {"state", "principal"}


def ask(world: World, verbs: Iterable[Verb]) -> None:
    """Each of them at a time of its own; what is refused is refused."""
    for verb in verbs:
        world.clock.time += 7
        with suppress(Refusal):
            verb(world.registry)


def primary() -> World:
    return World(store=Embedded(epoch=EPOCH))


def embedded(world: World) -> Embedded:
    assert isinstance(world.store, Embedded)
    return world.store


def shipped(world: World) -> list[Shipment]:
    return list(embedded(world).shipper().shipments())


def replayer(world: World) -> OrderedReplayer:
    return embedded(world).replayer(always)


def always() -> None:
    """It still follows."""


def follow(replayer: OrderedReplayer, shipments: Iterable[Shipment]) -> list[Verdict]:
    return [replayer.carry_out(shipment) for shipment in shipments]


# --- what both have to have ------------------------------------------------------------------------------------------


def contents(world: World) -> dict[str, Any]:
    """The bytes of all tables and bodies, but for what each side has for itself."""
    path = embedded(world).path
    return {"tables": dict(_tables(path / CATALOG)), "bodies": _bodies(path)}


def _tables(catalog: Path) -> Iterator[tuple[str, list[tuple[Any, ...]]]]:
    database = sqlite3.connect(f"{catalog.as_uri()}?mode=ro", uri=True)
    try:
        for name in sorted({*tables.NAMES, *tables.ADDED} - OWN_TABLES):
            columns = [column for _, column, *_ in database.execute(f"PRAGMA table_info({name})")]
            wanted = ", ".join(f'"{column}"' for column in columns if column != LOCAL.get(name))
            shared = f"WHERE NOT ({OWN_ROWS[name]})" if name in OWN_ROWS else ""
            yield name, database.execute(f"SELECT {wanted} FROM {name} {shared} ORDER BY 1, 2").fetchall()
    finally:
        database.close()


def _bodies(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.glob("*/schemas/**/*.json"))}


def check_equal(one: World, other: World) -> None:
    """Whatever is asked of either is answered with the same bytes, for it is what both have."""
    mine, theirs = contents(one), contents(other)
    assert {name: rows for name, rows in theirs["tables"].items() if rows != mine["tables"][name]} == {}
    assert theirs == mine
    assert theirs["tables"]["journal"]
