"""The log: what was changed, when and by whom, from the rows of the journal."""

from dataclasses import replace

from sigla.changes import Author, ConfigChanged, Head
from sigla.model import GLOBAL, Config, Settings
from sigla.ports.log import LogEntry, Matter
from tests.build import NOW, a_guid, a_registered, a_subject
from tests.contract.conftest import Stores

ORDERS, ABROAD = a_subject("o"), a_subject("o", ".eu")
ADA = Author("ada", "api", "request-1", "192.0.2.1")
HOUR_MS = 3_600_000


def log(stores: Stores, since: int = 0) -> list[LogEntry]:
    return list(stores.log.entries(since))


def test_a_change_is_told_with_all_that_is_known_of_it(stores: Stores) -> None:
    head = Head(ORDERS)
    stores.catalog.commit(replace(a_registered(head, id=1, text="one", nonce="n1"), author=ADA))
    (entry,) = log(stores)
    (kept,) = stores.principals.names(NOW)
    assert entry == LogEntry(
        at=NOW,
        nonce="n1",
        change="Registered",
        matters=(Matter("SCHEMA", "o", version=1, id=1),),
        by=kept.token,
        via={"way": "api", "request": "request-1", "address": "192.0.2.1"},
        now=a_guid("one"),
    )


def test_a_change_is_found_by_each_subject_that_it_is_about(stores: Stores) -> None:
    """The first version of a context lists that, too."""
    stores.catalog.commit(a_registered(Head(ABROAD), id=1))
    (entry,) = log(stores)
    assert [matter.type for matter in entry.matters] == ["CONTEXT", "SCHEMA"]
    assert entry.is_about(":.eu:o")
    assert not entry.is_about("o")


def test_the_log_begins_at_a_time(stores: Stores) -> None:
    """However many commits were before it."""
    for number in range(1, 30):
        head = stores.catalog.snapshot(ORDERS).head
        at = NOW + number * HOUR_MS
        stores.catalog.commit(a_registered(head, id=number, text=f"text {number}", ts=at, nonce=f"n{number}"))
    assert [entry.nonce for entry in log(stores, NOW + 27 * HOUR_MS)] == ["n27", "n28", "n29"]
    assert len(log(stores)) == 29
    assert not log(stores, NOW + 30 * HOUR_MS)


def test_what_is_taken_away_is_said_to_be_gone(stores: Stores) -> None:
    set_ = ConfigChanged(GLOBAL, Settings(), Config(level="FULL"), NOW, "n1")
    stores.catalog.commit(set_)
    stores.catalog.commit(ConfigChanged(GLOBAL, Settings(set_.config, None, "n1"), None, NOW + 1, "n2"))
    assert [entry.matters for entry in log(stores)] == [(Matter("CONFIG"),), (Matter("CONFIG", is_gone=True),)]
