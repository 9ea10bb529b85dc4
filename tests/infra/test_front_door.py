"""The ways in: paths as they were sent, refusals in the contract's envelope, and no more than was asked for."""

import json
import re
from pathlib import Path

import botocore.session

from sigla.settings import Settings
from sigla.web.http import refusals
from tests.infra.reading import Template, all_of, ids, kinds, of, only, written

PAGE = Path(__file__).parents[2] / "docs" / "deploy.md"


def test_every_path_and_method_goes_to_the_registry(template: Template) -> None:
    """ANY on the root and on everything below, as a REST API: an HTTP API would decode what subjects are called."""
    api = only(template, "AWS::ApiGateway::RestApi")
    assert api["EndpointConfiguration"] == {"Types": ["REGIONAL"]}
    assert [each["PathPart"] for each in all_of(template, "AWS::ApiGateway::Resource")] == ["{proxy+}"]
    methods = all_of(template, "AWS::ApiGateway::Method")
    assert [each["HttpMethod"] for each in methods] == ["ANY", "ANY"]
    assert {each["Integration"]["Type"] for each in methods} == {"AWS_PROXY"}
    assert not [kind for kind in kinds(template) if kind.startswith("AWS::ApiGatewayV2")]


def test_bodies_pass_as_text_and_are_compressed(template: Template) -> None:
    """With a binary type requests would come in base64; small answers are compressed too (HTTP-10)."""
    api = only(template, "AWS::ApiGateway::RestApi")
    assert "BinaryMediaTypes" not in api
    assert api["MinimumCompressionSize"] == 0


# What can befall an API without authorizer, API keys and validators, on which every path and method is there.
POSSIBLE = {"ACCESS_DENIED", "API_CONFIGURATION_ERROR", "INTEGRATION_FAILURE", "INTEGRATION_TIMEOUT"}
POSSIBLE |= {"MISSING_AUTHENTICATION_TOKEN", "REQUEST_TOO_LARGE", "THROTTLED", "WAF_FILTERED"}


def test_whatever_the_gateway_answers_itself_is_in_the_contracts_envelope(every_template: list[Template]) -> None:
    """A client that parses `error_code` must not fall over a 429. The types are those that AWS's own model lists.

    Each is one more call of an interface that takes few a second: those that cannot occur are left to the defaults.
    """
    model = botocore.session.get_session().get_service_model("apigateway")
    known = set(model.shape_for("GatewayResponseType").enum)
    assert known >= POSSIBLE
    for template in every_template:
        given = {each["ResponseType"]: each for each in all_of(template, "AWS::ApiGateway::GatewayResponse")}
        defaults = {"DEFAULT_4XX", "DEFAULT_5XX"}
        assert defaults < given.keys() <= POSSIBLE | defaults
        for each in given.values():
            body = json.loads(each["ResponseTemplates"]["application/json"])
            assert body.keys() == {"error_code", "message"}
            assert body["message"]
            assert str(body["error_code"]) == each.get("StatusCode", str(body["error_code"]))


def test_who_finds_no_function_is_told_when_to_come_again(template: Template) -> None:
    """Lambda has no room, or wakes a version that slept: in a moment it is well, and clients try again."""
    given = {each["ResponseType"]: each for each in all_of(template, "AWS::ApiGateway::GatewayResponse")}
    told = {
        name: (each["StatusCode"], each["ResponseParameters"])
        for name, each in given.items()
        if "ResponseParameters" in each
    }
    assert told == {
        "INTEGRATION_FAILURE": ("503", {"gatewayresponse.header.Retry-After": "'5'"}),
        "THROTTLED": ("429", {"gatewayresponse.header.Retry-After": "'1'"}),
    }


def test_the_defaults_give_no_status(template: Template) -> None:
    """A default's status would be given to every answer of its kind that has none of its own."""
    for each in all_of(template, "AWS::ApiGateway::GatewayResponse"):
        assert ("StatusCode" in each) == (not each["ResponseType"].startswith("DEFAULT_"))


def test_what_the_registry_refuses_too_is_said_in_its_words(template: Template) -> None:
    """A client cannot tell, and need not care, who refused."""
    given = all_of(template, "AWS::ApiGateway::GatewayResponse")
    said = {each["ResponseType"]: json.loads(each["ResponseTemplates"]["application/json"]) for each in given}
    limit = Settings().request_bytes
    same = {
        "DEFAULT_5XX": refusals.Unexpected(),
        "REQUEST_TOO_LARGE": refusals.BodyTooLarge(limit=limit),
        "MISSING_AUTHENTICATION_TOKEN": refusals.NoSuchPath(),
    }
    assert {kind: said[kind] for kind in same} == {
        kind: {"error_code": refusal.code, "message": refusal.message} for kind, refusal in same.items()
    }


def test_the_deployment_waits_for_the_answers(template: Template) -> None:
    """A deployment is a picture of the API: what comes later is not in it."""
    (deployment,) = [each for each in template["Resources"].values() if each["Type"] == "AWS::ApiGateway::Deployment"]
    assert set(ids(template, "AWS::ApiGateway::GatewayResponse")) <= set(deployment["DependsOn"])


def test_the_stage_throttles_and_writes_who_asked(all_on: Template) -> None:
    """Limits for all clients together; facts about requests, never what they carry."""
    stage = only(all_on, "AWS::ApiGateway::Stage")
    (limits,) = stage["MethodSettings"]
    assert (limits["ThrottlingRateLimit"], limits["ThrottlingBurstLimit"]) == (500, 500)
    assert limits["DataTraceEnabled"] is limits["MetricsEnabled"] is False
    line = json.loads(stage["AccessLogSetting"]["Format"])
    assert "$context.requestId" in line.values()
    assert not [value for value in line.values() if "header" in value.lower() or "authorizer" in value.lower()]


def test_one_address_may_ask_so_often_where_a_setting_says_so(template: Template, all_on: Template) -> None:
    """A public door is paid for by the request, whichever client sends it.

    Counted in five minutes, and blocked at the stage.
    """
    assert "AWS::WAFv2::WebACL" not in kinds(template)
    (acl,) = ids(all_on, "AWS::WAFv2::WebACL")
    (rule,) = only(all_on, "AWS::WAFv2::WebACL")["Rules"]
    assert rule["Action"] == {"Block": {}}
    assert rule["Statement"]["RateBasedStatement"] == {
        "AggregateKeyType": "IP",
        "Limit": 20_000,
        "EvaluationWindowSec": 300,
    }
    joined = only(all_on, "AWS::WAFv2::WebACLAssociation")
    assert written(joined["WebACLArn"]) == f"<{acl}.Arn>"
    assert re.search(r"/restapis/<\w+>/stages/<\w+>$", written(joined["ResourceArn"]))


def test_no_firewall_keeps_what_requests_carry(all_on: Template) -> None:
    """Its samples would have headers, and so the secrets of keys."""
    acl = only(all_on, "AWS::WAFv2::WebACL")
    assert not [each for each in (acl, *acl["Rules"]) if each["VisibilityConfig"]["SampledRequestsEnabled"]]


def test_tracing_is_off_until_it_is_asked_for(template: Template, all_on: Template) -> None:
    assert only(template, "AWS::ApiGateway::Stage")["TracingEnabled"] is False
    assert "TracingConfig" not in of(template, "Service", "AWS::Lambda::Function")
    assert of(all_on, "Service", "AWS::Lambda::Function")["TracingConfig"] == {"Mode": "Active"}


def test_the_accounts_role_for_logs_is_left_alone_until_it_is_asked_for(
    template: Template, other: Template, all_on: Template
) -> None:
    """There is one for an account and region, and other APIs write by it. A log without one fails a deployment."""
    assert not kinds(template) & {"AWS::ApiGateway::Account"}
    assert "AccessLogSetting" not in only(template, "AWS::ApiGateway::Stage")
    assert "AWS::ApiGateway::Account" not in kinds(other)
    assert "AccessLogSetting" in only(other, "AWS::ApiGateway::Stage")
    assert {"AWS::ApiGateway::Account"} <= kinds(all_on)


def test_there_is_no_function_url_unless_it_is_asked_for(template: Template, all_on: Template) -> None:
    assert "AWS::Lambda::Url" not in kinds(template)
    url = only(all_on, "AWS::Lambda::Url")
    assert url["AuthType"] == "NONE"  # the registry itself asks for credentials
    assert url["Qualifier"] == "live"
    # Since October 2025 a URL needs both permissions.
    given = {
        (each["Action"], each.get("FunctionUrlAuthType"), each.get("InvokedViaFunctionUrl"))
        for each in all_of(all_on, "AWS::Lambda::Permission")
        if each["Principal"] == "*"
    }
    assert given == {("lambda:InvokeFunctionUrl", "NONE", None), ("lambda:InvokeFunction", None, True)}


def test_a_name_of_ones_own_has_no_path_and_a_recent_tls(template: Template, all_on: Template) -> None:
    """For clients that drop the path of a registry's URL."""
    assert "AWS::ApiGateway::DomainName" not in kinds(template)
    domain = only(all_on, "AWS::ApiGateway::DomainName")
    assert (domain["DomainName"], domain["SecurityPolicy"]) == ("registry.example.com", "TLS_1_2")
    mapping = only(all_on, "AWS::ApiGateway::BasePathMapping")
    assert "BasePath" not in mapping
    assert written(mapping["Stage"]) == f"<{ids(all_on, 'AWS::ApiGateway::Stage')[0]}>"


def test_outputs_say_where_everything_is(template: Template, all_on: Template) -> None:
    """For a person after a deployment, and for scripts."""
    names = {"RestUrl", "RestApiId", "RestStage", "FunctionName", "LogGroupName", "JournalName", "JournalLogGroupName"}
    names |= {"Identity", "RegistryName", "BucketName", "TableName"}
    assert template["Outputs"].keys() == names
    assert all_on["Outputs"].keys() == names | {"FunctionUrl", "DomainTarget", "DomainUrl"} | {
        "ExportersName",
        "ExportersLogGroupName",
    }
    assert {name for name in all_on["Outputs"] if f"`{name}`" not in PAGE.read_text()} == set()
    url = written(template["Outputs"]["RestUrl"]["Value"])
    assert url.startswith("https://")
    assert not url.endswith("/")
