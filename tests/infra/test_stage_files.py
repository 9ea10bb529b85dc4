"""Stage files: what a deployment is stands in one of them, and what cannot be read is refused in a sentence."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sigla.deployment import stage_files
from sigla.deployment.settings import InvalidSetting, Settings
from sigla.deployment.stage_files import EXAMPLES, FILE_ONLY, fingerprint, settings_of
from tests.infra.conftest import EXAMPLES as NAMES

IDENTITY = "0123456789abcdef0123456789abcdef"

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Writes a stage file below a working directory that has nothing else."""
    monkeypatch.chdir(tmp_path)

    def written(text: str | bytes, name: str = "prod", *, identity: str = IDENTITY) -> Path:
        path = stage_files.path_of(name)
        path.parent.mkdir(exist_ok=True)
        head = f'identity = "{identity}"\n' if identity else ""
        path.write_bytes(text if isinstance(text, bytes) else (head + text).encode())
        return path

    return written


def refusal(context: dict[str, Any]) -> str:
    with pytest.raises(InvalidSetting) as refused:
        settings_of(context)
    sentence = str(refused.value)
    assert "\n" not in sentence
    return sentence


def test_tables_mirror_the_names_of_settings(write: Write) -> None:
    """Whoever knows the one knows the other."""
    path = write(
        'registry_name = "payments"\nzones = "use1-az1"\nlog_reads = 1\n'
        '[front_door]\nfunction_url = true\n[ring]\nmembers = 3\n[pipelines]\nland = "land.yaml"\n'
    )
    settings = settings_of({"stage_file": str(path), "aws:cdk:x": 1})
    assert (settings.registry_name, settings.identity, settings.stack_name) == ("payments", IDENTITY, "sigla-payments")
    assert (settings.front_door.function_url, settings.ring.members, settings.log_reads) == (True, 3, 1.0)
    assert settings.pipelines.land == "stages/land.yaml", "paths are seen from the stage file"


@pytest.mark.parametrize(
    "text, told",
    [
        ("[front_door]\nfunction_urls = true\n", "stages/prod.toml: Unknown setting front_door.function_urls. "),
        ('[ring]\nzones = ""\n', "stages/prod.toml: zones is below [ring]: move it above the first table."),
        ('[front_door]\nfunction_url = "true"\n', "it must be true or false, without quotes."),
        ("registry_name = 7\n", "stages/prod.toml: registry_name is 7; it must be text, in quotes."),
        ('zones = ["use1-az1"]\n', "stages/prod.toml: zones is ['use1-az1']; it must be text"),
        ("[function]\nmemory_mb = 1.5\n", "function.memory_mb is 1.5; it must be a whole number."),
        ("log_reads = nan\n", "stages/prod.toml: log_reads is nan; it must be between 0 and 1."),
        ("log_days = true\n", "stages/prod.toml: log_days is True; it must be a whole number."),
        ("log_days = 1979-05-27\n", "it must be a whole number."),
        (f"log_days = {'1' * 5_000}\n", "stages/prod.toml contains a number that is too large, or tables nested"),
        (f"log_reads = {'1' * 400}\n", "log_reads is inf; it must be between 0 and 1."),
        (f"zones = {'[' * 9_000}{']' * 9_000}\n", "contains a number that is too large, or tables nested too deeply."),
        ("[zones]\n", "stages/prod.toml: zones is {}; it must be text, in quotes."),
        ("[rings]\n", "stages/prod.toml: Unknown setting rings. "),
        ("[[ring]]\nmembers = 1\n", "stages/prod.toml: ring is a table: write [ring] once"),
        ("ring = 1\n", "stages/prod.toml: ring is a table: write [ring] once"),
        ('"ring.kind" = "none"\n[ring]\nkind = "valkey"\n', "stages/prod.toml: ring.kind occurs twice."),
        ("registry_name = payments\n", "The stage file stages/prod.toml is not TOML: Invalid value (at line 2"),
        (b"\xff\xfe", "The stage file stages/prod.toml is not TOML: it is not UTF-8."),
        ('auth = "auto"\n', "stages/prod.toml: auth is 'auto'; it must be keys or none."),
        ('stack_name = "my stack"\n', "stages/prod.toml: stack_name is 'my stack'; it must be 1 to 128 letters"),
    ],
)  # fmt: skip
def test_what_a_stage_file_cannot_say_is_refused_in_a_sentence(write: Write, text: str | bytes, told: str) -> None:
    """Which file, which setting, what is right: before anything is deployed."""
    assert told in refusal({"stage_file": str(write(text))})


def test_a_file_that_an_editor_saved_with_its_mark_is_read(write: Write) -> None:
    """Some begin a file with it."""
    path = write(b"\xef\xbb\xbfidentity = '" + IDENTITY.encode() + b"'\r\nregistry_name = 'orders'\r\n")
    assert settings_of({"stage_file": str(path)}).registry_name == "orders"


@pytest.mark.parametrize("of_cdk", [{"front_door.function_url": "true"}, {}])
def test_what_was_compared_is_what_cdk_reads(write: Write, of_cdk: dict[str, str]) -> None:
    """CDK adds what stands in ~/.cdk.json; and the file may be saved while a deployment runs."""
    path = write('registry_name = "orders"\n')
    compared = {"stage_file": str(path), "sigla:settings": fingerprint(settings_of({"stage_file": str(path)}))}
    assert settings_of(compared).registry_name == "orders"
    if not of_cdk:
        write('registry_name = "payments"\n')
    assert refusal(compared | of_cdk).startswith(
        "Nothing was deployed: the settings differ from those that were checked. stages/prod.toml has"
    )


def test_without_a_stage_file_nothing_is_deployed(write: Write) -> None:
    """A forgotten flag must not be a deployment with defaults."""
    assert refusal({}) == (
        "No stage file: name one by -c stage_file=PATH, or write one: `sigla stage stages/default.toml`."
    )
    assert refusal({"stage_file": ""}) == refusal({})
    assert refusal({"stage_file": "stages/dev.toml"}) == (
        "Stage file not found: stages/dev.toml: `sigla stage stages/dev.toml` writes a new one, "
        "docs/deploy.md#a-lost-file restores a lost one."
    )
    assert refusal({"stage_file": "."}) == "The stage file . cannot be read (Is a directory)."
    write('registry_name = "orders"\n', "default")
    assert settings_of({}).registry_name == "orders"


def test_a_deployment_has_an_identity_of_its_own(write: Write) -> None:
    """Two registries with one identity could be taken for each other, which it is there to prevent."""
    assert refusal({"stage_file": str(write("", identity=""))}).startswith("stages/prod.toml: identity is missing;")
    copied = write("", identity=stage_files.EXAMPLES_IDENTITY)
    assert refusal({"stage_file": str(copied)}).startswith("stages/prod.toml: identity is the one of the examples;")


@pytest.mark.parametrize("name", FILE_ONLY)
def test_where_the_data_is_and_where_clients_find_it_stands_in_the_file_only(write: Write, name: str) -> None:
    """With flags, the one deployment that forgets one gives the same stack another, empty registry, or no name."""
    path = write("")
    told = refusal({"stage_file": str(path), name: "x"})
    assert told == (
        f"-c cannot set {name}: the place of the data and the addresses of clients belong in the stage file {path}."
    )
    assert name in refusal({"stage_file": str(path), name: "local" if name == "stage" else ""})


def test_a_command_line_may_give_what_does_not_say_where_the_data_is(write: Write) -> None:
    """For a try; the file stays as it is."""
    path = write("[front_door]\nfunction_url = true\n")
    settings = settings_of({"stage_file": str(path), "front_door.function_url": "false", "log_days": "7"})
    assert (settings.front_door.function_url, settings.log_days) == (False, 7)
    assert refusal({"stage_file": str(path), "log_days": "8"}).startswith("log_days is 8;")


def test_a_local_stack_needs_no_file_and_is_never_the_update_of_one_that_keeps_its_data(write: Write) -> None:
    """Its bucket and table go with it: `cdk deploy -c stage=local` must not be that to a registry in use."""
    write('registry_name = "orders"\n', "default")
    local = settings_of({"stage": "local", "table_name": "given", "registry_name": "orders"})
    assert (local.identity, local.table_name, local.stack_name) == ("", "given", "sigla-local-orders")
    assert settings_of({}).stack_name == "sigla-orders"
    of_file = write('stage = "local"\n', "here")
    assert settings_of({"stage_file": str(of_file), "stage": "local", "table_name": "given"}).table_name == "given"


@pytest.mark.parametrize("name", ["", "../prod", "a/b", ".hidden", "a b"])
def test_a_stage_has_a_name_that_is_a_files(name: str) -> None:
    with pytest.raises(InvalidSetting, match="Invalid name of a stage"):
        stage_files.path_of(name)


@pytest.mark.parametrize("name", NAMES)
def test_the_examples_can_be_read(name: str) -> None:
    """They are what a deployer copies from."""
    settings = settings_of({}, otherwise=EXAMPLES / f"{name}.toml")
    assert isinstance(settings, Settings)
    assert sorted(NAMES) == sorted(path.stem for path in EXAMPLES.glob("*.toml"))
