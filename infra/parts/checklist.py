"""AWS's checklist (cdk-nag's AwsSolutions) over everything: what it finds is cured, or acknowledged with a reason."""

from typing import Any

import aws_cdk as cdk
from cdk_nag import AwsSolutionsChecks
from constructs import IConstruct


def check(app: cdk.App) -> None:
    """From here on a finding that is not acknowledged fails the synthesis."""
    cdk.Validations.of(app).add_plugins(AwsSolutionsChecks())


def acknowledge(construct: IConstruct, rule: str, reason: str, *, resource: str = "", policy: str = "") -> None:
    """The finding of `rule` ("S1") on a construct and what is in it is known and wanted.

    resource, policy: the ARN with a wildcard, or of a managed policy, for the rules that report each on its own.
    """
    about = "".join(
        f"[{kind}::{_written(cdk.Stack.of(construct).resolve(arn))}]"
        for kind, arn in (("Resource", resource), ("Policy", policy))
        if arn
    )
    cdk.Validations.of(construct).acknowledge(
        cdk.Acknowledgment(id=f"AwsSolutions::AwsSolutions-{rule}{about}", reason=reason)
    )


def _written(value: Any) -> str:
    """A resolved ARN as the checklist writes it: `<Bucket.Arn>/schemas/*`."""
    match value:
        case {"Fn::Join": [between, parts]}:
            return str(between).join(map(_written, parts))
        case {"Fn::GetAtt": names}:
            return f"<{'.'.join(names)}>"
        case {"Ref": name}:
            return f"<{name}>"
    return str(value)
