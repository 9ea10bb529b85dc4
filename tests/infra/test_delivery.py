"""`sigla deploy` and `sigla destroy`: what is asked, shown and changed, without CDK."""

import json
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from sigla import __version__
from sigla.aws.clients import Clients
from sigla.cli import main
from sigla.delivery import stacks, templates
from sigla.delivery.bucket import PackagesBucket
from sigla.deployment.settings import Settings
from sigla.deployment.targets import Target
from sigla.deployment.translation import Released, placed_settings
from tests.contract.aws import make_table
from tests.contract.engines import BUCKET, REGION, in_process
from tests.infra.cloudformation import refused
from tests.infra.delivery_cloud import Cloud, serving

IDENTITY = "c" * 32
ACCOUNT = "123456789012"
RETAINED = {"Type": "AWS::S3::Bucket", "DeletionPolicy": "Retain", "Properties": {}}
TEMPLATE = {
    "Description": "marked-registry",
    "Resources": {"Bodies": RETAINED, "Catalog": RETAINED | {"Type": "AWS::DynamoDB::Table"}},
}
STAGE = f'registry_name = "{{}}"\nstack_name = "registry"\nidentity = "{IDENTITY}"\naccount = "{ACCOUNT}"\n'
ADDED = {"Action": "Add", "LogicalResourceId": "Bodies", "ResourceType": "AWS::S3::Bucket"}


@pytest.fixture(scope="module")
def clients() -> Iterator[Clients]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("AWS_DEFAULT_REGION", REGION)
        patched.setenv("AWS_REGION", REGION)
        with in_process() as made:
            yield made


@dataclass
class Deployer:
    """A person with a stage file. cloud: what CloudFormation says."""

    stage: Path
    cloud: Cloud
    clients: Clients
    capsys: pytest.CaptureFixture[str]

    def run(self, *words: str) -> tuple[int, str, str]:
        """The status of `sigla WORDS… STAGE`, and what it printed on both streams."""
        status = main([words[0], str(self.stage), *words[1:]])
        told = self.capsys.readouterr()
        return status, told.out, told.err

    def deployed(self) -> "Deployer":
        """After a first deployment."""
        assert self.run("deploy", "--yes")[0] == 0
        self.cloud.asked.clear()
        self.cloud.ends = "UPDATE_COMPLETE"
        return self


@pytest.fixture
def deployer(
    tmp_path: Path,
    clients: Clients,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    request: pytest.FixtureRequest,
) -> Iterator[Deployer]:
    """A release with one template, and an account in which nothing is deployed."""
    name = request.node.originalname.replace("_", "-")[:60]
    stage = tmp_path / "prod.toml"
    stage.write_text(STAGE.format(name))
    release = tmp_path / "templates"
    release.mkdir()
    marked = placed_settings(
        Settings(registry_name="marked-registry", stack_name="Marked", identity="d" * 32),
        account="424242424242",
        region="us-west-2",
    )
    made = Released(marked, TEMPLATE, {}, {}, "marked-bucket")
    (release / "default.json").write_text(json.dumps(made.as_json()))
    monkeypatch.setattr(templates, "TEMPLATES", release)
    monkeypatch.setattr(stacks, "PAUSE_S", 0.0)
    settings = Settings(registry_name=name, stack_name="registry", identity=IDENTITY)
    outputs = {name: value for name, (value, _) in Target.of(settings).outputs.items()}
    outputs |= {"BucketName": BUCKET, "TableName": make_table(clients.dynamodb), "RestUrl": "https://registry/v1"}
    cloud = Cloud(outputs, [ADDED])
    with serving(cloud) as endpoint:
        monkeypatch.setenv("AWS_ENDPOINT_URL_CLOUDFORMATION", endpoint)
        yield Deployer(stage, cloud, clients, capsys)


def test_a_first_deployment_ends_with_the_identity_and_the_urls(deployer: Deployer) -> None:
    """Until its data has the identity nothing can be written."""
    status, out, err = deployer.run("deploy", "--yes")
    assert status == 0, err
    assert f"have the identity {IDENTITY} now." in out
    assert "RestUrl: https://registry/v1" in out.splitlines()
    assert "  added        AWS::S3::Bucket  Bodies" in err.splitlines()
    assert "1 added." in err.splitlines()
    assert deployer.cloud.asked[-2:] == ["UpdateTerminationProtectionTrue", "DescribeStacks"]


def test_the_template_is_that_of_the_stage_in_a_bucket_that_is_the_accounts(deployer: Deployer) -> None:
    """CloudFormation reads it from there; nothing in it is public."""
    deployer.run("deploy", "--yes")
    bucket = PackagesBucket(deployer.clients.s3, ACCOUNT, REGION).name
    assert bucket in deployer.cloud.url
    key = deployer.cloud.url.partition("/templates/")[2]
    body = json.loads(deployer.clients.s3.get_object(Bucket=bucket, Key=f"templates/{key}")["Body"].read())
    assert body["Description"].startswith("test-the-template-is")
    closed = deployer.clients.s3.get_public_access_block(Bucket=bucket)["PublicAccessBlockConfiguration"]
    assert all(closed.values())
    assert deployer.clients.s3.get_bucket_encryption(Bucket=bucket)["ServerSideEncryptionConfiguration"]["Rules"]


def test_a_bucket_that_cannot_be_encrypted_is_not_left(clients: Clients, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next deployment would find it, and use it as it is."""
    bucket = PackagesBucket(clients.s3, ACCOUNT, "eu-west-1")
    with monkeypatch.context() as patched:
        patched.setattr(clients.s3, "put_bucket_encryption", interrupted)
        with pytest.raises(KeyboardInterrupt):
            bucket.make()
    assert bucket.name not in [each["Name"] for each in clients.s3.list_buckets()["Buckets"]]
    bucket.make()
    assert clients.s3.get_bucket_encryption(Bucket=bucket.name)["ServerSideEncryptionConfiguration"]["Rules"]


def test_a_difference_is_shown_and_nothing_is_left_of_the_question(deployer: Deployer) -> None:
    """Whoever looks does not deploy: not even a change set stays."""
    deployer.deployed()
    deployer.cloud.changes = [
        {
            "Action": "Modify",
            "LogicalResourceId": "Catalog",
            "ResourceType": "AWS::DynamoDB::Table",
            "Replacement": "True",
            "Details": [{"Target": {"Attribute": "Properties", "Name": "TableName"}}],
        },
        {"Action": "Remove", "LogicalResourceId": "A", "ResourceType": "AWS::SQS::Queue", "PolicyAction": "Delete"},
        {"Action": "Remove", "LogicalResourceId": "B", "ResourceType": "AWS::S3::Bucket", "PolicyAction": "Retain"},
    ]
    status, out, _ = deployer.run("deploy", "--diff")
    assert (status, out.splitlines()) == (
        0,
        [
            "  REPLACED     AWS::DynamoDB::Table  Catalog (TableName)",
            "  removed      AWS::SQS::Queue  A",
            "  left alone   AWS::S3::Bucket  B",
            "1 REPLACED, 1 removed, 1 left alone.",
        ],
    )
    assert "DeleteChangeSet" in deployer.cloud.asked
    assert "ExecuteChangeSet" not in deployer.cloud.asked


def test_a_first_deployment_is_shown_without_a_question_to_cloudformation(deployer: Deployer) -> None:
    """All of it is new; a change set would leave a stack without resources."""
    status, out, _ = deployer.run("deploy", "--diff")
    assert (status, out.splitlines()[-1]) == (0, "2 added.")
    assert "CreateChangeSet" not in deployer.cloud.asked


def test_without_a_yes_nothing_is_deployed(deployer: Deployer, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a pipe there is no person to answer; a person may say no. The change set goes, and the empty stack with it."""
    status, _, err = deployer.run("deploy")
    assert (status, err.splitlines()[-1]) == (
        2,
        "sigla: Deploy these changes to registry? No person is there to answer: add --yes.",
    )
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    for answer in ("n\n", ""):  # the second is Ctrl-D
        monkeypatch.setattr("sys.stdin.readline", lambda answer=answer: answer)
        status, out, err = deployer.run("deploy")
        assert (status, out) == (1, ""), "the output may go into a file"
        assert "Deploy these changes to registry? [y/N]" in err
    assert "ExecuteChangeSet" not in deployer.cloud.asked
    assert deployer.cloud.asked[-1] == "DeleteStack"
    assert deployer.cloud.status == ""


def test_a_deployment_without_changes_deploys_nothing(deployer: Deployer) -> None:
    """That does not fail: the identity is looked at all the same."""
    deployer.deployed()
    deployer.cloud.refusal = "The submitted information didn't contain changes. Submit different information."
    status, out, err = deployer.run("deploy")
    assert (status, err.splitlines()[0]) == (0, "nothing changes.")
    assert f"have the identity {IDENTITY} already." in out
    assert "ExecuteChangeSet" not in deployer.cloud.asked


def test_a_change_of_outputs_alone_is_deployed(deployer: Deployer) -> None:
    """CloudFormation lists changes of resources only, and has others to make all the same."""
    deployer.deployed()
    deployer.cloud.changes = []
    told = "Resources stay as they are; outputs or tags of the stack change."
    assert deployer.run("deploy", "--diff")[:2] == (0, f"{told}\n")
    status, _, err = deployer.run("deploy", "--yes")
    assert (status, err.splitlines()[0]) == (0, told)
    assert "ExecuteChangeSet" in deployer.cloud.asked


def test_a_failure_names_the_resource_that_failed_first(deployer: Deployer) -> None:
    """All others failed because it did."""
    deployer.cloud.ends = "ROLLBACK_COMPLETE"
    deployer.cloud.failed = (("Ring", "No such node\n type."), ("Guard", "Resource creation cancelled"))
    status, out, err = deployer.run("deploy", "--yes")
    assert (status, out) == (1, "")
    assert err.splitlines()[-1] == (
        "sigla: The stack registry is ROLLBACK_COMPLETE: Ring (AWS::Lambda::Function) failed: No such node type."
    )
    assert deployer.run("deploy", "--yes")[0] == 2  # docs/deploy.md says how to go on from there


def test_a_refused_change_set_is_removed(deployer: Deployer) -> None:
    """The next deployment would find a stack that has nothing in it."""
    deployer.cloud.refusal = "Template error: x."
    status, _, err = deployer.run("deploy", "--yes")
    assert (status, err.splitlines()[-1]) == (1, "sigla: CloudFormation refused the change set: Template error: x.")
    assert deployer.cloud.status == ""


def test_data_moves_only_where_it_is_meant(deployer: Deployer) -> None:
    """The same guard as `make deploy` has."""
    deployer.deployed()
    deployer.stage.write_text(STAGE.format("another"))
    status, _, err = deployer.run("deploy", "--yes", "-c", "log_days=7")
    assert status == 2
    assert f"if you mean it: sigla deploy {deployer.stage} -c log_days=7 --i-mean-it" in err
    assert "CreateChangeSet" not in deployer.cloud.asked


@pytest.mark.parametrize(
    "more, sentence",
    [
        ("[watch]\nalarms = false\n", "the nearest, default, differs in watch.alarms. Change these settings, or"),
        ('[pipelines]\nenabled = true\nlake_bucket = "lake"\n', "differs in pipelines.enabled, pipelines.lake_bucket"),
    ],
)
def test_a_shape_that_is_not_released_is_refused_before_aws_is_asked(
    deployer: Deployer, more: str, sentence: str
) -> None:
    with deployer.stage.open("a") as file:
        file.write(more)
    status, _, err = deployer.run("deploy", "--yes")
    assert status == 2
    assert sentence in err
    assert deployer.cloud.asked == []


def test_a_stack_is_destroyed_and_its_data_stays(deployer: Deployer) -> None:
    """What is left is named, with what deletes it."""
    deployer.deployed()
    deployer.cloud.template = TEMPLATE
    table = deployer.cloud.outputs["TableName"]
    status, out, err = deployer.run("destroy", "--yes")
    assert status == 0, err
    assert out.splitlines() == [
        f"The bucket {BUCKET} is still there. To delete it: docs/deploy.md#teardown",
        f"The table {table} is still there. To delete it: docs/deploy.md#teardown",
    ]
    assert deployer.cloud.asked.index("UpdateTerminationProtectionFalse") < deployer.cloud.asked.index("DeleteStack")
    assert deployer.clients.dynamodb.describe_table(TableName=table)


def test_credentials_of_another_account_destroy_nothing_and_say_so(deployer: Deployer) -> None:
    """It said that nothing was deployed, to whoever wanted something removed."""
    deployer.deployed()
    deployer.stage.write_text(deployer.stage.read_text().replace(ACCOUNT, "999999999999"))
    status, _, err = deployer.run("destroy", "--yes")
    assert status == 2
    assert "Nothing was removed: " in err
    assert f"is for the account 999999999999, but this environment uses {ACCOUNT}." in err
    assert deployer.cloud.status


def test_a_stack_of_another_registry_is_not_destroyed(deployer: Deployer) -> None:
    """A stage file that was copied names a stack that is another one's."""
    deployer.deployed()
    deployer.stage.write_text(STAGE.format("x").replace(IDENTITY, "e" * 32))
    status, _, err = deployer.run("destroy", "--yes")
    assert status == 2
    assert "Nothing was removed: the stack registry has another identity" in err
    assert "DeleteStack" not in deployer.cloud.asked


def test_a_stack_that_is_not_removed_stays_protected(deployer: Deployer, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next command that deletes a stack by its name would find no resistance."""
    deployer.deployed()
    deployer.cloud.template = TEMPLATE
    monkeypatch.setattr(deployer.cloud, "on_delete_stack", lambda _: refused("AccessDenied", "DeleteStack", 403))
    assert deployer.run("destroy", "--yes")[0] == 2
    asked = [each for each in deployer.cloud.asked if "Protection" in each]
    assert asked == ["UpdateTerminationProtectionFalse", "UpdateTerminationProtectionTrue"]


def interrupted(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


def test_ctrl_c_before_it_began_leaves_nothing(deployer: Deployer, monkeypatch: pytest.MonkeyPatch) -> None:
    """As long as nothing was begun there is nothing to go on with."""
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr("sys.stdin.readline", interrupted)
    status, _, err = deployer.run("deploy")
    assert (status, err.splitlines()[-1]) == (130, "sigla: Interrupted. Nothing was deployed.")
    assert deployer.cloud.status == ""


def test_ctrl_c_while_cloudformation_works_says_that_it_goes_on(
    deployer: Deployer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It cannot be taken back; what to do is said."""
    deployer.cloud.ends = "CREATE_IN_PROGRESS"
    with monkeypatch.context() as patched:
        patched.setattr("time.sleep", interrupted)
        status, _, err = deployer.run("deploy", "--yes")
    assert status == 130
    assert "CloudFormation goes on with what it has begun" in err
    deployer.cloud.status = "CREATE_COMPLETE"
    deployer.cloud.refusal = "The submitted information didn't contain changes."
    assert deployer.run("deploy")[0] == 0
    assert "UpdateTerminationProtectionTrue" in deployer.cloud.asked, "a stack is protected, however it came to be"


def test_credentials_that_end_while_cloudformation_works_leave_a_sentence(
    deployer: Deployer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A session of an hour may be over before a network is there."""
    events = deployer.cloud.on_describe_stack_events

    def expired(given: Mapping[str, str]) -> object:
        ended = "ExecuteChangeSet" in deployer.cloud.asked
        return refused("ExpiredToken", "The token is expired", 403) if ended else events(given)

    monkeypatch.setattr(deployer.cloud, "on_describe_stack_events", expired)
    status, _, err = deployer.run("deploy", "--yes")
    assert status == 1
    assert "The token is expired. CloudFormation goes on with what it has begun" in err.splitlines()[-1]


def test_where_events_are_not_shown_nothing_is_begun(deployer: Deployer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without them a failure would be told of the deployment before."""
    monkeypatch.setattr(deployer.cloud, "on_describe_stack_events", lambda _: refused("AccessDenied", "no events", 403))
    status, _, err = deployer.run("deploy", "--yes")
    assert (status, "no events" in err, "goes on" in err) == (2, True, False)
    assert "ExecuteChangeSet" not in deployer.cloud.asked
    assert deployer.cloud.status == ""


def test_a_package_of_other_sources_is_not_uploaded(deployer: Deployer, tmp_path: Path) -> None:
    """A function would run other code than the release that the template is of; a release's folder has its zips."""
    release = deployer.stage.with_name("templates") / "default.json"
    told = json.loads(release.read_text())
    release.write_text(json.dumps(told | {"packages": {"0.zip": "heartbeat"}}))
    status, _, err = deployer.run("deploy", "--yes")
    assert (status, "its sources were changed" in err) == (2, True)
    assert "ExecuteChangeSet" not in deployer.cloud.asked
    status, _, err = deployer.run("deploy", "--yes", "--packages", str(tmp_path))
    assert (status, "heartbeat-" in err, "cannot be read" in err) == (2, True, True)
    archive = tmp_path / f"heartbeat-{__version__}.zip"
    with zipfile.ZipFile(archive, "w") as opened:
        opened.writestr("handler.py", b"handler")
    whole = archive.read_bytes()
    for damaged in (whole[:-9], whole.replace(b"handler", b"changed", 3), b""):
        archive.write_bytes(damaged)
        status, _, err = deployer.run("deploy", "--yes", "--packages", str(tmp_path))
        assert (status, "is damaged or cut off: download it once more" in err) == (2, True), "it would stay there"
    archive.write_bytes(whole)
    assert deployer.run("deploy", "--yes", "--packages", str(tmp_path))[0] == 0
    bucket = PackagesBucket(deployer.clients.s3, ACCOUNT, REGION).name
    assert deployer.clients.s3.get_object(Bucket=bucket, Key="0.zip")["Body"].read() == whole
