"""What may become of keys: a KEK is written or removed, or versions of DEKs under one KEK."""

from dataclasses import dataclass
from typing import NamedTuple

from sigla.changes.kinds import AnyChange, Evidence
from sigla.keks.nouns import Dek, DekName, Kek
from sigla.model import GLOBAL, Subject

DEKS_AT_ONCE = 40
"""What fits into one transaction of every store."""


@dataclass(frozen=True, slots=True)
class KekChanged(AnyChange):
    """A KEK is written, or removed for good (None).

    seen: the KEK as it was seen; Conflict if it has another revision by now, or is there though it was not. unused:
    Conflict if an active DEK stands under it by now; where the KEK is removed, if any DEK does.
    """

    name: str
    seen: Kek | None
    kek: Kek | None
    ts: int
    nonce: str
    unused: bool = False

    @property
    def scope(self) -> Subject:
        """KEKs are those of the whole registry (KEY-1)."""
        return GLOBAL

    def was_written(self, catalog: Evidence) -> bool:
        """A KEK bears the mark of its last commit."""
        found = catalog.kek(self.name)
        return found is None if self.kek is None else found is not None and found.revision == self.nonce


class DekWrite(NamedTuple):
    """One version: as it was seen (None: not stored), and as it will be (None: removed for good)."""

    seen: Dek | None
    dek: Dek | None

    @property
    def about(self) -> Dek:
        about = self.dek or self.seen
        if about is None:
            raise ValueError("a DEK was neither there, nor will it be")
        return about

    @property
    def name(self) -> DekName:
        return self.about.name

    @property
    def stored(self) -> int:
        """By how many more DEKs will be stored."""
        return (self.dek is not None) - (self.seen is not None)

    @property
    def active(self) -> int:
        """By how many more DEKs will be active."""
        return _is_active(self.dek) - _is_active(self.seen)


def _is_active(dek: Dek | None) -> bool:
    return dek is not None and not dek.deleted


@dataclass(frozen=True, slots=True)
class DeksChanged(AnyChange):
    """Versions of DEKs under one KEK are written or removed, at most `DEKS_AT_ONCE`.

    kek: as it was seen. Conflict if it, or one of the versions, has another revision by now.
    """

    kek: Kek
    deks: tuple[DekWrite, ...]
    ts: int
    nonce: str

    @property
    def scope(self) -> Subject:
        return self.deks[0].name.subject

    @property
    def leads_to(self) -> tuple[Subject, ...]:
        """The other subjects: a principal needs rights to each of them."""
        return tuple(each.name.subject for each in self.deks[1:])

    def was_written(self, catalog: Evidence) -> bool:
        """All of them were, if the first one was: its row bears the mark, or is gone."""
        first = self.deks[0]
        found = catalog.deks_of(first.name, first.about.version).deks
        return not found if first.dek is None else bool(found) and found[0].revision == self.nonce
