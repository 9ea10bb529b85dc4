"""An option of the commands of two regions that has no effect where it is given is refused, and nothing is done."""

from pathlib import Path

import pytest

from sigla.cli import main

SERVER, OTHER = "http://127.0.0.1:1", "http://127.0.0.1:2"
DIRECTORY, ANOTHER = "file:nowhere", "file:nowhere-else"
TABLE, TABLE_2 = "dynamodb+s3://t/b?region=eu-west-1", "dynamodb+s3://u/c?region=eu-central-1"
REGISTRY, USER, URL = ["--registry", "prod"], ["--user", "root:secret"], ["--url", "http://localhost:8081"]


@pytest.mark.parametrize(
    "words",
    [
        ["regions", SERVER, *REGISTRY],
        ["regions", SERVER, "--once"],
        ["regions", DIRECTORY, *USER],
        ["regions", DIRECTORY, "--once"],
        ["regions", TABLE, TABLE_2, *USER],
        ["regions", "abandon", SERVER, *REGISTRY],
        ["regions", "abandon", SERVER, "--json"],
        ["regions", "abandon", DIRECTORY, "--once"],
        ["regions", "abandon", TABLE, *USER],
        ["regions", "dismiss", SERVER, *REGISTRY],
        ["regions", "dismiss", DIRECTORY, "--json"],
        ["regions", "dismiss", SERVER, "--once"],
        ["regions", "dismiss", TABLE, *USER],
        ["regions", "follow", TABLE, TABLE_2, *USER],
        ["regions", "follow", TABLE, TABLE_2, "--json"],
        ["promote", SERVER, *REGISTRY],
        ["promote", SERVER, "--force", *URL],
        ["promote", SERVER, "--undo", *URL],
        ["promote", DIRECTORY, "--force", *URL],
        ["promote", DIRECTORY, "--primary", ANOTHER, "--undo", *URL],
        ["promote", DIRECTORY, "--primary", ANOTHER, *USER],
        ["promote", TABLE, "--primary", TABLE_2, *URL],
        ["promote", TABLE, "--primary", TABLE_2, *USER],
        ["promote", TABLE, "--force", *USER],
        ["rejoin", SERVER, "--primary", OTHER, *REGISTRY],
        ["rejoin", DIRECTORY, "--primary", ANOTHER, *URL],
        ["rejoin", TABLE, "--primary", TABLE_2, *USER],
    ],
    ids=" ".join,
)
def test_what_has_no_effect_is_refused_in_a_sentence(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main([*words, "--yes"]) == 2
    told = capsys.readouterr()
    (option,) = [word for word in words if word in ("--registry", "--user", "--url", "--json", "--once")]
    assert told.out == ""
    assert told.err.startswith(f"sigla: {option} has no effect here: "), told.err
    assert told.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []
