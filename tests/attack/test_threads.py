"""Sixty-four clients at the same time, on threads of one process: through the group commit, and each for himself."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import pytest

from sigla.errors import Conflict
from sigla.model import GLOBAL, LATEST, Draft, Record, Version
from sigla.registry import Options, Registry
from tests.attack import stories
from tests.attack.stories import BASE, ONE, USING, config, delete, purge, register
from tests.attack.world import Verb, World
from tests.build import NOW

CLIENTS = 64


@dataclass
class OwnTime:
    """A clock that runs for each thread by itself: a pause costs the one who pauses, and no real time."""

    own: threading.local = field(default_factory=threading.local)

    def now(self) -> int:
        return NOW + int(getattr(self.own, "slept_ms", 0))

    def elapsed(self) -> int:
        return self.now()

    def sleep(self, seconds: float) -> None:
        self.own.slept_ms = getattr(self.own, "slept_ms", 0) + seconds * 1000


def at_once(world: World, verbs: list[Verb], *, grouped: bool) -> list[Any]:
    """All verbs at the same time, a thread each, as close together as threads can start."""
    store: Any = world.store
    registry = Registry(store.catalog, store.bodies, OwnTime(), Options(retrying_seconds=600))
    start = threading.Barrier(len(verbs))

    def client(verb: Verb) -> Any:
        start.wait()
        if not grouped:
            return verb(registry)
        with store.group():
            return verb(registry)

    with ThreadPoolExecutor(len(verbs)) as pool:
        return list(pool.map(client, verbs))


def order(number: int) -> str:
    return ONE.replace('"a"', f'"a{number}"')


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("subjects", [1, 8, 64])
@pytest.mark.parametrize("texts", [1, 8, 64])
def test_sixty_four_clients_at_once(*, texts: int, subjects: int, grouped: bool) -> None:
    """The same and different schemas into the same and different subjects: one text, one id; no number left out."""
    with World(config("", level="NONE")) as world:
        verbs = [register(f"s{n % subjects}", order(n % texts)) for n in range(CLIENTS)]
        answers: list[Record] = at_once(world, verbs, grouped=grouped)
        ids_of: dict[str, set[int]] = {}
        for answer in answers:
            assert answer.id is not None
            ids_of.setdefault(answer.schema.text, set()).add(answer.id)
        assert [len(ids) for ids in ids_of.values()] == [1] * texts, "one text, several ids"
        assert len(set.union(*ids_of.values())) == texts, "one id, several texts"
        versions: dict[str, list[int]] = {}
        for subject, row in world.rows():
            versions.setdefault(str(subject), []).append(row.version)
        assert all(numbers == list(range(1, len(numbers) + 1)) for numbers in versions.values()), versions
        wanted = {(n % subjects, n % texts) for n in range(CLIENTS)}
        assert sum(map(len, versions.values())) == len(wanted)
        if grouped:
            assert world.store.catalog.max_id(".") == texts, "an id was wasted"
        world.check_sound()


def test_writers_and_deleters_at_once_leave_a_sound_registry() -> None:
    """Registrations, deletes, purges and settings of the same few subjects, all at the same time."""

    def quietly(verb: Verb) -> Verb:
        def run(registry: Registry) -> str:
            try:
                verb(registry)
            except Conflict:
                pytest.fail("a lost race was shown to a client")
            except Exception as refusal:  # noqa: BLE001 - what it was is checked below
                return type(refusal).__name__
            return "done"

        return run

    kinds: list[Callable[[int], Verb]] = [
        lambda n: register(f"s{n % 3}", order(n)),
        lambda n: register(f"u{n % 3}", USING, "base"),
        lambda n: delete(f"s{n % 3}", LATEST),
        lambda n: delete(f"u{n % 3}"),
        lambda n: purge(f"u{n % 3}"),
        lambda _: delete("base"),
        lambda _: register("base", BASE),
        lambda n: config(f"s{n % 3}", group=f"g{n}"),
    ]
    with World(register("base", BASE), config("", level="NONE")) as world:
        verbs = [quietly(kinds[n % len(kinds)](n // len(kinds))) for n in range(CLIENTS)]
        answers = at_once(world, verbs, grouped=False)
        assert set(answers) <= {
            "done",
            "Incompatible",
            "Referenced",
            "SubjectNotFound",
            "SubjectSoftDeleted",
            "SubjectNotSoftDeleted",
            "VersionNotFound",
            "VersionSoftDeleted",
            "InvalidSchema",
        }
        world.check_sound()


def test_readers_see_whole_versions_while_writers_write() -> None:
    """What a list shows can be read, by number and by id, in the middle of everything."""
    with World(config("", level="NONE")) as world:
        subject = stories.subject("orders")

        def read(registry: Registry) -> int:
            seen = 0
            for _ in range(10):
                for version in registry.versions(subject, page=stories.PAGE) if seen else []:
                    record = registry.version(subject, Version(version))
                    assert record.id is not None
                    assert registry.schema_by_id(record.id).schema == record.schema
                seen = 1
            return seen

        register("orders", order(99))(world.registry)
        verbs = [read if n % 2 else register("orders", order(n)) for n in range(32)]
        at_once(world, verbs, grouped=False)
        world.check_sound()
        assert world.registry.lookup(subject, Draft(order(0))).version
        assert world.registry.mode(GLOBAL) == "READWRITE"
