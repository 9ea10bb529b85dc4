"""What a key costs: each client asks for its keys when it starts."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from sigla.keks.nouns import DEFAULT_ALGORITHM, DekDraft, KekDraft, ListedDek
from sigla.keks.verbs.deks import create_dek, read_dek
from sigla.keks.verbs.keks import create_kek, read_kek
from sigla.keks.verbs.listing import kek_names
from sigla.model import Page, Subject, Version
from sigla.ports.in_front import CatalogInFront
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


class Asked(CatalogInFront):
    """A catalog that counts the questions for lists of DEKs."""

    questions = 0

    def deks_listed(self, prefix: str = "") -> Iterator[ListedDek]:
        self.questions += 1
        return super().deks_listed(prefix)


def test_hundreds_of_prefixes_are_one_question() -> None:
    """A line of a request has room for five hundred; the answer is the same."""
    with EmbeddedStore() as store:
        registry = Registry(store.catalog, store.bodies, FixedClock())
        for name, subject in (("k", "a"), ("l", "b"), ("m", "c")):
            create_kek(registry, KekDraft(name, "local-kms", "id"))
            create_dek(registry, name, Subject(".", subject), DekDraft(material="m"))
        few, many = ["a", "b", "a"], ["a", "b", *(f"x{number}" for number in range(500))]
        for prefixes, questions in ((few, 2), (many, 1)):
            asked = Asked(store.catalog)
            found = kek_names(replace(registry, catalog=asked), prefixes, deleted=False, page=Page())
            assert (found, asked.questions) == (["k", "l"], questions)


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
