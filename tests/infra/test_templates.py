"""What `sigla deploy` deploys without CDK: templates that CDK made for other stages of the same shape."""

import json
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

import pytest

from sigla.deployment.settings import Settings
from sigla.deployment.translation import Released, differences
from tests.infra.conftest import Synthesise
from tests.infra.reading import Template

STAGE = {
    "registry_name": "payments",
    "stack_name": "Payments-EU",
    "account": "111122223333",
    "region": "eu-west-1",
    "identity": "0123456789abcdef0123456789abcdef",
    "zones": "euw1-az3,euw1-az1",
    "network.cidr": "10.84.0.0/20",
    "ring.node_type": "cache.m7g.large",
    "ring.presence_seconds": 600,
    "auth": "none",
    "default_level": "FULL",
    "cors_origins": "https://ui.example,https://other.example",
    "log_requests": False,
    "log_reads": 1.0,
    "log_days": 400,
    "names_days": 30,
    "function.memory_mb": 1769,
    "front_door.function_url": True,
    "front_door.requests_per_second": 333,
    "front_door.burst": 50,
    "watch.email": "sre@example.com",
    "watch.p99_ms": 250,
    "watch.dashboard": True,
    "function.reserved_concurrency": 60,
    "platform.permissions_boundary": "arn:aws:iam::111122223333:policy/teams/boundary",
    "platform.iam_path": "/teams/data/",
    "platform.tags": "team=data, Team=x, cost-centre=42, "
    "a b=1, a_b=, a.b=2, a:b=3, a/b=4, a+b=5, a@b=6, Z=7, y=8, 9=9, Name=x",
}
"""With two zones of another region, and with another value wherever one can be."""

ANOTHER_PARTITION = {"region": "us-gov-west-1", "zones": "usgw1-az3,usgw1-az1"}
"""Where ARNs begin with other words."""

BOOTSTRAP = "cdk-hnb659fds-assets-111122223333-{region}"


@pytest.fixture(scope="module")
def maker(cdk: object) -> ModuleType:
    """The module that makes them, which imports CDK."""
    from infra import templates

    return templates


@pytest.fixture(scope="module")
def shape(maker: ModuleType) -> Released:
    """As it is released, read again from its file."""
    chosen = dict(maker.shapes())["zones-valkey-2-url-mail"]
    return Released.from_json(json.loads(json.dumps(maker.released(chosen).as_json())))


def without_bootstrap(template: Template) -> Template:
    """What CDK asks for besides: that its own bootstrap is there."""
    assert list(template["Parameters"]) == ["BootstrapVersion"]
    return {name: each for name, each in template.items() if name not in ("Parameters", "Rules")}


def translated(shape: Released, stage: Mapping[str, object]) -> Template:
    """The template of a stage, with packages where CDK puts them."""
    settings = Settings.read(stage)
    return shape.of(settings, bucket=BOOTSTRAP.format(region=settings.region))


@pytest.mark.parametrize("changed", [{}, ANOTHER_PARTITION], ids=["another stage", "another partition"])
def test_a_translation_is_byte_for_byte_the_template_that_cdk_makes(
    shape: Released, synthesise: Synthesise, changed: dict[str, object]
) -> None:
    """A stack may be deployed by CDK today and without it tomorrow: neither changes what the other has made."""
    wanted = without_bootstrap(synthesise(*(STAGE | changed).items()))
    assert json.dumps(translated(shape, STAGE | changed), indent=1) == json.dumps(wanted, indent=1)


def test_no_mark_is_left_in_a_translation(shape: Released) -> None:
    """A text of the stage that a template was made for would name another registry, or another account."""
    text = json.dumps(translated(shape, STAGE)).lower()
    assert not [
        mark
        for mark in ("marked", "525252525252", "424242424242", "us-east-1", "use1", "5e11ed", "172.29.")
        if mark in text
    ]


@pytest.mark.parametrize(
    "changed, names",
    [
        ({}, []),
        ({"registry_name": "orders", "log_days": 7}, []),
        ({"watch.email": ""}, ["watch.email"]),
        ({"zones": "euw1-az1"}, ["zones"]),
        ({"watch.alarms": False, "metrics": False}, ["metrics", "watch.alarms"]),
        ({"watch.dashboard": False, "platform.tags": "", "function.reserved_concurrency": 0}, []),
        ({"platform.permissions_boundary": "", "platform.iam_path": "/"}, []),
        ({"platform.tags": "Größe=2"}, ["platform.tags"]),
    ],
)
def test_a_shape_differs_where_there_are_other_resources(changed: dict[str, object], names: list[str]) -> None:
    """A value alone makes no other shape: whoever changes one goes on without CDK."""
    assert differences(Settings.read(STAGE), Settings.read(STAGE | changed)) == names


def test_a_version_is_another_one_when_its_function_is(shape: Released) -> None:
    """An alias that stays at the version before would go on with the settings before."""

    def versions(**changed: object) -> set[str]:
        template = translated(shape, STAGE | changed)
        return {name for name, each in template["Resources"].items() if each["Type"] == "AWS::Lambda::Version"}

    assert versions() == versions(log_days=7)
    assert not versions() & versions(default_level="NONE")


@pytest.mark.soak
def test_every_released_shape_is_what_cdk_makes(maker: ModuleType, tmp_path: Path) -> None:
    """`make release` refuses any other."""
    assert {path.stem for path in maker.write(tmp_path)} == dict(maker.shapes()).keys()


def test_marks_are_a_stage_of_the_same_shape(maker: ModuleType) -> None:
    """Else a customer of that shape would be told to use CDK."""
    for name, settings in maker.shapes():
        assert not differences(maker.marked(settings), settings), name
