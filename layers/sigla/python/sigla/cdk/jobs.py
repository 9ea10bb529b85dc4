"""Which jobs run on EMR Serverless, and what each of them reads, writes and is told."""

from dataclasses import dataclass, replace
from typing import Final

TABLES, WORK, REPORTS, RAW = "tables", "work", "reports", "raw"
"""What the lake's bucket holds, below these."""

MAKING: Final = ("glue:CreateDatabase", "glue:CreateTable")
COMMITTING: Final = ("glue:GetDatabase", "glue:GetTable", "glue:UpdateTable")
LISTING: Final = ("glue:GetTables",)
FINDING: Final = ("glue:GetDatabase", "glue:GetTable")
"""Actions on the Glue Data Catalog, without removing a table: a commit makes it or moves its pointer."""


@dataclass(frozen=True, slots=True)
class Job:
    """reads, writes: below which of the lake's prefixes. forgets: where it may delete.

    registry: it reads bodies and rows. journal: the journal, too, and whose table and bucket are. reports: it wants an
    empty place, a new one for each run; what does not is told by land.yaml. hashes: it reads the key of hashed columns.
    tables: what it does with tables in the Glue Data Catalog. words: on its command line, behind land.yaml. tells: it
    looks through what is landed, and puts what it found beside the registry.
    """

    name: str
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    forgets: tuple[str, ...] = ()
    registry: bool = True
    journal: bool = False
    reports: bool = False
    hashes: bool = False
    tables: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    tells: bool = False


JOBS: Final = (
    # Spark removes what it no longer needs of a checkpoint, and `gc` files that no manifest names.
    Job(
        "land",
        (RAW, TABLES, WORK),
        (TABLES, WORK),
        forgets=(TABLES, WORK),
        hashes=True,
        tables=(*MAKING, *COMMITTING),
        words=("--report", "json"),
    ),
    Job(
        "maintain",
        (TABLES, WORK),
        (TABLES,),
        forgets=(TABLES,),
        registry=False,
        tables=(*COMMITTING, *LISTING),
        words=("--json",),
    ),
    Job("audit", (RAW, TABLES, REPORTS), (REPORTS,), forgets=(REPORTS,), reports=True),
    Job("scrub", (REPORTS,), (REPORTS,), forgets=(REPORTS,), journal=True, reports=True),
)


def jobs_of(*, audit_for_usage: bool) -> tuple[Job, ...]:
    """JOBS, as settings have them."""
    return tuple(_telling(job) if audit_for_usage and job.name == "audit" else job for job in JOBS)


def _telling(job: Job) -> Job:
    """What is landed is said by the manifests of the work folder, and of Iceberg tables by the catalog."""
    return replace(job, reads=(*job.reads, WORK), tables=FINDING, tells=True)
