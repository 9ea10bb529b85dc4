import json
from typing import Any

import pytest

from sigla.model import Draft, Entity, Metadata, OfferedReference, Rule, RuleSet, Tagged, TagRequest
from sigla.web.api.wire import requests
from sigla.web.http.refusals import BadRequest, MissingBody


def draft(**sent: Any) -> Draft:
    return requests.read_draft(json.dumps(sent).encode(), "register")


def patch(sent: str) -> dict[str, object]:
    return requests.read_config_patch(sent.encode(), "updateTopLevelConfig")


def test_a_schema_alone_is_a_draft() -> None:
    """What nearly every producer sends."""
    assert draft(schema='"int"') == Draft('"int"')


def test_everything_a_client_can_say_of_a_schema_is_read() -> None:
    """§1.6: none of it may be dropped."""
    rule: dict[str, Any] = {
        "name": "r",
        "doc": "d",
        "kind": "CONDITION",
        "mode": "WRITE",
        "type": "CEL",
        "tags": ["b", "a"],
    }
    rule |= {"params": {"z": "1", "a": "2"}, "expr": "e", "onSuccess": "NONE", "onFailure": "ERROR", "disabled": "true"}
    tag = {"schemaEntity": {"entityPath": "R.f", "entityType": "sr_field"}, "tags": ["PII"]}
    read = draft(
        schema="s",
        schemaType="JSON",
        references=[{"name": "n", "subject": "s", "version": "-1", "unknown": 1}, {}],
        metadata={"tags": {"p": ["b", "a", "a"]}, "properties": {"k": 1}, "sensitive": ["k"]},
        ruleSet={"migrationRules": [rule], "domainRules": [{}], "encodingRules": None, "enableAt": "CLIENT"},
        version=3.9,
        id="7",
        schemaTagsToAdd=[tag],
        schemaTagsToRemove=[{"schemaEntity": tag["schemaEntity"]}],
        propagateSchemaTags=1,
        unknown={"deep": []},
    )
    entity = Entity("R.f", "sr_field")
    assert read == Draft(
        text="s",
        type="JSON",
        references=(OfferedReference("n", "s", -1), OfferedReference(None, None, None)),
        metadata=Metadata({"p": ("a", "b")}, {"k": "1"}, ("k",)),
        rule_set=RuleSet(
            migration=(
                Rule(
                    "r",
                    "d",
                    "CONDITION",
                    "WRITE",
                    "CEL",
                    ("a", "b"),
                    {"a": "2", "z": "1"},
                    "e",
                    "NONE",
                    "ERROR",
                    disabled=True,
                ),
            ),
            domain=(Rule(),),
            enable_at="CLIENT",
        ),
        version=3,
        id=7,
        tags_to_add=(Tagged(entity, ("PII",)),),
        tags_to_remove=(Tagged(entity, ()),),
        propagate_tags=True,
    )


def test_null_is_as_good_as_absent() -> None:
    """§1.3: clients that serialise every field send nulls."""
    names = ("schema", "schemaType", "references", "metadata", "ruleSet", "version", "id", "schemaTagsToAdd")
    assert draft(**dict.fromkeys(names)) == Draft(None)


def test_empty_metadata_is_not_absent() -> None:
    """REG-6: `{}` is the way to drop what would be inherited."""
    assert draft(schema="s", metadata={}).metadata == Metadata()
    assert draft(schema="s", ruleSet={}).rule_set == RuleSet()


@pytest.mark.parametrize(
    "sent",
    [
        {"schema": {}},
        {"references": {}},
        {"references": [None]},
        {"references": ["x"]},
        {"references": [{"version": "latest"}]},
        {"metadata": []},
        {"metadata": {"properties": {"k": None}}},
        {"metadata": {"tags": {"p": "x"}}},
        {"ruleSet": {"domainRules": [None]}},
        {"ruleSet": {"domainRules": [{"kind": "X"}]}},
        {"ruleSet": {"enableAt": "nowhere"}},
        {"schemaTagsToAdd": [{"tags": ["PII"]}]},
        {"schemaTagsToAdd": [None]},
        {"schemaTagsToAdd": [{"schemaEntity": {"entityPath": "p"}}]},
        {"schemaTagsToAdd": [{"schemaEntity": {"entityPath": "p", "entityType": "x"}}]},
        {"version": 2**40},
    ],
)
def test_wrong_shapes_are_refused(sent: dict[str, Any]) -> None:
    """§1.3: nothing a client sends is an error of ours."""
    with pytest.raises(BadRequest):
        draft(**sent)


def test_a_tag_request_is_read() -> None:
    """TAG-1 to TAG-5."""
    sent = {"newVersion": 2, "tagsToAdd": [], "metadata": {}, "rulesToMerge": {}, "rulesToRemove": ["a"]}
    read = requests.read_tag_request(json.dumps(sent).encode(), "modifyTags")
    assert read == TagRequest(2, metadata=Metadata(), rules_to_merge=RuleSet(), rules_to_remove=("a",))


def test_a_patch_tells_absent_from_null() -> None:
    """CFG-2: what is absent stays, what is null is cleared."""
    assert patch('{"alias":null,"normalize":"true","compatibility":3,"x":1}') == {
        "alias": None,
        "normalize": True,
        "level": "3",
    }


def test_the_level_has_its_own_name_in_a_put() -> None:
    """CFG-1: the name of GET is accepted and changes nothing."""
    assert patch('{"compatibilityLevel":"FULL"}') == {}


def test_metadata_and_rule_sets_of_a_patch_are_read() -> None:
    """CFG-2: they are replaced whole."""
    assert patch('{"defaultMetadata":{},"overrideRuleSet":null}') == {
        "default_metadata": Metadata(),
        "override_rule_set": None,
    }


@pytest.mark.parametrize(
    "sent, mode",
    [('{"mode":"readonly"}', "readonly"), ('{"mode":null}', None), ('{"mode":7}', "7"), ('{"mode":""}', "")],
)
def test_a_mode_is_read_as_it_is_spelled(sent: str, mode: str | None) -> None:
    """MODE-1: the answer repeats it."""
    assert requests.read_mode(sent.encode(), "updateMode") == mode


def test_a_mode_must_be_said() -> None:
    """MODE-2: the reference fails here."""
    with pytest.raises(BadRequest):
        requests.read_mode(b"{}", "updateMode")


def test_a_missing_body_names_the_operation() -> None:
    """§1.3."""
    with pytest.raises(MissingBody) as refused:
        requests.read_mode(b"", "updateMode")
    assert refused.value.message.startswith("updateMode.request")


@pytest.mark.parametrize("body", [b"", b"null", b"{}", b'{"a":"b","c":null}'])
def test_the_root_takes_an_object_of_strings_or_nothing(body: bytes) -> None:
    """§2.3."""
    requests.check_root(body)


@pytest.mark.parametrize("body", [b"[]", b'{"a":{}}', b"x"])
def test_the_root_takes_nothing_else(body: bytes) -> None:
    """§2.3."""
    with pytest.raises(BadRequest):
        requests.check_root(body)
