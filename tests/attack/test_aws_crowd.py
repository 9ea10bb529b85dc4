"""Many writers on several instances at once, on DynamoDB's own engine: what they leave is sound, row by row."""

import random
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from sigla.errors import Refusal, StoreError
from sigla.model import LATEST, Record
from sigla.registry import Options, Registry
from sigla.stores.clock import SystemClock
from tests.attack.aws import Store
from tests.attack.stories import BASE, USING, config, delete, drop_context, mode, purge, register
from tests.attack.test_threads import order
from tests.attack.world import Fresh, Verb, World

INSTANCES, THREADS = 4, 32
WRITERS = pytest.mark.parametrize("writers", [16, pytest.param(THREADS, marks=pytest.mark.soak)])
"""Where all of them want one row, each waits for all the others: twice as many take four times as long."""
PATIENT = Options(retrying_seconds=600)


def crowd(world: World) -> list[Registry]:
    """Registries that share nothing but the table and the bucket."""
    assert isinstance(world.store, Store)
    made = [world.store.instance() for _ in range(INSTANCES)]
    return [Registry(catalog, bodies, SystemClock(), PATIENT) for catalog, bodies in made]


@WRITERS
@pytest.mark.parametrize(
    "texts, subjects",
    [(1, THREADS), (THREADS, 1), *(pytest.param(many, many, marks=pytest.mark.soak) for many in (1, THREADS))],
)
def test_many_writers_at_once(texts: int, subjects: int, writers: int, small: Fresh) -> None:
    """One text, one id; no number left out; nothing acknowledged is missing."""
    with World(config(":.__GLOBAL:", level="NONE"), store=small()) as world:
        instances = crowd(world)

        def write(number: int) -> Record:
            verb = register(f"s{number % subjects}", order(number % texts))
            answer: Record = verb(instances[number % INSTANCES])
            return answer

        with ThreadPoolExecutor(writers) as pool:
            answers = list(pool.map(write, range(writers)))
        ids = {(answer.schema.text, answer.id) for answer in answers}
        assert len(ids) == len({text for text, _ in ids}) == len({id for _, id in ids}) == min(texts, writers)
        stored = {(str(subject), row.version, row.id) for subject, row in world.rows()}
        assert {(str(answer.subject), answer.version, answer.id) for answer in answers} == stored
        numbers = Counter(subject for subject, _, _ in stored)
        assert all(version <= numbers[subject] for subject, version, _ in stored)
        world.check_sound()
        world.store.check()


def anything(draw: random.Random) -> Verb:
    """A verb about one of a few subjects in two contexts, so that everybody is in everybody's way."""
    subject = draw.choice(["a", "b", ":.c:a", ":.c:b"])
    verbs: list[tuple[int, Verb]] = [
        (8, register(subject, order(draw.randrange(6)))),
        (3, register(draw.choice(["u", "v"]), USING, "base")),
        (2, register("base", BASE)),
        (3, delete(subject, LATEST)),
        (2, delete(subject)),
        (3, purge(subject)),
        (2, purge(subject, draw.randrange(1, 5))),
        (1, delete(draw.choice(["u", "v", "base"]))),
        (1, purge(draw.choice(["u", "v", "base"]))),
        (1, config(subject, group=str(draw.random()))),
        (1, mode(draw.choice(["a", ":.c:"]), draw.choice(["IMPORT", "READWRITE", "READWRITE"]))),
        (1, drop_context(".c")),
    ]
    return draw.choices([verb for _, verb in verbs], [weight for weight, _ in verbs])[0]


UNANSWERED = "unanswered"


def operations(fresh: Fresh, number: int, seed: int) -> Counter[str]:
    """Runs them, and says what became of them."""
    draw = random.Random(seed)
    verbs = [anything(draw) for _ in range(number)]
    acknowledged: list[Any] = []
    with World(config(":.__GLOBAL:", level="NONE"), register("base", BASE), store=fresh()) as world:
        instances = crowd(world)

        def act(turn: int) -> str:
            try:
                acknowledged.append(verbs[turn](instances[turn % INSTANCES]))
            except Refusal as refusal:
                if refusal.code >= 50_000:
                    raise
                return type(refusal).__name__
            except StoreError:  # a machine so busy that DynamoDB answers too late; it is told, and nothing half done
                return UNANSWERED
            return "done"

        with ThreadPoolExecutor(THREADS) as pool:
            outcomes = Counter(pool.map(act, range(number)))
        world.check_sound()
        world.store.check()
        check_acknowledged(world, [answer for answer in acknowledged if isinstance(answer, Record)])
    assert outcomes[UNANSWERED] <= number // 100, outcomes
    return outcomes


def check_acknowledged(world: World, answers: list[Record]) -> None:
    """Whatever became of it later, it was written as it was told, and the id means it still."""
    written = {
        (entry["context"], entry["name"], entry["version"], entry["id"])
        for _, row in world.store.journal.read()
        for entry in row["entries"]  # type: ignore[attr-defined]  # a journal's row is JSON
        if entry["type"] == "SCHEMA"
    }
    meanings = {(key.context, key.id): schema.text for key, schema in world.meanings().items()}
    for answer in answers:
        assert answer.subject is not None
        assert answer.id is not None
        assert (answer.subject.context, answer.subject.name, answer.version, answer.id) in written, answer
        assert meanings[answer.subject.context, answer.id] == answer.schema.text, answer


def test_operations_of_all_kinds_at_once_leave_a_sound_registry(fresh: Fresh) -> None:
    """Registrations, references, deletes, purges, imports and settings, all in each other's way."""
    outcomes = operations(fresh, 100, seed=1)
    assert outcomes["done"] > 25
    assert sum(outcomes.values()) == 100


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(50))
def test_a_hundred_thousand_operations_leave_a_sound_registry(seed: int, fresh: Fresh) -> None:
    """Fifty crowds, each on a registry of its own."""
    assert sum(operations(fresh, 2_000, seed).values()) == 2_000
