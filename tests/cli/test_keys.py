import json
import re
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from sigla.auth.api_keys import ApiKey, read_key, shown_moment, verifier_of
from sigla.cli import main
from sigla.opening import operator
from sigla.settings import PREFIX
from sigla.stores.clock import SystemClock
from sigla.stores.sqlite.keys import EmbeddedKeys
from tests.build import NOW
from tests.contract.engines import BUCKET, REGION, in_process


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(f"{PREFIX}REGISTRY_NAME", raising=False)


@pytest.fixture
def data(tmp_path: Path) -> str:
    return str(tmp_path / "data")


Captured = pytest.CaptureFixture[str]


def test_a_key_is_two_lines_that_a_person_and_a_script_can_read(data: str, capsys: Captured) -> None:
    """Standard output has what is to be kept, standard error what is to be known."""
    assert (
        main(["keys", "create", "orders", "--role", "writer", "--subjects", "orders-", ":.team:", "--data", data]) == 0
    )
    told = capsys.readouterr()
    (first, second) = told.out.splitlines()
    assert first == "key: orders"
    assert "cannot be shown again" in told.err
    kept = EmbeddedKeys(Path(data)).get("orders")
    assert kept is not None
    key = read_key("orders", kept)
    assert key.verifier == verifier_of(second.removeprefix("secret: "))
    assert (key.role, key.subjects) == ("writer", ("orders-", ":.team:"))


def test_a_key_may_only_read_unless_more_is_asked_for(data: str, capsys: Captured) -> None:
    assert main(["keys", "create", "curious", "--data", data, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert set(told) == {"key", "secret", "role", "delete", "subjects", "created", "expires", "former", "by"}
    assert (told["key"], told["role"], told["subjects"]) == ("curious", "reader", [])


def test_keys_are_listed_without_anything_that_opens_a_door(data: str, capsys: Captured) -> None:
    main(["keys", "create", "orders", "--role", "writer", "--subjects", "orders-", "--data", data])
    main(["keys", "create", "chief", "--role", "admin", "--data", data])
    secret = capsys.readouterr().out.splitlines()[1].removeprefix("secret: ")
    assert main(["keys", "list", "--data", data]) == 0
    table = capsys.readouterr().out
    assert [line.split()[:3] for line in table.splitlines()] == [
        ["key", "role", "subjects"],
        ["chief", "admin", "all"],
        ["orders", "writer", "orders-"],
    ]
    assert main(["keys", "list", "--data", data, "--json"]) == 0
    listed = capsys.readouterr().out
    assert [one["key"] for one in json.loads(listed)] == ["chief", "orders"]
    for told in (table, listed):
        assert secret not in told
        assert verifier_of(secret) not in told


def test_nothing_is_listed_where_there_are_no_keys(data: str, capsys: Captured) -> None:
    """And nothing is made by looking."""
    assert main(["keys", "list", "--data", data, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == []
    assert not Path(data).exists()


def test_a_revoked_key_is_gone(data: str, capsys: Captured) -> None:
    """It says how long the last requests with it may be answered."""
    main(["keys", "create", "orders", "--data", data])
    assert main(["keys", "revoke", "orders", "--data", data, "--json"]) == 0
    told = capsys.readouterr()
    assert json.loads(told.out.splitlines()[-1]) == {"key": "orders", "revoked": True}
    assert "a minute" in told.err
    assert listed(data, capsys) == []


def test_a_damaged_key_is_told_beside_the_others(data: str, capsys: Captured) -> None:
    """A copied file, a hand in an editor: the operator learns of it, and the other keys go on."""
    main(["keys", "create", "orders", "--data", data])
    main(["keys", "create", "broken", "--subjects", "abc", "--data", data])
    folder = Path(data) / "default" / "keys"
    text = (folder / "broken.json").read_text()
    (folder / "broken.json").write_text(text.replace('["abc"]', '"abc"'))
    (folder / "copied.json").write_bytes((folder / "orders.json").read_bytes())
    (folder / "orders (1).json").write_bytes((folder / "orders.json").read_bytes())
    capsys.readouterr()
    assert main(["keys", "list", "--data", data]) == 1
    told = capsys.readouterr()
    assert [line.split()[0] for line in told.out.splitlines()] == ["key", "orders"]
    assert "The key broken in" in told.err
    assert "its subjects is not a list of texts" in told.err
    assert told.err.count("it is the record of a key 'orders'") == 2
    assert main(["keys", "list", "--data", data, "--json"]) == 1
    assert {one["key"] for one in json.loads(capsys.readouterr().out) if "damaged" in one} == {
        "broken",
        "copied",
        "orders (1).json",
    }


def test_what_cannot_be_done_is_refused_in_a_sentence(data: str, capsys: Captured) -> None:
    main(["keys", "create", "orders", "--data", data])
    assert main(["keys", "create", "orders", "--data", data]) == 1
    assert main(["keys", "revoke", "nobody", "--data", data]) == 1
    told = capsys.readouterr().err
    assert "already" in told
    assert "Unknown key nobody" in told


def test_a_directory_that_is_none_is_refused_in_a_sentence(tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "data").write_text("mine")
    for action in (["create", "x"], ["revoke", "x"]):
        assert main(["keys", *action, "--data", str(tmp_path / "data")]) == 1
        assert str(tmp_path / "data") in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments, word",
    [
        (["a:b"], "a:b"),
        (["orders", "--role", "king"], "reader, writer, admin"),
        (["orders", "--subjects", "orders-*"], "orders-*"),
        (["orders", "--subjects", ""], "empty prefix would mean every subject"),
        (["orders", "--subjects", "orders-", ""], "empty prefix would mean every subject"),
    ],
)
def test_misuse_is_refused_in_a_sentence(data: str, capsys: Captured, arguments: list[str], word: str) -> None:
    assert main(["keys", "create", *arguments, "--data", data]) == 2
    assert word in capsys.readouterr().err
    assert not Path(data).exists()


def test_a_setting_that_is_none_stops_it(data: str, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    """A typo in the registry's name would make a key for a registry that does not run."""
    monkeypatch.setenv(f"{PREFIX}REGISTRI_NAME", "x")
    assert main(["keys", "list", "--data", data]) == 2
    assert "REGISTRI_NAME" in capsys.readouterr().err


def test_keys_belong_to_the_registry_of_the_settings(data: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(f"{PREFIX}REGISTRY_NAME", "other")
    main(["keys", "create", "orders", "--data", data])
    assert EmbeddedKeys(Path(data), registry="other").get("orders")
    assert EmbeddedKeys(Path(data)).get("orders") is None


def test_keys_belong_to_the_registry_that_is_named(data: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A leaked key must be found in the registry that it opens, whatever the environment says."""
    monkeypatch.setenv(f"{PREFIX}REGISTRY_NAME", "other")
    assert main(["keys", "create", "orders", "--data", data, "--registry", "prod"]) == 0
    assert EmbeddedKeys(Path(data), registry="prod").get("orders")
    assert main(["keys", "revoke", "orders", "--data", data, "--registry", "prod"]) == 0


def test_a_key_for_a_registry_in_aws_is_made_in_its_bucket(monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    """With the credentials of who may write there: the first key needs no other."""
    with in_process() as clients:
        monkeypatch.setenv("AWS_DEFAULT_REGION", REGION)
        assert main(["keys", "create", "deployer", "--role", "admin", "--bucket", BUCKET]) == 0
        capsys.readouterr()
        assert main(["keys", "list", "--bucket", BUCKET, "--json"]) == 0
        assert [each["key"] for each in json.loads(capsys.readouterr().out)] == ["deployer"]
        listed = clients.s3.list_objects_v2(Bucket=BUCKET)["Contents"]
        assert [each["Key"] for each in listed] == ["default/keys/deployer"]
        assert main(["keys", "list", "--store", f"dynamodb+s3://table/{BUCKET}", "--json"]) == 0
        assert [each["key"] for each in json.loads(capsys.readouterr().out)] == ["deployer"]
        assert main(["keys", "revoke", "deployer", "--bucket", BUCKET]) == 0
        assert main(["keys", "revoke", "deployer", "--bucket", BUCKET]) == 1
        assert f"Unknown key deployer in the bucket {BUCKET}" in capsys.readouterr().err


def test_a_bucket_that_is_not_there_is_told_in_a_sentence(monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    with in_process():
        monkeypatch.setenv("AWS_DEFAULT_REGION", REGION)
        assert main(["keys", "list", "--bucket", "nowhere"]) == 2
    told = capsys.readouterr().err
    assert told.startswith("sigla: In the bucket nowhere ")
    assert told.count("NoSuchBucket") == 1
    assert "Traceback" not in told


def test_who_lists_the_keys_of_a_directory_that_is_not_there_is_told_so(data: str, capsys: Captured) -> None:
    """A typing error in --data looked like a registry without keys."""
    assert main(["keys", "list", "--data", data]) == 0
    assert capsys.readouterr().err == f"sigla: Directory not found: {data}, so it has no keys.\n"


def test_a_file_that_is_no_directory_is_told_in_plain_words(tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "file").touch()
    assert main(["keys", "list", "--data", str(tmp_path / "file")]) == 1
    assert capsys.readouterr().err == f"sigla: In {tmp_path / 'file'} the keys cannot be listed (Not a directory).\n"


def test_the_keys_of_a_directory_are_found_by_the_url_of_its_store(data: str, capsys: Captured) -> None:
    """As every other command finds it, and `sigla serve`."""
    assert main(["keys", "create", "orders", "--store", f"file://{data}", "--json"]) == 0
    assert main(["keys", "list", "--data", data, "--json"]) == 0
    assert [json.loads(line)[0]["key"] for line in capsys.readouterr().out.splitlines()[1:]] == ["orders"]
    assert main(["keys", "list", "--store", "memory:"]) == 2
    assert main(["keys", "list", "--store", "data"]) == 2
    assert "Invalid address of a store 'data'" in capsys.readouterr().err


# --- what ends, and what was used ------------------------------------------------------------------------------------

DAY_MS = 86_400_000


def kept(data: str, name: str) -> ApiKey:
    record = EmbeddedKeys(Path(data)).get(name)
    assert record is not None
    return read_key(name, record)


@pytest.mark.parametrize("arguments, delete", [([], False), (["--delete"], True)])
def test_a_writer_deletes_if_its_key_is_made_so(
    data: str, capsys: Captured, arguments: list[str], delete: bool
) -> None:
    assert main(["keys", "create", "orders", "--role", "writer", *arguments, "--data", data, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["delete"] is delete
    assert kept(data, "orders").deletes is delete
    main(["keys", "list", "--data", data])
    assert ("writer, delete" in capsys.readouterr().out) is delete


def test_a_key_ends_after_a_while_or_at_a_time(data: str, capsys: Captured) -> None:
    """A contractor's key goes by itself."""
    main(["keys", "create", "days", "--expires", "90d", "--data", data])
    main(["keys", "create", "day", "--expires", "2999-01-31T09:00:00Z", "--data", data])
    main(["keys", "create", "always", "--data", data])
    days = kept(data, "days")
    assert days.expires == days.created + 90 * DAY_MS
    assert kept(data, "day").expires == 32_474_768_400_000
    assert kept(data, "always").expires is None
    capsys.readouterr()
    main(["keys", "list", "--data", data])
    rows = {line.split()[0]: line for line in capsys.readouterr().out.splitlines()}
    assert "2999-01-31 09:00" in rows["day"]
    assert "never" in rows["always"]
    main(["keys", "list", "--data", data, "--json"])
    assert [each["expires"] for each in json.loads(capsys.readouterr().out)] == [None, 32_474_768_400_000, days.expires]


def test_an_expired_key_is_listed_as_such(data: str, capsys: Captured) -> None:
    """Whoever looks for the reason of a 401 finds it there."""
    key = ApiKey("orders", "reader", (), verifier_of("x"), 0, expires=DAY_MS)
    EmbeddedKeys(Path(data)).put("orders", key.record())
    assert main(["keys", "list", "--data", data]) == 0
    assert "1970-01-02 00:00, expired" in capsys.readouterr().out
    assert main(["keys", "rotate", "orders", "--data", data]) == 1
    assert "The key orders expired at 1970-01-02 00:00:00Z: revoke it, and make a new one." in capsys.readouterr().err


def test_a_rotation_says_until_when_both_secrets_are_good(data: str, capsys: Captured) -> None:
    main(["keys", "create", "orders", "--role", "writer", "--data", data])
    before = kept(data, "orders")
    capsys.readouterr()
    assert main(["keys", "rotate", "orders", "--for", "12h", "--data", data]) == 0
    told = capsys.readouterr()
    after = kept(data, "orders")
    (first, second) = told.out.splitlines()
    assert first == "key: orders"
    assert after.verifier == verifier_of(second.removeprefix("secret: "))
    ((verifier, until),) = ((each.verifier, each.until) for each in after.former)
    assert verifier == before.verifier
    assert f"The secret before opens the key, too, until {shown_moment(until)}; then it opens nothing." in told.err
    assert "cannot be shown again" in told.err
    main(["keys", "list", "--data", data])
    assert f"2, until {shown_moment(until)[:16]}" in capsys.readouterr().out
    assert main(["keys", "rotate", "orders", "--for", "0", "--data", data, "--json"]) == 0
    told = capsys.readouterr()
    assert json.loads(told.out)["former"] == []
    assert "open nothing any more" in told.err


def test_a_rotation_whose_secret_cannot_be_shown_is_taken_back(data: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk, a pipe that has gone: otherwise the key would have a secret that is nowhere."""

    class Full:
        def write(self, _: str) -> int:
            raise OSError(28, "No space left on device")

        def flush(self) -> None: ...

    main(["keys", "create", "orders", "--data", data])
    before = EmbeddedKeys(Path(data)).get("orders")
    monkeypatch.setattr("sys.stdout", Full())
    assert main(["keys", "rotate", "orders", "--data", data]) != 0
    assert EmbeddedKeys(Path(data)).get("orders") == before


def test_a_key_that_is_not_there_or_damaged_is_not_rotated(data: str, capsys: Captured) -> None:
    main(["keys", "create", "orders", "--data", data])
    (Path(data) / "default" / "keys" / "orders.json").write_text("{}")
    assert main(["keys", "rotate", "orders", "--data", data]) == 1
    assert main(["keys", "rotate", "nobody", "--data", data]) == 1
    told = capsys.readouterr().err
    assert "The key orders in" in told
    assert "Unknown key nobody" in told


@pytest.mark.parametrize(
    "arguments, word",
    [
        (["create", "orders", "--expires", "soon"], "Invalid end 'soon'"),
        (["create", "orders", "--expires", "2001-01-01"], "would have expired already"),
        (["create", "orders", "--expires", "0"], "would have expired already"),
        (["create", "orders", "--delete"], "A reader cannot delete"),
        (["rotate", "orders", "--for", "a while"], "Invalid duration 'a while'"),
        (["rotate", "orders", "--for", "12"], "Invalid duration '12'"),
        (["rotate", "orders", "--for", "-1d"], "expected one argument"),
    ],
)
def test_an_end_that_is_none_is_refused_in_a_sentence(
    data: str, capsys: Captured, monkeypatch: pytest.MonkeyPatch, arguments: list[str], word: str
) -> None:
    """Also where the clock goes on meanwhile."""
    moments = count(NOW)
    monkeypatch.setattr(SystemClock, "now", lambda _: next(moments))
    with suppress(SystemExit):  # argparse's own, with 2
        assert main(["keys", *arguments, "--data", data]) == 2
    assert word in capsys.readouterr().err
    assert not Path(data).exists()


def test_the_day_of_the_last_use_is_listed(data: str, capsys: Captured) -> None:
    """A note about a key of this name that was revoked says nothing of the new one."""
    main(["keys", "create", "orders", "--data", data])
    main(["keys", "create", "unused", "--data", data])
    keys = EmbeddedKeys(Path(data))
    keys.note_use("orders", "2999-11-30")
    keys.note_use("unused", "2001-11-30")
    capsys.readouterr()
    main(["keys", "list", "--data", data, "--json"])
    assert [each["used"] for each in json.loads(capsys.readouterr().out)] == ["2999-11-30", None]
    main(["keys", "list", "--data", data])
    assert [line.split()[-2] for line in capsys.readouterr().out.splitlines()] == ["used", "2999-11-30", "-"]


@pytest.mark.parametrize("prefix, warned", [(":.team", True), (":.team:", False), ("orders-", False), (":*:", False)])
def test_who_writes_the_beginning_of_a_context_is_told_so(
    data: str, capsys: Captured, prefix: str, warned: bool
) -> None:
    """`:.team` is `.team2` as well; a colon is easily forgotten."""
    assert main(["keys", "create", "team", "--subjects", prefix, "--data", data]) == 0
    assert ("every context whose name begins so" in capsys.readouterr().err) is warned


def test_a_key_in_aws_is_rotated_in_its_bucket(monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    with in_process():
        monkeypatch.setenv("AWS_DEFAULT_REGION", REGION)
        main(["keys", "create", "orders", "--expires", "90d", "--bucket", BUCKET])
        assert main(["keys", "rotate", "orders", "--for", "7d", "--bucket", BUCKET]) == 0
        capsys.readouterr()
        assert main(["keys", "list", "--bucket", BUCKET, "--json"]) == 0
        (told,) = json.loads(capsys.readouterr().out)
        assert len(told["former"]) == 1
        assert told["used"] is None


def test_a_key_says_who_made_and_who_revoked_it(data: str, capsys: Captured) -> None:
    """Whoever finds a key that opened too much asks who gave it out; its secret is verified by nothing any more."""
    me = operator()
    assert me.startswith("cli:")
    for words in (["create", "orders", "--role", "writer"], ["revoke", "orders"]):
        assert main(["keys", *words, "--data", data]) == 0
    assert listed(data, capsys) == []
    (key,) = listed(data, capsys, "--revoked")
    assert (key["by"], key["revoked"]["by"], key["former"]) == (me, me, [])
    assert main(["keys", "list", "--revoked", "--data", data]) == 0
    assert re.search(rf"  revoked 20[0-9: -]+ by {me}  0  +-  +{me}\n", capsys.readouterr().out)
    assert main(["keys", "revoke", "orders", "--data", data]) == 1
    assert main(["keys", "rotate", "orders", "--data", data]) == 1
    assert capsys.readouterr().err.count("Unknown key orders") == 2
    assert main(["keys", "create", "orders", "--data", data]) == 0, "the name may be used again"
    assert main(["keys", "create", "orders", "--data", data]) == 1
    (key,) = listed(data, capsys, "--revoked")
    assert "revoked" not in key


def listed(data: str, capsys: Captured, *words: str) -> list[dict[str, Any]]:
    capsys.readouterr()
    assert main(["keys", "list", *words, "--data", data, "--json"]) == 0
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    return found
