"""More than one transaction takes: what DynamoDB's hundred actions would refuse is done all the same, and soundly."""

import random
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest

from sigla.changes import ConfigChanged, Head, ImportBegun, SubjectDeleted, SubjectPurged
from sigla.errors import Conflict, SchemaTooLarge, StoreError
from sigla.model import GLOBAL, BodyKey, Config, Metadata, SchemaId, Search, Settings, Subject, Version
from sigla.registry import Registry
from sigla.stores.dynamodb.catalog import AwsCatalog
from sigla.stores.dynamodb.commits import TIDIED_MS, TOLD_AT_ONCE
from tests.build import NOW, FixedClock, a_draft, a_guid, a_nonce, a_registered, a_subject, a_target, registered
from tests.contract.aws import Account, AwsStores
from tests.unit.aws.faults import Fault, Faults

ORDERS = a_subject()


@pytest.fixture
def stores(moto: Account) -> Iterator[AwsStores]:
    with moto.stores() as made:
        yield made


def hide(stores: AwsStores, subject: Subject = ORDERS) -> Head:
    head = stores.catalog.snapshot(subject).head
    stores.catalog.commit(SubjectDeleted(head, Version(head.highest), NOW, a_nonce()))
    return stores.catalog.snapshot(subject).head


def unhurried(stores: AwsStores) -> AwsCatalog:
    """On a clock that stands: what a commit tidies up is timed, and a busy machine would leave some."""
    return AwsCatalog(stores.dynamodb, stores.table, FixedClock(), registry=stores.registry)


class Slow:
    """A client each of whose calls takes as long as a commit may tidy up."""

    def __init__(self, client: Any, clock: FixedClock) -> None:
        self._client, self._clock = client, clock

    def __getattr__(self, name: str) -> Any:
        self._clock.time += TIDIED_MS
        return getattr(self._client, name)


@pytest.mark.parametrize("each", [1, 2])
def test_a_schema_may_reference_eighty_subjects(stores: AwsStores, each: int) -> None:
    """Also several versions of each: then the rows that say so go before, and count once the version is there."""
    catalog = stores.catalog
    bases = [a_subject(f"base-{number:02}") for number in range(80)]
    rows = [(base, registered(catalog, base, id=1, text="t")) for base in bases for _ in range(each)]
    seen = tuple(catalog.snapshot(base).head for base in bases)
    targets = tuple(a_target(base, row) for base, row in rows)
    change = a_registered(Head(ORDERS), id=2, text="u", targets=targets, seen=seen)
    registered(catalog, bases[79], id=3, text="moved")
    with pytest.raises(Conflict):
        catalog.commit(change)
    assert [list(catalog.referrers(base)) for base in bases] == [[]] * 80
    catalog.commit(replace(change, seen=tuple(catalog.snapshot(base).head for base in bases), nonce=a_nonce()))
    assert [len(list(catalog.referrers(base))) for base in bases] == [each] * 80


def test_a_large_subject_goes_with_one_write_and_is_swept(stores: AwsStores) -> None:
    """Its ids are buried, but for those with another holder."""
    catalog = unhurried(stores)
    for id in range(1, 61):
        registered(catalog, ORDERS, id=id)
    registered(catalog, a_subject("other"), id=60)
    head = hide(stores)
    told = catalog.commit(SubjectPurged(head, catalog.history(ORDERS), NOW, a_nonce()))
    assert len(told) == TOLD_AT_ONCE
    keys = [BodyKey(".", SchemaId(id)) for id in range(1, 61)]
    assert catalog.buried(keys) == set(keys[:59]) >= set(told)
    assert catalog.id_of(".", a_guid("text 1")) is None
    assert catalog.id_of(".", a_guid("text 60")) == 60
    assert catalog.sweep(ORDERS) == ()


def test_whoever_deletes_a_large_subject_for_good_does_not_wait_for_each_of_its_ids(stores: AwsStores) -> None:
    """A function has 28 s: 400 ids, each buried in S3 before the answer, took longer, and no answer came."""
    clock = FixedClock()
    registry, calls = Registry(stores.catalog, stores.bodies, clock), stores.clients.calls
    for number in range(30):
        registry.register(ORDERS, a_draft(f'{{"type":"enum","name":"E","symbols":["S{number}"]}}'), force=True)
    registry.delete_subject(ORDERS)
    before = calls.read()
    assert len(registry.delete_subject(ORDERS, permanent=True)) == 30
    asked = calls.read() - before
    assert asked["PutObject"] <= TOLD_AT_ONCE
    keys = [BodyKey(".", SchemaId(id)) for id in range(1, 31)]
    assert stores.catalog.buried(keys) == set(keys)


def test_a_sweep_ends_when_its_time_is_over(stores: AwsStores) -> None:
    """What is left belongs to no version, and goes with the next one."""
    catalog = stores.catalog
    for id in range(1, 4):
        registered(catalog, ORDERS, id=id)
    head, clock = hide(stores), FixedClock()
    slow = AwsCatalog(Slow(stores.dynamodb, clock), stores.table, clock, registry=stores.registry)
    assert slow.commit(SubjectPurged(head, catalog.history(ORDERS), NOW, a_nonce())) == ()
    assert catalog.history(ORDERS) == ()
    assert len(catalog.sweep(ORDERS)) == 3
    slow.close()


def test_a_sweep_that_was_cut_off_is_finished_later(stores: AwsStores) -> None:
    """Until then the subject is gone all the same, its numbers are free, and its content may take its id again."""
    catalog, key = stores.catalog, BodyKey(".", SchemaId(1))
    for id in (1, 2):
        registered(catalog, ORDERS, id=id)
    head = hide(stores)
    faults = Faults(stores.clients.dynamodb)
    faults.plan = lambda call: Fault.UNREACHED if call.number > 1 else None
    rows = catalog.history(ORDERS)
    faults.calls.clear()
    assert catalog.commit(SubjectPurged(head, rows, NOW, a_nonce())) == ()
    faults.plan = lambda _: None
    assert catalog.history(ORDERS) == ()
    assert catalog.holders(key) == ()
    assert list(catalog.subjects(Search())) == []
    assert registered(catalog, ORDERS, id=1).version == 1
    assert catalog.sweep(ORDERS) == (BodyKey(".", SchemaId(2)),)
    assert [holder.version for holder in catalog.holders(key)] == [1]
    assert catalog.id_of(".", a_guid("text 1")) == 1


def test_what_is_superseded_many_times_over_goes_first(stores: AwsStores) -> None:
    """More old versions of one content than a transaction takes: the writer has to ask again, and then wins."""
    catalog = stores.catalog
    for _ in range(40):
        registered(catalog, ORDERS, id=1, text="t")
    old = (hide(stores), catalog.history(ORDERS))
    with pytest.raises(Conflict):
        catalog.commit(a_registered(old[0], id=1, text="t", purged=old[1]))
    left = catalog.history(ORDERS)
    assert 0 < len(left) < 40
    change = a_registered(catalog.snapshot(ORDERS).head, id=1, text="t", purged=left)
    assert catalog.commit(change) == ()
    assert catalog.history(ORDERS) == (change.row,)
    assert len(catalog.holders(BodyKey(".", SchemaId(1)))) == 1


def test_an_import_clears_many_subjects(stores: AwsStores) -> None:
    """Part by part, in two contexts; the journal tells each part."""
    catalog = unhurried(stores)
    subjects = [a_subject(f"s{number}", ".eu" if number % 2 else ".") for number in range(50)]
    for id, subject in enumerate(subjects, 1):
        registered(catalog, subject, id=id)
        hide(stores, subject)
    before = len(list(stores.journal.read()))
    buried = catalog.commit(ImportBegun(GLOBAL, Settings(), NOW, "n"))
    assert len(buried) == TOLD_AT_ONCE
    assert not any(catalog.holders(BodyKey(each.context, SchemaId(id))) for id, each in enumerate(subjects, 1))
    assert list(catalog.subjects(Search(context=None))) == []
    assert catalog.snapshot(ORDERS).chain.default == Settings(None, "IMPORT", "n")
    told = [row for _, row in stores.journal.read()][before:]
    assert [row["change"] for row in told] == ["ImportBegun"] * 3


@pytest.mark.parametrize("seen", ["nothing", "settings"])
def test_an_import_is_taken_back_when_something_was_registered_meanwhile(stores: AwsStores, seen: str) -> None:
    """By one who had asked before the mode was written."""
    catalog = stores.catalog
    settings = Settings()
    if seen == "settings":
        catalog.commit(ConfigChanged(GLOBAL, Settings(), Config(level="FULL"), NOW, "n1"))
        settings = catalog.snapshot(GLOBAL).chain.own
    registered(catalog, a_subject("hidden"), id=1)
    hide(stores, a_subject("hidden"))
    with stores.another_catalog() as other:
        faults = Faults(stores.clients.dynamodb)

        def meanwhile(_: object) -> None:
            if faults.calls[-1].operation == "TransactWriteItems":
                faults.plan = lambda _: None
                registered(other, ORDERS, id=2)

        faults.plan = meanwhile
        with pytest.raises(Conflict):
            catalog.commit(ImportBegun(GLOBAL, settings, NOW, "n"))
    assert catalog.snapshot(GLOBAL).chain.own == settings
    assert dict(catalog.settings(Search())) == ({GLOBAL: settings} if seen == "settings" else {})
    assert len(catalog.history(a_subject("hidden"))) == 1
    assert "ImportBegun" not in {row["change"] for _, row in stores.journal.read()}


def test_a_large_configuration_is_kept_small_and_one_too_large_is_refused(stores: AwsStores) -> None:
    """DynamoDB's items end at 400 KB."""
    large = Config(override_metadata=Metadata(properties={f"key-{n}": "v" * 90 for n in range(5_000)}))
    stores.catalog.commit(ConfigChanged(ORDERS, Settings(), large, NOW, "n"))
    assert stores.catalog.snapshot(ORDERS).chain.own == Settings(large, None, "n")
    draw = random.Random(1)
    noise = Config(override_metadata=Metadata(properties={str(n): draw.randbytes(60).hex() for n in range(9_000)}))
    with pytest.raises(SchemaTooLarge):
        stores.catalog.commit(ConfigChanged(ORDERS, stores.catalog.snapshot(ORDERS).chain.own, noise, NOW, "n2"))


def test_a_registry_that_does_not_answer_says_so(stores: AwsStores) -> None:
    """Every read and every write, as a failure of the store."""
    faults = Faults(stores.clients.dynamodb, lambda _: Fault.UNREACHED)
    with closing(AwsCatalog(stores.dynamodb, stores.table, FixedClock(), registry=stores.registry)) as catalog:
        with pytest.raises(StoreError):
            catalog.snapshot(ORDERS)
        with pytest.raises(StoreError):
            list(catalog.subjects(Search()))
        with pytest.raises(StoreError):
            catalog.next_id(".")
    faults.plan = lambda _: None
