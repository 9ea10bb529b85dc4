"""A command that is to ask AWS, where the environment does not say whom."""

from pathlib import Path

import pytest

from sigla.cli import main

COMMANDS = ["export", "scrub", "import /dev/null", "explain 0000000001046f310e"]


@pytest.mark.parametrize(
    "environment", [{}, {"AWS_PROFILE": "nosuch"}, {"AWS_DEFAULT_REGION": "eu-west-1", "AWS_ENDPOINT_URL": "nonsense"}]
)
@pytest.mark.parametrize("command", COMMANDS)
def test_what_is_missing_is_one_sentence(
    command: str,
    environment: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE", "AWS_ENDPOINT_URL"):
        monkeypatch.delenv(name, raising=False)
    nothing = {"AWS_CONFIG_FILE": str(tmp_path / "none"), "AWS_SHARED_CREDENTIALS_FILE": str(tmp_path / "none")}
    for name, value in (nothing | environment).items():
        monkeypatch.setenv(name, value)
    assert main([*command.split(), "--bucket", "b", "--table", "t"]) == 2
    told = capsys.readouterr().err.splitlines()[-1]
    assert told.startswith("sigla: AWS cannot be asked (")
    assert told.endswith("): see AWS_REGION, AWS_PROFILE, AWS_ENDPOINT_URL.")
