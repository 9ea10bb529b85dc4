"""Tokens in AWS: one function that reads the keys of issuers, what it may do, and who reads them; else nothing."""

import json
from typing import Any

import pytest

from infra import prices
from sigla.deployment.choices.issuers import LONGEST
from sigla.deployment.settings import InvalidSetting, Settings
from sigla.deployment.stage_files import read
from tests.infra.conftest import IDENTITY, Synthesise
from tests.infra.reading import Template, all_in, ids_in, mentioned, of
from tests.infra.test_grants import FOUND_AND_TOLD, allowed
from tests.infra.test_zone_costs import row, rows

PART = "Issuers"
FUNCTION = "AWS::Lambda::Function"
ROW = {"when": {"groups": "data-eng"}, "role": "writer", "subjects": ["orders-"]}
ISSUER = {"issuer": "https://id.example", "audience": "sigla", "map": [ROW]}
SETTING = json.dumps([ISSUER])


@pytest.fixture(scope="module")
def stack(synthesise: Synthesise) -> Template:
    """A registry with an issuer, beside a zone."""
    return synthesise(IDENTITY, ("issuers", SETTING), ("zones", "use1-az1"))


def variables(template: Template, part: str) -> dict[str, Any]:
    return dict(of(template, part, FUNCTION)["Environment"]["Variables"])


def test_without_the_setting_a_stack_is_what_it_was(template: Template, zones: Template, all_on: Template) -> None:
    """A registry without tokens costs what it did, and nothing of it may do more than before."""
    for each in (template, zones, all_on):
        text = json.dumps(each)
        assert not [word for word in ("Issuers", "ISSUERS", "/issuers/") if word in text]


def test_it_is_in_no_network_and_its_clock_comes_every_five_minutes(stack: Template) -> None:
    """It has to reach the internet, which zones do not. What fails is not repeated: the clock comes."""
    function = of(stack, PART, FUNCTION)
    assert "VpcConfig" not in function
    assert function["Timeout"] == 60
    retried = of(stack, PART, "AWS::Lambda::EventInvokeConfig")
    assert (retried["MaximumRetryAttempts"], retried["MaximumEventAgeInSeconds"]) == (0, 300)
    rule = of(stack, PART, "AWS::Events::Rule")
    assert (rule["ScheduleExpression"], rule["State"]) == ("rate(5 minutes)", "ENABLED")
    (target,) = rule["Targets"]
    assert mentioned(target["Arn"]) == set(ids_in(stack, PART, FUNCTION))


def test_it_writes_the_keys_of_issuers_and_nothing_else(stack: Template) -> None:
    """Whoever takes over an issuer, or the function, changes no schema, no key and no row."""
    assert set(allowed(stack, PART)) == {
        *FOUND_AND_TOLD,
        ("dynamodb:BatchGetItem", "table"),
        ("s3:GetObject", "bucket/default/identity.json"),
        ("s3:GetObject", "bucket/default/issuers/*"),
        ("s3:PutObject", "bucket/default/issuers/*"),
    }


def test_every_function_of_the_registry_reads_them_and_none_of_them_writes_them(stack: Template) -> None:
    """Also in a zone, which has no way to an issuer."""
    for part in ("Service", "ZoneUse1Az1Service"):
        assert {action for action, place in allowed(stack, part) if "issuers" in place} == {"s3:GetObject"}
        assert variables(stack, part)["SIGLA_ISSUERS"] == SETTING
    assert variables(stack, PART)["SIGLA_ISSUERS"] == SETTING
    assert not [place for _, place in allowed(stack, "Journal") if "issuers" in place]


def test_an_issuer_that_cannot_be_read_rings_in_the_morning(stack: Template) -> None:
    """What stands in the bucket is believed for a day."""
    (alarm,) = all_in(stack, "WatchIssuers", "AWS::CloudWatch::Alarm")
    assert (alarm["MetricName"], alarm["DatapointsToAlarm"], alarm["EvaluationPeriods"]) == ("Errors", 6, 12)
    assert alarm["TreatMissingData"] == "notBreaching"


def test_a_stage_file_may_write_issuers_as_tables(tmp_path: Any) -> None:
    """As TOML has lists of tables; or as the JSON that the server takes."""
    stage = tmp_path / "prod.toml"
    stage.write_text(
        '[[issuers]]\nissuer = "https://id.example"\naudience = "sigla"\n'
        'map = [{when = {groups = "data-eng"}, role = "writer", subjects = ["orders-"]}]\n'
    )
    assert json.loads(read(stage)["issuers"]) == [ISSUER]
    stage.write_text(f"issuers = '{SETTING}'\n")
    assert json.loads(Settings.read(read(stage)).issuers) == [ISSUER]


@pytest.mark.parametrize(
    "issuers, why",
    [
        ("{", "issuers: It is not JSON"),
        (json.dumps([{**ISSUER, "jwks": "keys.json"}]), "issuers: jwks must be a URL with https://"),
        (json.dumps([{**ISSUER, "map": [ROW] * 100}]), f"{LONGEST} fit into the variables of a function"),
        (json.dumps([{**ISSUER, "map": [{**ROW, "role": "root"}]}]), "row 1 of map: Unknown role 'root'"),
    ],
)
def test_a_mistake_is_told_before_anything_is_deployed(issuers: str, why: str) -> None:
    """In the words of the registry, which would refuse to start."""
    with pytest.raises(InvalidSetting) as wrong:
        Settings.read({"issuers": issuers})
    assert why in str(wrong.value)


def test_tokens_and_an_open_registry_exclude_each_other() -> None:
    with pytest.raises(InvalidSetting, match="auth=none opens the registry to every caller"):
        Settings.read({"issuers": SETTING, "auth": "none"})


def test_the_page_shows_what_tokens_cost(stack: Template) -> None:
    function = {name: each for name, each in stack["Resources"].items() if name.startswith(("Issuers", "WatchIssuers"))}
    parts = {item.what: item.dollars for item in prices.idle({"Resources": function})}
    assert rows("| tokens, a month |") == [row(what, month) for what, month in parts.items()]
