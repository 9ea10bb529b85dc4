"""The backup of a running registry, by the commands that docs/operations.md gives."""

import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

from sigla.cli import main
from sigla.registry import Registry
from sigla.stores.clock import SystemClock
from sigla.stores.sqlite.store import EmbeddedStore
from tests.build import a_draft, a_text
from tests.test_docs import ROOT
from tests.unit.registry.tell import s

Captured = pytest.CaptureFixture[str]

FIXES = ("COUNTER_BEHIND", "POINTER_MISSING", "TOMBSTONE_HELD", "TOMBSTONE_MISSING")


def commands() -> list[str]:
    """Line by line, as the page has them."""
    page = (ROOT / "docs" / "operations.md").read_text()
    found = re.search(r"While it runs, copy in this order.*?```sh\n(.*?)```", page, re.DOTALL)
    assert found is not None
    return found[1].splitlines()


def run(command: str, folder: Path) -> None:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    subprocess.run(command, shell=True, cwd=folder, check=True, env={"PATH": path})


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


def flaws(data: Path, capsys: Captured, *fixes: str) -> str:
    # In a copy nothing is under way that could settle.
    main(["scrub", "--settle", "0", "--data", str(data), *(word for kind in fixes for word in ("--fix", kind))])
    return capsys.readouterr().out


def assert_sound(copy: Path, capsys: Captured) -> None:
    assert "critical" not in flaws(copy, capsys)
    flaws(copy, capsys, *FIXES)
    assert flaws(copy, capsys).endswith("Bodies, catalog and journal agree.\n")
    with EmbeddedStore(copy) as store:
        registry = Registry(store.catalog, store.bodies, SystemClock())
        before = {key: store.bodies.get(key).schema for key in store.inventory.bodies()}
        assert registry.register(s("new"), a_draft(a_text("New"))).id
        for number in range(3):
            registry.register(s("kept-0"), a_draft(a_text(f"More{number}")), force=True)
        assert {key: store.bodies.get(key).schema for key in before} == before, "no id has another meaning"


def test_what_is_written_between_two_commands_makes_no_critical_flaw(tmp_path: Path, capsys: Captured) -> None:
    """Registrations, permanent deletes, imports: as much as there may be."""
    numbers = count()
    with EmbeddedStore(tmp_path / "data") as store:
        registry = Registry(store.catalog, store.bodies, SystemClock())
        for command in ("true", *commands()):
            run(command, tmp_path)
            with store.group():
                for _ in range(6):
                    a_life(registry, next(numbers))
    assert_sound(tmp_path / "running-backup", capsys)


@pytest.fixture
def writing(tmp_path: Path) -> Iterator[Callable[[], int]]:
    """A writer without a pause until the test ends; yields how much it has written."""
    stop, lives = threading.Event(), count()
    with EmbeddedStore(tmp_path / "data") as store:
        registry = Registry(store.catalog, store.bodies, SystemClock())
        done = 0

        def write() -> None:
            nonlocal done
            while not stop.is_set():
                a_life(registry, next(lives))
                done += 1

        writer = threading.Thread(target=write)
        writer.start()
        try:
            yield lambda: done
        finally:
            stop.set()
            writer.join()


def test_a_backup_under_load_has_no_critical_flaw(tmp_path: Path, capsys: Captured, writing: Callable[[], int]) -> None:
    """Operators do not stop a registry to copy it."""
    for command in commands():
        run(command, tmp_path)
    assert writing() > 3, "otherwise nothing was tried"
    assert_sound(tmp_path / "running-backup", capsys)
