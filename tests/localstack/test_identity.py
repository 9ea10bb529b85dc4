"""A deployment that forgot which table it has, on the whole stack: it harms nobody, and the next one is as before."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tests.localstack.conftest import Deployed


def fixed(name: str) -> dict[str, str]:
    """A schema that nobody else has."""
    return {"schema": json.dumps({"type": "fixed", "name": name, "size": 12})}


def test_a_forgotten_table_gives_no_id_away_twice(deployed: Deployed, aws: Callable[[str], Any]) -> None:
    """What a deployment without its `table_name` leaves: the same function before a new, empty table."""
    rest = deployed.door("rest")
    id = rest.ask("POST", "/subjects/before/versions", fixed("BeforeAll"))[1]["id"]
    with moved(aws, "forgotten") as table:
        for door in (rest, deployed.door("function")):
            for method, path, body in (
                ("POST", "/subjects/after/versions", fixed("AfterAll")),
                ("GET", "/subjects", None),
                ("GET", "/subjects/before/versions/latest", None),
            ):
                status, refusal = door.ask(method, path, body)
                assert (status, refusal["error_code"]) == (500, 50002)
                assert "was refused: the registry's table has no identity" in refusal["message"]
            status, read = door.ask("GET", f"/schemas/ids/{id}")
            assert (status, read["subject"], read["schema"]) == (200, "before", fixed("BeforeAll")["schema"])
        assert not aws("dynamodb").scan(TableName=table)["Items"]
    assert rest.ask("GET", "/subjects/before/versions") == (200, [1])
    assert rest.ask("GET", "/subjects/after/versions")[0] == 404


@contextmanager
def moved(aws: Callable[[str], Any], name: str) -> Iterator[str]:
    """The registry's function, deployed with a new table of this name; at the end as it was."""
    lambda_, dynamodb = aws("lambda"), aws("dynamodb")
    (stack,) = aws("cloudformation").describe_stacks()["Stacks"]
    outputs = {each["OutputKey"]: each["OutputValue"] for each in stack["Outputs"]}
    function = outputs["FunctionName"]
    keys = [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}]
    types = [{"AttributeName": each["AttributeName"], "AttributeType": "S"} for each in keys]
    dynamodb.create_table(TableName=name, KeySchema=keys, AttributeDefinitions=types, BillingMode="PAY_PER_REQUEST")
    before = lambda_.get_function_configuration(FunctionName=function)["Environment"]
    live = lambda_.get_alias(FunctionName=function, Name="live")["FunctionVersion"]

    def deploy_with(environment: dict[str, Any]) -> None:
        lambda_.update_function_configuration(FunctionName=function, Environment=environment)
        lambda_.get_waiter("function_updated_v2").wait(FunctionName=function, WaiterConfig={"Delay": 1})

    try:
        deploy_with({"Variables": before["Variables"] | {"SIGLA_TABLE": name}})
        version = lambda_.publish_version(FunctionName=function)["Version"]
        lambda_.get_waiter("published_version_active").wait(
            FunctionName=function, Qualifier=version, WaiterConfig={"Delay": 1}
        )
        lambda_.update_alias(FunctionName=function, Name="live", FunctionVersion=version)
        yield name
    finally:
        lambda_.update_alias(FunctionName=function, Name="live", FunctionVersion=live)
        deploy_with(before)
