"""Says each minute what a long run of tests is at: on a machine that has nothing, the first tests wait for engines."""

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import pytest

EVERY_S = 60.0
MOST = 4
"""Tests that one line names: one for each worker, and one more."""


class UnderWay:
    """A plug-in of pytest, beside that of pytest-xdist.

    tell: writes a line. now: seconds of a clock that never goes back.
    """

    def __init__(self, tell: Callable[[str], None], now: Callable[[], float] = time.monotonic) -> None:
        self._tell = tell
        self._now = now
        self._begun = now()
        self._running: dict[str, float] = {}
        self._done = self._total = 0
        self._ended = threading.Event()

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._running[nodeid] = self._now()

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self._running.pop(nodeid, None)
        self._done += 1

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Sequence[Any]) -> None:
        self._total = len(ids)

    def start(self) -> None:
        threading.Thread(target=self._watch, daemon=True).start()

    def pytest_sessionfinish(self) -> None:
        self._ended.set()

    def line(self) -> str:
        """What is under way now, what has run longest first."""
        now = self._now()
        running = sorted(self._running.copy().items(), key=lambda one: one[1])
        if not running and not self._done:
            at = "the tests are being collected"
        else:
            named = ", ".join(f"{nodeid} ({now - since:.0f} s)" for nodeid, since in running[:MOST])
            at = f"{self._done:,} of {self._total:,} tests are done; at {named or 'their end'}"
        minutes, seconds = divmod(int(now - self._begun), 60)
        return f"── {minutes}:{seconds:02}: {at}"

    def _watch(self) -> None:
        while not self._ended.wait(EVERY_S):
            self._tell(self.line())


def watched(config: pytest.Config) -> None:
    """Has a run with workers tell it, by the process that shares out. Where a test runs, what is written is caught."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter and config.pluginmanager.has_plugin("dsession"):
        run = UnderWay(lambda line: reporter.write_line(f"\n{line}"))
        config.pluginmanager.register(run)
        run.start()
