"""Commits of an import: lost races are run again; who loses them all begins the import again."""

from collections.abc import Callable
from typing import TypeVar

from sigla.errors import StoreError, TimedOut
from sigla.registry.resources import Resources
from sigla.registry.steps.committing import until_committed

Result = TypeVar("Result")


def insist(resources: Resources, attempt: Callable[[], Result]) -> Result:
    """Does it as `until_committed` does. Raises StoreError instead of a refusal: no client waits for an answer."""
    try:
        return until_committed(resources, "Import operation", attempt)
    except TimedOut as late:
        raise StoreError("others wrote the same rows all the time") from late
