"""A lake with two tables and a quarantine, landed by the product itself, and the file that says how."""

import json
from collections.abc import Sequence
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from typing import Any

import yaml

from sigla.model import Draft, Subject
from sigla.opening import embedded
from sigla.settings import Settings
from sigla_pipelines.__main__ import main as started
from sigla_pipelines.land.batch import Batch
from sigla_pipelines.land.driver import driver
from sigla_pipelines.land.landed import Landed
from sigla_pipelines.land.manifest import Entry
from sigla_pipelines.land.settings import parse_landing
from sigla_pipelines.land.task import Task
from tests.pipelines.land.world import avro, framed, raw

ADDRESS = {"type": "record", "name": "Address", "fields": [{"name": "zip", "type": "string"}]}
ORDER = {
    "type": "record",
    "name": "Order",
    "fields": [
        {"name": "id", "type": "string", "doc": "As the shop calls it."},
        {"name": "amount", "type": {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}},
        {"name": "to", "type": ["null", ADDRESS], "default": None},
        {"name": "items", "type": {"type": "array", "items": "string"}},
    ],
}


class Died(Exception):
    """The driver did."""


class Lake:
    """A registry in a folder, and tables of what is landed. sink: of the settings."""

    def __init__(self, home: Path, **sink: Any) -> None:
        self.home = home
        self.batches = 0
        self.form: dict[str, Any] = {
            "registry": {"data": str(home / "data")},
            "source": {"kind": "files", "path": str(home / "raw")},
            "bind": [{"topic": "orders"}, {"topic": "shop.Refunds"}],
            "sink": {"lake": str(home / "lake")} | sink,
            "work": str(home / "work"),
        }
        self.config = home / "land.yaml"
        self.config.write_text(yaml.safe_dump(self.form))

    def register(self, schema: Any, subject: str = "orders-value", type: str = "AVRO") -> int:
        text = schema if isinstance(schema, str) else json.dumps(schema)
        with embedded(Settings(default_level="NONE"), self.home / "data") as (registry, _):
            return int(registry.register(Subject(".", subject), Draft(text=text, type=type)).id or 0)

    def land(self, values: Sequence[bytes | None], topic: str = "orders", *, dies: bool = False) -> None:
        """One batch. dies: the driver is killed when its files are written and nothing is decided."""
        batch = raw(values, topic, start=100 * self.batches)

        def tasks(task: Task) -> Sequence[Landed]:
            landed = [Landed.decoded(task.land([batch]).encoded())]
            if dies:
                raise Died
            return landed

        entry = Entry(str(self.batches), "", 0, len(values))
        with closing(driver(parse_landing(self.config.read_text(), "land.yaml"))) as job:
            job.land(Batch("q", self.batches, entries=(entry,)), tasks)
        self.batches += 1

    def two_tables(self) -> None:
        """Two batches of orders, with one bad record, and one of refunds, whose name no catalog takes as it is."""
        orders = self.register(ORDER)
        for number in range(2):
            value = {"id": f"a{number}", "amount": Decimal("0.12"), "to": {"zip": "1000"}, "items": ["x", "y"]}
            self.land([framed(orders, avro(ORDER, value)), b"bad"])
        refunds = self.register(
            {"type": "record", "name": "Refund", "fields": [{"name": "n", "type": "int"}]}, "shop.Refunds-value"
        )
        self.land([framed(refunds, b"\x02"), framed(refunds, b"\x04")], "shop.Refunds")


def command(monkeypatch: Any, *words: str) -> int:
    """`python -m sigla_pipelines tables …`."""
    monkeypatch.setattr("sys.argv", ["sigla_pipelines", "tables", *words])
    return started()
