"""What resources are made of, in twelve letters: others as soon as the template says anything else of one of them.

A published version of a function keeps the subnet, the guard and the addresses of a ring that it was published with.
CDK publishes another one when the text of the function changes; but where AWS replaces a member of the ring, the text
refers to it as before, and only what the reference stands for is new.

The fingerprint is a variable of the function. To mix it into the version's name alone (`invalidate_version_based_on`)
would not do: where AWS changes something in place, nothing of the function were new, and Lambda publishes no version of
a function that is the same as before. Source: AWS Lambda Developer Guide, "Manage Lambda function versions".
"""

import hashlib
import json
from collections.abc import Sequence
from typing import Any

import aws_cdk as cdk
import jsii


def fingerprint(parts: Sequence[cdk.CfnResource]) -> str:
    """A text that is known at the end, when what holds for the whole stack has been done to them."""
    return str(cdk.Lazy.uncached_string(_Fingerprint(parts)))


@jsii.implements(cdk.IStringProducer)
class _Fingerprint:
    def __init__(self, parts: Sequence[cdk.CfnResource]) -> None:
        self.parts = parts

    def produce(self, context: cdk.IResolveContext) -> str:
        made = json.dumps(list(map(_properties, self.parts)), sort_keys=True)
        return hashlib.sha256(made.encode()).hexdigest()[:12]


def _properties(part: cdk.CfnResource) -> Any:
    """As the template has them. Tags move nothing."""
    said = part._cfn_properties  # noqa: SLF001 - CDK lets those see it who extend a resource
    return cdk.Stack.of(part).resolve({name: value for name, value in said.items() if name != "tags"})
