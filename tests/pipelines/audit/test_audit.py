"""One registry with something of everything, audited by Spark: each table says what is so, and nothing else."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from sigla import cli
from sigla.settings import Address
from sigla_pipelines.audit import listing, tables, transform
from sigla_pipelines.audit.facts import FACTS
from sigla_pipelines.audit.job import AuditRequest, audit, text_for_people
from sigla_pipelines.audit.pairs import scope_of
from sigla_pipelines.audit.summary import Summary
from sigla_pipelines.audit.tables import NotEmpty
from sigla_pipelines.places import open_place
from tests.build import NOW
from tests.pipelines.audit.estate import Estate, framed, landed, quarantined, raw

# Spark leaves the socket of a result to the garbage collector.
pytestmark = [pytest.mark.spark, pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")]

FAR = 10**15
"""Milliseconds: a time of the year 35000, of which Kafka thinks nothing."""


class Audited:
    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self.estate = Estate(folder / "data")
        ids = self.estate.ids
        landed(folder / "lake/orders/data/a.parquet", [("orders", ids["orders 1"], 0), ("orders", ids["orders 1"], 5)])
        landed(folder / "lake/orders/data/b.parquet", [("orders", None, 9), ("more", ids["orders 1"], 1)])
        landed(folder / "lake/orders/data/d.parquet", [("far", ids["json"], FAR)])
        raw(folder / "lake/_quarantine/data/c.parquet", [framed(ids["users 2"]), b"\x07", None, framed(4711)])
        quarantined(folder / "lake/_quarantine/data/e.parquet", [framed(815), framed(815), framed(ids["users 2"])])
        self.out = folder / "audit"
        where = Address.of(data=str(self.estate.path))
        self.asked = AuditRequest(where, open_place(self.out), (open_place(folder / "lake"),), block=2, for_usage=True)
        self.summary: Summary = audit(spark, self.asked, NOW)

    def table(self, name: str) -> list[Mapping[str, Any]]:
        rows: list[Mapping[str, Any]] = pq.read_table(self.out / "tables" / name).to_pylist()
        return rows


@pytest.fixture(scope="module")
def audited(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Audited:
    """Its blocks are so small that the three versions of a subject take two of them."""
    return Audited(spark, tmp_path_factory.mktemp("audit"))


def test_versions_that_a_level_would_refuse_are_told_with_the_checkers_words(audited: Audited) -> None:
    """Both directions, by version; versions of different groups and deleted ones are not compared."""
    found = {(row["subject"], row["older"], row["newer"], row["direction"]) for row in audited.table("breaks")}
    assert found == {
        ("orders-value", 1, 2, "BACKWARD"),
        ("orders-value", 2, 3, "FORWARD"),
        ("users-value", 1, 2, "FORWARD"),
    }
    assert all(row["neighbours"] and row["messages"] for row in audited.table("breaks"))
    (broken,) = [row for row in audited.table("breaks") if row["direction"] == "BACKWARD"]
    assert "READER_FIELD_MISSING_DEFAULT_VALUE" in broken["messages"][0]


def test_one_level_alone_needs_no_more_than_its_own_pairs(spark: SparkSession, audited: Audited) -> None:
    """FORWARD: the older reads the newer, and only what is next to it."""
    scope = scope_of("FORWARD", block=2)
    versions = tables.read(spark, open_place(audited.out / "tables" / "versions"), listing.VERSIONS)
    known = tables.read(spark, open_place(audited.out / "tables" / "bodies"), FACTS)
    compared = transform.comparable(versions, known)
    failed = transform.failures_of(transform.blocks(compared, scope), audited.asked.address, scope)
    found = transform.breaks(compared, failed, scope).select("subject", "older", "newer", "direction").collect()
    assert {tuple(row) for row in found} == {
        ("orders-value", 2, 3, "FORWARD"),
        ("users-value", 1, 2, "FORWARD"),
    }


def test_each_level_is_counted(audited: Audited) -> None:
    counted = [(row["level"], row["broken_subjects"], row["broken_pairs"]) for row in audited.table("levels")]
    assert counted == [
        ("BACKWARD", 1, 1),
        ("BACKWARD_TRANSITIVE", 1, 1),
        ("FORWARD", 2, 2),
        ("FORWARD_TRANSITIVE", 2, 2),
        ("FULL", 2, 3),
        ("FULL_TRANSITIVE", 2, 3),
    ]


def test_ids_that_occur_say_where_and_when(audited: Audited) -> None:
    """Landed rows, and records that were quarantined; tombstones and damage name no id."""
    ids = audited.estate.ids
    seen = {row["id"]: row for row in audited.table("ids") if row["rows"]}
    assert {id: (row["rows"], row["topics"]) for id, row in seen.items()} == {
        ids["orders 1"]: (3, ["more", "orders"]),
        ids["users 2"]: (2, ["bad", "raw"]),
        4711: (1, ["raw"]),
        815: (2, ["bad"]),
        ids["json"]: (1, ["far"]),
    }
    assert seen[ids["orders 1"]]["last_seen"] == NOW + 5
    assert seen[4711]["status"] is None
    assert seen[ids["json"]]["last_seen"] == NOW + FAR


def test_bytes_in_the_quarantine_that_look_like_an_id_are_counted_apart(audited: Audited) -> None:
    """Any producer without a serializer writes some, every day: a status that is always 1 says nothing."""
    quarantined = {row["id"]: row["quarantined"] for row in audited.table("ids") if row["rows"]}
    assert {id: rows for id, rows in quarantined.items() if rows} == {815: 2, audited.estate.ids["users 2"]: 1}
    assert (audited.summary.counted["unknown"], audited.summary.counted["garbage"]) == (1, 1)
    assert [line["id"] for line in audited.summary.unknown] == [4711, 815]
    assert "unknown ids in the data: 1, in the quarantine alone: 1" in text_for_people(audited.summary, 1, "here")


def test_what_a_subject_s_own_level_refuses_comes_first(audited: Audited) -> None:
    """It went past the registry's check; what another level would refuse does not count as a fault yet."""
    first, *others = audited.summary.broken
    assert (first["subject"], first["level"], first["older"], first["newer"]) == ("orders-value", "BACKWARD", 1, 2)
    assert first["own"]
    assert [line["own"] for line in others] == [False]
    assert {row["direction"] for row in audited.table("breaks") if row["own"]} == {"BACKWARD"}


def test_ids_that_never_occur_are_told_unless_they_are_deleted(audited: Audited) -> None:
    never = {line["id"] for line in audited.summary.never}
    names = {name for name, id in audited.estate.ids.items() if id in never}
    assert "orders 2" in names
    assert not names & {"orders 1", "users 2", "old", "orphan"}


def test_schemas_in_several_subjects_are_equal_or_equivalent(audited: Audited) -> None:
    kinds: dict[str, set[str]] = {"EQUAL": set(), "EQUIVALENT": set()}
    for row in audited.table("duplicates"):
        kinds[row["kind"]].add(row["subject"])
    assert kinds == {"EQUAL": {"users-value", "copied-value"}, "EQUIVALENT": {"renamed-value", "spelt-value"}}


def test_what_cannot_be_read_is_told_with_its_reason(audited: Audited) -> None:
    ids = audited.estate.ids
    status = {row["id"]: row["status"] for row in audited.table("ids")}
    assert (status[ids["base"]], status[ids["uses"]]) == ("NO_BODY", "UNRESOLVED")
    assert {line["id"] for line in audited.summary.unreadable} == {ids["base"], ids["uses"]}
    (reference,) = audited.table("references")
    assert (reference["subject"], reference["target"], reference["problem"]) == ("uses-base", "base", "NO_BODY")


def test_bodies_that_no_version_points_to_are_told(audited: Audited) -> None:
    assert [line["id"] for line in audited.summary.orphans] == [audited.estate.ids["orphan"]]


def test_the_page_stands_alone(audited: Audited) -> None:
    """One file; what it shows is in it, and it loads nothing."""
    page = (audited.out / "index.html").read_text(encoding="utf-8")
    assert "orders-value" in page
    assert "READER_FIELD_MISSING_DEFAULT_VALUE" in page
    assert f"{NOW + FAR}" in page
    assert not [word for word in ("http://", "https://", "src=", "<link", "url(") if word in page]


def test_what_cannot_be_read_is_amiss(audited: Audited) -> None:
    assert audited.summary.amiss
    assert "cannot be read: 2 schemas, 1 references" in text_for_people(audited.summary, 1, "here")


def test_an_audit_is_never_written_over(spark: SparkSession, audited: Audited) -> None:
    with pytest.raises(NotEmpty, match="choose an empty folder or prefix"):
        audit(spark, audited.asked, NOW)


def test_what_is_found_in_topics_is_what_the_registry_tells_of_its_use(
    audited: Audited, capsys: pytest.CaptureFixture[str]
) -> None:
    """It tells of ids that versions have, with the last record of each topic, but no time that no calendar has."""
    ids = audited.estate.ids
    found = {(row["id"], row["topic"], row["rows"], row["last_seen"]) for row in audited.table("occurrences")}
    assert found == {
        (ids["orders 1"], "orders", 2, NOW + 5),
        (ids["orders 1"], "more", 1, NOW + 1),
        (ids["users 2"], "raw", 1, NOW),
        (ids["users 2"], "bad", 1, NOW),
        (ids["json"], "far", 1, NOW + FAR),
    }

    def told(subject: str) -> dict[str, Any]:
        assert cli.main(["usage", "--data", str(audited.estate.path), "--subject", subject, "--json"]) == 0
        form: dict[str, Any] = json.loads(capsys.readouterr().out)
        return form

    orders, counted = told("orders-value"), told("counted-value")
    assert orders["audit"]["places"] == [audited.asked.records[0].url]
    records = {version["id"]: version["records"] for version in orders["versions"]}
    assert [(each["topic"], each["rows"]) for each in records[ids["orders 1"]]] == [("more", 1), ("orders", 2)]
    assert records[ids["orders 2"]] == []
    assert counted["versions"][0]["records"] == [{"topic": "far", "rows": 1}]
