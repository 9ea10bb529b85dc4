"""What only the account can show: policies, snapshots, zones, alarms. Asked with the operator's own credentials."""

import json
import socket
import ssl
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from urllib.parse import urlsplit

from botocore.exceptions import BotoCoreError, ClientError

from infra.first_day.asking import Failed, NotAsked
from infra.first_day.day import Account, Day
from sigla import keys

PROBE: Final = "first-day/probe-{}"
"""A key of the bucket that no registry has: no registry's name contains a slash."""
EXPLICIT: Final = "explicit deny in a resource-based policy"
"""By these words S3 says that the bucket's own policy has refused."""
HEARTBEAT_S: Final = 180
"""How long a new zone may need until the directory tells of it."""
SETTLING: Final = timedelta(minutes=15)
"""A new alarm may need so long to find out how things are."""
JOURNAL_S: Final = 300
"""The stream's records are collected for a minute, before the journal's function has them."""


def functions(account: Account) -> dict[str, str]:
    """The registry's functions by their outputs' names: that behind the REST API, and one for each zone."""
    return {
        name: value
        for name, value in account.outputs.items()
        if name == "FunctionName" or name.startswith("ZoneFunction")
    }


def environment(account: Account) -> dict[str, str]:
    """What the registry's functions are told. Raises Failed, NotAsked."""
    name = next(iter(functions(account).values()))
    told = call(account.client("lambda").get_function_configuration, FunctionName=name)
    return dict(told["Environment"]["Variables"])


def call(ask: Any, **facts: Any) -> Any:
    """What AWS answers. Raises NotAsked where these credentials may not ask, Failed for every other refusal."""
    try:
        return ask(**facts)
    except ClientError as refused:
        error = refused.response["Error"]
        if error["Code"] in ("AccessDenied", "AccessDeniedException", "UnauthorizedOperation"):
            raise NotAsked(f"these credentials lack the permission: {error.get('Message', error['Code'])}") from None
        raise Failed(f"AWS answers {error['Code']}: {error.get('Message', '')}") from None
    except BotoCoreError as failure:
        raise Failed(f"AWS does not answer: {failure}") from None


# --- the bucket ------------------------------------------------------------------------------------------------------


def puts_are_conditional(day: Day, account: Account) -> str:
    """Without If-None-Match an object could be replaced, and an id would mean something else."""
    key = PROBE.format(day.run)
    s3, bucket = account.client("s3"), account.outputs["BucketName"]
    return _denied(f"{key} was put without If-None-Match", s3.put_object, Bucket=bucket, Key=key, Body=b"")


def nothing_is_deleted(day: Day, account: Account) -> str:
    """Asked of a key that is not there: where it is allowed, nothing is lost."""
    s3, bucket = account.client("s3"), account.outputs["BucketName"]
    return _denied("the bucket allowed a delete", s3.delete_object, Bucket=bucket, Key=PROBE.format(day.run))


def tls_is_new(_: Day, account: Account) -> str:
    """Without TLS the bucket's policy refuses; with an old one no connection is made."""
    bucket = account.outputs["BucketName"]
    plain = account.client("s3", use_ssl=False)
    _denied("the bucket answers without TLS", plain.list_objects_v2, Bucket=bucket, MaxKeys=1)
    host = f"{bucket}.{urlsplit(plain.meta.endpoint_url).hostname}"  # in China it ends otherwise
    return f"refused without TLS, and {_old_tls(host)}"


def _denied(otherwise: str, ask: Any, **facts: Any) -> str:
    """Raises Failed if it is allowed, NotAsked if it may be these credentials that are refused."""
    try:
        ask(**facts)
    except ClientError as refused:
        message = refused.response["Error"].get("Message", "")
        if EXPLICIT in message:
            return ""
        raise NotAsked(f"it was refused, but perhaps not by the bucket: {message}") from None
    except BotoCoreError as failure:
        raise Failed(f"S3 does not answer: {failure}") from None
    raise Failed(otherwise)


def _old_tls(host: str) -> str:
    """Raises Failed if TLS 1.1 is spoken there."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        context.set_ciphers("ALL:@SECLEVEL=0")
        context.maximum_version = ssl.TLSVersion.TLSv1_1
        with (
            socket.create_connection((host, 443), timeout=10) as plain,
            context.wrap_socket(plain, server_hostname=host),
        ):
            raise Failed("the bucket accepts TLS 1.1")
    except (ssl.SSLError, ConnectionResetError):
        return "refused with TLS 1.1"
    except (OSError, ValueError) as failure:
        return f"TLS 1.1 could not be tried ({failure})"


# --- the table and the stack -----------------------------------------------------------------------------------------


def table_is_protected(_: Day, account: Account) -> str:
    dynamodb, name = account.client("dynamodb"), account.outputs["TableName"]
    table = call(dynamodb.describe_table, TableName=name)["Table"]
    if not table.get("DeletionProtectionEnabled"):
        raise Failed(f"{name} has no deletion protection")
    told = call(dynamodb.describe_continuous_backups, TableName=name)["ContinuousBackupsDescription"]
    if told["PointInTimeRecoveryDescription"]["PointInTimeRecoveryStatus"] != "ENABLED":
        raise Failed(f"{name} has no point-in-time recovery")
    return ""


def identity_is_borne(_: Day, account: Account) -> str:
    """Where one of them bears another, functions write nothing; without an identity, nothing protects from a mix-up."""
    told = environment(account)
    registry, identity = told["SIGLA_REGISTRY_NAME"], told.get("SIGLA_IDENTITY", "")
    if not identity:
        raise Failed("the functions have no identity")
    pk, key = keys.identity_pk(registry), keys.identity_object(registry)
    row = call(
        account.client("dynamodb").get_item,
        TableName=account.outputs["TableName"],
        Key={"pk": {"S": pk}, "sk": {"S": keys.IDENTITY}},
        ConsistentRead=True,
    )
    borne = {"table": row.get("Item", {}).get("identity", {}).get("S", "")}
    found = call(account.client("s3").get_object, Bucket=account.outputs["BucketName"], Key=key)
    borne["bucket"] = json.loads(found["Body"].read())["identity"]
    if wrong := [
        f"the {store} has the identity {mark or '(none)'}" for store, mark in borne.items() if mark != identity
    ]:
        raise Failed(f"expected the identity {identity}, but {' and '.join(wrong)}")
    return identity


def stack_is_protected(_: Day, account: Account) -> str:
    told = call(account.client("cloudformation").describe_stacks, StackName=account.stack)["Stacks"][0]
    if not told.get("EnableTerminationProtection"):
        raise Failed(f"`cdk destroy` would remove {account.stack}, and its URLs for good")
    return ""


def resources(account: Account, type: str) -> list[str]:
    """Physical ids of the stack's resources of a type. Raises NotAsked, Failed."""
    pages = account.client("cloudformation").get_paginator("list_stack_resources").paginate(StackName=account.stack)

    def found() -> list[str]:
        return [
            each["PhysicalResourceId"]
            for page in pages
            for each in page["StackResourceSummaries"]
            if each["ResourceType"] == type and each.get("PhysicalResourceId")
        ]

    return list(call(found))


# --- functions and zones ---------------------------------------------------------------------------------------------


def snapshots_are_active(_: Day, account: Account) -> str:
    """The version that each alias leads to; one that was not asked for 14 days becomes inactive."""
    told = {}
    for output, name in functions(account).items():
        found = call(account.client("lambda").get_function_configuration, FunctionName=name, Qualifier="live")
        told[output] = found
        if found["State"] != "Active":
            raise Failed(f"{name} is {found['State']}: {found.get('StateReason', '')}")
    if all(each["SnapStart"]["ApplyOn"] == "None" for each in told.values()):
        raise NotAsked("function.snap_start is false")
    if off := [name for name, each in told.items() if each["SnapStart"].get("OptimizationStatus") != "On"]:
        raise Failed(f"found no snapshot of {', '.join(off)}")
    return f"{len(told)} of {len(told)}"


def zones_are_told(day: Day, account: Account) -> str:
    """The directory that clients are given names each zone, and its last heartbeat found it well."""
    zones = sorted(name.removeprefix("ZoneFunction") for name in account.outputs if name.startswith("ZoneFunction"))
    if not zones:
        raise NotAsked("the stack has no zones")
    if not day.doors:
        raise NotAsked("no door can be reached from here")

    def found() -> list[dict[str, Any]]:
        told = day.doors[0].ask("GET", "/zones").expect(200).json()
        return list(told) if len(told) == len(zones) and all(each["healthy"] for each in told) else []

    # A new zone has its first heartbeat within a minute or two.
    directory = day.until(found, HEARTBEAT_S)
    if not directory:
        told = day.doors[0].ask("GET", "/zones").expect(200).body.decode()
        raise Failed(f"the stack has {len(zones)} zones, but GET /zones lists {told}")
    if flaws := [f"{each['id']}: {each['reason']}" for each in directory if each.get("reason")]:
        raise Failed("; ".join(flaws))
    return ", ".join(each["id"] for each in directory)


def zones_run_where_they_are_put(_: Day, account: Account) -> str:
    """Each is asked as the heartbeat asks it; twice, since the first answer may hold a handshake with its ring."""
    zones = {name: value for name, value in functions(account).items() if name != "FunctionName"}
    if not zones:
        raise NotAsked("the stack has no zones")
    wrong, said = [], []
    for function in zones.values():
        first, then = _probed(account, function), _probed(account, function)
        zone = first["zone"]
        wrong += list(_flaws(first)) + list(_flaws(then))
        slowest = [max((one["ms"] for one in told["members"]), default=0.0) for told in (first, then)]
        if first["members"]:
            said.append(f"{zone} {slowest[0]:.1f} ms, then {slowest[1]:.1f} ms")
    if wrong:
        raise Failed("; ".join(dict.fromkeys(wrong)))
    return f"members of rings, connecting and AUTH included: {'; '.join(said)}" if said else ""


def _probed(account: Account, function: str) -> dict[str, Any]:
    payload = json.dumps({"sigla": "probe"})
    told = call(account.client("lambda").invoke, FunctionName=function, Qualifier="live", Payload=payload)
    answer = json.loads(told["Payload"].read())
    if "FunctionError" in told or "runs_in" not in answer:
        raise Failed(f"{function} answers {json.dumps(answer)[:200]}")
    return dict(answer)


def _flaws(told: dict[str, Any]) -> Iterator[str]:
    if told["runs_in"] != told["zone"]:
        yield f"{told['zone']} runs in {told['runs_in'] or 'an unknown zone'}"
    for one in told["members"]:
        if one["failure"]:
            yield f"{told['zone']}: {one['failure']}"


# --- what watches ----------------------------------------------------------------------------------------------------


def alarms_are_quiet(_: Day, account: Account) -> str:
    """None rings, and each that judges missing data has had the time to know something."""
    names = resources(account, "AWS::CloudWatch::Alarm")
    if not names:
        raise NotAsked("the stack has no alarms (watch.alarms)")
    cloudwatch = account.client("cloudwatch")
    alarms = [
        alarm
        for at in range(0, len(names), 100)
        for alarm in call(cloudwatch.describe_alarms, AlarmNames=names[at : at + 100])["MetricAlarms"]
    ]
    if ringing := [alarm["AlarmName"] for alarm in alarms if alarm["StateValue"] == "ALARM"]:
        raise Failed(f"in ALARM: {', '.join(sorted(ringing))}; docs/operations.md#alarms says what to do")
    # One that ignores missing data may never have had any.
    unsettled = [each for each in alarms if each["StateValue"] != "OK" and each.get("TreatMissingData") != "ignore"]
    old = datetime.now(UTC) - SETTLING
    if stuck := [alarm["AlarmName"] for alarm in unsettled if alarm["AlarmConfigurationUpdatedTimestamp"] < old]:
        raise Failed(f"without data for {SETTLING.seconds // 60} minutes: {', '.join(sorted(stuck))}")
    if unsettled:
        raise NotAsked(f"{len(unsettled)} of {len(alarms)} alarms are too new to know: ask again in 15 minutes")
    return f"{len(alarms)} alarms"


def failing_functions_are_503(_: Day, account: Account) -> str:
    """That Lambda cannot start a function cannot be brought about from outside; what gateways then say can be read."""
    gateway = account.client("apigateway")
    for api in resources(account, "AWS::ApiGateway::RestApi"):
        told = call(gateway.get_gateway_response, restApiId=api, responseType="INTEGRATION_FAILURE")
        if told.get("statusCode") != "503":
            raise Failed(f"the API {api} would answer {told.get('statusCode')}")
        if not told.get("responseParameters", {}).get("gatewayresponse.header.Retry-After"):
            raise Failed(f"the 503 of the API {api} would have no Retry-After")
    return "configured as expected; seeing one needs a function that fails"


def journal_is_written(day: Day, account: Account) -> str:
    """What was just registered is in the bucket as well: the table's stream, and the function that follows it."""
    if "JournalName" not in account.outputs:
        raise NotAsked("the stack has no journal function")
    if not day.wrote:
        raise NotAsked("nothing was written")
    prefix = f"{environment(account)['SIGLA_REGISTRY_NAME']}/journal/{day.began:%Y/%m/}"
    pages = account.client("s3").get_paginator("list_objects_v2")

    def newest() -> datetime | None:
        """The newest of the segments of this day and the next: a run may be under way at midnight."""
        days = {f"{prefix}{moment:%d}/" for moment in (day.began, datetime.now(UTC))}
        found = [
            each["LastModified"]
            for day_prefix in sorted(days)
            for page in pages.paginate(Bucket=account.outputs["BucketName"], Prefix=day_prefix)
            for each in page.get("Contents", ())
        ]
        return max((at for at in found if at > day.began), default=None)

    at = day.until(lambda: call(newest), JOURNAL_S)
    if at is None:
        raise Failed(f"no segment came in {JOURNAL_S} seconds; the log of {account.outputs['JournalName']} says why")
    return f"a segment {(at - day.began).total_seconds():,.0f} s after the first write"


def events_are_taken(day: Day, account: Account) -> str:
    """The bus has taken an event of what was just registered: it is there, and the journal's role may reach it."""
    if "JournalName" not in account.outputs:
        raise NotAsked("the stack has no journal function")
    facts = call(account.client("lambda").get_function_configuration, FunctionName=account.outputs["JournalName"])
    if "SIGLA_EVENTS_BUS" not in facts["Environment"]["Variables"]:
        raise NotAsked("the stack has no bus (events.bus)")
    if not day.wrote:
        raise NotAsked("nothing was written")
    log = account.outputs["JournalLogGroupName"]
    pages = account.client("logs").get_paginator("filter_log_events")
    since = {"startTime": round(day.began.timestamp() * 1000), "filterPattern": '{ $.event = "events" }'}

    def sent() -> int:
        """0 while one waits."""
        found = pages.paginate(logGroupName=log, **since)
        lines = [json.loads(line["message"]) for page in found for line in page["events"]]
        return 0 if not lines or lines[-1]["waiting_ms"] else sum(line["sent"] for line in lines)

    count = day.until(lambda: call(sent), JOURNAL_S)
    if not count:
        raise Failed(f"the bus has taken no event in {JOURNAL_S} seconds; the log {log} says why")
    return f"{count} events"
