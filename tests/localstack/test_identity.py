"""A deployment that forgot which table it has, on the whole stack: it does no harm, and the next one is as before."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from sigla import keys
from tests.localstack.conftest import Deployed

pytestmark = pytest.mark.localstack


def fixed(name: str) -> dict[str, str]:
    """A schema of this test alone."""
    return {"schema": json.dumps({"type": "fixed", "name": name, "size": 12})}


def check_harmless(deployed: Deployed, before: int) -> None:
    """Nothing is written, and no list tells of nothing; before: an id that is told as ever."""
    for door in map(deployed.door, ("rest", "function")):
        for method, path, body in (
            ("POST", "/subjects/after/versions", fixed("AfterAll")),
            ("GET", "/subjects", None),
            ("GET", "/subjects/before/versions/latest", None),
        ):
            status, refusal = door.ask(method, path, body)
            assert (status, refusal["error_code"]) == (500, 50002)
            assert "was refused: the registry's table has no identity" in refusal["message"]
        status, read = door.ask("GET", f"/schemas/ids/{before}")
        assert (status, read["subject"]) == (200, "before")
        assert json.loads(read["schema"]) == json.loads(fixed("BeforeAll")["schema"])


def test_a_table_that_is_not_known_to_be_ours_gives_no_id_away_twice(
    deployed: Deployed, aws: Callable[[str], Any]
) -> None:
    """What a deployment without its `table_name` leaves; and one before an unclaimed table."""
    rest, dynamodb = deployed.door("rest"), aws("dynamodb")
    id = rest.ask("POST", "/subjects/before/versions", fixed("BeforeAll"))[1]["id"]
    with moved(aws, new_table(dynamodb, "forgotten")):
        check_harmless(deployed, id)
    assert not dynamodb.scan(TableName="forgotten")["Items"]
    table = outputs(aws)["TableName"]
    row = {"pk": {"S": keys.identity_pk("default")}, "sk": {"S": keys.IDENTITY}}
    item = dynamodb.get_item(TableName=table, Key=row)["Item"]
    dynamodb.delete_item(TableName=table, Key=row)
    with moved(aws, table):
        check_harmless(deployed, id)
    dynamodb.put_item(TableName=table, Item=item)
    assert rest.ask("GET", "/subjects/before/versions") == (200, [1])
    assert rest.ask("GET", "/subjects/after/versions")[0] == 404


def new_table(dynamodb: Any, name: str) -> str:
    """An empty one of this name."""
    schema = [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}]
    types = [{"AttributeName": each["AttributeName"], "AttributeType": "S"} for each in schema]
    dynamodb.create_table(TableName=name, KeySchema=schema, AttributeDefinitions=types, BillingMode="PAY_PER_REQUEST")
    return name


def outputs(aws: Callable[[str], Any]) -> dict[str, str]:
    stacks = aws("cloudformation").describe_stacks()["Stacks"]
    (stack,) = (each for each in stacks if each["StackStatus"] != "DELETE_COMPLETE")  # AWS lists no such stack
    return {each["OutputKey"]: each["OutputValue"] for each in stack["Outputs"]}


@contextmanager
def moved(aws: Callable[[str], Any], table: str) -> Iterator[None]:
    """The registry's function, deployed anew with this table; at the end as it was."""
    lambda_, function = aws("lambda"), outputs(aws)["FunctionName"]
    before = lambda_.get_function_configuration(FunctionName=function)["Environment"]
    live = lambda_.get_alias(FunctionName=function, Name="live")["FunctionVersion"]

    def deploy_with(environment: dict[str, Any]) -> None:
        lambda_.update_function_configuration(FunctionName=function, Environment=environment)
        lambda_.get_waiter("function_updated_v2").wait(FunctionName=function, WaiterConfig={"Delay": 1})

    try:
        deploy_with({"Variables": before["Variables"] | {"SIGLA_TABLE": table}})
        version = lambda_.publish_version(FunctionName=function)["Version"]
        lambda_.get_waiter("published_version_active").wait(
            FunctionName=function, Qualifier=version, WaiterConfig={"Delay": 1}
        )
        lambda_.update_alias(FunctionName=function, Name="live", FunctionVersion=version)
        yield
    finally:
        lambda_.update_alias(FunctionName=function, Name="live", FunctionVersion=live)
        deploy_with(before)
