"""The contexts of the registry (CTX-1 to CTX-6)."""

from collections.abc import Iterator

from sigla.changes import ContextDropped
from sigla.errors import ContextNotEmpty
from sigla.model import DEFAULT_CONTEXT, Page, Search
from sigla.registry.paging import paged
from sigla.registry.steps.committing import commit, nonce, until_committed
from sigla.registry.stores import Stores


def contexts(stores: Stores, prefix: str = "", *, page: Page) -> list[str]:
    """The default context, then the named ones, ascending; of them those that begin with the prefix."""

    def listed() -> Iterator[str]:
        yield DEFAULT_CONTEXT
        yield from stores.catalog.contexts()  # CTX-1, CTX-2

    return paged((context for context in listed() if context.startswith(prefix)), page)


def drop_context(stores: Stores, context: str) -> None:
    """Takes an empty context off the list; one that never existed is gone already. Its config and mode stay.

    Raises ContextNotEmpty while a version is stored in it, soft-deleted ones included.
    """

    def attempt() -> None:
        if next(stores.catalog.subjects(Search(context=context)), None) is not None:  # CTX-3
            raise ContextNotEmpty(context=f":{context}:")
        if context in stores.catalog.contexts():  # CTX-4
            commit(stores, ContextDropped(context, stores.clock.now(), nonce()))

    until_committed(stores, "Delete context operation", attempt)
