"""The account and region that a deployment goes to: what CloudFormation says of a stack there."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

REGIONS = ("AWS_REGION", "AMAZON_REGION", "AWS_DEFAULT_REGION")
"""Variables of the region in the order in which CDK asks them; boto3 knows the last one alone."""


class Unreachable(Exception):
    """Why the account does not answer, in a sentence."""


@dataclass(frozen=True, slots=True)
class Stack:
    """One that is there. status: as CloudFormation has it."""

    status: str
    outputs: Mapping[str, str]


class Account(Protocol):
    """What a deployment asks before it begins, and when it is done."""

    def stack(self, name: str) -> Stack | None:
        """None where there is no such stack. Raises Unreachable."""


def region(environ: Mapping[str, str]) -> str:
    """The one that CDK deploys to. Raises Unreachable."""
    found = next((environ[name] for name in REGIONS if environ.get(name)), "") or boto3.Session().region_name
    if not found:
        raise Unreachable("No region: set AWS_REGION, or one for the profile.")
    return found


@dataclass(frozen=True, slots=True)
class Aws:
    """By the credentials of the environment."""

    region: str

    def stack(self, name: str) -> Stack | None:
        try:
            config = Config(connect_timeout=10, retries={"total_max_attempts": 3})
            client = boto3.client("cloudformation", region_name=self.region, config=config)
            (found,) = client.describe_stacks(StackName=name)["Stacks"]
        except ClientError as refused:
            if "does not exist" in refused.response["Error"]["Message"]:
                return None
            raise Unreachable(f"CloudFormation does not tell of the stack {name}: {_sentence(refused)}") from None
        except BotoCoreError as failure:
            raise Unreachable(f"CloudFormation does not tell of the stack {name}: {_sentence(failure)}") from None
        outputs = {each["OutputKey"]: each["OutputValue"] for each in found.get("Outputs", [])}
        return Stack(found["StackStatus"], outputs)


def _sentence(failure: Exception) -> str:
    return " ".join(str(failure).split()).rstrip(".") + "."


def here() -> Aws:
    """Raises Unreachable."""
    return Aws(region(os.environ))
