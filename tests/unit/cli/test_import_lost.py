"""`sigla import` where bodies, or the catalog, were lost."""

import json
from pathlib import Path

import pytest

from sigla.cli import main
from tests.unit.cli.written import written
from tests.unit.journal.topic import OTHER, schema, topic
from tests.unit.registry.lives import A_LIFE

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def data(tmp_path: Path) -> str:
    return str(tmp_path / "data")


def test_a_damaged_body_is_replaced_where_it_is_asked_for_and_is_known(
    tmp_path: Path, data: str, capsys: Captured
) -> None:
    """Held or deleted for good: by what the catalog says that it was; another content is refused."""
    importing = ["import", written(tmp_path / "d.jsonl", topic(*A_LIFE)), "--data", data]
    assert main(importing) == 0
    files = sorted((Path(data) / "default" / "schemas" / "_").glob("*.json"))
    meant = [json.loads(file.read_bytes())["schema"] for file in files]
    for file in files:
        file.write_bytes(b"damaged")
    capsys.readouterr()
    for options in (["--dry-run"], []):
        assert main([*importing, "--bodies", "--json", *options]) == 0
        assert json.loads(capsys.readouterr().out)["imported"] == {"id": 1}, (
            "the one that nobody holds; versions are identical"
        )
    assert [json.loads(file.read_bytes())["schema"] for file in files] == meant
    assert main(["scrub", "--data", data]) == 0


def test_a_damaged_body_is_in_the_way_of_other_content(tmp_path: Path, data: str, capsys: Captured) -> None:
    """Only the catalog knows what it was, and that says otherwise."""
    assert main(["import", written(tmp_path / "a.jsonl", topic(schema("o", 1, 1))), "--data", data]) == 0
    file = Path(data) / "default" / "schemas" / "_" / "0000000001.json"
    file.write_bytes(b"damaged")
    capsys.readouterr()
    other = written(tmp_path / "b.jsonl", topic(schema("o", 2, 1, OTHER)))
    assert main(["import", other, "--data", data, "--bodies"]) == 1
    assert "the body of id 1 in context . is damaged: run sigla scrub" in capsys.readouterr().err
    assert file.read_bytes() == b"damaged"


def test_a_directory_that_lost_its_catalog_is_not_written_to(tmp_path: Path, data: str, capsys: Captured) -> None:
    """One sentence, and what to do."""
    importing = ["import", written(tmp_path / "d.jsonl", topic(*A_LIFE)), "--data", data]
    assert main(importing) == 0
    (Path(data) / "catalog.sqlite").unlink()
    capsys.readouterr()
    for command in (importing, [*importing, "--dry-run"], ["scrub", "--data", data], ["export", "--data", data]):
        assert main(command) == 2
        assert capsys.readouterr().err == (
            f"sigla: The catalog of the registry in {data} is gone: there are schemas of default, and no "
            "catalog.sqlite knows of them. Restore catalog.sqlite from a backup of the directory, or "
            "import a dump into an empty "
            "directory: sigla import DUMP --data NEW.\n"
        )


@pytest.mark.parametrize("kind", ["folder", "loop", "failing disk"])
def test_one_body_that_cannot_be_read_keeps_no_scrub_from_the_others(
    tmp_path: Path, data: str, capsys: Captured, kind: str
) -> None:
    """A bad sector is one flaw among all of them, and an export blames what is broken and not its own output."""
    importing = ["import", written(tmp_path / "d.jsonl", topic(*A_LIFE)), "--data", data]
    assert main(importing) == 0
    first, second = sorted((Path(data) / "default" / "schemas" / "_").glob("*.json"))[:2]
    _make_unreadable(first, kind)
    second.write_bytes(b"damaged")
    capsys.readouterr()
    assert main(["scrub", "--data", data, "--json"]) == 1
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [flaw["id"] for flaw in told if flaw["kind"] == "UNREADABLE_OBJECT"] == [int(first.stem), int(second.stem)]
    assert main(["export", "--data", data, str(tmp_path / "out.jsonl")]) == 1
    assert "in context . is damaged: run sigla scrub" in capsys.readouterr().err
    if kind != "folder":  # which only an operator removes
        assert main([*importing, "--bodies"]) == 0
        assert main(["scrub", "--data", data]) == 0


def _make_unreadable(file: Path, kind: str) -> None:
    file.unlink()
    if kind == "folder":
        file.mkdir()
    elif kind == "loop":
        file.symlink_to(file)
    else:
        if not Path("/proc/self/mem").exists():
            pytest.skip("only Linux has a file whose reading fails as a disk does")
        file.symlink_to("/proc/self/mem")


def test_a_file_that_is_in_no_contexts_folder_is_nobodys_body(tmp_path: Path, data: str, capsys: Captured) -> None:
    """It was told as a body of a context without a name, whose counter was to be raised."""
    assert main(["import", written(tmp_path / "d.jsonl", topic(schema("o", 1, 1))), "--data", data]) == 0
    bodies = Path(data) / "default" / "schemas"
    (bodies / "0000000007.json").write_bytes((bodies / "_" / "0000000001.json").read_bytes())
    assert main(["scrub", "--data", data, "--fix", "COUNTER_BEHIND"]) == 0
    capsys.readouterr()
    assert main(["export", "--data", data]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1
