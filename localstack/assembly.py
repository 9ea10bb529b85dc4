"""A synthesised CDK app, deployed by clients of AWS alone: no `cdk` command, no bootstrap stack, no npm packages.

What `cdk deploy` does, and no more: puts each asset where the template expects it, then lets CloudFormation create the
stack. In one that is there it changes what LocalStack can change: code, or what is there besides, such as zones.
"""

import contextlib
import io
import json
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from botocore.exceptions import ClientError, EndpointConnectionError, WaiterError

from localstack.server import session

BOOTSTRAP = "/cdk-bootstrap/hnb659fds/version"
"""The parameter that bootstrapping would have left; the template asks for it."""

CAPABILITIES = ("CAPABILITY_IAM", "CAPABILITY_NAMED_IAM")
PATIENCE = {"Delay": 0.2, "MaxAttempts": 1_500}
"""In seconds, and times."""


class NotDeployed(Exception):
    """It could not be; the message has the reasons."""


class Changed(Exception):
    """What is deployed differs so much that LocalStack's CloudFormation cannot bring it there."""


@dataclass(frozen=True, slots=True)
class Assembly:
    """What a synthesis has written. folder: with one stack in it."""

    folder: Path

    @property
    def template(self) -> Path:
        (template,) = self.folder.glob("*.template.json")
        return template

    @property
    def artifact(self) -> str:
        """What CDK calls the stack in the assembly."""
        return self.template.name.removesuffix(".template.json")

    @property
    def stack(self) -> str:
        """The stack's name in the account."""
        told = json.loads((self.folder / "manifest.json").read_text())["artifacts"][self.artifact]
        return str(told["properties"]["stackName"])

    @property
    def template_key(self) -> str:
        """Under which the template itself is an asset."""
        (asset,) = (each for each in self.assets() if each["source"]["path"] == self.template.name)
        (destination,) = asset["destinations"].values()
        return str(destination["objectKey"])

    def assets(self) -> list[dict[str, Any]]:
        """Each as in {"source": {"path", "packaging"}, "destinations": {…: {"bucketName", "objectKey"}}}."""
        return list(json.loads((self.folder / f"{self.artifact}.assets.json").read_text())["files"].values())


def deploy(assembly: Assembly, *, endpoint: str, credentials: Mapping[str, str]) -> dict[str, str]:
    """The stack's outputs, once it is there as the assembly says. Raises NotDeployed, Changed."""
    clients = session(endpoint, credentials)
    with contextlib.ExitStack() as opened, _nobody_there_is_told():

        def client(service: str) -> Any:
            return opened.enter_context(contextlib.closing(clients.client(service)))

        cloudformation = client("cloudformation")
        account = client("sts").get_caller_identity()["Account"]
        names = {"${AWS::AccountId}": account, "${AWS::Region}": clients.region_name, "${AWS::Partition}": "aws"}
        places = _upload(assembly, client("s3"), names)
        key = assembly.template_key
        place = {"StackName": assembly.stack, "TemplateURL": f"{endpoint}/{places[key]}/{key}"}
        template = json.loads(assembly.template.read_text())
        there = _there(cloudformation, assembly.stack)
        if there is None:
            client("ssm").put_parameter(Name=BOOTSTRAP, Value="99", Type="String", Overwrite=True)
            _create(cloudformation, place)
        elif outline(there) == outline(template):
            _swap(assembly.stack, template, cloudformation, client("lambda"), places)
        elif _stays(there, template):
            _update(cloudformation, place)
        else:
            raise Changed
        (described,) = cloudformation.describe_stacks(StackName=assembly.stack)["Stacks"]
        return {output["OutputKey"]: output["OutputValue"] for output in described["Outputs"]}


@contextlib.contextmanager
def _nobody_there_is_told() -> Iterator[None]:
    try:
        yield
    except EndpointConnectionError as failure:
        raise NotDeployed(str(failure)) from None


def _upload(assembly: Assembly, s3: Any, names: Mapping[str, str]) -> dict[str, str]:
    """The bucket of each asset, by its key. What is there stays: keys name contents."""
    places = {}
    for asset in assembly.assets():
        source = assembly.folder / asset["source"]["path"]
        for destination in asset["destinations"].values():
            bucket, key = destination["bucketName"], destination["objectKey"]
            for name, value in names.items():
                bucket = bucket.replace(name, value)
            places[key] = bucket
            if _missing(s3.head_bucket, Bucket=bucket):
                s3.create_bucket(Bucket=bucket, **_in_region(s3.meta.region_name))
            if _missing(s3.head_object, Bucket=bucket, Key=key):
                content = _zipped(source) if asset["source"]["packaging"] == "zip" else source.read_bytes()
                s3.put_object(Bucket=bucket, Key=key, Body=content)
    return places


def _in_region(region: str) -> dict[str, Any]:
    """Source: Amazon S3 API Reference, "CreateBucket": us-east-1 is where nothing is said, and no constraint."""
    return {} if region == "us-east-1" else {"CreateBucketConfiguration": {"LocationConstraint": region}}


def _missing(look: Any, **where: str) -> bool:
    try:
        look(**where)
    except ClientError as refused:
        if refused.response["ResponseMetadata"]["HTTPStatusCode"] != 404:
            raise
        return True
    return False


def _zipped(folder: Path) -> bytes:
    """Stored, not compressed: it goes no further than this machine."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_STORED) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                archive.write(path, path.relative_to(folder).as_posix())
    return content.getvalue()


def _there(cloudformation: Any, stack: str) -> dict[str, Any] | None:
    """The template of the one that is there. Raises Changed if its deployment was broken off."""
    try:
        (described,) = cloudformation.describe_stacks(StackName=stack)["Stacks"]
    except ClientError:
        return None
    if described["StackStatus"] not in ("CREATE_COMPLETE", "UPDATE_COMPLETE"):
        raise Changed
    template: dict[str, Any] = cloudformation.get_template(StackName=stack)["TemplateBody"]
    return template


def _stays(there: Mapping[str, Any], template: Mapping[str, Any]) -> bool:
    """Whether each resource of both is the same in both: they differ only in what else they have."""
    return all(template["Resources"].get(name, each) == each for name, each in there["Resources"].items())


def _create(cloudformation: Any, place: Mapping[str, str]) -> None:
    """Raises NotDeployed."""
    try:
        cloudformation.create_stack(**place, Capabilities=CAPABILITIES)
        cloudformation.get_waiter("stack_create_complete").wait(StackName=place["StackName"], WaiterConfig=PATIENCE)
    except (ClientError, WaiterError) as failure:
        raise NotDeployed("\n".join([str(failure), *_reasons(cloudformation, place["StackName"])])) from None
    if hollow := _hollow(cloudformation, place["StackName"]):
        raise NotDeployed(f"LocalStack does not emulate {', '.join(hollow)}")


def _update(cloudformation: Any, place: Mapping[str, str]) -> None:
    """Raises Changed if not all of it could be done: LocalStack does not go back, and says that all is well."""
    try:
        cloudformation.update_stack(**place, Capabilities=CAPABILITIES)
        cloudformation.get_waiter("stack_update_complete").wait(StackName=place["StackName"], WaiterConfig=PATIENCE)
    except (ClientError, WaiterError):
        raise Changed from None
    if _hollow(cloudformation, place["StackName"]):
        raise Changed


def _hollow(cloudformation: Any, stack: str) -> list[str]:
    """Types of which something is not there. LocalStack takes one that it does not know for done."""
    resources = cloudformation.describe_stack_resources(StackName=stack)["StackResources"]
    return sorted(
        {each["ResourceType"] for each in resources if each.get("PhysicalResourceId", "unknown") == "unknown"}
    )


def _swap(
    stack: str, template: Mapping[str, Any], cloudformation: Any, lambda_: Any, places: Mapping[str, str]
) -> None:
    """Gives the functions of a stack that is there their new code, and their aliases the version of it.

    Not by CloudFormation: LocalStack's cannot move an alias to another version.
    """
    physical = {
        each["LogicalResourceId"]: each["PhysicalResourceId"]
        for each in cloudformation.describe_stack_resources(StackName=stack)["StackResources"]
    }
    given = []
    for name, function in _of_type(template, "AWS::Lambda::Function"):
        key = function["Properties"]["Code"]["S3Key"]
        code = lambda_.update_function_code(FunctionName=physical[name], S3Bucket=places[key], S3Key=key, Publish=True)
        given.append((physical[name], code["Version"]))
    # All of them become active side by side, and only then is each waited for.
    waiter = lambda_.get_waiter("published_version_active")
    for name, version in given:
        waiter.wait(FunctionName=name, Qualifier=version, WaiterConfig=PATIENCE)
        for alias in lambda_.list_aliases(FunctionName=name)["Aliases"]:
            lambda_.update_alias(FunctionName=name, Name=alias["Name"], FunctionVersion=version)


def outline(template: Mapping[str, Any]) -> str:
    """A template but for the code of its functions: the same text, the same stack. Versions are named by their code."""
    template = json.loads(json.dumps(template))
    for _, function in _of_type(template, "AWS::Lambda::Function"):
        del function["Properties"]["Code"]
    text = json.dumps(template, sort_keys=True)
    for name, _ in _of_type(template, "AWS::Lambda::Version"):
        text = text.replace(name, "Version")
    return text


def _of_type(template: Mapping[str, Any], type: str) -> list[tuple[str, Any]]:
    return [(name, each) for name, each in template["Resources"].items() if each["Type"] == type]


def _reasons(cloudformation: Any, stack: str) -> list[str]:
    """What CloudFormation says of each resource that failed."""
    with contextlib.suppress(ClientError):
        events = cloudformation.describe_stack_events(StackName=stack)["StackEvents"]
        return [
            f"{event['LogicalResourceId']} ({event['ResourceType']}): {event['ResourceStatusReason']}"
            for event in events
            if event.get("ResourceStatusReason")
        ]
    return []
