"""One run of a job on EMR Serverless: as its schedule starts it, awaited, with its log."""

import json
from typing import Any, Final

from infra.first_day.account import call, resources
from infra.first_day.asking import Failed, NotAsked
from infra.first_day.day import Account, Day

INVOCATION: Final = "<aws.scheduler.execution-id>"
"""Where Scheduler puts the number of its invocation."""
RUNS_S: Final = 1800
LOG_S: Final = 300
"""How long a run may take, and its log after it."""
ENDED: Final = ("SUCCESS", "FAILED", "CANCELLED")


def one_job_runs(day: Day, account: Account) -> str:
    """The scrub, which reads the registry and changes nothing of it. Its report goes to a place of its own."""
    if not resources(account, "AWS::EMRServerless::Application"):
        raise NotAsked("the stack has no jobs (pipelines.enabled)")
    if not day.job:
        raise NotAsked("because of --no-job")
    request = scheduled(account, "scrub").replace(INVOCATION, f"first-day-{day.run}")
    emr, facts = account.client("emr-serverless"), from_scheduler(json.loads(request))
    started = call(emr.start_job_run, **facts)
    where = {"applicationId": started["applicationId"], "jobRunId": started["jobRunId"]}

    def ended() -> dict[str, Any]:
        told: dict[str, Any] = call(emr.get_job_run, **where)["jobRun"]
        day.tell(f"job {where['jobRunId']}: {told['state']} …")
        return told if told["state"] in ENDED else {}

    done = day.until(ended, RUNS_S)
    if not done:
        raise Failed(f"{where['jobRunId']} is still running after {RUNS_S // 60} minutes")
    if done["state"] != "SUCCESS":
        raise Failed(f"{where['jobRunId']} is {done['state']}: {done.get('stateDetails', '')}")
    log = logged(day, account, where["applicationId"], where["jobRunId"])
    return f"{done.get('totalExecutionDurationSeconds', 0)} s, and its log is in {log}"


def scheduled(account: Account, job: str) -> str:
    """What the job's schedule sends, as JSON. Raises NotAsked where it has none."""
    for name in resources(account, "AWS::Scheduler::Schedule"):
        target = call(account.client("scheduler").get_schedule, Name=name)["Target"]
        if json.loads(target["Input"])["Name"] == job:
            return str(target["Input"])
    raise NotAsked(f"the job {job} has no schedule (pipelines.{job}_schedule)")


def from_scheduler(request: Any) -> Any:
    """Scheduler writes the names of a request's members with a capital, boto3 without."""
    if isinstance(request, dict):
        return {f"{name[0].lower()}{name[1:]}": from_scheduler(value) for name, value in request.items()}
    return [from_scheduler(each) for each in request] if isinstance(request, list) else request


def logged(day: Day, account: Account, application: str, run: str) -> str:
    """The log group in which the run has written. Raises Failed."""
    told = call(account.client("emr-serverless").get_application, applicationId=application)["application"]
    group = told["monitoringConfiguration"]["cloudWatchLoggingConfiguration"]["logGroupName"]
    logs = account.client("logs")

    def found() -> bool:
        streams = call(logs.describe_log_streams, logGroupName=group, orderBy="LastEventTime", descending=True)
        return any(run in stream["logStreamName"] for stream in streams["logStreams"])

    if not day.until(found, LOG_S):
        raise Failed(f"{run} succeeded, but has written nothing to {group}: check that its role may write logs")
    return str(group)
