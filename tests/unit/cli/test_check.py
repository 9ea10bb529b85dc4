"""`sigla check`: a file, its subject, and what registering it would come to."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from sigla.cli import main
from sigla.model import Draft, Subject
from sigla.registry import Registry
from sigla.stores.sqlite.store import EmbeddedStore
from tests.build import FixedClock
from tests.unit.cli import answering

Captured = pytest.CaptureFixture[str]
ORDERS = Subject(".", "orders-value")


KEPT_FOR_READERS = {".sqlite-shm", ".sqlite-wal"}
LACKING = "The field 'note' at path '/fields/1' in the new schema has no default value and is missing in the old schema"


def record(*fields: str) -> str:
    inside = ",\n".join(fields)
    return f'{{"type": "record", "name": "Order", "fields": [\n{inside}\n]}}'


ID, NOTE = '{"name": "id", "type": "long"}', '{"name": "note", "type": "string"}'
OPTIONAL = '{"name": "note", "type": "string", "default": ""}'


@pytest.fixture
def data(tmp_path: Path) -> str:
    """A directory with one subject."""
    with EmbeddedStore(tmp_path / "data") as store:
        Registry(store.catalog, store.bodies, FixedClock()).register(ORDERS, Draft(record(ID)))
    return str(tmp_path / "data")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "orders.avsc"


def test_an_acceptable_file_is_told_with_its_version(file: Path, data: str, capsys: Captured) -> None:
    """Whoever merges it wants to know what comes of it."""
    file.write_text(record(ID, OPTIONAL))
    assert main(["check", "--data", data, "--subject", "orders-value", str(file)]) == 0
    told = capsys.readouterr().out
    assert told == f"{file}: would be version 2 of orders-value\n1 file against {data}: 1 new\n"


def test_a_refused_file_is_told_line_by_line(file: Path, data: str, capsys: Captured) -> None:
    """The place is what an editor opens, the rule is what a search finds."""
    file.write_text(record(ID, NOTE))
    assert main(["check", "--data", data, "--subject", "orders-value", str(file)]) == 1
    assert capsys.readouterr().out.splitlines() == [
        f"{file}:3:1: READER_FIELD_MISSING_DEFAULT_VALUE: {LACKING}; this schema cannot read data of version 1",
        f"1 file against {data}: 1 refused",
    ]


def test_json_has_the_number_and_the_words_of_the_registry(file: Path, data: str, capsys: Captured) -> None:
    """Who compares with a log of the registry finds the same."""
    file.write_text(record(ID, NOTE))
    assert main(["check", "--data", data, "--subject", "orders-value", "--format", "json", str(file)]) == 1
    told: Any = json.loads(capsys.readouterr().out)
    (problem,) = told["files"][0]["problems"]
    assert not told["accepted"]
    assert (problem["errorCode"], problem["line"], problem["againstVersion"]) == (40901, 3, 1)
    assert problem["detail"].startswith("{errorType:'READER_FIELD_MISSING_DEFAULT_VALUE', description:'")


def test_a_text_that_is_no_schema_is_shown_where_it_breaks(file: Path, data: str, capsys: Captured) -> None:
    """A comma too many is the most common of mistakes."""
    file.write_text('{"type": "record",\n "name": "A", ]')
    assert main(["check", "--data", data, "--subject", "new", str(file)]) == 1
    assert capsys.readouterr().out.startswith(f"{file}:2:")


def test_what_is_registered_already_is_nothing_new(file: Path, data: str, capsys: Captured) -> None:
    """Also in IMPORT or READONLY mode, as for a client that registers at every start."""
    file.write_text(record(ID))
    assert main(["check", "--data", data, "--subject", "orders-value", str(file)]) == 0
    assert capsys.readouterr().out == f"1 file against {data}: 1 known\n"


def test_nothing_is_written(file: Path, data: str) -> None:
    """A check in CI has a key that may only read, and a directory may be in use."""

    def everything() -> dict[str, bytes]:
        """All but what SQLite keeps for its readers."""
        files = (each for each in Path(data).rglob("*") if each.is_file() and each.suffix not in KEPT_FOR_READERS)
        return {str(each): each.read_bytes() for each in files}

    file.write_text(record(ID, OPTIONAL))
    before = everything()
    assert main(["check", "--data", data, "--subject", "orders-value", str(file)]) == 0
    assert everything() == before


def test_a_dump_knows_what_its_registry_knew(file: Path, data: str, tmp_path: Path, capsys: Captured) -> None:
    """Where a runner reaches no registry, last night's export does."""
    dump = tmp_path / "records.jsonl.gz"
    assert main(["export", str(dump), "--data", data]) == 0
    capsys.readouterr()
    file.write_text(record(ID, NOTE))
    assert main(["check", "--dump", str(dump), "--subject", "orders-value", str(file)]) == 1
    assert capsys.readouterr().out.endswith(f"1 file against {dump}: 1 refused\n")


@pytest.mark.parametrize(
    "form, beginning",
    [("github", "::error file="), ("sarif", '{"$schema":'), ("junit", "<?xml version='1.0'")],
)
def test_reports_of_ci_have_the_same_status(form: str, beginning: str, file: Path, data: str, capsys: Captured) -> None:
    """A build is red by its exit status, whatever it shows."""
    file.write_text(record(ID, NOTE))
    assert main(["check", "--data", data, "--subject", "orders-value", "--format", form, str(file)]) == 1
    told = capsys.readouterr().out
    assert told.startswith(beginning)
    assert "READER_FIELD_MISSING_DEFAULT_VALUE" in told


def test_what_kept_files_from_being_checked_is_in_the_reports_of_ci(tmp_path: Path, capsys: Captured) -> None:
    """A reviewer sees annotations and tests, and seldom the log. An empty list of results would close what is open."""
    config = tmp_path / "100%.yaml"
    config.write_text("schemas: {}")
    sentence = f"{config}:1: `schemas`: expected a list."
    words = ["check", "--data", str(tmp_path), "--config", str(config), "--format"]

    def told(form: str) -> str:
        assert main([*words, form]) == 2
        found = capsys.readouterr()
        assert found.err == f"sigla: {sentence}\n"
        return found.out

    assert told("github") == (
        f"::error file={str(config).replace('%', '%25')},line=1,title=sigla check::{sentence.replace('%', '%25')}\n"
    )
    suites = ET.fromstring(told("junit"))
    assert suites.attrib == {"tests": "1", "failures": "0", "errors": "1", "skipped": "0"}
    assert [each.attrib for each in suites.iter("error")] == [{"message": sentence}]
    assert [(each.get("file"), each.get("line")) for each in suites.iter("testcase")] == [(str(config), "1")]
    (run,) = json.loads(told("sarif"))["runs"]
    assert "results" not in run
    (invocation,) = run["invocations"]
    (notified,) = invocation["toolExecutionNotifications"]
    assert not invocation["executionSuccessful"]
    assert (notified["level"], notified["message"]["text"]) == ("error", sentence)
    assert notified["locations"][0]["physicalLocation"]["region"]["startLine"] == 1


def test_a_reason_without_a_place_is_told_of_the_whole_run(tmp_path: Path, capsys: Captured) -> None:
    assert main(["check", "--data", str(tmp_path), "--config", str(tmp_path / "gone.yaml"), "--format", "github"]) == 2
    assert capsys.readouterr().out.startswith("::error title=sigla check::File not found: ")


@pytest.fixture
def served() -> Iterator[Registry]:
    with EmbeddedStore() as store:
        registry = Registry(store.catalog, store.bodies, FixedClock())
        registry.register(ORDERS, Draft(record(ID)))
        yield registry


def test_one_file_takes_three_requests(
    file: Path, served: Registry, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its subject's versions, the settings that bear on it, its content; the URL may be in the environment."""
    asked: list[str] = []
    answer = answering.registry(served)

    def counted(path: str, credentials: str) -> tuple[int, str]:
        asked.append(path.partition("?")[0])
        return answer(path, credentials)

    file.write_text(record(ID, OPTIONAL))
    with answering.behind_a_url(counted) as url:
        monkeypatch.setenv("SIGLA_URL", url)
        assert main(["check", "--subject", "orders-value", str(file)]) == 0
    assert sorted(asked) == ["/schemas", "/schemas/guids", "/settings"]
    assert capsys.readouterr().out.endswith(f"1 file against {url}: 1 new\n")


def test_against_another_registry_the_verdict_is_ours_and_says_so(
    file: Path, served: Registry, capsys: Captured
) -> None:
    """Confluent's may judge otherwise where docs/api.md says that they differ."""
    served.change_config(ORDERS, {"level": "NONE"})
    answer = answering.registry(served)

    def without_ours(path: str, credentials: str) -> tuple[int, str]:
        unknown = 404, '{"error_code": 404, "message": "HTTP 404 Not Found"}'
        return unknown if path.startswith("/settings") else answer(path, credentials)

    file.write_text(record(ID, NOTE))
    with answering.behind_a_url(without_ours) as url:
        assert main(["check", "--registry", url, "--subject", "orders-value", str(file)]) == 0
    told = capsys.readouterr().out.splitlines()
    assert told[0] == f"{file}: would be version 2 of orders-value"
    assert told[1].startswith(f"{url} is another registry than Sigla: what is told here is Sigla's verdict")


def test_references_are_named_on_the_command_line(file: Path, data: str, capsys: Captured) -> None:
    """One file needs no other file."""
    file.write_text('{"type": "record", "name": "Basket", "fields": [{"name": "order", "type": "Order"}]}')
    base = ["check", "--data", data, "--subject", "baskets", str(file)]
    assert main(base) == 1
    assert main([*base, "--reference", "Order=orders-value"]) == 0
    assert main([*base, "--reference", "Order=orders-value:1"]) == 0
    assert main([*base, "--reference", "Order=orders-value:7"]) == 1
    assert 'No schema reference found for subject "orders-value" and version 7' in capsys.readouterr().out


@pytest.mark.parametrize(
    "words, sentence",
    [
        (["--subject", "a", "FILE"], "Nothing to compare with: give --registry URL (or set SIGLA_URL)"),
        (["--data", "DATA", "FILE"], "File not found: sigla.yaml. It says which files are for which subjects"),
        (["--data", "DATA", "--type", "AVRO", "FILE"], "--type is for one file: add --subject NAME"),
        (["--data", "DATA", "--subject", "a"], "Give one file, and the subject that it is for"),
        (["--data", "DATA", "--subject", "a", "schema.txt"], "The language of schema.txt is unknown: add --type"),
        (["--data", "DATA", "--subject", "a", "none.avsc"], "none.avsc cannot be read (No such file or directory)"),
        (["--data", "none", "--subject", "a", "FILE"], "none"),
        (["--dump", "none.jsonl", "--subject", "a", "FILE"], "File not found: none.jsonl."),
        (["--registry", "ftp://x", "--subject", "a", "FILE"], "Invalid URL of a registry ftp://x"),
    ],
)
def test_mistakes_are_one_sentence(words: list[str], sentence: str, file: Path, data: str, capsys: Captured) -> None:
    """With what puts them right, and status 2: a build must not take them for a refusal."""
    file.write_text(record(ID))
    assert main(["check", *({"FILE": str(file), "DATA": data}.get(word, word) for word in words)]) == 2
    told = capsys.readouterr().err
    assert told.startswith("sigla: ")
    assert sentence in told
    assert told.count("\n") == 1


def test_a_file_that_is_no_text_is_told(file: Path, data: str, capsys: Captured) -> None:
    """An image in the wrong folder."""
    file.write_bytes(b"\xff\xfe\x00")
    assert main(["check", "--data", data, "--subject", "a", str(file)]) == 2
    assert capsys.readouterr().err == f"sigla: {file} is not UTF-8, as a schema has to be.\n"
