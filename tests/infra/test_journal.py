"""What wakes the journal's function, and what becomes of what it cannot do."""

import json
from typing import Any

import pytest

from sigla import keys
from sigla.deployment.settings import InvalidSetting, Settings
from sigla.model import BodyKey, SchemaId
from tests.infra.conftest import Synthesise
from tests.infra.reading import Template, kinds, of, only, written

STREAM = "AWS::Lambda::EventSourceMapping"


def test_it_follows_the_tables_stream_in_order(template: Template) -> None:
    """From the oldest record on, one batch of a shard at a time; few batches, since each is an object in the bucket."""
    stream = only(template, STREAM)
    assert written(stream["EventSourceArn"]).endswith(".StreamArn>")
    assert (stream["StartingPosition"], stream["ParallelizationFactor"]) == ("TRIM_HORIZON", 1)
    assert (stream["BatchSize"], stream["MaximumBatchingWindowInSeconds"]) == (96, 60)


def matches(pattern: Any, value: Any) -> bool:
    """Whether a record fits an event pattern, of the kinds that are used here."""
    if isinstance(pattern, dict):
        return isinstance(value, dict) and all(matches(rule, value.get(name)) for name, rule in pattern.items())
    return any(_suits(rule, value) if isinstance(rule, dict) else value == rule for rule in pattern)


def _suits(rule: dict[str, Any], value: Any) -> bool:
    if "exists" in rule:
        return bool(rule["exists"] == (value is not None))
    return isinstance(value, str) and value.startswith(rule["prefix"])


ROW: dict[str, Any] = {"form": {"S": '{"form":1}'}, "expires": {"N": "1795488286"}}
LONG_ROW: dict[str, Any] = ROW | {"form": {"B": "eyJmb3JtIjoxfQ=="}}
"""What a journal row has besides its key, and no other item: a text or bytes as its form."""


def wakes(template: Template, event: str, pk: str, sk: str = "", **attributes: Any) -> bool:
    """Whether a row that was written is handed to the function. Patterns are joined by "or"."""
    image = {"pk": {"S": pk}, "sk": {"S": sk}, "form": {"N": "1"}} | attributes
    written = {"eventName": event, "dynamodb": {"NewImage": image}}
    return any(
        matches(json.loads(each["Pattern"]), written) for each in only(template, STREAM)["FilterCriteria"]["Filters"]
    )


def test_it_is_woken_by_what_it_writes_and_by_nothing_else(template: Template) -> None:
    """New journal rows, ids just buried, ids held again, of any registry: of the seven rows of a registration, one."""
    id, one = keys.id_pk("default", BodyKey(".", SchemaId(7))), {"N": "1"}
    assert wakes(template, "INSERT", keys.journal_pk("default", 3), **ROW)
    assert not wakes(template, "MODIFY", keys.journal_pk("default", 3), **ROW)  # its own mark: it would wake itself
    assert wakes(template, "MODIFY", id, keys.HOLDERS, count={"N": "0"}, buried={"BOOL": True})
    assert wakes(template, "MODIFY", id, keys.HOLDERS, count=one)
    assert not wakes(template, "INSERT", id, keys.HOLDERS, count=one)
    assert not wakes(template, "MODIFY", id, keys.HOLDERS, count={"N": "2"})
    assert not wakes(template, "INSERT", keys.contexts_pk("default"))
    assert wakes(template, "INSERT", keys.journal_pk("payments", 3), **ROW)
    assert wakes(template, "INSERT", keys.journal_pk("payments", 3), **LONG_ROW)
    assert wakes(template, "MODIFY", keys.id_pk("payments", BodyKey(".", SchemaId(7))), keys.HOLDERS, count=one)


def test_a_stack_with_stores_of_others_is_woken_by_rows_of_its_own_registries(other: Template) -> None:
    """Those that share the table have functions of their own."""
    assert wakes(other, "INSERT", keys.journal_pk("payments", 3), **ROW)
    assert not wakes(other, "INSERT", keys.journal_pk("payments2", 3), **ROW)
    assert not wakes(other, "INSERT", keys.journal_pk("default", 3), **ROW)


def test_a_row_that_expires_wakes_nobody(template: Template) -> None:
    """A removal has no new image."""
    removed = {"eventName": "REMOVE", "dynamodb": {"Keys": {"pk": {"S": keys.journal_pk("default", 3)}}}}
    for each in only(template, STREAM)["FilterCriteria"]["Filters"]:
        assert not matches(json.loads(each["Pattern"]), removed)


def test_a_batch_that_cannot_be_written_holds_up_nobody_for_ever(template: Template) -> None:
    """It is halved, tried again, noted and left to the next catch-up."""
    stream = only(template, STREAM)
    assert stream["BisectBatchOnFunctionError"] is True
    assert stream["MaximumRecordAgeInSeconds"] == 6 * 3_600
    assert "MaximumRetryAttempts" not in stream
    assert written(stream["DestinationConfig"]["OnFailure"]["Destination"]).startswith("<JournalGivenUp")
    assert only(template, "AWS::SQS::Queue") == {"MessageRetentionPeriod": 14 * 86_400, "SqsManagedSseEnabled": True}


def test_it_catches_up_every_quarter_of_an_hour(template: Template) -> None:
    """Whatever the stream did not bring: the alarm is an hour away."""
    rule = of(template, "Journal", "AWS::Events::Rule")
    assert (rule["ScheduleExpression"], rule["State"]) == ("rate(15 minutes)", "ENABLED")
    (target,) = rule["Targets"]
    assert written(target["Arn"]).startswith("<JournalFunction")


def test_it_has_no_door_and_no_snapshot(template: Template) -> None:
    """No caller waits for it; and a snapshot costs by the month."""
    function = of(template, "Journal", "AWS::Lambda::Function")
    assert "SnapStart" not in function
    assert (function["Runtime"], function["Architectures"]) == ("python3.13", ["arm64"])
    assert function["Timeout"] == 300


def test_a_table_that_is_given_comes_with_its_stream(other: Template) -> None:
    assert "/stream/" in only(other, STREAM)["EventSourceArn"]
    with pytest.raises(InvalidSetting, match=r"^table_name needs table_stream_arn, .*journal\.stream=false\.$"):
        Settings(table_name="kept-catalog")
    with pytest.raises(InvalidSetting, match=r"^table_stream_arn needs table_name: give both"):
        Settings(table_stream_arn="arn:aws:dynamodb:eu-west-1:111122223333:table/kept-catalog/stream/1")


def test_without_a_stream_the_clock_alone_wakes_it(synthesise: Synthesise) -> None:
    """A third registry in one table: a stream has two readers."""
    shared = synthesise(("table_name", "kept-catalog"), ("journal.stream", False))
    assert not {STREAM, "AWS::SQS::Queue"} & kinds(shared)
    assert "AWS::Events::Rule" in kinds(shared)
    granted = {each["Sid"] for each in of(shared, "Journal", "AWS::IAM::Policy")["PolicyDocument"]["Statement"]}
    assert granted == {"Rows", "Identity", "Served", "Mark", "Reading", "Writing", "Finding", "Log"}


def test_on_localstack_there_is_none(local: Template) -> None:
    """Its tables have no stream that a function could follow."""
    assert not {STREAM, "AWS::Events::Rule", "AWS::SQS::Queue"} & kinds(local)
