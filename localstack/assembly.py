"""A synthesised CDK app, deployed by boto3 alone: no `cdk` command, no bootstrap stack, no npm packages.

What `cdk deploy` does, and no more: puts each asset where the template expects it, then lets CloudFormation create the
stack. Into a stack that is there it puts new code.
"""

import contextlib
import io
import json
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
from botocore.exceptions import ClientError, EndpointConnectionError, WaiterError

BOOTSTRAP = "/cdk-bootstrap/hnb659fds/version"
"""The parameter that bootstrapping would have left; the template asks for it."""

CAPABILITIES = ("CAPABILITY_IAM", "CAPABILITY_NAMED_IAM")
PATIENCE_S = 300


class NotDeployed(Exception):
    """It could not be; the message has the reasons."""


class Changed(Exception):
    """More than code differs from what is deployed, and LocalStack's CloudFormation cannot bring it there."""


@dataclass(frozen=True, slots=True)
class Assembly:
    """What a synthesis has written. folder: with one stack in it."""

    folder: Path

    @property
    def template(self) -> Path:
        (template,) = self.folder.glob("*.template.json")
        return template

    @property
    def stack(self) -> str:
        return self.template.name.removesuffix(".template.json")

    @property
    def template_key(self) -> str:
        """Under which the template itself is an asset."""
        (asset,) = (each for each in self.assets() if each["source"]["path"] == self.template.name)
        (destination,) = asset["destinations"].values()
        return str(destination["objectKey"])

    def assets(self) -> list[dict[str, Any]]:
        """Each as in {"source": {"path", "packaging"}, "destinations": {…: {"bucketName", "objectKey"}}}."""
        return list(json.loads((self.folder / f"{self.stack}.assets.json").read_text())["files"].values())


def deploy(assembly: Assembly, *, endpoint: str, credentials: Mapping[str, str]) -> dict[str, str]:
    """The stack's outputs, once it is there as the assembly says. Raises NotDeployed, Changed."""
    session = boto3.Session(
        aws_access_key_id=credentials["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=credentials["AWS_SECRET_ACCESS_KEY"],
        region_name=credentials["AWS_DEFAULT_REGION"],
    )
    with contextlib.ExitStack() as opened, _nobody_there_is_told():

        def client(service: str) -> Any:
            return opened.enter_context(contextlib.closing(session.client(service, endpoint_url=endpoint)))

        cloudformation = client("cloudformation")
        account = client("sts").get_caller_identity()["Account"]
        names = {"${AWS::AccountId}": account, "${AWS::Region}": session.region_name, "${AWS::Partition}": "aws"}
        places = _upload(assembly, client("s3"), names)
        if not _is_there(cloudformation, assembly.stack):
            client("ssm").put_parameter(Name=BOOTSTRAP, Value="99", Type="String", Overwrite=True)
            key = assembly.template_key
            _create(cloudformation, assembly.stack, f"{endpoint}/{places[key]}/{key}")
        else:
            _swap(assembly, cloudformation, client("lambda"), places)
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
                s3.create_bucket(Bucket=bucket)
            if _missing(s3.head_object, Bucket=bucket, Key=key):
                content = _zipped(source) if asset["source"]["packaging"] == "zip" else source.read_bytes()
                s3.put_object(Bucket=bucket, Key=key, Body=content)
    return places


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


def _is_there(cloudformation: Any, stack: str) -> bool:
    """Raises Changed if there is one that somebody broke off."""
    try:
        (described,) = cloudformation.describe_stacks(StackName=stack)["Stacks"]
    except ClientError:
        return False
    if described["StackStatus"] != "CREATE_COMPLETE":
        raise Changed
    return True


def _create(cloudformation: Any, stack: str, template_url: str) -> None:
    """Raises NotDeployed."""
    try:
        cloudformation.create_stack(StackName=stack, TemplateURL=template_url, Capabilities=CAPABILITIES)
        patience = {"Delay": 1, "MaxAttempts": PATIENCE_S}
        cloudformation.get_waiter("stack_create_complete").wait(StackName=stack, WaiterConfig=patience)
    except (ClientError, WaiterError) as failure:
        raise NotDeployed("\n".join([str(failure), *_reasons(cloudformation, stack)])) from None
    resources = cloudformation.describe_stack_resources(StackName=stack)["StackResources"]
    # LocalStack takes a type that it does not know for done.
    if hollow := {each["ResourceType"] for each in resources if each.get("PhysicalResourceId", "unknown") == "unknown"}:
        raise NotDeployed(f"There is nothing behind {', '.join(sorted(hollow))}: LocalStack has none")


def _swap(assembly: Assembly, cloudformation: Any, lambda_: Any, places: Mapping[str, str]) -> None:
    """Gives the functions of a stack that is there their new code, and their aliases the version of it.

    Not by CloudFormation: LocalStack's cannot move an alias to another version. Raises Changed.
    """
    there = cloudformation.get_template(StackName=assembly.stack)["TemplateBody"]
    template = json.loads(assembly.template.read_text())
    if outline(there) != outline(template):
        raise Changed
    physical = {
        each["LogicalResourceId"]: each["PhysicalResourceId"]
        for each in cloudformation.describe_stack_resources(StackName=assembly.stack)["StackResources"]
    }
    for name, function in _of_type(template, "AWS::Lambda::Function"):
        key = function["Properties"]["Code"]["S3Key"]
        code = lambda_.update_function_code(FunctionName=physical[name], S3Bucket=places[key], S3Key=key, Publish=True)
        waiter = lambda_.get_waiter("published_version_active")
        waiter.wait(FunctionName=physical[name], Qualifier=code["Version"], WaiterConfig={"Delay": 1})
        for alias in lambda_.list_aliases(FunctionName=physical[name])["Aliases"]:
            lambda_.update_alias(FunctionName=physical[name], Name=alias["Name"], FunctionVersion=code["Version"])


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
