"""What stands in for DynamoDB in this process answers as DynamoDB's own engine does."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from botocore.exceptions import ClientError
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sigla.stores.dynamodb.actions import (
    ABSENT,
    PRESENT,
    Action,
    Condition,
    condition_check,
    delete,
    equals,
    put,
    update,
)
from sigla.stores.dynamodb.values import written
from tests.contract.aws import Account, make_table

KEYS = st.tuples(st.sampled_from("ab"), st.sampled_from(["v#1", "v#2", "v#10", "é", "\U00010000"]))
VALUES = st.one_of(st.integers(-2, 11), st.sampled_from(["", "n", "ñ", "10"]), st.booleans(), st.just(["x", 1]))
ATTRIBUTES = st.dictionaries(st.sampled_from(["count", "text", "form"]), VALUES, max_size=3)
CONDITIONS = st.one_of(
    st.sampled_from(
        [
            ABSENT,
            PRESENT,
            Condition("attribute_not_exists(#count) OR #count < :most", {"most": 3}),
            Condition("NOT (#count >= :least AND #count <> :other)", {"least": 1, "other": 10}),
            Condition("#text[0] = :first OR attribute_type(#text, :kind)", {"first": "x", "kind": "S"}),
        ]
    ),
    st.builds(lambda count: equals(count=count, text=None), VALUES),
)
WHEN = st.one_of(st.none(), CONDITIONS, st.builds(lambda one, other: one & other, CONDITIONS, CONDITIONS))
UPDATES = st.builds(
    lambda key, sets, removes, add, when: update(key, {**sets, **dict.fromkeys(removes)}, add, when, keep="text"),
    KEYS,
    st.dictionaries(st.sampled_from(["text", "other"]), VALUES, max_size=2),
    st.sets(st.sampled_from(["other", "more"]), max_size=1),
    st.one_of(st.just({}), st.just({"added": 2}), st.just({"count": 1})),
    WHEN,
)
ACTIONS = st.one_of(
    st.builds(put, KEYS, ATTRIBUTES, WHEN),
    st.builds(delete, KEYS, WHEN),
    st.builds(condition_check, KEYS, CONDITIONS),
    UPDATES,
)
SORT_KEYS = st.sampled_from(
    [
        None,
        Condition("begins_with(#sk, :sk)", {"sk": "v#1"}),
        # No row stands at a bound: a page that ends there is the last one for the engine, and no adapter asks for it.
        Condition("#sk >= :sk", {"sk": "v#1~"}),
        Condition("#sk BETWEEN :low AND :high", {"low": "v#1~", "high": "ê"}),
    ]
)
Ask = tuple[str, Callable[[str], dict[str, Any]]]


def transaction(actions: list[Action], token: str) -> Ask:
    def asked(table: str) -> dict[str, Any]:
        items = [{each.kind: {"TableName": table, **each.arguments}} for each in actions]
        return {"TransactItems": items, "ClientRequestToken": f"{token}-{table}"}

    return "transact_write_items", asked


def alone(action: Action, told: str) -> Ask:
    return "update_item", lambda table: {"TableName": table, "ReturnValues": told, **action.arguments}


def query(pk: str, where: Condition | None, *, descending: bool, page: int) -> Ask:
    values = {"pk": pk, **(where.values if where else {})}
    arguments = {
        "KeyConditionExpression": "#pk = :pk" + (f" AND {where.text}" if where else ""),
        "ExpressionAttributeNames": {"#pk": "pk"} | ({"#sk": "sk"} if where else {}),
        "ExpressionAttributeValues": {f":{name}": written(value) for name, value in values.items()},
        "ScanIndexForward": not descending,
        "ConsistentRead": True,
    }
    return "query", lambda table: {"TableName": table, **arguments} | ({"Limit": page} if page else {})


def batch(keys: list[tuple[str, str]]) -> Ask:
    wanted = [{"pk": {"S": pk}, "sk": {"S": sk}} for pk, sk in keys]
    return "batch_get_item", lambda table: {"RequestItems": {table: {"Keys": wanted, "ConsistentRead": True}}}


TOGETHER = st.lists(ACTIONS, min_size=1, max_size=3, unique_by=lambda action: action.key)
ASKS: st.SearchStrategy[Ask] = st.one_of(
    st.builds(transaction, TOGETHER, st.sampled_from("tuvwxyz")),
    st.builds(transaction, TOGETHER, st.sampled_from("tuvwxyz")),
    st.builds(alone, UPDATES, st.sampled_from(["UPDATED_NEW", "ALL_NEW", "ALL_OLD", "NONE"])),
    st.builds(query, st.sampled_from("ab"), SORT_KEYS, descending=st.booleans(), page=st.integers(0, 2)),
    st.builds(batch, st.lists(KEYS, min_size=1, max_size=4)),
)


def answer(client: Any, table: str, ask: Ask) -> object:
    """What the adapters look at: items, where a page ended, why it was refused."""
    operation, asked = ask
    try:
        told: Mapping[str, Any] = getattr(client, operation)(**asked(table))
    except ClientError as refused:
        reasons = [(each.get("Code"), each.get("Item")) for each in refused.response.get("CancellationReasons", ())]
        return refused.response["Error"]["Code"], refused.response.get("Item"), reasons
    if "Responses" in told:
        return sorted(told["Responses"].get(table, ()), key=place), told["UnprocessedKeys"]
    return {name: value for name, value in told.items() if name in {"Items", "LastEvaluatedKey", "Attributes"}}


def rows(client: Any, table: str) -> list[Any]:
    return sorted(client.scan(TableName=table)["Items"], key=place)


def place(item: Mapping[str, Any]) -> tuple[str, str]:
    return item["pk"]["S"], item["sk"]["S"]


@given(asks=st.lists(ASKS, min_size=1, max_size=12))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_whatever_is_asked_the_engine_answers_the_same(moto: Account, engine: Account, asks: list[Ask]) -> None:
    """Then a test that passes here says of DynamoDB what it says."""
    places = [(account.dynamodb, make_table(account.dynamodb)) for account in (moto, engine)]
    for number, ask in enumerate(asks):
        here, there = (answer(client, table, ask) for client, table in places)
        assert here == there, (number, ask[0], ask[1]("TABLE"))
    (here, there) = (rows(client, table) for client, table in places)
    assert here == there


@pytest.mark.parametrize(
    "length", [400 * 1024 - 50, 400 * 1024 + 50], ids=["almost as much as goes in", "more than goes in"]
)
def test_an_item_has_the_same_limit(moto: Account, engine: Account, length: int) -> None:
    for action in (put(("p", "s"), {"text": "x" * length}), update(("p", "s"), {"text": "x" * length})):
        found = []
        for account in (moto, engine):
            client, table = account.dynamodb, make_table(account.dynamodb)
            found.append(answer(client, table, transaction([action], "t")))
        assert found[0] == found[1]


def test_many_rows_come_in_pages_of_the_same_length(moto: Account, engine: Account) -> None:
    """A megabyte each, wherever that ends."""
    pages = []
    for account in (moto, engine):
        client, table = account.dynamodb, make_table(account.dynamodb)
        for number in range(7):
            item = put(("a", f"{number}"), {"text": "x" * 300_000}).arguments["Item"]
            client.put_item(TableName=table, Item=item)
        ask = query("a", None, descending=False, page=0)
        pages.append(answer(client, table, ask))
    assert pages[0] == pages[1]


def test_what_is_not_imitated_is_refused(moto: Account) -> None:
    """Rather than answered otherwise than by DynamoDB."""
    client, table = moto.dynamodb, make_table(moto.dynamodb)
    with pytest.raises(ValueError, match="not imitated"):
        client.put_item(TableName=table, Item=put(("p", "s"), {}).arguments["Item"], ConditionExpression="size(a) > b")
    with pytest.raises(ValueError, match="unused"):
        client.put_item(
            TableName=table, Item=put(("p", "s"), {}).arguments["Item"], ExpressionAttributeValues={":a": {"S": "a"}}
        )
    with pytest.raises(KeyError):
        client.update_time_to_live(TableName=table, TimeToLiveSpecification={"Enabled": True, "AttributeName": "a"})
