"""Commands that bring ids into a directory that is one of two regions, while neither is served."""

import json
from pathlib import Path

import pytest

from sigla.cli import main
from sigla.regions.nouns import KnownBy, RegionKind, Role
from sigla.stores.sqlite.store import EmbeddedStore

FOLLOWED = Role(1, RegionKind.PRIMARY, peer=KnownBy("b"))
ALONE = Role(1, RegionKind.PRIMARY)
BY_FORCE = Role(2, RegionKind.PRIMARY, peer=KnownBy(url="http://a"), reconciled=False)
FAR = 250_000

Captured = pytest.CaptureFixture[str]


def directory(tmp_path: Path, role: Role) -> str:
    with EmbeddedStore(tmp_path / "data") as store:
        assert store.region.set_role(None, role)
    return str(tmp_path / "data")


def dump(tmp_path: Path) -> str:
    key = {"keytype": "SCHEMA", "subject": "orders", "version": 1, "magic": 1}
    value = {"subject": "orders", "version": 1, "id": FAR, "schema": '"int"', "deleted": False}
    file = tmp_path / "dump.jsonl"
    record = {"key": json.dumps(key), "value": json.dumps(value), "timestamp": 1, "offset": 0}
    file.write_text(json.dumps(record) + "\n")
    return str(file)


def test_an_id_of_which_the_follower_does_not_know_is_refused_in_a_sentence(tmp_path: Path, capsys: Captured) -> None:
    data = directory(tmp_path, FOLLOWED)
    assert main(["import", dump(tmp_path), "--data", data]) == 1
    told = capsys.readouterr().err
    assert told.startswith(f"sigla: In {data}: No id of context . is left that region b knows of")
    assert "sigla regions dismiss" in told
    with EmbeddedStore(Path(data)) as store:
        assert store.inventory.is_empty()


def test_where_no_region_follows_ids_are_brought_as_ever(tmp_path: Path) -> None:
    data = directory(tmp_path, ALONE)
    assert main(["import", dump(tmp_path), "--data", data]) == 0
    assert main(["ids", "--data", data, "--context", ".", "--continue-after", str(2 * FAR)]) == 0


def test_numbering_does_not_go_back_to_ids_of_the_region_that_was_passed_over(tmp_path: Path, capsys: Captured) -> None:
    data = directory(tmp_path, BY_FORCE)
    assert main(["ids", "--data", data, "--context", ".", "--continue-after", "5"]) == 1
    assert "Id 6 may have been given in region http://a before the promotion" in capsys.readouterr().err
