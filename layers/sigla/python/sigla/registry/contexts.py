"""The contexts of the registry (CTX-1 to CTX-6)."""

from collections.abc import Iterator

from sigla.changes import ContextDropped
from sigla.errors import ContextNotEmpty
from sigla.model import DEFAULT_CONTEXT, Page, Search
from sigla.registry.paging import paged
from sigla.registry.resources import Resources
from sigla.registry.steps.committing import commit, nonce, until_committed


def contexts(resources: Resources, prefix: str = "", *, page: Page) -> list[str]:
    """The default context, then the named ones, ascending; of them those that begin with the prefix."""

    def listed() -> Iterator[str]:
        yield DEFAULT_CONTEXT
        yield from resources.catalog.contexts()  # CTX-1, CTX-2

    return paged((context for context in listed() if context.startswith(prefix)), page)


def drop_context(resources: Resources, context: str) -> None:
    """Takes an empty context off the list; one that never existed is gone already. Its config and mode stay.

    Raises ContextNotEmpty while a version is stored in it, soft-deleted ones included.
    """

    def attempt() -> None:
        if next(resources.catalog.subjects(Search(context=context)), None) is not None:  # CTX-3
            raise ContextNotEmpty(context=f":{context}:")
        if context in resources.catalog.contexts():  # CTX-4
            commit(resources, ContextDropped(context, resources.clock.now(), nonce()))

    until_committed(resources, "Delete context operation", attempt)
