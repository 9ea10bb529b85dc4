"""`sigla scrub` for registries of millions: tasks read the bodies, Spark joins, the driver looks again.

    spark-submit pipelines/sigla_pipelines/scrub/job.py --bucket NAME --table NAME --out s3://…/scrub --export s3://…/AWSDynamoDB/…/data
    spark-submit pipelines/sigla_pipelines/scrub/job.py --data ./data --out ./scrub --fix COUNTER_BEHIND

Kinds of flaws, what finds them and what puts them right are those of `sigla.upkeep.flaws` and `.scrub`. 0: nothing
needs attention. 1: something does, or a store does not answer, as a sentence says. 2: misused.
"""

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from sigla import opening
from sigla.ports.store import Store
from sigla.settings import Address
from sigla.terminal.arguments import seconds_argument
from sigla.terminal.output import escape_unprintable
from sigla.upkeep import kept_exporters, kept_histories, kept_records
from sigla.upkeep.flaws import FIXABLE, KINDS, Flaw, Severity
from sigla.upkeep.mending import fix
from sigla.upkeep.scrub import GRACE_MS, SETTLE_S, confirmed, mark_facts, second_name_facts, told_facts, version_facts
from sigla_pipelines import spark as sessions
from sigla_pipelines.address import add_address_options, parse_address
from sigla_pipelines.audit import listing, tables
from sigla_pipelines.exit_status import exit_status_of
from sigla_pipelines.places import Place, open_place
from sigla_pipelines.progress import UNSEEN, Progress, show_progress
from sigla_pipelines.scrub import transform

NAME: Final = "sigla-scrub"
SETTINGS: Final = {"spark.sql.execution.arrow.maxRecordsPerBatch": "1000"}

FLAWS: Final = pa.schema(
    [
        pa.field("kind", pa.string()),
        pa.field("severity", pa.string()),
        pa.field("context", pa.string()),
        pa.field("id", pa.int64()),
        pa.field("subject", pa.string()),
        pa.field("version", pa.int32()),
        pa.field("sentence", pa.string()),
        pa.field("record", pa.string()),
    ]
)


@dataclass(frozen=True, slots=True)
class ScrubRequest:
    """export: of the registry's table; None: the catalog itself is listed, a query for each subject."""

    address: Address
    out: Place
    export: Place | None = None
    fix: frozenset[str] = frozenset()
    grace_ms: int = GRACE_MS
    settle_s: float = SETTLE_S


def scrub(spark: SparkSession, asked: ScrubRequest, progress: Progress = UNSEEN) -> list[Flaw]:
    """Writes the table of flaws, confirmed ones only. Raises NotEmpty, DataNotOpened."""
    tables.check_empty(asked.out)
    with opening.reading(asked.address) as held:
        suspects = transform.suspects(spark, _relations(spark, asked, held, progress))
        progress.step("looking again")
        found = list(confirmed(held, suspects, grace_ms=asked.grace_ms, settle_s=asked.settle_s))
    tables.stream(map(_flaw_row, found), FLAWS, asked.out.under("tables/flaws"))
    return found


def put_right(asked: ScrubRequest, found: Sequence[Flaw]) -> Iterator[Flaw]:
    """Those that were asked to be, each when it is. Raises DataNotOpened."""
    wanted = [flaw for flaw in found if flaw.kind in asked.fix]
    if wanted:
        with opening.writing(asked.address) as writing:
            yield from (flaw for flaw in wanted if fix(writing.store, flaw))


def _relations(spark: SparkSession, asked: ScrubRequest, held: Store, progress: Progress) -> dict[str, DataFrame]:
    """In the order of `sigla.upkeep.scrub.gather`, each read when it was written: bodies before the catalog."""
    written = _Streamed(spark, asked.out, progress)
    objects = written("objects", listing.objects(held.inventory), listing.OBJECTS)
    bodies = transform.bodies(objects, asked.address).persist()
    progress.step("bodies")
    bodies.count()
    pointers = ((guid, key.context, key.id) for guid, key in held.inventory.pointers())
    since = held.inventory.journal_kept_since()
    return {
        "body": bodies.drop("references"),
        "reference": bodies.selectExpr("inline(references)"),
        "pointer": written("pointer", pointers, transform.SCHEMAS["pointer"]),
        "version": written("version", version_facts(held), transform.SCHEMAS["version"])
        if asked.export is None
        else transform.exported_versions(spark, asked.export, asked.address.registry, since),
        "told": written("told", told_facts(held.journal), transform.SCHEMAS["told"]),
        "second": written("second", second_name_facts(held), transform.SCHEMAS["second"]),
        "mark": written("mark", mark_facts(held), transform.SCHEMAS["mark"]),
        "kept": written("kept", kept_records.kept_facts(held), transform.SCHEMAS["kept"]),
        "listed_dek": written("listed_dek", kept_records.listed_dek_facts(held), transform.SCHEMAS["listed_dek"]),
        "told_record": written(
            "told_record", kept_records.told_record_facts(held.journal), transform.SCHEMAS["told_record"]
        ),
        "credentials": written("credentials", kept_exporters.credentials_facts(held), transform.SCHEMAS["credentials"]),
        "exporter": written("exporter", kept_exporters.exporter_facts(held), transform.SCHEMAS["exporter"]),
        "history": written("history", kept_histories.history_facts(held), transform.SCHEMAS["history"]),
        "told_commit": written("told_commit", kept_histories.told_commit_facts(held), transform.SCHEMAS["told_commit"]),
    }


class _Streamed:
    """Lists of the driver as frames, by way of a table below a place."""

    def __init__(self, spark: SparkSession, out: Place, progress: Progress) -> None:
        self._spark = spark
        self._out = out
        self._progress = progress

    def __call__(self, name: str, rows: Iterator[tuple[Any, ...]], schema: tables.Schema) -> DataFrame:
        place = self._out.under(f"tables/{name}")
        self._progress.step(name)
        tables.stream(self._progress.counted(rows), schema, place)
        return tables.read(self._spark, place, schema).persist()


def _flaw_row(flaw: Flaw) -> tuple[Any, ...]:
    severity = KINDS[flaw.kind].severity.value
    return flaw.kind, severity, flaw.context, flaw.id, flaw.subject, flaw.version, flaw.sentence, flaw.record


# --- the command -----------------------------------------------------------------------------------------------------


def main(argv: Sequence[str]) -> int:
    escape_unprintable()
    return exit_status_of(
        lambda: _scrubbed(_parse_arguments(argv)), tables.OWN, again=tables.NOT_WHOLE, spark=sessions.gave_up
    )


def _scrubbed(asked: ScrubRequest) -> int:
    with sessions.running_session(os.environ, name=NAME, settings=SETTINGS) as spark, show_progress(spark) as progress:
        found = scrub(spark, asked, progress)
    fixed: list[Flaw] = []
    try:
        for flaw in put_right(asked, found):
            fixed.append(flaw)  # noqa: PERF402 - one by one: those before a failure were put right
    finally:
        sys.stdout.writelines(f"{line}\n" for line in text_for_people(found, fixed, asked.out.uri("tables/flaws")))
    return int(any(KINDS[flaw.kind].severity is not Severity.INFO for flaw in found if flaw not in fixed))


def text_for_people(found: Sequence[Flaw], fixed: Sequence[Flaw], where: str) -> Iterator[str]:
    for name, kind in KINDS.items():
        if count := sum(flaw.kind == name for flaw in found):
            right = sum(flaw.kind == name for flaw in fixed)
            yield f"{name}: {count:,} ({kind.severity.value}{f', {right:,} fixed' if right else ''})"
    yield f"flaws: {len(found):,}, fixed: {len(fixed):,}"
    yield f"table: {where}"


def _parse_arguments(argv: Sequence[str]) -> ScrubRequest:
    parser = argparse.ArgumentParser(
        prog="python -m sigla_pipelines scrub", description=(__doc__ or "").partition("\n")[0]
    )
    add_address_options(parser)
    parser.add_argument("--out", required=True, metavar="PLACE", help="an empty folder, or s3://…")
    parser.add_argument("--export", metavar="PLACE", help="the data of the table's export, as DYNAMODB_JSON")
    parser.add_argument("--fix", action="append", default=[], choices=FIXABLE, metavar="KIND", help=", ".join(FIXABLE))
    parser.add_argument(
        "--grace",
        type=seconds_argument,
        default=GRACE_MS / 1000,
        metavar="SECONDS",
        help="for young bodies and credentials",
    )
    parser.add_argument(
        "--settle", type=seconds_argument, default=SETTLE_S, metavar="SECONDS", help="for what a write may put right"
    )
    given = parser.parse_args(list(argv))
    return ScrubRequest(
        parse_address(parser, given),
        open_place(given.out),
        None if given.export is None else tables.filled(given.export, ".json.gz"),
        frozenset(given.fix),
        round(given.grace * 1000),
        given.settle,
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
