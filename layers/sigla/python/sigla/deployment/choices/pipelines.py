"""The settings `pipelines.…`: the jobs."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from sigla.deployment.choices.rules import BUCKET_EXPECTED, Rules, Together, is_bucket

DRIVER_VCPUS: Final = 2
EXECUTOR_VCPUS: Final = 4
"""The workers of a run: one driver, and as many executors as it has work for and `max_vcpus` leaves room for."""
LEAST_VCPUS: Final = DRIVER_VCPUS + EXECUTOR_VCPUS
GB_PER_VCPU: Final = 4
ARCHITECTURES: Final = ("arm64", "x86_64")

_ID_LISTS = {"subnets": "subnet", "security_groups": "sg"}
_SECRET = re.compile(r"|arn:aws[a-z-]*:secretsmanager:[a-z0-9-]+:[0-9]{12}:secret:[A-Za-z0-9/_+=.@-]+")
_SCHEDULE = re.compile(r"(|rate\([1-9]\d* (minute|hour|day)s?\)|cron\([^()]+\))")


@dataclass(frozen=True, slots=True)
class Pipelines:
    """The jobs that land records and look after the registry, on EMR Serverless.

    enabled: have them at all.
    lake_bucket: a bucket that is there. Tables are below tables/, what jobs remember below work/, what they report
        below reports/; files of raw records are read below raw/.
    land: land.yaml, as a path on the deployer's machine; empty: nothing is landed.
    glue_database: the database of the Glue Data Catalog in which landing makes tables, `sink.namespace` in land.yaml;
        empty: none, as where tables are plain Parquet or another catalog has them.
    hash_secret: the ARN of the secret with the key of hashed columns, `hash_key: secret:ARN` in land.yaml; empty: none.
    jars: a folder there with the connectors to Kafka; empty: files are landed.
    architecture: of the processors, arm64 or x86_64; an hour of the latter costs a quarter more.
    native: have the extension that decodes Avro and Protobuf in the archive: its wheel for the architecture is in dist/
        of the clone.
    release: of EMR. The default is one with long-term support, until September 2029.
    max_vcpus: what all runs together may have at a time; each comes with 4 GB. A run begins with a driver of 2 and one
        executor of 4.
    idle_minutes: without a run, until nothing is kept ready.
    land_schedule, maintain_schedule, audit_schedule, scrub_schedule: when a run begins, as EventBridge writes it;
        empty: never by itself.
    audit_for_usage: have the audit look through what is landed, and leave what it finds for `sigla usage`.
    subnets, security_groups: of the network that Kafka is in, separated by commas.
    bad_ratio: the share of records in the quarantine that a person has to look into, over an hour.
    """

    enabled: bool = False
    lake_bucket: str = ""
    land: str = ""
    glue_database: str = "sigla"
    hash_secret: str = ""
    jars: str = ""
    architecture: str = "arm64"
    native: bool = False
    release: str = "emr-spark-8.1.0"
    max_vcpus: int = 16
    idle_minutes: int = 5
    land_schedule: str = "rate(1 hour)"
    maintain_schedule: str = ""
    audit_schedule: str = ""
    audit_for_usage: bool = False
    scrub_schedule: str = "rate(7 days)"
    subnets: str = ""
    security_groups: str = ""
    bad_ratio: float = 0.05

    @property
    def max_executors(self) -> int:
        """The executors of a run, beside its driver."""
        return (self.max_vcpus - DRIVER_VCPUS) // EXECUTOR_VCPUS


def _are_ids(kind: str) -> Callable[[str], object]:
    return lambda value: re.fullmatch(rf"({kind}-[0-9a-f]+(,|$))*", value.replace(" ", ""))


RULES: Rules = {
    "lake_bucket": (is_bucket, BUCKET_EXPECTED),
    "glue_database": (
        lambda value: re.fullmatch("[a-z0-9_]{0,255}", value),
        "it must be a name of lower-case letters, digits and _, or empty",
    ),
    "hash_secret": (_SECRET.fullmatch, "it must be the ARN of a secret in Secrets Manager, or empty"),
    "architecture": (lambda value: value in ARCHITECTURES, f"it must be {' or '.join(ARCHITECTURES)}"),
    "release": (lambda value: re.fullmatch(r"emr-[a-z0-9.-]+", value), "it must be a release label of EMR"),
    "max_vcpus": (
        lambda value: LEAST_VCPUS <= value <= 4_000,
        f"it must be {LEAST_VCPUS} to 4000: a run has a driver of {DRIVER_VCPUS} and an executor of {EXECUTOR_VCPUS}",
    ),
    "idle_minutes": (lambda value: 1 <= value <= 10_080, "it must be 1 to 10080"),
    "bad_ratio": (lambda value: 0 < value <= 1, "it must be more than 0 and at most 1"),
    **{
        f"{job}_schedule": (_SCHEDULE.fullmatch, "it must be rate(…) or cron(…), or empty")
        for job in ("land", "maintain", "audit", "scrub")
    },
    **{
        f"{name}": (_are_ids(kind), f"it must be ids such as {kind}-0123abcd, separated by commas, or empty")
        for name, kind in _ID_LISTS.items()
    },
}

TOGETHER: Together = (
    (lambda given: given.lake_bucket or not given.enabled, "pipelines.enabled needs pipelines.lake_bucket."),
    (
        lambda given: given.land or not given.maintain_schedule,
        "pipelines.maintain_schedule needs pipelines.land, which says whose tables are maintained.",
    ),
    (
        lambda given: given.land or not given.audit_for_usage,
        "pipelines.audit_for_usage needs pipelines.land, which says where records are landed.",
    ),
    (
        lambda given: bool(given.subnets) == bool(given.security_groups),
        "pipelines.subnets and pipelines.security_groups go together: give both or neither.",
    ),
)
