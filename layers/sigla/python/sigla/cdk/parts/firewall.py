"""A firewall before the REST API: one rule, about how often one address may ask.

Source: AWS WAF Developer Guide, "Using rate-based rule statements in AWS WAF".
"""

from aws_cdk import aws_apigateway as apigateway
from aws_cdk import aws_wafv2 as wafv2
from constructs import Construct

WINDOW_S = 300


class Firewall(Construct):
    """A web ACL that blocks an address while it has asked more than `limit` times in five minutes.

    Blocked requests reach neither the gateway's integration nor the registry; the gateway answers them 403. WAF counts
    by estimate, and acts within about half a minute.
    """

    def __init__(self, scope: Construct, name: str, *, stage: apigateway.Stage, limit: int) -> None:
        super().__init__(scope, name)
        rate = wafv2.CfnWebACL.RateBasedStatementProperty(
            aggregate_key_type="IP", limit=limit, evaluation_window_sec=WINDOW_S
        )
        acl = wafv2.CfnWebACL(
            self,
            "Acl",
            scope="REGIONAL",
            default_action=wafv2.CfnWebACL.DefaultActionProperty(allow={}),
            description="How often one address may ask the registry",
            rules=[
                wafv2.CfnWebACL.RuleProperty(
                    name="requests-of-an-address",
                    priority=0,
                    action=wafv2.CfnWebACL.RuleActionProperty(block={}),
                    statement=wafv2.CfnWebACL.StatementProperty(rate_based_statement=rate),
                    visibility_config=_seen("RequestsOfAnAddress"),
                )
            ],
            visibility_config=_seen("Requests"),
        )
        wafv2.CfnWebACLAssociation(self, "OfTheApi", resource_arn=stage.stage_arn, web_acl_arn=acl.attr_arn)


def _seen(metric: str) -> wafv2.CfnWebACL.VisibilityConfigProperty:
    """WAF's own metrics are free; samples would keep headers, and with them secrets."""
    return wafv2.CfnWebACL.VisibilityConfigProperty(
        cloud_watch_metrics_enabled=True, metric_name=metric, sampled_requests_enabled=False
    )
