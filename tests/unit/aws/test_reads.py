"""Notes of reads in a table, under failures: each read is there once a note has come through."""

from contextlib import suppress

import pytest

from sigla.changes.kinds import DAY_MS
from sigla.errors import StoreError
from sigla.model import BodyKey, SchemaId
from sigla.ports.reads import Read
from sigla.stores.clock import SystemClock
from sigla.stores.dynamodb.places import Places
from sigla.stores.dynamodb.reads import AwsReads
from sigla.stores.dynamodb.table import Table
from tests.attack.aws import failing, faults_of
from tests.attack.ports import At, Between, Recorder, client
from tests.build import NOW
from tests.contract.aws import Account, AwsStores
from tests.unit.aws.faults import Killed

KEYS = [BodyKey(".", SchemaId(1))]
READS = [Read(key, "", name) for key in KEYS for name in ("ada", "")]


def instance(stores: AwsStores, between: Between) -> AwsReads:
    dynamodb = client("dynamodb", stores.dynamodb, between)
    return AwsReads(Table(dynamodb, stores.table, SystemClock()), Places(stores.registry))


def noted(stores: AwsStores) -> set[tuple[int, str]]:
    names = {kept.token: kept.name for kept in stores.principals.names(NOW)}
    found = stores.reads.last(KEYS)
    told = [(key.id, names.get(read.by, "")) for key, reads in found.items() for read in reads]
    assert len(told) == len(set(told)), "a read is told once"
    return set(told)


WANTED = {(read.key.id, read.principal) for read in READS}


def note(reads: AwsReads) -> None:
    reads.note(READS, NOW, 400 * DAY_MS)


@pytest.mark.parametrize("again", ["another one", pytest.param("the same instance", marks=pytest.mark.soak)])
def test_a_note_that_fails_at_any_call_is_whole_when_it_is_tried_again(moto: Account, again: str) -> None:
    """Done or not, or unknown: nothing is lost, and no read is there twice."""
    recorder = Recorder()
    with moto.stores() as stores:
        note(instance(stores, recorder))
        assert noted(stores) == WANTED
    assert len(recorder.calls) > len(READS)
    for number, call in enumerate(recorder.calls):
        for fault in faults_of(call):
            with moto.stores() as stores:
                at = At(number, failing(fault))
                first = instance(stores, at)
                with suppress(StoreError, Killed):
                    note(first)
                assert at.acted
                note(first if again == "the same instance" else instance(stores, Recorder()))
                assert noted(stores) == WANTED, f"{fault} at {call}"
