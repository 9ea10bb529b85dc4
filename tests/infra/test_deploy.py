"""`make deploy`: data moves only where a person said so, and the identity is the last step."""

import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from infra import deploy
from infra.deploy import Deployment
from sigla.aws.clients import Clients
from sigla.delivery.guard import NotDeployed, place_lines, unheard
from sigla.deployment.choices.network import Network
from sigla.deployment.choices.watch import Watch
from sigla.deployment.settings import InvalidSetting, Settings
from sigla.deployment.stage_files import fingerprint
from sigla.deployment.targets import Stack, Target
from tests.contract.aws import make_table
from tests.contract.engines import BUCKET, REGION, in_process

IDENTITY = "c" * 32
STREAM = "arn:aws:dynamodb:eu-west-1:111122223333:table/catalog/stream/2026-11-21T00:00:00.000"


@pytest.fixture(scope="module")
def clients() -> Iterator[Clients]:
    with pytest.MonkeyPatch.context() as patched, in_process() as made:
        patched.setenv("AWS_DEFAULT_REGION", REGION)
        yield made


@dataclass
class Cloud:
    """An account: its stacks, and those that CDK will have left."""

    ran: Path
    stacks: dict[str, Stack] = field(default_factory=dict)
    afterwards: dict[str, Stack] = field(default_factory=dict)
    region: str = REGION

    def number(self) -> str:
        return "111122223333"

    def stack(self, name: str) -> Stack | None:
        return (self.afterwards if self.ran.exists() else self.stacks).get(name)

    def with_identity(self, identity: str) -> list[Stack]:
        return [stack for stack in self.stacks.values() if stack.outputs.get("Identity") == identity]


@dataclass(frozen=True)
class Stage:
    deployment: Deployment
    cloud: Cloud

    @property
    def asked(self) -> list[str]:
        """Words that CDK was run with."""
        return self.cloud.ran.read_text().splitlines() if self.cloud.ran.exists() else []

    def run(self, **changed: Any) -> Stack:
        return replace(self.deployment, **changed).run(self.cloud)


@pytest.fixture
def stage(tmp_path: Path, clients: Clients, request: pytest.FixtureRequest) -> Stage:
    """One that was never deployed; its table is what CDK will have made."""
    ran = tmp_path / "ran"
    npx = tmp_path / "bin" / "npx"
    npx.parent.mkdir()
    npx.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >{ran}\n')
    npx.chmod(0o755)
    name = request.node.originalname.replace("_", "-")[:60]
    settings = Settings(registry_name=name, stack_name="registry", identity=IDENTITY)
    outputs = {name: value for name, (value, _) in Target.of(settings).outputs.items()}
    outputs |= {"BucketName": BUCKET, "TableName": make_table(clients.dynamodb), "RestUrl": "https://registry/v1"}
    cloud = Cloud(ran, afterwards={"registry": Stack("CREATE_COMPLETE", outputs)})
    deployment = Deployment(
        name="prod",
        path=Path("stages/prod.toml"),
        settings=settings,
        environ={"PATH": f"{npx.parent}:/bin:/usr/bin"},
    )
    return Stage(deployment, cloud)


def test_a_first_deployment_ends_with_the_identity(stage: Stage, capsys: pytest.CaptureFixture[str]) -> None:
    """Until then its functions write nothing."""
    stack = stage.run(flags=["log_days=7"], options=["--require-approval", "never"])
    assert stage.asked[1:] == [
        *(deploy.CDK, "deploy", "Registry", "-c", "stage_file=stages/prod.toml", "-c", "log_days=7"),
        *("-c", "sigla:account=111122223333", "-c", f"sigla:region={REGION}"),
        *("-c", f"sigla:settings={fingerprint(stage.deployment.settings)}"),
        *("--require-approval", "never"),
    ]
    assert f"have the identity {IDENTITY} now." in capsys.readouterr().out
    assert place_lines(stack).splitlines()[0] == "RestUrl: https://registry/v1"
    stage.cloud.stacks = stage.cloud.afterwards
    stage.run()
    assert f"have the identity {IDENTITY} already." in capsys.readouterr().out


def test_a_new_stack_is_announced_before_it_is_made(stage: Stage) -> None:
    """Whoever meant one that is there has the wrong file, or the wrong region, and sees it before CDK asks."""
    told: list[str] = []
    stage.run(tell=told.append)
    name = stage.deployment.settings.registry_name
    place = f"account 111122223333, region {REGION}"
    assert told == [
        (
            f"The stack registry does not exist in {place}: it will be created for the registry {name}, which will be "
            "empty."
        )
    ]
    stage.cloud.stacks = stage.cloud.afterwards
    stage.run(tell=told.append)
    assert len(told) == 1


def test_nothing_is_deployed_where_data_would_move_unless_it_is_meant(stage: Stage) -> None:
    """Both values are named, and what to type if that is meant."""
    stage.cloud.stacks = {
        "registry": Stack("UPDATE_COMPLETE", {**stage.cloud.afterwards["registry"].outputs, "RegistryName": "orders"})
    }
    with pytest.raises(NotDeployed) as refused:
        stage.run()
    assert str(refused.value).splitlines() == [
        "Nothing was deployed: the stack registry would point elsewhere.",
        f"  registry_name would change from 'orders' to '{stage.deployment.settings.registry_name}'.",
        "Correct stages/prod.toml; or, if you mean it: make deploy STAGE=prod ARGS=--i-mean-it",
    ]
    assert not stage.asked
    stage.run(meant=True)
    assert stage.asked


def test_a_registry_that_is_renamed_does_not_begin_anew_unseen(stage: Stage) -> None:
    """Its stack is called by its name: another name is another stack, empty, for clients that trust its ids."""
    old = Stack("UPDATE_COMPLETE", stage.cloud.afterwards["registry"].outputs, "sigla-orders")
    stage.cloud.stacks = {"sigla-orders": old}
    with pytest.raises(NotDeployed) as refused:
        stage.run()
    sentence = "  The stack sigla-orders has this identity already; registry would be a second, empty one."
    assert sentence in str(refused.value).splitlines()
    assert not stage.asked
    stage.run(meant=True)
    assert stage.asked


def test_a_stack_that_was_destroyed_comes_back_with_its_data_or_not_unseen(stage: Stage) -> None:
    """What it stored was kept: a new stack without it would count ids from 1 again, perhaps behind the same name."""
    outputs = {**stage.cloud.afterwards["registry"].outputs, "BucketName": "kept", "TableName": "catalog"}
    stage.cloud.stacks = {"deleted": Stack("DELETE_COMPLETE", outputs, "registry")}
    with pytest.raises(NotDeployed, match="its data was kept: bucket_name was 'kept', table_name 'catalog'"):
        stage.run()
    named = replace(stage.deployment.settings, bucket_name="kept", table_name="catalog", table_stream_arn=STREAM)
    stage.run(settings=named)
    assert stage.asked


@pytest.mark.parametrize(
    "status, sentence",
    [
        (
            "ROLLBACK_COMPLETE",
            "The stack registry is ROLLBACK_COMPLETE: docs/deploy.md#a-first-deployment-that-failed.",
        ),
        ("DELETE_FAILED", "The stack registry is DELETE_FAILED: docs/deploy.md#when-it-does-not-deploy."),
        ("UPDATE_IN_PROGRESS", "The stack registry is UPDATE_IN_PROGRESS: wait until this has ended."),
    ],
)
def test_onto_what_cannot_be_deployed_nothing_is(stage: Stage, status: str, sentence: str) -> None:
    stage.cloud.stacks = {"registry": Stack(status, {})}
    with pytest.raises(NotDeployed) as refused:
        stage.run(meant=True)
    assert str(refused.value) == sentence


@pytest.mark.parametrize(
    "option",
    ["--profile", "-c", "-cstage_file=x", "-fc", "--app=other", "--context.x=y", "--output", "--region", "-i"],
)
def test_an_option_that_would_deploy_something_else_is_refused(
    option: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What was compared is what is deployed: the same account, the same settings."""
    monkeypatch.setattr(sys, "argv", ["infra.deploy", "prod", "--", option, "x"])
    with pytest.raises(SystemExit) as ended:
        deploy.main()
    assert ended.value.code == 2
    assert "CDK must deploy the settings that were checked" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--no-execute", "--execute=false", "--method=prepare-change-set", "-m", "--help"])
def test_an_option_that_deploys_nothing_is_refused(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Else it would say where the registry is, with 0, and the change would be nowhere."""
    with pytest.raises(SystemExit) as ended:
        deploy.asked(["prod", "--", option])
    assert ended.value.code == 2
    assert f"{option} would deploy nothing" in capsys.readouterr().err


def test_the_stage_file_that_is_compared_is_the_one_that_is_deployed(capsys: pytest.CaptureFixture[str]) -> None:
    """CDK takes the last one that it is given: one file would be compared, and another one deployed."""
    with pytest.raises(SystemExit) as ended:
        deploy.asked(["prod", "-c", "stage_file=stages/other.toml"])
    assert ended.value.code == 2
    assert "-c stage_file cannot be set here: the stage prod always uses stages/prod.toml." in capsys.readouterr().err


def test_a_stage_that_keeps_nothing_is_not_deployed_to_an_account(stage: Stage) -> None:
    """One word in the file would take the protection off bucket and table: the next teardown would remove them."""
    local = Settings(stage="local", identity=IDENTITY)
    with pytest.raises(NotDeployed, match=r'has stage = "local", which is for LocalStack and keeps no data'):
        stage.run(settings=local, meant=True)
    assert not stage.asked


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Also where the tests were begun in the background by a shell, which has Ctrl-C ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_says_what_goes_on_and_what_to_do(stage: Stage, tmp_path: Path) -> None:
    """CloudFormation does not hear it; and until the identity is there writes are refused."""
    (tmp_path / "bin" / "npx").write_text("#!/bin/sh\nsleep 0.2\nkill -INT $PPID\nsleep 0.2\n")
    with pytest.raises(NotDeployed, match="ended, run make deploy STAGE=prod again") as interrupted:
        stage.run()
    assert interrupted.value.status == 130


@pytest.mark.parametrize("before", [[], ["--i-mean-it"], ["-c", "log_days=7", "--i-mean-it"]])
def test_what_stands_behind_two_dashes_is_cdks(before: list[str]) -> None:
    """In CI no person is there to say yes; and what is ours is not lost before it."""
    arguments = deploy.asked(["prod", *before, "--", "--require-approval", "never"])
    assert arguments.options == ["--require-approval", "never"]
    assert arguments.meant == ("--i-mean-it" in before)
    assert arguments.context == (["log_days=7"] if "-c" in before else [])


def test_make_hands_the_line_of_the_page_over_as_it_stands() -> None:
    """docs/deploy.md has it for CI; a shell, `make` and a shell again have it in their hands."""
    root = Path(__file__).parents[2]
    (line,) = re.findall(r"^make deploy .*--require-approval.*$", (root / "docs/deploy.md").read_text(), re.MULTILINE)
    shown = subprocess.run(["make", "-n", *shlex.split(line)[1:]], cwd=root, capture_output=True, text=True, check=True)
    (command,) = [each for each in shown.stdout.splitlines() if "-m infra.command deploy " in each]
    arguments = deploy.asked(shlex.split(command.partition("-m infra.command deploy ")[2]))
    assert (arguments.name, arguments.options) == ("prod", ["--require-approval", "never"])


@pytest.mark.parametrize(
    "watch, is_heard",
    [
        (Watch(), False),
        (Watch(notes_topic_arn="arn:aws:sns:eu-west-1:111122223333:notes"), False),
        (Watch(topic_arn="arn:aws:sns:eu-west-1:111122223333:oncall"), True),
        (Watch(email="sre@example.com"), True),
        (Watch(alarms=False), True),
    ],
)
def test_a_deployment_whose_alarms_nobody_hears_says_so(watch: Watch, is_heard: bool) -> None:
    """As it comes they only change colour: the first outage would ring nothing."""
    assert bool(unheard(Settings(watch=watch))) != is_heard


def test_a_name_without_a_stack_is_a_first_deployment(stage: Stage) -> None:
    """As CDK leaves it where a person did not approve."""
    stage.cloud.stacks = {"registry": Stack("REVIEW_IN_PROGRESS", {})}
    assert stage.run().status == "CREATE_COMPLETE"


def test_what_cdk_refuses_is_not_claimed(stage: Stage, tmp_path: Path) -> None:
    (tmp_path / "bin" / "npx").write_text("#!/bin/sh\nexit 1\n")
    with pytest.raises(NotDeployed, match="CDK did not deploy registry: see its output above"):
        stage.run()
    with pytest.raises(NotDeployed, match="`make setup` brings it"):
        stage.run(environ={"PATH": str(tmp_path)})


def test_meaning_to_move_is_not_meaning_to_take_what_is_anothers(
    stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    """A table that bears another deployment's identity is taken by an act of its own."""
    stage.run()
    other = replace(stage.deployment.settings, identity="d" * 32)
    with pytest.raises(NotDeployed, match=r"has the identity: sigla init --bucket .* --identity d{32}$"):
        stage.run(settings=other, meant=True)
    assert "belongs to another deployment" in capsys.readouterr().err


def test_a_ring_that_would_have_to_move_is_refused_before_cloudformation_fails_halfway(stage: Stage) -> None:
    """To mean it does not help: caches cannot leave their subnet. The sentence says the way."""
    outputs = stage.cloud.afterwards["registry"].outputs
    there = {"Zones": "use1-az1", "RingNetworks": "use1-az1:10.83.1.0/24 in a VPC of its own"}
    stage.cloud.stacks = {"registry": Stack("UPDATE_COMPLETE", {**outputs, **there})}
    settings = replace(stage.deployment.settings, zones="use1-az1", network=Network(vpc_id="vpc-0123"))
    with pytest.raises(NotDeployed) as refused:
        stage.run(settings=settings, meant=True)
    assert str(refused.value) == (
        "Nothing was deployed: CloudFormation would fail halfway.\n"
        "  The ring of use1-az1 cannot move from 10.83.1.0/24 in a VPC of its own to 10.83.1.0/24 in vpc-0123: take "
        "use1-az1 out of zones, deploy, and add it again."
    )
    assert not stage.asked


@pytest.mark.parametrize(
    "where, told",
    [
        ({"account": "444455556666"}, "the account 444455556666, but this environment uses 111122223333."),
        ({"region": "eu-north-1"}, f"the region eu-north-1, but this environment uses {REGION}."),
    ],
)
def test_a_stage_is_deployed_to_its_own_account_and_region_alone(
    stage: Stage, where: dict[str, Any], told: str
) -> None:
    """There is no such stack elsewhere: it would look like a first deployment, and begin the registry anew, empty."""
    with pytest.raises(NotDeployed) as refused:
        stage.run(settings=replace(stage.deployment.settings, **where), meant=True)
    sentence = "Set AWS_PROFILE or AWS_REGION, or correct the file."
    assert str(refused.value) == f"Nothing was deployed: stages/prod.toml is for {told} {sentence}"
    assert refused.value.status == 2
    assert not stage.asked
    stage.run(settings=replace(stage.deployment.settings, account="111122223333", region=REGION))
    assert stage.asked


def test_zones_of_another_region_than_the_environments_are_refused(stage: Stage) -> None:
    """The file may name no region, and then the environment is the first to know it."""
    with pytest.raises(InvalidSetting, match=r"^zones must be in region: "):
        stage.run(settings=replace(stage.deployment.settings, zones="euw1-az1"))
    assert not stage.asked


def test_a_stage_file_that_names_no_account_is_told_which_it_should(stage: Stage) -> None:
    """Else credentials of another account would do, and begin another registry under the same identity."""
    advice = stage.deployment.guard.advice(stage.cloud)
    assert advice.endswith(f'Write above its first table: account = "111122223333" and region = "{REGION}"')
    half = replace(stage.deployment, settings=replace(stage.deployment.settings, region=REGION))
    assert half.guard.advice(stage.cloud).endswith('table: account = "111122223333"')
    named = replace(half.settings, account="111122223333")
    assert replace(half, settings=named).guard.advice(stage.cloud) == ""
