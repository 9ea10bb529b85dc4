"""The policy of a KMS key that `platform.key_arn` may name: which services use it, beside the account's own roles.

python -m sigla.deployment.key_policy ACCOUNT REGION >key-policy.json

What functions and jobs may do with the key is a grant of theirs (cdk/service.py, cdk/pipelines.py); who deploys
needs `python -m infra.deployer --key`. The key is the account's, never the stack's: what it encrypts outlives every
stack.
"""

import argparse
import json
import re
from typing import Any

from sigla.deployment.partitions import host_suffix, partition_of

STORES = ("dynamodb", "s3", "sqs")
"""By way of these, and never directly, the stack's roles use the key."""

ACTIONS = (
    "kms:Decrypt",
    "kms:DescribeKey",
    "kms:Encrypt",
    "kms:GenerateDataKey",
    "kms:ReEncryptFrom",
    "kms:ReEncryptTo",
)
"""What DynamoDB asks in the name of whoever reads and writes a table; S3 and SQS ask less."""


def policy(account: str, region: str) -> dict[str, Any]:
    """The document, for a key of this account and region."""
    arn = f"arn:{partition_of(region)}"
    return {
        "Version": "2012-10-17",
        "Statement": [
            {
                "Sid": "ThisAccountsPoliciesDecide",
                "Effect": "Allow",
                "Principal": {"AWS": f"{arn}:iam::{account}:root"},
                "Action": "kms:*",
                "Resource": "*",
            },
            _of_a_service(
                "LogsOfThisAccount",
                f"logs.{region}.{host_suffix(region)}",
                *("kms:Decrypt*", "kms:Describe*", "kms:Encrypt*", "kms:GenerateDataKey*", "kms:ReEncrypt*"),
                when={"ArnLike": {"kms:EncryptionContext:aws:logs:arn": f"{arn}:logs:{region}:{account}:log-group:*"}},
            ),
            # EventBridge does not say for which account it asks: a condition on it would lose every event in silence.
            # Source: Amazon SQS Developer Guide, "Key management".
            _of_a_service("EventsIntoQueues", "events.amazonaws.com", "kms:Decrypt", "kms:GenerateDataKey"),
            _of_a_service(
                "AlarmsIntoTopics",
                "cloudwatch.amazonaws.com",
                *("kms:Decrypt", "kms:GenerateDataKey*"),
                when={"StringEquals": {"aws:SourceAccount": account}},
            ),
        ],
    }


def _of_a_service(name: str, service: str, *actions: str, when: dict[str, Any] | None = None) -> dict[str, Any]:
    statement = {
        "Sid": name,
        "Effect": "Allow",
        "Principal": {"Service": service},
        "Action": list(actions),
        "Resource": "*",  # of the key that has this policy
    }
    return statement | ({"Condition": when} if when else {})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        prog="python -m sigla.deployment.key_policy", description="Prints the policy of a KMS key for Sigla"
    )
    parser.add_argument("account", help="the account number, twelve digits")
    parser.add_argument("region", help="the region, for example eu-west-1")
    asked = parser.parse_args()
    if not re.fullmatch(r"\d{12}", asked.account):
        parser.error(f"Invalid account {asked.account!r}: expected twelve digits.")
    print(json.dumps(policy(asked.account, asked.region), indent=2))
