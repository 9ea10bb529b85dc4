"""Events of the deployed registry on LocalStack's EventBridge: a rule leads to a queue, as docs/events.md shows it."""

import json
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import pytest

from localstack.up import Account
from sigla import wiring
from tests.docs.test_events_page import PATTERN
from tests.localstack.conftest import Deployed
from tests.localstack.test_identity import outputs
from tests.waiting import eventually

pytestmark = pytest.mark.localstack

BUS = "registries"


@pytest.fixture
def journal(deployed: Deployed, aws: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The journal's function, which LocalStack does not deploy, beside the table and the bucket of the deployment."""
    made = outputs(aws)
    for name, value in Account.of(deployed.server, {}, ()).environ.items():
        if name.startswith("AWS_"):
            monkeypatch.setenv(name, value)
    monkeypatch.setenv("SIGLA_TABLE", made["TableName"])
    monkeypatch.setenv("SIGLA_BUCKET", made["BucketName"])
    monkeypatch.setenv("SIGLA_EVENTS_BUS", BUS)
    with closing(wiring.journal_handler()) as handler:
        yield handler


@pytest.fixture
def queue(aws: Callable[[str], Any]) -> Iterator[str]:
    """The URL of what the rule leads to."""
    events, sqs = aws("events"), aws("sqs")
    url = sqs.create_queue(QueueName="new-orders")["QueueUrl"]
    arn = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    events.create_event_bus(Name=BUS)
    events.put_rule(Name="new-orders", EventPattern=json.dumps(PATTERN), EventBusName=BUS)
    events.put_targets(Rule="new-orders", EventBusName=BUS, Targets=[{"Id": "queue", "Arn": arn}])
    yield url
    sqs.delete_queue(QueueUrl=url)


def test_a_rule_leads_new_versions_to_a_queue(
    deployed: Deployed, aws: Callable[[str], Any], journal: Any, queue: str
) -> None:
    """A client registers through a door, and what the rule asks for comes, beside what others have registered."""
    assert journal({"source": "aws.events"}, None)["aside"] == 0
    url, schema = deployed.door("function"), {"schema": json.dumps({"type": "fixed", "name": "Told", "size": 6})}
    ids = {subject: url.ask("POST", f"/subjects/{subject}/versions", schema)[1] for subject in ("orders-told", "told")}
    journal({"source": "aws.events"}, None)
    found = list[Any]()

    def has_come() -> bool:
        answer = aws("sqs").receive_message(QueueUrl=queue, MaxNumberOfMessages=10, WaitTimeSeconds=5)
        found.extend(json.loads(each["Body"]) for each in answer.get("Messages", ()))
        return any(each["detail"]["subject"] == "orders-told" for each in found)

    eventually(has_come)
    assert all(each["detail"]["subject"].startswith("orders-") for each in found)
    (told,) = [each for each in found if each["detail"]["subject"] == "orders-told"]
    assert (told["source"], told["detail-type"]) == ("sigla", "sigla.schema.registered")
    event = told["detail"]
    assert (event["specversion"], event["subject"], event["data"]["version"]) == ("1.0", "orders-told", 1)
    assert event["data"]["id"] == ids["orders-told"]["id"]
    assert event["data"]["guid"] == url.ask("GET", "/subjects/orders-told/versions/1")[1]["guid"]
