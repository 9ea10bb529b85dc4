"""Backups of AWS and into AWS, and of earlier moments: the same file, the same registry."""

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from sigla.aws.clients import Clients
from sigla.backups import carrying
from sigla.backups.restoring import SKIPPED
from sigla.changes import DeksChanged, DekWrite, KekChanged
from sigla.cli import main
from sigla.errors import BodyMissing
from sigla.keks.nouns import Algorithm, Dek, Kek
from sigla.model import DEFAULT_CONTEXT, BodyKey, Row, SchemaId, Subject
from sigla.opening import writing
from sigla.ports.log import LogEntry
from sigla.ports.store import Store
from sigla.registry import Registry
from sigla.settings import Address
from sigla.stores.clock import SystemClock
from sigla.stores.sqlite.store import EmbeddedStore
from sigla.upkeep.exporting import EVERYTHING
from sigla.upkeep.importing import import_state
from tests.build import FixedClock, a_text
from tests.contract.aws import make_table, of_two_parts
from tests.contract.engines import BUCKET, REGION, in_process
from tests.unit.journal.topic import state
from tests.unit.registry.lives import A_LIFE, contents
from tests.unit.registry.tell import ONE, THREE, TWO, register, s

Captured = pytest.CaptureFixture[str]

OURS, THEIRS = "a" * 32, "b" * 32
KEK = Kek("orders", "test-kms", "arn", {"a": "b"}, "why", ts=5, revision="r1")
DEK = Dek("orders", "o", Algorithm.AES256_GCM, 1, "bWF0ZXJpYWw=", ts=6, revision="r2")


@pytest.fixture(scope="module")
def clients(dynamodb_local: str) -> Iterator[Clients]:
    with pytest.MonkeyPatch.context() as patched, in_process(dynamodb_endpoint=dynamodb_local) as made:
        patched.setenv("AWS_DEFAULT_REGION", REGION)
        patched.setenv("AWS_ENDPOINT_URL_DYNAMODB", dynamodb_local)
        patched.setattr(carrying, "SIDE_BY_SIDE", 1)  # S3 of these tests takes one request at a time
        yield made


@pytest.fixture(autouse=True)
def _short_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    of_two_parts(monkeypatch)


@pytest.fixture
def bucket(clients: Clients, request: pytest.FixtureRequest) -> str:
    """A bucket in which nothing is."""
    name = f"backups-{abs(hash(request.node.name))}"
    clients.s3.create_bucket(Bucket=name)
    return name


def live(registry: Registry) -> None:
    """Imports, deletes of all kinds, references, contexts, settings, keys of field encryption."""
    import_state(registry, state(*A_LIFE))
    register(registry, "mine", ONE)
    register(registry, "lost", THREE)
    for permanent in (False, True):
        registry.delete_subject(s("lost"), permanent=permanent)
    registry.catalog.commit(KekChanged("orders", None, KEK, registry.clock.now(), "r1"))
    registry.catalog.commit(DeksChanged(KEK, (DekWrite(None, DEK),), registry.clock.now(), "r2"))


class Ticking(SystemClock):
    """Never tells the same millisecond twice: in AWS two commits of one millisecond have no order of their own."""

    def __init__(self) -> None:
        self._last = 0

    def now(self) -> int:
        self._last = max(super().now(), self._last + 1)
        return self._last


@pytest.fixture
def data(tmp_path: Path) -> Path:
    with EmbeddedStore(tmp_path / "data") as store:
        live(Registry(store.catalog, store.bodies, Ticking()))
    assert main(["keys", "create", "orders", "--data", str(tmp_path / "data")]) == 0
    return tmp_path / "data"


def all_of(url: str) -> dict[str, Any]:
    """What clients see; ids of every content that is gone for good, and keys."""
    with writing(Address.read(url)) as opened:
        found = contents(opened.registry)
        del found["highest"]
        bodies = {key: opened.store.bodies.get(key) for key in opened.store.inventory.bodies()}
        found["gone"] = {key: body.schema for key, body in bodies.items() if body.gone}
        catalog = opened.store.catalog
        found["keks"] = [replace(kek, revision="") for kek in catalog.keks()]
        found["deks"] = [replace(dek, revision="") for dek in catalog.deks("orders")]
        return found


def test_a_directory_goes_to_aws_and_comes_back(
    clients: Clients, bucket: str, data: Path, tmp_path: Path, capsys: Captured
) -> None:
    """A registry moves to the cloud, or out of it, by the file that is its backup."""
    store = f"dynamodb+s3://{make_table(clients.dynamodb)}/{bucket}"
    there, back = str(tmp_path / "there.tar.gz"), str(tmp_path / "back.tar.gz")
    before = all_of(f"file:{data}")
    assert main(["init", "--store", store, "--identity", OURS]) == 0
    assert main(["backup", there, "--data", str(data)]) == 0
    assert main(["restore", there, "--store", store]) == 0
    assert all_of(store) == before
    assert main(["keys", "list", "--store", store, "--json"]) == 0
    assert '"key": "orders"' in capsys.readouterr().out
    assert main(["scrub", "--settle", "0", "--store", store]) == 0
    with writing(Address.read(store)) as opened:
        assert int(register(opened.registry, "new", TWO).id or 0) > SKIPPED, "no id is given twice"
        opened.registry.delete_subject(s("new"))
        opened.registry.delete_subject(s("new"), permanent=True)
    assert main(["backup", back, "--store", store, "--json"]) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["identity"] == OURS
    assert main(["restore", back, str(tmp_path / "restored")]) == 0
    after = all_of(f"file:{tmp_path / 'restored'}")
    assert {key: after[key] for key in before if key != "gone"} == {key: before[key] for key in before if key != "gone"}
    assert before["gone"].items() <= after["gone"].items()
    assert main(["restore", back, "--store", f"dynamodb+s3://{make_table(clients.dynamodb)}/{bucket}"]) == 2
    assert "has the identity of the registry that the backup was made of" in capsys.readouterr().err


def histories(url: str) -> dict[str, list[LogEntry]]:
    """Those of two subjects: one that is there, and one that was deleted for good."""
    with writing(Address.read(url)) as opened:
        return {name: list(opened.store.catalog.commits_about(s(name))) for name in ("mine", "lost")}


def test_histories_go_to_aws_and_come_back(clients: Clients, bucket: str, data: Path, tmp_path: Path) -> None:
    """Also of what was deleted for good before, and what became of a subject there; a second carrying adds nothing."""
    store = f"dynamodb+s3://{make_table(clients.dynamodb)}/{bucket}"
    there, back = str(tmp_path / "there.tar.gz"), str(tmp_path / "back.tar.gz")
    before = histories(f"file:{data}")
    assert [entry.change for entry in before["lost"]] == ["SubjectPurged", "SubjectDeleted", "Registered"]
    assert main(["backup", there, "--data", str(data)]) == 0
    assert main(["restore", there, "--store", store]) == 0
    moved = histories(store)
    assert main(["restore", there, "--store", store, "--again"]) == 0
    assert histories(store) == moved
    assert (moved["lost"][0].change, moved["lost"][1:]) == ("IdBuried", before["lost"])
    assert [entry.change for entry in moved["mine"]] == ["Imported", *(entry.change for entry in before["mine"])]
    assert moved["mine"][1:] == before["mine"]
    with writing(Address.read(store)) as opened:
        opened.registry.delete_subject(s("mine"))
        opened.registry.delete_subject(s("mine"), permanent=True)
    gone = histories(store)
    assert main(["backup", back, "--store", store]) == 0
    assert main(["restore", back, str(tmp_path / "restored")]) == 0
    came_back = histories(f"file:{tmp_path / 'restored'}")
    assert (came_back["mine"], came_back["lost"][1:]) == (gone["mine"], gone["lost"])
    assert main(["scrub", "--settle", "0", "--data", str(tmp_path / "restored")]) == 0
    assert main(["scrub", "--settle", "0", "--store", store]) == 0


def test_a_backup_of_an_earlier_moment_has_the_histories_of_then(data: Path, tmp_path: Path) -> None:
    before = histories(f"file:{data}")
    with EmbeddedStore(data) as store:
        position = max(each for each, _ in store.journal.read())
        Registry(store.catalog, store.bodies, SystemClock()).delete_subject(s("mine"))
    file, restored = str(tmp_path / "b.tar.gz"), tmp_path / "restored"
    assert main(["backup", file, "--data", str(data), "--until", str(position)]) == 0
    assert main(["restore", file, str(restored)]) == 0
    after = histories(f"file:{restored}")
    assert [entry.change for entry in after["mine"]] == ["Imported", "Registered"]
    assert (after["mine"][1:], after["lost"][1:]) == (before["mine"], before["lost"])


def interrupted(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


def test_only_a_table_and_a_bucket_without_this_registry_are_filled(
    clients: Clients, bucket: str, data: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two registries in one place would give ids two meanings."""
    file, table = f"{data}.tar.gz", make_table(clients.dynamodb)
    store = f"dynamodb+s3://{table}/{bucket}"
    assert main(["backup", file, "--data", str(data)]) == 0
    clients.s3.put_object(Bucket=bucket, Key="default/journal/2026/11/23/1.jsonl", Body=b"")
    assert main(["restore", file, "--store", store]) == 2
    assert "There is something of a registry default already" in capsys.readouterr().err
    clients.s3.delete_object(Bucket=bucket, Key="default/journal/2026/11/23/1.jsonl")
    with writing(Address.read(store)) as opened:
        opened.store.catalog.raise_counter(".", opened.store.catalog.next_id("."))
    assert main(["restore", file, "--store", store]) == 2
    with monkeypatch.context() as patched:
        patched.setattr(carrying, "key_topic", interrupted)
        assert main(["restore", file, "--store", store, "--again"]) == 130
    assert main(["restore", file, "--store", store, "--again"]) == 0, "what was cut off goes on"
    assert all_of(store) == all_of(f"file:{data}")


def test_what_is_wrong_with_the_store_is_not_said_of_the_backup(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    """On the day on which a registry was lost, nothing is more alarming than a backup that is called damaged."""
    assert main(["backup", str(tmp_path / "b"), "--data", str(data)]) == 0
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    for store, why in (("dynamodb+s3://t/b", "see AWS_REGION"), ("tape:x", "Unknown kind of store 'tape'")):
        assert main(["restore", str(tmp_path / "b"), "--store", store]) == 2
        told = capsys.readouterr().err
        assert why in told
        assert "damaged" not in told


@pytest.mark.parametrize("words", [[], ["to", "--store", "file:to"], ["--store", "memory:"], ["--store", "x"]])
def test_one_place_is_named(data: Path, tmp_path: Path, words: list[str], capsys: Captured) -> None:
    assert main(["backup", str(tmp_path / "b"), "--data", str(data)]) == 0
    assert main(["restore", str(tmp_path / "b"), *words]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_a_backup_of_an_earlier_moment_has_what_was_then(data: Path, tmp_path: Path, capsys: Captured) -> None:
    """Before the mistake that is to be undone; ids that were given since are not given again."""
    before = all_of(f"file:{data}")
    with EmbeddedStore(data) as store:
        position = max(each for each, _ in store.journal.read())
        registry = Registry(store.catalog, store.bodies, SystemClock())
        for permanent in (False, True):
            registry.delete_subject(s("mine"), permanent=permanent)
        later = register(registry, "later", TWO).id or 0
    file, restored = str(tmp_path / "b.tar.gz"), tmp_path / "restored"
    assert main(["backup", file, "--data", str(data), "--until", str(position)]) == 0
    assert f"journal position {position}:" in capsys.readouterr().out
    assert main(["restore", file, str(restored), "--skip-ids", "0"]) == 0
    assert all_of(f"file:{restored}") == before
    with EmbeddedStore(restored) as store:
        registry = Registry(store.catalog, store.bodies, SystemClock())
        assert int(register(registry, "new", THREE + " ").id or 0) != later
    assert main(["backup", file, "--force", "--data", str(data), "--until", "2999-01-01T00:00:00Z"]) == 0
    assert main(["restore", file, str(tmp_path / "now")]) == 0
    assert all_of(f"file:{tmp_path / 'now'}") == all_of(f"file:{data}")


def test_ids_of_a_context_that_is_younger_than_the_moment_are_not_given_twice(data: Path, tmp_path: Path) -> None:
    """Those of the time between the moment and the backup, and those since."""
    file, restored = str(tmp_path / "b.tar.gz"), tmp_path / "restored"
    with EmbeddedStore(data) as store:
        position = max(each for each, _ in store.journal.read())
        register(Registry(store.catalog, store.bodies, SystemClock()), ":.young:orders", ONE)
    assert main(["backup", file, "--data", str(data), "--until", str(position)]) == 0
    with EmbeddedStore(data) as store:
        later = register(Registry(store.catalog, store.bodies, SystemClock()), ":.young:orders", TWO).id or 0
    assert main(["restore", file, str(restored)]) == 0
    with EmbeddedStore(restored) as store:
        new = register(Registry(store.catalog, store.bodies, SystemClock()), ":.young:orders", THREE).id or 0
    assert int(new) > SKIPPED > int(later)


def test_a_moment_is_a_beginning_of_the_journal_also_where_the_clock_was_set_back(data: Path, tmp_path: Path) -> None:
    """A row that says a later time stands before one that says an earlier one: neither is there without the other."""
    file, restored = str(tmp_path / "b.tar.gz"), tmp_path / "restored"
    clock = FixedClock(SystemClock().now() + 3_600_000)
    with EmbeddedStore(data) as store:
        registry = Registry(store.catalog, store.bodies, clock)
        register(registry, "ahead", a_text("Ahead"))
        clock.set_by = -1_800_000
        register(registry, "behind", a_text("Behind"))
    until = datetime.fromtimestamp(clock.now() / 1000 + 60, UTC).isoformat()
    assert main(["backup", file, "--data", str(data), "--until", until]) == 0
    assert main(["restore", file, str(restored), "--skip-ids", "0"]) == 0
    assert all_of(f"file:{restored}") == all_of(f"file:{data}")


def rows(store: Store) -> list[tuple[Subject, Row]]:
    """Every version, deleted ones included."""
    found = store.catalog.versions(EVERYTHING, deleted=True, latest_only=False)
    return sorted(((subject, replace(row, revision=0)) for subject, row in found), key=str)


LOST = 3
"""An id of A_LIFE that versions have."""


def test_a_lost_body_costs_an_earlier_moment_nothing_else(data: Path, tmp_path: Path, capsys: Captured) -> None:
    """The backup of all other schemas is worth more than none; what is lost keeps its id and its number."""
    file, restored = str(tmp_path / "b"), tmp_path / "restored"
    with EmbeddedStore(data) as store:
        before = rows(store)
        lost = store.bodies.get(BodyKey(DEFAULT_CONTEXT, SchemaId(LOST)))
    (data / "default/schemas/_/0000000003.json").unlink()
    words = ["backup", file, "--data", str(data), "--until", "2999-01-01T00:00:00Z"]
    assert main(words) == 1
    assert "The body of id 3 in context . is lost or damaged: run sigla scrub" in capsys.readouterr().err
    assert main([*words, "--force", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["lost"] == [{"context": ".", "id": 3}]
    assert main(["restore", file, str(restored)]) == 1
    assert "id 3" in capsys.readouterr().err
    assert not restored.exists()
    assert main(["restore", file, str(restored), "--with-flaws", "--skip-ids", "0"]) == 1
    with EmbeddedStore(restored) as store:
        assert rows(store) == before
        with pytest.raises(BodyMissing):
            store.bodies.get(BodyKey(DEFAULT_CONTEXT, SchemaId(LOST)))
        registry = Registry(store.catalog, store.bodies, SystemClock())
        assert register(registry, "o", lost.schema.text).id == LOST, "whoever has the text puts it back under its id"
        assert store.bodies.get(BodyKey(DEFAULT_CONTEXT, SchemaId(LOST))).schema == lost.schema


def test_a_lost_body_costs_a_backup_of_aws_nothing_else(
    clients: Clients, bucket: str, data: Path, tmp_path: Path, capsys: Captured
) -> None:
    """Also where it is restored into AWS again: it is told at each step, and stays lost."""
    store = f"dynamodb+s3://{make_table(clients.dynamodb)}/{bucket}"
    there, back = str(tmp_path / "there.tar.gz"), str(tmp_path / "back.tar.gz")
    assert main(["backup", there, "--data", str(data)]) == 0
    assert main(["restore", there, "--store", store]) == 0
    clients.s3.delete_object(Bucket=bucket, Key="default/schemas/_/0000000003.json")
    clients.s3.put_object(Bucket=bucket, Key="default/schemas/_/0000000001.json", Body=b"{}")
    capsys.readouterr()
    assert main(["backup", back, "--store", store]) == 1
    assert "The bodies of 2 ids are lost or damaged (id 1 in context ., id 3 in" in capsys.readouterr().err
    new = f"dynamodb+s3://{make_table(clients.dynamodb)}/{bucket}-new"
    clients.s3.create_bucket(Bucket=f"{bucket}-new")
    assert main(["restore", back, "--store", new]) == 1
    assert main(["restore", back, "--store", new, "--with-flaws"]) == 1
    assert "5 flaws: run sigla scrub" in capsys.readouterr().err, "four versions without a body, and a reference"
    with writing(Address.read(f"file:{data}")) as ours, writing(Address.read(new)) as theirs:
        assert rows(ours.store) == rows(theirs.store)
        for key in ours.store.inventory.bodies():
            if key.id not in (1, LOST):
                assert theirs.store.bodies.get(key).schema == ours.store.bodies.get(key).schema


@pytest.mark.parametrize("until", ["999", "1999-01-01T00:00:00Z"])
def test_a_moment_that_the_journal_does_not_know_is_told(
    data: Path, tmp_path: Path, until: str, capsys: Captured
) -> None:
    assert main(["backup", str(tmp_path / "b"), "--data", str(data), "--until", until]) == 2
    assert "The journal does not reach there: it has the positions 1 to" in capsys.readouterr().err
    assert not (tmp_path / "b").exists()


@pytest.mark.parametrize("until", ["0", "yesterday", "", "-3", "9999999-01-01"])
def test_a_moment_that_is_none_is_told(until: str, capsys: Captured) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["backup", "b", f"--until={until}"])
    assert "expected a position of the journal, or a time" in capsys.readouterr().err


def test_a_table_is_taken_to_a_moment_by_dynamodb(clients: Clients, tmp_path: Path, capsys: Captured) -> None:
    store = f"dynamodb+s3://{make_table(clients.dynamodb)}/{BUCKET}"
    assert main(["backup", str(tmp_path / "b"), "--store", store, "--until", "2026-11-23"]) == 2
    assert "have DynamoDB restore the table to that moment" in capsys.readouterr().err
