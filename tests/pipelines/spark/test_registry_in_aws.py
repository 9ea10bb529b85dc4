"""Audit and scrub of a registry in a table and a bucket, as their tasks see it: through an endpoint."""

from collections.abc import Iterator
from dataclasses import replace

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from sigla.settings import Address
from sigla_pipelines.audit import job as auditing
from sigla_pipelines.places import open_place
from sigla_pipelines.scrub import job as scrubbing
from tests.build import NOW
from tests.contract.aws import Account, account_of
from tests.contract.engines import BUCKET
from tests.pipelines.scrub.test_scrub import break_all
from tests.pipelines.spark.estate import in_s3
from tests.unit.registry.scrubbing import InAWS, in_aws

# PySpark leaves its sockets to the collector. Three jobs, each of many small ones: a minute.
pytestmark = [
    pytest.mark.spark,
    pytest.mark.soak,
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
]

LAKE = "lake"


@pytest.fixture
def account(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> Iterator[Account]:
    """For this process, and for Spark's workers."""
    with in_s3(LAKE, tables=True) as environ:
        for name, value in environ.items():
            monkeypatch.setitem(spark.sparkContext.environment, name, value)
        with account_of(environ["AWS_ENDPOINT_URL"]) as made:
            yield made


def test_a_registry_in_a_table_and_a_bucket_is_scrubbed_put_right_and_audited(
    account: Account, spark: SparkSession
) -> None:
    """Reports are in S3, too."""
    lake = open_place(f"s3://{LAKE}")
    with in_aws(account) as broken:
        assert isinstance(broken, InAWS)
        break_all(broken)
        address = Address.of(bucket=BUCKET, table=broken.table, registry=broken.registry)
        asked = scrubbing.ScrubRequest(address, lake.under("scrub"), fix=frozenset(["COUNTER_BEHIND"]), settle_s=0)
        found = scrubbing.scrub(spark, asked)
        kinds = [flaw.kind for flaw in found]
        # What the journal lacks is older than its rows are kept.
        assert set(kinds) == {
            "META_NO_OBJECT",
            "UNREADABLE_OBJECT",
            "OBJECT_NO_META",
            "COUNTER_BEHIND",
            "POINTER_MISSING",
        }
        table = pq.read_table(lake.path("scrub/tables/flaws"), filesystem=lake.filesystem)
        assert table.column("kind").to_pylist() == kinds
        assert [flaw.kind for flaw in scrubbing.put_right(asked, found)] == ["COUNTER_BEHIND"]
        left = scrubbing.scrub(spark, replace(asked, out=lake.under("again")))
        assert [flaw.kind for flaw in left] == [kind for kind in kinds if kind != "COUNTER_BEHIND"]

        summary = auditing.audit(spark, auditing.AuditRequest(address, lake.under("audit")), NOW)
        assert summary.amiss
        assert {line["id"] for line in summary.unreadable} >= {2, 3}
        assert b"order" in (lake.read("audit/index.html") or b"")
