"""The stage files in infra/examples, as they would be deployed."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.infra.conftest import EXAMPLES
from tests.infra.reading import Template, all_of, ids, kinds

OPERATIONS = Path(__file__).parents[2] / "docs" / "operations.md"


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_is_a_stack_that_says_what_it_points_at(examples: dict[str, Template], name: str) -> None:
    """What is compared before the next deployment is what this one told."""
    outputs: dict[str, dict[str, Any]] = examples[name]["Outputs"]
    assert outputs["Identity"]["Value"] == "0" * 32
    assert {"RegistryName", "BucketName", "TableName"} <= outputs.keys()
    told = {
        each["Environment"]["Variables"]["SIGLA_REGISTRY_NAME"]
        for each in all_of(examples[name], "AWS::Lambda::Function")
    }
    assert told == {outputs["RegistryName"]["Value"]}


def test_each_example_has_what_it_is_called_after(examples: dict[str, Template]) -> None:
    caches = {name: sorted(kind for kind in kinds(examples[name]) if "ElastiCache" in kind) for name in EXAMPLES}
    assert "AWS::ElastiCache::ReplicationGroup" in caches["zones-valkey"]
    assert "AWS::ElastiCache::CacheCluster" in caches["zones-memcached"]
    assert caches["default"] == caches["pipelines"] == []
    assert any(name.startswith("ZonePrivateUrl") for name in examples["private"]["Outputs"])
    assert "AWS::EMRServerless::Application" in kinds(examples["pipelines"]) & kinds(examples["everything"])
    assert "RegionPeer" in examples["regions"]["Outputs"]
    assert examples["everything"]["Outputs"]["GivenStorage"]["Value"] == "bucket_name,table_name"
    assert "GivenStorage" not in examples["default"]["Outputs"]


def documented() -> Iterator[tuple[str, str]]:
    """Names of alarms as docs/operations.md has them, each with `page` or `note`: a name for each row, or several."""
    section = OPERATIONS.read_text(encoding="utf-8").partition("### Alarms\n")[2].partition("\n### ")[0]
    for names, level in re.findall(r"^\| ([^|]*`[^|]*) \| (page|note) \|", section, re.MULTILINE):
        yield from ((name, level) for name in re.findall(r"`([^`]+)`", names))


def shown(logical_id: str) -> str:
    """What a person reads in the name of an alarm that rings, without the stack's name and the figures at its end."""
    ((part, name),) = re.findall(r"^(Watch|Zone[A-Z]\w+?Az\d+|Jobs)(\w+)[0-9A-F]{8}$", logical_id)
    before = {"Watch": "", "Jobs": part}.get(part, "…")
    return f"{before}{name}"


def alarms(template: Template) -> dict[str, str]:
    """Names in the template by those that the page shows."""
    return {shown(name): name for name in ids(template, "AWS::CloudWatch::Alarm")}


def test_every_alarm_has_a_row_and_every_row_an_alarm(examples: dict[str, Template]) -> None:
    """Whoever is woken looks there for what to do. A zone's alarms are one row for all zones."""
    names = [name for name, _ in documented()]
    assert len(names) == len(set(names))
    assert set(names) == {name for template in examples.values() for name in alarms(template)}


def test_a_row_says_whether_its_alarm_pages(examples: dict[str, Template]) -> None:
    """Two examples have all of them together, and a topic for pages alone: with zones there is no second region."""
    made = {
        name: examples[each]["Resources"][alarm]["Properties"]
        for each in ("everything", "regions")
        for name, alarm in alarms(examples[each]).items()
    }
    assert dict(documented()) == {name: "page" if "AlarmActions" in each else "note" for name, each in made.items()}
