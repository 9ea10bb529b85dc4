"""docs/topics.md: settings can be read, and names are those that tables get."""

import re
from pathlib import Path

import yaml

from sigla_pipelines.land.manifest import Manifests
from sigla_pipelines.land.names import Names
from sigla_pipelines.land.settings import KafkaPart, parse_landing
from sigla_pipelines.places import open_place

PAGE = (Path(__file__).parents[2] / "docs" / "topics.md").read_text()
LEAST = {"registry": {"data": "d"}, "sink": {"lake": "l"}, "work": "w"}


def test_the_patterns_that_are_shown_bind_what_the_page_says() -> None:
    [shown] = re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    form = LEAST | {"source": {"kind": "kafka", "brokers": "b"}} | yaml.safe_load(shown)
    topics = ["shop.paid", "shop.tmp", "shop.paid.dlq", "cdc.eu.orders"]
    found = parse_landing(yaml.safe_dump(form), "land.yaml").bound.bindings(topics)
    assert [(each.topic, each.part, each.table) for each in found if each.part == "value"] == [
        ("shop.orders", "value", "orders"),
        ("cdc.eu.orders", "value", "eu_orders"),
        ("shop.paid", "value", "raw.shop.paid.{record}"),
    ]
    assert [each.topic for each in found if each.part == "key"] == ["cdc.eu.orders"]


def test_every_beginning_that_is_shown_can_be_said() -> None:
    starts = re.findall(r"^\| `([^`]+)` \| (?:with|each)", PAGE, re.MULTILINE)
    assert len(starts) == 4
    for start in starts:
        form = yaml.safe_dump(LEAST | {"bind": [{"topic": "orders"}]})
        text = f"{form}\nsource: {{kind: kafka, brokers: b, start: {start}}}\n"
        assert isinstance(parse_landing(text, "land.yaml").source, KafkaPart)


def test_tables_are_called_as_the_page_says(tmp_path: Path) -> None:
    work = open_place(tmp_path)
    asked = ["avro.datagen-orders", "events.shop.Paid", "a.b", "a-b"]
    for table, name in Names(work, Manifests(work), lambda _: False).of(asked).items():
        assert f"`{name}`" in PAGE
        assert f"`{table}`" in PAGE
