"""What the first day asks of the account, on answers as AWS gives them: well, and not well."""

import io
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from botocore.response import StreamingBody

from infra.first_day import account
from infra.first_day.asking import Door, Failed, NotAsked
from infra.first_day.day import Account, Day
from tests.first_day.conftest import Aws, Crook, a_day, crooked, resource

EXPLICIT = (
    "User: arn:aws:iam::1:user/me is not authorized to perform: {} with an explicit deny in a resource-based policy"
)
SILENT = "Access Denied"


def ask(check: Callable[[Day, Account], str], aws: Aws) -> str:
    return check(a_day(account=aws.account), aws.account)


# --- the bucket ------------------------------------------------------------------------------------------------------

DENIES = (
    (account.puts_are_conditional, "put_object"),
    (account.nothing_is_deleted, "delete_object"),
)


@pytest.mark.parametrize("check, method", DENIES, ids=["put", "delete"])
def test_what_the_buckets_own_policy_refuses_is_well(aws: Aws, check: Callable[..., str], method: str) -> None:
    """S3 says by its words which policy it was."""
    aws.refuses("s3", method, "AccessDenied", EXPLICIT.format(method))
    assert ask(check, aws) == ""


@pytest.mark.parametrize("check, method", DENIES, ids=["put", "delete"])
def test_what_the_bucket_lets_through_fails(aws: Aws, check: Callable[..., str], method: str) -> None:
    """A body could be replaced, or go: then an id means nothing, or something else."""
    aws.says("s3", method, {})
    with pytest.raises(Failed, match=r"was put without If-None-Match|the bucket allowed a delete"):
        ask(check, aws)


@pytest.mark.parametrize("check, method", DENIES, ids=["put", "delete"])
def test_credentials_that_may_nothing_prove_nothing(aws: Aws, check: Callable[..., str], method: str) -> None:
    """Then the bucket's policy was never asked."""
    aws.refuses("s3", method, "AccessDenied", SILENT)
    with pytest.raises(NotAsked, match="perhaps not by the bucket"):
        ask(check, aws)


def test_a_bucket_that_answers_without_tls_fails(aws: Aws, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it holds could be read on the way."""
    monkeypatch.setattr(account, "_old_tls", lambda host: f"asked {host}")
    aws.refuses("s3", "list_objects_v2", "AccessDenied", EXPLICIT.format("s3:ListBucket"))
    assert ask(account.tls_is_new, aws) == "refused without TLS, and asked sigla-bodies.s3.amazonaws.com"
    aws.says("s3", "list_objects_v2", {"Contents": []})
    with pytest.raises(Failed, match="without TLS"):
        ask(account.tls_is_new, aws)


# --- the table, the stack, the gateway -------------------------------------------------------------------------------


def table(*, protected: bool, recoverable: bool) -> tuple[dict[str, Any], dict[str, Any]]:
    backups = {"PointInTimeRecoveryStatus": "ENABLED" if recoverable else "DISABLED"}
    return (
        {"Table": {"DeletionProtectionEnabled": protected}},
        {
            "ContinuousBackupsDescription": {
                "ContinuousBackupsStatus": "ENABLED",
                "PointInTimeRecoveryDescription": backups,
            }
        },
    )


@pytest.mark.parametrize(
    "protected, recoverable, said",
    [(True, True, ""), (False, True, "no deletion protection"), (True, False, "no point-in-time recovery")],
)
def test_a_table_without_protection_fails(aws: Aws, protected: bool, recoverable: bool, said: str) -> None:
    """A restored table has neither until a person says so."""
    described, backups = table(protected=protected, recoverable=recoverable)
    aws.says("dynamodb", "describe_table", described)
    aws.says("dynamodb", "describe_continuous_backups", backups)
    if not said:
        assert ask(account.table_is_protected, aws) == ""
        return
    with pytest.raises(Failed, match=said):
        ask(account.table_is_protected, aws)


OURS, ANOTHER = "0" * 31 + "1", "0" * 31 + "2"


@pytest.mark.parametrize(
    "given, row, mark, said",
    [
        (OURS, OURS, OURS, ""),
        ("", OURS, OURS, "the functions have no identity"),
        (OURS, "", OURS, r"but the table has the identity \(none\)"),
        (OURS, OURS, ANOTHER, f"expected the identity {OURS}, but the bucket has the identity {ANOTHER}"),
    ],
)
def test_a_table_or_a_bucket_of_another_deployment_fails(aws: Aws, given: str, row: str, mark: str, said: str) -> None:
    """Its functions write nothing, or would write into another registry's."""
    variables = {"SIGLA_REGISTRY_NAME": "payments", "SIGLA_IDENTITY": given}
    aws.says("lambda", "get_function_configuration", {"Environment": {"Variables": variables}})
    item = {"Item": {"identity": {"S": row}}} if row else {}
    asked = {"pk": {"S": "payments"}, "sk": {"S": "IDENTITY"}}
    aws.says("dynamodb", "get_item", item, {"TableName": "sigla-catalog", "Key": asked, "ConsistentRead": True})
    raw = json.dumps({"identity": mark}).encode()
    where = {"Bucket": "sigla-bodies", "Key": "payments/identity.json"}
    aws.says("s3", "get_object", {"Body": StreamingBody(io.BytesIO(raw), len(raw))}, where)
    if not said:
        assert ask(account.identity_is_borne, aws) == OURS
        return
    with pytest.raises(Failed, match=said):
        ask(account.identity_is_borne, aws)


@pytest.mark.parametrize("protected", [True, False])
def test_a_stack_that_one_command_destroys_fails(aws: Aws, protected: bool) -> None:
    """Its URLs would be gone for good."""
    stack = {"StackName": "sigla", "CreationTime": datetime.now(UTC), "StackStatus": "CREATE_COMPLETE"}
    aws.says("cloudformation", "describe_stacks", {"Stacks": [stack | {"EnableTerminationProtection": protected}]})
    if protected:
        assert ask(account.stack_is_protected, aws) == ""
        return
    with pytest.raises(Failed, match="cdk destroy"):
        ask(account.stack_is_protected, aws)


RETRY = {"gatewayresponse.header.Retry-After": "'5'"}


@pytest.mark.parametrize(
    "told, said",
    [
        ({"statusCode": "503", "responseParameters": RETRY}, ""),
        ({"statusCode": "502", "responseParameters": RETRY}, "would answer 502"),
        ({"statusCode": "503"}, "no Retry-After"),
    ],
)
def test_a_gateway_that_would_say_something_else_than_503_fails(aws: Aws, told: Mapping[str, Any], said: str) -> None:
    """Clients wait and come again at a 503; a 502 is an outage."""
    aws.says("cloudformation", "list_stack_resources", resource("AWS::ApiGateway::RestApi", "abc123"))
    expected = {"restApiId": "abc123", "responseType": "INTEGRATION_FAILURE"}
    aws.says("apigateway", "get_gateway_response", told, expected)
    if not said:
        assert "needs a function that fails" in ask(account.failing_functions_are_503, aws)
        return
    with pytest.raises(Failed, match=said):
        ask(account.failing_functions_are_503, aws)


# --- functions and zones ---------------------------------------------------------------------------------------------


def function(state: str = "Active", applies: str = "PublishedVersions", status: str = "On") -> dict[str, Any]:
    return {"State": state, "SnapStart": {"ApplyOn": applies, "OptimizationStatus": status}}


@pytest.mark.parametrize(
    "second, said",
    [
        (function(), ""),
        (function(state="Inactive"), "zone-function is Inactive"),
        (function(status="Off"), "no snapshot of ZoneFunctionUse1Az1"),
    ],
)
def test_a_version_without_an_active_snapshot_fails(aws: Aws, second: Mapping[str, Any], said: str) -> None:
    """Its next request would fail, or take seconds."""
    aws.outputs["ZoneFunctionUse1Az1"] = "zone-function"
    aws.says(
        "lambda", "get_function_configuration", function(), {"FunctionName": "sigla-function", "Qualifier": "live"}
    )
    aws.says("lambda", "get_function_configuration", second)
    if not said:
        assert ask(account.snapshots_are_active, aws) == "2 of 2"
        return
    with pytest.raises(Failed, match=said):
        ask(account.snapshots_are_active, aws)


def test_without_snapshots_none_is_asked_for(aws: Aws) -> None:
    """It is a setting."""
    aws.says("lambda", "get_function_configuration", function(applies="None", status="Off"))
    with pytest.raises(NotAsked, match="snap_start"):
        ask(account.snapshots_are_active, aws)


def told(runs_in: str | None = "use1-az1", failure: str = "", ms: float = 4.2) -> dict[str, Any]:
    return {"zone": "use1-az1", "runs_in": runs_in, "members": [{"name": "a:6379", "ms": ms, "failure": failure}]}


def probed(aws: Aws, *answers: object, **more: str) -> None:
    aws.outputs["ZoneFunctionUse1Az1"] = "zone-function"
    for answer in answers:
        raw = json.dumps(answer).encode()
        aws.says("lambda", "invoke", {"Payload": StreamingBody(io.BytesIO(raw), len(raw)), **more})


def test_a_zone_tells_how_long_its_ring_takes(aws: Aws) -> None:
    """The first answer of an environment holds the handshake and AUTH, the next only the way."""
    probed(aws, told(ms=9.5), told(ms=0.31))
    assert "use1-az1 9.5 ms, then 0.3 ms" in ask(account.zones_run_where_they_are_put, aws)


@pytest.mark.parametrize(
    "first, said",
    [
        (told(runs_in="use1-az6"), "use1-az1 runs in use1-az6"),
        (told(runs_in=None), "an unknown zone"),
        (told(failure="a:6379 did not answer in time"), "use1-az1: a:6379 did not answer in time"),
        ({"errorMessage": "no module"}, "zone-function answers"),
    ],
)
def test_a_zone_that_is_elsewhere_or_without_its_ring_fails(aws: Aws, first: object, said: str) -> None:
    """AWS implies that a function runs in its subnet's zone, and does not promise it."""
    probed(aws, first, told())
    with pytest.raises(Failed, match=said):
        ask(account.zones_run_where_they_are_put, aws)


# --- what watches ----------------------------------------------------------------------------------------------------


def alarms(aws: Aws, *states: str, age: timedelta = timedelta(hours=1), missing: str = "notBreaching") -> None:
    resources = [
        {
            "LogicalResourceId": f"Alarm{number}",
            "PhysicalResourceId": f"alarm-{number}",
            "ResourceType": "AWS::CloudWatch::Alarm",
            "LastUpdatedTimestamp": datetime.now(UTC),
            "ResourceStatus": "CREATE_COMPLETE",
        }
        for number, _ in enumerate(states)
    ]
    aws.says("cloudformation", "list_stack_resources", {"StackResourceSummaries": resources})
    found = [
        {
            "AlarmName": f"alarm-{number}",
            "StateValue": state,
            "TreatMissingData": missing,
            "AlarmConfigurationUpdatedTimestamp": datetime.now(UTC) - age,
        }
        for number, state in enumerate(states)
    ]
    aws.says("cloudwatch", "describe_alarms", {"MetricAlarms": found})


def test_alarms_that_are_quiet_are_counted(aws: Aws) -> None:
    alarms(aws, "OK", "OK")
    assert ask(account.alarms_are_quiet, aws) == "2 alarms"


def test_an_alarm_that_rings_fails(aws: Aws) -> None:
    """On the first day already."""
    alarms(aws, "OK", "ALARM")
    with pytest.raises(Failed, match="in ALARM: alarm-1"):
        ask(account.alarms_are_quiet, aws)


def test_an_alarm_that_never_hears_of_its_metric_fails(aws: Aws) -> None:
    """It is set on a metric that no function sends: it would never ring."""
    alarms(aws, "OK", "INSUFFICIENT_DATA")
    with pytest.raises(Failed, match="without data for 15 minutes: alarm-1"):
        ask(account.alarms_are_quiet, aws)


def test_an_alarm_may_be_too_new_to_know(aws: Aws) -> None:
    """And one that ignores missing data need never have any."""
    alarms(aws, "OK", "INSUFFICIENT_DATA", age=timedelta(minutes=3))
    with pytest.raises(NotAsked, match="1 of 2 alarms are too new"):
        ask(account.alarms_are_quiet, aws)
    alarms(aws, "OK", "INSUFFICIENT_DATA", missing="ignore")
    assert ask(account.alarms_are_quiet, aws) == "2 alarms"


def journal(aws: Aws, *ages: timedelta) -> tuple[Day, int]:
    """A day that began a minute ago and has written, over a bucket with a segment of each age."""
    aws.outputs["JournalName"] = "sigla-journal"
    variables = {"Environment": {"Variables": {"SIGLA_REGISTRY_NAME": "payments"}}}
    aws.says("lambda", "get_function_configuration", variables, {"FunctionName": "sigla-function"})
    day = a_day(account=aws.account)
    day.began, day.wrote = datetime.now(UTC) - timedelta(seconds=60), True
    listed = [{"Key": "payments/journal/1", "LastModified": datetime.now(UTC) - age} for age in ages]
    looks = 2 * (1 + int(account.JOURNAL_S / 5))
    for _ in range(looks):
        aws.says("s3", "list_objects_v2", {"Contents": listed})
    return day, looks


def test_a_segment_of_today_is_found(aws: Aws) -> None:
    """So the stream, its mapping and the journal's function work together."""
    day, _ = journal(aws, timedelta(days=1), timedelta(seconds=20))
    assert account.journal_is_written(day, aws.account) == "a segment 40 s after the first write"


def test_a_journal_that_stays_behind_fails(aws: Aws) -> None:
    """It would not be missed before the day on which it is needed."""
    day, _ = journal(aws, timedelta(days=1))
    with pytest.raises(Failed, match="the log of sigla-journal says why"):
        account.journal_is_written(day, aws.account)


def handing_over(aws: Aws, *lines: dict[str, int], bus: str = "default") -> Day:
    """A day that has written, with lines about events in the log of the journal's function."""
    aws.outputs |= {"JournalName": "sigla-journal", "JournalLogGroupName": "sigla-journal-log"}
    variables = {"Environment": {"Variables": {"SIGLA_EVENTS_BUS": bus} if bus else {}}}
    aws.says("lambda", "get_function_configuration", variables, {"FunctionName": "sigla-journal"})
    day = a_day(account=aws.account)
    day.wrote = True
    told = [{"message": json.dumps({"event": "events", **line})} for line in lines]
    for _ in range(1 + int(account.JOURNAL_S / 5)):
        aws.says("logs", "filter_log_events", {"events": told})
    return day


def test_events_that_the_bus_has_taken_are_counted(aws: Aws) -> None:
    """The first try of a deployment may be refused, while the role's policy is on its way."""
    day = handing_over(aws, {"sent": 0, "waiting_ms": 40}, {"sent": 3, "waiting_ms": 0})
    assert account.events_are_taken(day, aws.account) == "3 events"


@pytest.mark.parametrize(
    "lines",
    [[], [{"sent": 0, "waiting_ms": 40}], [{"sent": 1, "waiting_ms": 0}, {"sent": 0, "waiting_ms": 40}]],
    ids=["silence", "refused", "refused since"],
)
def test_a_bus_that_takes_nothing_fails(aws: Aws, lines: list[dict[str, int]]) -> None:
    """No emulator has the policies of a role and of a bus."""
    day = handing_over(aws, *lines)
    with pytest.raises(Failed, match="the bus has taken no event in 300 seconds; the log sigla-journal-log says why"):
        account.events_are_taken(day, aws.account)


def test_a_stack_without_a_bus_is_not_asked_for_events(aws: Aws) -> None:
    day = handing_over(aws, bus="")
    with pytest.raises(NotAsked, match=r"the stack has no bus \(events\.bus\)"):
        account.events_are_taken(day, aws.account)


# --- credentials -----------------------------------------------------------------------------------------------------


def test_what_the_credentials_may_not_ask_is_no_failure_of_the_stack(aws: Aws) -> None:
    """It says so, and which permission is missing."""
    aws.refuses("dynamodb", "describe_table", "AccessDeniedException", "may not dynamodb:DescribeTable")
    with pytest.raises(NotAsked, match="may not dynamodb:DescribeTable"):
        ask(account.table_is_protected, aws)
    aws.refuses("dynamodb", "describe_table", "ResourceNotFoundException", "there is no table")
    with pytest.raises(Failed, match="ResourceNotFoundException"):
        ask(account.table_is_protected, aws)


# --- the directory ---------------------------------------------------------------------------------------------------

WELL = {"id": "use1-az1", "name": "us-east-1a", "url": "https://a/", "healthy": True, "checked": 1}


@pytest.mark.parametrize(
    "zones, said",
    [
        ([WELL], ""),
        ([], "the stack has 1 zones, but GET /zones lists"),
        ([WELL | {"healthy": False, "reason": "its function fails"}], "its function fails"),
        ([WELL | {"reason": "it runs in use1-az6"}], "use1-az1: it runs in use1-az6"),
    ],
)
def test_a_directory_that_does_not_find_each_zone_well_fails(
    registry: Door, aws: Aws, zones: list[dict[str, Any]], said: str
) -> None:
    """Clients make their list of URLs of it."""
    aws.outputs |= {"ZoneFunctionUse1Az1": "zone-function", "HeartbeatName": "heartbeat"}
    directory = Crook(answer=lambda _, told: replace(told, line="200", body=json.dumps(zones).encode()))
    with crooked(registry, directory) as door:
        day = a_day(door, account=aws.account)
        if not said:
            assert account.zones_are_told(day, aws.account) == "use1-az1"
            return
        with pytest.raises(Failed, match=said):
            account.zones_are_told(day, aws.account)
