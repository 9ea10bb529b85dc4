"""How much a registry holds, as one number that all instances add to."""

from typing import Protocol


class VersionTally(Protocol):
    """All raise StoreError."""

    def add(self, amount: int) -> int | None:
        """The number with the amount in it, perhaps twice; None, and nothing is added, before it is counted."""
        ...

    def recount(self, before: int) -> bool:
        """Counts what is there; False, and nothing is counted, where that was not before a time in milliseconds."""
        ...
