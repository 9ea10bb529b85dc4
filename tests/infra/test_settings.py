"""Settings: the record, cdk.json and docs/deploy.md say the same, and what cannot be is refused in a sentence."""

import re
from pathlib import Path

import pytest

from infra.settings import InvalidSetting, Settings, flat
from sigla.rules.compatibility import LEVELS
from tests.infra.conftest import CONTEXT

PAGE = Path(__file__).parents[2] / "docs" / "deploy.md"


def test_cdk_json_holds_the_defaults() -> None:
    """A deployer reads them there; the record and the file say the same."""
    assert Settings.read(CONTEXT) == Settings()
    assert {name: value for name, value in CONTEXT.items() if not re.search("[:/]", name)} == flat(Settings())


def test_every_setting_is_documented_with_its_default() -> None:
    """A deployer looks there first, and a wrong default is worse than none."""
    documented = dict(re.findall(r"^\| `([a-z0-9_.]+)` \| (?:`([^`]*)`|none) \|", PAGE.read_text(), re.MULTILINE))
    shown = {
        name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in flat(Settings()).items()
    }
    assert documented == shown


def test_a_setting_with_a_typo_is_refused_by_name() -> None:
    """It must not become a default; what CDK keeps in the context is not ours to judge."""
    assert Settings.read({"@aws-cdk/core:anything": True, "aws:cdk:x": 1}) == Settings()
    with pytest.raises(InvalidSetting, match=r"^registry_nam: no such setting; the settings are stage, .*\.$"):
        Settings.read({"registry_nam": "payments"})
    with pytest.raises(InvalidSetting, match=r"^front_door\.function_urls: no such setting"):
        Settings.read({"front_door.function_urls": "true"})


def test_what_the_command_line_gives_as_text_is_read_as_what_it_is() -> None:
    """`cdk deploy -c watch.alarms=false` must not mean true."""
    given = {"front_door.function_url": "true", "watch.alarms": "False", "function.memory_mb": "1024"}
    settings = Settings.read(given)
    assert settings.front_door.function_url is True
    assert settings.watch.alarms is False
    assert settings.function.memory_mb == 1024
    assert settings.watch.topic_arn == ""


@pytest.mark.parametrize(
    "name, value, sentence",
    [
        ("stage", "prod", "stage is 'prod'; it must be aws or local."),
        ("auth", "auto", "auth is 'auto'; it must be keys or none."),
        ("watch.alarms", "maybe", "watch.alarms is 'maybe'; it must be true or false."),
        ("function.memory_mb", "lots", "function.memory_mb is 'lots'; it must be a whole number."),
        ("log_reads", "few", "log_reads is 'few'; it must be a number."),
        ("log_reads", 2, "log_reads is 2.0; it must be between 0 and 1."),
        ("function.memory_mb", 100, "function.memory_mb is 100; it must be 256 to 10240."),
        ("front_door.burst", 0, "front_door.burst is 0; it must be 1 to 5000."),
        ("watch.topic_arn", "oncall", "watch.topic_arn is 'oncall'; it must be an ARN, or empty."),
    ],
)
def test_a_value_that_cannot_be_is_refused_in_a_sentence(name: str, value: object, sentence: str) -> None:
    """Which setting, what it is, what it must be: before anything is deployed."""
    with pytest.raises(InvalidSetting) as refused:
        Settings.read({name: value})
    assert str(refused.value) == sentence


def test_a_domain_needs_its_certificate() -> None:
    """And says so before CloudFormation would, minutes later."""
    with pytest.raises(InvalidSetting, match="go together"):
        Settings.read({"front_door.domain_name": "registry.example.com"})


@pytest.mark.parametrize("name", ["", "-a", "A", "a/b", "a#b", "x" * 64])
def test_a_registry_name_fits_every_stored_name(name: str) -> None:
    """It is the first component of keys in S3 and DynamoDB."""
    with pytest.raises(InvalidSetting, match="registry_name"):
        Settings(registry_name=name)


@pytest.mark.parametrize("level", LEVELS)
def test_every_level_can_be_the_default(level: str) -> None:
    assert Settings(default_level=level).default_level == level
