import json
from pathlib import Path

import pytest

from sigla.auth.api_keys import read_key, verifier_of
from sigla.cli import main
from sigla.settings import PREFIX
from sigla.stores.sqlite.keys import EmbeddedKeys
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
    assert set(told) == {"key", "secret", "role", "delete", "subjects", "created"}
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
    for shown in (table, listed):
        assert secret not in shown
        assert verifier_of(secret) not in shown


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
    assert EmbeddedKeys(Path(data)).get("orders") is None


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
