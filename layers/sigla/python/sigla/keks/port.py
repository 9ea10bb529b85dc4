"""What the catalog knows of keys. Every read sees every commit that has returned."""

from collections.abc import Iterator
from typing import Protocol

from sigla.keks.nouns import CountedDeks, Dek, DekName, Kek, KeysSeen, ListedDek


class KeyLists(Protocol):
    """KEKs are one space for all contexts (KEY-1). Deleted keys are found like all others."""

    def kek(self, name: str) -> Kek | None:
        """One question to the store."""
        ...

    def deks_of(self, name: DekName, version: int | None = None) -> KeysSeen:
        """The KEK and the versions under a name, or the one version: one question to the store."""
        ...

    def deks_counted(self, kek: str) -> CountedDeks:
        """How many stand under a KEK: one question to the store. It may take longer the more there are."""
        ...

    def keks(self) -> Iterator[Kek]:
        """All of them, by the UTF-16 code units of their names."""
        ...

    def deks(self, kek: str) -> Iterator[Dek]:
        """Everything that stands under a KEK, in any order."""
        ...

    def deks_listed(self, prefix: str = "") -> Iterator[ListedDek]:
        """Every DEK whose subject is spelled with this beginning, under whichever KEK, in any order."""
        ...
