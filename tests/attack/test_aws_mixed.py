"""Keys, associations, registrations and deletes, all at once, while calls fail: on DynamoDB's own engine.

Four instances on sixteen threads, and of a hundred calls to DynamoDB or S3 two fail in one of the ways in which they
can, the end of the process among them. While that goes on, a reader looks for what must never be seen.
"""

import random
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest

from sigla.associations.nouns import CREATE, UPSERT, Association, Request, Wanted
from sigla.associations.verbs import writing
from sigla.associations.verbs.writing import AssociationOutcome, Manner
from sigla.errors import Refusal, StoreError
from sigla.keks.nouns import Dek, Kek
from sigla.keks.verbs.deks import ShownDek
from sigla.model import LATEST, Draft, Record
from sigla.ports.catalog import Catalog
from sigla.registry import Options, Registry
from sigla.stores.clock import SystemClock
from tests.attack.associations import ended
from tests.attack.aws import Store, failing, faults_of
from tests.attack.keys import (
    dek,
    deks_deleted,
    deks_purged,
    deks_undeleted,
    kek,
    kek_deleted,
    kek_patched,
    kek_purged,
    kek_undeleted,
)
from tests.attack.ports import Call
from tests.attack.stories import config, delete, purge, register
from tests.attack.test_aws_crowd import check_acknowledged
from tests.attack.test_threads import order
from tests.attack.world import Fresh, Verb, World
from tests.unit.aws.faults import Killed

INSTANCES, THREADS = 4, 16
FAILING = 0.02
"""The share of calls that fail."""
PATIENT = Options(retrying_seconds=600)
USES = '{"type":"record","name":"Uses","fields":[{"name":"f","type":"int"}]}'

KEKS = ("k", "l", "m")
TOPICS = ("t", "u", "v", "w")
SHARED = ("a", "b", ":.c:a")
"""Subjects that no topic owns, and of which DEKs are kept as well."""


class Weather:
    """A `Between` that lets some calls fail."""

    def __init__(self, seed: int) -> None:
        self._draw = random.Random(seed)
        self._lock = threading.Lock()

    def __call__(self, call: Call, carry_out: Callable[[], Any]) -> Any:
        with self._lock:
            fault = self._draw.choice(faults_of(call)) if self._draw.random() < FAILING else None
        return carry_out() if fault is None else failing(fault)(call, carry_out)


# --- what is done ----------------------------------------------------------------------------------------------------


def associated(topic: str, *wanted: Wanted, id: str = "") -> Verb:
    request = Request(topic, "lkc", id or f"id-{topic}", None, wanted)
    return lambda registry: writing.write(registry, request, Manner())


def anything(draw: random.Random) -> Verb:
    """A verb about one of a few KEKs, topics and subjects, so that each is in the way of all others."""
    name, topic, shared = draw.choice(KEKS), draw.choice(TOPICS), draw.choice(SHARED)
    type = draw.choice(["key", "value"])
    own, text, version = f":.lkc:{topic}-{type}", order(draw.randrange(6)), draw.choice([1, 2, 3])
    subject = draw.choice([own, shared])
    verbs: list[tuple[int, Verb]] = [
        # Keys.
        (4, kek(name, doc=draw.choice([None, "d"]))),
        (2, kek_patched(name, doc=str(draw.random()))),
        (3, kek_deleted(name)),
        (3, kek_purged(name)),
        (2, kek_undeleted(name)),
        (10, dek(name, shared, version, deleted=draw.random() < 0.1, rewrap=draw.random() < 0.3)),
        (4, deks_deleted(name, shared, draw.choice([None, version]))),
        (4, deks_purged(name, shared, draw.choice([None, version]))),
        (2, deks_undeleted(name, shared)),
        # Associations.
        (6, associated(topic, Wanted(CREATE, type=type, draft=Draft(text)))),
        (
            3,
            associated(
                topic, Wanted(CREATE, type="value", draft=Draft(text)), Wanted(CREATE, type="key", draft=Draft(text))
            ),
        ),
        (6, associated(topic, Wanted(CREATE, subject=shared, type=type))),
        (2, associated(topic, Wanted(CREATE, subject=shared, type=type), id=f"id-{topic}-again")),
        (4, associated(topic, Wanted(UPSERT, type=type, draft=Draft(text)))),
        (6, ended(topic, cascade=draw.random() < 0.7)),
        (2, ended(f"{topic}-again")),
        # Schemas.
        (8, register(subject, text)),
        (3, register(":.lkc:uses", USES, own)),
        (4, delete(subject, LATEST)),
        (3, delete(subject)),
        (3, purge(subject)),
        (2, delete(":.lkc:uses")),
        (2, purge(":.lkc:uses")),
    ]
    return draw.choices([verb for _, verb in verbs], [weight for weight, _ in verbs])[0]


# --- what must never be seen -----------------------------------------------------------------------------------------


def deks_without_kek(catalog: Catalog) -> Iterator[str]:
    """What stood before and after a look at its KEK stood all the time."""
    for name in KEKS:
        before = _standing(catalog, name)
        if before and catalog.kek(name) is None and (left := before & _standing(catalog, name)):
            yield f"no KEK {name} for {left}"


def _standing(catalog: Catalog, kek: str) -> set[tuple[Any, ...]]:
    return {(dek.name, dek.version, dek.revision) for dek in catalog.deks(kek)}


def associations_without_subject(catalog: Catalog) -> Iterator[str]:
    """Likewise; and what belongs to one topic has no other."""
    for one in catalog.associations_named():
        newest = catalog.snapshot(one.subject).head.newest
        others = [each for each in catalog.associations_of_subject(one.subject) if each != one]
        wrong = newest is None or (one.strong and bool(others))
        if wrong and one in catalog.associations_of_resource(one.resource.id):
            yield f"{one}: newest {newest}, others {others}"


@contextmanager
def watched(catalog: Catalog) -> Iterator[list[str]]:
    """A reader at work; what it has seen that must not be."""
    seen: list[str] = []
    looks = Counter[str]()
    over = threading.Event()

    def look() -> None:
        while not over.is_set():
            seen.extend(deks_without_kek(catalog))
            seen.extend(associations_without_subject(catalog))
            looks["done"] += 1

    with ThreadPoolExecutor(1) as reader:
        looking = reader.submit(look)
        try:
            yield seen
        finally:
            over.set()
            looking.result()
    assert looks["done"]


# --- all of it -------------------------------------------------------------------------------------------------------

KILLED, UNANSWERED, DONE = "killed", "unanswered", "done"


def operations(fresh: Fresh, number: int, seed: int) -> Counter[str]:
    """Runs them, and says what became of them."""
    draw = random.Random(seed)
    verbs = [anything(draw) for _ in range(number)]
    acknowledged: list[Any] = []
    with World(config(":.__GLOBAL:", level="NONE"), store=fresh()) as world:
        store = world.store
        assert isinstance(store, Store)
        weather = Weather(seed)
        made = [store.disturbed(weather) for _ in range(INSTANCES)]
        instances = [Registry(catalog, bodies, SystemClock(), PATIENT) for catalog, bodies in made]

        def act(turn: int) -> str:
            try:
                acknowledged.append(verbs[turn](instances[turn % INSTANCES]))
            except Refusal as refusal:
                return type(refusal).__name__ if refusal.code < 50_000 else UNANSWERED
            except StoreError:
                return UNANSWERED
            except Killed:
                return KILLED
            return DONE

        with watched(store.instance()[0]) as seen, ThreadPoolExecutor(THREADS) as pool:
            outcomes = Counter(pool.map(act, range(number)))
        assert seen == []
        world.check_sound()
        store.check()
        check_acknowledged(world, [answer for answer in acknowledged if isinstance(answer, Record)])
        check_told(world, acknowledged)
    assert outcomes[UNANSWERED] <= number // 10, outcomes
    return outcomes


def check_told(world: World, acknowledged: list[Any]) -> None:
    """Whatever became of it later, the journal has each key and each association that a client was told is written."""
    journal = [row for _, row in world.store.journal.read()]
    nonces = {row["nonce"] for row in journal}
    entries = (entry for row in journal for entry in row["entries"])  # type: ignore[attr-defined]  # a journal's row is JSON
    guids = {entry["association"]["guid"] for entry in entries if entry.get("association")}
    for answer in acknowledged:
        key = answer.dek if isinstance(answer, ShownDek) else answer
        if isinstance(key, Kek | Dek):
            assert key.revision in nonces, key
        if isinstance(answer, AssociationOutcome):
            written: tuple[Association, ...] = answer.written
            assert {one.guid for one in written} <= guids, answer


def test_keys_associations_and_schemas_are_changed_at_once_while_calls_fail(fresh: Fresh) -> None:
    """No DEK without its KEK, no topic without its subject, and nothing lost that was acknowledged."""
    outcomes = operations(fresh, 100, seed=1)
    assert outcomes[DONE] > 20
    assert sum(outcomes.values()) == 100


CROWDS, OF_ONE = 50, 2_000


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(CROWDS))
def test_a_hundred_thousand_operations_on_keys_and_associations(
    seed: int, fresh: Fresh, request: pytest.FixtureRequest
) -> None:
    """Fifty crowds, each on a registry of its own; it says what became of all of them so far."""
    all_of_them = request.config.stash.setdefault(OUTCOMES, Counter())
    all_of_them += operations(fresh, OF_ONE, seed)
    told = ", ".join(f"{name} {count:,}" for name, count in all_of_them.most_common())
    request.config.get_terminal_writer().line(f"\n{all_of_them.total():,} operations: {told}")


OUTCOMES: pytest.StashKey[Counter[str]] = pytest.StashKey()
