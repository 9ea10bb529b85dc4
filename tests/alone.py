"""Holds `make unit` to its word, in every run: a test of its folders starts a process only if a mark says so."""

import re
import sys
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Final

import pytest

STARTS: Final = frozenset({"os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.system", "subprocess.Popen"})
"""What Python tells its auditors of processes (PEP 578)."""

LEFT_OUT: Final = ("process", "soak", "spark", "localstack")
"""Marks of tests that `make unit` leaves out."""

ROOT: Final = Path(__file__).parents[1]


def units() -> list[Path]:
    """The folders of `make unit`."""
    named = re.findall(r"^UNITS := (.+)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    return [ROOT / folder for folder in " ".join(named).split()]


class Alone:
    """Hears of all that the interpreter does, and looks on while a test of the folders runs, from set-up to end."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self._folders = folders
        self._looks_on = False

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        self._looks_on = self._is_alone(item)
        try:
            return (yield)
        finally:
            self._looks_on = False

    def _is_alone(self, item: pytest.Item) -> bool:
        return any(map(item.path.is_relative_to, self._folders)) and not any(map(item.get_closest_marker, LEFT_OUT))

    def hear(self, event: str) -> None:
        if self._looks_on:
            raise AssertionError(f"This test starts a process ({event}): mark it with @pytest.mark.process.")


def watch(config: pytest.Config, folders: Sequence[Path]) -> None:
    """An auditor stays until the process ends. It hears of every file that is opened, so it does little for most."""
    alone = Alone(folders)
    config.pluginmanager.register(alone)

    def audit(event: str, _: object, starts: frozenset[str] = STARTS) -> None:
        if event in starts:
            alone.hear(event)

    sys.addaudithook(audit)
