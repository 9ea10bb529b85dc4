"""`sigla auth explain`: what an operator learns of a token."""

import io
import json
import time
from pathlib import Path

import pytest

from sigla.cli import main
from tests.issuer import Issuer

Captured = pytest.CaptureFixture[str]
ROWS = (
    {"when": {"groups": "data-eng", "tenant": "a"}, "role": "admin", "subjects": ["a-"]},
    {"when": {"sub": "etl"}, "role": "writer", "subjects": ["orders-", ":.team:"]},
)


@pytest.fixture
def issuer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Issuer:
    """One whose keys lie in a file, and a setting that names it."""
    issuer = Issuer()
    (tmp_path / "keys.json").write_text(json.dumps(issuer.jwks))
    setting = issuer.setting(*ROWS, jwks=str(tmp_path / "keys.json"))
    (tmp_path / "issuers.json").write_text(json.dumps([setting]))
    monkeypatch.setenv("SIGLA_ISSUERS", str(tmp_path / "issuers.json"))
    return issuer


def test_a_good_token_is_told_with_all_that_it_is(issuer: Issuer, capsys: Captured) -> None:
    """Who, what it may, and by which row: before a client is given it."""
    assert main(["auth", "explain", issuer.token("ec", time.time(), exp=4_102_444_800)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "issuer    https://issuer.test",
        "principal etl@issuer.test",
        "signed    ES256 by the key ec",
        "until     2100-01-01 00:00:00 UTC",
        "is        writer of orders- :.team:",
        "by        row 2 of the map: sub etl",
    ]


def test_a_token_that_no_row_knows_is_told_row_by_row(issuer: Issuer, capsys: Captured) -> None:
    """The operator sees which claim is missing."""
    assert main(["auth", "explain", issuer.token("ec", time.time(), sub="ada", groups=["data-eng"])]) == 1
    assert capsys.readouterr().out.splitlines()[-3:] == [
        "is        good for nothing (403): no row of the map holds",
        "row 1     groups data-eng, tenant a; tenant is missing",
        "row 2     sub etl; sub is 'ada'",
    ]


@pytest.mark.parametrize(
    "token, why",
    [
        ("eyJ", "The token is refused (401). It is not three parts in base64url"),
        ("", "The token is refused (401). It is not three parts"),
        ("\udcff", "The token is refused (401). It is not three parts"),
        ("good", "The token is refused (401). It expired 17"),
    ],
)
def test_a_refused_token_is_told_in_one_sentence(issuer: Issuer, token: str, why: str, capsys: Captured) -> None:
    given = issuer.token("ec", exp=1_000) if token == "good" else token
    assert main(["auth", "explain", given]) == 1
    assert why[:60] in capsys.readouterr().err


def test_a_token_comes_from_standard_input_as_it_was_copied(
    issuer: Issuer, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    """With its scheme and line breaks: what is an argument can be seen by others on the machine."""
    token = issuer.token("ec", time.time())
    monkeypatch.setattr("sys.stdin", io.StringIO(f"  Bearer {token}\n"))
    assert main(["auth", "explain", "-"]) == 0
    assert "etl@issuer.test" in capsys.readouterr().out


@pytest.mark.parametrize(
    "setting, why",
    [
        ("", "No issuer is known here"),
        ("nowhere.json", "nowhere.json cannot be read"),
        ("[", "It is not JSON"),
        ("[]", "It is not a list of issuers"),
        ('[{"issuer": "https://a"}]', "issuer 1: map must be a list of rows"),
    ],
)
def test_issuers_that_cannot_be_read_are_misuse(
    setting: str, why: str, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.setenv("SIGLA_ISSUERS", setting)
    assert main(["auth", "explain", "a.b.c"]) == 2
    assert why in capsys.readouterr().err


def test_an_issuer_that_does_not_answer_is_told(capsys: Captured) -> None:
    """Nothing listens there."""
    there = Issuer("https://127.0.0.1:9")
    issuers = json.dumps([there.setting()])
    assert main(["auth", "explain", there.token("ec", time.time()), "--issuers", issuers]) == 1
    assert "The keys of its issuer cannot be read: https://127.0.0.1:9/.well-known/" in capsys.readouterr().err


def test_a_token_is_told_for_one_of_several_registries(issuer: Issuer, tmp_path: Path, capsys: Captured) -> None:
    """Its row may be of another one: then it is good for nothing there, and the row says whose it is."""
    rows = [{**ROWS[1], "registry": ["payments", "ads"]}]
    setting = json.dumps([issuer.setting(*rows, jwks=str(tmp_path / "keys.json"))])
    token = issuer.token("ec", time.time())
    assert main(["auth", "explain", token, "--issuers", setting, "--registry", "ads"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "in        payments ads"
    assert main(["auth", "explain", token, "--issuers", setting, "--registry", "third"]) == 1
    assert capsys.readouterr().out.splitlines()[-1] == "row 1     sub etl; it is of payments ads"
