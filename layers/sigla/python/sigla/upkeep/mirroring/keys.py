"""KEKs and DEKs that stand here otherwise than in the source; what is new is imported."""

from dataclasses import replace

from sigla.changes import DeksChanged, DekWrite, KekChanged
from sigla.keks.nouns import Dek, DekName, Kek
from sigla.keks.rules import same_kek
from sigla.registry.resources import Resources
from sigla.registry.steps.committing import commit, nonce
from sigla.upkeep.importing.insisting import insist


def set_kek(resources: Resources, name: str, wanted: Kek | None) -> bool:
    """A KEK that stands is as it is told, or gone; whether it was another."""

    def attempt() -> bool:
        standing = resources.catalog.kek(name)
        if standing is None or (wanted is not None and _same_kek(standing, wanted)):
            return False
        mark = nonce()
        kek = None if wanted is None else replace(wanted, revision=mark)
        commit(resources, KekChanged(name, standing, kek, resources.clock.now(), mark))
        return True

    return insist(resources, attempt)


def _same_kek(one: Kek, other: Kek) -> bool:
    return same_kek(one, other) and one.deleted == other.deleted


def set_dek(resources: Resources, name: DekName, version: int, wanted: Dek | None) -> bool:
    """A version of a DEK that stands is as it is told, or gone; whether it was another."""

    def attempt() -> bool:
        seen = resources.catalog.deks_of(name, version)
        standing = seen.deks[0] if seen.deks else None
        if seen.kek is None or standing is None or (wanted is not None and _same_dek(standing, wanted)):
            return False
        mark = nonce()
        write = DekWrite(standing, None if wanted is None else replace(wanted, revision=mark))
        commit(resources, DeksChanged(seen.kek, (write,), resources.clock.now(), mark))
        return True

    return insist(resources, attempt)


def _same_dek(one: Dek, other: Dek) -> bool:
    return (one.material, one.deleted) == (other.material, other.deleted)
