"""`sigla init`: a person says whose a table and a bucket are."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from sigla import keys
from sigla.aws.clients import Clients
from sigla.cli import main
from sigla.registry import Registry
from sigla.stores.sqlite.store import EmbeddedStore
from tests.build import FixedClock, a_draft, a_text
from tests.contract.aws import make_table
from tests.contract.engines import BUCKET, REGION, in_process
from tests.functions.unwell import REFUSING, unwell
from tests.unit.registry.tell import s

Captured = pytest.CaptureFixture[str]

OURS, THEIRS = "a" * 32, "b" * 32


@dataclass(frozen=True)
class Account:
    clients: Clients
    registry: str

    def table(self) -> str:
        return make_table(self.clients.dynamodb)

    def place(self, table: str) -> list[str]:
        return ["--bucket", BUCKET, "--table", table, "--registry", self.registry]


@pytest.fixture(scope="module")
def clients() -> Iterator[Clients]:
    with pytest.MonkeyPatch.context() as patched, in_process() as made:
        patched.setenv("AWS_DEFAULT_REGION", REGION)
        yield made


@pytest.fixture
def account(clients: Clients, request: pytest.FixtureRequest) -> Account:
    """With a bucket in which the registry has nothing yet."""
    return Account(clients, request.node.name)


def init(where: list[str], identity: str = OURS, *more: str) -> int:
    return main(["init", *where, "--identity", identity, *more])


@pytest.fixture
def dump(tmp_path: Path, capsys: Captured) -> str:
    """A dump of a registry with one schema."""
    with EmbeddedStore(tmp_path / "data") as store:
        Registry(store.catalog, store.bodies, FixedClock()).register(s("orders"), a_draft(a_text()))
    dump = str(tmp_path / "dump.jsonl")
    assert main(["export", dump, "--data", str(tmp_path / "data")]) == 0
    capsys.readouterr()
    return dump


def test_a_new_registry_is_given_its_identity_once(account: Account, capsys: Captured) -> None:
    """Whoever repeats it is told that there is nothing to do."""
    table = account.table()
    for since in ("now", "already"):
        assert init(account.place(table)) == 0
        both = f"the table {table} and the bucket {BUCKET}"
        told = f"Registry {account.registry}: {both} have the identity {OURS} {since}.\n"
        assert capsys.readouterr().out == told
    assert init(account.place(table), OURS, "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["table"], told["bucket"], told["identity"], told["written"]) == (table, BUCKET, OURS, False)


def test_who_leaves_out_the_registry_is_told_which_one_it_was(account: Account, capsys: Captured) -> None:
    """A stage of another registry would still write nothing, for a reason that is hard to find."""
    table = account.table()
    assert init(["--bucket", BUCKET, "--table", table]) == 0
    assert capsys.readouterr().out.startswith(f"Registry default: the table {table} and the bucket {BUCKET} have ")


@pytest.mark.parametrize("content", [b"garbage", b"", b"[]", b'{"identity": null}', b'{"identity": "prod"}'])
def test_what_is_no_identity_is_told_and_replaced_by_who_means_it(
    account: Account, capsys: Captured, content: bytes
) -> None:
    """It ended with 1, as where AWS does not answer, and the same command was to be tried again for ever."""
    table, place = account.table(), keys.identity_object(account.registry)
    account.clients.s3.put_object(Bucket=BUCKET, Key=place, Body=content)
    assert init(account.place(table)) == 2
    (told,) = capsys.readouterr().err.splitlines()
    assert told == (
        f"sigla: The bucket {BUCKET} has something else in the place of an identity: what it belongs to cannot be "
        "told. Nothing was written; name the right ones, or add --i-mean-it if you mean it."
    )
    assert init(account.place(table), OURS, "--i-mean-it") == 0
    assert init(account.place(table)) == 0


def test_another_identity_is_named_and_left_unless_it_is_meant(account: Account, capsys: Captured) -> None:
    table = account.table()
    assert init(account.place(table), THEIRS) == 0
    capsys.readouterr()
    assert init(account.place(table)) == 2
    told = capsys.readouterr()
    assert (told.out, told.err.count("\n")) == ("", 1)
    assert OURS in told.err
    assert THEIRS in told.err
    assert "--i-mean-it" in told.err
    assert init(account.place(table), OURS, "--i-mean-it") == 0
    assert init(account.place(table)) == 0


def test_a_new_table_beside_the_old_bucket_is_not_blessed(account: Account, dump: str, capsys: Captured) -> None:
    """An operator forgot which table it was."""
    old, new = account.table(), account.table()
    assert init(account.place(old)) == 0
    assert main(["import", dump, *account.place(old)]) == 0
    capsys.readouterr()
    assert init(account.place(new)) == 2
    assert f"the table {new} has none" in capsys.readouterr().err
    assert main(["scrub", "--settle", "0", *account.place(new)]) == 1
    assert "IDENTITY_MISMATCH  critical, 1" in capsys.readouterr().out
    assert init(account.place(old)) == 0


def test_a_registry_of_an_earlier_release_is_claimed_as_it_stands(
    account: Account, dump: str, capsys: Captured
) -> None:
    table = account.table()
    assert main(["import", dump, *account.place(table)]) == 0
    assert main(["scrub", *account.place(table)]) == 0, "without an identity nothing is wrong"
    assert init(account.place(table)) == 0
    assert main(["scrub", *account.place(table)]) == 0
    assert capsys.readouterr().out.endswith("Bodies, catalog and journal agree.\n")


def test_a_table_of_a_moment_before_its_identity_is_claimed_again(account: Account, dump: str) -> None:
    """One that was restored, or a claim that was cut off: the bucket has what it has, and no operator insists."""
    table = account.table()
    assert main(["import", dump, *account.place(table)]) == 0
    assert init(account.place(table)) == 0
    mark = {"pk": {"S": keys.identity_pk(account.registry)}, "sk": {"S": keys.IDENTITY}}
    account.clients.dynamodb.delete_item(TableName=table, Key=mark)
    assert init(account.place(table)) == 0


def test_a_table_and_a_bucket_of_two_deployments_are_not_written_to(
    account: Account, dump: str, capsys: Captured
) -> None:
    """An import into both would mix up two registries; an import into a new table brings a lost one back."""
    table, other, new = account.table(), account.table(), account.table()
    assert init(account.place(other), THEIRS) == 0
    assert init(account.place(table), OURS, "--i-mean-it") == 0
    capsys.readouterr()
    for command in (["import", dump], ["ids", "--context", ".", "--continue-after", "5"]):
        assert main([*command, *account.place(other)]) == 2
        told = capsys.readouterr().err
        assert OURS in told
        assert THEIRS in told
    assert main(["import", dump, *account.place(new)]) == 0


@pytest.mark.parametrize("identity", ["", "a" * 31, "A" * 32, "g" * 32, "a" * 33, "0x" + "a" * 30])
def test_what_is_no_identity_is_refused_in_a_sentence(capsys: Captured, identity: str) -> None:
    with pytest.raises(SystemExit, match="2"):
        init(["--bucket", "b", "--table", "t"], identity)
    assert f"Invalid identity {identity!r}: expected 32 of 0-9 and a-f." in capsys.readouterr().err


@pytest.mark.parametrize("given", ["s3://b", "b/prod", "b:c"])
def test_what_is_no_bucket_is_refused_in_a_sentence(capsys: Captured, given: str) -> None:
    """As copied from a page that has it in a URL: botocore answers by two patterns, and it ended with 1: try again."""
    with pytest.raises(SystemExit, match="2"):
        init(["--bucket", given, "--table", "t"])
    assert f"Invalid bucket {given!r}: expected its name alone, without s3:// and paths." in capsys.readouterr().err


def test_an_arn_that_is_no_bucket_is_a_misuse(account: Account, capsys: Captured) -> None:
    """That of a bucket does not suit S3 where a name belongs; those of access points do."""
    assert init(["--bucket", "arn:aws:s3:::b", "--table", account.table()]) == 2
    (told,) = capsys.readouterr().err.splitlines()
    assert 'Invalid bucket name "arn:aws:s3:::b"' in told


@pytest.mark.parametrize("given", [["--table", "t"], ["--data", "data"]])
def test_it_is_of_a_table_and_a_bucket(capsys: Captured, given: list[str]) -> None:
    """A directory is one whole."""
    with pytest.raises(SystemExit, match="2"):
        init(given)
    assert "Traceback" not in capsys.readouterr().err


def test_silence_is_told_and_said_again_it_is_done(
    account: Account, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    """A sentence, and nothing that has to be undone or insisted on."""
    table = account.table()
    with unwell(REFUSING) as dynamodb, monkeypatch.context() as patched:
        patched.setenv("AWS_ENDPOINT_URL_DYNAMODB", dynamodb.endpoint)
        assert init(account.place(table)) == 1
    told = capsys.readouterr().err
    assert told.startswith("sigla: In s3://")
    assert told.count("\n") == 1
    assert init(account.place(table)) == 0


def test_a_table_that_is_not_there_is_told(account: Account, capsys: Captured) -> None:
    assert init(account.place("nowhere")) == 2
    told = capsys.readouterr().err
    assert told.startswith("sigla: In s3://")
    assert told.count("\n") == 1


def test_table_and_bucket_are_named_by_the_url_of_the_store(account: Account, capsys: Captured) -> None:
    """As for every other command, with one word for both."""
    table = account.table()
    assert init(["--store", f"dynamodb+s3://{table}/{BUCKET}", "--registry", account.registry]) == 0
    assert init(account.place(table)) == 0
    now, already = capsys.readouterr().out.splitlines()
    assert (now.endswith("now."), already.endswith("already.")) == (True, True)


@pytest.mark.parametrize("where", [["--store", "file:data"], ["--bucket", "b"], ["--store", "memory:"]])
def test_a_place_without_a_table_and_a_bucket_takes_no_identity(where: list[str], capsys: Captured) -> None:
    assert init(where) == 2
    (told,) = capsys.readouterr().err.splitlines()
    assert "dynamodb+s3://TABLE/BUCKET" in told or "needs both --bucket and --table" in told
