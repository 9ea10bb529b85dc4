"""`sigla apply --prune` tells who reads what it would delete, before it asks."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sigla.changes.kinds import DAY_MS
from sigla.cli import main
from sigla.model import BodyKey, Draft, SchemaId, Show, Subject
from sigla.ports.clock import day_of
from sigla.ports.reads import Read
from sigla.registry import Registry
from sigla.rules import names
from sigla.stores.sqlite.store import EmbeddedStore
from tests.build import NOW, FixedClock, Terminal
from tests.unit.cli.writing import Served, behind_a_url

Captured = pytest.CaptureFixture[str]
DECLARATION = "schemas:\n- files: '*.avsc'\n  subject: '{stem}-value'\nowns: ['*']\n"
PRUNE = ("apply", "--prune")


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    """`old-value` and `older-value` are in no file any more; the first is read by billing."""
    (tmp_path / "sigla.yaml").write_text(DECLARATION)
    (tmp_path / "new.avsc").write_text('"int"')
    monkeypatch.chdir(tmp_path)
    with EmbeddedStore() as store:
        registry = Registry(store.catalog, store.bodies, FixedClock(), principals=store.principals, reads=store.reads)
        for name, text in (("old-value", '"string"'), ("older-value", '"bytes"'), ("new-value", '"int"')):
            registry.register(Subject(".", name), Draft(text))
        store.reads.note([Read(BodyKey(".", SchemaId(1)), "old-value", "billing")], NOW, 400 * DAY_MS)
        with behind_a_url(Served(registry)) as found:
            yield found


def left(registry: Registry) -> set[str]:
    return {each.qualified for each in registry.catalog.subjects(names.search(""), show=Show.ACTIVE)}


@pytest.mark.parametrize("said, done", [("y\n", True), ("n\n", False)])
def test_the_question_says_that_what_would_be_deleted_is_read(
    said: str, served: Served, monkeypatch: pytest.MonkeyPatch, capsys: Captured, *, done: bool
) -> None:
    monkeypatch.setattr("sys.stdin", Terminal(said))
    assert main([*PRUNE, "--registry", served.url]) == int(not done)
    told = capsys.readouterr().err
    assert f"old-value 1 (id 1): last read by billing on {day_of(NOW)}, for old-value\n" in told
    assert "No read of older-value is known, which does not mean that it is not used.\n" in told
    assert "old-value is read. Do these all the same? [y/N]" in told
    assert left(served.registry) == ({"new-value"} if done else {"new-value", "old-value", "older-value"})


def test_yes_is_not_asked_and_told_all_the_same(served: Served, capsys: Captured) -> None:
    assert main([*PRUNE, "--registry", served.url, "--yes"]) == 0
    told = capsys.readouterr().err
    assert "last read by billing" in told
    assert "all the same" not in told


def test_a_registry_that_does_not_tell_who_reads_is_said_not_to(
    served: Served, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    """Such as Confluent's: what is not known is not taken for unused."""
    served.ours = False
    monkeypatch.setattr("sys.stdin", Terminal("n\n"))
    assert main([*PRUNE, "--registry", served.url]) == 1
    told = capsys.readouterr().err
    assert f"Who reads old-value is not known: {served.url} does not tell it.\n" in told
    assert "Do these? [y/N]" in told


def test_nothing_is_told_of_readers_where_nothing_is_deleted(
    served: Served, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    Path("another.avsc").write_text('"long"')
    monkeypatch.setattr("sys.stdin", Terminal("n\n"))
    assert main(["apply", "--registry", served.url]) == 1
    assert "Do this? [y/N]" in capsys.readouterr().err


def test_a_directory_tells_it_too(served: Served, tmp_path: Path, capsys: Captured) -> None:
    with EmbeddedStore(tmp_path / "data") as store:
        Registry(store.catalog, store.bodies, FixedClock()).register(Subject(".", "old-value"), Draft('"string"'))
        store.reads.note([Read(BodyKey(".", SchemaId(1)), "", "billing")], NOW, 400_000 * DAY_MS)
    assert main([*PRUNE, "--data", str(tmp_path / "data"), "--yes"]) == 0
    assert f"old-value 1 (id 1): last read by billing on {day_of(NOW)}\n" in capsys.readouterr().err
