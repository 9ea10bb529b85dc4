"""The jobs: what runs, when, as whom, and what each may do."""

import itertools
import json
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest

from infra import usage
from sigla.deployment import pipeline_package
from sigla.deployment.choices.pipelines import DRIVER_VCPUS, EXECUTOR_VCPUS, GB_PER_VCPU
from sigla.deployment.settings import InvalidSetting, Settings
from sigla.deployment.sources import ROOT
from sigla_pipelines.__main__ import JOBS as COMMANDS
from tests.infra.conftest import HASH_SECRET
from tests.infra.reading import Template, all_in, all_of, as_list, ids, kinds, of, only, written
from tests.pipelines.versions import VERSIONS


def test_without_leave_there_are_no_jobs(template: Template) -> None:
    """A deployer does not pay for what was not chosen."""
    assert not {kind for kind in kinds(template) if "EMR" in kind or "Scheduler" in kind}


def test_the_application_is_there_while_something_runs(jobs: Template) -> None:
    application = only(jobs, "AWS::EMRServerless::Application")
    assert (application["ReleaseLabel"], application["Type"]) == ("emr-spark-8.1.0", "SPARK")
    assert application["Architecture"] == "ARM64"
    assert application["MaximumCapacity"] == {"Cpu": "16 vCPU", "Memory": "64 GB"}
    assert "InitialCapacity" not in application
    assert application["AutoStopConfiguration"] == {"Enabled": True, "IdleTimeoutMinutes": 5}
    assert application["NetworkConfiguration"] == {
        "SubnetIds": ["subnet-0123abcd", "subnet-4567abcd"],
        "SecurityGroupIds": ["sg-89ab0123"],
    }


def test_a_run_waits_for_the_one_before_it(jobs: Template) -> None:
    from sigla.cdk.pipelines import QUEUED

    waiting = only(jobs, "AWS::EMRServerless::Application")["SchedulerConfiguration"]
    assert waiting == {"MaxConcurrentRuns": 1, "QueueTimeoutMinutes": QUEUED.to_minutes()}


def plain(value: Any) -> str:
    """With what is put in when it is deployed: names of accounts and regions, ids."""
    match value:
        case {"Fn::Sub": str(text)}:
            return text
        case {"Fn::Join": [between, parts]}:
            return str(between).join(map(plain, parts))
    return written(value)


def request(jobs: Template, job: str) -> dict[str, Any]:
    """What a schedule asks of EMR Serverless."""
    found = {plain(each["Target"]["Input"]): each for each in all_of(jobs, "AWS::Scheduler::Schedule")}
    ((text, schedule),) = [(text, each) for text, each in found.items() if json.loads(text)["Name"] == job]
    asked: dict[str, Any] = json.loads(text)
    return asked | {"when": schedule["ScheduleExpression"], "target": schedule["Target"]}


@pytest.mark.parametrize(
    "job, when",
    [
        *(("land", "rate(1 hour)"), ("maintain", "rate(1 day)")),
        *(("audit", "cron(0 5 ? * MON *)"), ("scrub", "rate(7 days)")),
    ],
)
def test_each_job_begins_when_settings_say(jobs: Template, job: str, when: str) -> None:
    """In its own role, and once for each time: a repeated request is the same run."""
    asked = request(jobs, job)
    assert asked["when"] == when
    assert written(asked["target"]["Arn"]).endswith(":scheduler:::aws-sdk:emrserverless:startJobRun")
    assert asked["ClientToken"] == "<aws.scheduler.execution-id>"
    assert job.title() in asked["ExecutionRoleArn"]
    submitted = asked["JobDriver"]["SparkSubmit"]
    assert submitted["EntryPoint"].endswith(".py")
    assert submitted["EntryPointArguments"][0] == job
    assert job in COMMANDS
    assert "spark.jars=s3://" in submitted["SparkSubmitParameters"]
    assert ".zip#packages" in submitted["SparkSubmitParameters"]


def test_a_schedule_does_not_try_to_start_a_run_beside_the_next(jobs: Template) -> None:
    """By itself it would try for a day, 185 times; what it gives up is in the queue, and rings."""
    for schedule in all_of(jobs, "AWS::Scheduler::Schedule"):
        assert schedule["Target"]["RetryPolicy"] == {"MaximumEventAgeInSeconds": 900, "MaximumRetryAttempts": 3}


def sparks(jobs: Template, job: str) -> dict[str, str]:
    """The properties that Spark is given."""
    words = request(jobs, job)["JobDriver"]["SparkSubmit"]["SparkSubmitParameters"].split()
    given = [value for word, value in itertools.pairwise(words) if word == "--conf"]
    return dict(each.split("=", 1) for each in given)


def gigabytes(given: dict[str, str], worker: str) -> int:
    return sum(int(given[f"spark.{worker}.{part}"].removesuffix("g")) for part in ("memory", "memoryOverhead"))


@pytest.mark.parametrize("job", ["land", "maintain", "audit", "scrub"])
def test_a_run_begins_with_the_workers_that_it_is_priced_with(jobs: Template, job: str) -> None:
    """Out of the box EMR Serverless begins with four workers of four processors: nearly three times as much."""
    given = sparks(jobs, job)
    cores = {worker: int(given[f"spark.{worker}.cores"]) for worker in ("driver", "executor")}
    assert given["spark.executor.instances"] == given["spark.dynamicAllocation.initialExecutors"] == "1"
    assert cores == {"driver": DRIVER_VCPUS, "executor": EXECUTOR_VCPUS}
    assert {worker: gigabytes(given, worker) for worker in cores} == {
        worker: GB_PER_VCPU * count for worker, count in cores.items()
    }
    assert usage.run(job) == pytest.approx(
        sum(cores.values()) * (usage.VCPU_HOUR + 4 * usage.GB_HOUR) * usage.RUN_MINUTES[job] / 60
    )


def test_a_run_never_asks_for_more_than_the_application_may_have(jobs: Template) -> None:
    """What EMR Serverless cannot start, it would go on asking for."""
    given = sparks(jobs, "land")
    most = int(given["spark.dynamicAllocation.maxExecutors"])
    limits = only(jobs, "AWS::EMRServerless::Application")["MaximumCapacity"]
    for each, needed in (
        ("Cpu", DRIVER_VCPUS + most * EXECUTOR_VCPUS),
        ("Memory", gigabytes(given, "driver") + most * gigabytes(given, "executor")),
    ):
        assert needed <= int(limits[each].split()[0])


@pytest.mark.parametrize("vcpus, executors", [(6, 1), (9, 1), (10, 2), (16, 3), (4_000, 999)])
def test_a_run_has_as_many_executors_as_there_is_room_for(vcpus: int, executors: int) -> None:
    assert Settings.read({"pipelines.max_vcpus": vcpus}).pipelines.max_executors == executors


def test_the_releases_python_is_the_one_that_packages_are_for(jobs: Template) -> None:
    """The default has long-term support; it has Python 3.11 and 3.13, and Spark 4.1.1, as tests have."""
    assert sparks(jobs, "land")["spark.executorEnv.PYSPARK_PYTHON"] == "python3.11"
    assert Settings().pipelines.release == "emr-spark-8.1.0"
    assert "4.1.1" in VERSIONS


def test_landing_is_told_its_settings_and_tells_figures(jobs: Template) -> None:
    _, settings, *words = request(jobs, "land")["JobDriver"]["SparkSubmit"]["EntryPointArguments"]
    assert settings.startswith("s3://")
    assert settings.endswith(".yaml")
    assert words == ["--report", "json"]
    filters = all_in(jobs, "Jobs", "AWS::Logs::MetricFilter")
    told = {each["MetricTransformations"][0]["MetricName"]: each["FilterPattern"] for each in filters}
    assert told == {"land_read": "{ $.read >= 0 }", "land_quarantined": "{ $.quarantined >= 0 }"}


def test_upkeep_is_told_whose_tables_it_keeps(jobs: Template) -> None:
    """Those that landing makes, by the same settings."""
    landing, upkeep = (
        request(jobs, job)["JobDriver"]["SparkSubmit"]["EntryPointArguments"] for job in ("land", "maintain")
    )
    assert upkeep == ["maintain", landing[1], "--json"]


def test_who_changes_tables_has_icebergs_jar(jobs: Template) -> None:
    """States are merged and tables maintained by Spark with Iceberg's runtime, which EMR's image has."""
    runtime = "/usr/share/aws/iceberg/lib/iceberg-spark3-runtime.jar"
    found = {job: sparks(jobs, job)["spark.jars"].split(",") for job in ("land", "maintain", "audit", "scrub")}
    assert {job: runtime in jars for job, jars in found.items()} == {
        "land": True,
        "maintain": True,
        "audit": False,
        "scrub": False,
    }
    assert all(any(jar.startswith("s3://") for jar in jars) for jars in found.values())


@pytest.mark.parametrize("job", ["audit", "scrub"])
def test_what_reports_finds_an_empty_place(jobs: Template, job: str) -> None:
    """A new one for each run."""
    words = request(jobs, job)["JobDriver"]["SparkSubmit"]["EntryPointArguments"]
    assert words[-2:] == ["--out", f"s3://the-lake/reports/{job}/<aws.scheduler.execution-id>"]


# --- what each may do ------------------------------------------------------------------------------------------------


def granted(jobs: Template, job: str) -> list[dict[str, Any]]:
    (name,) = [each for each in ids(jobs, "AWS::IAM::Policy") if f"{job.title()}Role" in each]
    statements: list[dict[str, Any]] = jobs["Resources"][name]["Properties"]["PolicyDocument"]["Statement"]
    return statements


def may(jobs: Template, job: str, action: str) -> set[str]:
    """On what."""
    return {
        written(resource)
        for each in granted(jobs, job)
        if action in as_list(each["Action"])
        for resource in as_list(each["Resource"])
    }


def places(resources: set[str]) -> set[str]:
    """The places in the lake."""
    return {each.partition("the-lake/")[2] for each in resources if "the-lake/" in each}


@pytest.mark.parametrize(
    "job, writes",
    [
        *(("land", {"tables/*", "work/*"}), ("maintain", {"tables/*"})),
        *(("audit", {"reports/*"}), ("scrub", {"reports/*"})),
    ],
)
def test_each_job_writes_below_its_own_prefixes_and_nothing_of_the_registry(
    jobs: Template, job: str, writes: set[str]
) -> None:
    written_to = may(jobs, job, "s3:PutObject")
    assert places(written_to) == writes
    assert len(written_to) == len(writes), "somewhere else than in the lake"
    assert places(may(jobs, job, "s3:DeleteObject")) <= writes
    for statement in granted(jobs, job):
        assert not {action for action in as_list(statement["Action"]) if action.startswith("dynamodb:")} - {
            "dynamodb:BatchGetItem",
            "dynamodb:Query",
        }
        assert "*" not in as_list(statement["Resource"])


def test_jobs_read_one_registry_and_what_they_need_of_the_lake(jobs: Template) -> None:
    landing = may(jobs, "land", "s3:GetObject")
    assert places(landing) == {"raw/*", "tables/*", "work/*"}
    assert {each.rpartition("/default/")[2] for each in landing if "/default/" in each} == {"schemas/*", "guids/*"}
    (rows,) = [each for each in granted(jobs, "land") if each["Sid"] == "Rows"]
    assert rows["Condition"] == {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": ["default#*"]}}
    scrubbing = may(jobs, "scrub", "s3:GetObject")
    kinds = {"schemas/*", "guids/*", "journal/*", "identity.json"}
    assert {each.rpartition("/default/")[2] for each in scrubbing if "/default/" in each} == kinds
    (rows,) = [each for each in granted(jobs, "scrub") if each["Sid"] == "Rows"]
    assert rows["Condition"] == {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": ["default#*", "default"]}}


def test_upkeep_reads_nothing_of_the_registry(jobs: Template) -> None:
    """It changes files and no records: what they mean does not matter."""
    assert not {each["Sid"] for each in granted(jobs, "maintain")} & {"Bodies", "FindingBodies", "Rows"}
    assert places(may(jobs, "maintain", "s3:GetObject")) == {"tables/*", "work/*"}


@pytest.mark.parametrize("job, makes", [("land", True), ("maintain", False)])
def test_the_tables_of_one_glue_database_are_changed_and_none_is_removed(jobs: Template, job: str, makes: bool) -> None:
    """The first example commits to Iceberg tables there, and upkeep finds them by listing it."""
    database = {"catalog", "database/sigla", "table/sigla/*"}
    assert {each.rpartition(":")[2] for each in may(jobs, job, "glue:UpdateTable")} == database
    assert bool(may(jobs, job, "glue:CreateTable")) == makes
    assert bool(may(jobs, job, "glue:GetTables")) != makes
    actions = {action for each in granted(jobs, job) for action in as_list(each["Action"])}
    assert not {each for each in actions if each.startswith("glue:Delete")}


@pytest.mark.parametrize("job", ["audit", "scrub"])
def test_who_reports_has_nothing_to_do_with_glue(jobs: Template, job: str) -> None:
    actions = {action for each in granted(jobs, job) for action in as_list(each["Action"])}
    assert not {each for each in actions if each.startswith("glue:")}


def test_landing_alone_reads_the_key_of_hashed_columns(jobs: Template) -> None:
    """Whoever has it can try which value has which hash."""
    assert may(jobs, "land", "secretsmanager:GetSecretValue") == {HASH_SECRET}
    for job in ("maintain", "audit", "scrub"):
        assert "HashKey" not in [each["Sid"] for each in granted(jobs, job)]


def test_who_starts_a_job_hands_it_its_role_and_nothing_else(jobs: Template) -> None:
    from sigla.cdk.jobs import JOBS

    for job in JOBS:
        (name,) = [each for each in ids(jobs, "AWS::IAM::Policy") if f"{job.name.title()}Starter" in each]
        statements = jobs["Resources"][name]["Properties"]["PolicyDocument"]["Statement"]
        assert [each["Action"] for each in statements] == [
            "emr-serverless:StartJobRun",
            "iam:PassRole",
            "sqs:SendMessage",
        ]
        assert f"{job.name.title()}Role" in written(statements[1]["Resource"])


# --- who looks after them --------------------------------------------------------------------------------------------


def test_a_run_that_failed_or_never_began_is_noted_and_rings(jobs: Template) -> None:
    queue = of(jobs, "Jobs", "AWS::SQS::Queue")
    assert queue["MessageRetentionPeriod"] == 14 * 86_400
    rule = of(jobs, "Jobs", "AWS::Events::Rule")
    assert rule["EventPattern"]["source"] == ["aws.emr-serverless"]
    assert rule["EventPattern"]["detail"]["state"] == ["FAILED", "CANCELLED"]
    for schedule in all_of(jobs, "AWS::Scheduler::Schedule"):
        assert "Failed" in written(schedule["Target"]["DeadLetterConfig"]["Arn"])
    alarms = {each["AlarmDescription"]: each for each in all_in(jobs, "Jobs", "AWS::CloudWatch::Alarm")}
    assert len(alarms) == 2
    assert all(each["AlarmActions"] for each in alarms.values())


def test_too_many_bad_records_ring(jobs: Template) -> None:
    (alarm,) = [each for each in all_in(jobs, "Jobs", "AWS::CloudWatch::Alarm") if "Metrics" in each]
    assert alarm["Threshold"] == 0.05
    assert {"IF(read > 0, quarantined / read, 0)"} == {
        each["Expression"] for each in alarm["Metrics"] if "Expression" in each
    }


# --- settings and packages -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "given, sentence",
    [
        ({"pipelines.enabled": "true"}, "pipelines.enabled needs pipelines.lake_bucket."),
        (
            {"pipelines.enabled": "true", "stage": "local"},
            "pipelines.enabled needs EMR Serverless, which LocalStack lacks: leave it off where stage is local.",
        ),
        (
            {"pipelines.audit_for_usage": "true"},
            "pipelines.audit_for_usage needs pipelines.land, which says where records are landed.",
        ),
        (
            {"pipelines.subnets": "subnet-1"},
            "pipelines.subnets and pipelines.security_groups go together: give both or neither.",
        ),
        (
            {"pipelines.glue_database": "Sigla"},
            "pipelines.glue_database is 'Sigla'; it must be a name of lower-case letters, digits and _, or empty.",
        ),
        (
            {"pipelines.hash_secret": "a key"},
            "pipelines.hash_secret is 'a key'; it must be the ARN of a secret in Secrets Manager, or empty.",
        ),
        ({"pipelines.release": "8"}, "pipelines.release is '8'; it must be a release label of EMR."),
        (
            {"pipelines.land_schedule": "hourly"},
            "pipelines.land_schedule is 'hourly'; it must be rate(…) or cron(…), or empty.",
        ),
        (
            {"pipelines.maintain_schedule": "rate(1 day)"},
            "pipelines.maintain_schedule needs pipelines.land, which says whose tables are maintained.",
        ),
        (
            {"pipelines.max_vcpus": "5"},
            "pipelines.max_vcpus is 5; it must be 6 to 4000: a run has a driver of 2 and an executor of 4.",
        ),
        ({"pipelines.bad_ratio": "0"}, "pipelines.bad_ratio is 0.0; it must be more than 0 and at most 1."),
        (
            {"pipelines.subnets": "mine", "pipelines.security_groups": "sg-1"},
            "pipelines.subnets is 'mine'; it must be ids such as subnet-0123abcd, separated by commas, or empty.",
        ),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(given: dict[str, str], sentence: str) -> None:
    with pytest.raises(InvalidSetting) as refused:
        Settings.read(given)
    assert str(refused.value) == sentence


def test_the_code_that_is_uploaded_is_what_the_jobs_import(tmp_path: Path) -> None:
    """Python reads it out of the zip; what begins the job is uploaded beside it."""
    package = pipeline_package.code()
    package.fill(tmp_path / "code")
    names = {
        path.relative_to(tmp_path / "code").as_posix() for path in (tmp_path / "code").rglob("*") if path.is_file()
    }
    assert {"sigla_pipelines/land/job.py", "sigla/model.py", "sigla/decoding/reasons.py"} <= names
    assert not {
        name for name in names if name.startswith(("sigla_pipelines/demo", "sigla_pipelines/__main__", "functions"))
    }
    with zipfile.ZipFile(tmp_path / "code.zip", "w") as archive:
        for name in names:
            archive.write(tmp_path / "code" / name, name)
    assert zipfile.Path(tmp_path / "code.zip", "sigla/model.py").exists()


def test_packages_are_those_of_the_extra_without_spark() -> None:
    """EMR brings Spark; the versions are locked, so that what was tested is what runs."""
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text())["dependency-groups"]
    wanted = groups["jobs"]
    extra = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]["pipelines"]
    apart = ("confluent-kafka", "sigla-registry-native")  # Spark has a client of its own; `pipelines.native` asks
    assert {each for each in extra if not each.startswith(apart)} <= set(wanted)
    assert not [each for each in wanted if each.startswith(("pyspark", "fastapi", "uvicorn"))]
    locked = pipeline_package.LOCK.read_text()
    for each in wanted:
        name = each.split(">")[0].split("[")[0].strip()
        assert f"\n{name}==" in locked
