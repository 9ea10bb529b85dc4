"""The account and region that a deployment goes to: whose they are, and what CloudFormation says of a stack there."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from botocore.parsers import ResponseParserError

from sigla.deployment.targets import DELETED, Stack

REGIONS = ("AWS_REGION", "AMAZON_REGION", "AWS_DEFAULT_REGION")
"""Variables of the region in the order in which CDK asks them; boto3 knows the last one alone."""

ACCOUNT, REGION = "sigla:account", "sigla:region"
"""Under these names CDK's context has where `make deploy` has compared: the app deploys there or nowhere."""

DESCRIPTION = "Sigla, a schema registry: "
"""What the description of every stack of ours begins with; the registry's name follows."""


FAILURES = (ClientError, BotoCoreError, ResponseParserError, KeyError, ValueError, OSError)
"""What boto3 raises where AWS refuses, where AWS does not answer or another server does, and where this machine's own
files and variables do not say how to ask; what we do where a part of the answer is missing.
"""


class Unreachable(Exception):
    """Why the account does not answer, in a sentence."""


class Account(Protocol):
    """What a deployment asks before it begins, and when it is done. region: where it asks."""

    @property
    def region(self) -> str: ...

    def number(self) -> str:
        """The number of the account whose credentials these are. Raises Unreachable."""

    def stack(self, name: str) -> Stack | None:
        """None if the stack does not exist. Raises Unreachable."""

    def with_identity(self, identity: str) -> Sequence[Stack]:
        """Those that are there, whatever they are called, and the one that was deleted last. Raises Unreachable."""


def region(environ: Mapping[str, str]) -> str:
    """The one that CDK deploys to. Raises Unreachable."""
    try:
        found = next((environ[name] for name in REGIONS if environ.get(name)), "") or boto3.Session().region_name
    except FAILURES as failure:
        raise Unreachable(f"No region: {sentence(failure)} Or set AWS_REGION.") from None
    if not found:
        raise Unreachable("No region: set AWS_REGION, or one for the profile.")
    return found


@dataclass(frozen=True, slots=True)
class Aws:
    """AWS, asked by the credentials of the environment."""

    region: str

    def number(self) -> str:
        try:
            return str(self._client("sts").get_caller_identity()["Account"])
        except FAILURES as failure:
            raise Unreachable(f"AWS did not identify these credentials: {sentence(failure)}") from None

    def stack(self, name: str) -> Stack | None:
        found = self._asked(f"the stack {name}", lambda client: client.describe_stacks(StackName=name)["Stacks"])
        return next(map(_stack, found), None)

    def with_identity(self, identity: str) -> Sequence[Stack]:
        there = self._asked("its stacks", lambda client: _pages(client, "describe_stacks", "Stacks"))
        gone = self._asked("deleted stacks", lambda client: _pages(client, "list_stacks", "StackSummaries"))
        ours = [each for each in gone if each["StackStatus"] == DELETED and _may_be_ours(each)]
        for each in sorted(ours, key=lambda each: each["DeletionTime"], reverse=True):
            # By its id alone: CloudFormation remembers for 90 days what it deleted.
            deleted = self.stack(each["StackId"])
            if deleted and deleted.outputs.get("Identity") == identity:
                return [*_bearing(identity, there), deleted]
        return _bearing(identity, there)

    def _asked(self, what: str, ask: Callable[[Any], list[dict[str, Any]]]) -> list[dict[str, Any]]:
        """Nothing if CloudFormation says that it does not exist. Raises Unreachable."""
        try:
            return ask(self._client("cloudformation"))
        except FAILURES as failure:
            if isinstance(failure, ClientError) and "does not exist" in failure.response["Error"]["Message"]:
                return []
            raise Unreachable(f"CloudFormation did not describe {what}: {sentence(failure)}") from None

    def _client(self, service: str) -> Any:
        config = Config(connect_timeout=10, retries={"total_max_attempts": 3})
        return boto3.client(service, region_name=self.region, config=config)


def _pages(client: Any, method: str, name: str) -> list[dict[str, Any]]:
    return [each for page in client.get_paginator(method).paginate() for each in page[name]]


def _may_be_ours(told: Mapping[str, Any]) -> bool:
    description, name = str(told.get("TemplateDescription", "")), str(told["StackName"])
    return description.startswith(DESCRIPTION) or name.startswith("sigla")


def _stack(told: Mapping[str, Any]) -> Stack:
    outputs = {each["OutputKey"]: each["OutputValue"] for each in told.get("Outputs", [])}
    return Stack(told["StackStatus"], outputs, told["StackName"])


def _bearing(identity: str, found: Iterable[Mapping[str, Any]]) -> list[Stack]:
    return [stack for stack in map(_stack, found) if stack.outputs.get("Identity") == identity]


def sentence(failure: Exception) -> str:
    """What it says, on one line."""
    if isinstance(failure, KeyError):
        return "The answer does not come from AWS: see AWS_ENDPOINT_URL, and whether a proxy stands in between."
    return " ".join(str(failure).split()).rstrip(".") + "."


def here() -> Aws:
    """Raises Unreachable."""
    return Aws(region(os.environ))
