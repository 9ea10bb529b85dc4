"""Whose a table and a bucket are: what a person wrote is what everybody reads, whatever fails on the way."""

from collections.abc import Iterator
from contextlib import closing, suppress
from typing import Any

import pytest

from sigla import keys
from sigla.aws.clients import Clients
from sigla.errors import GARBLED, StoreError
from sigla.ports.marks import Mark
from sigla.stores.dynamodb.marks import BucketMark, TableMark
from sigla.stores.s3.objects import Objects
from tests.build import FixedClock
from tests.contract.aws import make_table
from tests.contract.engines import BUCKET, in_process
from tests.unit.aws.faults import Call, Fault, Faults, once

OURS, THEIRS = "a" * 32, "b" * 32
KINDS = ("table", "bucket")


@pytest.fixture(scope="module")
def clients() -> Iterator[Clients]:
    with in_process() as made:
        yield made


@pytest.fixture
def marks(clients: Clients, request: pytest.FixtureRequest) -> Iterator[dict[str, Mark]]:
    """The marks of a registry that is unknown yet."""
    clock, registry = FixedClock(), request.node.name
    with closing(Objects(clients.s3, BUCKET, clock=clock)) as objects:
        table = TableMark(clients.dynamodb, make_table(clients.dynamodb), clock, registry=registry)
        yield {"table": table, "bucket": BucketMark(objects, BUCKET, registry=registry)}


@pytest.mark.parametrize("kind", KINDS)
def test_only_who_saw_what_is_there_writes_another(marks: dict[str, Mark], kind: str) -> None:
    """If two claim a store at once, the second is told."""
    mark = marks[kind]
    assert (mark.kind, mark.read()) == (kind, "")
    assert not mark.write(OURS, THEIRS)
    assert mark.read() == ""
    assert mark.write(OURS, "")
    for seen in ("", THEIRS):
        assert not mark.write(THEIRS, seen)
        assert mark.read() == OURS
    assert mark.write(THEIRS, OURS)
    assert mark.read() == THEIRS


@pytest.mark.parametrize("kind", KINDS)
def test_a_write_whose_answer_was_lost_is_found_by_the_next_look(
    clients: Clients, marks: dict[str, Mark], kind: str
) -> None:
    """A caller that tries again does not take its own act for another's."""
    client, writing = {"table": (clients.dynamodb, "UpdateItem"), "bucket": (clients.s3, "PutObject")}[kind]

    def writes(call: Call) -> bool:
        return call.operation == writing

    faults = Faults(client, once(writes, Fault.LOST))
    with suppress(StoreError):
        assert not marks[kind].write(OURS, "")
    assert marks[kind].read() == OURS
    faults.plan = lambda _: None


def test_what_somebody_put_in_its_place_is_no_identity(
    clients: Clients, marks: dict[str, Mark], request: pytest.FixtureRequest
) -> None:
    """Nor is it none: a store that says nothing clear is not given away, but to whoever saw that."""
    bucket = marks["bucket"]
    for content in (b"", b"[]", b'{"identity":', b"{}", b'{"identity": null}', b'{"identity": "prod"}'):
        clients.s3.put_object(Bucket=BUCKET, Key=keys.identity_object(request.node.name), Body=content)
        assert bucket.read() == GARBLED
        assert not bucket.write(OURS, "")
        assert not bucket.write(OURS, THEIRS)
    assert bucket.write(OURS, GARBLED)
    assert bucket.read() == OURS
    assert not bucket.write(THEIRS, GARBLED)


@pytest.mark.parametrize("written", [{}, {"identity": {"N": "7"}}, {"identity": {"S": "prod"}}])
def test_so_is_what_stands_in_the_tables_row(
    clients: Clients, marks: dict[str, Mark], request: pytest.FixtureRequest, written: dict[str, Any]
) -> None:
    """Whoever wrote it by hand."""
    table, registry = marks["table"], request.node.name
    row = {"pk": {"S": keys.identity_pk(registry)}, "sk": {"S": keys.IDENTITY}}
    clients.dynamodb.put_item(TableName=table.name, Item=row | written)
    assert table.read() == GARBLED
    assert not table.write(OURS, THEIRS)
    assert table.write(OURS, GARBLED)
    assert table.read() == OURS
    assert not table.write(THEIRS, GARBLED)


def test_no_function_may_write_what_says_whose_a_table_is() -> None:
    """Its leave is for partitions that begin with the registry's name and a `#`."""
    for registry in ("default", "a/b", "a#b"):
        assert "#" not in keys.identity_pk(registry)
        assert keys.registry_wide_pk(registry).startswith(f"{keys.identity_pk(registry)}#")
