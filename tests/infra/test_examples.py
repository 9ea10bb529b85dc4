"""The stage files in infra/examples, as they would be deployed."""

from typing import Any

import pytest

from tests.infra.conftest import EXAMPLES
from tests.infra.reading import Template, all_of, kinds


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
    assert examples["everything"]["Outputs"]["GivenStorage"]["Value"] == "bucket_name,table_name"
    assert "GivenStorage" not in examples["default"]["Outputs"]
