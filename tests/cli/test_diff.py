"""`sigla diff`: files, git revisions, versions and ids; what it says, and how it ends."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from sigla import cli, opening
from sigla.registry import Registry
from sigla.remote import client
from sigla.rules import names
from sigla.settings import Address
from sigla.stores.sqlite.store import EmbeddedStore
from tests.build import FixedClock, a_draft
from tests.unit.cli import answering

OLD = '{"type":"record","name":"Order","fields":[{"name":"total","type":"int"}]}'
NEW = '{"type":"record","name":"Order","fields":[{"name":"total","type":"long"}]}'


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """old.avsc and new.avsc; no registry is named by the environment."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SIGLA_URL", raising=False)
    Path("old.avsc").write_text(OLD)
    Path("new.avsc").write_text(NEW)
    return tmp_path


@pytest.fixture
def data(here: Path) -> Path:
    """A data directory with both as versions of `orders-value`."""
    with opening.writing(Address.of(data=str(here / "data"))) as opened:
        for text in (OLD, NEW):
            opened.registry.register(names.subject("orders-value"), a_draft(text))
    return here / "data"


def told(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, Any]:
    status = cli.main(["diff", *words, "--json"])
    out, err = capsys.readouterr()
    return status, json.loads(out) if status < 2 else err


def test_two_files_are_compared(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What changed, what that breaks, and a line for each direction."""
    assert cli.main(["diff", "old.avsc", "new.avsc"]) == 1
    out = capsys.readouterr().out
    assert "Order/fields/total\n  ~ type  int -> long\n      breaks FORWARD: TYPE_MISMATCH\n" in out
    assert "BACKWARD  yes  new.avsc can read what old.avsc wrote\n" in out
    assert "FORWARD   no   old.avsc cannot read what new.avsc wrote\n" in out


def test_what_is_spelled_otherwise_is_the_same(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A formatter changes nothing, and CI passes."""
    Path("new.avsc").write_text(json.dumps(json.loads(OLD), indent=2))
    assert cli.main(["diff", "old.avsc", "new.avsc"]) == 0
    assert "The same schema, spelled otherwise." in capsys.readouterr().out


@pytest.mark.parametrize(
    "fails_on, status", [("change", 1), ("backward", 0), ("forward", 1), ("full", 1), ("never", 0)]
)
def test_what_counts_as_a_failure_can_be_chosen(
    here: Path, capsys: pytest.CaptureFixture[str], fails_on: str, status: int
) -> None:
    """A job in CI wants to know whether consumers break, and not whether anything changed."""
    assert told(capsys, "old.avsc", "new.avsc", "--fail-on", fails_on)[0] == status


def test_versions_and_ids_of_a_directory_are_compared(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By number, as latest, by id, and with a file."""
    for old, new in (("orders-value:1", "orders-value:latest"), ("1", "2"), ("1", "new.avsc")):
        status, found = told(capsys, old, new, "--data", str(data))
        assert (status, [change["path"] for change in found["changes"]]) == (1, ["Order/fields/total/type"])
    assert told(capsys, "orders-value:2", "new.avsc", "--data", str(data))[0] == 0


def test_a_file_is_compared_with_what_it_was_in_git(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """From the directory where one works, as other paths are."""
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org"]
    for words in (["init", "-q"], ["add", "old.avsc"], ["commit", "-qm", "An order"]):
        subprocess.run([*git, *words], check=True)
    Path("old.avsc").write_text(NEW)
    status, found = told(capsys, "HEAD:old.avsc", "old.avsc")
    assert (status, found["changes"][0]["was"], found["changes"][0]["is"]) == (1, "int", "long")
    status, why = told(capsys, "HEAD:none.avsc", "old.avsc")
    assert (status, why.startswith("sigla: git does not show HEAD:none.avsc (")) == (2, True)


def test_files_may_reference_files(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By the name that the schema calls them."""
    Path("geo.proto").write_text('syntax = "proto3"; package geo; message Pos { int32 lat = 1; }')
    for name, number in (("a", 1), ("b", 2)):
        Path(f"{name}.proto").write_text(
            f'syntax = "proto3"; import "geo.proto"; message Trip {{ geo.Pos start = {number}; }}'
        )
    status, found = told(capsys, "a.proto", "b.proto", "--reference", "geo.proto=geo.proto")
    assert (status, [change["path"] for change in found["changes"]]) == (1, ["Trip/1", "Trip/2"])


@pytest.mark.parametrize(
    "words, why",
    [
        (
            ["none.avsc", "new.avsc"],
            "none.avsc is not a file here: give a file, SUBJECT:VERSION, an id, REVISION:PATH, or a subject of",
        ),
        (["1", "2"], "Versions and ids need a registry: give --registry URL, --data DIR or --store URL."),
        (["README", "new.avsc"], "The name of README does not say its language: give --type."),
        (["bad.avsc", "new.avsc"], "bad.avsc is not a schema of type AVRO: "),
        (
            ["u.avsc", "u.avsc"],
            "u.avsc is not a schema of type AVRO: Undefined schema: b.C. Give each file that it uses with --reference",
        ),
        (["latin.avsc", "new.avsc"], "latin.avsc is not text in UTF-8."),
        (
            ["trip.proto", "trip.proto"],
            "trip.proto cannot be compared: Type Pos, which field Trip.start uses, is not defined. Give each file",
        ),
        (["old.avsc", "new.avsc", "--reference", "x"], "Invalid reference 'x': expected NAME=FILE."),
    ],
)
def test_a_mistake_is_told_in_a_sentence(
    here: Path, capsys: pytest.CaptureFixture[str], words: list[str], why: str
) -> None:
    """And exits with 2: 1 means that the schemas differ."""
    Path("README").write_text(OLD)
    Path("bad.avsc").write_text("{")
    Path("u.avsc").write_text('{"type": "array", "items": "b.C"}')
    Path("latin.avsc").write_bytes(b"\xe9")
    Path("trip.proto").write_text('syntax = "proto3"; import "geo.proto"; message Trip { Pos start = 1; }')
    status, said = told(capsys, *words)
    assert (status, said.startswith(f"sigla: {why}")) == (2, True), said


def test_what_is_not_in_the_registry_is_told(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With its name."""
    for name in ("orders-value:9", "none:1", "99"):
        assert told(capsys, name, "new.avsc", "--data", str(data)) == (2, f"sigla: {name} is not in the registry.\n")
    status, said = told(capsys, "orders-value:0", "new.avsc", "--data", str(data))
    assert (status, said) == (2, "sigla: orders-value:0 is not in the registry.\n")


def test_versions_and_ids_may_be_those_of_a_url(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever registry answers there; also as SIGLA_URL has it."""
    with EmbeddedStore() as store:
        asked = Registry(store.catalog, store.bodies, FixedClock())
        for text in (OLD, NEW):
            asked.register(names.subject("a/orders-value"), a_draft(text))
        with answering.behind_a_url(answering.registry(asked)) as url:
            for old, new in (("a/orders-value:1", "a/orders-value:latest"), ("1", "2"), ("1", "new.avsc")):
                status, found = told(capsys, old, new, "--registry", url)
                assert (status, [change["is"] for change in found["changes"]]) == (1, ["long"])
            monkeypatch.setenv("SIGLA_URL", url)
            assert told(capsys, "2", "new.avsc")[0] == 0
            for name in ("a/orders-value:9", "none:1", "99"):
                assert told(capsys, name, "new.avsc") == (2, f"sigla: {name} is not in the registry.\n")
        monkeypatch.setattr(client, "FIRST_PAUSE_S", 0.01)
        with answering.behind_a_url(answering.always(503, {})) as url:
            status, said = told(capsys, "1", "2", "--registry", url)
            assert (status, "status 503" in said) == (2, True)


# --- files of sigla.yaml ---------------------------------------------------------------------------------------------


def using(*used: str) -> str:
    fields = [{"name": f"f{at}", "type": each} for at, each in enumerate(used)]
    return json.dumps({"type": "record", "name": "Basket", "fields": fields})


@pytest.fixture
def declared(data: Path) -> Path:
    """A set: Basket uses Line, which uses Order, which the directory alone has; it has no Basket."""
    files = Path("schemas")
    files.mkdir()
    (files / "line.avsc").write_text('{"type":"record","name":"Line","fields":[{"name":"of","type":"Order"}]}')
    (files / "basket.avsc").write_text(using("Line"))
    Path("sigla.yaml").write_text(
        "schemas:\n- {files: 'schemas/*.avsc', subject: '{stem}-value', references: {Order: orders-value}}\n"
    )
    for words in (["init", "-q"], ["add", "schemas", "sigla.yaml"], ["commit", "-qm", "a set"]):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@example.com", *words], check=True)
    (files / "basket.avsc").write_text(using("Line", "Order", "int"))
    return data


@pytest.mark.parametrize("old", ["HEAD:schemas/basket.avsc", "basket-value"])
def test_what_a_file_of_sigla_yaml_references_is_found(
    declared: Path, old: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """In the other files, of the revision where it is of one, and in the registry; by its path or its subject."""
    status, found = told(capsys, old, "schemas/basket.avsc", "--data", str(declared))
    assert status == int(old != "basket-value")
    assert [each["path"] for each in found["changes"]] == (["Basket/fields/f1", "Basket/fields/f2"] if status else [])


def test_without_the_registry_it_is_said_what_is_missing(declared: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, err = told(capsys, "basket-value", "schemas/line.avsc")
    assert status == 2
    assert err == "sigla: Versions and ids need a registry: give --registry URL, --data DIR or --store URL.\n"


def test_a_wrong_sigla_yaml_is_in_the_way_of_files_that_need_it_alone(
    declared: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("sigla.yaml").write_text("schemas: 3")
    assert told(capsys, "old.avsc", "new.avsc")[0] == 1
    status, err = told(capsys, "schemas/basket.avsc", "schemas/line.avsc")
    assert (status, err) == (2, "sigla: sigla.yaml:1: `schemas`: expected a list.\n")
