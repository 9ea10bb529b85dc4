"""`make stage`: the first stage file, by asking or by options; never over one that is there."""

import os
import resource
import signal
import sys
import tomllib
from pathlib import Path

import boto3
import pytest

from infra import stage as command
from sigla.cli import main
from sigla.delivery import first_stage as stage
from sigla.deployment.settings import InvalidSetting, flat
from sigla.deployment.stage_files import path_of, settings_of

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(autouse=True)
def nowhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An environment without credentials and without a region: nothing is asked of AWS."""
    for name in [each for each in os.environ if each.startswith("AWS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)


def written(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["infra.stage", *arguments])
    return command.main()


@pytest.mark.usefixtures("here")
def test_a_stage_file_is_written_once_and_can_be_deployed(monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    """With an identity that no other registry has."""
    assert written(monkeypatch, "prod", "-c", "zones=use1-az1", "-c", "front_door.function_url=true") == 0
    settings = settings_of({"stage_file": str(path_of("prod"))})
    assert (settings.registry_name, settings.stack_name, settings.zones) == ("prod", "sigla-prod", "use1-az1")
    assert settings.front_door.function_url
    content = path_of("prod").read_text()
    assert written(monkeypatch, "prod") == 2
    assert path_of("prod").read_text() == content
    assert "stages/prod.toml exists already and is not changed" in capsys.readouterr().err
    assert written(monkeypatch, "dev") == 0
    assert settings_of({"stage_file": str(path_of("dev"))}).identity != settings.identity


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    "arguments, told",
    [
        (("../prod",), "Invalid name of a stage '../prod':"),
        (("prod", "-c", "zone=use1-az1"), "Unknown setting zone. "),
        (("prod", "-c", "zones=us-east-1a"), "zones is 'us-east-1a';"),
        (("prod", "-c", "zones"), "Invalid setting 'zones': expected NAME=VALUE"),
        (("prod", "-c", "identity=prod"), "identity is 'prod';"),
        (("prod", "-c", "watch/dashboard=true"), "Unknown setting watch/dashboard: "),
        (("prod", "-c", "platform.tags:team=data"), "Unknown setting platform.tags:team: "),
        (
            ("prod", "-c", "watch.email=\udcff@example.com"),
            "stages/prod.toml cannot be written: its name, or a setting",
        ),
        (("prod", "-c", "stage=local"), "A stage file is for AWS only: "),
        (("x" * 300,), f"Invalid name of a stage '{'x' * 300}':"),
        (("My_Prod",), "registry_name is 'my_prod';"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_is_written(
    monkeypatch: pytest.MonkeyPatch, capsys: Captured, arguments: tuple[str, ...], told: str
) -> None:
    assert written(monkeypatch, *arguments) == 2
    assert capsys.readouterr().err.startswith(told)
    assert not list(Path().rglob("*.toml"))


@pytest.mark.usefixtures("here")
def test_a_file_that_is_cut_off_is_not_left() -> None:
    """As by a full disk: no deployment could be made of it, and no other file would take its place."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handled = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))
    try:
        with pytest.raises(InvalidSetting, match=r"stages/prod.toml cannot be written \(File too large\)"):
            stage.write(path_of("prod"), "# much\n" * 100)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handled)
    assert not path_of("prod").exists()


@pytest.mark.usefixtures("here")
def test_it_says_why_a_file_cannot_be_written(monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    """It said that the file was there already, and had an identity, where it was not."""
    Path("stages").write_text("")
    assert written(monkeypatch, "prod") == 2
    assert capsys.readouterr().err == "stages/prod.toml cannot be written (File exists).\n"
    Path("stages").unlink()
    Path("stages").mkdir()
    path_of("prod").symlink_to("nowhere")
    assert written(monkeypatch, "prod") == 2
    assert "stages/prod.toml exists already and is not changed" in capsys.readouterr().err


def test_it_asks_again_what_was_answered_wrongly(capsys: Captured) -> None:
    """And takes a default where nothing is typed."""
    answers = iter(["Orders", "orders", "", "", "us-east-1a", "use1-az1", ""])
    asked: list[str] = []

    def ask(question: str) -> str:
        asked.append(question)
        return next(answers, "")

    settings = stage.chosen("prod", {}, ask)
    assert (settings.registry_name, settings.zones, settings.front_door.function_url) == ("orders", "use1-az1", False)
    assert asked[0] == "Name of the registry; every stored name begins with it [prod]: "
    assert capsys.readouterr().err.startswith("registry_name is 'Orders';")


def test_it_offers_the_account_and_the_region_of_the_environment() -> None:
    """Whoever makes a stage has them at hand then; later, other credentials begin no other registry by this file."""
    found = {"account": "111122223333", "region": "eu-west-1"}
    asked: list[str] = []

    def ask(question: str) -> str:
        asked.append(question)
        return ""

    settings = stage.chosen("prod", {}, ask, found)
    assert (settings.account, settings.region) == ("111122223333", "eu-west-1")
    assert [question for question in asked if "[111122223333]" in question or "[eu-west-1]" in question]
    said = tomllib.loads(stage.text(Path("prod.toml"), settings))
    assert (said["account"], said["region"]) == ("111122223333", "eu-west-1")
    elsewhere = stage.chosen("prod", {"account": "444455556666"}, ask, found)
    assert elsewhere.account == "444455556666"


def test_it_says_where_it_is_deployed_also_where_nobody_is_asked() -> None:
    """Such a file was for wherever credentials led: those of another region began another, empty registry by it."""
    found = {"account": "111122223333", "region": "eu-west-1"}
    settings = stage.chosen("prod", {}, None, found)
    assert (settings.account, settings.region) == ("111122223333", "eu-west-1")
    anywhere = stage.chosen("prod", {"account": "", "region": ""}, None, found)
    assert (anywhere.account, anywhere.region) == ("", "")


def test_a_file_that_was_lost_is_written_again_with_its_identity() -> None:
    """One that is drawn anew is another registry's, and `make deploy` says so, but not what to do."""
    given = {"stack_name": "sigla-orders", "registry_name": "orders", "identity": "d" * 32}
    settings = stage.chosen("prod", given, None)
    assert (settings.stack_name, settings.registry_name, settings.identity) == ("sigla-orders", "orders", "d" * 32)


@pytest.mark.usefixtures("here")
def test_what_is_wrong_whatever_is_answered_is_not_asked_for_ever() -> None:
    """What was given by -c does not fit together, or not yet: no answer to another question could be right."""
    given = {"front_door.zone_urls": "false"}
    with pytest.raises(InvalidSetting, match=r"front_door.zone_urls"):
        stage.chosen("prod", {**given, "zones": "use1-az1"}, lambda _: "")


def test_what_is_offered_can_be_left_empty() -> None:
    """A stage that goes wherever credentials lead: an empty line takes the offer."""
    found = {"account": "111122223333", "region": "eu-west-1"}
    settings = stage.chosen("prod", {}, lambda question: "-" if "account" in question else "", found)
    assert (settings.account, settings.region) == ("", "eu-west-1")


def test_zones_of_another_region_are_asked_for_again(capsys: Captured) -> None:
    """Only CloudFormation refused them, when half of the stack was there."""
    answers = iter(["", "", "", "use1-az1", "euw1-az1"])
    found = {"account": "111122223333", "region": "eu-west-1"}
    settings = stage.chosen("prod", {}, lambda _: next(answers, ""), found)
    assert settings.zones == "euw1-az1"
    assert capsys.readouterr().err.startswith("zones must be in region:")


def test_without_credentials_it_offers_what_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stage can be made on a machine that never sees the account."""
    assert stage.surroundings() == {}
    monkeypatch.setenv("AWS_REGION", "eu-west-1")
    assert stage.surroundings() == {"region": "eu-west-1"}


def test_a_stage_file_says_again_what_it_was_made_of() -> None:
    """Quotes, backslashes and characters of other scripts included."""
    given = {"front_door.cors": "x"}
    with pytest.raises(InvalidSetting):
        stage.chosen("prod", given, None)
    odd = 'a"b\\c ü 𝄞\x7f.yaml'
    settings = stage.chosen("prod", {"pipelines.land": odd, "log_reads": "0.5", "log_days": "7"}, None)
    said = tomllib.loads(stage.text(Path("prod.toml"), settings))
    assert said["pipelines"]["land"] == odd
    assert (said["log_reads"], said["log_days"], said["identity"]) == (0.5, 7, flat(settings)["identity"])


def test_whoever_has_the_wheel_alone_writes_a_stage_file(here: Path, capsys: Captured) -> None:
    """There is neither `make` nor an example then: the file is what `sigla deploy` reads."""
    file = here / "my stage.toml"
    words = ["stage", str(file), "-c", "registry_name=orders", "-c", "account=111122223333", "-c", "region=eu-west-1"]
    assert main(words) == 0
    told = capsys.readouterr()
    assert told.out == f"Wrote {file}: the stack sigla-orders, the registry orders.\n"
    assert told.err == f"Next: sigla deploy '{file}'\n"
    settings = settings_of({"stage_file": str(file)})
    assert (settings.account, settings.region, len(settings.identity)) == ("111122223333", "eu-west-1", 32)
    content = file.read_text()
    assert main(words) == 2
    assert "exists already and is not changed" in capsys.readouterr().err
    assert file.read_text() == content


def test_a_question_that_is_interrupted_writes_nothing(
    here: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-D, or Ctrl-C."""
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr("sys.stdin.readline", lambda: "")
    assert main(["stage", str(here / "prod.toml")]) == 130
    assert capsys.readouterr().err.splitlines()[-1] == "sigla: Interrupted. Nothing was written."
    assert not list(here.rglob("*.toml"))
