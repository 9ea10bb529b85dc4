"""`sigla import` that could not bring everything says so with its status."""

from pathlib import Path
from typing import Any

import pytest

from sigla.cli import main
from tests.unit.cli.written import written
from tests.unit.journal.topic import OTHER, schema, topic

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def data(tmp_path: Path) -> str:
    return str(tmp_path / "data")


@pytest.mark.parametrize(
    "bad, why",
    [
        (schema("o", 2, 2, f'"{"x" * 2**20}"'), "its text is longer than this registry takes"),
        (schema("o", 0, 2), "a version is 1 to 2147483647, an id 0 to 2147483647"),
        (schema("o", 2, 1, OTHER), "its id belongs to another schema in that context"),
    ],
)
@pytest.mark.parametrize("how", [[], ["--json"], ["--dry-run"]])
def test_an_import_that_had_to_skip_something_is_no_success(
    tmp_path: Path, data: str, capsys: Captured, *, bad: Any, why: str, how: list[str]
) -> None:
    """A script that switches its clients over must not do so while their schemas are missing."""
    dump = written(tmp_path / "a.jsonl", topic(schema("o", 1, 1), bad, (schema("p", 1, 3))))
    assert main(["import", dump, "--data", data, *how]) == 1
    captured = capsys.readouterr()
    assert captured.err == f"sigla: 1 of the entries to import are missing: 1 × {why}.\n"
    assert captured.out, "all the same it tells what became of the rest"


def test_records_of_kinds_that_there_are_not_are_no_loss(tmp_path: Path, data: str) -> None:
    """Whatever the next release of another registry writes: no schema is missing."""
    dump = topic(schema("o", 1, 1), ({"keytype": "ODD"}, {}), ({"keytype": "ROLE", "name": "t"}, {}))
    assert main(["import", written(tmp_path / "a.jsonl", dump), "--data", data]) == 0


# --- the end of the ids ----------------------------------------------------------------------------------------------

FAR = 1_000_001


@pytest.mark.parametrize("how", [[], ["--dry-run"]])
def test_an_import_that_would_use_up_the_ids_is_refused(
    tmp_path: Path, data: str, capsys: Captured, how: list[str]
) -> None:
    """One record with a very high id would leave none for others; nothing of the dump is written."""
    dump = written(tmp_path / "a.jsonl", topic(schema("o", 1, 1), schema("p", 1, FAR, OTHER)))
    assert main(["import", dump, "--data", data, *how]) == 2
    told = capsys.readouterr().err
    assert told.startswith(f"sigla: Id {FAR} of context . is more than 1,000,000 above 0, the highest one here")
    assert "--raise-ids" in told
    assert main(["export", "--data", data]) in {0, 2}
    assert "schema" not in capsys.readouterr().out
    assert main(["import", dump, "--data", data, "--raise-ids", *how]) == 0


def test_an_import_may_go_on_by_as_much_as_is_usual(tmp_path: Path, data: str) -> None:
    """What counts is how far it is above what stands here."""
    for id, text in ((FAR - 1, OTHER), (2 * FAR - 2, '"string"')):
        dump = written(tmp_path / f"{id}.jsonl", topic(schema(f"o{id}", 1, id, text)))
        assert main(["import", dump, "--data", data]) == 0
