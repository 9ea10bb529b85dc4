"""What passes between the steps of a load comes out as it went in."""

from dataclasses import replace

import pytest

from sigla.journal.replay import Cleared, ConfigSet, ContextSet, Hidden, Put, TopicRecord, read
from sigla.model import Config, Metadata, Reference, Rule, RuleSet, SchemaId, Search, Subject, Target, Version
from sigla.upkeep.importing import Placed
from sigla_pipelines.load.frames import frozen, thawed

RULES = RuleSet(domain=(Rule("only", kind="CONDITION", tags=("PII",), params={"a": "b"}),))
WHOLE = TopicRecord(
    b'{"keytype": "SCHEMA", "subject": ":.eu:orders", "version": 3, "magic": 1}',
    b'{"subject": ":.eu:orders", "version": 3, "id": 42, "schemaType": "PROTOBUF", "schema": "syntax = \\"proto3\\";"}',
    1_700_000_000_000,
    7,
)


def whole() -> Put:
    put = read(WHOLE)
    assert isinstance(put, Put)
    metadata = Metadata({"**.ssn": ("PII",)}, {"owner": "€"}, ("owner",))
    used = Reference("other.proto", "other", Version(1))
    return replace(put, schema=replace(put.schema, references=(used,), metadata=metadata, rule_set=RULES))


@pytest.mark.parametrize(
    "value",
    [
        whole(),
        Placed(whole(), (Target(".eu", "other", Version(1), SchemaId(41)),), ("a digest",)),
        ConfigSet(8, Subject(".eu", "orders"), Config(level="FULL")),
        Hidden(9, Subject(".eu", "orders"), Version(3)),
        Cleared(10, Search(context=".eu")),
        ContextSet(11, ".eu", listed=True),
        None,
        "a text",
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_one_step_freezes_the_next_one_thaws(value: object) -> None:
    """Tasks of other processes go on with it, and write it into a registry."""
    assert thawed(frozen(value)) == value
