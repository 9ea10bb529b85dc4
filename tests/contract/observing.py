"""What the suites share: everything that can be observed, and small steps towards a state."""

from typing import Any

import pytest

from sigla.changes import Change, Head, VersionDeleted
from sigla.errors import Conflict
from sigla.model import BodyKey, SchemaId, Search, Subject
from sigla.ports.catalog import Catalog
from tests.build import NOW, a_guid, a_nonce, a_subject, a_target, registered
from tests.contract.conftest import Stores

ORDERS, PAYMENTS, BASE = a_subject(), a_subject("payments-value"), a_subject("base")
EVERYWHERE = Search(context=None)
ONE = BodyKey(".", SchemaId(1))


def everything(stores: Stores) -> dict[str, Any]:
    """All that can be observed, to compare before and after."""
    catalog = stores.catalog
    subjects = {ORDERS, PAYMENTS, BASE, *catalog.subjects(EVERYWHERE)}
    return {
        "heads": {each: catalog.snapshot(each) for each in subjects},
        "versions": list(catalog.versions(EVERYWHERE, deleted=True, latest_only=False)),
        "holders": [catalog.holders(BodyKey(".", SchemaId(id))) for id in range(10)],
        "speakers": [catalog.speaker(BodyKey(".", SchemaId(id))) for id in range(10)],
        "displaced": [catalog.displaced(BodyKey(".", SchemaId(id))) for id in range(10)],
        "contents": [catalog.id_of(".", a_guid(f"text {id}")) for id in range(10)],
        "referrers": [list(catalog.referrers(each)) for each in sorted(subjects, key=str)],
        "candidates": [catalog.candidates(each, ["d"]) for each in sorted(subjects, key=str)],
        "settings": list(catalog.settings(EVERYWHERE)),
        "contexts": catalog.contexts(),
        "associations": list(catalog.associations_named()),
        "journal": list(stores.journal.read()),
    }


def refused(stores: Stores, change: Change) -> None:
    before = everything(stores)
    with pytest.raises(Conflict):
        stores.catalog.commit(change)
    assert everything(stores) == before


def head(catalog: Catalog, subject: Subject = ORDERS) -> Head:
    return catalog.snapshot(subject).head


def delete(catalog: Catalog, subject: Subject = ORDERS, version: int = 1) -> None:
    row = next(row for row in catalog.history(subject) if row.version == version)
    catalog.commit(VersionDeleted(head(catalog, subject), row, NOW, a_nonce()))


def refer(catalog: Catalog, referrer: Subject, target: Subject, *, id: int, version: int = 1) -> None:
    row = next(row for row in catalog.history(target) if row.version == version)
    seen = () if referrer == target else (head(catalog, target),)
    registered(catalog, referrer, id=id, targets=(a_target(target, row),), seen=seen)
