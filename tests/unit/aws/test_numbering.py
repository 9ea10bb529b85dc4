"""Numbering in DynamoDB, when answers are lost."""

import pytest

from sigla.model import SchemaId
from sigla.registry import Registry
from sigla.registry.steps import numbering
from tests.build import FixedClock
from tests.contract.aws import AwsStores
from tests.unit.aws.faults import Call, Fault, Faults, once


def is_commit(call: Call) -> bool:
    return call.operation == "TransactWriteItems"


@pytest.mark.parametrize("plan", [once(is_commit, Fault.LOST), lambda call: Fault.LOST if is_commit(call) else None])
def test_numbering_whose_answer_was_lost_is_set_once(stores: AwsStores, plan: object) -> None:
    """Asked again, the store has it as it was wanted, and the journal tells of it once."""
    for _ in range(9):
        stores.catalog.next_id(".")
    faults = Faults(stores.clients.dynamodb, plan)  # type: ignore[arg-type]  # a plan
    numbering.continue_after(Registry(stores.catalog, stores.bodies, FixedClock()), ".", SchemaId(5))
    faults.plan = lambda _: None
    assert stores.catalog.max_id(".") == 5
    assert [row["change"] for _, row in stores.journal.read()] == ["NumberingSet"]
