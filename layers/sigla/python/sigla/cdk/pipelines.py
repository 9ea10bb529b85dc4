"""The jobs on EMR Serverless: an application that is there while something runs, a role and a schedule for each job.

Part of the registry's stack where `pipelines.enabled` says so; of two stacks one could not change what the other uses.
Landing reads the registry's bodies and rows and writes a lake, upkeep rewrites that and reads nothing of the registry;
auditing and scrubbing read all and write reports; with `pipelines.audit_for_usage` an audit leaves beside the registry
what it found in data. None changes the registry: that is a person's `sigla scrub --fix`.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from aws_cdk import Aws, Duration, Stack
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_emrserverless as emr
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_s3_assets as assets
from aws_cdk import aws_scheduler as scheduler
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from sigla import keys
from sigla.cdk.jobs import REPORTS, Job, jobs_of
from sigla.cdk.parts.alarms import WatchedMetric, set_alarms
from sigla.cdk.parts.checklist import acknowledge
from sigla.cdk.parts.functions import allow, use_of_the_key
from sigla.cdk.parts.glue import tables_of
from sigla.cdk.parts.logs import log_group
from sigla.cdk.parts.notes import notes
from sigla.cdk.parts.recipients import Recipients
from sigla.cdk.service import Grants
from sigla.cdk.storage import Storage
from sigla.deployment import pipeline_package
from sigla.deployment.choices.pipelines import DRIVER_VCPUS, EXECUTOR_VCPUS, GB_PER_VCPU
from sigla.deployment.choices.rules import listed
from sigla.deployment.packages import Package, built
from sigla.deployment.settings import Settings
from sigla.deployment.sources import JOBS as SOURCES

QUEUED: Final = Duration.hours(1)
"""How long a run waits for the one before it, which it would only disturb."""
STARTING: Final = Duration.minutes(15)
STARTING_RETRIES: Final = 3
"""How long, and how often again, a schedule tries to start a run; by itself it would for a day, beside later runs."""
HOUR: Final = Duration.hours(1)
LOGGING: Final = ("logs:CreateLogGroup", "logs:CreateLogStream", "logs:DescribeLogStreams", "logs:PutLogEvents")
BESIDE: Final = "packages"
"""The folder in which each worker finds the packages."""

ICEBERG: Final = "/usr/share/aws/iceberg/lib/iceberg-spark3-runtime.jar"
"""Iceberg's runtime in the image of every release, with what it needs for S3 and Glue. It merges states and maintains
tables. Source: Amazon EMR Serverless User Guide, "Using Apache Iceberg with EMR Serverless".
"""


class Pipelines(Construct):
    """placed: where packages lie, built if need be. storage: the registry's. recipients: of what its alarms say."""

    def __init__(
        self,
        scope: Construct,
        name: str,
        *,
        settings: Settings,
        storage: Storage,
        recipients: Recipients,
        placed: Callable[[Package], Path] = built,
    ) -> None:
        super().__init__(scope, name)
        self.settings, self.storage = settings, storage
        self.chosen = settings.pipelines
        self.lake = s3.Bucket.from_bucket_name(self, "Lake", self.chosen.lake_bucket)
        self.log = log_group(self, "Log", settings)
        self.entry = assets.Asset(self, "Entry", path=str(SOURCES / "__main__.py"))
        self.code = self._package("Code", placed(pipeline_package.code()))
        packages = pipeline_package.packages(self.chosen.architecture, native=self.chosen.native)
        self.packages = self._package("Packages", placed(packages))
        self.land = assets.Asset(self, "Landing", path=self.chosen.land) if self.chosen.land else None
        self.jars = [assets.Asset(self, f"Jar{path.stem}", path=str(path)) for path in self._jar_files()]
        self.application = self._application()
        self.failed = self._failed()
        for job in jobs_of(audit_for_usage=self.chosen.audit_for_usage):
            if job.reports or self.land:
                self._job(job)
        if settings.watch.alarms:
            set_alarms(self, self._watched(), recipients=recipients, about=f"the jobs of {settings.registry_name}")

    # --- what runs ---------------------------------------------------------------------------------------------------

    def _application(self) -> emr.CfnApplication:
        subnets, groups = listed(self.chosen.subnets), listed(self.chosen.security_groups)
        return emr.CfnApplication(
            self,
            "Application",
            name=f"{self.settings.stack_name}-jobs",
            release_label=self.chosen.release,
            type="SPARK",
            architecture=self.chosen.architecture.upper(),
            maximum_capacity=emr.CfnApplication.MaximumAllowedResourcesProperty(
                cpu=f"{self.chosen.max_vcpus} vCPU",
                memory=f"{self.chosen.max_vcpus * GB_PER_VCPU} GB",
            ),
            auto_start_configuration=emr.CfnApplication.AutoStartConfigurationProperty(enabled=True),
            auto_stop_configuration=emr.CfnApplication.AutoStopConfigurationProperty(
                enabled=True, idle_timeout_minutes=self.chosen.idle_minutes
            ),
            # Two drivers of one job do no harm, and no good: the second waits for the first.
            scheduler_configuration=emr.CfnApplication.SchedulerConfigurationProperty(
                max_concurrent_runs=1, queue_timeout_minutes=QUEUED.to_minutes()
            ),
            network_configuration=emr.CfnApplication.NetworkConfigurationProperty(
                subnet_ids=list(subnets), security_group_ids=list(groups)
            )
            if subnets
            else None,
            monitoring_configuration=emr.CfnApplication.MonitoringConfigurationProperty(
                cloud_watch_logging_configuration=emr.CfnApplication.CloudWatchLoggingConfigurationProperty(
                    enabled=True,
                    log_group_name=self.log.log_group_name,
                    log_type_map=[
                        emr.CfnApplication.LogTypeMapKeyValuePairProperty(
                            key="SPARK_DRIVER", value=["STDOUT", "STDERR"]
                        )
                    ],
                )
            ),
        )

    def _job(self, job: Job) -> None:
        """Its role, and, where settings say when, its schedule."""
        role = iam.Role(
            self,
            f"{job.name.title()}Role",
            description=f"What the job {job.name} may do",
            assumed_by=iam.ServicePrincipal(
                "emr-serverless.amazonaws.com", conditions={"StringEquals": {"aws:SourceAccount": Aws.ACCOUNT_ID}}
            ),
        )
        for statement in self.grants(job):
            role.add_to_policy(statement)
            for resource in statement.resources:
                if "*" in resource:
                    acknowledge(role, "IAM5", _SOME_LOGS if resource == self.all_logs else _SOME, resource=resource)
        when = getattr(self.chosen, f"{job.name}_schedule")
        if when:
            self._schedule(job, role, when)

    def _schedule(self, job: Job, role: iam.Role, when: str) -> None:
        starter = iam.Role(
            self,
            f"{job.name.title()}Starter",
            description=f"Starts the job {job.name}",
            assumed_by=iam.ServicePrincipal(
                "scheduler.amazonaws.com", conditions={"StringEquals": {"aws:SourceAccount": Aws.ACCOUNT_ID}}
            ),
        )
        passed = {"StringLike": {"iam:PassedToService": "emr-serverless.amazonaws.com"}}
        for statement in (
            allow("Starting", "emr-serverless:StartJobRun", on=[self.application.attr_arn]),
            allow("InItsRole", "iam:PassRole", on=[role.role_arn], when=passed),
            allow("GivingUp", "sqs:SendMessage", on=[self.failed.queue_arn]),
            *use_of_the_key(self.settings),
        ):
            starter.add_to_policy(statement)
        scheduler.CfnSchedule(
            self,
            f"{job.name.title()}Schedule",
            description=f"When the job {job.name} begins",
            schedule_expression=when,
            flexible_time_window=scheduler.CfnSchedule.FlexibleTimeWindowProperty(mode="OFF"),
            target=scheduler.CfnSchedule.TargetProperty(
                arn=f"arn:{Aws.PARTITION}:scheduler:::aws-sdk:emrserverless:startJobRun",
                role_arn=starter.role_arn,
                input=Stack.of(self).to_json_string(self.run(job, role.role_arn)),
                retry_policy=scheduler.CfnSchedule.RetryPolicyProperty(
                    maximum_event_age_in_seconds=STARTING.to_seconds(), maximum_retry_attempts=STARTING_RETRIES
                ),
                dead_letter_config=scheduler.CfnSchedule.DeadLetterConfigProperty(arn=self.failed.queue_arn),
            ),
        )

    def run(self, job: Job, role: str) -> dict[str, Any]:
        """The request that starts one. Scheduler puts the number of its invocation where it is named."""
        invocation = "<aws.scheduler.execution-id>"
        return {
            "ApplicationId": self.application.attr_application_id,
            "ClientToken": invocation,
            "ExecutionRoleArn": role,
            "Name": job.name,
            "JobDriver": {
                "SparkSubmit": {
                    "EntryPoint": self.entry.s3_object_url,
                    "EntryPointArguments": [job.name, *self._arguments(job, invocation)],
                    "SparkSubmitParameters": " ".join(f"{word} {value}" for word, value in self._submitted(job)),
                }
            },
        }

    def _arguments(self, job: Job, invocation: str) -> list[str]:
        if self.land and not job.reports:
            return [self.land.s3_object_url, *job.words]
        place = f"s3://{self.lake.bucket_name}/{REPORTS}/{job.name}/{invocation}"
        bucket, table = self.storage.bucket.bucket_name, self.storage.table.table_name
        registry = self.settings.registry_name
        told = ["--land", self.land.s3_object_url, "--for-usage"] if self.land and job.tells else []
        return ["--bucket", bucket, "--table", table, "--registry", registry, "--out", place, *told]

    def _submitted(self, job: Job) -> list[tuple[str, str]]:
        conf = {
            **{
                f"spark.{where}": f"python{pipeline_package.PYTHON}"
                for where in (
                    "emr-serverless.driverEnv.PYSPARK_DRIVER_PYTHON",
                    "emr-serverless.driverEnv.PYSPARK_PYTHON",
                    "executorEnv.PYSPARK_PYTHON",
                )
            },
            "spark.emr-serverless.driverEnv.PYTHONPATH": f"./{BESIDE}",
            "spark.executorEnv.PYTHONPATH": f"./{BESIDE}",
            **_sizes("driver", DRIVER_VCPUS),
            **_sizes("executor", EXECUTOR_VCPUS),
            # A run begins with one executor and has more while tasks wait; out of the box it begins with three.
            "spark.executor.instances": "1",
            "spark.dynamicAllocation.initialExecutors": "1",
            "spark.dynamicAllocation.maxExecutors": str(self.chosen.max_executors),
        }
        if jars := self._jars(job):
            conf["spark.jars"] = ",".join(jars)
        return [
            ("--py-files", self.code.s3_object_url),
            ("--archives", f"{self.packages.s3_object_url}#{BESIDE}"),
            *(("--conf", f"{name}={value}") for name, value in conf.items()),
        ]

    def _jars(self, job: Job) -> list[str]:
        """Those of the settings, and Iceberg's where they bring none."""
        brought = any(path.name.startswith("iceberg-spark-runtime") for path in self._jar_files())
        own = [ICEBERG] if job.tables and not brought else []
        return [*(jar.s3_object_url for jar in self.jars), *own]

    def _jar_files(self) -> list[Path]:
        return sorted(Path(self.chosen.jars).glob("*.jar")) if self.chosen.jars else []

    def _package(self, name: str, folder: Path) -> assets.Asset:
        return assets.Asset(self, name, path=str(folder))

    # --- what each may do --------------------------------------------------------------------------------------------

    def grants(self, job: Job) -> list[iam.PolicyStatement]:
        """All of it, on one screen."""
        bodies, table, registry = self.storage.bucket, self.storage.table, self.settings.registry_name
        found_in_data = [bodies.arn_for_objects(keys.audit_object(registry))] if job.tells else []
        kinds = ["schemas", "guids", *(["journal"] if job.journal else [])]
        uploaded = [self.entry, self.code, self.packages, *self.jars, *([self.land] if self.land else [])]
        objects = [bodies.arn_for_objects(f"{registry}/{kind}/*") for kind in kinds]
        partitions = [f"{registry}#*"]
        if job.journal:
            objects.append(bodies.arn_for_objects(f"{registry}/identity.json"))
            partitions.append(registry)
        own = {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": partitions}}
        found = {"StringLikeIfExists": {"s3:prefix": [f"{registry}/*"]}}
        theirs = {
            "StringLikeIfExists": {"s3:prefix": [f"{prefix}/*" for prefix in dict.fromkeys(job.reads + job.writes)]}
        }
        of_the_registry = [
            allow("Bodies", "s3:GetObject", on=objects),
            allow("FindingBodies", "s3:ListBucket", on=[bodies.bucket_arn], when=found),
            allow("Rows", "dynamodb:BatchGetItem", "dynamodb:Query", on=[table.table_arn], when=own),
        ]
        return [
            *(of_the_registry if job.registry else []),
            *([allow("Found", "s3:GetObject", "s3:PutObject", on=found_in_data)] if found_in_data else []),
            *use_of_the_key(self.settings),  # of the lake, too
            allow("Reading", "s3:GetObject", on=self._below(*job.reads)),
            allow("Writing", "s3:PutObject", "s3:AbortMultipartUpload", on=self._below(*job.writes)),
            allow("Forgetting", "s3:DeleteObject", on=self._below(*job.forgets)),
            allow("Finding", "s3:ListBucket", on=[self.lake.bucket_arn], when=theirs),
            allow(
                "Packages",
                "s3:GetObject",
                on=[each.bucket.arn_for_objects(each.s3_object_key) for each in uploaded],
            ),
            *(tables_of(self.chosen.glue_database, *job.tables) if job.tables else []),
            *self.credentials_listed(job),
            *self.hash_key(job),
            *self.logged(),
        ]

    def credentials_listed(self, job: Job) -> list[iam.PolicyStatement]:
        """Whoever compares all that is stored sees which credentials of exporters are kept; they stay encrypted.

        Systems Manager asks for the path itself as well as for what is below it.
        """
        if not (job.journal and self.settings.exporters):
            return []
        below = Grants(self.settings, self.storage).credentials()
        return [allow("CredentialsListed", "ssm:GetParametersByPath", on=[below.removesuffix("/*"), below])]

    def hash_key(self, job: Job) -> list[iam.PolicyStatement]:
        """Whoever lands hashed columns reads their key."""
        wanted = job.hashes and self.chosen.hash_secret
        return [allow("HashKey", "secretsmanager:GetSecretValue", on=[self.chosen.hash_secret])] if wanted else []

    def logged(self) -> list[iam.PolicyStatement]:
        """What EMR Serverless does in the job's role to write its log, which needs all of these.

        CloudWatch Logs asks who may look for log groups on no group of a name, but on all of the account: a statement
        about one group never matches. What is seen there is names. Source: Amazon EMR Serverless User Guide, "Storing
        logs", "Amazon CloudWatch".
        """
        return [
            allow("Log", *LOGGING, on=[self.log.log_group_arn]),
            allow("FindingTheLog", "logs:DescribeLogGroups", on=[self.all_logs]),
        ]

    @property
    def all_logs(self) -> str:
        return f"arn:{Aws.PARTITION}:logs:{Aws.REGION}:{Aws.ACCOUNT_ID}:log-group:*"

    def _below(self, *prefixes: str) -> list[str]:
        return [self.lake.arn_for_objects(f"{prefix}/*") for prefix in prefixes]

    # --- who looks after them ----------------------------------------------------------------------------------------

    def _failed(self) -> sqs.Queue:
        """Runs that failed, and those that could not be started, are noted there."""
        queue = notes(self, "Failed")
        events.Rule(
            self,
            "Failing",
            description="Runs of the jobs that failed",
            event_pattern=events.EventPattern(
                source=["aws.emr-serverless"],
                detail_type=["EMR Serverless Job Run State Change"],
                detail={"applicationId": [self.application.attr_application_id], "state": ["FAILED", "CANCELLED"]},
            ),
            targets=[targets.SqsQueue(queue)],
        )
        return queue

    def _watched(self) -> list[WatchedMetric]:
        read, quarantined = self._told("read"), self._told("quarantined")
        ratio = cloudwatch.MathExpression(
            expression="IF(read > 0, quarantined / read, 0)",
            using_metrics={"read": read, "quarantined": quarantined},
            period=HOUR,
            label="the share of records in the quarantine",
        )
        return [
            WatchedMetric(
                "FailedRuns",
                self.failed.metric_number_of_messages_sent(period=HOUR, statistic="Sum"),
                1,
                1,
                "a job failed or could not be started. The queue names the run, the run's log has the reason. Nothing "
                "is lost: the next run lands what this one has not.",
            ),
            WatchedMetric(
                "BadRatio",
                ratio,
                self.chosen.bad_ratio,
                1,
                "a larger share of records than pipelines.bad_ratio cannot be read. The quarantine has the reason of "
                "each.",
            ),
        ]

    def _told(self, figure: str) -> cloudwatch.IMetric:
        """A figure of the lines that landing writes for each batch."""
        return self.log.add_metric_filter(
            figure.title(),
            filter_pattern=logs.FilterPattern.number_value(f"$.{figure}", ">=", 0),
            metric_namespace=f"Sigla/{self.settings.stack_name}",
            metric_name=f"land_{figure}",
            metric_value=f"$.{figure}",
        ).metric(statistic="Sum", period=HOUR)


def _sizes(worker: str, vcpus: int) -> dict[str, str]:
    """The size of a driver or an executor. Half of its memory is for Python, where records are decoded.

    Spark calls that half the overhead, and out of the box leaves it a tenth.
    """
    half = f"{vcpus * GB_PER_VCPU // 2}g"
    return {
        f"spark.{worker}.cores": str(vcpus),
        f"spark.{worker}.memory": half,
        f"spark.{worker}.memoryOverhead": half,
    }


_SOME = "Objects below a prefix, parameters of one registry, or tables of one database."
_SOME_LOGS = (
    "Writing to CloudWatch Logs needs the permission to list the account's log groups, which shows their names."
)
