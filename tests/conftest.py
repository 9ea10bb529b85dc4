"""What every test shares: how hard hypothesis tries, who works on what, and that none is left out without a reason."""

import gc
import multiprocessing.util
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests import alone
from tests.servers import cdk, dynamodb_local, localstack
from tests.sharing_out import pytest_xdist_make_scheduler
from tests.under_way import watched

__all__ = ["cdk", "dynamodb_local", "localstack", "pytest_xdist_make_scheduler"]

# Twenty-five examples of each property, `make unit` six, `make soak` two thousand, and more of its own. A test that
# wants others takes a multiple. ci: the same on every run, so that a red build is the change's fault; a laptop draws
# others each time. A busy machine breaks no deadline.
settings.register_profile("laptop", max_examples=25, deadline=None)
settings.register_profile("unit", max_examples=6, deadline=None)
settings.register_profile("ci", max_examples=25, derandomize=True, deadline=None, print_blob=True)
settings.register_profile("long", max_examples=2_000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile(
    "soak", max_examples=20_000, stateful_step_count=500, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)

# Reasons for which CI may leave a test out: what a machine for CI cannot be asked to have. Whole reasons, as patterns.
ALLOWED_SKIPS: tuple[str, ...] = (
    # .ci/run installs it wherever there is a Python 3.13, which a Debian of two years ago has not.
    r"LocalStack is not installed here: .*",
    # .ci/run builds it wherever there is a cargo that is new enough, which a machine for Python need not have.
    r"the extension is not built here: .*",
    # Mounting is root's; that health notices a full disk is also tested by a limit that every user may set.
    r"only root can make a small disk",
    # That names are the same on another Python takes another one; to compile for Lambda takes Lambda's, or a network.
    r"only one Python is here: .*",
    r"Lambda's Python is not here: .*",
)


PROCESSES = frozenset({"cdk", "dynamodb_local", "localstack", "spark"})
"""Fixtures that start a process: a test that asks for one needs no mark that says so."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if PROCESSES.intersection(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.process)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is imported and collected stays to the end: a million objects that no collector need look through.

    It looks for rubbish a tenth as often as a server's does: what tests make is mostly gone without it.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(10 * gc.get_threshold()[0], *gc.get_threshold()[1:])
        gc.enable()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--no-skips",
        action="store_true",
        default=bool(os.environ.get("CI")),
        help="fail the run if a test is skipped for a reason not allowed in tests/conftest.py (on where CI is set)",
    )


def keep_bytecode() -> None:
    """Tests start hundreds of Pythons, and each would compile again all that it imports, seconds of it."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False


MEMORY = "/dev/shm"
ENOUGH_BYTES = 2 << 30


def in_memory() -> str | None:
    """A folder of this run for all temporary files, if the system has memory to spare that looks like a disk.

    Tests end processes and cut no power: there a sync costs nothing, and a file a tenth. It goes with the run; who
    wants to look at what was left says TMPDIR=/tmp. Long attacks stay on the disk, and systems that run nothing there.
    """
    if "TMPDIR" in os.environ or not Path(MEMORY).is_dir():
        return None
    found = os.statvfs(MEMORY)
    if found.f_bavail * found.f_frsize < ENOUGH_BYTES or found.f_flag & os.ST_NOEXEC or not os.access(MEMORY, os.W_OK):
        return None
    multiprocessing.util.get_temp_dir()  # made now, as it is removed later than the folder of this run
    os.environ["TMPDIR"] = tempfile.tempdir = tempfile.mkdtemp(prefix="sigla-tests-", dir=MEMORY)
    return tempfile.tempdir


IN_MEMORY = pytest.StashKey[str | None]()

# Engines in Java live for minutes here: what a thorough compiler takes, they never give back. The classes of a release
# are sound: to verify each of them again takes a tenth of a start.
BRIEF_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"


def pytest_configure(config: pytest.Config) -> None:
    keep_bytecode()
    os.environ.setdefault("JAVA_TOOL_OPTIONS", BRIEF_JAVA)
    config.stash[IN_MEMORY] = None if config.getoption("-m") in ("soak", "spark") else in_memory()
    profile = "soak" if config.getoption("-m") == "soak" else "ci" if os.environ.get("CI") else "laptop"
    settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", profile))
    alone.watch(config, alone.units())


def pytest_sessionstart(session: pytest.Session) -> None:
    watched(session.config)


def unexpected_skips(config: pytest.Config) -> list[tuple[str, str]]:
    """Skipped tests (and files) whose reason is not allowed, as (where, reason). Empty in a worker of pytest-xdist."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None or not config.getoption("--no-skips"):
        return []
    skipped = []
    for report in reporter.stats.get("skipped", []):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        reason = reason.removeprefix("Skipped: ")
        if not any(re.fullmatch(allowed, reason) for allowed in ALLOWED_SKIPS):
            skipped.append((report.nodeid, reason))
    return skipped


def pytest_sessionfinish(session: pytest.Session) -> None:
    if session.exitstatus == pytest.ExitCode.OK and unexpected_skips(session.config):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_unconfigure(config: pytest.Config) -> None:
    if folder := config.stash.get(IN_MEMORY, None):
        shutil.rmtree(folder, ignore_errors=True)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    skips = unexpected_skips(terminalreporter.config)
    if skips:
        terminalreporter.section("left out without leave", red=True)
        for where, reason in skips:
            terminalreporter.line(f"{where}: {reason}")
        terminalreporter.line(
            "Install what is missing, or allow the reason in tests/conftest.py (ALLOWED_SKIPS).", red=True
        )
