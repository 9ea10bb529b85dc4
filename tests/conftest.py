"""What every test shares: how hard hypothesis tries, and that no test is left out without a known reason."""

import os
import re
import sys

import pytest
from hypothesis import HealthCheck, settings

from tests.servers import dynamodb_local, localstack

__all__ = ["dynamodb_local", "localstack"]

# ci: the same examples on every run, so that a red build is the change's fault; a busy machine breaks no deadline.
settings.register_profile("laptop", deadline=None)
settings.register_profile("ci", derandomize=True, deadline=None, print_blob=True)
settings.register_profile(
    "soak", max_examples=20_000, stateful_step_count=500, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)

# Reasons for which CI may leave a test out: what a machine for CI cannot be asked to have. Whole reasons, as patterns.
ALLOWED_SKIPS: tuple[str, ...] = (
    # .ci/run installs it wherever there is a Python 3.13, which a Debian of two years ago has not.
    r"LocalStack is not installed here: .*",
)


# Files whose tests take longest, in seconds: with two workers they begin first, so that none is left to one of them at
# the end. By number of tests, as pytest-xdist would order them, they come last.
LONGEST = (
    "pipelines/spark/test_land.py",
    "unit/test_benchmarks.py",
    "localstack/test_up.py",
    "localstack/test_zones.py",
    "attack/test_herd.py",
    "unit/aws/test_housekeeping.py",
    "attack/test_ring.py",
    "infra/test_zones.py",
    "localstack/test_server.py",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    def place(item: pytest.Item) -> int:
        name = item.path.as_posix()
        return next((at for at, longest in enumerate(LONGEST) if name.endswith(longest)), len(LONGEST))

    items.sort(key=place)


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


# Engines in Java live for minutes here: what a thorough compiler takes, they never give back.
BRIEF_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


def pytest_configure(config: pytest.Config) -> None:
    keep_bytecode()
    os.environ.setdefault("JAVA_TOOL_OPTIONS", BRIEF_JAVA)
    profile = "soak" if config.getoption("-m") == "soak" else "ci" if os.environ.get("CI") else "laptop"
    settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", profile))


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


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    skips = unexpected_skips(terminalreporter.config)
    if skips:
        terminalreporter.section("left out without leave", red=True)
        for where, reason in skips:
            terminalreporter.line(f"{where}: {reason}")
        terminalreporter.line(
            "Install what is missing, or allow the reason in tests/conftest.py (ALLOWED_SKIPS).", red=True
        )
