"""States beside histories: one row for each key, by Spark's own merges, in whatever order changes come."""

import gc
import json
import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import Phase, given, settings
from pyspark.sql import SparkSession

from sigla.model import Draft, Subject
from sigla.opening import embedded
from sigla.settings import Settings
from sigla_pipelines.land.driver import driver
from sigla_pipelines.land.job import run
from sigla_pipelines.land.report import Sum
from sigla_pipelines.land.settings import read_settings
from sigla_pipelines.land.sources import Stopping
from sigla_pipelines.land.upsert import StateTable
from tests.pipelines.land.changes import ROUNDS, Change, Delivery, deliveries, folded
from tests.pipelines.land.world import avro, framed, raw
from tests.pipelines.spark.state_rig import Histories

# PySpark leaves its sockets to the collector.
pytestmark = [pytest.mark.spark, pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")]


@pytest.fixture(autouse=True)
def _collected() -> Iterator[None]:
    """What PySpark leaves open is closed here, and not while another test runs."""
    yield
    gc.collect()


def drawn(count: int) -> list[Delivery]:
    """The same each time: a merge is too slow to shrink by."""
    found: list[Delivery] = []

    @settings(max_examples=count, derandomize=True, database=None, phases=[Phase.generate])
    @given(deliveries())
    def draw(delivery: Delivery) -> None:
        found.append(delivery)

    draw()
    return found


def test_a_state_is_the_fold_of_its_history_in_whatever_order_changes_come(
    tmp_path: Path, iceberg_spark: SparkSession
) -> None:
    """Records come late out of the quarantine, twice after a crash, and from another partition when a topic has grown.

    Many small histories at once, each with keys of its own.
    """
    several = drawn(300)
    with closing(Histories(tmp_path, iceberg_spark, StateTable("t"))) as rig:
        for number in range(ROUNDS):
            rig.append([(f"{which}/", change) for which, each in enumerate(several) for change in each.round(number)])
            rig.follow()
        found = rig.rows()
    expected = {
        f"{which}/{key}": (change.value, *change.identity)
        for which, each in enumerate(several)
        for key, change in folded(each.history).items()
    }
    wrong = {key for key in {*expected, *found} if expected.get(key) != found.get(key)}
    assert not wrong, [several[int(key.split("/")[0])] for key in sorted(wrong)[:3]]


PAGE = (Path(__file__).parents[3] / "docs" / "state.md").read_text()
ROW: dict[str, Any] = {
    "type": "record",
    "name": "Value",
    "fields": [{"name": "id", "type": "long"}, {"name": "status", "type": "string"}],
}
ENVELOPE: dict[str, Any] = {
    "type": "record",
    "name": "Envelope",
    "namespace": "shop.public.orders",
    "fields": [
        {"name": "before", "type": ["null", ROW], "default": None},
        {"name": "after", "type": ["null", "Value"], "default": None},
        {"name": "source", "type": {"type": "record", "name": "Source", "fields": [{"name": "lsn", "type": "long"}]}},
        {"name": "op", "type": "string"},
        {"name": "ts_ms", "type": ["null", "long"], "default": None},
    ],
}


def table_of(head: str) -> list[list[str]]:
    """The cells of the page's table that begins so."""
    lines = PAGE[PAGE.index(head) :].split("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def row_said(cell: str) -> dict[str, Any] | None:
    """`id 1, status `new`` as a row."""
    found = re.fullmatch(r"id (\d+), status `(\w+)`", cell)
    return {"id": int(found[1]), "status": found[2]} if found else None


def test_envelopes_of_debezium_become_rows_as_the_page_says(tmp_path: Path, iceberg_spark: SparkSession) -> None:
    """Its settings, its records, its two tables and its line of the report."""
    [said] = re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    (tmp_path / "land.yaml").write_text(said.replace("./", f"{tmp_path}/"))
    with embedded(Settings(default_level="NONE"), tmp_path / "data") as (registry, _):
        draft = Draft(text=json.dumps(ENVELOPE))
        id = int(registry.register(Subject(".", "shop.public.orders-value"), draft).id or 0)
    keys, values = [], []
    for key, op, before, after in table_of("| key | op |"):
        envelope = {"before": row_said(before), "after": row_said(after), "source": {"lsn": 1}, "op": op}
        values.append(framed(id, avro(ENVELOPE, envelope)) if len(op) == 1 else None)
        keys.append(key.encode())
    (tmp_path / "raw").mkdir()
    records = raw(values, "shop.public.orders", keys=keys)
    pq.write_table(pa.Table.from_batches([records]), tmp_path / "raw" / "1.parquet")
    total = Sum()
    with closing(driver(read_settings(tmp_path / "land.yaml"))) as opened:
        run(iceberg_spark, opened, total, Stopping())
        state = [row for batch in opened.sink.rows("orders_state") for row in batch.to_pylist()]
        history = [row for batch in opened.sink.rows("orders") for row in batch.to_pylist()]
    assert len(history) == len(values)
    found = [[str(row["id"]), row["status"], str(row["_sr_offset"])] for row in state]
    assert sorted(found) == table_of("| id | status |")
    facts = {each.table: each.facts() for each in total.states.values()}
    assert f'"states": {json.dumps(facts)}' in PAGE


def test_changes_that_all_say_no_key_are_left_out_and_land_all_the_same(
    tmp_path: Path, iceberg_spark: SparkSession
) -> None:
    """A topic whose producer sends no keys, or a minute of nothing but messages of Debezium: the job goes on."""
    changes = [("", Change(at, 0, at, key, key)) for at, key in enumerate("ab")]
    with closing(Histories(tmp_path, iceberg_spark, StateTable("t", keys=("note",)))) as rig:
        rig.append([(before, replace(change, value=None)) for before, change in changes])
        [done] = rig.follow()
        assert (done.changes, done.merged, done.deleted, done.left_out) == (2, 0, 0, 2)
        assert rig.rows() == {}
        assert rig.follow() == ()
