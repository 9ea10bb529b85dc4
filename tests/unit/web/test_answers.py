import pytest

from sigla.model import (
    BodyKey,
    Config,
    Entity,
    Guid,
    Metadata,
    Record,
    Reference,
    Rule,
    RuleSet,
    Schema,
    SchemaId,
    Subject,
    Tagged,
    Version,
)
from sigla.web.api.wire import answers

SCHEMA = Schema("AVRO", '"int"')
FULL = Record(
    Schema(
        "AVRO",
        '"int"',
        (Reference("n", "s", Version(2)),),
        Metadata({"b": ("z", "a"), "a": ("t",)}, {"k": "v"}, ("k",)),
        RuleSet(domain=(Rule("r", type="CEL", tags=("b", "a"), params={"z": "1", "a": "2"}),), enable_at="ALL"),
    ),
    Guid("g"),
    Subject(".c", "s"),
    Version(1),
    SchemaId(7),
    1000,
    deleted=False,
    tags=(Tagged(Entity("R.f", "sr_field"), ("PII",)),),
    max_id=SchemaId(9),
    aliases=(Subject(".", "a"),),
)


def test_a_version_shows_all_there_is_to_say() -> None:
    """§1.6, Schema entity: in the reference's order, sets and maps sorted."""
    shown = answers.entity(FULL)
    assert list(shown) == [
        "subject",
        "version",
        "id",
        "guid",
        "schemaType",
        "references",
        "metadata",
        "ruleSet",
        "schema",
        "schemaTags",
        "ts",
        "deleted",
        "aliases",
    ]
    assert shown["subject"] == ":.c:s"
    assert shown["metadata"] == {"tags": {"a": ["t"], "b": ["a", "z"]}, "properties": {"k": "v"}, "sensitive": ["k"]}
    assert shown["ruleSet"] == {
        "domainRules": [
            {
                "name": "r",
                "kind": "TRANSFORM",
                "mode": "WRITEREAD",
                "type": "CEL",
                "tags": ["a", "b"],
                "params": {"a": "2", "z": "1"},
                "disabled": False,
            }
        ],
        "enableAt": "ALL",
    }
    assert shown["schemaTags"] == [{"schemaEntity": {"entityPath": "R.f", "entityType": "sr_field"}, "tags": ["PII"]}]


def test_an_answer_by_id_does_not_repeat_the_id() -> None:
    """§1.6, Schema-by-id."""
    assert list(answers.by_id(FULL)) == [
        "subject",
        "version",
        "guid",
        "schemaType",
        "schema",
        "references",
        "metadata",
        "ruleSet",
        "schemaTags",
        "maxId",
        "ts",
        "deleted",
    ]


def test_a_registration_shows_what_was_registered() -> None:
    """§4.5: a fresh one has neither a time nor a mark."""
    assert answers.registration(Record(SCHEMA, Guid("g"), Subject(".", "s"), Version(1), SchemaId(7))) == {
        "id": 7,
        "version": 1,
        "guid": "g",
        "schemaType": "AVRO",
        "schema": '"int"',
    }


@pytest.mark.parametrize("text", ["", None])
def test_what_has_nothing_to_say_is_left_out(text: str | None) -> None:
    """§1.6, omit-empty; zero and false do say something."""
    shown = answers.entity(Record(Schema("AVRO", text or ""), id=SchemaId(0), deleted=False, tags=()))
    assert shown == {"id": 0, "schemaType": "AVRO", "deleted": False}


def test_metadata_with_nothing_in_it_is_shown() -> None:
    """§1.6: it changes what is inherited, so it must be seen."""
    schema = Schema("AVRO", "s", metadata=Metadata(), rule_set=RuleSet())
    shown = answers.by_id(Record(schema))
    assert (shown["metadata"], shown["ruleSet"]) == ({}, {})


CONFIG = Config(
    alias="a",
    normalize=False,
    level="FULL",
    group="",
    default_metadata=Metadata(properties={"k": "v"}),
    override_rule_set=RuleSet(),
)


def test_config_is_shown_without_what_is_empty() -> None:
    """§1.6, Config."""
    assert answers.config(CONFIG) == {
        "alias": "a",
        "normalize": False,
        "compatibilityLevel": "FULL",
        "defaultMetadata": {"properties": {"k": "v"}},
        "overrideRuleSet": {},
    }


def test_a_put_calls_the_level_by_its_own_name() -> None:
    """CFG-3: the whole entry, in the field names of a PUT."""
    assert list(answers.config_update(CONFIG, {})) == [
        "alias",
        "normalize",
        "compatibility",
        "defaultMetadata",
        "overrideRuleSet",
    ]


def test_an_empty_text_is_shown_to_the_request_that_sent_it() -> None:
    """Recorded: the next request does not see it any more."""
    assert answers.config_update(Config(group=""), {"group": ""}) == {"compatibilityGroup": ""}
    assert answers.config_update(Config(), {"group": ""}) == {"compatibilityGroup": ""}
    assert answers.config_update(Config(group=""), {"alias": None}) == {}


def test_small_answers_have_their_fields() -> None:
    """§1.6, §7.1."""
    assert answers.verdict([], verbose=False) == {"is_compatible": True}
    assert answers.verdict(["m"], verbose=True) == {"is_compatible": False, "messages": ["m"]}
    assert answers.mode(None) == {"mode": None}
    assert answers.subject_version((Subject(".c", "s"), Version(2))) == {"subject": ":.c:s", "version": 2}
    assert answers.context_id(BodyKey(".", SchemaId(3))) == {"context": ".", "id": 3}
