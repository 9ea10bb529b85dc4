"""Keys for field encryption that a region has kept for its primary, which is lost before their commits came here."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial

import orjson

from sigla import journal
from sigla.changes import DEKS_AT_ONCE, DeksChanged, DekWrite, KekChanged
from sigla.keks.nouns import Dek, Kek
from sigla.ports.replaying import Shipment
from sigla.registry.resources import Resources
from sigla.registry.steps.committing import commit, nonce


def adopt_keys(shipments: Iterable[Shipment], here: Resources) -> None:
    """Carries out commits of keys that come after all that is here: what they bring takes the place of what stands.

    No other thread may write meanwhile. Raises StoreError.
    """
    for each in shipments:
        row = journal.row_at(each.position, partial(orjson.loads, each.form))
        change = journal.change_of(row, here.catalog)
        if isinstance(change, KekChanged) and change.kek is not None:
            _bring_kek(here, change.kek, anew=change.seen is None)
        elif isinstance(change, DeksChanged):
            _bring_deks(here, change)


def _bring_kek(here: Resources, kek: Kek, *, anew: bool) -> Kek:
    """anew: whether none stood there, nor any DEK under it: those that stand here were deleted for good."""
    standing, mark = here.catalog.kek(kek.name), nonce()
    if standing is not None and anew:
        _write_deks(here, standing, [DekWrite(dek, None) for dek in here.catalog.deks(kek.name)])
    brought = replace(kek, revision=mark)
    commit(here, KekChanged(kek.name, standing, brought, here.clock.now(), mark))
    return brought


def _bring_deks(here: Resources, change: DeksChanged) -> None:
    kek = here.catalog.kek(change.kek.name) or _bring_kek(here, change.kek, anew=False)
    _write_deks(here, kek, [DekWrite(_standing_dek(here, dek), dek) for _, dek in change.deks if dek is not None])


def _standing_dek(here: Resources, dek: Dek) -> Dek | None:
    found = here.catalog.deks_of(dek.name, dek.version).deks
    return found[0] if found else None


def _write_deks(here: Resources, kek: Kek, writes: Sequence[DekWrite]) -> None:
    for at in range(0, len(writes), DEKS_AT_ONCE):
        mark = nonce()
        some = [DekWrite(seen, dek and replace(dek, revision=mark)) for seen, dek in writes[at : at + DEKS_AT_ONCE]]
        commit(here, DeksChanged(kek, tuple(some), here.clock.now(), mark))
