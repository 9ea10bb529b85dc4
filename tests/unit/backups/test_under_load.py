"""A backup of a registry that is written to without a pause."""

import threading
from contextlib import nullcontext
from itertools import count
from pathlib import Path

import pytest

from sigla.cli import main
from sigla.registry import Registry
from sigla.stores.clock import SystemClock
from sigla.stores.sqlite.store import EmbeddedStore
from tests.build import a_draft, a_text
from tests.unit.registry.tell import s
from tests.waiting import PATIENCE_S

Captured = pytest.CaptureFixture[str]


def purge(registry: Registry, subject: str) -> None:
    for permanent in (False, True):
        registry.delete_subject(s(subject), permanent=permanent)


def a_life(registry: Registry, number: int) -> None:
    """A subject comes, changes, goes; another comes back with the id it had; one stays."""
    kept, gone = f"kept-{number}", f"gone-{number}"
    registry.register(s(kept), a_draft(a_text(f"Kept{number}")))
    registry.register(s(f":.c{number % 3}:{kept}"), a_draft(a_text(f"Kept{number}")))
    registry.register(s(gone), a_draft(a_text(f"Gone{number}")))
    if number >= 3:
        purge(registry, f"gone-{number - 3}")
    if number % 2 == 0:
        registry.change_mode(s(f"far-{number}"), "IMPORT")
        registry.register(s(f"far-{number}"), a_draft(a_text(f"Far{number}"), id=10_000 * (number + 1), version=1))


def assert_sound(copy: Path, capsys: Captured) -> None:
    # In a copy nothing is under way that could settle.
    capsys.readouterr()
    assert main(["scrub", "--settle", "0", "--data", str(copy)]) == 0
    assert capsys.readouterr().out.endswith("Bodies, catalog and journal agree.\n")
    with EmbeddedStore(copy) as store:
        registry = Registry(store.catalog, store.bodies, SystemClock())
        before = {key: store.bodies.get(key).schema for key in store.inventory.bodies()}
        assert registry.register(s("new"), a_draft(a_text("New"))).id
        for number in range(3):
            registry.register(s("kept-0"), a_draft(a_text(f"More{number}")), force=True)
        assert {key: store.bodies.get(key).schema for key in before} == before, "no id has another meaning"


def test_a_backup_under_load_has_no_flaw(tmp_path: Path, capsys: Captured) -> None:
    """Registrations, permanent deletes, imports, in one thread and in big groups: as much as there may be."""
    stop, written = threading.Event(), threading.Event()
    numbers, rounds = count(), count()
    with EmbeddedStore(tmp_path / "data") as store:
        registry = Registry(store.catalog, store.bodies, SystemClock())

        def write() -> None:
            while not stop.is_set():
                with store.group() if next(rounds) % 2 else nullcontext():
                    for _ in range(4):
                        a_life(registry, next(numbers))
                written.set()

        writer = threading.Thread(target=write)
        writer.start()
        try:
            for number in range(3):
                written.clear()
                assert written.wait(PATIENCE_S)
                assert writer.is_alive()
                assert main(["backup", str(tmp_path / f"{number}.tar.gz"), "--data", str(tmp_path / "data")]) == 0
        finally:
            stop.set()
            writer.join()
    for number in range(3):
        copy = tmp_path / f"restored-{number}"
        assert main(["restore", str(tmp_path / f"{number}.tar.gz"), str(copy), "--skip-ids", "0"]) == 0
        assert_sound(copy, capsys)
