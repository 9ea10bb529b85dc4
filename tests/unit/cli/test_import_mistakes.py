"""Mistakes of a first import, each with what puts it right."""

import json
from pathlib import Path
from typing import Any

import pytest

from sigla.cli import main
from tests.unit.cli.written import written
from tests.unit.journal.topic import topic

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def data(tmp_path: Path) -> str:
    return str(tmp_path / "data")


@pytest.mark.parametrize(
    "records, number",
    [([], "no record was read"), ([({"keytype": "NOOP", "magic": 0}, None)] * 2, "2 records were read")],
    ids=["none", "markers"],
)
def test_a_dump_with_nothing_in_it_is_remarked(
    tmp_path: Path, data: str, capsys: Captured, records: list[Any], number: str
) -> None:
    """A consumer that was stopped too soon, or read the wrong topic, leaves such a file: a zero alone would hide it."""
    source = written(tmp_path / "a.jsonl", topic(*records))
    assert main(["import", source, "--data", data]) == 0
    assert f"  1 × there was nothing to import\n      {number}\n" in capsys.readouterr().out
    assert main(["import", source, "--data", data, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["remarks"] == [
        {"why": "there was nothing to import", "count": 1, "examples": [number]}
    ]


def test_an_empty_source_is_told_what_may_stand_there(capsys: Captured) -> None:
    """An unset variable in a script."""
    with pytest.raises(SystemExit) as ended:
        main(["import", ""])
    assert ended.value.code == 2
    assert "it is empty: name a file, a directory or a URL, or - for standard input" in capsys.readouterr().err


VALUE = b'{"subject":"o","version":1,"id":1,"schema":"\\"int\\"","deleted":false}\n'

WITHOUT_KEYS = {"a value": VALUE, "a tombstone": b"null\n", "columns": b"CreateTime:1\tOffset:3\t" + VALUE}


@pytest.mark.parametrize(
    "url",
    [
        "https://me:a/s3cr3t@host",
        "https://me:12/s3cr3t@host",
        "https://me:12?s3cr3t@host",
        "https://me:12#s3cr3t@host",
        "https://me:x@me:12/s3cr3t@host/path",
        "ftp://me:s3cr3t@host",
        "https://me:s3cr3t@host:99999",
    ],
)
def test_what_is_no_url_is_told_without_its_secret(data: str, capsys: Captured, url: str) -> None:
    """A password with a slash makes it none, and what a timer prints is in a log.

    One that begins with a number is read as a port, of a host that is called as the user is: nothing is sent there.
    """
    for command in (["import", url, "--data", data], ["zone-url", "--registry", url]):
        assert main(command) == 2
        told = capsys.readouterr().err
        assert "s3cr3t" not in told
        assert "host" in told
        assert "me:" not in told
    assert main(["explain", "--registry-url", url, "00000000010000"]) == 2
    assert "s3cr3t" not in capsys.readouterr().err


@pytest.mark.parametrize("line_", WITHOUT_KEYS.values(), ids=WITHOUT_KEYS)
def test_a_dump_without_keys_is_told_how_to_have_them(
    tmp_path: Path, data: str, capsys: Captured, line_: bytes
) -> None:
    """Kafka's console consumer prints none unless it is told to, and nor does kcat."""
    (tmp_path / "a.jsonl").write_bytes(line_)
    assert main(["import", str(tmp_path / "a.jsonl"), "--data", data]) == 2
    (sentence,) = capsys.readouterr().err.splitlines()
    assert sentence.startswith("sigla: Line 1 of ")
    for option in ("has no key", "kcat prints it with -J", "--property print.key=true"):
        assert option in sentence


@pytest.mark.parametrize(
    "source, option, scheme",
    [
        ("https://registry:8081", "--settings", "kafka://"),
        ("a.jsonl", "--settings", "kafka://"),
        ("kafka://broker:9092/_schemas", "--user", "https://"),
        ("a.jsonl", "--user", "https://"),
    ],
)
def test_an_option_that_says_nothing_of_the_source_is_not_passed_by(
    data: str, capsys: Captured, source: str, option: str, scheme: str
) -> None:
    """Whoever gives it believes that it is used, as credentials are."""
    assert main(["import", source, option, "x", "--data", data]) == 2
    assert capsys.readouterr().err == f"sigla: {option} is for sources that begin with {scheme}: leave it out.\n"
