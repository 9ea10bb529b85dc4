"""What the process takes of its machine, for `/metrics`, by the names that Prometheus' own clients have for it."""

import os
import platform
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from sigla import __version__
from sigla.ports.clock import Clock
from sigla.web.local.metrics import metric_lines

if sys.platform != "win32":
    import resource

PROC = Path("/proc/self")
"""Only Linux has it; elsewhere memory and descriptors are not told."""


class Process:
    """The one that runs this. clock: says when it was started."""

    def __init__(self, clock: Clock) -> None:
        self._started_s = clock.now() / 1000
        self._build = f'{{version="{__version__}",python="{platform.python_version()}"}}'

    def lines(self) -> Iterator[str]:
        yield from metric_lines("sigla_build_info", "gauge", "1, with the release and its Python.", [(self._build, 1)])
        started = [("", f"{self._started_s:.3f}")]
        yield from metric_lines(
            "process_start_time_seconds", "gauge", "When the process was started, since 1970.", started
        )
        spent = [("", f"{time.process_time():.3f}")]
        yield from metric_lines("process_cpu_seconds_total", "counter", "Processor time of user and system.", spent)
        yield from _memory()
        yield from _descriptors()


def _memory() -> Iterator[str]:
    try:
        virtual, resident, *_ = (
            int(pages) * os.sysconf("SC_PAGE_SIZE") for pages in (PROC / "statm").read_text().split()
        )
    except OSError:
        return
    yield from metric_lines("process_resident_memory_bytes", "gauge", "Memory that is resident.", [("", resident)])
    yield from metric_lines("process_virtual_memory_bytes", "gauge", "Memory that is addressed.", [("", virtual)])


def _descriptors() -> Iterator[str]:
    if sys.platform == "win32":
        return
    most, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    yield from metric_lines("process_max_fds", "gauge", "How many descriptors may be open.", [("", most)])
    try:
        used = len([*(PROC / "fd").iterdir()]) - 1  # but for the one that lists them
    except OSError:
        return
    yield from metric_lines("process_open_fds", "gauge", "How many descriptors are open.", [("", used)])
