"""Names that change with what they stand for: a function's version, an API's deployment, a variable of the function.

A published version of a function keeps the subnet, the guard and the addresses of a ring that it was published with.
CDK publishes another one when the text of the function changes; but where AWS replaces a member of the ring, the text
refers to it as before, and only what the reference stands for is new.

That fingerprint is a variable of the function. To mix it into the version's name alone (`invalidate_version_based_on`)
would not do: where AWS changes something in place, nothing of the function were new, and Lambda publishes no version of
a function that is the same as before. Source: AWS Lambda Developer Guide, "Manage Lambda function versions".

CDK has hashes of its own in names of versions and deployments. Ours can be computed without CDK, from a template.
"""

from collections.abc import Callable, Sequence
from typing import Any

import aws_cdk as cdk
import jsii
from aws_cdk import aws_apigateway as apigateway
from aws_cdk import aws_lambda as lambda_
from constructs import IConstruct

from sigla.deployment import fingerprints
from sigla.deployment.translation import MADE_OF


def fingerprint(parts: Sequence[cdk.CfnResource]) -> str:
    """A text that is known at the end, when what holds for the whole stack has been done to them."""
    return _late_text(lambda: _fingerprint_of(parts))


def note_parts(function: lambda_.Function, parts: Sequence[cdk.CfnResource]) -> None:
    """Says in the template whose fingerprint a variable of the function is."""
    resource = function.node.default_child
    if isinstance(resource, cdk.CfnResource):
        resource.add_metadata(MADE_OF, [part.logical_id for part in parts])


def name_version(version: lambda_.Version, *parts: IConstruct) -> None:
    """Names a version after its function and layers. parts: these."""
    _name_by_parts(version, lambda: [each.node.default_child for each in parts])


def name_deployment(api: apigateway.RestApi) -> None:
    """By all that an API answers with, which is deployed together."""
    if api.latest_deployment:
        _name_by_parts(
            api.latest_deployment, lambda: [each for each in api.node.find_all() if isinstance(each, DEPLOYED)]
        )


DEPLOYED = (apigateway.CfnRestApi, apigateway.CfnMethod, apigateway.CfnGatewayResponse)


def _name_by_parts(construct: cdk.Resource, parts: Callable[[], Sequence[Any]]) -> None:
    resource = construct.node.default_child
    if isinstance(resource, cdk.CfnResource):
        base = cdk.Stack.of(resource).get_logical_id(resource)
        resource.override_logical_id(_late_text(lambda: f"{base}{_fingerprint_of(parts())}"))


def _fingerprint_of(parts: Sequence[cdk.CfnResource]) -> str:
    return fingerprints.fingerprint([(part.cfn_resource_type, _properties(part)) for part in parts])


def _late_text(produce: Callable[[], str]) -> str:
    return str(cdk.Lazy.uncached_string(_Late(produce)))


@jsii.implements(cdk.IStringProducer)
class _Late:
    def __init__(self, made: Callable[[], str]) -> None:
        self.made = made

    def produce(self, context: cdk.IResolveContext) -> str:
        return self.made()


def _properties(part: cdk.CfnResource) -> Any:
    """As the template has them."""
    said = part._cfn_properties  # noqa: SLF001 - CDK lets those see it who extend a resource
    return cdk.Stack.of(part).resolve(said)
