"""What AWS's checklist (cdk-nag's AwsSolutions) finds and we want: each with its reason.

The checklist itself is the app's: whoever has it run over a stack reads these reasons in place of findings.
"""

from typing import Any

import aws_cdk as cdk
from constructs import IConstruct


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
