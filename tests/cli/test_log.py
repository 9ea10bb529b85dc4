"""`sigla log`: who changed what, and when."""

import json
import sqlite3
from pathlib import Path

import pytest

from sigla.changes import Author
from sigla.cli import main
from sigla.registry import Registry
from sigla.registry.attributed import attributed
from sigla.stores.clock import SystemClock
from sigla.stores.sqlite.store import EmbeddedStore
from tests.build import a_draft, a_text
from tests.kept.stores import restore_directory
from tests.unit.registry.tell import s

Captured = pytest.CaptureFixture[str]
KEPT = Path(__file__).parents[1] / "kept"


@pytest.fixture
def data(tmp_path: Path) -> str:
    """What two keys have done, and a client without one."""
    with EmbeddedStore(tmp_path / "data") as store:
        clock = SystemClock()
        ada, bob, anyone = (
            attributed(Registry(store.catalog, store.bodies, clock), Author(name, "api", f"of-{name}", "192.0.2.1"))
            for name in ("ada", "bob", "")
        )
        ada.register(s("orders"), a_draft(a_text("Order")))
        bob.register(s(":.eu:orders"), a_draft(a_text("Order")))
        bob.change_config(s("orders"), {"level": "FULL"})
        anyone.delete_subject(s("orders"))
    return str(tmp_path / "data")


def log(capsys: Captured, *arguments: str) -> list[str]:
    """Its lines, without their times."""
    assert main(["log", *arguments]) == 0
    return [line.split("  ", 1)[1] for line in capsys.readouterr().out.splitlines()]


ADAS = "ada registered orders 1 (id 1)  [of-ada, 192.0.2.1]"
BOBS = [
    "bob registered :.eu:orders 1 (id 1)  [of-bob, 192.0.2.1]",
    "bob changed the config of orders  [of-bob, 192.0.2.1]",
]
ANYONES = "(anyone) deleted orders 1  [of-, 192.0.2.1]"


def test_each_change_is_a_line(data: str, capsys: Captured) -> None:
    assert log(capsys, "--data", data) == [ADAS, *BOBS, ANYONES]


def test_changes_are_chosen_by_subject_by_author_and_by_time(data: str, capsys: Captured) -> None:
    assert log(capsys, "--data", data, "--subject", "orders") == [ADAS, BOBS[1], ANYONES]
    assert log(capsys, "--data", data, "--by", "bob") == BOBS
    assert log(capsys, "--data", data, "--by", "bob", "--subject", ":.eu:orders") == BOBS[:1]
    assert log(capsys, "--data", data, "--by", "anyone") == [ANYONES]
    assert not log(capsys, "--data", data, "--since", "2200-01-01")
    assert len(log(capsys, "--data", data, "--since", "2020-01-01T00:00:00Z")) == 4


def test_as_json_a_change_says_all_that_is_known_of_it(data: str, capsys: Captured) -> None:
    assert main(["log", "--data", data, "--json", "--by", "ada"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["by"].startswith("p")
    assert (told["name"], told["change"]) == ("ada", "Registered")
    assert told["via"] == {"way": "api", "request": "of-ada", "address": "192.0.2.1"}
    assert told["about"] == [{"type": "SCHEMA", "subject": "orders", "version": 1, "id": 1}]
    assert told["at"].endswith("Z")
    assert "was" not in told
    assert main(["log", "--data", data, "--json", "--by", told["by"]]) == 0
    assert json.loads(capsys.readouterr().out) == told


def test_a_forgotten_name_breaks_nothing(data: str, capsys: Captured) -> None:
    """What it changed stays, under its token."""
    assert main(["log", "--data", data, "--forget", "bob"]) == 0
    assert capsys.readouterr().out == "The name bob is forgotten.\n"
    lines = log(capsys, "--data", data)
    assert [lines[0], lines[3]] == [ADAS, ANYONES]
    token = lines[1].split()[0]
    assert lines[1:3] == [line.replace("bob", token, 1) for line in BOBS]
    assert not log(capsys, "--data", data, "--by", "bob")
    assert main(["log", "--data", data, "--forget", "bob"]) == 1
    assert capsys.readouterr().err == f"sigla: No name bob is kept in {data}.\n"
    assert main(["export", "--data", data]) == 0
    assert main(["scrub", "--data", data, "--settle", "0"]) == 0


def test_a_journal_is_verified_from_the_beginning_or_from_what_was_kept(data: str, capsys: Captured) -> None:
    assert main(["log", "--data", data, "--verify"]) == 0
    whole, kept = capsys.readouterr().out.splitlines()
    assert whole == "Nothing was changed: 4 rows, from 1 to 4."
    hash = kept.removeprefix("Keep this for a later --from: ")
    assert main(["log", "--data", data, "--verify", "--from", hash, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told == {"links": 1, "unchained": 0, "first": 4, "last": 4, "hash": hash, "flaws": []}


def test_a_journal_that_was_changed_is_told_with_status_1(data: str, capsys: Captured) -> None:
    database = sqlite3.connect(Path(data, "catalog.sqlite"))
    database.execute("DELETE FROM journal WHERE position = 2")
    database.commit()
    database.close()
    assert main(["log", "--data", data, "--verify"]) == 1
    assert capsys.readouterr().out.startswith("missing: The row 2 is missing, which the row 3 follows.\n")
    assert main(["log", "--data", data, "--verify", "--json"]) == 1
    assert [flaw["kind"] for flaw in json.loads(capsys.readouterr().out)["flaws"]] == ["missing"]
    assert main(["log", "--data", data, "--verify", "--from", "0" * 64]) == 1
    assert "restored to an earlier moment" in capsys.readouterr().out


def test_a_dump_in_confluents_form_says_nothing_of_it(data: str, tmp_path: Path, capsys: Captured) -> None:
    """Neither who, nor from where, nor the chain: it may leave the house."""
    assert main(["export", "--data", data, str(tmp_path / "dump")]) == 0
    assert main(["log", "--data", data, "--json"]) == 0
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines() if line.startswith("{")]
    dump = (tmp_path / "dump").read_text(encoding="utf-8")
    assert len(told) == 4
    for entry in told:
        assert entry["by"] not in dump
        assert entry["via"]["request"] not in dump
    assert "192.0.2.1" not in dump
    assert '"before"' not in dump


def test_a_mistake_is_one_sentence(data: str, tmp_path: Path, capsys: Captured) -> None:
    assert main(["log", "--data", data, "--forget", "bob", "--subject", "orders"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert main(["log", "--data", data, "--from", "0" * 64]) == 2
    assert capsys.readouterr().err == "sigla: --from says where --verify begins: add --verify.\n"
    assert main(["log", "--data", str(tmp_path / "none")]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    with pytest.raises(SystemExit):
        main(["log", "--data", data, "--since", "yesterday"])
    assert "expected one as 2026-11-30T09:00:00Z" in capsys.readouterr().err


def test_what_a_client_calls_its_request_stays_in_its_line(tmp_path: Path, capsys: Captured) -> None:
    """An id that moves the cursor would show another story."""
    with EmbeddedStore(tmp_path / "data") as store:
        registry = Registry(store.catalog, store.bodies, SystemClock())
        strange = Author("ada\n2026", "api", "\x9b2K\x85x")
        attributed(registry, strange).register(s("orders"), a_draft(a_text("Order")))
    capsys.readouterr()
    assert log(capsys, "--data", str(tmp_path / "data")) == [r'"ada\n2026" registered orders 1 (id 1)  ["\x9b2K\x85x"]']


def test_what_a_client_calls_a_subject_or_a_request_tells_no_other_story(tmp_path: Path, capsys: Captured) -> None:
    """A name may hold blanks, and what would look like one more subject, or like another address."""
    with EmbeddedStore(tmp_path / "data") as store:
        registry = Registry(store.catalog, store.bodies, SystemClock())
        etl = Author("etl@id.example", "api", "of-etl, 192.0.2.9] ada", "192.0.2.1")
        attributed(registry, etl).register(s('mine 1 (id 1), payroll "x"'), a_draft(a_text("Order")))
    assert log(capsys, "--data", str(tmp_path / "data")) == [
        r'etl@id.example registered "mine 1 (id 1), payroll \"x\"" 1 (id 1)  ["of-etl, 192.0.2.9] ada", 192.0.2.1]'
    ]


@pytest.mark.parametrize("release", ["2026-11-22", "0.2.0"])
def test_who_wrote_what_an_earlier_release_kept_is_unknown(release: str, tmp_path: Path, capsys: Captured) -> None:
    restore_directory(KEPT / release, tmp_path / "data")
    lines = log(capsys, "--data", str(tmp_path / "data"))
    assert lines
    assert all(line.startswith("(unknown) ") for line in lines)
