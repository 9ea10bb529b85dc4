"""What a newer release wrote is refused with a sentence wherever it is read, and never written over."""

import json
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import orjson
import pytest

from sigla import forms, journal, records
from sigla.cli import dumps, main
from sigla.errors import FormTooNew
from sigla.model import DEFAULT_CONTEXT, Body, BodyKey, Draft, SchemaId, Version
from sigla.rules.guid import guid_of
from sigla.stores.dynamodb.values import packed, unpacked, written
from sigla.terminal.statuses import MISUSED
from sigla.upkeep import scrub
from sigla.upkeep.flaws import FIXABLE
from sigla.upkeep.mending import fix
from sigla.web import app
from sigla_pipelines.exit_status import Ending, ending_of
from tests.attack.aws import Store
from tests.attack.stories import (
    HISTORY,
    IMPORTING,
    ONE,
    THREE,
    USED,
    config,
    delete,
    mode,
    purge,
    register,
)
from tests.attack.world import Verb, World
from tests.build import a_body, a_schema, a_text
from tests.contract.aws import Account, AwsStores, moto, of_two_parts
from tests.unit.aws.journaling import do, follow, journal_rows, lines, stores_of
from tests.unit.registry.scrubbing import ADDRESS, Broken, in_a_directory, in_aws, of_id, registry_of
from tests.unit.registry.test_scrub import found_in
from tests.unit.web.conftest import Client

__all__ = ["moto"]

INSTALL = "install that release or a later one"
LATER = 99


def newer(stored: bytes) -> bytes:
    """A body of a release to come: more than its number may be different."""
    form = orjson.loads(stored)
    del form["digest"]
    return orjson.dumps(form | {"form": LATER, "schema": {"packed": form["schema"]}})


@pytest.fixture(params=["directory", "aws-moto"])
def broken(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Broken]:
    """A registry, in which the body of id 1 is of a newer release."""
    opened = in_a_directory(tmp_path / "data") if request.param == "directory" else None
    with opened or in_aws(request.getfixturevalue("moto")) as made:
        made.write_object(of_id(1), newer(records.body_bytes(of_id(1), made.store.bodies.get(of_id(1)))))
        yield made


# --- bodies ----------------------------------------------------------------------------------------------------------


def test_a_body_of_a_newer_release_is_refused_and_says_what_to_install(broken: Broken) -> None:
    """It is whole, so nothing is to be restored, and nothing concluded from what can be read of it."""
    sentence = f"the body of id 1 in context \\. has form 99, written by a newer release of Sigla, .*: {INSTALL}"
    registry = registry_of(broken.store)
    asks: tuple[Callable[[], object], ...] = (
        lambda: registry.schema_by_id(SchemaId(1)),
        lambda: registry.version(ADDRESS, Version(1)),
        lambda: registry.register(ADDRESS, Draft(a_text("Address"))),
        lambda: broken.store.bodies.get_many([of_id(2), of_id(1)]),
    )
    for ask in asks:
        with pytest.raises(FormTooNew, match=sentence):
            ask()
    assert registry.schema_by_id(SchemaId(4)).version == Version(2)


def test_nobody_replaces_a_body_of_a_newer_release(broken: Broken) -> None:
    """What a scrub or an import puts right is what is lost; this is not."""
    bodies, key = broken.store.bodies, of_id(1)
    body = a_body(a_text("Address"))
    for act in (bodies.put, bodies.revive, partial(bodies.mend, seen=None)):
        with pytest.raises(FormTooNew):
            act(key, body)
    with pytest.raises(FormTooNew):
        bodies.bury(key)
    with pytest.raises(FormTooNew):
        found_in(broken.store)
    for flaw in (scrub.suspect(kind, {"context": DEFAULT_CONTEXT, "id": 1}) for kind in ("UNREADABLE_OBJECT",)):
        assert flaw.kind in FIXABLE
        with pytest.raises(FormTooNew):
            fix(broken.store, flaw)


def test_a_client_is_told_of_storage_and_the_log_of_the_form(broken: Broken) -> None:
    """50001 as for all that a store cannot do; the operator finds the sentence."""
    heard: list[Any] = []
    client = Client(app.build(registry_of(broken.store), options=app.HttpOptions(log_failure=heard.append)))
    answer = client("GET", "/schemas/ids/1")
    assert (answer.status, answer.json["error_code"]) == (500, 50001)
    assert heard[0]["error"] == "FormTooNew"
    assert INSTALL in heard[0]["reason"]


@pytest.mark.parametrize(
    "command", ["scrub", "scrub --fix UNREADABLE_OBJECT", "export", "export --compacted", "explain 00 --id 1"]
)
def test_every_command_ends_with_the_sentence(tmp_path: Path, command: str, capsys: pytest.CaptureFixture[str]) -> None:
    data = str(tmp_path / "data")
    with in_a_directory(Path(data)) as made:
        made.write_object(of_id(1), newer(records.body_bytes(of_id(1), made.store.bodies.get(of_id(1)))))
    assert main([*command.split(), "--data", data]) == 2
    (sentence,) = capsys.readouterr().err.splitlines()
    assert sentence.startswith(f"sigla: In {data} the body of id 1 in context . has form 99, ")
    assert sentence.endswith(f"{INSTALL}.")


def test_a_job_ends_with_the_sentence_also_where_a_task_says_it() -> None:
    """No record is quarantined for a schema that a newer release can read."""
    failure = FormTooNew("the body of id 1 in context .", LATER, forms.BODY)
    assert ending_of(failure, {}, "") == Ending(str(failure), MISUSED)
    trace = Exception(f"Traceback (most recent call last):\n  …\nsigla.errors.FormTooNew: {failure}\n")
    assert ending_of(trace, {}, "") == Ending(str(failure), MISUSED)


def test_a_body_is_believed_by_the_releases_before_forms() -> None:
    """They read the members that they know and a digest of all that stands before it; one that is more they pass by."""
    body = a_body(schema=a_schema(), epoch=3)
    stored = records.body_bytes(of_id(1), body)
    form = orjson.loads(stored)
    assert (form.pop("form"), form.pop("epoch")) == (1, 3)
    assert records.body(of_id(1), records.sealed(orjson.dumps({k: v for k, v in form.items() if k != "digest"}))) == (
        replace(body, epoch=None)
    )
    assert records.sealed(stored[: stored.rindex(b',"digest"')] + b"}") == stored


def shuffled(key: BodyKey, body: Body) -> bytes:
    """A form to come, in which nothing of a body can be read: a number, and all the rest upside down."""
    return orjson.dumps({"form": 2, "hidden": records.BODY_CODECS[1].write(key, body).hex()[::-1]})


def unshuffled(key: BodyKey, form: dict[str, Any], stored: bytes) -> Body:
    return records.body(key, bytes.fromhex(form["hidden"][::-1]))


@pytest.mark.parametrize("place", ["directory", "aws-moto"])
def test_another_form_of_bodies_is_a_row(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    """Whoever encrypts bodies, or packs them, adds a codec: no store makes or reads their bytes in another way."""
    opened = in_a_directory(tmp_path / "data") if place == "directory" else in_aws(request.getfixturevalue("moto"))
    with opened as made:
        monkeypatch.setitem(records.BODY_CODECS, 2, records.BodyCodec(shuffled, unshuffled))
        monkeypatch.setattr(forms, "BODY", 2)
        text = a_text("New")
        new = registry_of(made.store).register(ADDRESS, Draft(text), force=True).id or SchemaId(0)
        made.store.bodies.bury(of_id(2))
        assert registry_of(made.store).schema_by_id(new).schema.text == text
        monkeypatch.undo()
        for written in of_id(new), of_id(2):
            with pytest.raises(FormTooNew, match="has form 2"):
                made.store.bodies.get(written)
        assert registry_of(made.store).schema_by_id(SchemaId(1)).version == Version(1)


def test_the_form_that_is_written_has_a_codec() -> None:
    assert max(records.BODY_CODECS) == forms.BODY


# --- rows ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def world(moto: Account, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    of_two_parts(monkeypatch)
    with World(store=Store(moto)) as world:
        yield world


EVERYTHING = (*USED, *IMPORTING, config("orders", level="NONE"), mode(":.c:", None), register("other"), *(
    delete("other"), purge("other"),
))  # fmt: skip


@pytest.fixture(scope="module")
def full(moto: Account) -> Iterator[World]:
    """A registry with an item of each kind, for tests that leave it as it is."""
    with pytest.MonkeyPatch.context() as patched, World(store=Store(moto)) as world:
        of_two_parts(patched)
        do(world, *EVERYTHING)
        yield world


def raw_items(stores: AwsStores) -> dict[tuple[str, str], dict[str, Any]]:
    found = stores.clients.dynamodb.scan(TableName=stores.table)["Items"]
    return {(item["pk"]["S"], item["sk"]["S"]): item for item in found}


def test_every_item_of_the_table_says_its_form(world: World) -> None:
    """Each kind does; a journal row says it in the row."""
    do(world, *EVERYTHING)
    stores = stores_of(world)
    follow(stores)
    for (pk, sk), item in raw_items(stores).items():
        if "#j#" in pk:
            assert orjson.loads(item["form"]["S"])["form"] == forms.JOURNAL_ROW
        else:
            assert item["form"] == {"N": str(forms.ITEM)}, (pk, sk)


MEETS: dict[str, tuple[str, str, Verb]] = {
    "a head": ("#s#_#orders", "HEAD", register("orders", THREE)),
    "a version": ("#s#_#orders", "V#0#0000000001", delete("orders", 2)),
    "settings": ("#s#_#orders", "SETTINGS", register("orders", THREE)),
    "their copy in a list": ("#settings", "=orders", config("orders", level="FULL")),
    "a counter of ids": ("#x#_", "NEXT", register("new", a_text("New"))),
    "the id of a content": (f"#f#_#{guid_of(a_schema(ONE))}", "ID", register("new", ONE)),
    "how many hold an id": ("#i#_#3", "HOLDERS", register("new", ONE)),
    "who holds an id": ("#i#_#3", "@orders", lambda registry: registry.schema_by_id(SchemaId(3))),
    "who refers": ("#r#_#base", "0000000001#", delete("base")),
    "a name in contexts": ("#n#orders", ".c", lambda registry: registry.catalog.contexts_of("orders")),
    "a listed subject": ("#l#", "orders", delete("orders")),
    "a context": ("#c", ".c", register(":.c:new", a_text("New"))),
}
"""One item of each kind, by its keys, and a verb that reads it, or writes it without having read it."""


@pytest.mark.parametrize("kind", MEETS)
def test_no_item_of_a_newer_release_is_believed_or_written_over(full: World, kind: str) -> None:
    """Whatever it says may mean something else; nothing of the commit that met it is written."""
    stores = stores_of(full)
    ending, begins, verb = MEETS[kind]
    item = next(item for (pk, sk), item in raw_items(stores).items() if ending in pk and sk.startswith(begins))
    stores.dynamodb.put_item(TableName=stores.table, Item=item | {"form": {"N": str(LATER)}})
    before = raw_items(stores)
    with pytest.raises(FormTooNew, match=f"has form {LATER}, .*: {INSTALL}"):
        verb(full.registry)
    after = raw_items(stores)
    stores.dynamodb.put_item(TableName=stores.table, Item=item)
    counters = {key for key in before if key[1] == "NEXT"}  # a number that was drawn is a gap
    assert {key: item for key, item in after.items() if key not in counters} == {
        key: item for key, item in before.items() if key not in counters
    }


# --- the journal -----------------------------------------------------------------------------------------------------


ORIGIN: journal.Origin = {
    "epoch": 2,
    "by": "p0123",
    "via": {"way": "api", "request": "r", "address": "192.0.2.1"},
    "was": "095d71cf-1255-6b9d-5e33-0ad575b3df5d",
    "is": "195d71cf-1255-6b9d-5e33-0ad575b3df5d",
    "commit": {"moves": [["orders", 3]]},
}


def rewrite(stores: AwsStores, **members: object) -> tuple[str, str]:
    """Members of the youngest journal row's form; which row it was."""
    row = journal_rows(stores)[max(journal_rows(stores))]
    form = packed(unpacked(row["form"]) | members)
    key = {"pk": {"S": row["pk"]}, "sk": {"S": row["sk"]}}
    item = stores.dynamodb.get_item(TableName=stores.table, Key=key)["Item"]
    stores.dynamodb.put_item(TableName=stores.table, Item=item | {"form": written(form)})
    return row["pk"], row["sk"]


def test_a_journal_row_of_a_newer_release_is_put_aside_and_told(world: World) -> None:
    """The others go into their segment; the row waits in the table for the release that can read it."""
    do(world, *HISTORY)
    stores = stores_of(world)
    pk, sk = rewrite(stores, form=LATER, entries="packed")
    heard: list[Any] = []
    done = follow(stores, told=heard)
    assert (done["rows"], done["aside"]) == (1, 1)
    assert heard[0]["row"] == {"pk": pk, "sk": sk}
    assert INSTALL in heard[0]["message"]
    with pytest.raises(FormTooNew):
        list(stores.journal.read())


def test_a_directory_whose_journal_a_newer_release_wrote_is_neither_exported_nor_scrubbed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Half of a journal would be another story."""
    with in_a_directory(tmp_path / "data"):
        pass
    database = sqlite3.connect(tmp_path / "data/catalog.sqlite")
    database.execute("UPDATE journal SET form = CAST(json_set(form, '$.form', 99) AS BLOB) WHERE position = 2")
    database.commit()
    database.close()
    for command in ("export", "scrub"):
        assert main([command, "--data", str(tmp_path / "data")]) == 2
        assert capsys.readouterr().err.endswith(f"{INSTALL}.\n")


def test_what_a_commit_says_of_itself_goes_with_it_into_the_segment(world: World) -> None:
    """Who did it, by which way, what it changed, in which epoch: a row may say it, and its first line then does."""
    do(world, register(":.c:orders"))
    stores = stores_of(world)
    rewrite(stores, **ORIGIN)
    follow(stores)
    first, second = lines(stores)
    assert first.items() >= ORIGIN.items()
    assert not second.keys() & ORIGIN.keys()
    assert [line["form"] for line in (first, second)] == [forms.SEGMENT_LINE] * 2
    assert [journal.origin_of(row) for _, row in stores.journal.read()] == [ORIGIN]


def test_what_a_commit_says_of_itself_disturbs_no_import(world: World, tmp_path: Path) -> None:
    """Readers of the topic's records know key, value and time."""
    do(world, *HISTORY)
    stores = stores_of(world)
    rewrite(stores, **ORIGIN)
    follow(stores)
    file = tmp_path / "segment.jsonl"
    file.write_text("".join(f"{json.dumps(line | {'before': 'a' * 64})}\n" for line in lines(stores)))
    assert main(["import", str(file), "--data", str(tmp_path / "data")]) == 0
    plain = [(each.key, each.value, each.ts) for each in dumps.read(file)]
    assert plain == [(line["key"], line["value"], line["timestamp"]) for line in lines(stores)]


def test_a_segment_of_a_newer_release_is_not_imported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nor any line before it: half of a journal is not that registry."""
    file = tmp_path / "segment.jsonl"
    file.write_text('{"form":1,"timestamp":1,"key":"{}","value":null,"at":1,"nonce":"n","part":0}\n{"form":99}\n')
    assert main(["import", str(file), "--data", str(tmp_path / "data")]) == 2
    (sentence,) = capsys.readouterr().err.splitlines()
    assert sentence.startswith(f"sigla: Line 2 of {file} has form 99, ")
    assert sentence.endswith(f"{INSTALL}. Nothing was imported.")
    assert not (tmp_path / "data").exists()
