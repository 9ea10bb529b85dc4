"""One run of a job, as the first day starts it, on answers as AWS gives them."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from infra.first_day import jobs
from infra.first_day.asking import Failed
from tests.first_day.conftest import Aws, a_day, resource


def ask(aws: Aws) -> str:
    return jobs.one_job_runs(a_day(account=aws.account), aws.account)


SCHEDULED = {
    "ApplicationId": "app1",
    "ClientToken": "<aws.scheduler.execution-id>",
    "ExecutionRoleArn": "arn:aws:iam::111122223333:role/scrub",
    "Name": "scrub",
    "JobDriver": {
        "SparkSubmit": {
            "EntryPoint": "s3://assets/entry.py",
            "EntryPointArguments": ["scrub", "--out", "s3://lake/reports/scrub/<aws.scheduler.execution-id>"],
        }
    },
}
STARTED = {
    "applicationId": "app1",
    "clientToken": "first-day-0a1b2c3d",
    "executionRoleArn": SCHEDULED["ExecutionRoleArn"],
    "name": "scrub",
    "jobDriver": {
        "sparkSubmit": {
            "entryPoint": "s3://assets/entry.py",
            "entryPointArguments": ["scrub", "--out", "s3://lake/reports/scrub/first-day-0a1b2c3d"],
        }
    },
}


def a_run(state: str) -> dict[str, Any]:
    now = datetime.now(UTC)
    return {
        "jobRun": {
            "applicationId": "app1",
            "jobRunId": "run1",
            "arn": "arn:aws:emr-serverless:us-east-1:111122223333:/applications/app1/jobruns/run1",
            "createdBy": "me-and-my-role-in-this-account",
            "createdAt": now,
            "updatedAt": now,
            "executionRole": SCHEDULED["ExecutionRoleArn"],
            "state": state,
            "stateDetails": "out of luck",
            "releaseLabel": "emr-spark-8.0.0",
            "jobDriver": STARTED["jobDriver"],
            "totalExecutionDurationSeconds": 95,
        }
    }


def job(aws: Aws, *states: str, stream: str = "applications/app1/jobs/run1/SPARK_DRIVER/stdout") -> None:
    aws.says("cloudformation", "list_stack_resources", resource("AWS::EMRServerless::Application", "app1"))
    aws.says("cloudformation", "list_stack_resources", resource("AWS::Scheduler::Schedule", "scrub-schedule"))
    target = {"Arn": "arn", "RoleArn": "arn", "Input": json.dumps(SCHEDULED)}
    aws.says("scheduler", "get_schedule", {"Target": target}, {"Name": "scrub-schedule"})
    answer = {"applicationId": "app1", "jobRunId": "run1", "arn": a_run("PENDING")["jobRun"]["arn"]}
    aws.says("emr-serverless", "start_job_run", answer, STARTED)
    for state in states:
        aws.says("emr-serverless", "get_job_run", a_run(state))
    now = datetime.now(UTC)
    logging = {"cloudWatchLoggingConfiguration": {"enabled": True, "logGroupName": "/sigla/jobs"}}
    application = {
        "applicationId": "app1",
        "arn": "arn:aws:emr-serverless:us-east-1:111122223333:/applications/app1",
        "releaseLabel": "emr-spark-8.0.0",
        "type": "SPARK",
        "state": "STARTED",
        "createdAt": now,
        "updatedAt": now,
        "monitoringConfiguration": logging,
    }
    aws.says("emr-serverless", "get_application", {"application": application})
    for _ in range(1 + int(jobs.LOG_S / 5)):
        aws.says("logs", "describe_log_streams", {"logStreams": [{"logStreamName": stream}]})


def test_a_job_is_started_as_its_schedule_starts_it(aws: Aws) -> None:
    """With a place of its own for its report, and a token that no other run has."""
    job(aws, "PENDING", "RUNNING", "SUCCESS")
    assert ask(aws) == "95 s, and its log is in /sigla/jobs"


def test_a_job_that_fails_is_told_with_its_reason(aws: Aws) -> None:
    job(aws, "RUNNING", "FAILED")
    with pytest.raises(Failed, match="run1 is FAILED: out of luck"):
        ask(aws)


def test_a_job_without_a_log_fails(aws: Aws) -> None:
    """What landing counts is counted from its lines: no log, no alarm."""
    job(aws, "SUCCESS", stream="applications/app1/jobs/another/SPARK_DRIVER/stdout")
    with pytest.raises(Failed, match="has written nothing to /sigla/jobs"):
        ask(aws)
