"""What a key costs: each client asks for its keys when it starts."""

from collections.abc import Callable, Iterable

from sigla.keks.nouns import DEFAULT_ALGORITHM, DekDraft, KekDraft
from sigla.keks.verbs.deks import create_dek, read_dek
from sigla.keks.verbs.keks import create_kek, read_kek
from sigla.model import Subject, Version
from sigla.registry import Registry
from sigla.stores.sqlite.store import EmbeddedStore
from tests.build import FixedClock


def steps(store: EmbeddedStore, question: Callable[[], object]) -> int:
    """How many instructions SQLite carries out for a question."""
    taken = 0

    def step() -> int:
        nonlocal taken
        taken += 1
        return 0

    connection = store.catalog._unit.connection
    connection.set_progress_handler(step, 1)
    try:
        question()
    finally:
        connection.set_progress_handler(None, 0)
    return taken


def test_a_key_is_read_as_fast_however_many_stand_beside_it() -> None:
    """Thousands of topics share a KEK; if each read counted them, the last client would wait for all the others."""
    with EmbeddedStore() as store:
        registry = Registry(store.catalog, store.bodies, FixedClock())
        create_kek(registry, KekDraft("k", "local-kms", "id"))

        def fill(numbers: Iterable[int]) -> None:
            for number in numbers:
                create_dek(registry, "k", Subject(".", f"s{number}"), DekDraft(material="m"))

        def read() -> None:
            read_kek(registry, "k")
            read_dek(registry, "k", Subject(".", "s0"), Version(1), DEFAULT_ALGORITHM)

        fill(range(3))
        few = steps(store, read)
        assert few > 10
        fill(range(3, 60))
        assert steps(store, read) <= few + 10
