"""Many writers on several instances at once, on DynamoDB's own engine: what they leave is sound, row by row."""

import random
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest

from sigla.embedded.clock import SystemClock
from sigla.errors import Refusal
from sigla.model import LATEST, Record
from sigla.registry import Options, Registry
from tests.attack.stories import BASE, USING, config, delete, drop_context, mode, purge, register
from tests.attack.test_threads import order
from tests.attack.world import Verb, World
from tests.contract.aws import Account, account
from tests.contract.engines import dynamodb_local
from tests.unit.aws.checking import check
from tests.unit.aws.test_catalog_faults import Store

__all__ = ["dynamodb_local"]

INSTANCES, THREADS = 4, 32
PATIENT = Options(deadline_ms=600_000)


@pytest.fixture(scope="module")
def engine(dynamodb_local: str) -> Iterator[Account]:
    with account(dynamodb_local) as made:
        yield made


def crowd(store: Store, opened: ExitStack) -> list[Registry]:
    """Registries that share nothing but the table and the bucket."""
    catalogs = [opened.enter_context(store.stores.another_catalog()) for _ in range(INSTANCES)]
    return [Registry(catalog, store.bodies, SystemClock(), PATIENT) for catalog in catalogs]


@pytest.mark.parametrize("subjects", [1, 32])
@pytest.mark.parametrize("texts", [1, 32])
def test_thirty_two_writers_at_once(engine: Account, texts: int, subjects: int) -> None:
    """One text, one id; no number left out; nothing acknowledged is missing."""
    store = Store(engine)
    with World(config("", level="NONE"), store=store) as world, ExitStack() as opened:
        instances = crowd(store, opened)

        def write(number: int) -> Record:
            verb = register(f"s{number % subjects}", order(number % texts))
            answer: Record = verb(instances[number % INSTANCES])
            return answer

        with ThreadPoolExecutor(THREADS) as pool:
            answers = list(pool.map(write, range(THREADS)))
        ids = {(answer.schema.text, answer.id) for answer in answers}
        assert len(ids) == len({text for text, _ in ids}) == len({id for _, id in ids}) == texts
        stored = {(str(subject), row.version, row.id) for subject, row in world.rows()}
        assert {(str(answer.subject), answer.version, answer.id) for answer in answers} == stored
        numbers = Counter(subject for subject, _, _ in stored)
        assert all(version <= numbers[subject] for subject, version, _ in stored)
        world.check_sound()
        check(store.stores)


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


def operations(of: Account, number: int, seed: int) -> Counter[str]:
    """Runs them, and says what became of them."""
    store, draw = Store(of), random.Random(seed)
    with World(config("", level="NONE"), register("base", BASE), store=store) as world, ExitStack() as opened:
        instances = crowd(store, opened)
        verbs = [anything(draw) for _ in range(number)]

        def act(turn: int) -> str:
            try:
                verbs[turn](instances[turn % INSTANCES])
            except Refusal as refusal:
                if refusal.code >= 50_000:
                    raise
                return type(refusal).__name__
            return "done"

        with ThreadPoolExecutor(THREADS) as pool:
            outcomes = Counter(pool.map(act, range(number)))
        world.check_sound()
        check(store.stores)
        return outcomes


def test_two_thousand_operations_at_once_leave_a_sound_registry(engine: Account) -> None:
    """Registrations, references, deletes, purges, imports and settings, all in each other's way."""
    outcomes = operations(engine, 2_000, seed=1)
    assert outcomes["done"] > 500
    assert sum(outcomes.values()) == 2_000


@pytest.mark.soak
def test_a_hundred_thousand_operations_leave_a_sound_registry(engine: Account) -> None:
    """Fifty crowds, each on a registry of its own."""
    for seed in range(50):
        operations(engine, 2_000, seed=seed)
