"""A plug-in of pytest that holds `make unit` to its word: a test that starts a process fails there, and is told why."""

import sys
from collections.abc import Generator

import pytest

STARTS = frozenset({"os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.system", "subprocess.Popen"})
"""What Python tells its auditors of processes (PEP 578)."""


class Alone:
    """Hears of all that the interpreter does, and looks on while a test runs, from its set-up to its end."""

    def __init__(self) -> None:
        self._running = False

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self) -> Generator[None, object, object]:
        self._running = True
        try:
            return (yield)
        finally:
            self._running = False

    def audit(self, event: str, _: object) -> None:
        if self._running and event in STARTS:
            raise AssertionError(f"This test starts a process ({event}): mark it with @pytest.mark.process.")


def pytest_configure(config: pytest.Config) -> None:
    alone = Alone()
    config.pluginmanager.register(alone)
    sys.addaudithook(alone.audit)
